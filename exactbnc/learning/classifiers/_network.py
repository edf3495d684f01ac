"""What a classifier with one network answers once it is fitted: predictions, the network, files, reports, pictures."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from exactbnc.graph.dag import DAG
from exactbnc.learning.classifiers._base import Floats, Ints, TableClassifier
from exactbnc.learning.discretize._base import interval_labels
from exactbnc.learning.run_recipe import Learned
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Rows
from exactbnc.problem.problem import Problem
from scorecache.data.encoding import MISSING_STATE
from scorecache.errors import ParameterError

if TYPE_CHECKING:
    from exactbnc.alternatives.arcs import ArcLoss
    from exactbnc.network.contributions import Contributions


class NetworkClassifier(TableClassifier):
    """A subclass learns the network and sets these attributes."""

    bayes_net_: BayesNet
    dag_: DAG
    problem_: Problem | None
    _learned: Learned
    _recipe_facts: dict[str, Any]
    _n_rows: float
    _positions: Ints
    """The features of the network among those of the table."""

    @property
    def network_(self) -> BayesNet:
        """The network with class, cut points, what was fitted to the class, the proof and the recipe.

        Its discretised columns have intervals as states, and it takes the numbers themselves, as a network of
        `exactbnc.learn` does.
        """
        from exactbnc.learning.network import network_of

        check_is_fitted(self)
        cuts = {
            name: points
            for name, points in zip(self._features.names, self._features.cut_points, strict=True)
            if points is not None and name in self.bayes_net_.index and name not in self.bayes_net_.numbers
        }
        net = self.bayes_net_
        states = list(net.states)
        for name, points in cuts.items():
            has_missing = MISSING_STATE in net.states_of(name)
            states[net.index[name]] = (*interval_labels(points), *([MISSING_STATE] if has_missing else []))
        learned = replace(self._learned, net=replace(net, states=tuple(states)))
        return network_of(
            learned,
            class_name=self.class_name_,
            cut_points={name: points.tolist() for name, points in cuts.items()},
            provenance={"recipe": self._recipe_facts, "n_rows": self._n_rows},
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `network_` to a file that `exactbnc.load`, `exactbnc predict` and `exactbnc report` read.

        Parameters
        ----------
        path : path-like
            See `BayesNet.save`.

        Examples
        --------
        >>> from exactbnc import ExactBNClassifier
        >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
        >>> y = ["out", "out", "in", "in"] * 5
        >>> import tempfile
        >>> from exactbnc import load
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ExactBNClassifier("tan").fit(X, y).save(folder + "/model.json")
        ...     load(folder + "/model.json").class_name
        'class'
        """
        self.network_.save(path)

    def report(self, path: str | os.PathLike[str], *, data: Any = None, title: str | None = None) -> None:
        """Write one HTML file that shows `network_`.

        Parameters
        ----------
        path : path-like
        data : table, optional
            With the class in a column; see `exactbnc.write_report`.
        title : str, optional

        Examples
        --------
        >>> from exactbnc import ExactBNClassifier
        >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
        >>> y = ["out", "out", "in", "in"] * 5
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ExactBNClassifier("tan").fit(X, y).report(folder + "/model.html", title="Weather")
        ...     "Weather" in open(folder + "/model.html", encoding="utf-8").read()
        True
        """
        self.network_.report(path, data=data, title=title)

    def explain(self, X: Any) -> Contributions:
        """What each family of the network adds to the log-posterior of every class, row by row.

        Parameters
        ----------
        X : table, rows x features

        Returns
        -------
        Contributions
            `values`, rows x families x classes, add up over the families to the log-posteriors and a constant per row.

        Examples
        --------
        >>> from exactbnc import ExactBNClassifier
        >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
        >>> y = ["out", "out", "in", "in"] * 5
        >>> model = ExactBNClassifier("tan").fit(X, y)
        >>> added = model.explain(X[:2]).log_odds("out", "in")
        >>> bool(abs(added.sum(axis=1) - model.decision_function(X[:2])).max() < 1e-9)
        True
        """
        from exactbnc.network.contributions import contributions

        check_is_fitted(self)
        codes = self._network_codes(self._encoded(X))
        return contributions(self.bayes_net_, self.class_name_, codes)

    def arc_losses(self, *, exact: bool = False) -> list[ArcLoss]:
        """What the score loses without each arc between features.

        Parameters
        ----------
        exact : bool, default False
            Whether the best network without the arc is found by solving again for each of them.

        Returns
        -------
        list of ArcLoss

        Raises
        ------
        ParameterError
            If the time limit ended before there was a problem to compare with.

        Examples
        --------
        >>> from exactbnc import ExactBNClassifier
        >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
        >>> y = ["out", "out", "in", "in"] * 5
        >>> model = ExactBNClassifier("tan").fit(X, y)
        >>> [(loss.parent, loss.child) for loss in model.arc_losses()] == [
        ...     arc for arc in model.dag_.arcs if arc[0] != model.class_name_]
        True
        """
        from exactbnc.alternatives.arcs import arc_losses

        check_is_fitted(self)
        if self.problem_ is None:
            raise ParameterError("the time limit ended before there was a problem to compare with")
        return arc_losses(self.problem_, self.dag_, exact=exact)

    def plot(self, ax: Any = None) -> Any:
        """Draw the network with matplotlib, the class highlighted.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> from exactbnc import ExactBNClassifier
        >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
        >>> y = ["out", "out", "in", "in"] * 5
        >>> model = ExactBNClassifier("tan").fit(X, y)
        >>> len(model.plot().texts)
        3
        """
        from exactbnc.pictures.plot import plot

        check_is_fitted(self)
        return plot(self.dag_, ax=ax, class_name=self.class_name_)

    def _repr_html_inner(self) -> str:
        """In a notebook: the settings before `fit`, the network after it."""
        shown = super()._repr_html_inner() if not hasattr(self, "bayes_net_") else self.network_._repr_html_()
        return str(shown)

    def _log_posterior(self, codes: Any) -> Floats:
        return self.bayes_net_.log_posterior(self._network_codes(codes), self.class_name_)

    def _log_posterior_in_part(self, rows: Any) -> Floats:
        """By the tables, which can sum out, with and without the value."""
        net = self.bayes_net_
        if net.class_fit is not None:
            net = replace(net, class_fit=replace(net.class_fit, weights=None, student=None))
        return net.log_posterior(self._network_codes(rows), self.class_name_)

    def _network_codes(self, codes: Any) -> Any:
        """The codes of the network's variables: the selected features, and the class, which is not known."""
        if isinstance(codes, Rows):
            numbers = np.vstack([codes.column(v) for v in self._positions] + [np.full(codes.n_rows, np.nan)])
            return Rows(self._network_codes(codes.codes), numbers)
        if len(self._positions) == len(codes):
            own = np.empty((len(codes) + 1, codes.shape[1]), dtype=np.uint16)
            own[:-1] = codes
        else:
            own = np.vstack([codes[self._positions], codes[:1]])
        own[-1] = UNKNOWN
        return own
