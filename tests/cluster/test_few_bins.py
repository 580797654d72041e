"""With few bins for many values, thresholds inside bins are found too, as by brute force."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from _support import oracles
from _support.extended import examples
from _support.fitting import fit_exactly as fit
from _support.strategies import tiny_data
from pellucid import IMM, ExGreedy, ExKMC, ExShallow
from pellucid._core.data import binning

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=[2, 5], autouse=True)
def few_bins(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binning, "N_BINS", request.param)
        patch.setattr(binning, "_FEW_VALUES", 0)
        yield


@given(tiny_data(max_rows=14))
@settings(max_examples=examples(150), deadline=None)
def test_imm(data):
    assert oracles.as_nested(fit(IMM(), data).tree_) == oracles.grow_imm(data)


@given(tiny_data(max_rows=14), st.sampled_from([0.0, 0.03, 0.5]))
@settings(max_examples=examples(150), deadline=None)
def test_exshallow(data, penalty):
    model = ExShallow(depth_penalty=penalty) if penalty else ExGreedy()
    assert oracles.as_nested(fit(model, data).tree_) == oracles.grow_shallow(data, penalty)


@given(tiny_data(max_rows=14), st.integers(1, 7))
@settings(max_examples=examples(150), deadline=None)
def test_exkmc(data, n_leaves):
    model = fit(ExKMC(base=None, n_leaves=n_leaves), data)
    expected, curve = oracles.grow_exkmc(data, n_leaves)
    assert oracles.as_nested(model.tree_) == expected
    assert model.surrogate_costs_.tolist() == curve
