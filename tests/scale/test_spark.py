"""Trees on Spark data frames are those of the same rows in memory.

A local Spark is started. It needs pyspark and Java; without them these tests are skipped, unless
the environment variable PELLUCID_SPARK_TESTS is "require".
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pellucid
from _support.extended import EXTENDED
from _support.fitting import assert_same_tree
from pellucid import ExKMC, ExShallow

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent

JAVA_OPTIONS = " ".join(
    [
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Xms768m",
        "-Xmn384m",
        # Classes are not verified when they are loaded: Spark loads thousands of them.
        "-XX:+IgnoreUnrecognizedVMOptions",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:-BytecodeVerificationRemote",
    ]
)

if os.environ.get("PELLUCID_SPARK_TESTS") != "require":
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("no Java here: tests on Spark are left out", allow_module_level=True)


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    session = (
        # Two threads; a task may fail once.
        SparkSession.builder.master("local[2,2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        # The jobs are small: compiling them to machine code takes longer than running them.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.driver.extraJavaOptions", JAVA_OPTIONS)
        .config("spark.ui.showConsoleProgress", "false")
        # Workers are forked from a process that has imported what they need. With the other
        # value, tasks on rows and on Arrow batches would each have such a process.
        .config("spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled", "false")
        .config("spark.python.daemon.module", "_support.spark_daemon")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(TESTS)]))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def frame_of(spark, X, weights=None, n_partitions=2):
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    if weights is not None:
        table["w"] = weights
    return spark.createDataFrame(table).repartition(n_partitions)


def blobs():
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 2)) + 5 * random.integers(2, size=(500, 1))
    return X, np.array([[0.0, 0], [5, 5]])


@pytest.fixture(scope="module")
def pipeline(spark):
    """A data frame, and a pipeline of one step that is fitted on it."""
    from pyspark.ml import Pipeline

    from pellucid.spark import Explainer

    X, centers = blobs()
    frame = frame_of(spark, X)
    explainer = Explainer(
        method="exkmc", inputCols=["x0", "x1"], centers=centers, options={"n_leaves": 3}
    )
    return frame, Pipeline(stages=[explainer]).fit(frame)


def test_estimator_in_a_pipeline(pipeline, tmp_path):
    from pyspark.ml import PipelineModel

    X, centers = blobs()
    frame, model = pipeline
    columns = ["x0", "x1"]
    found = model.transform(frame).toPandas()
    expected = ExKMC(reference=centers, n_leaves=3).fit(X)
    assert (found["prediction"] == expected.predict(found[columns].to_numpy())).all()
    model.write().overwrite().save(str(tmp_path / "model"))
    loaded = PipelineModel.load(str(tmp_path / "model"))
    again = loaded.transform(frame).toPandas()
    assert (again.sort_values(columns).values == found.sort_values(columns).values).all()
    assert loaded.stages[0].to_json() == model.stages[0].to_json()


def test_labels_and_saved_estimator(spark, tmp_path):
    from pellucid.spark import Explainer

    X, _ = blobs()
    labels = np.where(X[:, 0] > 2, "b", "a")
    table = pd.DataFrame(X, columns=["x0", "x1"]).assign(segment=labels)
    frame = spark.createDataFrame(table)
    explainer = Explainer(
        method="exshallow", inputCols=["x0", "x1"], labelCol="segment", predictionCol="p"
    )
    explainer.save(str(tmp_path / "explainer"))
    model = Explainer.load(str(tmp_path / "explainer")).fit(frame)
    expected = ExShallow().fit(X, labels)
    found = model.transform(frame).toPandas()
    assert (found["p"] == expected.predict(X)).all()


def test_booleans_in_a_saved_model(spark, tmp_path):
    from pellucid.spark import Explainer, ExplainerModel

    table = pd.DataFrame({"b": [True, False] * 10, "x": np.arange(20) / 40})
    frame = spark.createDataFrame(table)
    model = Explainer(inputCols=["b", "x"], centers=[[1, 0.2], [0, 0.2]]).fit(frame)
    model.save(str(tmp_path / "model"))
    found = ExplainerModel.load(str(tmp_path / "model")).transform(frame)
    assert found.columns == ["b", "x", "prediction"]
    found = found.toPandas()
    assert (found["prediction"] == ~found["b"]).all()


def test_repeated_names(spark):
    frame = spark.range(3).selectExpr("id AS a", "id AS b", "'x' AS a")
    with pytest.raises(ValueError, match="more than one column 'a'"):
        pellucid.scan(frame)


def test_same_tree_with_weights_though_a_task_fails(spark, tmp_path, monkeypatch):
    # Every pass over the data is a job of Spark and takes about a second. Other methods are
    # compared where an estimator of Spark ML is used.
    from pellucid.scale import spark as adapter

    X, centers = blobs()
    weights = np.random.default_rng(6).random(len(X))
    calls, failed = str(tmp_path / "calls"), str(tmp_path / "failed")
    map_batches = adapter.map_batches

    def failing(task, batches):
        # The length of the file after an append is the number of this call.
        file = os.open(calls, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        os.write(file, b".")
        number = os.lseek(file, 0, os.SEEK_CUR)
        os.close(file)
        if number == 6:
            os.mkdir(failed)
            raise OSError("the machine is gone")
        yield from map_batches(task, batches)

    monkeypatch.setattr(adapter, "map_batches", failing)
    data = pellucid.scan(frame_of(spark, X, weights), weight="w")
    model = pellucid.EMN(reference=centers).fit(data)
    assert_same_tree(model, pellucid.EMN(reference=centers).fit(X, sample_weight=weights))
    assert os.path.exists(failed)


def test_predict_adds_an_expression(spark):
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "a b": np.round(0.4 * random.normal(size=500), 1).astype(np.float32),
            "c": random.random(500) < 0.5,
            "d": np.round(0.4 * random.normal(size=500), 1),
        }
    )
    X = table.astype({"c": float})
    model = ExKMC(reference=X[:4].to_numpy(), n_leaves=12, threshold_style="data").fit(X)
    assert set(model.tree_.feature[~model.tree_.is_leaf]) == {0, 1, 2}
    found = model.predict(pellucid.scan(spark.createDataFrame(table)))
    assert found.columns == ["a b", "c", "d", "cluster"]
    found = found.toPandas()
    expected = model.predict(found[["a b", "c", "d"]].astype({"c": float}))
    assert (found["cluster"] == expected).all()


def test_errors_name_the_column(spark):
    X, centers = blobs()
    X[77, 1] = np.nan
    data = pellucid.scan(frame_of(spark, X))
    with pytest.raises(ValueError, match="column 'x1' contains missing values") as caught:
        pellucid.IMM(reference=centers).fit(data)
    assert "Traceback" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_vectors_in_a_pipeline(spark, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.feature import StandardScaler, VectorAssembler

    from pellucid.spark import Explainer

    X, _ = blobs()
    frame = frame_of(spark, X)
    steps = [
        VectorAssembler(inputCols=["x0", "x1"], outputCol="v"),
        StandardScaler(inputCol="v", outputCol="features", withMean=True),
        KMeans(k=3, seed=0, maxIter=1, initMode="random", predictionCol="cluster"),
    ]
    fitted = Pipeline(stages=steps).fit(frame)
    clustered = fitted.transform(frame)
    kmeans = fitted.stages[-1]
    explainer = Explainer().setMethod("emn").setCenters(kmeans).setOptions({"n_jobs": 1})
    model = explainer.fit(clustered)
    rows = np.array([row.features.toArray() for row in clustered.select("features").collect()])
    expected = pellucid.EMN(reference=kmeans).fit(rows)
    assert_same_tree(model.explanation, expected)
    assert list(model.explanation.feature_names_in_) == ["features[0]", "features[1]"]
    # The names that VectorAssembler stored, and a KMeansModel as reference of a scan: which scan
    # makes no difference.
    centers = np.array(kmeans.clusterCenters())
    of_names = Explainer(featuresCol="v", centers=centers).fit(clustered)
    of_scan = pellucid.IMM(reference=kmeans).fit(pellucid.scan(lambda: [X], ["x0", "x1"]))
    assert_same_tree(of_names.explanation, of_scan)
    assert list(of_names.explanation.feature_names_in_) == ["x0", "x1"]
    whole = PipelineModel([*fitted.stages[:2], model])
    whole.write().save(str(tmp_path / "model"))
    found = PipelineModel.load(str(tmp_path / "model")).transform(frame)
    assert found.columns == ["x0", "x1", "v", "features", "prediction"]
    labels = [row.prediction for row in found.select("prediction").collect()]
    assert (expected.predict(rows) == labels).all()


def test_a_prediction_of_another_model_is_not_replaced(pipeline):
    frame, model = pipeline[0], pipeline[1].stages[0]
    for name in ("prediction", "Prediction"):
        clustered = frame.withColumn(name, frame["x0"])
        with pytest.raises(ValueError, match="'prediction' is in the data already; set another"):
            model.transform(clustered)
    found = model.copy().setPredictionCol("rule").transform(clustered)
    assert found.columns == ["x0", "x1", "Prediction", "rule"]


def test_other_models_have_no_nearest_centers(spark):
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.linalg import Vectors

    frame = spark.createDataFrame([(Vectors.dense(1.0, i),) for i in range(1, 5)], ["features"])
    model = KMeans(k=2, seed=0, maxIter=1, distanceMeasure="cosine").fit(frame)
    with pytest.raises(ValueError, match="are not those of the nearest center; pass the labels"):
        pellucid.IMM(reference=model).fit(pellucid.scan(lambda: [np.ones((3, 2))]))


def test_missing_numbers(spark):
    from pellucid.spark import Explainer

    X, centers = blobs()
    X[7], X[9] = np.nan, np.inf
    is_known = np.isfinite(X).all(axis=1)
    frame = frame_of(spark, X)
    explainer = Explainer(inputCols=["x0", "x1"], centers=centers, handleInvalid="skip")
    model = explainer.fit(frame)
    assert_same_tree(model.explanation, pellucid.IMM(reference=centers).fit(X[is_known]))
    assert model.transform(frame).count() == is_known.sum()
    found = model.setHandleInvalid("keep").transform(frame).toPandas()
    assert (found["prediction"].isna() == ~np.isfinite(found["x0"])).all()
    with pytest.raises(Exception, match="column 'x[01]' contains missing values; set handleInv"):
        model.setHandleInvalid("error").transform(frame).collect()


def test_any_column_name(spark):
    from pyspark.sql import functions as F

    X, centers = blobs()
    names = ["a.b", "a`b", "A.b"]
    frame = frame_of(spark, X)
    frame = frame.select(*map(F.col, ["x0", "x1", "x0"])).toDF(*names)
    data = pellucid.scan(frame, names[:2])
    model = pellucid.IMM(reference=centers).fit(data)
    assert_same_tree(model, pellucid.IMM(reference=centers).fit(X))
    found = model.predict(data).toPandas()
    assert found.columns.tolist() == [*names, "cluster"]
    assert (found["cluster"] == model.predict(found[names[:2]].to_numpy())).all()


def test_rows_are_read_twice_and_results_are_merged_as_a_tree(spark, tmp_path, monkeypatch):
    from pellucid.scale import spark as adapter

    monkeypatch.setattr(adapter, "_MERGED_AT_ONCE", 2)
    X, centers = blobs()
    log = str(tmp_path / "log")

    def read(batches):
        with open(log, "a") as file:
            file.write(".")
        yield from batches

    frame = frame_of(spark, X, n_partitions=5).mapInArrow(read, "x0 double, x1 double")
    model = pellucid.IMM(reference=centers).fit(pellucid.scan(frame))
    assert_same_tree(model, pellucid.IMM(reference=centers).fit(X))
    # A sample, which decides about bins, and the first pass.
    assert len((tmp_path / "log").read_text()) == 2 * 5


N_CASES = int(os.environ.get("PELLUCID_SPARK_CASES", "2" if EXTENDED else "1"))


@pytest.mark.filterwarnings("ignore:the tree has")
@pytest.mark.parametrize("seed", range(N_CASES))
def test_random_cases(seed, spark):
    from benchmarks.scale.trees import compare

    assert compare(seed, ("Spark",), spark, 6)["Spark"] == "same"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "cart", "inputCols": ["x0"]}, "method='cart' is unknown"),
        ({}, "inputCols is not set, and the data have no column 'features'"),
        ({"featuresCol": "x0"}, "featuresCol='x0' holds no vectors"),
        ({"inputCols": ["x0"], "handleInvalid": "drop"}, "use error, skip or keep"),
        ({"inputCols": ["x9"]}, "no column 'x9'"),
    ],
)
def test_wrong_parameters(arguments, message, spark):
    from pellucid.spark import Explainer

    X, centers = blobs()
    with pytest.raises(ValueError, match=message):
        Explainer(centers=centers, **arguments).fit(frame_of(spark, X))


def test_models_of_spark_ml_are_references(spark):
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.linalg import Vectors

    X, _ = blobs()
    X = X[:60]
    frame = spark.createDataFrame([(Vectors.dense(row),) for row in X.tolist()], ["features"])
    estimator = KMeans(k=3, seed=0, maxIter=1, initMode="random")
    with pytest.raises(ValueError, match=r"not a fitted model; pass reference.fit\(frame\)"):
        pellucid.IMM(reference=estimator).fit(X)
    model = estimator.fit(frame.coalesce(1))
    rows = model.transform(frame).select("prediction").collect()
    found = pellucid.IMM(reference=model).fit(X)
    np.testing.assert_array_equal(found.reference_labels_, [row[0] for row in rows])
