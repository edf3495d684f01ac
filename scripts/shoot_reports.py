"""Take pictures of reports in a browser, to look at: 8, 37 and 200 variables, light and dark, 1300 x 900 pixels.

The networks are random, with tables and a class, or those of the files that are given. A file that is a report already
(`exactbnc report ... -o page.html`) is taken from top to bottom. Needs playwright and Chromium.

    python scripts/shoot_reports.py FOLDER [NET or HTML ...]
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.report import Subject, read_subject, render_report

SIZES = (8, 37, 200)
WINDOW = {"width": 1300, "height": 900}
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")


def main(folder: Path, files: list[str]) -> None:
    """Write the pages and the pictures into the folder, and the size of the labels to stdout."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as program:
        browser = program.chromium.launch(executable_path=_chromium(), args=FLAGS)
        reports = [file for file in files if file.endswith(".html")]
        networks = [file for file in files if file not in reports]
        pages = [(Path(file).resolve(), True) for file in reports]
        for subject in map(read_subject, networks) if files else _random_subjects():
            path = folder.resolve() / f"{subject.source}.html"
            path.write_text(render_report(subject), encoding="utf-8")
            pages.append((path, False))
        for path, is_whole in pages:
            for scheme in ("light", "dark"):
                page = browser.new_page(viewport=WINDOW, color_scheme=scheme)
                page.goto(path.as_uri())
                page.screenshot(path=folder / f"{path.stem}.{scheme}.png", full_page=is_whole)
                n_nodes = page.locator(".node").count()
                label = page.evaluate(
                    "(label => parseFloat(getComputedStyle(label).fontSize) * label.getScreenCTM().a)"
                    "(document.querySelector('.node text'))"
                )
                page.close()
            print(f"{path.stem}: {n_nodes} variables, labels of {label:.1f} pixels")
        browser.close()


def _random_subjects() -> Iterator[Subject]:
    """Networks of two states, most variables with one or two parents among the ten before them."""
    for n_vars in SIZES:
        random = np.random.default_rng(n_vars)
        names = [f"sensor {v:03d}" for v in range(n_vars)]
        arcs = {(names[v - 1 - random.integers(min(v, 10))], names[v]) for v in range(1, n_vars) for _ in range(v % 3)}
        dag = DAG.from_arcs(names, sorted(arcs))
        tables = [random.dirichlet((1.0, 1.0), size=(2,) * len(parents)) for parents in dag.parents]
        yield Subject(f"network-{n_vars}", dag, BayesNet(dag, (("no", "yes"),) * n_vars, tuple(tables)), names[7])


def _chromium() -> str:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        raise SystemExit("error: no browser was found; install chromium")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where pages and pictures go")
    parser.add_argument("files", nargs="*", metavar="NET", help="network files (default: random networks)")
    main(**vars(parser.parse_args()))
