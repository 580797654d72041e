"""Compile all loops once, so that no later process has to: for container images."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid import cluster, eop, xclusters
from pellucid._core.kernels.dataset import COST_LOOPS
from pellucid._utils.compilation import event
from pellucid._utils.progress import Progress
from pellucid.methods import METHODS, STREAMED
from pellucid.rules.rule_set import RuleSet
from pellucid.scale.scan import scan
from pellucid.xclusters.distances.pairwise import pairwise

_N_ROWS, _N_MANY_ROWS, _N_CLUSTERS = 60, 6000, 4
_N_WIDE = 2000  # copies of three columns: so many are refined together
_N_SPARSE_ROWS = 11_000  # rows whose values are too many to be polished as dense rows

# How data may be stored. Loops are compiled anew for each of them.
FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "float64": np.ascontiguousarray,
    "float64 by columns": np.asfortranarray,
    "float32": lambda X: np.ascontiguousarray(X, dtype=np.float32),
    "sparse float64": sparse.csr_array,
    "sparse float32": lambda X: sparse.csr_array(X.astype(np.float32)),
}


class WarmUp(NamedTuple):
    """What `warm_up` did.

    Attributes
    ----------
    n_compiled : int
        Loops that were compiled; those of an earlier call are not compiled again.
    seconds : float
    folder : str or None
        Where the machine code is stored; None if no folder can be written.
    """

    n_compiled: int
    seconds: float
    folder: str | None


def warm_up(*, verbose: int | bool = False) -> WarmUp:
    """Compile all loops of the package and store the machine code.

    The first fit after an installation takes seconds, because Numba compiles the loops that it
    needs. The machine code is stored in the folder of the package, or in a cache folder of the user
    if that one cannot be written; the environment variable ``NUMBA_CACHE_DIR`` sets another one.
    In a container image, compile once when the image is built. On a processor of another type than
    that of the build, Numba compiles again.

    Parameters
    ----------
    verbose : int or bool, default=False
        Whether to report progress on standard error.

    Returns
    -------
    WarmUp
        Number of compiled loops, seconds, and the folder.

    See Also
    --------
    ExplainableKMeans : Its first fit compiles what it needs, if this was not called.

    Examples
    --------
    >>> import pellucid
    >>> report = pellucid.warm_up()  # doctest: +SKIP
    """
    fits = list(all_fits())
    progress = Progress("warm-up: fits", len(fits), verbose)
    start = time.perf_counter()
    with event.install_recorder("numba:compile") as compiled, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fit in fits:
            fit()
            progress.step()
    n_compiled = sum(each.is_start for _, each in compiled.buffer)
    return WarmUp(n_compiled, time.perf_counter() - start, code_folder())


def all_fits() -> Iterator[Callable[[], Any]]:
    """Fits that use every loop; neighbours use the same form of data."""
    for name in FORMS:
        yield from fits_of_form(name)
    yield from fits_of_other_estimators()
    yield from fits_of_scans()


def code_folder() -> str | None:
    """A folder in which machine code is stored; None if no folder can be written."""
    return getattr(COST_LOOPS["kmeans"][0].stats, "cache_path", None)


def _rows(n: int = _N_ROWS) -> np.ndarray:
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 3)) + 3 * random.integers(3, size=(n, 1))
    return np.where(X > 0, X, 0.0)


def _fit_and_predict(model: Any, X: Any, **given: Any) -> Any:
    return model.fit(X, **given).predict(X)


def fits_of_form(name: str) -> Iterator[Callable[[], Any]]:
    """Fits of all tree estimators on data that are stored in a form of `FORMS`."""
    form = FORMS[name]
    few, many = form(_rows()), form(_rows(_N_MANY_ROWS))
    centers = _rows()[:_N_CLUSTERS]
    weights = np.random.default_rng(0).random(_N_ROWS)
    common: dict[str, Any] = {"reference": centers, "random_state": 0}
    for method in METHODS:
        for given in method.warm_up:
            model = method.estimator(**common, **given)
            yield partial(_fit_and_predict, model, few, sample_weight=weights)
    for method in METHODS:
        if method.warm_up_many:
            model = method.estimator(n_jobs=2, **common, **method.warm_up[0])
            yield partial(_fit_and_predict, model, many)
    common["n_leaves"] = _N_CLUSTERS + 3
    yield partial(_fit_and_predict, cluster.ExKMC(polish=True, n_jobs=2, **common), many)
    wide = np.tile(_rows(), (1, _N_WIDE))
    yield partial(_fit_and_predict, cluster.ExGreedy(reference=wide[:_N_CLUSTERS]), form(wide))
    if sparse.issparse(many):
        # Fewer sparse values are polished as dense rows.
        polished = cluster.ExKMC(polish="deep", **common)
        yield partial(_fit_and_predict, polished, form(_rows(_N_SPARSE_ROWS)))
        # Sparse rows are routed by compiled loops once enough of them were predicted.
        routed = cluster.IMM(reference=centers)
        yield lambda: [routed.fit(many).predict(many) for _ in range(20)]


def fits_of_other_estimators() -> Iterator[Callable[[], Any]]:
    """Fits of estimators that have loops of their own."""
    X, y = _rows(), np.arange(_N_ROWS) % 3
    for base in ("constant", "stump", "linear_svm"):
        regions = eop.EOPClassifier(base, random_state=0)
        yield partial(_fit_and_predict, regions, X, y=y)
    for metric in ("euclidean", "manhattan", "cosine"):
        for form in ("float64", "sparse float64"):
            medoids = xclusters.KMedoids(_N_CLUSTERS, metric=metric, random_state=0)
            yield partial(_fit_and_predict, medoids, FORMS[form](X + 0.1))
    yield partial(_fit_and_predict, RuleSet(), X, y=np.digitize(X[:, 0], [1, 4]))
    distances = np.abs(X[:, :1] - X[:, 0])
    yield lambda: xclusters.KMedoids(_N_CLUSTERS, metric="precomputed").fit(distances)
    yield lambda: pairwise(X, "dtw")
    for n_labels, max_depth in ((2, 1), (3, 2), (3, 3)):
        labels = np.arange(_N_ROWS) % n_labels
        tree = cluster.ExplainableKMeans(max_depth=max_depth)
        yield partial(_fit_and_predict, tree, X, y=labels)


def fits_of_scans() -> Iterator[Callable[[], Any]]:
    """Fits on batches of rows."""
    for dtype in (np.float64, np.float32):
        X = _rows(_N_MANY_ROWS).astype(dtype)
        batches = scan(lambda X=X: iter(np.array_split(X, 2)))
        for method in STREAMED.values():
            model = method.estimator(reference=X[:_N_CLUSTERS].astype(np.float64), random_state=0)
            yield partial(model.fit, batches)
