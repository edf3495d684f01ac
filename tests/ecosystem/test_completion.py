"""The answers to a shell that asks how a half-typed command may go on, in the protocol of typer's scripts."""

import os
import shutil
import subprocess
import sys

import pytest

from exactbnc.baselines import named
from exactbnc.baselines.evaluation import Exact
from exactbnc.baselines.greedy import BASELINES
from exactbnc.cli import _completion
from exactbnc.learning.recipe import AUTO, Recipe
from exactbnc.network.parameters import PARAMETERS
from scorecache.domain import STRUCTURES
from scorecache.scores import SCORES
from tests.exactbnc.cli.conftest import ROOT


@pytest.fixture
def answer(monkeypatch, exactbnc):
    """What the program prints with these variables in its environment and no argument."""

    def ask(**asked):
        for name, value in asked.items():
            monkeypatch.setenv(name, value)
        run = exactbnc()
        assert (run.code, run.err) == (0, "")
        return run.out

    return ask


def of_bash(line):
    """The variables that the script for bash sets; the line ends where the cursor is."""
    return {"_EXACTBNC_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("exactbnc sco", {"score", "scores"}),
        ("exactbnc solve --solver ", {"auto", "tree", "dp", "order", "ilp"}),
        ("exactbnc score data.csv --score bd", {"bdeu", "bds", "bd", "bde"}),
        ("exactbnc learn --structure n", {"naive_bayes"}),
        ("exactbnc evaluate --structure tan,t", {"tan,tbmatan"}),
        ("exactbnc evaluate --score bic,f", {"bic,fnml", "bic,fcll"}),
        ("exactbnc learn --parameters e", {"eap", "elr"}),
        ("exactbnc solve cache.jkl --k-", {"--k-best"}),
    ],
)
def test_bash_gets_commands_options_and_values(answer, line, expected):
    assert set(answer(**of_bash(line)).split()) == expected


def test_the_program_itself_answers():
    command = [sys.executable, "-m", "exactbnc"]
    environment = {**os.environ, **of_bash("exactbnc ver")}

    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True, timeout=120)

    assert (done.stdout.split(), done.stderr) == (["verify"], "")


def test_zsh_and_fish_get_the_same_values(answer):
    line = "exactbnc learn --structure t"

    of_zsh = answer(_EXACTBNC_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS=line)
    of_fish = answer(
        _EXACTBNC_COMPLETE="complete_fish", _TYPER_COMPLETE_FISH_ACTION="get-args", _TYPER_COMPLETE_ARGS=line
    )

    assert '"tan"' in of_zsh
    assert of_fish.split() == ["tan"]


@pytest.mark.parametrize(
    ("shell", "sign"), [("bash", "complete -o"), ("zsh", "#compdef exactbnc"), ("fish", "complete --command exactbnc")]
)
def test_each_shell_gets_its_script(answer, shell, sign):
    script = answer(_EXACTBNC_COMPLETE=f"source_{shell}")

    assert sign in script
    assert f"_EXACTBNC_COMPLETE=complete_{shell}" in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_with_its_script(answer, tmp_path):
    program = tmp_path / "exactbnc"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m exactbnc "$@"\n')
    program.chmod(0o755)
    script = answer(_EXACTBNC_COMPLETE="source_bash")
    typed = "COMP_WORDS=(exactbnc solve --solver o); COMP_CWORD=3"
    command = f'{script}\n{typed}; _exactbnc_completion "{program}"; echo "${{COMPREPLY[*]}}"'

    done = subprocess.run(["bash", "--norc", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=120)

    assert (done.stdout.split(), done.stderr) == (["order"], "")


def test_the_names_offered_are_those_that_exist():
    assert set(_completion.STRUCTURES) == set(STRUCTURES)
    offered = (_completion.AVERAGES, _completion.GREEDY, _completion.SEARCHED, _completion.OTHERS)
    assert [set(names) for names in offered] == [
        set(names) for names in (named.AVERAGES, BASELINES, named.SEARCHED, named.OTHERS)
    ]
    assert set(_completion.SCORES) == set(SCORES)
    assert set(_completion.PARAMETERS) == {*PARAMETERS, AUTO}


def test_every_name_that_is_offered_is_taken():
    for structure in _completion.STRUCTURES:
        assert Exact(Recipe(structure=structure)).name.startswith(structure)


def test_a_wrong_structure_is_told_all_that_there_are(exactbnc):
    run = exactbnc("evaluate", "--structure", "tan,wrong")

    assert run.code == 2
    assert "Got 'wrong' instead" in run.err
    for name in (*_completion.STRUCTURES, *_completion.AVERAGES, *_completion.GREEDY):
        assert f"{name}," in run.err or f"{name}." in run.err


def test_a_list_offers_each_name_once():
    complete = _completion.some_of(("tan", "tree", "anb"))

    assert complete("") == ["tan", "tree", "anb"]
    assert complete("tan,") == ["tan,tree", "tan,anb"]
    assert complete("anb,tan,t") == ["anb,tan,tree"]
    assert complete("tan,x") == []
