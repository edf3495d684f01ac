"""The same files and the same JSON in every run, whatever the hash seed and the number of threads."""

import json
import re
import subprocess
import sys

from tests.exactbnc.cli.conftest import ROOT
from tests.faults.conftest import environment, files_in

SETTINGS = [("0", "1"), ("12345", "2")]
"""Hash seed of Python, and threads of the kernels and jobs of the cross-validation."""

COMMANDS = """
import sys
from contextlib import redirect_stdout
from exactbnc.cli import main

jobs = sys.argv[1]
data = "data.csv"
for name, arguments in {
    "score": ["score", data, "--class", "d", "--anb", "--score", "bdeu", "--max-parents", "3", "-o", "s.jkl"],
    "solve": ["solve", "s.jkl", "--anb", "-o", "net.json"],
    "ilp": ["solve", "s.jkl", "--anb", "--solver", "ilp", "-o", "ilp.json"],
    "learn": ["learn", data, "--class", "d", "--structure", "tan", "-o", "model.json"],
    "predict": ["predict", "model.json", data, "-o", "predicted.csv"],
    "evaluate": ["evaluate", data, "--class", "d", "--structure", "naive_bayes,tan", "--jobs", jobs],
}.items():
    with open(f"{name}.out", "w") as out, redirect_stdout(out):
        assert main([*arguments, "--json", "--quiet"]) == 0, name
"""
TIMES = re.compile(r"seconds|time|trace|command|_utc|^written$|^created$")

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def without_times(value):
    """A JSON value less what tells when, for how long and by which command line."""
    if isinstance(value, str) and TIMESTAMP.fullmatch(value):
        return None
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if not TIMES.search(key)}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


def results(folder):
    found = {}
    for name in files_in(folder):
        text = (folder / name).read_text(encoding="utf-8")
        is_json = name.endswith((".json", ".out"))
        found[name] = json.dumps(without_times(json.loads(text))) if is_json else text
    return found


def run(folder, hash_seed, n_threads):
    folder.mkdir()
    rows = [(k % 2, k // 3 % 3, (k * k // 5 + k) % 2, (k % 2 + k // 3) % 3) for k in range(80)]
    (folder / "data.csv").write_text("a,b,c,d\n" + "".join(f"v{a},{b},{c},s{d}\n" for a, b, c, d in rows))
    settings = environment(PYTHONHASHSEED=hash_seed, NUMBA_NUM_THREADS=n_threads)
    settings["PYTHONPATH"] = str(ROOT)
    subprocess.run([sys.executable, "-c", COMMANDS, n_threads], cwd=folder, env=settings, check=True, timeout=300)
    return results(folder)


def test_hash_seed_and_threads_change_nothing(tmp_path):
    first, other = [run(tmp_path / hash_seed, hash_seed, threads) for hash_seed, threads in SETTINGS]

    assert {"s.jkl", "s.jkl.json", "net.json", "model.json", "predicted.csv", "evaluate.out"} <= first.keys()
    assert other.keys() == first.keys()
    for name, content in first.items():
        assert other[name] == content, name
