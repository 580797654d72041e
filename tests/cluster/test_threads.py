"""Several Python threads may fit at once; the answers are those of one after the other."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from pellucid import IMM, ExGreedy, ExKMC, ExShallow


@pytest.mark.slow
@pytest.mark.parametrize("as_sparse", [False, True])
def test_fits_side_by_side_are_fits_one_after_the_other(as_sparse):
    X, _ = make_blobs(6000, 12, centers=6, cluster_std=4, random_state=0)
    data = sparse.csr_array(np.where(np.abs(X) < 4, 0.0, X)) if as_sparse else X
    centers = X[:6]

    def fit(method):
        return method(reference=centers, n_jobs=2).fit(data).tree_

    methods = [IMM, ExGreedy, ExShallow, ExKMC] * 3
    alone = [fit(method) for method in methods[:4]] * 3
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(fit, methods)) == alone
