"""Newton's method for small regressions without an offset.

The penalty is the same for all classes, so that at the optimum the weights of a column sum to 0 over the classes: W =
V B', where the columns of B are an orthonormal basis of the contrasts, and |W| = |V|. With x_i the columns of row i,

    gradient by V_b     sum_i w_i x_i (p_i - e_yi)' B_b + lambda V_b
    Hessian by V_a, V_b sum_i w_i x_i x_i' [B' (diag p_i - p_i p_i') B]_ab + lambda [a = b] I

and a step is halved until the objective falls (Armijo's rule). Two classes give one block of columns x columns.
"""

from __future__ import annotations

import numpy as np

from exactbnc.learning.discriminative.design import Floats
from exactbnc.learning.discriminative.sample import Fit, Sample, residuals_of, softmax_loss

MOST_WORK = 2_000_000
"""Products in a Hessian up to which Newton's method is the quicker one."""
SUFFICIENT = 1e-4
"""The part of the predicted fall that a step must bring."""
SHORTEST_STEP = 1e-8


def suits_newton(sample: Sample, n_classes: int) -> bool:
    """Whether the Hessian is cheap, there is no offset, and every family of every row has a cell of its own."""
    blocks = n_classes * (n_classes - 1) // 2
    is_plain = not len(sample.offset) and not sample.design.has_unknown
    return is_plain and len(sample.actual) * sample.design.n_columns**2 * blocks <= MOST_WORK


def newton(sample: Sample, n_classes: int, penalty: float, effort: tuple[int, float], start: Fit | None) -> Fit:
    """The weights of least penalised loss, from `start` on.

    Examples
    --------
    >>> from exactbnc.graph.dag import DAG
    >>> from exactbnc.learning.discriminative.design import Design
    >>> from scorecache import Dataset
    >>> data = Dataset.from_columns({"x": [0, 0, 1, 1], "y": [0, 0, 1, 1]})
    >>> design = Design.of(data, DAG.from_arcs(data.names, [("y", "x")]), "y")
    >>> rows = Sample(design, design.cells, data.column("y").astype(np.int64), np.ones(4), np.empty((0, 2)))
    >>> newton(rows, 2, 1.0, (20, 1e-9), None).weights.round(3).tolist()
    [[0.521, -0.521], [-0.521, 0.521], [0.0, 0.0]]
    """
    n_steps, tolerance = effort
    rows, weights = sample.one_hot, sample.weights
    basis = contrasts(n_classes)
    n_columns, n_free = rows.shape[1], n_classes - 1

    def objective(point: Floats) -> tuple[float, Floats]:
        value, chances = softmax_loss(rows @ point @ basis.T, sample)
        return value + penalty / 2 * float((point**2).sum()), chances

    point = np.zeros((n_columns, n_free)) if start is None else start.weights @ basis
    value, chances = objective(point)
    for _ in range(n_steps):
        hessian = np.empty((n_free, n_columns, n_free, n_columns))
        for a in range(n_free):
            mean = chances @ basis[:, a]
            for b in range(a, n_free):
                curvature = weights * (chances @ (basis[:, a] * basis[:, b]) - mean * (chances @ basis[:, b]))
                hessian[a, :, b] = hessian[b, :, a] = (rows * curvature[:, None]).T @ rows
        square = hessian.reshape(n_free * n_columns, -1)
        square.flat[:: len(square) + 1] += penalty
        gradient = rows.T @ residuals_of(chances, sample) @ basis + penalty * point
        step = np.linalg.solve(square, gradient.T.ravel()).reshape(n_free, n_columns).T
        predicted = float((gradient * step).sum())
        if predicted <= tolerance**2 * sample.total:
            break
        size = 1.0
        trial_value, trial_chances = objective(point - step)
        while trial_value > value - SUFFICIENT * size * predicted and size > SHORTEST_STEP:
            size /= 2
            trial_value, trial_chances = objective(point - size * step)
        if trial_value >= value:
            break
        gain, point, value, chances = value - trial_value, point - size * step, trial_value, trial_chances
        if gain <= tolerance * sample.total:
            break
    return Fit(point @ basis.T, 1.0, penalty)


def contrasts(n_classes: int) -> Floats:
    """Classes x (classes - 1): orthonormal columns, each of which sums to 0.

    >>> contrasts(2).round(3).tolist()
    [[0.707], [-0.707]]
    """
    found = np.zeros((n_classes, n_classes - 1))
    for b in range(n_classes - 1):  # Helmert's: the first b + 1 classes against the next one
        found[: b + 1, b] = 1.0
        found[b + 1, b] = -(b + 1.0)
    found /= np.linalg.norm(found, axis=0)
    return found
