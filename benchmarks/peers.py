"""Other people's packages, measured where they can be imported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Peer:
    """A method of another package.

    Attributes
    ----------
    package, module, name : str
        Where its class is.
    fit : callable
        ``fit(cls, X, kmeans)`` fits it beside a fitted k-means.
    takes_sparse : bool
    most_rows : float
        With more rows it takes minutes.
    """

    package: str
    module: str
    name: str
    fit: Callable[[Any, Any, Any], object]
    takes_sparse: bool = False
    most_rows: float = float("inf")


def _cart(cls, X, kmeans):
    return cls(max_leaf_nodes=kmeans.n_clusters, random_state=0).fit(X, kmeans.labels_)


def _imm(cls, X, kmeans):
    return cls(k=kmeans.n_clusters).fit(X, kmeans)


def _expansion(cls, X, kmeans):
    return cls(k=kmeans.n_clusters, max_leaves=2 * kmeans.n_clusters).fit(X, kmeans)


def _kauri(cls, X, kmeans):
    return cls(max_clusters=kmeans.n_clusters, max_leaves=kmeans.n_clusters).fit(X)


PEERS = {
    "CART, k leaves (scikit-learn)": Peer(
        "scikit-learn", "sklearn.tree", "DecisionTreeClassifier", _cart, takes_sparse=True
    ),
    "IMM (ExKMC)": Peer("ExKMC", "ExKMC.Tree", "Tree", _imm),
    "IMM + expansion to 2k (ExKMC)": Peer("ExKMC", "ExKMC.Tree", "Tree", _expansion),
    "ExShallow (ShallowTree)": Peer("ShallowTree", "ShallowTree.ShallowTree", "ShallowTree", _imm),
    "Kauri, k leaves (gemclus)": Peer("gemclus", "gemclus.tree", "Kauri", _kauri, most_rows=2000),
}


@cache
def find(peer: Peer) -> Any:
    """The peer's class, or None where it cannot be imported."""
    try:
        return getattr(import_module(peer.module), peer.name)
    except (ImportError, OSError, AttributeError):  # OSError: a library that was not built
        return None


def names(n_samples: float, *, is_sparse: bool) -> list[str]:
    """Peers that are here and can take such data."""
    return [
        name
        for name, peer in PEERS.items()
        if n_samples <= peer.most_rows and (peer.takes_sparse or not is_sparse) and find(peer)
    ]


def fit(name: str, X: Any, kmeans: Any) -> object:
    """Fit a peer beside a fitted k-means."""
    peer = PEERS[name]
    return peer.fit(find(peer), X, kmeans)


def unmeasured(measured: set[str]) -> str:
    """One line about the peers that are not among those measured."""
    missing = [name for name in PEERS if name not in measured]
    if not missing:
        return ""
    return f"Not measured, since not importable or too slow at this size: {'; '.join(missing)}."
