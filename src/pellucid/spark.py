"""Explainer: a threshold tree as an estimator of Spark ML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid._utils.imports import missing_package
from pellucid._utils.notices import InputError
from pellucid.explanation.explanation import Explanation
from pellucid.export.json import from_json
from pellucid.methods import STREAMED, one_of
from pellucid.scale.prediction import ScanPredictor, free_prefix, predict_source
from pellucid.scale.references import spark_centers
from pellucid.scale.scan import scan
from pellucid.scale.spark import SparkSource, quoted

try:
    from pyspark import keyword_only
    from pyspark.ml import Estimator, Model
    from pyspark.ml.functions import vector_to_array
    from pyspark.ml.param import Param, Params, TypeConverters
    from pyspark.ml.param.shared import (
        HasFeaturesCol,
        HasHandleInvalid,
        HasInputCols,
        HasLabelCol,
        HasPredictionCol,
        HasWeightCol,
    )
    from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
    from pyspark.sql import functions as F
except ImportError:
    raise missing_package("pyspark", "pellucid.spark") from None

if TYPE_CHECKING:
    from typing import Self

_POLICIES = "error", "skip", "keep"
_MISSING = "contains missing values; set handleInvalid to 'skip' or 'keep'"


class _ExplainerParams(
    HasInputCols, HasFeaturesCol, HasPredictionCol, HasLabelCol, HasWeightCol, HasHandleInvalid
):
    """Parameters of the estimator and of its model."""

    method: Any = Param(
        Params._dummy(), "method", f"one of {', '.join(STREAMED)}", TypeConverters.toString
    )
    centers: Any = Param(Params._dummy(), "centers", "reference centers, as lists of numbers")
    options: Any = Param(Params._dummy(), "options", "further parameters of the method, by name")

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(method="imm", options={})

    def _set_given(self, given: dict[str, Any]) -> Self:
        centers = given.get("centers")
        if centers is not None:
            if hasattr(centers, "clusterCenters"):
                centers = spark_centers(centers)
            given["centers"] = np.asarray(centers, dtype=float).tolist()
        policy = given.get("handleInvalid")
        if policy not in (None, *_POLICIES):
            raise InputError(f"handleInvalid={policy!r} is unknown; use {one_of(_POLICIES)}")
        return self._set(**{name: value for name, value in given.items() if value is not None})

    def setInputCols(self, value: list[str]) -> Self:
        """Set the columns of numbers."""
        return self._set(inputCols=value)

    def setFeaturesCol(self, value: str) -> Self:
        """Set the column of vectors."""
        return self._set(featuresCol=value)

    def setPredictionCol(self, value: str) -> Self:
        """Set the name of the column of clusters."""
        return self._set(predictionCol=value)

    def setHandleInvalid(self, value: str) -> Self:
        """Set what happens to rows with missing numbers."""
        return self._set_given({"handleInvalid": value})

    def _get(self, name: str) -> Any:
        return self.getOrDefault(self.getParam(name)) if self.isSet(name) else None

    def _is_missing(self, names: Sequence[str]) -> Any:
        """Whether a number of a row is missing, NaN or infinite."""
        numbers = [F.col(quoted(name)).cast("double") for name in names]
        return reduce(or_, (x.isNull() | F.isnan(x) | (F.abs(x) == np.inf) for x in numbers))

    def _with_numbers(self, frame: Any) -> tuple[Any, list[str], list[str]]:
        """The data frame with the entries of vectors as columns; their names, and what they are."""
        column, given = self.getFeaturesCol(), self._get("inputCols")
        if given is not None:
            return frame, given, given
        known = dict(frame.dtypes)
        if column not in known:
            raise InputError(
                f"inputCols is not set, and the data have no column {column!r}",
                hint="name columns of numbers (inputCols), or a column of vectors (featuresCol)",
            )
        if known[column] == "vector":
            array = vector_to_array(F.col(quoted(column)))
        elif known[column].startswith("array<"):
            array = F.col(quoted(column)).cast("array<double>")
        else:
            raise InputError(
                f"featuresCol={column!r} holds no vectors",
                hint="name columns of numbers (inputCols), or use VectorAssembler",
            )
        prefix = free_prefix(frame.columns)
        frame = frame.withColumn(prefix, array)
        names = self._names_of_entries(frame, column, prefix)
        entries = [f"{prefix}{j}" for j in range(len(names))]
        array = F.when(F.size(prefix) == len(names), F.col(prefix))
        parts = {entry: F.get(array, F.lit(j)) for j, entry in enumerate(entries)}
        return frame.withColumns(parts).drop(prefix), entries, names

    def _names_of_entries(self, frame: Any, column: str, array: str) -> list[str]:
        """Names of the entries of the vectors, as VectorAssembler stores them, or numbers."""
        stored = frame.schema[column].metadata.get("ml_attr", {})
        groups = stored.get("attrs", {}).values()
        found = {attr["idx"]: attr.get("name") for group in groups for attr in group}
        n = stored.get("num_attrs", len(found))
        if not n:
            first = frame.select(F.size(array).alias("n")).where(F.col(array).isNotNull()).first()
            if first is None:
                raise InputError("the data have no rows")
            n = first["n"]
        names = [found.get(j) or f"{column}[{j}]" for j in range(n)]
        return names if len(set(names)) == n else [f"{column}[{j}]" for j in range(n)]


class Explainer(Estimator, _ExplainerParams, DefaultParamsWritable, DefaultParamsReadable):
    """Explains a clustering of a Spark DataFrame by a threshold tree.

    Every parameter has a setter and a getter, as `setInputCols` and `getInputCols`.

    Parameters
    ----------
    method : {"explainable", "exshallow", "exgreedy", "imm", "exkmc", "bsimm", "emn", "spex"}
        The default is "imm".
    inputCols : list of str, optional
        Columns of numbers.
    featuresCol : str, default="features"
        Column of vectors, or of arrays of numbers, if `inputCols` is not set. The entries have the
        names that VectorAssembler stored, or ``features[0]``, ...
    predictionCol : str, default="prediction"
        Column that the model adds. The data must not have it already.
    centers : array-like of shape (n_clusters, n_features) or KMeansModel, optional
        Centers of the clustering to explain, or a fitted KMeansModel of Spark.
    labelCol : str, optional
        Column of the labels to explain, instead of centers.
    weightCol : str, optional
    handleInvalid : {"error", "skip", "keep"}, optional
        What happens to rows with a missing number (null, NaN or infinite): an error in `fit` and in
        the result of `transform`; they are left out of both; or they are left out of `fit`, and
        their cluster is null if the tree needs the number. Default: `fit` raises an error, and
        `transform` gives null.
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
        featuresCol: str | None = None,
        predictionCol: str = "prediction",
        centers: Any = None,
        labelCol: str | None = None,
        weightCol: str | None = None,
        handleInvalid: str | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self._set_given(dict(self._input_kwargs))

    def setParams(self, **given: Any) -> Explainer:
        """Set some parameters, by name."""
        for name in given:
            self.getParam(name)
        return self._set_given(given)

    def setMethod(self, value: str) -> Explainer:
        """Set the method."""
        return self._set(method=value)

    def setCenters(self, value: Any) -> Explainer:
        """Set the centers of the clustering to explain, or a fitted KMeansModel."""
        return self._set_given({"centers": value})

    def setLabelCol(self, value: str) -> Explainer:
        """Set the column of the labels to explain."""
        return self._set(labelCol=value)

    def setWeightCol(self, value: str) -> Explainer:
        """Set the column of weights."""
        return self._set(weightCol=value)

    def setOptions(self, value: dict[str, Any]) -> Explainer:
        """Set further parameters of the method, by name."""
        return self._set(options=value)

    def getMethod(self) -> str:
        """The method."""
        return self.getOrDefault(self.method)

    def getCenters(self) -> Any:
        """The centers of the clustering to explain; None if there are none."""
        return self._get("centers")

    def getOptions(self) -> dict[str, Any]:
        """Further parameters of the method, by name."""
        return self.getOrDefault(self.options)

    def _fit(self, dataset: Any) -> ExplainerModel:
        name = self.getMethod()
        if name not in STREAMED:
            raise InputError(f"method={name!r} is unknown; use one of {', '.join(STREAMED)}")
        frame, columns, names = self._with_numbers(dataset)
        if names is not columns:
            others = [self._get("labelCol"), self._get("weightCol")]
            if set(others) & set(names):
                names = [f"{self.getFeaturesCol()}[{j}]" for j in range(len(names))]
            frame = frame.select(
                *(F.col(quoted(c)).alias(n) for c, n in zip(columns, names)),
                *(F.col(quoted(other)) for other in dict.fromkeys(others) if other),
            )
        data = scan(frame, names, weight=self._get("weightCol"), labels=self._get("labelCol"))
        if self._get("handleInvalid") in ("skip", "keep"):
            data = replace(data, source=SparkSource(frame.where(~self._is_missing(names))))
        estimator = STREAMED[name].estimator
        model = estimator(reference=self._get("centers"), **self.getOptions())
        fitted = ExplainerModel(Explanation.of(model.fit(data)))
        self._copyValues(fitted)
        return fitted


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
        output, policy = self.getPredictionCol(), self._get("handleInvalid")
        # Spark does not distinguish names of columns by case.
        if output.casefold() in (name.casefold() for name in dataset.columns):
            raise InputError(f"column {output!r} is in the data already; set another predictionCol")
        frame, columns, names = self._with_numbers(dataset)
        if policy == "skip":
            frame = frame.where(~self._is_missing(columns))
        elif policy == "error":
            texts = (
                F.when(self._is_missing([column]), F.lit(f"column {name!r} {_MISSING}"))
                for column, name in zip(columns, names)
            )
            text = F.coalesce(*texts)
            failed = F.when(text.isNotNull(), F.raise_error(text).cast("boolean"))
            frame = frame.where(F.coalesce(failed, F.lit(True)))
        model, source = self.explanation, SparkSource(frame)
        if columns is names:
            return predict_source(model, source, [], output)
        return source.predict(ScanPredictor.of(model, columns, output)).drop(*columns)
