"""Levels of an EOP model as scatter plots: the rows that reach them, the regions that answer."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid._utils.estimators import documented
from pellucid._utils.texts import count
from pellucid.explanation.rules import names_of_columns
from pellucid.plotting.style import cluster_color, new_axes, write_dates
from pellucid.regions.classifiers import with_middle_threshold
from pellucid.regions.levels import project
from pellucid.regions.shapes import Regions, Window
from pellucid.regions.words import column_texts, format_of
from pellucid.tables.encoding import Indicator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, PASSED_ON, OTHER, DELETED = "#222222", "#C4C8CC", "#8A9096", "#D55E00"
_GRID = 240  # grid points per axis at which regions are evaluated
_FAINT, _STRONG = 0.10, 0.22
_MARKERS = "osD^vPX*"
_LEGEND_BELOW = 32  # distance between the axis and the legend, in points
_PANELS_IN_A_ROW = 3
_MOST_POINTS = 5000  # with more rows, a random sample is drawn


@documented
def plot_level(
    model: Any,
    X: Any,
    y: Any,
    level: int = 0,
    *,
    feature_names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one level of a fitted EOP model: its rows, its regions and the rows of later levels.

    Rows that the level answers have the colour and the mark of their class, with a cross through
    those that it gets wrong; rows that it passes on are grey. The regions have the colour of the
    answer.

    Parameters
    ----------
    {level_rows}
    {level}
    {feature_names}
    {ax}

    Examples
    --------
    >>> from pellucid import EOPClassifier
    >>> from pellucid.datasets import make_three_features
    >>> from pellucid.plotting import plot_level
    >>> X, y = make_three_features(300, random_state=0)
    >>> model = EOPClassifier("linear_svm", random_state=0).fit(X, y)
    >>> ax = plot_level(model, X, y, level=0)
    """
    scene = _Scene(model, X, y, level, feature_names)
    ax = ax or scene.new_axes()
    scene.draw(ax)
    scene.draw_legend(ax)
    ax.set_title(f"level {scene.number + 1} of {len(model.levels_)}: {scene.counts}", fontsize=10)
    return ax


