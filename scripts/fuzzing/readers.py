"""Every reader under test: valid files, how a file is read, and how what was read is written and compared.

`READERS` is the registry. A seed is a valid content and whatever else its reading needs (a companion).
"""

from __future__ import annotations

import csv
import gzip
import json
import lzma
import re
import shlex
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from exactbnc.certificatefile import certified_problem, proof_of, read_certificate
from exactbnc.cli._training import AnyColumn
from exactbnc.constraintfile import read_arcs, read_constraints, read_tiers, write_constraints
from exactbnc.dag import DAG
from exactbnc.export import network_text, read_network
from exactbnc.export.bayesnets import read_bayesnet, write_bayesnet
from exactbnc.model import read_model, write_model
from fuzzing import objects
from fuzzing.mutate import bytes_mutated, mutated
from scorecache.cache import ScoreCache
from scorecache.csvfile import SEPARATORS, read_csv
from scorecache.dataset import Dataset
from scorecache.formats import read_cache, write_cache
from scorecache.partfiles import PartFolder
from scorecache.parts import Part
from scorecache.record import Record
from scorecache.statesfile import load_states

N_SEEDS = 40
Seed = tuple[bytes, Any]


@dataclass(frozen=True)
class Reader:
    """`read` takes the path, the companion of the seed and a random source for its options.

    `write` writes what was read so that `reread` gives an equal value; None where there is no writer. `seal` puts the
    right checksum into a mutated file, which else would get no further than the checksum.
    """

    name: str
    suffix: str
    make_seed: Callable[[Random], Seed]
    read: Callable[[str, Any, Random], Any]
    write: Callable[[Any, str], None] | None = None
    same: Callable[[Any, Any], bool] = lambda mine, theirs: bool(mine == theirs)
    reread: Callable[[str, Any], Any] | None = None
    is_json: bool = False
    pack: Callable[[bytes], bytes] | None = None
    seal: Callable[[bytes], bytes] | None = None
    use: Callable[[Any, Any, Random], Any] | None = None

    def seeds(self) -> list[Seed]:
        """The valid files; the same ones in every run."""
        random = Random(f"seeds of {self.name}")
        return [self.make_seed(random) for _ in range(N_SEEDS)]

    def mutate(self, content: bytes, random: Random) -> bytes:
        """A hostile file."""
        if self.pack is not None and random.random() < 0.5:
            return bytes_mutated(self.pack(content), random)
        hostile = mutated(content, random, is_json=self.is_json)
        if self.seal is not None and random.random() < 0.7:
            hostile = self.seal(hostile)
        return hostile if self.pack is None else self.pack(hostile)


def _written(write: Callable[[str], Any], name: str) -> bytes:
    """What a writer of ours writes."""
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / name
        write(str(path))
        return path.read_bytes()


# Tables


@dataclass(frozen=True)
class _Table:
    dataset: Dataset
    max_states: int | None


def _read_table(path: str, names: list[str], random: Random) -> _Table:
    """Options as a caller may give them; most files are read with none."""
    options: dict[str, Any] = {}
    if random.random() < 0.5:
        if random.random() < 0.3:
            options["separator"] = random.choice((*SEPARATORS, "\\t", "é", "a"))
        if random.random() < 0.3:
            options["header"] = False
        if random.random() < 0.3:
            options["states"] = {random.choice(names): random.choice((["0", "1"], ["no", "yes", "é"], ["missing"]))}
        if random.random() < 0.4:
            options["weights"] = random.choice(names)
        options["missing"] = random.choice(("error", "drop", "category"))
        options["missing_values"] = random.choice((("?",), (), ("NA", "0"), ("",)))
        options["max_states"] = random.choice((None, 1, 3, 65536))
        options["ignore"] = [random.choice(names)] if random.random() < 0.1 else []
        options["only"] = random.choice((None, None, names[:2]))
        options["measured"] = random.choice((None, AnyColumn()))
    return _Table(read_csv(path, **options), options.get("max_states"))


def _write_table(table: _Table, path: str) -> None:
    data = table.dataset
    weights = "the weights of these rows"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow([*data.names, weights])
        for row in range(data.n_rows):
            values = [str(listed[code]) for listed, code in zip(data.states, data.codes[:, row], strict=True)]
            writer.writerow([*values, 1 if data.weights is None else data.weights[row]])


def _reread_table(path: str, table: _Table) -> _Table:
    data = table.dataset
    declared = dict(zip(data.names, data.states, strict=True))
    weights = "the weights of these rows"
    return _Table(read_csv(path, separator=",", states=declared, weights=weights, missing_values=()), table.max_states)


