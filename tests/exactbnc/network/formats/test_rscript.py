"""The script for bnlearn holds the tables and regressions, read as R would read it."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.formats import rscript
from exactbnc.network.formats.files import load, write_bayesnet
from exactbnc.network.regressions import regression_of
from scorecache.errors import ParameterError
from tests.exactbnc.network.mixed_networks import mixed_network

TOKEN = re.compile(r'\s*("(?:[^"\\\\]|\\\\.)*"|[\w.+-]+|[(),=])')


def read(text):
    """A value of the part of R that the scripts use: a text, a number, or (function, [(argument or None, value)])."""
    tokens, at = TOKEN.findall(text), 0

    def value():
        nonlocal at
        word, at = tokens[at], at + 1
        if word.startswith('"'):
            return word[1:-1].encode().decode("unicode_escape").encode("latin-1").decode()
        if at == len(tokens) or tokens[at] != "(":
            return {"NULL": None, "TRUE": True}.get(word, word) if word.isalpha() else float(word)
        at, arguments = at + 1, []
        while tokens[at] != ")":
            name = None
            if tokens[at + 1] == "=":
                name, at = tokens[at].strip('"'), at + 2
            arguments.append((name, value()))
            at += tokens[at] == ","
        at += 1
        return word, arguments

    return value()


def items(vector):
    assert vector[0] == "c"
    return [value for _, value in vector[1]]


def argument(call, name):
    return dict(call[1])[name]


def distributions(net):
    """By name, what custom.fit gets."""
    text = rscript.render(net)[0]
    call = read(text[text.index("custom.fit") :])
    return dict(argument(call, "dist")[1])


@pytest.mark.parametrize("seed", range(8))
def test_every_distribution_is_there_in_the_order_of_r(seed):
    net = mixed_network(seed, 3, 3, density=0.8)

    found = distributions(net)

    assert list(found) == list(net.names)
    for v, name in enumerate(net.names):
        kind, own = found[name][0], found[name]
        if not net.is_number[v]:
            labels = argument(own, "dimnames")
            values = np.array(items(own[1][0][1]))
            if kind == "matrix":
                assert items(labels[1][1][1]) == list(net.states[v])
                np.testing.assert_array_equal(values, net.tables[v])
                continue
            axes = (v, *net.dag.parents[v])
            assert [key for key, _ in labels[1]] == [net.names[u] for u in axes]
            assert [items(value) for _, value in labels[1]] == [list(net.states[u]) for u in axes]
            table = values.reshape([int(size) for size in items(argument(own, "dim"))], order="F")
            np.testing.assert_array_equal(np.moveaxis(table, 0, -1), net.tables[v])
            continue
        regression, coefficients = regression_of(net, v), argument(own, "coef")
        rows = ["(Intercept)", *(net.names[u] for u in regression.regressors)]
        if not regression.given:
            assert [key for key, _ in coefficients[1]] == rows
            np.testing.assert_array_equal(items(coefficients), net.tables[v][:-1])
            assert argument(own, "sd") ** 2 == pytest.approx(net.tables[v][-1])
            continue
        assert items(argument(coefficients, "dimnames")[1][0][1]) == rows
        sizes = [len(net.states[u]) for u in regression.given]
        matrix = np.array(items(coefficients[1][0][1])).reshape(len(rows), *sizes, order="F")
        np.testing.assert_array_equal(np.moveaxis(matrix, 0, -1), net.tables[v][..., :-1])
        deviations = np.array(items(argument(own, "sd"))).reshape(sizes, order="F")
        np.testing.assert_allclose(deviations**2, net.tables[v][..., -1], rtol=1e-14)


def test_the_script():
    dag = DAG.from_arcs(["s", 'x "1"'], [("s", 'x "1"')])
    net = BayesNet(dag, (("a", "b"), ()), (np.array([0.25, 0.75]), np.array([[1.0, 4.0], [2.0, 9.0]])))

    assert (
        rscript.render(net)[0]
        == r"""library(bnlearn)
net <- empty.graph(c("s", "x \"1\""))
arcs(net) <- matrix(c("s", "x \"1\""), ncol = 2, byrow = TRUE, dimnames = list(NULL, c("from", "to")))
net <- custom.fit(net, dist = list(
  "s" = matrix(c(0.25, 0.75), nrow = 1, dimnames = list(NULL, c("a", "b"))),
  "x \"1\"" = list(coef = matrix(c(1.0, 2.0), nrow = 1, dimnames = list(c("(Intercept)"), NULL)), sd = c(2.0, 3.0))
))
"""
    )


def test_scripts_are_written_and_not_read(tmp_path):
    write_bayesnet(mixed_network(0), tmp_path / "net.R")

    with pytest.raises(ParameterError, match="must end in one of"):
        load(tmp_path / "net.R")


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_bnlearn_takes_the_script(tmp_path):
    net = mixed_network(2, 3, 3, density=0.8)
    write_bayesnet(net, tmp_path / "net.R")
    (tmp_path / "run.R").write_text(
        'if (!requireNamespace("bnlearn")) quit(status = 9)\nsource("net.R")\n'
        "stopifnot(setequal(nodes(net), names(net)))\n"
        "for (name in nodes(net)) if (!is.null(net[[name]]$sd)) "
        'cat(name, format(c(net[[name]]$coefficients), digits = 17), "\\n")\n'
    )

    run = subprocess.run(["Rscript", "run.R"], cwd=tmp_path, capture_output=True, text=True, check=False)

    if run.returncode == 9:
        pytest.skip("bnlearn is not installed")
    assert run.returncode == 0, run.stderr
    for line in run.stdout.splitlines():
        name, *numbers = line.split()
        table = net.tables[net.index[name]][..., :-1]
        flat = table.transpose(*reversed(range(table.ndim - 1)), table.ndim - 1).ravel()
        np.testing.assert_allclose(np.array(numbers, dtype=float), flat, rtol=1e-12)