@documented
def plot_levels(model: Any, X: Any, y: Any, *, n_levels: int = 4) -> np.ndarray:
    """Draw the first levels of a fitted EOP model three in a row; see `plot_level`.

    Parameters
    ----------
    {level_rows}
    n_levels : int, default=4
        Maximum number of levels.

    Returns
    -------
    ndarray of matplotlib Axes
        One per level.
    """
    import matplotlib.pyplot as plt

    check_is_fitted(model)
    n = min(n_levels, len(model.levels_))
    if not n:
        raise ValueError("this model has no levels, so there is nothing to plot")
    n_columns = min(n, _PANELS_IN_A_ROW)
    n_rows = -(-n // n_columns)
    shape: dict[str, Any] = {"figsize": (4.8 * n_columns, 4.6 * n_rows), "squeeze": False}
    figure, grid = plt.subplots(n_rows, n_columns, layout="constrained", **shape)
    axes = grid.ravel()
    for level, ax in enumerate(axes[:n]):
        plot_level(model, X, y, level, ax=ax)
    for ax in axes[n:]:
        figure.delaxes(ax)
    return axes[:n]


@documented
def plot_score_map(
    model: Any,
    X: Any,
    y: Any,
    level: int = 0,
    *,
    feature_names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the scores of a level with nonparametric regions, as in figure 2 of the EOP paper.

    The score of a place is the fraction of the nearest training rows that the classifier of the
    level classifies correctly, weighted by 1 / distance. Rows that it classifies correctly are
    marked by +, others by o. The line is the threshold of the region.

    The model is fitted with ``regions="nonparametric"``.

    Parameters
    ----------
    {level_rows}
    {level}
    {feature_names}
    {ax}
    """
    scene = _Scene(model, X, y, level, feature_names)
    regions = scene.level.regions
    if regions.kind != "nonparametric":
        raise ValueError(f"level {level} has regions without scores; fit with nonparametric ones")
    ax = ax or scene.new_axes()
    window = window_of(scene.P)
    places, P = _grid(window, _GRID // 2)
    if scene.dim == 1:
        places, P = [places[0], np.array([0.0, 1.0])], np.vstack([P, P])
    score = regions.score(P).reshape(len(places[1]), len(places[0]))
    style: dict[str, Any] = {"cmap": "coolwarm", "shading": "nearest"}
    shown = ax.pcolormesh(*places, score, vmin=0, vmax=1, zorder=0, **style)
    ax.figure.colorbar(shown, ax=ax, label="share of correct neighbors")
    if score.min() < regions.threshold <= score.max():
        ax.contour(*places, score, levels=[regions.threshold], colors=INK, linewidths=1)
    style = {"s": 14, "linewidths": 0.8, "zorder": 3}
    scene.mark(ax, scene.P, ~scene.misses, marker="+", color=INK, **style)
    scene.mark(ax, scene.P, scene.misses, marker="o", facecolor="none", edgecolor=INK, **style)
    scene.dress(ax, window)
    ax.set_title(f"level {level + 1}: share of correct neighbors", fontsize=10)
    return ax


@documented
def plot_calibration(
    model: Any,
    X: Any,
    y: Any,
    level: int = 0,
    *,
    feature_names: Sequence[str] | None = None,
    axes: Sequence[Axes] | None = None,
) -> np.ndarray:
    """Draw the regions of a level before (left) and after (right) calibration.

    Regions that the held-out rows did not bear out are dashed on the left and gone on the right;
    the others may have shrunk or grown. All rows that reach the level are shown, those that the
    classifier of the level gets wrong with a cross.

    Parameters
    ----------
    {level_rows}
    {level}
    {feature_names}
    axes : sequence of two matplotlib Axes, optional
        Where to draw; a new figure when left out.

    Returns
    -------
    ndarray of two matplotlib Axes
        The axes of the plot.

    Examples
    --------
    >>> from pellucid import EOPClassifier
    >>> from pellucid.datasets import make_three_features
    >>> from pellucid.plotting import plot_calibration
    >>> X, y = make_three_features(300, random_state=0)
    >>> model = EOPClassifier("linear_svm", random_state=0).fit(X, y)
    >>> before, after = plot_calibration(model, X, y)
    """
    scene = _Scene(model, X, y, level, feature_names)
    story = [s for s in model.history_ if s.is_used and s.level == scene.number]
    if not story:
        raise ValueError(f"the model keeps no calibration of level {level}")
    if axes is None:
        import matplotlib.pyplot as plt

        size = (9.6, 4.4 if scene.dim == 2 else 2.6)
        shared: dict[str, Any] = {"layout": "constrained", "sharex": True, "sharey": True}
        axes = plt.subplots(1, 2, figsize=size, **shared)[1]
    pair = np.asarray(axes, dtype=object)
    if pair.shape != (2,):
        raise ValueError(f"axes has shape {pair.shape}; two axes are needed, before and after")
    before, after, deleted = story[0].before, story[0].after, story[0].deleted
    scene.draw(pair[0], regions=before, deleted=deleted, all_colored=True)
    scene.draw(pair[1], regions=after, all_colored=True)
    changed = f", {len(deleted)} deleted" if len(deleted) else ""
    pair[0].set_title(f"before calibration: {count(len(before), 'region')}", fontsize=10)
    pair[1].set_title(f"after: {count(len(after), 'region')}{changed}", fontsize=10)
    scene.draw_legend(pair[1], has_grey=False, has_deleted=len(deleted) > 0)
    return pair


@documented
def plot_row(
    model: Any,
    row: Any,
    X: Any,
    y: Any,
    *,
    feature_names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the level that answers a row, with the row as a star.

    The region that holds the row is drawn strongly, others of the level faintly. A row that no
    level answers is shown in the last level, outside of all regions.

    Parameters
    ----------
    model : fitted EOPClassifier or ATEOPClassifier
        A fitted EOP classifier.
    row : array-like of shape (n_features,), or data frame of one row
        The row to explain.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows to show around it, those of the training as a rule.
    y : array-like of shape (n_samples,)
        Their classes.
    {feature_names}
    {ax}

    Examples
    --------
    >>> from pellucid import EOPClassifier
    >>> from pellucid.datasets import make_three_features
    >>> from pellucid.plotting import plot_row
    >>> X, y = make_three_features(300, random_state=0)
    >>> model = EOPClassifier("linear_svm", random_state=0).fit(X, y)
    >>> ax = plot_row(model, X[7], X, y)
    """
    query = row if hasattr(row, "columns") else np.atleast_2d(np.asarray(row))
    if len(query) != 1:
        raise ValueError(f"row has {len(query)} rows; one row is explained at a time")
    numbers, found = model._find_answers(query)
    level, region = int(found.level[0]), int(found.region[0])
    is_answered = level >= 0
    shown = level if is_answered else len(model.levels_) - 1
    scene = _Scene(model, X, y, shown, feature_names)
    ax = ax or scene.new_axes()
    place = project(numbers, scene.level.features)[0]
    scene.draw(ax, strong=region if is_answered else -1, include=place)
    height = 0.5 if scene.dim == 1 else place[-1]
    style: dict[str, Any] = {"marker": "*", "s": 320, "linewidths": 1.5, "zorder": 6}
    ax.scatter([place[0]], [height], facecolor="white", edgecolor=INK, **style)
    scene.draw_legend(ax, has_query=True)
    lines = ["no region holds this row; below, the last level and its regions"]
    if is_answered:
        where = scene.level.regions.texts(scene.described)[region]
        lines = [f"{model.predict(query)[0]}, by level {level + 1}", *textwrap.wrap(where, 64)]
    ax.set_title("\n".join(lines), fontsize=10)
    return ax


class _Scene:
    """One level with the rows that reach it, ready to be drawn."""

    def __init__(
        self, model: Any, X: Any, y: Any, level: int, feature_names: Sequence[str] | None
    ) -> None:
        check_is_fitted(model)
        n_levels = len(model.levels_)
        if not 0 <= level < n_levels:
            have = f"0 .. {n_levels - 1}" if n_levels else "none, as nothing was found"
            raise ValueError(f"level={level}, but the levels of this model are {have}")
        self.model, self.number, self.level = model, level, model.levels_[level]
        self.dim = len(self.level.features)
        if self.dim > 2:
            text = f"level {level} uses {self.dim} columns; a plot shows one or two: fit with "
            raise ValueError(f"{text}max_dim=2")
        given = model._column_names if feature_names is None else feature_names
        names = names_of_columns(model, model.n_features_in_, given)
        described = self.described = [names[feature] for feature in self.level.features]
        self.names = column_texts(described)
        self.indicators = {a: n for a, n in enumerate(described) if isinstance(n, Indicator)}
        y = np.asarray(y)
        numbers, (at, *_) = model._find_answers(X)
        if y.shape != at.shape:
            raise ValueError(f"y has shape {y.shape}, but X has {len(at)} rows")
        rows = np.flatnonzero((at < 0) | (at >= level))
        self.P, self.y = project(numbers, self.level.features, rows), y[rows]
        self.is_answered = at[rows] == level
        answer = model.classes_[self.level.classifier.predict(self.P)] if len(rows) else self.y
        # Rows of no class of the model, such as noise, are neither right nor wrong.
        classes = set(model.classes_.tolist())
        self.is_other = np.array([value not in classes for value in self.y.tolist()], dtype=bool)
        self.misses = (answer != self.y) & ~self.is_other
        self.is_wrong = self.is_answered & self.misses
        counted, others = self.is_answered[~self.is_other], self.is_answered[self.is_other]
        n_wrong = self.is_wrong.sum()
        self.counts = f"{counted.sum():,} of {len(counted):,} rows answered, {n_wrong:,} wrongly"
        if len(others):
            noise = f"{len(others):,} rows of no class, {others.sum():,} inside"
            self.counts += f"\nnot counted: {noise}"
        if len(rows) > _MOST_POINTS:
            drawn = np.sort(np.random.RandomState(0).choice(len(rows), _MOST_POINTS, replace=False))
            for name in ("P", "y", "is_answered", "is_other", "misses", "is_wrong"):
                setattr(self, name, getattr(self, name)[drawn])

    def new_axes(self) -> Axes:
        return new_axes(5.6, 4.6) if self.dim == 2 else new_axes(6.4, 2.6)

    def draw(
        self,
        ax: Axes,
        *,
        regions: Any = None,
        deleted: Any = (),
        strong: int | None = None,
        all_colored: bool = False,
        include: np.ndarray | None = None,
    ) -> None:
        """Regions, rows and names of the axes."""
        regions = self.level.regions if regions is None else regions
        regions = regions.with_middle_ends(self.indicators)
        shown = self.P if include is None else np.vstack([self.P, include])
        window = window_of(shown)
        for axis in self.indicators:
            window[axis] = (-0.5, 1.5)
        classifier = with_middle_threshold(self.level.classifier, self.indicators)
        shade_answers(ax, classifier, regions, window, strong)
        draw_regions(ax, regions, window, deleted, strong)
        P = self.P.copy()
        for axis in self.indicators:  # on the axis of a category, rows are spread by chance
            P[:, axis] += 0.6 * (_heights(len(P)) - 0.5)
        grey = ~self.is_answered & (not all_colored)
        style: dict[str, Any] = {"linewidths": 0.3, "edgecolor": "white", "zorder": 3}
        for position, name in enumerate(self.model.classes_):
            of_class, style["marker"] = self.y == name, _marker(position)
            self.mark(ax, P, of_class & grey, color=PASSED_ON, s=9, **style)
            self.mark(ax, P, of_class & ~grey, color=cluster_color(position), s=15, **style)
        if self.is_other.any():
            style = {"facecolor": "none", "edgecolor": OTHER, "linewidths": 0.6, "zorder": 2.5}
            self.mark(ax, P, self.is_other, marker="o", s=9, **style)
        size, width, alpha = (14, 0.7, 0.45) if all_colored else (22, 0.9, 1.0)
        cross: dict[str, Any] = {"marker": "x", "color": INK, "alpha": alpha, "zorder": 4}
        self.mark(ax, P, self.misses & ~grey, s=size, linewidths=width, **cross)
        self.dress(ax, window)

    def mark(self, ax: Axes, P: np.ndarray, rows: np.ndarray, **style: Any) -> None:
        """Draw some rows; those of a single column are spread by chance."""
        height = _heights(len(P)) if self.dim == 1 else P[:, 1]
        ax.scatter(P[rows, 0], height[rows], **style)

    def dress(self, ax: Axes, window: Window) -> None:
        ax.set_xlim(*window[0])
        self._write_values(ax.xaxis, 0)
        if self.dim == 2:
            ax.set_ylim(*window[1])
            self._write_values(ax.yaxis, 1)
        else:
            ax.set_ylim(0, 1)
            ax.set_yticks([])
            ax.set_ylabel("spread by chance", fontsize=8, color="#777777")
        ax.spines[["top", "right"]].set_visible(False)

    def _write_values(self, axis: Any, position: int) -> None:
        """Write the title and the values of an axis: the words of a category, dates and units."""
        written, indicator = format_of(self.names[position]), self.indicators.get(position)
        title = self.names[position] if indicator is None else indicator.column
        axis.set_label_text(title, parse_math=False)
        if indicator is not None:
            texts = (indicator.negation, str(indicator))
            words = [t.removeprefix(title).strip().removeprefix("is ").strip() for t in texts]
            axis.set_ticks([0, 1], words)
        elif written.is_date:
            write_dates(axis, maxticks=6)
        elif written.prefix or written.suffix:
            axis.set_major_formatter(lambda value, _: written.text(float(f"{value:.12g}")))

    def draw_legend(
        self, ax: Axes, has_grey: bool = True, has_deleted: bool = False, has_query: bool = False
    ) -> None:
        """Classes, crosses and grey rows, below the axes."""
        from matplotlib.lines import Line2D
        from matplotlib.transforms import ScaledTranslation

        def mark(label: str, **style: Any) -> Line2D:
            return Line2D([], [], linestyle="none", label=label, **style)

        handles = [
            mark(str(name), marker=_marker(i), color=cluster_color(i))
            for i, name in enumerate(self.model.classes_)
            if np.any(self.y == name)
        ]
        if self.is_wrong.any() or not has_grey:
            handles.append(mark("answered wrongly", marker="x", color=INK))
        if self.is_other.any():
            hollow = {"markerfacecolor": "none", "color": OTHER, "markersize": 4}
            handles.append(mark("of no class", marker="o", **hollow))
        if has_grey and not self.is_answered[~self.is_other].all():
            handles.append(mark("passed on", marker="o", color=PASSED_ON, markersize=4))
        if has_deleted:
            handles.append(Line2D([], [], color=DELETED, linestyle="--", label="deleted"))
        if has_query:
            style = {"markerfacecolor": "white", "color": INK, "markersize": 12}
            handles.append(mark("this row", marker="*", **style))
        below = ScaledTranslation(0, -_LEGEND_BELOW / 72, ax.figure.dpi_scale_trans)
        place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0)}
        place |= {"frameon": False, "fontsize": 8, "handletextpad": 0.2, "columnspacing": 1.2}
        n_columns = min(len(handles), 3 if len(handles) <= 6 else 5)
        transform = ax.transAxes + below
        ax.legend(handles=handles, ncols=n_columns, bbox_transform=transform, **place)