def _same_table(mine: _Table, theirs: _Table) -> bool:
    a, b = mine.dataset, theirs.dataset
    weights = np.ones(a.n_rows) if a.weights is None else a.weights
    same_weights = b.weights is not None and np.array_equal(weights, b.weights)
    return a.names == b.names and a.states == b.states and np.array_equal(a.codes, b.codes) and same_weights


def _table_seed(random: Random) -> Seed:
    content = objects.table_text(random)
    return content, [*content.split(b"\n")[0].decode().replace('"', "").split(","), "w", "a", "0"]


def _states_seed(random: Random) -> Seed:
    return json.dumps({name: ["no", 1, 2.5, "é"] for name in objects.names(random, 3)}).encode(), None


# Score files


def _read_scores(path: str, companion: Any, random: Random) -> ScoreCache:
    cache = read_cache(path)
    if cache.record is not None:
        _use_record(cache.record)
    return cache


def _use_record(record: Record) -> None:
    """What the commands do with a record."""
    from exactbnc.cli._output import describe_domain, describe_score

    record.safe_for()
    describe_domain(record.domain.to_json())
    describe_score(record.score, record.parameters)
    restored = Record.from_json(record.domain.names, json.loads(json.dumps(record.to_json())))
    assert restored == record, "the record changes when it is written and read"


def _same_scores(mine: ScoreCache, theirs: ScoreCache) -> bool:
    return mine.equals(theirs) and mine.record == theirs.record


def _sidecar_seed(random: Random) -> Seed:
    cache = objects.cache(random)
    while cache.record is None:
        cache = objects.cache(random)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.jkl"
        write_cache(cache, path)
        return Path(f"{path}.json").read_bytes(), path.read_bytes()


def _read_sidecar(path: str, scores: bytes, random: Random) -> ScoreCache:
    score_file = path.removesuffix(".json")
    Path(score_file).write_bytes(scores)
    return _read_scores(score_file, None, random)


# Constraints


def _write_tiers(tiers: list[list[str]], path: str) -> None:
    lines = [f"{number}: {' '.join(map(shlex.quote, tier))}\n" for number, tier in enumerate(tiers)]
    Path(path).write_bytes("".join(lines).encode())


def _write_arcs(arcs: list[tuple[str, str]], path: str) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("from", "to"), *arcs])


def _tiers_seed(random: Random) -> Seed:
    own = objects.names(random, 5)
    text = f'# tiers\n1: {own[0]} {own[1]}\n3: "{own[2]} x" {own[3]}\n2: {own[4]}\n'
    return text.encode(), None


def _arcs_seed(random: Random) -> Seed:
    mark = random.choice((",", ";", "\t"))
    pairs = [objects.names(random, 2) for _ in range(4)]
    return "".join(f"{parent}{mark}{child}\n" for parent, child in (("from", "to"), *pairs)).encode(), None


# Networks


def _write_dag(dag: DAG, path: str) -> None:
    Path(path).write_bytes(network_text(dag, None, Path(path).suffix).encode())


def _same_up_to_order(mine: DAG, theirs: DAG) -> bool:
    return sorted(mine.names) == sorted(theirs.names) and sorted(mine.arcs) == sorted(theirs.arcs)


def _dag_reader(name: str, suffix: str, **more: Any) -> Reader:
    words = objects.PLAIN_WORDS if suffix == ".txt" else objects.WORDS

    def seed(random: Random) -> Seed:
        return network_text(objects.dag(random, words), None, suffix).encode(), None

    return Reader(name, suffix, seed, lambda path, _, __: read_network(path), _write_dag, **more)


def _same_net(mine: Any, theirs: Any) -> bool:
    kinds = [[[(type(state), state) for state in listed] for listed in net.states] for net in (mine, theirs)]
    same_tables = all(map(np.array_equal, mine.tables, theirs.tables))
    return mine.dag == theirs.dag and kinds[0] == kinds[1] and same_tables


def _same_net_of_texts(mine: Any, theirs: Any) -> bool:
    """BIF and XMLBIF keep the type of a state only where it matters."""
    texts = [[list(map(str, listed)) for listed in net.states] for net in (mine, theirs)]
    return mine.dag == theirs.dag and texts[0] == texts[1] and all(map(np.array_equal, mine.tables, theirs.tables))


