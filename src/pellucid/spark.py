"""Explainer: a threshold tree as an estimator of Spark ML."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid._utils.imports import missing_package
from pellucid._utils.notices import InputError
from pellucid.explanation.explanation import Explanation
from pellucid.export.json import from_json
from pellucid.methods import STREAMED
from pellucid.scale.prediction import predict_source
from pellucid.scale.scan import scan
from pellucid.scale.spark import SparkSource

try:
    from pyspark import keyword_only
    from pyspark.ml import Estimator, Model
    from pyspark.ml.param import Param, Params, TypeConverters
    from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
except ImportError:
    raise missing_package("pyspark", "pellucid.spark") from None


class _ExplainerParams(Params):
    """Parameters of the estimator and of its model."""

    method: Any = Param(
        Params._dummy(), "method", f"one of {', '.join(STREAMED)}", TypeConverters.toString
    )
    inputCols: Any = Param(
        Params._dummy(), "inputCols", "columns of numbers", TypeConverters.toListString
    )
    predictionCol: Any = Param(
        Params._dummy(), "predictionCol", "column of the cluster", TypeConverters.toString
    )
    labelCol: Any = Param(
        Params._dummy(), "labelCol", "column of the labels to explain", TypeConverters.toString
    )
    weightCol: Any = Param(
        Params._dummy(), "weightCol", "column of weights", TypeConverters.toString
    )
    centers: Any = Param(Params._dummy(), "centers", "reference centers, as lists of numbers")
    options: Any = Param(Params._dummy(), "options", "further parameters of the method, by name")

    def _set_given(self, given: dict[str, Any]) -> None:
        if given.get("centers") is not None:
            given["centers"] = np.asarray(given["centers"], dtype=float).tolist()
        self._set(**{name: value for name, value in given.items() if value is not None})


class Explainer(Estimator, _ExplainerParams, DefaultParamsWritable, DefaultParamsReadable):
    """Explains a clustering of a Spark DataFrame by a threshold tree.

    Parameters
    ----------
    method : {"explainable", "exshallow", "exgreedy", "imm", "exkmc", "bsimm", "emn", "spex"}
        The default is "imm".
    inputCols : list of str
        Columns of numbers, without missing values.
    predictionCol : str, default="prediction"
    centers : array-like of shape (n_clusters, n_features), optional
        Centers of the clustering to explain, such as those of a Spark KMeansModel.
    labelCol : str, optional
        Column of the labels to explain, instead of centers.
    weightCol : str, optional
    options : dict, optional
        Further parameters of the method, such as ``{"n_leaves": 12}``.
    """

    _input_kwargs: dict[str, Any]  # set by `keyword_only`

    @keyword_only
    def __init__(
        self,
        *,
        method: str = "imm",
        inputCols: list[str] | None = None,
        predictionCol: str = "prediction",
        centers: Any = None,
        labelCol: str | None = None,
        weightCol: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self._setDefault(method="imm", predictionCol="prediction", options={})
        self._set_given(dict(self._input_kwargs))

    def _fit(self, dataset: Any) -> ExplainerModel:
        name = self.getOrDefault(self.method)
        if name not in STREAMED:
            raise InputError(f"method={name!r} is unknown; use one of {', '.join(STREAMED)}")
        if not self.isSet(self.inputCols):
            raise InputError("inputCols is not set; name the columns to cluster")
        data = scan(
            dataset,
            self.getOrDefault(self.inputCols),
            weight=self._get("weightCol"),
            labels=self._get("labelCol"),
        )
        estimator = STREAMED[name].estimator
        model = estimator(reference=self._get("centers"), **self.getOrDefault(self.options))
        fitted = ExplainerModel(Explanation.of(model.fit(data)))
        self._copyValues(fitted)
        return fitted

    def _get(self, name: str) -> Any:
        param = self.getParam(name)
        return self.getOrDefault(param) if self.isDefined(param) else None


class ExplainerModel(Model, _ExplainerParams, DefaultParamsWritable, DefaultParamsReadable):
    """The fitted tree; `transform` adds the cluster of each row by a column expression.

    Attributes
    ----------
    explanation : Explanation
        Rules, SQL, JSON and all other exports.
    """

    explanationJson: Any = Param(
        Params._dummy(), "explanationJson", "the explanation as JSON", TypeConverters.toString
    )

    def __init__(self, explanation: Any = None) -> None:
        super().__init__()
        self._setDefault(method="imm", predictionCol="prediction", options={})
        if explanation is not None:
            self._set(explanationJson=explanation.to_json())

    @property
    def explanation(self) -> Any:
        """The explanation, restored from its JSON, which is saved with the other parameters."""
        return from_json(self.getOrDefault(self.explanationJson))

    def to_json(self) -> str:
        """The explanation as JSON."""
        return self.explanation.to_json()

    def _transform(self, dataset: Any) -> Any:
        output = self.getOrDefault(self.predictionCol)
        return predict_source(self.explanation, SparkSource(dataset), [], output)
