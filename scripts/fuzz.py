"""Feed hostile files to every reader and see that nothing but our own errors comes out.

    python scripts/fuzz.py [READER ...] [--inputs 200000] [--seed 0]

Valid files are mutated by one mutator that knows nothing of their formats. An exception must be one of ours with a
message of one line, and the reading must take at most `MOST_SECONDS` of processor time. An input is named by its
number: a fault is replayed by `READER --seed NUMBER --inputs 1`. The exit code is 1 if there was a fault.
"""

from __future__ import annotations

import argparse
import gzip
import re
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from exactbnc.checkpoint.file import Saved, problem_hash, read_checkpoint, write_checkpoint
from exactbnc.formats import network_text, read_network, write_network
from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.formats import bayesnetjson
from exactbnc.network.formats.files import load, write_bayesnet
from exactbnc.problem.constraintfile import read_arcs, read_constraints, read_tiers
from exactbnc.problem.problem import Problem
from exactbnc.proof.file import certificate_facts, certified_problem, check_claims, read_certificate
from exactbnc.proof.verify import CertificateError, verify
from exactbnc.solvers.solve import solve
from scorecache.cache import ScoreCache
from scorecache.data.reading import read_csv
from scorecache.data.states import load_states
from scorecache.domain import Domain
from scorecache.errors import InputError, ParameterError
from scorecache.formats import read_cache, write_cache
from scorecache.record import Record

MOST_SECONDS = 1.0
PIECES = (
    b"", b"nan", b"-1e999", b"9" * 5000, b"-1", b"1.5", b"null", b"true", b'"', b"\\", b"\xff", b"\x00",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"[" * 3000, b"{", b"}", b"<a>", b"<!--", b"&x;", b"/*", b"->", b"<-", b"~", b"|",
    b",", b":", b";", b"\n", b"\r", b"#", b"_x_", b"_xint_1", b"default", b"table", b'<!DOCTYPE BIF [<!ENTITY x "y">]>',
)  # fmt: skip
TOKEN = re.compile(rb'\w+|[-+]?\d+(?:\.\d*)?|"[^"\n]*"|\s+|.', re.DOTALL)
DAG_OF_3 = DAG.of("abc", [[], [0], [0, 1]])
TABLES = (np.array([0.25, 0.75]), np.full((2, 3), 1 / 3), np.full((2, 3, 2), 0.5))
NET = BayesNet(DAG_OF_3, (("no", "yes"), (0, 1, 2), (True, False)), TABLES)
NUMBERS = BayesNet(
    DAG_OF_3, (("no", "yes"), (), ()), (TABLES[0], np.array([[0.5, 1.0]] * 2), np.array([[0.0, 1.5, 2.0]] * 2))
)
LEARNED = replace(NET, class_name="a", cut_points={"b": (0.5, 1.5)}, solution={"status": "optimal", "score": -1.5})
MODEL = (
    '{"format": "exactbnc.model", "schema_version": 1, "class": "a", "cut_points": {"b": [0.5, 1.5]}, "solution": {}, '
    f'"provenance": {{}}, "network": {bayesnetjson.render(NET)[0]}}}'
)
PGMPY = (
    '{"nodes": ["a", "b"], "arcs": [["a", "b"]], "cpds": {"a": {"coefficients": {"(Intercept)": [0.5]}, '
    '"variance": [1.0], "parents": []}, "b": {"coefficients": {"(Intercept)": [0.0], "a": [1.5]}, '
    '"variance": [2.0], "parents": ["a"]}}}'
)
RECORD = Record("bdeu", {"ess": 1.0}, Domain.of("abc"), "none", n_rows=20)
CACHE = ScoreCache.from_families("abc", [[(-1.5, ()), (-2.5, ((v + 1) % 3,))] for v in range(3)], RECORD)
PROBLEM = Problem(CACHE, listed_families_only=True)
SAVED = Saved(DAG.of("abc", [[], [], []]), None, 0.5, False, 0.0, "ilp", 1.5, ())
CHECKPOINT_HASH = problem_hash(PROBLEM)
LOOP = Problem(ScoreCache.from_families("ab", [[(-1.0, ()), (-0.5, (1,))], [(-2.0, ()), (-1.0, (0,))]]))
PROOF = {
    "variables": [0, 1],
    "digits": 8,
    "slack": 0,
    "stages": [[[[0, 1], 1, [], 5]], [[[0, 1], 0, [[1, 0, 1, 0], [1, 1, 0, 0]], 7]]],
    "states": [[[], [0, 1], [[[0, 1], 11]]], [[0], [1], []], [[1], [0], [[[0], 3]]], [[0, 1], [], []]],
}
HALVES = [[[], [0, 1]], [[[[[0, 1], 1, [], 10**8]]], []], [[[[[0, 1], 1, [], 10**8]]], []]]


def write_certificate(part: dict[str, Any], path: str) -> None:
    """Write the best network with a certificate of that part."""
    write_network(solve(LOOP), LOOP, path, certificate=certificate_facts(LOOP, {"parts": [part]}))


def check_certificate(path: str) -> None:
    """Read a certificate and verify it."""
    own = read_certificate(path)
    found = verify(certified_problem(LOOP.cache, own, any_scores=True), own.dag, own.proof)
    check_claims(found, LOOP.n_vars, own.score, own.bound)


