"""A layered drawing of a DAG in the manner of Sugiyama, Tagawa and Toda (1981).

1. *Layers*: parents above children, no layer with more than `capacity` boxes, which is chosen for the shape of a page;
   either as high as possible, or where the arcs are shortest in total (Gansner et al., 1993), whichever reads better.
2. *Order*: an arc that skips layers gets a dummy vertex in each; barycentre sweeps and swaps of neighbours reduce
   crossings, and the best order seen is kept.
3. *Coordinates*: every vertex is drawn towards the mean of its neighbours. Within a layer that is a least squares
   problem with least distances, min sum w_i (x_i - t_i)^2 s.t. x_{i+1} - x_i >= d_i, which is isotonic regression after
   subtracting the cumulated distances: pool adjacent violators solves it.

All lengths are in points; y grows upwards.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt

from exactbnc.graph.dag import topological_order

Point = tuple[float, float]
Order = list[list[int]]

BOX_HEIGHT = 24.0
BOX_GAP = 12.0
DUMMY_GAP = 9.0
LAYER_GAP = 40.0
GAP_PER_ARC = 1.2
MOST_LAYER_GAP = 110.0

PAGE_SHAPE = 1.3
"""Width by height of the space that the drawing should fill, if nothing else is asked for."""
CAPACITIES = (1.0, 0.7, 0.85, 1.2, 1.5)
"""Boxes in a layer that are tried, times the square root of the number of variables."""
MOST_TRIED = 120

_N_SWEEPS = 24
_N_SWAP_ROUNDS = 12
_N_RELAXATIONS = 60
_PULL_TO_MIDDLE = 0.05
_DUMMY_WEIGHT = 4.0
_PORT_SHARE = 0.7


@dataclass(frozen=True)
class Layout:
    """The centre of every box and, per arc (parent, child), the points its curve goes through, downwards."""

    centres: tuple[Point, ...]
    routes: dict[tuple[int, int], list[Point]]


def layered_layout(
    parents: Sequence[Sequence[int]],
    widths: Sequence[float],
    *,
    hub: int | None = None,
    shape: float = PAGE_SHAPE,
    spread: float = 1.0,
) -> Layout:
    """Lay out boxes of the given widths; the arcs of `hub`, a parent of all others, go straight from the top.

    A drawing that is too high or too wide for the shape is spread to the sides or downwards, at most by that factor.
    """
    if not parents:
        return Layout((), {})
    drawn = [[parent for parent in listed if parent != hub] for listed in parents]
    graph, x, y = _best_shaped(drawn, hub, widths, shape)
    _spread(x, y, shape, spread)
    if hub is not None:
        x[hub] = (min(x) + max(x)) / 2
    centres = tuple((x[v], y[v]) for v in range(len(parents)))
    routes = _routes(graph, x, y)
    if hub is not None:
        for child in range(len(parents)):
            if child != hub:
                routes[hub, child] = [_below(centres[hub]), _above(centres[child])]
    return Layout(centres, routes)


@dataclass(frozen=True)
class _Graph:
    """The layers with dummy vertices; `chains` has, per arc, its vertices from the parent to the child."""

    layers: Order
    up: list[list[int]]
    down: list[list[int]]
    widths: list[float]
    chains: dict[tuple[int, int], list[int]]
    n_real: int

    def neighbours(self, v: int) -> list[int]:
        return self.up[v] + self.down[v]


def _best_shaped(
    parents: Sequence[Sequence[int]], hub: int | None, widths: Sequence[float], shape: float
) -> tuple[_Graph, list[float], list[float]]:
    """The drawing that reads best; of large networks only one is tried."""
    n = len(parents)
    factors = CAPACITIES if n <= MOST_TRIED else CAPACITIES[:1]
    starts = [_shortest_layers(parents), *([[0] * n] if n <= MOST_TRIED else [])]
    drawings = []
    for capacity in sorted({max(5, ceil(factor * sqrt(n))) for factor in factors}, reverse=True):
        for start in starts:
            graph = _with_dummies(parents, _assign_layers(parents, hub, capacity, start), widths)
            order = _reduce_crossings(graph)
            x, y = _relax(graph, order), _heights(graph, order)
            cost = _page_height(x, y, shape) ** 2 * _tangle(graph, order)
            drawings.append((cost, graph, x, y))
    _, graph, x, y = min(drawings, key=lambda drawing: drawing[0])
    return graph, x, y


def _tangle(graph: _Graph, order: Order) -> float:
    """How hard the arcs are to follow: the layers that an arc spans, times one plus the crossings of an arc."""
    n_arcs = max(1, len(graph.chains))
    spans = sum(len(chain) - 1 for chain in graph.chains.values())
    return max(1, spans) / n_arcs * (1 + _n_crossings(graph, order) / n_arcs)


def _page_height(x: Sequence[float], y: Sequence[float], shape: float) -> float:
    """How high a page of that shape must be to contain the drawing."""
    return max(_extent(x) / shape, _extent(y))


def _extent(places: Sequence[float]) -> float:
    return max(places, default=0.0) - min(places, default=0.0)


def _spread(x: list[float], y: list[float], shape: float, most: float) -> None:
    """Multiply the shorter side until the drawing has the shape, at most by that factor."""
    width, height = _extent(x), _extent(y)
    if width and height:
        x[:] = [place * min(most, max(1.0, shape * height / width)) for place in x]
        y[:] = [place * min(most, max(1.0, width / shape / height)) for place in y]


def _shortest_layers(parents: Sequence[Sequence[int]]) -> list[int]:
    """min sum over the arcs of (y_child - y_parent) s.t. y_child - y_parent >= 1, which has an integral solution."""
    arcs = [(parent, child) for child, listed in enumerate(parents) for parent in listed]
    if not arcs:
        return [0] * len(parents)
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    rows = [*range(len(arcs)), *range(len(arcs))]
    columns = [parent for parent, _ in arcs] + [child for _, child in arcs]
    above = coo_array(([1.0] * len(arcs) + [-1.0] * len(arcs), (rows, columns)), shape=(len(arcs), len(parents)))
    cost = -above.sum(axis=0) + 1e-3 / len(parents)  # and as high as that allows
    found = linprog(cost, A_ub=above.tocsr(), b_ub=[-1.0] * len(arcs), method="highs-ds").x
    return [round(layer) for layer in found]


def _assign_layers(parents: Sequence[Sequence[int]], hub: int | None, capacity: int, least: Sequence[int]) -> list[int]:
    """Each variable as high as room allows, long chains first; then down again where that shortens the arcs.

    `least` has a layer per variable above which it is not put.
    """
    children = _children(parents)
    depth_below = [0] * len(parents)
    for v in reversed(topological_order(parents)):
        depth_below[v] = max((depth_below[child] + 1 for child in children[v]), default=0)
    is_alone = [not parents[v] and not children[v] for v in range(len(parents))]
    layer_of = [0] * len(parents)
    taken: dict[int, int] = {}
    first = 0 if hub is None else 1
    for v in sorted(range(len(parents)), key=lambda v: (is_alone[v], least[v], -depth_below[v], v)):
        if v == hub:
            continue
        layer = max(first + least[v], *(layer_of[parent] + 1 for parent in parents[v]), first)
        while taken.get(layer, 0) >= capacity:
            layer += 1
        layer_of[v] = layer
        taken[layer] = taken.get(layer, 0) + 1
    for v in reversed(topological_order(parents)):
        if children[v] and len(children[v]) >= len(parents[v]):
            lowest = min(layer_of[child] for child in children[v]) - 1
            room = (layer for layer in range(lowest, layer_of[v], -1) if taken.get(layer, 0) < capacity)
            layer = next(room, layer_of[v])
            taken[layer_of[v]] -= 1
            taken[layer] = taken.get(layer, 0) + 1
            layer_of[v] = layer
    used = {layer: rank for rank, layer in enumerate(sorted(set(layer_of)))}
    return [used[layer] for layer in layer_of]


def _children(parents: Sequence[Sequence[int]]) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in parents]
    for child, listed in enumerate(parents):
        for parent in listed:
            children[parent].append(child)
    return children


def _with_dummies(parents: Sequence[Sequence[int]], layer_of: Sequence[int], widths: Sequence[float]) -> _Graph:
    n = len(parents)
    layers: Order = [[] for _ in range(max(layer_of, default=0) + 1)]
    up: list[list[int]] = [[] for _ in range(n)]
    down: list[list[int]] = [[] for _ in range(n)]
    all_widths = list(widths)
    chains: dict[tuple[int, int], list[int]] = {}
    for v in range(n):
        layers[layer_of[v]].append(v)
    for child, listed in enumerate(parents):
        for parent in listed:
            chain = [parent]
            for layer in range(layer_of[parent] + 1, layer_of[child]):
                chain.append(len(all_widths))
                layers[layer].append(len(all_widths))
                all_widths.append(0.0)
                up.append([])
                down.append([])
            chain.append(child)
            chains[parent, child] = chain
            for above, below in pairwise(chain):
                down[above].append(below)
                up[below].append(above)
    return _Graph(layers, up, down, all_widths, chains, n)


def _reduce_crossings(graph: _Graph) -> Order:
    order = [list(layer) for layer in graph.layers]
    best, fewest = order, _n_crossings(graph, order)
    for sweep in range(_N_SWEEPS):
        order = _sweep(graph, order, downwards=sweep % 2 == 0)
        _swap_neighbours(graph, order)
        crossings = _n_crossings(graph, order)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in order], crossings
    return best


def _sweep(graph: _Graph, order: Order, *, downwards: bool) -> Order:
    """Sort every layer by the mean place of the neighbours in the layer before; vertices without any stay."""
    place = _places(order)
    adjacent = graph.up if downwards else graph.down
    new = list(order)
    for row in range(len(order)) if downwards else reversed(range(len(order))):
        means = {
            v: sum(place[u] for u in adjacent[v]) / len(adjacent[v]) if adjacent[v] else place[v] for v in order[row]
        }
        new[row] = sorted(order[row], key=means.__getitem__)
        place.update(_places([new[row]]))
    return new


def _places(order: Order) -> dict[int, float]:
    """The place of every vertex in its layer, from 0 to 1."""
    return {v: (i + 0.5) / len(layer) for layer in order for i, v in enumerate(layer)}


def _swap_neighbours(graph: _Graph, order: Order) -> None:
    """Exchange two vertices next to each other wherever that saves crossings."""
    place = _places(order)
    for _ in range(_N_SWAP_ROUNDS):
        has_changed = False
        for layer in order:
            for i in range(len(layer) - 1):
                left, right = layer[i], layer[i + 1]
                if _n_between(graph, place, left, right) > _n_between(graph, place, right, left):
                    layer[i], layer[i + 1] = right, left
                    place[left], place[right] = place[right], place[left]
                    has_changed = True
        if not has_changed:
            return


def _n_between(graph: _Graph, place: dict[int, float], left: int, right: int) -> int:
    """The crossings of the arcs of two vertices, in this order."""
    return sum(
        place[a] > place[b] for adjacent in (graph.up, graph.down) for a in adjacent[left] for b in adjacent[right]
    )


def _n_crossings(graph: _Graph, order: Order) -> int:
    """The number of crossings: inversions among the lower ends of the arcs between two layers."""
    place = _places(order)
    total = 0
    for layer in order:
        seen: list[float] = []
        for v in layer:
            ends = sorted(place[u] for u in graph.down[v])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _relax(graph: _Graph, order: Order) -> list[float]:
    x = [0.0] * len(graph.widths)
    for layer in order:
        _place_layer(graph, layer, x, [0.0] * len(layer))
    rows = list(range(len(order)))
    for step in range(_N_RELAXATIONS):
        for row in rows if step % 2 == 0 else reversed(rows):
            layer = order[row]
            targets = []
            for v in layer:
                near = graph.neighbours(v) if step >= 2 else (graph.up[v] if step == 0 else graph.down[v])
                targets.append(sum(x[u] for u in near) / (len(near) + _PULL_TO_MIDDLE))
            _place_layer(graph, layer, x, targets)
    return x


def _place_layer(graph: _Graph, layer: Sequence[int], x: list[float], targets: Sequence[float]) -> None:
    """Put every vertex as near to its target as the order and the least distances allow."""
    offsets = [0.0]
    for left, right in pairwise(layer):
        are_boxes = left < graph.n_real and right < graph.n_real
        gap = BOX_GAP if are_boxes else DUMMY_GAP
        offsets.append(offsets[-1] + (graph.widths[left] + graph.widths[right]) / 2 + gap)
    middle = offsets[-1] / 2
    wanted = [target - (offset - middle) for target, offset in zip(targets, offsets, strict=True)]
    weights = [
        _DUMMY_WEIGHT if v >= graph.n_real else 1.0 if graph.neighbours(v) else 0.05  # vertices without arcs give way
        for v in layer
    ]
    for v, base, offset in zip(layer, _isotonic(wanted, weights), offsets, strict=True):
        x[v] = base + offset - middle


def _isotonic(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The nondecreasing sequence nearest to the values in weighted least squares.

    >>> _isotonic([1.0, 5.0, 3.0], [1.0, 1.0, 1.0])
    [1.0, 4.0, 4.0]
    """
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(values, weights, strict=True):
        pools.append((value, weight, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, mass, count = pools.pop()
            other_mean, other_mass, other_count = pools.pop()
            total = mass + other_mass
            pools.append(((mean * mass + other_mean * other_mass) / total, total, count + other_count))
    return [mean for mean, _, count in pools for _ in range(count)]


def _heights(graph: _Graph, order: Order) -> list[float]:
    """Layers from the top down, further apart where many arcs pass."""
    y = [0.0] * len(graph.widths)
    height = 0.0
    for layer in order:
        for v in layer:
            y[v] = height
        n_arcs = sum(len(graph.down[v]) for v in layer)
        height -= BOX_HEIGHT + min(LAYER_GAP + GAP_PER_ARC * n_arcs, MOST_LAYER_GAP)
    return y


def _routes(graph: _Graph, x: Sequence[float], y: Sequence[float]) -> dict[tuple[int, int], list[Point]]:
    """From a port at the parent's lower side, past the boxes of the layers between, to a port at the child's upper."""
    ends: dict[tuple[int, int], tuple[int, int]] = {arc: (chain[1], chain[-2]) for arc, chain in graph.chains.items()}
    routes: dict[tuple[int, int], list[Point]] = {}
    for (parent, child), chain in graph.chains.items():
        leaving = sorted((other for other in graph.chains if other[0] == parent), key=lambda arc: x[ends[arc][0]])
        entering = sorted((other for other in graph.chains if other[1] == child), key=lambda arc: x[ends[arc][1]])
        arc = (parent, child)
        start = x[parent] + _port(leaving.index(arc), len(leaving), graph.widths[parent])
        end = x[child] + _port(entering.index(arc), len(entering), graph.widths[child])
        route = [_below((start, y[parent]))]
        for dummy in chain[1:-1]:
            route += [_above((x[dummy], y[dummy])), _below((x[dummy], y[dummy]))]
        routes[arc] = [*route, _above((end, y[child]))]
    return routes


def _port(rank: int, count: int, width: float) -> float:
    """Where along a side of a box the arc of that rank begins or ends, from the middle."""
    return ((rank + 0.5) / count - 0.5) * width * _PORT_SHARE


def _above(centre: Point) -> Point:
    return centre[0], centre[1] + BOX_HEIGHT / 2


def _below(centre: Point) -> Point:
    return centre[0], centre[1] - BOX_HEIGHT / 2
