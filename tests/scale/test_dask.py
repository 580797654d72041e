"""Trees on Dask collections are those of the same rows in memory."""

from __future__ import annotations

import numpy as np
import pytest

import pellucid
from _support.extended import EXTENDED
from pellucid import IMM, ExKMC, ExShallow
from tests.scale.test_same_tree import (
    ESTIMATORS,
    assert_same_tree,
    cases,
    make_parts,
    make_rows,
    make_weights,
)

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")


def frame_of(parts):
    return dd.from_delayed([dask.delayed(pd.DataFrame)(part) for part in parts], verify_meta=False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the tree has")
@pytest.mark.parametrize(("name", "seed"), cases(2 if EXTENDED else 1, 1))
def test_threaded_scheduler(name, seed):
    random = np.random.default_rng([seed, 7])
    X, centers = make_rows(random)
    weights = make_weights(random, len(X))
    data = pellucid.scan(
        frame_of(make_parts(random, X, weights)), weight=None if weights is None else "w"
    )
    model = ESTIMATORS[name](reference=centers)
    with dask.config.set(scheduler="threads"):
        on_dask = ESTIMATORS[name](reference=centers).fit(data)
    assert_same_tree(on_dask, model.fit(X, sample_weight=weights))


def test_array():
    da = pytest.importorskip("dask.array")
    X = np.random.default_rng(0).normal(size=(3000, 4))
    data = pellucid.scan(da.from_array(X, chunks=(700, 2)))
    assert_same_tree(IMM(reference=X[:5]).fit(data), IMM(reference=X[:5]).fit(X))


def test_errors_name_the_partition():
    frame = pd.DataFrame({"a": [1.0, 2, 3, np.nan], "b": [1.0, 2, 3, 4]})
    data = pellucid.scan(dd.from_pandas(frame, npartitions=2, sort=False))
    with pytest.raises(ValueError, match=r"column 'a' contains missing values .* in partition 1"):
        IMM(reference=[[1, 1], [3, 3]]).fit(data)


def test_names_that_are_numbers():
    X = np.random.default_rng(0).normal(size=(300, 3))
    data = pellucid.scan(dd.from_pandas(pd.DataFrame(X), npartitions=2), ["0", "2"])
    model = IMM(reference=X[:3, ::2]).fit(data)
    assert_same_tree(model, IMM(reference=X[:3, ::2]).fit(X[:, ::2]))
    found = model.predict(data).compute()
    assert found.columns.tolist() == [0, 1, 2, "cluster"]
    assert (found["cluster"] == model.predict(X[:, ::2])).all()


@pytest.mark.parametrize("column", ["flag", "label"])
def test_missing_booleans(column):
    frame = pd.DataFrame({"a": [0.0, 1, 2, 3], "flag": [True, False, True, True], "label": 1})
    frame[column] = pd.array([True, False, None, True], dtype="boolean")
    labels = "label" if column == "label" else None
    data = pellucid.scan(dd.from_pandas(frame, npartitions=2), ["a", "flag"], labels=labels)
    with pytest.raises(ValueError, match=rf"column '{column}' .* missing values in partition 1"):
        IMM(None if labels else 2).fit(data)


def arrays_in(holder):
    """Bytes of all arrays that belong to a batch."""
    if isinstance(holder, np.ndarray):
        return holder.nbytes
    return sum(map(arrays_in, vars(holder).values())) if hasattr(holder, "__dict__") else 0


@pytest.mark.parametrize("is_weighted", [False, True])
def test_dask_knows_the_sizes_of_batches(is_weighted, monkeypatch):
    from dask.sizeof import sizeof

    from pellucid.scale.dask import DaskPartitions

    X = np.random.default_rng(0).normal(size=(8000, 5))
    frame = pd.DataFrame(X, columns=list("abcde")).assign(w=np.arange(8000) % 3)
    source = dd.from_pandas(frame, npartitions=2)
    batches = []
    find = DaskPartitions.map_encoded

    def map_encoded(self, task, encoder):
        found = find(self, task, encoder)
        batches[:] = dask.compute(*self._raw, *self._encoded)
        return found

    monkeypatch.setattr(DaskPartitions, "map_encoded", map_encoded)
    data = pellucid.scan(source, list("abcde"), weight="w" if is_weighted else None)
    IMM(reference=X[:3]).fit(data)
    assert len(batches) == 4
    for batch in batches:
        assert arrays_in(batch) > 8000 / 2 * 0.6 * 5 * 8
        assert arrays_in(batch) <= sizeof(batch) < 1.7 * arrays_in(batch)


@pytest.mark.parametrize("kind", ["frame", "array"])
def test_many_rows_are_counted_and_not_gathered(kind, monkeypatch):
    from pellucid.scale import scan as module

    X = np.random.default_rng(0).normal(size=(2000, 3)) + np.arange(2000)[:, None] % 2 * 6
    source = dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=4)
    if kind == "array":
        source = source.to_dask_array()  # its chunks have unknown lengths
    assert pellucid.scan(source, memory="1MB").gather(2000, 1).n_rows == 2000

    def refuse(*arguments):
        raise AssertionError("rows are sent")

    monkeypatch.setattr(module, "GatherTask", refuse)
    model = pellucid.ExplainableKMeans(2, effort="fast", random_state=0)
    assert model.fit(pellucid.scan(source, memory="300kB")).tree_.n_node_samples[0] == 2000


