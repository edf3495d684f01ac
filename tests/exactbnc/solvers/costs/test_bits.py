"""Sets as rows of words: the members that are listed are those that were put in."""

import numpy as np

from exactbnc.solvers.costs.bits import members_of


def test_members_in_all_words_are_read():
    masks = np.zeros((3, 3), dtype=np.uint64)
    masks[0] = [1 << 63, 1, 1 << 2]
    masks[2, 1] = 1 << 63

    start, members = members_of(masks)

    assert members[start[0] : start[1]].tolist() == [63, 64, 130]
    assert members[start[1] : start[2]].tolist() == []
    assert members[start[2] : start[3]].tolist() == [127]