def window_of(P: np.ndarray) -> list[tuple[float, float]]:
    """The limits of the axes: all rows and a margin."""
    if not len(P):
        return [(0.0, 1.0)] * P.shape[1]
    low, high = P.min(axis=0), P.max(axis=0)
    margin = np.where(high > low, 0.04 * (high - low), 0.5)
    return list(zip((low - margin).tolist(), (high + margin).tolist()))


def _grid(window: Window, n: int) -> tuple[list[np.ndarray], np.ndarray]:
    """The points of each axis, and all points of the grid, the first axis varying fastest."""
    axes = [np.linspace(low, high, n) for low, high in window]
    return axes, np.column_stack([values.ravel() for values in np.meshgrid(*axes)])


def shade_answers(
    ax: Any, classifier: Any, regions: Regions, window: Window, strong: int | None
) -> None:
    """Fill the regions with the color of the predicted class; all but `strong` are faint."""
    from matplotlib.colors import to_rgba

    P = _grid(window, _GRID)[1]
    region = np.asarray(regions.which(P))
    inside = region >= 0
    image = np.zeros((len(P), 4))
    if inside.any():
        answer = np.asarray(classifier.predict(P[inside]))
        for position in np.unique(answer):
            rows = np.flatnonzero(inside)[answer == position]
            image[rows, :3] = to_rgba(cluster_color(int(position)))[:3]
        is_strong = inside if strong is None else region == strong
        image[inside, 3] = np.where(is_strong[inside], _STRONG, _FAINT)
    extent = (*window[0], *(window[1] if len(window) == 2 else (0.0, 1.0)))
    style: dict[str, Any] = {"origin": "lower", "aspect": "auto", "interpolation": "nearest"}
    ax.imshow(image.reshape(-1, _GRID, 4), extent=extent, zorder=0, **style)


