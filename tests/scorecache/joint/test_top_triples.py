"""The pass over triples keeps what the general pass keeps, bit for bit and in the same cache."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scorecache.building.build import build_cache
from scorecache.domain import Domain
from scorecache.scores import make_score
from scorecache.scoring.joint import top_triples
from tests.scorecache.literal import KERNELS, replace_everywhere, set_kernel
from tests.strategies import datasets, examples


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("score", ["bdeu", "fnml", "fcll", "ll"])
@examples(6)
@given(data=st.data())
def test_triples_are_scored_as_rows_are(score, kernel, data):
    smallest, largest = data.draw(st.sampled_from([(2, 2), (2, 4)]))
    dataset = data.draw(datasets(min_vars=5, max_vars=8, min_arity=smallest, max_arity=largest, max_rows=60))
    is_anb = make_score(score).needs_class
    varying = [name for name in dataset.names if len(set(dataset.column(name).tolist())) > 1]
    assume(varying or not is_anb)
    class_name = data.draw(st.sampled_from(varying)) if is_anb else None
    domain = Domain.of(
        dataset.names, "anb" if is_anb else "general", class_name=class_name, max_parents=4 if is_anb else 3
    )
    gap = data.draw(st.sampled_from([0.0, 0.7]))
    uses = []

    def built(applies):
        with pytest.MonkeyPatch.context() as patch:
            replace_everywhere(patch, "ALONE_COSTS", 1e9)
            set_kernel(patch, kernel)
            patch.setattr(top_triples, "applies", applies)
            return build_cache(dataset, score, domain=domain, prune_gap=gap, n_jobs=1)

    def noted(size, rules, applies=top_triples.applies):
        uses.append(applies(size, rules))
        return uses[-1]

    by_triples, by_rows = built(noted), built(lambda *_: False)

    assert any(uses) or not by_rows.sizes.max() > (3 if is_anb else 2)
    assert by_triples.equals(by_rows)
