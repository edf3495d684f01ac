"""A Bayesian network: a DAG and, per variable, the table of its conditional probabilities.

    P(x_1, ..., x_n) = prod_v P(x_v | parents of v)

A variable has states, or it is one of numbers: then its table has linear regressions (`exactbnc.network.regressions`),
and a density takes the place of the probability. A variable with states has no parents that are numbers.

`BayesNet` is what `learn` and `load` return. Its questions are asked in names and states and answered with labelled
tables of pandas; below them are the methods on codes (`exactbnc.network.codes`).
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG, Arc
from exactbnc.network.checks import check_network
from exactbnc.network.codes import UNKNOWN, Codes, Floats, Rows
from exactbnc.run.solution import Status
from scorecache.errors import ParameterError
from scorecache.wording import listing

if TYPE_CHECKING:
    import networkx
    import pandas
    from matplotlib.axes import Axes

    from exactbnc.network.class_model import ClassFit, ClassModel
    from exactbnc.network.posterior import Posterior


@dataclass(frozen=True, eq=False, repr=False)
class BayesNet:
    """A Bayesian network: a structure, the states of its variables, and their conditional probabilities or regressions.

    `learn` finds one for data, `load` reads one from a file, `fit_parameters` estimates one for a given structure.

    Parameters
    ----------
    dag : DAG
    states : tuple of tuples
        Per variable, its states; none for a variable of numbers. A state "missing" is what missing values of a table
        become.
    tables : tuple of float64 arrays
        `tables[v]` has one axis per parent, ascending as in `dag.parents[v]`, and the states of v on the last axis. The
        probabilities on that axis add up to one. Of a variable of numbers it has one axis per parent with states,
        ascending, and on the last axis the intercept, a coefficient per parent that is a number, ascending, and the
        variance. The arrays become read-only.
    class_name : str, optional
        The class of a classifier.
    cut_points : mapping of names to ascending numbers
        For the columns that were discretised: their states are the intervals between the cut points.
    class_fit : ClassFit, optional
        What was fitted to predict the class: a temperature for the tables, and weights for rows without unknown values.
        Only `predict`, `predict_proba` and `log_posterior` of the class use it.
    solution : mapping
        What the search found, as `save` stores it: status, score, bound, gap, method and more; empty if not learned.
    provenance : mapping
        Where the network comes from: recipe, data, versions.

    Raises
    ------
    ParameterError
        If states or tables do not fit the structure, a table does not contain probabilities, the class is not a
        variable, or the cut points do not fit the states.

    Examples
    --------
    >>> dag = DAG.from_arcs(["rain", "wet"], [("rain", "wet")])
    >>> tables = (np.array([0.8, 0.2]), np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> net = BayesNet(dag, (("no", "yes"), ("no", "yes")), tables)
    >>> net
    BayesNet: 2 variables, 1 arc, 3 free parameters
    >>> net.query("rain", given={"wet": "yes"}).round(3).to_dict()
    {'no': 0.333, 'yes': 0.667}
    >>> height = BayesNet(
    ...     DAG.from_arcs(["sex", "height"], [("sex", "height")]),
    ...     (("f", "m"), ()),
    ...     (np.array([0.5, 0.5]), np.array([[165.0, 50.0], [178.0, 60.0]])),
    ... )
    >>> height.query("height", given={"sex": "f"}).mean, height.query("sex", given={"height": 180}).idxmax()
    (165.0, 'm')
    """

    dag: DAG
    states: tuple[tuple[Hashable, ...], ...]
    tables: tuple[Floats, ...]
    class_name: str | None = None
    cut_points: Mapping[str, Sequence[float]] = field(default_factory=dict)
    solution: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    class_fit: ClassFit | None = None

    def __post_init__(self) -> None:
        check_network(self)

    # What it is

    @property
    def names(self) -> tuple[str, ...]:
        return self.dag.names

    @property
    def n_vars(self) -> int:
        return self.dag.n_vars

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """(parent, child) pairs of names."""
        return self.dag.arcs

    @cached_property
    def arities(self) -> NDArray[np.int64]:
        return np.array([len(listed) for listed in self.states], dtype=np.int64)

    @cached_property
    def is_number(self) -> NDArray[np.bool_]:
        """Which variables are numbers, without states."""
        return np.array([not listed for listed in self.states], dtype=np.bool_)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The variables that are numbers."""
        return tuple(name for name, listed in zip(self.names, self.states, strict=True) if not listed)

    @cached_property
    def index(self) -> dict[str, int]:
        return {name: v for v, name in enumerate(self.names)}

    @property
    def n_parameters(self) -> int:
        """Free parameters, added up over the variables: (r - 1) q, and of numbers q times k + 2."""
        return sum(self._own_parameters)

    @property
    def n_class_parameters(self) -> int | None:
        """Those of the class and of its children, which decide P(class | row); None without a class."""
        if self.class_name is None:
            return None
        c = self.index[self.class_name]
        families = enumerate(zip(self.dag.parents, self._own_parameters, strict=True))
        return sum(own for v, (parents, own) in families if c in (*parents, v))

    @property
    def _own_parameters(self) -> list[int]:
        """Per variable, the free parameters of its table."""
        return [
            table.size if not listed else table.size // table.shape[-1] * (table.shape[-1] - 1)
            for table, listed in zip(self.tables, self.states, strict=True)
        ]

    @property
    def required_class(self) -> str:
        """The class; a ParameterError if the network has none."""
        if self.class_name is None:
            raise ParameterError("the network has no class; name one (target=), or learn a classifier")
        return self.class_name

    @property
    def classes(self) -> tuple[Hashable, ...]:
        """The states of the class."""
        return self.states_of(self.required_class)

    @property
    def features(self) -> tuple[str, ...]:
        """The variables but the class."""
        return tuple(name for name in self.names if name != self.class_name)

    def with_class(self, name: str) -> BayesNet:
        """The same network with another class; what was fitted to predict the former one is left out.

        Examples
        --------
        >>> net = BayesNet(DAG.from_arcs(["x"], []), (("a", "b"),), (np.array([0.25, 0.75]),))
        >>> net.with_class("x").classes
        ('a', 'b')
        """
        return self if name == self.class_name else replace(self, class_name=name, class_fit=None)

    def states_of(self, name: str) -> tuple[Hashable, ...]:
        """The states of a variable; none of one of numbers."""
        return self.states[self.position(name)]

    def position(self, name: str) -> int:
        """The index of a variable; an error lists the names if it is unknown."""
        if name not in self.index:
            raise ParameterError(f"{name!r} is not a variable; variables are {listing(map(repr, self.names))}")
        return self.index[name]

    # What was proved

    @property
    def status(self) -> Status | None:
        """What is known of the structure; None for a network that was not learned here."""
        known = self.solution.get("status")
        return None if known is None else Status(known)

    @property
    def score(self) -> float | None:
        """The score of the structure."""
        return self.solution.get("score")

    @property
    def bound(self) -> float | None:
        """No structure scores more."""
        return self.solution.get("bound")

    @property
    def gap(self) -> float | None:
        """Bound less score; 0 where the structure is proved best."""
        return self.solution.get("gap")

    # Questions in names and states

    def cpt(self, name: str) -> pandas.DataFrame:
        """The conditional probability table of a variable: one row per configuration of its parents.

        A variable of numbers has a row of regression coefficients per configuration of its parents with states.

        Parameters
        ----------
        name : str

        Returns
        -------
        pandas.DataFrame
            The states of the variable are its columns, the states of the parents its index. Of a variable of numbers
            the columns are "intercept", the parents that are numbers, and "variance".

        Examples
        --------
        >>> dag = DAG.from_arcs(["rain", "wet"], [("rain", "wet")])
        >>> tables = (np.array([0.8, 0.2]), np.array([[0.9, 0.1], [0.2, 0.8]]))
        >>> BayesNet(dag, (("no", "yes"), ("no", "yes")), tables).cpt("wet").loc["yes"].to_dict()
        {'no': 0.2, 'yes': 0.8}
        """
        from exactbnc.network.labels import frame_of, regression_frame

        v = self.position(name)
        if self.is_number[v]:
            return regression_frame(self, v)
        return frame_of(self, [*self.dag.parents[v], v], self.tables[v])

    def query(self, *names: str, given: Mapping[str, Hashable] | None = None) -> Any:
        """P(names | given), exactly.

        Parameters
        ----------
        *names : str
        given : mapping of names to values, optional
            A value is a state, or what has its text or is the same number; for a discretised column also a number, and
            for a variable of numbers nothing else. None, NaN, NaT and pandas.NA are not known.

        Returns
        -------
        pandas.Series, pandas.DataFrame or Mixture
            A Series over the states of one variable; for several a DataFrame with the states of the last as columns.
            For variables of numbers a `Mixture` of Gaussians, with mean, variance and density. For both kinds together
            a DataFrame with a row per configuration of the states: its probability P, and given it "mean of x" and
            "variance of x" for every number x.

        Raises
        ------
        ParameterError
            If a name is not a variable, a value not one of its states, or `given` impossible.
        MemoryLimitError
            If a table over the states that matter would be too large: answers are exact, or refused.

        Examples
        --------
        >>> from exactbnc import instances, learn
        >>> net = learn(instances.path("asia-500.csv"))
        >>> net.query("lung", given={"smoke": "yes"}).round(3).to_dict()
        {'no': 0.895, 'yes': 0.105}
        """
        from exactbnc.network.answers import query

        return query(self, names, given or {})

    def most_likely(self, *names: str, given: Mapping[str, Hashable] | None = None) -> pandas.Series:
        """The jointly most likely states of some variables, exactly.

        Parameters
        ----------
        *names : str
            The variables that matter (MAP: all others are summed out); none are all that are not given (MPE).
        given : mapping of names to values, optional
            As in `query`.

        Returns
        -------
        pandas.Series
            The state of every variable.

        Examples
        --------
        >>> from exactbnc import instances, learn
        >>> net = learn(instances.path("asia-500.csv"))
        >>> net.most_likely("tub", "lung", given={"xray": "yes"}).to_dict()
        {'tub': 'no', 'lung': 'yes'}
        """
        from exactbnc.network.answers import most_likely

        return most_likely(self, names, given or {})

    def do(self, **values: Hashable) -> BayesNet:
        """The network after an intervention that sets some variables: their arcs from parents are cut.

        Parameters
        ----------
        **values : hashable
            Per variable, the state (or number) it is set to; `do(**{"a name": "yes"})` for names with blanks.

        Returns
        -------
        BayesNet
            The mutilated network; what was proved of the structure does not hold for it, and is left out.

        Examples
        --------
        >>> dag = DAG.from_arcs(["rain", "wet"], [("rain", "wet")])
        >>> tables = (np.array([0.8, 0.2]), np.array([[0.9, 0.1], [0.2, 0.8]]))
        >>> BayesNet(dag, (("no", "yes"), ("no", "yes")), tables).do(wet="yes").query("rain").round(3).to_dict()
        {'no': 0.8, 'yes': 0.2}
        """
        from exactbnc.network.intervention import intervened

        return intervened(self, values)

    def sample(self, n_rows: int, *, seed: int = 0) -> pandas.DataFrame:
        """Draw rows from the joint distribution, parents before children.

        Parameters
        ----------
        n_rows : int
        seed : int, default 0
            The same seed draws the same rows.

        Returns
        -------
        pandas.DataFrame
            One column per variable.

        Examples
        --------
        >>> from exactbnc import instances, learn
        >>> net = learn(instances.path("asia-500.csv"))
        >>> net.sample(3, seed=1)["smoke"].tolist()
        ['yes', 'no', 'yes']
        """
        from exactbnc.network.sampling import sample

        return sample(self, n_rows, seed=seed).to_pandas()

    def impute(self, data: Any) -> Any:
        """Replace the missing values of every row by their jointly most likely states given the values it has.

        Parameters
        ----------
        data : DataFrame, Dataset or path

        Returns
        -------
        DataFrame
            The frame with its missing values replaced, of the library that it came from; pandas for other data.
            Columns that are not variables stay as they are, and so do the missing values of rows that cannot occur. In
            a discretised column the replacement is an interval.

        Examples
        --------
        >>> import pandas as pd
        >>> from exactbnc import instances, learn
        >>> net = learn(instances.path("asia-500.csv"))
        >>> net.impute(pd.DataFrame({"lung": ["yes"], "xray": [None], "either": [None]}))
          lung xray either
        0  yes  yes    yes
        """
        from exactbnc.network.imputation import impute

        return impute(self, data)

    def predict_proba(self, data: Any, target: str | None = None) -> pandas.DataFrame:
        """P(target | the other known values of the row), exactly.

        Parameters
        ----------
        data : DataFrame, Dataset or path
            Columns are matched by name; values that are absent, missing or never seen are summed out.
        target : str, optional
            The class by default.

        Returns
        -------
        pandas.DataFrame
            One row per row of the data, one column per state of the target.

        Examples
        --------
        >>> import pandas as pd
        >>> from exactbnc import instances, learn
        >>> net = learn(instances.path("asia-500.csv"))
        >>> net.predict_proba(pd.DataFrame({"smoke": ["yes", "no"]}), target="lung").round(3)
        lung     no    yes
        0     0.895  0.105
        1     0.995  0.005
        """
        from exactbnc.network.labels import index_of, row_frame
        from exactbnc.network.likelihood import log_posterior_of_rows

        name = self._target(target)
        return row_frame(self, name, np.exp(log_posterior_of_rows(self, data, name)), index_of(data))

    def predict(self, data: Any, target: str | None = None) -> pandas.Series:
        """The most probable state of a variable in every row; the first of those equally probable.

        Parameters
        ----------
        data : DataFrame, Dataset or path
            As in `predict_proba`.
        target : str, optional
            The class by default.

        Returns
        -------
        pandas.Series

        Examples
        --------
        >>> import pandas as pd
        >>> from exactbnc import instances, learn
        >>> net = learn(instances.path("asia-500.csv"))
        >>> net.predict(pd.DataFrame({"either": ["yes", "no"]}), target="xray").tolist()
        ['yes', 'no']
        """
        from exactbnc.network.labels import index_of, row_series
        from exactbnc.network.likelihood import log_posterior_of_rows

        name = self._target(target)
        best = log_posterior_of_rows(self, data, name).argmax(axis=1)
        return row_series(self, name, best, index_of(data))

    def log_likelihood(self, data: Any) -> float:
        """log P(data): the sum over the rows, each times its weight; values that are not known are summed out.

        Parameters
        ----------
        data : DataFrame, Dataset or path
            Must have all variables as columns.

        Returns
        -------
        float

        Examples
        --------
        >>> import pandas as pd
        >>> dag = DAG.from_arcs(["x"], [])
        >>> net = BayesNet(dag, (("a", "b"),), (np.array([0.25, 0.75]),))
        >>> round(net.log_likelihood(pd.DataFrame({"x": ["a", "b"]})), 4)
        -1.674
        """
        from exactbnc.network.likelihood import log_likelihood

        return log_likelihood(self, data)

    def conditional_log_likelihood(self, data: Any, target: str | None = None) -> float:
        """log P(target | the other values): the sum over the rows, each times its weight.

        Parameters
        ----------
        data : DataFrame, Dataset or path
            As in `predict_proba`; must have the target as a column, every value of it known to the network.
        target : str, optional
            The class by default.

        Returns
        -------
        float

        Examples
        --------
        >>> from exactbnc import instances, learn
        >>> net = learn(instances.path("asia-500.csv"))
        >>> round(net.conditional_log_likelihood(instances.path("asia-500.csv"), target="dysp"), 2)
        -202.94
        """
        from exactbnc.network.likelihood import conditional_log_likelihood

        return conditional_log_likelihood(self, data, self._target(target))

    # Questions to the structure

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """The parents, children and children's other parents of a variable: given them nothing else matters."""
        return self.dag.markov_blanket(name)

    def d_separated(self, a: str | Iterable[str], b: str | Iterable[str], given: Iterable[str] = ()) -> bool:
        """Whether the structure makes two variables, or two sets of them, independent given others.

        Examples
        --------
        >>> dag = DAG.from_modelstring("[rain][sprinkler][wet|rain:sprinkler]")
        >>> dag.d_separated("rain", "sprinkler"), dag.d_separated("rain", "sprinkler", given=["wet"])
        (True, False)
        """
        return self.dag.d_separated(a, b, given)

    def to_networkx(self) -> networkx.DiGraph:
        """The structure as a networkx graph, with class, score, bound and status as graph attributes."""
        from exactbnc.graph.nx import to_networkx

        return to_networkx(
            self.dag, self.class_name, score=self.score, bound=self.bound, status=self.solution.get("status")
        )

    def to_pgmpy(self) -> Any:
        """The same network as a `DiscreteBayesianNetwork` of pgmpy, of numbers a `LinearGaussianBayesianNetwork`."""
        from exactbnc.network.pgmpy import to_pgmpy

        return to_pgmpy(self)

    def to_pyagrum(self) -> Any:
        """The same network as a `BayesNet` of pyAgrum, of numbers a `CLG` (`pyagrum.clg`)."""
        from exactbnc.network.pyagrum import to_pyagrum

        return to_pyagrum(self)

    # Files and pictures

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a file; the suffix selects the format, as in `write_bayesnet`.

        JSON keeps everything. BIF and XMLBIF keep states as texts, and neither cut points nor what was proved; a
        UserWarning says which names had to be escaped. `load` reads all of them. Networks of numbers alone go to
        pyAgrum as .sem, which `load` reads too, and all to bnlearn as a script in R.

        Parameters
        ----------
        path : str or path-like
            A file ending in .json, .bif, .xml, .xmlbif, .bifxml, .sem or .r, with a further .gz or .xz to pack it.
        """
        import warnings

        from exactbnc import write_bayesnet

        for note in write_bayesnet(self, path):
            warnings.warn(note, UserWarning, stacklevel=2)

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Axes | None:
        """Draw the structure, the class highlighted: into a file, or with matplotlib.

        Parameters
        ----------
        path : str or path-like, optional
            A file ending in .png, .svg or .pdf.
        ax : matplotlib.axes.Axes, optional
            Where to draw if not into a file; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes or None
            None for a file.
        """
        from exactbnc import plot

        axes: Axes | None = plot(self.dag, path, ax=ax, class_name=self.class_name)
        return axes

    def report(
        self, path: str | os.PathLike[str], *, data: Any = None, posterior: Any = None, title: str | None = None
    ) -> None:
        """Write one HTML file that shows the network, explains it and answers questions; see `write_report`.

        Parameters
        ----------
        path : str or path-like
            The page, ending in .html.
        data : DataFrame, Dataset or path, optional
            Rows by which the network is judged in cross-validation.
        posterior : StructurePosterior, optional
            Of `structure_posterior`: how probable each arc is.
        title : str, optional
            By default the name of the data.
        """
        from exactbnc import write_report

        write_report(self, path, data=data, posterior=posterior, title=title)

    def __repr__(self) -> str:
        from exactbnc.network.words import described

        return described(self)

    def _repr_html_(self) -> str:
        from exactbnc import graph_svg
        from exactbnc.network.words import described_in_html

        return described_in_html(self, graph_svg(self.dag, self.class_name))

    # Codes

    def encode(self, data: Any) -> Codes:
        """The codes of a table, variables x rows; what is absent, missing or never seen is unknown.

        Of a variable of numbers the code is 0 where the number is known; `rows` keeps the numbers too.

        Parameters
        ----------
        data : DataFrame, Dataset or path
            Columns are matched by name, values as in `query`.

        Returns
        -------
        array of uint16

        Raises
        ------
        DataError
            If the table has no column of the network.
        """
        return self.rows(data).codes

    def rows(self, data: Any) -> Rows:
        """The codes of a table as `encode` gives them, with the numbers of the variables of numbers."""
        from exactbnc.network.rows import coded_rows, rows_of

        return coded_rows(self, rows_of(self, data))

    def encode_row(self, values: Mapping[str, Hashable]) -> Codes:
        """The codes of a row given by name; what is not named, None or NaN is unknown."""
        from exactbnc.network.rows import row_of

        return row_of(self, values).codes[:, 0]

    def posterior(self, name: str) -> Posterior:
        """The conditional distribution of one variable given the others, ready for many rows; it is remembered."""
        from exactbnc.network.posterior import Posterior

        v = self.position(name)
        if v not in self._posteriors:
            self._posteriors[v] = Posterior(self, v)
        return self._posteriors[v]

    def log_posterior(self, codes: Codes | Rows, name: str | None = None) -> Floats:
        """log P(name = k | the other values of the row), rows x states; the class by default."""
        target = self._target(name)
        if self.class_fit is not None and target == self.class_name:
            return self.class_model.log_posterior(codes)
        return self.posterior(target).log_probabilities(codes)

    @cached_property
    def class_model(self) -> ClassModel:
        """How the class is predicted: by `class_fit`, or by the tables as they are."""
        from exactbnc.network.class_model import ClassFit, ClassModel

        return ClassModel(self, ClassFit() if self.class_fit is None else self.class_fit)

    def log_probability(self, codes: Codes | Rows) -> Floats:
        """log P of the known values of every row; of numbers the density."""
        from exactbnc.network.posterior import log_joint

        return log_joint(self, codes)

    def log_conditional(self, codes: Codes | Rows, given: tuple[str, ...]) -> Floats:
        """log P(the other known values | the values of `given`), one number per row."""
        rows = Rows.of(codes)
        evidence = np.full_like(rows.codes, UNKNOWN)
        kept = [self.position(name) for name in given]
        evidence[kept] = rows.codes[kept]
        with np.errstate(invalid="ignore"):  # given values that cannot occur
            return self.log_probability(rows) - self.log_probability(Rows(evidence, rows.numbers))

    def _target(self, name: str | None) -> str:
        if name is None:
            return self.required_class
        self.position(name)
        return name

    @cached_property
    def _posteriors(self) -> dict[int, Posterior]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for table in self.tables:
            table.flags.writeable = False
