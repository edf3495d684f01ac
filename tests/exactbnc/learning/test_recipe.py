"""A recipe checks its settings and survives its file."""

import json
import re
from dataclasses import replace

import pytest

from exactbnc.learning.recipe import Recipe
from exactbnc.network.parameters import make_parameters
from exactbnc.problem.constraints import Constraints
from scorecache.errors import ParameterError
from scorecache.scores import make_score


def test_ess_goes_to_the_criterion_and_the_parameters_that_have_one():
    recipe = Recipe(criterion="bdeu", parameters="eap", ess=7.0)

    assert recipe.score() == make_score("bdeu", ess=7.0)
    assert recipe.estimator() == make_parameters("eap", ess=7.0)
    assert Recipe(criterion="bic", parameters="dirichlet", ess=7.0).estimator() == make_parameters("dirichlet")
    assert Recipe(criterion="bic", ess=7.0).score() == make_score("bic")
    own = make_score("bdeu", ess=2.0)
    assert Recipe(criterion=own, parameters=make_parameters("eap", ess=3.0), ess=7.0).score() is own
    assert Recipe(parameters=make_parameters("eap", ess=3.0), ess=7.0).estimator() == make_parameters("eap", ess=3.0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"structure": "tree"},
            "the structure must be one of general, naive_bayes, tan, fan, kdb, anb, class_minimal.",
        ),
        ({"criterion": "bdue"}, "the score must be one of"),
        ({"parameters": "map"}, "the parameters must be one of"),
        ({"restarts": -1}, "restarts must be at least 0. Got -1 instead."),
        ({"ess": 0.0}, "The 'ess' parameter of a recipe must be a number above 0. Got 0.0 instead."),
    ],
)
def test_a_recipe_checks_its_fields(fields, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        Recipe(**fields)


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(),
        Recipe(structure="kdb", criterion="acll", parameters="elr", max_parents=3, k=1, time_limit=2.5, n_jobs=2),
        Recipe(criterion=make_score("bdeu", ess=2.0), parameters=make_parameters("dirichlet", alpha=0.1)),
        Recipe(parameters="dirichlet", calibrate=True),
        Recipe(constraints=Constraints(required_arcs=["ab"], tiers=[["a", "b"], ["c", "d"]], max_parents_of={"a": 1})),
    ],
)
def test_a_recipe_survives_json(recipe):
    messages = json.loads(json.dumps(recipe.to_json(), allow_nan=False))

    assert messages["criterion"] == {"name": recipe.score().name, **recipe.score().parameters}
    assert messages["parameters"] == {"name": recipe.estimator().name, **recipe.estimator().settings}
    assert Constraints.from_json(messages["constraints"]) == recipe.constraints
    plain = (
        "structure",
        "calibrate",
        "max_parents",
        "k",
        "ess",
        "solver",
        "time_limit",
        "memory_limit",
        "n_jobs",
        "seed",
        "restarts",
    )
    assert {name: messages[name] for name in plain} == {name: getattr(recipe, name) for name in plain}
    assert messages.keys() == {*plain, "criterion", "parameters", "constraints", "prior"}
    messages["method"] = messages.pop("solver")  # as in earlier versions
    assert Recipe.from_json(messages).to_json() == recipe.to_json()


def test_a_recipe_for_weights_survives_json():
    recipe = Recipe(parameters="auto")

    stored = json.loads(json.dumps(recipe.to_json(), allow_nan=False))

    assert stored["parameters"] == {"name": "auto"}
    assert Recipe.from_json(stored) == replace(recipe, criterion=recipe.score())
