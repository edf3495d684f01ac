"""What every registered estimator promises, and how names become estimators."""

import json
import math
import pickle
import re

import numpy as np
import pytest

from exactbnc.graph.dag import DAG
from exactbnc.network.parameters import PARAMETERS, fit_parameters, make_parameters
from exactbnc.network.parameters.closed_form import EAP
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError


def small_data():
    codes = np.random.default_rng(0).integers(0, 2, (3, 30))
    return Dataset.from_codes(codes, [2, 3, 2], names=["x", "z", "y"])


AUGMENTED = DAG.from_arcs(["x", "z", "y"], ["yx", "yz", "xz"])


@pytest.mark.parametrize("name", PARAMETERS)
def test_an_estimator_goes_by_its_name_and_aliases_in_any_case(name):
    kind = PARAMETERS[name]

    assert kind.name == name
    assert kind.title
    assert kind.reference
    for word in (name, name.upper(), *kind.aliases):
        assert make_parameters(word) == kind()


def test_no_word_names_two_estimators():
    words = [word for kind in PARAMETERS.values() for word in (kind.name, *kind.aliases)]

    assert len(words) == len(set(words))


@pytest.mark.parametrize("name", PARAMETERS)
def test_an_estimator_is_a_value_with_settings_that_json_can_hold(name):
    estimator = make_parameters(name)

    assert json.loads(json.dumps(estimator.settings)) == estimator.settings
    assert make_parameters(name, **estimator.settings) == estimator
    assert pickle.loads(pickle.dumps(estimator)) == estimator
    assert hash(estimator) == hash(make_parameters(name))


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_estimator_gives_a_network_for_a_classifier(name):
    data = small_data()

    net = fit_parameters(data, AUGMENTED, name, class_name="y")

    assert net.dag is AUGMENTED
    assert net.states == data.states
    assert np.isfinite(net.conditional_log_likelihood(data, "y"))
    again = fit_parameters(data, AUGMENTED, make_parameters(name), class_name="y")
    assert all(np.array_equal(a, b) for a, b in zip(net.tables, again.tables, strict=True))


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_class_is_asked_for_where_one_is_needed(name):
    if PARAMETERS[name].needs_class:
        with pytest.raises(ParameterError, match=f"the parameters '{name}' need a class"):
            fit_parameters(small_data(), AUGMENTED, name)
        with pytest.raises(ParameterError, match="need a class"):
            make_parameters(name).tables(small_data(), AUGMENTED, None)
    else:
        assert fit_parameters(small_data(), AUGMENTED, name).n_vars == 3


def test_without_a_word_the_parameters_are_eap_with_one_row():
    data = small_data()

    for table, expected in zip(
        fit_parameters(data, AUGMENTED).tables, EAP(1.0).tables(data, AUGMENTED, None), strict=True
    ):
        assert np.array_equal(table, expected)


def test_unknown_names_and_settings_are_refused_with_the_known_ones():
    with pytest.raises(ParameterError, match=r"one of ofe, dirichlet, .*, dfe. Got 'map' instead"):
        make_parameters("map")
    with pytest.raises(ParameterError, match="'eap' have no setting 'alpha'; its settings are ess"):
        make_parameters("eap", alpha=1)
    with pytest.raises(ParameterError, match="'ofe' have no setting 'alpha'; it has none"):
        make_parameters("ofe", alpha=1)


ABOVE_ZERO = [("dirichlet", "alpha"), ("eap", "ess"), ("softened", "n0"), ("ms", "weight"), ("acll", "pseudo_count")]
OUT_OF_RANGE = [
    *((name, setting, value) for name, setting in ABOVE_ZERO for value in (0.0, -1.0, math.nan, math.inf, "1")),
    *(("elr", setting, -1) for setting in ("l2", "alpha", "tolerance", "max_iterations")),
    *(("elr", setting, math.nan) for setting in ("l2", "alpha", "tolerance")),
    ("elr", "alpha", 0.0),
    ("elr", "tuning", "early"),
    ("dfe", "iterations", 0),
    ("dfe", "alpha", 0.0),
    ("acll", "prior", "flat"),
]


@pytest.mark.parametrize(("name", "setting", "value"), OUT_OF_RANGE)
def test_a_setting_out_of_range_is_refused_by_its_name_and_value(name, setting, value):
    with pytest.raises(ParameterError, match=f"{setting}.* must be .*Got {re.escape(repr(value))} instead"):
        make_parameters(name, **{setting: value})


def test_structure_and_class_must_be_those_of_the_data():
    data = small_data()

    with pytest.raises(ParameterError, match="must have the variables of the data"):
        fit_parameters(data, DAG.from_arcs(["z", "x", "y"], []))
    with pytest.raises(ParameterError, match="'w' is not a column; columns are 'x', 'z', 'y'"):
        fit_parameters(data, AUGMENTED, class_name="w")
