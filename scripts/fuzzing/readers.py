"""Every reader under test (`READERS`), with those of score files, constraints and networks."""

from __future__ import annotations

import csv
import gzip
import json
import lzma
import shlex
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from exactbnc.formats import network_text, read_network
from exactbnc.graph.dag import DAG
from exactbnc.learning.model import read_model, write_model
from exactbnc.network.formats.files import read_bayesnet, write_bayesnet
from exactbnc.problem.constraintfile import read_arcs, read_constraints, read_tiers, write_constraints
from fuzzing import objects
from fuzzing.parquet import PARQUET_READERS
from fuzzing.reader import Reader, Seed, written
from fuzzing.solving import CERTIFICATE, CHECKPOINT, PART
from fuzzing.tables import CSV, STATES
from scorecache.cache import ScoreCache
from scorecache.data.dataset import Dataset
from scorecache.formats import read_cache, write_cache
from scorecache.record import Record

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
        return written(lambda path: write_bayesnet(objects.bayesnet(random), path), f"a{suffix}"), None

    def write(net: Any, path: str) -> None:
        write_bayesnet(net, path)

    same = _same_net if suffix == ".json" else _same_net_of_texts
    return Reader(name, suffix, seed, lambda path, _, __: read_bayesnet(path), write, same, **more)


def _model_seed(random: Random) -> Seed:
    return written(lambda path: write_model(objects.model(random), path), "a.json"), None


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


# Packed files


def _xz_packed(content: bytes) -> bytes:
    return lzma.compress(content, preset=0)


def _packed(reader: Reader, suffix: str) -> Reader:
    pack = (lambda content: gzip.compress(content, 1, mtime=0)) if suffix == ".gz" else _xz_packed
    fields = {**vars(reader), "name": reader.name + suffix, "suffix": reader.suffix + suffix, "pack": pack}
    return Reader(**fields)


_JKL = Reader(
    "jkl",
    ".jkl",
    lambda random: (written(lambda path: write_cache(objects.cache(random), path), "a.jkl"), None),
    _read_scores,
    write_cache,
    _same_scores,
)
_PSS = Reader(
    "pss",
    ".pss",
    lambda random: (written(lambda path: write_cache(objects.cache(random), path), "a.pss"), None),
    _read_scores,
    write_cache,
    _same_scores,
)
_BIF = _bayesnet_reader("bif", ".bif")
_MODEL = Reader("model", ".json", _model_seed, _read_model, write_model, _same_model, is_json=True)

READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        CSV,
        STATES,
        _JKL,
        Reader("sidecar", ".jkl.json", _sidecar_seed, _read_sidecar, is_json=True),
        _PSS,
        Reader("con", ".con",
               lambda random: (written(lambda path: write_constraints(objects.constraints(random), path), "a.con"),
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
        CERTIFICATE,
        CHECKPOINT,
        PART,
        _packed(CSV, ".gz"),
        _packed(_JKL, ".gz"),
        _packed(_JKL, ".xz"),
        _packed(_BIF, ".xz"),
        _packed(_MODEL, ".gz"),
        *PARQUET_READERS,
    )
}  # fmt: skip
