"""`exactbnc sample`: rows drawn from a network."""

from __future__ import annotations

from typing import Annotated

import typer

from exactbnc.cli import _options as options
from exactbnc.cli._output import STANDARD_STREAM, check_target, write_text
from exactbnc.cli._parsing import parse_values
from exactbnc.cli.query import Do, load_network

Rows = Annotated[int, typer.Option("--rows", "-n", metavar="N", help="How many rows.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Same seed, same rows.")]
Target = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="OUT", help="A CSV file; stdout if not given.", rich_help_panel="Output"),
]


def sample(
    model: options.NetworkWithTables,
    report: options.OutputOptions,
    rows: Rows = 1000,
    seed: Seed = 0,
    do: Do = None,
    output: Target = None,
) -> None:
    """Draw rows from the joint distribution of a network, as CSV; with --json and no file, as a part of the object."""
    if output is None and not report.as_json:
        output = STANDARD_STREAM
    printer = report.output(output)
    if output is not None:
        check_target(output)
    values = parse_values(do or (), "--do")
    net = load_network(model).do(**values) if values else load_network(model)
    frame = net.sample(rows, seed=seed)
    facts = {"input": model, "n_rows": rows, "n_vars": net.n_vars, "seed": seed, "do": values, "output": output}
    if output is None:
        facts["rows"] = frame.astype(str).to_dict("records")
    else:
        write_text(frame.to_csv(index=False, lineterminator="\n"), output)
    if output != STANDARD_STREAM:
        printer.result([f"written: {output} ({rows:,} rows, {net.n_vars} variables)"], "sample", facts)
