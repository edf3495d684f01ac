"""Our caches against public score files, made by other programs from the same data.

Needs the folder `shared/instances` beside the repository: `csv/<data>.csv.gz` (no header, integer codes) and
`<data>.<BDeu|BIC>.<k>.jkl.gz` (BDeu with ESS 1, at most k parents, 8 decimals).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from scorecache.cache import ScoreCache
from scorecache.data.dataset import Dataset
from scorecache.data.reading import read_csv
from scorecache.formats import read_cache
from scorecache.scores import Score, make_score
from scorecache.scoring.build import build_cache

INSTANCES = Path(__file__).resolve().parents[3] / "shared" / "instances"
DATA_NAMES = ("alarm1000", "insurance1000", "zoo", "voting", "letter", "nltcs", "hailfinder500")

TIE_TOL = 1e-8
"""Public scores carry 8 decimals, so a tie shows as a difference of at most one unit of the last."""
SCORE_TOL = 1e-6

Parents = frozenset[str]
FamilyScores = Mapping[Parents, float]

pytestmark = pytest.mark.skipif(not INSTANCES.is_dir(), reason="needs shared/instances beside the repository")


@dataclass(frozen=True)
class PublicFile:
    """`<data>.<score>.<k>.jkl.gz`, told by its name."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name.removesuffix(".jkl.gz")

    @property
    def data_name(self) -> str:
        return self.name.split(".")[0]

    @property
    def score(self) -> Score:
        return {"BDeu": make_score("bdeu", ess=1.0), "BIC": make_score("bic")}[self.name.split(".")[1]]

    @property
    def max_parents(self) -> int:
        return int(self.name.split(".")[2])


def public_files() -> list[PublicFile]:
    return [PublicFile(path) for name in DATA_NAMES for path in sorted(INSTANCES.glob(f"{name}.*.*.jkl.gz"))]


@pytest.fixture(params=public_files(), ids=lambda file: file.name)
def public_file(request: pytest.FixtureRequest) -> PublicFile:
    file: PublicFile = request.param
    return file


def test_every_data_set_has_a_public_file() -> None:
    assert {file.data_name for file in public_files()} == set(DATA_NAMES)


def test_survivors_are_the_public_ones_but_for_exact_ties(public_file: PublicFile) -> None:
    ours, public = our_families(public_file), public_families(public_file)

    extras = [
        Extra(child, side, parents, these[child][parents] - best_subset(parents, ours[child], public[child]))
        for child in public
        for side, these, others in (("our", ours, public), ("the public", public, ours))
        for parents in sorted(these[child].keys() - others[child].keys(), key=sorted)
    ]
    ties = [extra for extra in extras if abs(extra.gain) <= TIE_TOL]
    faults = [extra for extra in extras if abs(extra.gain) > TIE_TOL]

    assert not faults, lines(f"{public_file.name}:", faults, f"besides {len(ties)} ties:", ties)
    print(lines(f"{public_file.name}: {len(ties)} ties", ties))  # pytest -rP shows it


def test_scores_agree(public_file: PublicFile) -> None:
    ours, public = our_families(public_file), public_families(public_file)

    differing = [
        f"{family(child, parents)}: ours {ours[child][parents]!r}, public {public_score!r}"
        for child in public
        for parents, public_score in public[child].items()
        if parents in ours[child] and abs(ours[child][parents] - public_score) > SCORE_TOL
    ]

    assert ours.keys() == public.keys()
    assert not differing, lines(f"{public_file.name}:", differing)


@dataclass(frozen=True)
class Extra:
    """A parent set in one of the two files, and what it gains over the best of its proper subsets."""

    child: str
    side: str
    parents: Parents
    gain: float

    def __str__(self) -> str:
        return f"{family(self.child, self.parents)} only in {self.side} file, {self.gain:.3g} above its best subset"


def best_subset(parents: Parents, *listed: FamilyScores) -> float:
    """The best score of a proper subset; a file that lacks the best has one that ties with it."""
    scores = (score for families in listed for other, score in families.items() if other < parents)
    return max(scores, default=float("-inf"))


def family(child: str, parents: Parents) -> str:
    return f"{child} <- {{{', '.join(sorted(parents))}}}"


def lines(*parts: str | Sequence[object]) -> str:
    return "\n".join(str(line) for part in parts for line in ([part] if isinstance(part, str) else part))


@cache
def our_families(file: PublicFile) -> dict[str, FamilyScores]:
    return by_name(build_cache(dataset(file.data_name), file.score, max_parents=file.max_parents))


@cache
def public_families(file: PublicFile) -> dict[str, FamilyScores]:
    return by_name(read_cache(file.path))


@cache
def dataset(name: str) -> Dataset:
    return read_csv(INSTANCES / "csv" / f"{name}.csv.gz", header=False)


def by_name(scores: ScoreCache) -> dict[str, FamilyScores]:
    return {
        name: {frozenset(scores.names[v] for v in parents): score for score, parents in scores.families(child)}
        for child, name in enumerate(scores.names)
    }