def _bayesnet_reader(name: str, suffix: str, **more: Any) -> Reader:
    def seed(random: Random) -> Seed:
        return _written(lambda path: write_bayesnet(objects.bayesnet(random), path), f"a{suffix}"), None

    def write(net: Any, path: str) -> None:
        write_bayesnet(net, path)

    same = _same_net if suffix == ".json" else _same_net_of_texts
    return Reader(name, suffix, seed, lambda path, _, __: read_bayesnet(path), write, same, **more)


def _model_seed(random: Random) -> Seed:
    return _written(lambda path: write_model(objects.model(random), path), "a.json"), None


def _read_model(path: str, companion: Any, random: Random) -> Any:
    model = read_model(path)
    rows = Dataset.from_columns({name: ["0", "1", "no"] for name in model.net.names if name})  # a column has a name
    if any(model.features):  # a table has to have one of them
        model.encode(rows)
        model.unseen(rows)
    return model


def _same_model(mine: Any, theirs: Any) -> bool:
    facts = [
        (m.class_name, dict(m.cut_points), m.missing_is_state, json.dumps(m.solution), json.dumps(m.provenance))
        for m in (mine, theirs)
    ]
    return _same_net(mine.net, theirs.net) and facts[0] == facts[1]


# Certificates


@dataclass(frozen=True)
class _Certified:
    scores: ScoreCache
    constraints: Any
    best: float


def _certificate_seed(random: Random) -> Seed:
    from exactbnc.certificatefile import certificate_facts
    from exactbnc.certifying import certify
    from exactbnc.constraints import Constraints
    from exactbnc.export import write_network
    from exactbnc.limits import Limits
    from exactbnc.problem import Problem
    from exactbnc.solvers import solve

    while True:
        cache = objects.cache(random, n_vars=random.randint(2, 4))
        names = cache.names
        asked = random.choice((Constraints(), Constraints(forbidden_arcs=((names[0], names[1]),))))
        problem = Problem(cache, asked, listed_families_only=True)
        solution = solve(problem, method="dp")
        proof = None if solution.dag is None else certify(problem, solution.dag, limits=Limits(), seed=0)
        if solution.dag is None or solution.score is None or proof is None:
            continue
        facts = certificate_facts(problem, proof)
        dag = solution.dag
        content = _written(lambda path, dag=dag, problem=problem, facts=facts: write_network(
            dag, problem, path, certificate=facts), "a.json")  # fmt: skip
        return content, _Certified(cache, json.dumps(facts["constraints"]), solution.score)


def _verify(read: tuple[DAG, dict[str, Any]], certified: _Certified, random: Random) -> Any:
    """A certificate that is accepted may not claim a bound below the best network."""
    from exactbnc import certificate

    dag, stored = read
    problem = certified_problem(certified.scores, stored, any_scores=random.random() < 0.5)
    verified = certificate.verify(problem, dag, proof_of(stored))
    if json.dumps(stored["constraints"]) == certified.constraints:
        assert float(verified.bound) >= certified.best - 1e-9, "a false bound was accepted"
    return verified


# Checkpoints and parts of builds


def _checkpoint_seed(random: Random) -> Seed:
    from exactbnc.checkpointfile import Saved, problem_hash, write_checkpoint
    from exactbnc.constraints import Constraints
    from exactbnc.problem import Problem

    cache = objects.cache(random, n_vars=random.randint(3, 4))
    problem = Problem(cache, Constraints(), listed_families_only=True)
    empty = DAG.of(cache.names, [[] for _ in cache.names])
    saved = Saved(random.choice((None, empty)), None, 0.5, random.random() < 0.5, 0.0, "ilp", 1.5, ())
    stored = json.loads(_written(lambda path: write_checkpoint(path, problem_hash(problem), saved), "a.json"))
    clusters, facets = [[1, 25, [0, 1]], [2, 3, [0, 1, 2]]], [[0, 7, [3, 0, 1, 2]]] if cache.n_vars == 4 else []
    variables = list(range(cache.n_vars))
    stored["run"]["cuts"] = [{"variables": variables, "digits": 8, "clusters": clusters, "facets": facets}]
    return _sealed_checkpoint(json.dumps(stored).encode()), problem


def _sealed_checkpoint(content: bytes) -> bytes:
    from exactbnc.checkpointfile import _checksum

    try:
        stored = json.loads(content)
        stored["sha256"] = _checksum(stored["run"])
        return json.dumps(stored).encode()
    except (ValueError, KeyError, TypeError, RecursionError):
        return content


def _read_checkpoint(path: str, problem: Any, random: Random) -> Any:
    from exactbnc.checkpointfile import read_checkpoint

    return read_checkpoint(path, problem), problem


