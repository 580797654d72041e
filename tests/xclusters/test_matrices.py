"""Matrices of distances: what is refused and why, memory, and files."""

import numpy as np
import pytest
from scipy import sparse

from pellucid.xclusters import _memory, check_matrix, load_matrix, matrices, pairwise, save_matrix


def square(n=300, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return np.linalg.norm(X[:, None] - X, axis=2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_sound_matrices_come_back_as_they_are(dtype, order):
    D = square().astype(dtype, order=order)
    assert check_matrix(D) is D


def test_whole_numbers_and_lists_become_floats():
    assert check_matrix([[0, 1], [1, 0]]).dtype == np.float64


def test_what_rounding_leaves_is_let_pass():
    D = square()
    D[3, 200] *= 1 + 1e-12
    D[7, 7] = 1e-12
    assert check_matrix(D) is D


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ((3, 290), -0.5, r"my matrix\[3, 290\] is -0.5. Negative values in data are no distances"),
        ((290, 3), np.nan, r"my matrix\[290, 3\] is nan. Every distance must be known"),
        ((270, 280), np.inf, r"my matrix\[270, 280\] is inf. Every distance must be known"),
        ((299, 299), 0.25, r"my matrix\[299, 299\] is 0.25: the distance of a row to itself"),
        ((299, 0), 9.0, r"not symmetric: \[0, 299\] is .*, \[299, 0\] is 9. .* use \(my matrix \+"),
    ],
)
def test_one_wrong_entry_is_found_and_named(order, place, value, message):
    D = np.array(square(), order=order)
    D[place] = value
    with pytest.raises(ValueError, match=message):
        check_matrix(D, name="my matrix")


@pytest.mark.parametrize(
    ("matrix", "n", "error", "message"),
    [
        (np.zeros((3, 4)), None, ValueError, r"has shape \(3, 4\); distances form a square matrix"),
        (np.zeros(9), None, ValueError, r"has shape \(9,\); distances form a square"),
        (np.zeros((0, 0)), None, ValueError, "is empty; at least one row"),
        (np.zeros((3, 3)), 4, ValueError, "is 3 × 3, but the data have 4 rows"),
        ([["a"]], None, ValueError, "other things than numbers"),
        (sparse.eye(3, format="csr"), None, TypeError, "sparse matrix, whose missing entries"),
    ],
)
def test_what_is_no_matrix_of_distances_is_refused(matrix, n, error, message):
    with pytest.raises(error, match=message):
        check_matrix(matrix, n)


def test_memory_is_counted_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(matrices, "free_memory", lambda: 3_000_000_000)
    matrices.require_memory(10_000, 30_000)
    with pytest.raises(
        MemoryError, match="30,000 × 30,000 distances take 7.2 GB, and 3.0 GB of memory are free"
    ):
        matrices.require_memory(30_000, 30_000)
    # A million rows, of which nothing is allocated: 8 TB.
    with pytest.raises(MemoryError, match="take 8.0 TB"):
        pairwise(np.zeros((1_000_000, 1)), "euclidean")


def test_where_the_system_does_not_tell_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(matrices, "free_memory", lambda: None)
    matrices.require_memory(10**9, 10**9)


def test_free_memory_is_the_least_of_system_and_container(tmp_path, monkeypatch):
    system, limit, used = (tmp_path / name for name in ("meminfo", "max", "current"))
    system.write_text("MemTotal: 9 kB\nMemAvailable:    2000 kB\n")
    monkeypatch.setattr(_memory, "_MEMINFO", system)
    monkeypatch.setattr(_memory, "_GROUPS", ((limit, used),))
    assert _memory.free_memory() == 2000 * 1024
    limit.write_text("1000000\n")
    used.write_text("400000\n")
    assert _memory.free_memory() == 600_000
    limit.write_text("max\n")
    assert _memory.free_memory() == 2000 * 1024
    system.unlink()
    assert _memory.free_memory() is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_saved_matrices_come_back_to_the_bit(tmp_path, dtype):
    D = square(20).astype(dtype)
    save_matrix(tmp_path / "trends", D)
    for name, mmap in (("trends", False), ("trends.npy", True)):
        again = load_matrix(tmp_path / name, mmap=mmap)
        np.testing.assert_array_equal(again, D)
        assert again.dtype == dtype
    assert [file.name for file in tmp_path.iterdir()] == ["trends.npy"]


def test_an_interrupted_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "d.npy"
    save_matrix(path, np.zeros((2, 2)))

    def stop(file, array, **options):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "save", stop)
    with pytest.raises(KeyboardInterrupt):
        save_matrix(path, np.ones((2, 2)))
    monkeypatch.undo()
    np.testing.assert_array_equal(load_matrix(path), np.zeros((2, 2)))
    assert [file.name for file in tmp_path.iterdir()] == ["d.npy"]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder .*gone to save the matrix in"):
        save_matrix(tmp_path / "gone" / "d.npy", np.zeros((2, 2)))


def test_files_that_hold_no_matrix(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no matrix in .*gone.npy"):
        load_matrix(tmp_path / "gone")
    (tmp_path / "text.npy").write_text("hello")
    with pytest.raises(ValueError, match="holds no matrix that NumPy can read"):
        load_matrix(tmp_path / "text.npy")
    np.save(tmp_path / "flat.npy", np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"shape \(2, 3\), not a square matrix"):
        load_matrix(tmp_path / "flat.npy")