def _written(write: Callable[[str], Any], name: str) -> bytes:
    with TemporaryDirectory() as folder:
        write(f"{folder}/{name}")
        return Path(folder, name).read_bytes()


def _reader(suffix: str, seed: bytes | Callable[[str], Any], read: Callable[[str], Any]) -> tuple[Any, ...]:
    return suffix, seed if isinstance(seed, bytes) else _written(seed, f"a{suffix}"), read


READERS: dict[str, tuple[Any, ...]] = {
    "csv": _reader(".csv", b'a;b\n1.5;"x ""y"\nNA;\xc3\xa9\n0;1\n', read_csv),
    "states": _reader(".json", b'{"a": ["no", "yes"], "b": [0, 1.5]}', load_states),
    "jkl": _reader(".jkl", lambda path: write_cache(CACHE, path), read_cache),
    "pss": _reader(".pss", lambda path: write_cache(CACHE, path), read_cache),
    "con": _reader(".con", b"a<-b\n~a-c\nb<--c\n~a->c<-b\na<c\nsink d\nroot e\n", read_constraints),
    "tiers": _reader(".txt", b'1: a b\n3: "c d" e\n2: f\n', read_tiers),
    "arcs": _reader(".csv", b'from,to\na,b\n"b c",d\n', read_arcs),
    **{
        kind: _reader(suffix, network_text(DAG_OF_3, None, suffix).encode(), read_network)
        for kind, suffix in {"network": ".json", "dot": ".dot", "adjacency": ".csv", "modelstring": ".txt"}.items()
    },
    **{
        kind: _reader(suffix, lambda path: write_bayesnet(NET, path), load)
        for kind, suffix in {"bif": ".bif", "xmlbif": ".xml", "bayesnet": ".json"}.items()
    },
    **{
        kind: _reader(
            ".json",
            partial(write_certificate, part),
            check_certificate,
        )
        for kind, part in {"certificate": PROOF, "halves": {**PROOF, "tree": HALVES}}.items()
    },
    "learned": _reader(".json", lambda path: write_bayesnet(LEARNED, path), load),
    "numbers": _reader(".json", lambda path: write_bayesnet(NUMBERS, path), load),
    "equations": _reader(".sem", b"a = 0.5 [1]\nb = -1.5 + 2 * a  # b\n  - a [0.25]\nc=a+3b[.5]\n", load),
    "pgmpy": _reader(".json", PGMPY.encode(), load),
    "model": _reader(".json", MODEL.encode(), load),
    "checkpoint": _reader(
        ".npz",
        lambda path: write_checkpoint(path, CHECKPOINT_HASH, SAVED),
        lambda path: read_checkpoint(path, PROBLEM),
    ),
}


def mutated(content: bytes, random: Random) -> bytes:
    """One to four changes of tokens or bytes."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        kind, at = random.randrange(6), random.randrange(len(content) + 1)
        end = min(len(content), at + random.choice((1, 4, 40)))
        if kind == 0:
            content = content[:at]
        elif kind == 1:
            content = content[:at] + random.randbytes(end - at) + content[end:]
        elif kind == 2:
            content = content[:end] + content[at:end] * random.choice((1, 1, 300)) + content[end:]
        elif tokens := TOKEN.findall(content):
            place = random.randrange(len(tokens))
            tokens[place] = random.choice(PIECES if kind < 5 else tokens)
            content = b"".join(tokens)
    return content


def fault_of(name: str, number: int, folder: Path) -> str | None:
    """Try one input; None if it was read or refused as it should be."""
    suffix, seed, read = READERS[name]
    random = Random(f"{name} {number}")
    content, is_packed = mutated(seed, random), suffix in (".csv", ".jkl", ".bif") and random.random() < 0.1
    path = folder / f"input{suffix}{'.gz' if is_packed and name != 'arcs' and name != 'adjacency' else ''}"
    packed = gzip.compress(content, 1) if path.suffix == ".gz" else content
    path.write_bytes(mutated(packed, random) if path.suffix == ".gz" and random.random() < 0.5 else packed)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        read(str(path))
    except (CertificateError, InputError, ParameterError) as error:
        return None if len(str(error).splitlines()) == 1 else f"the message is not one line: {error!r:.200}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


class Hang(BaseException):
    """The reading took too long; no `except Exception` stops it."""


def _stop(signum: int, frame: Any) -> None:
    raise Hang


def run(names: list[str], n_inputs: int, first: int = 0) -> int:
    """Report the faults of each reader; returns how many different ones there are."""
    n_faults, before = 0, signal.signal(signal.SIGPROF, _stop)
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            faults: dict[str, int] = {}
            begun = time.process_time()
            for number in range(first, first + n_inputs):
                fault = fault_of(name, number, Path(folder))
                if fault is not None and fault not in faults:
                    faults[fault] = number
                    print(f"{name} --seed {number} --inputs 1: {fault}", flush=True)
            print(
                f"{name}: {n_inputs:,} inputs, {len(faults)} faults, {time.process_time() - begun:,.0f} s", flush=True
            )
            n_faults += len(faults)
    signal.signal(signal.SIGPROF, before)
    return n_faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", nargs="*", choices=[*READERS, []], metavar="READER", help="all if none is named")
    parser.add_argument("--inputs", type=int, default=200_000, help="for each reader")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first input")
    options = parser.parse_args()
    sys.exit(int(run(options.readers or list(READERS), options.inputs, options.seed) > 0))
