"""The commands, gathered into one typer application."""

from __future__ import annotations

from typing import Annotated

import typer

from exactbnc.cli._errors import EXIT_CODES
from exactbnc.cli._groups import command
from exactbnc.cli._version import version_line
from exactbnc.cli.check import check
from exactbnc.cli.compare import compare
from exactbnc.cli.convert import convert
from exactbnc.cli.evaluate import evaluate
from exactbnc.cli.explain import explain
from exactbnc.cli.info import info
from exactbnc.cli.learn import learn
from exactbnc.cli.posterior import posterior
from exactbnc.cli.predict import predict
from exactbnc.cli.query import query
from exactbnc.cli.report import report
from exactbnc.cli.sample import sample
from exactbnc.cli.score import score
from exactbnc.cli.scores import scores
from exactbnc.cli.solve import solve
from exactbnc.cli.strength import strength
from exactbnc.cli.verify import verify

_EPILOG = "\n".join(["Exit codes:", *(f"{code:>4}  {meaning}" for code, meaning in EXIT_CODES.items())])

app = typer.Typer(
    name="exactbnc",
    help="Exact Bayesian-network structure learning: score a table, find the provably best network, classify with it.",
    epilog=_EPILOG,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(command(score))
app.command()(command(solve, formerly={"--method": "--solver"}))
app.command()(command(learn, formerly={"--method": "--solver"}))
app.command()(command(query))
app.command()(command(sample))
app.command()(command(predict))
app.command()(command(evaluate, formerly={"--method": "--structure"}))
app.command()(command(explain))
app.command()(command(report))
app.command()(command(scores, reads_files=False))
app.command()(command(convert))
app.command()(command(info))
app.command()(command(check))
app.command()(command(verify))
app.command()(command(compare))
app.command()(command(posterior))
app.command()(command(strength))


def _print_version(wanted: bool) -> None:
    if wanted:
        print(version_line())
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Hold the options that come before the command."""
