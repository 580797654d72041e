"""What type checkers know about the public names; `make lint` checks this file, nothing runs it."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

import pellucid
from pellucid import (
    IMM,
    ATEOPClassifier,
    EOPClassifier,
    ExKMC,
    ExplainableKMeans,
    Explanation,
    ExShallow,
    KMedoids,
    OptimalTree,
    SpEx,
    ThresholdTree,
    XClusters,
)
from pellucid.baselines import CARTExplainer
from pellucid.cluster._guarantees import Guarantee
from pellucid.explanation.region_list import RegionList
from pellucid.explanation.rules import ClusterRule, RowExplanation, RuleList
from pellucid.table_explainer.explainer import TableExplanation
from pellucid.tree.trade_off import TradeOff

X = np.zeros((10, 2))

# An estimator keeps its type through its decorator and `fit`.
assert_type(ExplainableKMeans(3), ExplainableKMeans)
assert_type(ExplainableKMeans(n_clusters=3).fit(X), ExplainableKMeans)
assert_type(ExShallow(3, depth_penalty=0.1).fit(X), ExShallow)
assert_type(IMM(3).fit(X, [0, 1]), IMM)
assert_type(ExKMC(3).fit(X), ExKMC)
assert_type(SpEx().fit(X, [0, 1]), SpEx)
assert_type(OptimalTree(3).fit(X), OptimalTree)
assert_type(CARTExplainer(3).fit(X), CARTExplainer)
assert_type(KMedoids(3).fit(X), KMedoids)
assert_type(XClusters().fit(X), XClusters)
assert_type(EOPClassifier().fit(X, [0, 1]), EOPClassifier)
assert_type(ATEOPClassifier().fit(X, [0, 1]), ATEOPClassifier)

# Fitted attributes and results.
model = IMM(3).fit(X)
assert_type(model.tree_, ThresholdTree)
assert_type(model.inertia_, float)
assert_type(model.n_leaves_, int)
assert_type(model.rules_, RuleList[ClusterRule])
assert_type(model.labels_, np.ndarray)
assert_type(model.predict(X), np.ndarray)
assert_type(model.explain(), RuleList[ClusterRule])
assert_type(model.explain()[0].purity, float)
assert_type(model.explain(X), RuleList[RowExplanation])
assert_type(pellucid.explain("table.csv").rules[0].text, str)
assert_type(model.to_json(), str)
assert_type(model.to_sql(table="rows", dialect="postgres"), str)
assert_type(model.get_depth(), int)
assert_type(model.to_frame(kind="pandas"), pd.DataFrame)
assert_type(model.to_frame(kind="dict"), dict[str, np.ndarray])
assert_type(model.plot(), Axes)
assert_type(model.report("report.html", X, title="Wines"), Path)
assert_type(model.guarantee_, Guarantee | None)
assert_type(ExShallow(3).path(X), TradeOff)
assert_type(pellucid.from_json("{}"), Explanation | RegionList)
assert_type(pellucid.explain("table.csv"), TableExplanation)

# Wrong arguments are errors: these comments are reported if they are not needed.
ExShallow(n_cluster=3)  # type: ignore[call-arg]
IMM(3, objective="kmeanz")  # type: ignore[arg-type]
model.report("report.html", titel="Wines")  # type: ignore[call-arg]
IMM(3, noise="remove")  # type: ignore[arg-type]
ExplainableKMeans(3, effort="much")  # type: ignore[arg-type]
model.to_sql(table="rows", dialect="postgresql")  # type: ignore[arg-type]
pellucid.ExplainableKMean  # type: ignore[attr-defined]  # noqa: B018