def draw_regions(
    ax: Any, regions: Regions, window: Window, deleted: Any, strong: int | None
) -> None:
    """Draw the outline of each region, dashed where it was deleted."""
    for number, outline in enumerate(regions.outlines(window)):
        style: dict[str, Any] = {"color": INK, "linewidth": 1.5, "zorder": 5}
        if number in deleted:
            style |= {"color": DELETED, "linestyle": "--"}
        if strong is not None and number != strong:
            style |= {"linewidth": 0.8, "alpha": 0.6}
        ax.plot(*outline.T, gid=f"region-{number}", **style)
    # The edge of a region that is not defined by numbers is found on a grid.
    if not regions.fields and len(window) == 2 and len(regions):
        axes, P = _grid(window, _GRID)
        inside = np.asarray(regions.contains(P), dtype=float).reshape(_GRID, _GRID)
        if inside.min() < inside.max():
            ax.contour(*axes, inside, levels=[0.5], colors=INK, linewidths=0.8, zorder=5)


def _heights(n: int) -> np.ndarray:
    """Heights that spread the rows of a single column, the same every time."""
    return 0.08 + 0.84 * (np.arange(n) * 0.6180339887498949 % 1.0)


def _marker(position: int) -> str:
    return _MARKERS[position % len(_MARKERS)]