def test_other_collections_are_refused():
    frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2]}), npartitions=1)
    bag = pytest.importorskip("dask.bag").from_sequence([1, 2])
    for collection in (frame["a"], frame["a"].to_dask_array(), bag, dask.delayed(1)):
        with pytest.raises(ValueError, match="give it a Dask DataFrame, or a Dask Array of two"):
            pellucid.scan(collection)


def test_labels():
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 3))
    names = np.array(["red", "green", "blue"])[random.integers(3, size=900)]
    X[:, 0] += 4 * (names == "red")
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(color=names)
    data = pellucid.scan(dd.from_pandas(frame, npartitions=5), labels="color")
    assert_same_tree(ExShallow().fit(data), ExShallow().fit(X, names))


@pytest.mark.slow
def test_distributed_processes_and_a_killed_worker():
    distributed = pytest.importorskip("distributed")
    # Workers are forked from a process that has imported what they need.
    forked = {"distributed.worker.multiprocessing-method": "forkserver"}
    with dask.config.set(forked):
        context = distributed.utils.get_mp_context()
    context.set_forkserver_preload(
        ["distributed", "dask.dataframe", "pellucid.scale.dask", "numba"]
    )
    random = np.random.default_rng(0)
    X = random.normal(size=(6000, 5)) + 4 * random.integers(3, size=(6000, 1))
    centers = X[:6]
    parts = [{f"x{j}": part[:, j] for j in range(5)} for part in np.array_split(X, 8)]
    expected = ExKMC(reference=centers, n_leaves=7).fit(X)
    with (
        dask.config.set(forked),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        data = pellucid.scan(frame_of(parts))
        killed = []
        model = ExKMC(reference=centers, n_leaves=7)
        grow = model._grow

        def kill_then_grow(problem, progress):
            address = next(iter(client.scheduler_info()["workers"]))
            worker = next(w for w in cluster.workers.values() if w.worker_address == address)
            killed.append(worker.process.pid)
            worker.process.process.kill()
            return grow(problem, progress)

        model._grow = kill_then_grow
        assert_same_tree(model.fit(data), expected)
        assert killed


@pytest.mark.slow
def test_workers_come_and_go():
    distributed = pytest.importorskip("distributed")
    X = np.random.default_rng(0).normal(size=(6000, 4))
    parts = [{f"x{j}": part[:, j] for j in range(4)} for part in np.array_split(X, 12)]
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    numbers = []
    with (
        distributed.LocalCluster(**options, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):

        def change(record):
            workers = client.scheduler_info(n_workers=-1)["workers"]
            numbers.append(len(workers))
            if record.number == 3:
                cluster.scale(3)
                client.wait_for_workers(3)
            elif record.number == 6:
                # Its batches move to the others.
                client.retire_workers([next(iter(workers))])

        data = pellucid.scan(frame_of(parts), on_pass=change)
        on_dask = ExKMC(reference=X[:4], n_leaves=6).fit(data)
    assert {1, 3} <= set(numbers)
    assert_same_tree(on_dask, ExKMC(reference=X[:4], n_leaves=6).fit(X))
