"""Distance matrices: validation, memory check, and files."""

import numpy as np
import pytest
from scipy import sparse

from pellucid.xclusters import check_matrix, load_matrix, pairwise, save_matrix
from pellucid.xclusters.distances import pairwise as matrix_module


def square(n=300, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return np.linalg.norm(X[:, None] - X, axis=2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_valid_matrices_are_returned_unchanged(dtype, order):
    D = square().astype(dtype, order=order)
    assert check_matrix(D) is D


def test_integers_and_lists_become_floats():
    assert check_matrix([[0, 1], [1, 0]]).dtype == np.float64


def test_rounding_errors_are_accepted():
    D = square()
    D[3, 200] *= 1 + 1e-12
    D[7, 7] = 1e-12
    assert check_matrix(D) is D


def test_negative_rounding_errors_become_zero():
    D = square()
    D[3, 200] = D[200, 3] = -1e-16
    found = check_matrix(D)
    assert found[3, 200] == found[200, 3] == 0
    assert D[3, 200] == -1e-16
    D[3, 200] = 0
    np.testing.assert_array_equal(found, np.maximum(D, 0))
    D[3, 200] = -1e-6
    with pytest.raises(ValueError, match=r"\[3, 200\] is -1e-06. Negative values"):
        check_matrix(D)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        ((3, 290), -0.5, r"my matrix\[3, 290\] is -0.5. Negative values in data are not distances"),
        ((290, 3), np.nan, r"my matrix\[290, 3\] is nan. Distances must be finite"),
        ((270, 280), np.inf, r"my matrix\[270, 280\] is inf. Distances must be finite"),
        ((299, 299), 0.25, r"my matrix\[299, 299\] is 0.25: the distance of a row to itself"),
        ((299, 0), 9.0, r"not symmetric: \[0, 299\] is .*, \[299, 0\] is 9. .*: \(my matrix \+"),
    ],
)
def test_invalid_entry_is_named(order, position, value, message):
    D = np.array(square(), order=order)
    D[position] = value
    with pytest.raises(ValueError, match=message):
        check_matrix(D, name="my matrix")


@pytest.mark.parametrize(
    ("matrix", "n", "error", "message"),
    [
        (np.zeros((3, 4)), None, ValueError, r"has shape \(3, 4\); expected a square matrix"),
        (np.zeros(9), None, ValueError, r"has shape \(9,\); expected a square"),
        (np.zeros((0, 0)), None, ValueError, "is empty; at least one row"),
        (np.zeros((3, 3)), 4, ValueError, "is 3 × 3, but the data have 4 rows"),
        ([["a"]], None, ValueError, "non-numeric values"),
        (sparse.eye(3, format="csr"), None, TypeError, "sparse matrix, whose implicit entries"),
    ],
)
def test_invalid_matrices_raise_errors(matrix, n, error, message):
    with pytest.raises(error, match=message):
        check_matrix(matrix, n)


def test_memory_is_checked_before_allocation(monkeypatch):
    monkeypatch.setattr(matrix_module, "available_memory", lambda: 3_000_000_000)
    matrix_module.require_memory(10_000, 30_000)
    with pytest.raises(
        MemoryError,
        match="30,000 × 30,000 distances need 7.2 GB, but only 3.0 GB of memory are free",
    ):
        matrix_module.require_memory(30_000, 30_000)
    # A million rows would need 8 TB; nothing is allocated.
    with pytest.raises(MemoryError, match=r"8,000.0 GB, .* about 19,364 rows would"):
        pairwise(np.zeros((1_000_000, 1)), "euclidean")
    monkeypatch.setattr(matrix_module, "available_memory", lambda: 24 * 10**6)
    matrix_module.require_memory(1000, 1000, 3)
    with pytest.raises(MemoryError, match="in 3 matrices need 0.1 GB, .* about 1,000 rows would"):
        matrix_module.require_memory(2000, 2000, 3)


def test_unknown_free_memory_raises_no_error(monkeypatch):
    monkeypatch.setattr(matrix_module, "available_memory", lambda: None)
    matrix_module.require_memory(10**9, 10**9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_saved_matrices_are_loaded_exactly(tmp_path, dtype):
    D = square(20).astype(dtype)
    save_matrix(tmp_path / "trends", D)
    for name, mmap in (("trends", False), ("trends.npy", True)):
        again = load_matrix(tmp_path / name, mmap=mmap)
        np.testing.assert_array_equal(again, D)
        assert again.dtype == dtype
    assert [file.name for file in tmp_path.iterdir()] == ["trends.npy"]


def test_interrupted_save_keeps_the_old_file(tmp_path, monkeypatch):
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


def test_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="folder .*gone does not exist"):
        save_matrix(tmp_path / "gone" / "d.npy", np.zeros((2, 2)))


def test_invalid_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="file .*gone.npy does not exist"):
        load_matrix(tmp_path / "gone")
    (tmp_path / "text.npy").write_text("hello")
    with pytest.raises(ValueError, match="is not a matrix that NumPy can read"):
        load_matrix(tmp_path / "text.npy")
    np.save(tmp_path / "flat.npy", np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"shape \(2, 3\), not a square matrix"):
        load_matrix(tmp_path / "flat.npy")
