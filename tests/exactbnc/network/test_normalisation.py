import numpy as np
import pytest

from exactbnc.network._kernels import normalise_logs
from exactbnc.network.normalisation import normalise


def test_numpy_and_the_kernel_agree(monkeypatch):
    scores = np.random.default_rng(0).normal(0, 400, (50, 3))
    scores[3], scores[4, 1] = -np.inf, -np.inf
    by_kernel, by_numpy = scores.copy(), scores.copy()

    found = normalise_logs(by_kernel)
    monkeypatch.setattr("exactbnc.network.normalisation.is_loaded", lambda _: False)

    assert normalise(by_numpy) == found == 1
    assert by_numpy == pytest.approx(by_kernel, rel=1e-13, abs=1e-13)
    assert np.delete(np.exp(by_numpy).sum(axis=1), 3) == pytest.approx(1, abs=1e-12)