def _write_checkpoint(read: Any, path: str) -> None:
    from exactbnc.checkpointfile import problem_hash, write_checkpoint

    write_checkpoint(path, problem_hash(read[1]), read[0])


def _same_checkpoint(mine: Any, theirs: Any) -> bool:
    from exactbnc.checkpointcuts import told

    facts = [{**vars(saved), "cuts": list(map(told, saved.cuts))} for saved, _ in (mine, theirs)]
    return bool(facts[0] == facts[1])


_PART = Part(0, 0, 1)


def _part_seed(random: Random) -> Seed:
    families = [
        (np.array([random.random() for _ in range(n)]), np.arange(n * size, dtype=np.int32).reshape(n, size))
        for size, n in enumerate((1, 3, 2))
    ]
    with TemporaryDirectory() as folder:
        parts = PartFolder(Path(folder), "the build")
        parts.save(_PART, families)
        return (Path(folder) / f"{_PART.name}.part").read_bytes(), None


def _sealed_part(content: bytes) -> bytes:
    head, _, payload = content.partition(b"\n")
    return (
        re.sub(rb'"sha256": "[^"]*"', b'"sha256": "%s"' % sha256(payload).hexdigest().encode(), head) + b"\n" + payload
    )


def _read_part(path: str, companion: Any, random: Random) -> Any:
    folder = Path(path).parent / "parts"
    folder.mkdir(exist_ok=True)
    (folder / f"{_PART.name}.part").write_bytes(Path(path).read_bytes())
    parts = PartFolder(folder, "the build")
    parts.open()
    return parts.load(_PART)


# Packed files


def _xz_packed(content: bytes) -> bytes:
    return lzma.compress(content, preset=0)


def _packed(reader: Reader, suffix: str) -> Reader:
    pack = (lambda content: gzip.compress(content, 1, mtime=0)) if suffix == ".gz" else _xz_packed
    fields = {**vars(reader), "name": reader.name + suffix, "suffix": reader.suffix + suffix, "pack": pack}
    return Reader(**fields)


_CSV = Reader("csv", ".csv", _table_seed, _read_table, _write_table, _same_table, _reread_table)
_JKL = Reader(
    "jkl",
    ".jkl",
    lambda random: (_written(lambda path: write_cache(objects.cache(random), path), "a.jkl"), None),
    _read_scores,
    write_cache,
    _same_scores,
)
_PSS = Reader(
    "pss",
    ".pss",
    lambda random: (_written(lambda path: write_cache(objects.cache(random), path), "a.pss"), None),
    _read_scores,
    write_cache,
    _same_scores,
)
_BIF = _bayesnet_reader("bif", ".bif")
_MODEL = Reader("model", ".json", _model_seed, _read_model, write_model, _same_model, is_json=True)

READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        _CSV,
        Reader("states", ".json", _states_seed, lambda path, _, __: load_states(path),
               lambda states, path: Path(path).write_bytes(json.dumps(states).encode()), is_json=True),
        _JKL,
        Reader("sidecar", ".jkl.json", _sidecar_seed, _read_sidecar, is_json=True),
        _PSS,
        Reader("con", ".con",
               lambda random: (_written(lambda path: write_constraints(objects.constraints(random), path), "a.con"),
                               None),
               lambda path, _, __: read_constraints(path), write_constraints),
        Reader("tiers", ".txt", _tiers_seed, lambda path, _, __: read_tiers(path), _write_tiers),
        Reader("arcs", ".csv", _arcs_seed, lambda path, _, __: read_arcs(path), _write_arcs),
        _dag_reader("network", ".json", is_json=True),
        _dag_reader("dot", ".dot"),
        _dag_reader("adjacency", ".csv"),
        _dag_reader("modelstring", ".txt", same=_same_up_to_order),
        _BIF,
        _bayesnet_reader("xmlbif", ".xml"),
        _bayesnet_reader("bayesnet", ".json", is_json=True),
        _MODEL,
        Reader("certificate", ".json", _certificate_seed, lambda path, _, __: read_certificate(path), is_json=True,
               use=_verify),
        Reader("checkpoint", ".json", _checkpoint_seed, _read_checkpoint, _write_checkpoint, _same_checkpoint,
               lambda path, read: _read_checkpoint(path, read[1], Random(0)), is_json=True, seal=_sealed_checkpoint),
        Reader("part", ".part", _part_seed, _read_part, seal=_sealed_part),
        _packed(_CSV, ".gz"),
        _packed(_JKL, ".gz"),
        _packed(_JKL, ".xz"),
        _packed(_BIF, ".xz"),
        _packed(_MODEL, ".gz"),
    )
}  # fmt: skip
