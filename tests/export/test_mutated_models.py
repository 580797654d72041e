"""Mutated model files: a clear error, or exactly the model that the file states.

``PELLUCID_MUTATIONS=100000`` in the environment sets the number of mutations.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_iris

from _support.export_cases import category_model, format_model
from _support.extended import EXTENDED
from _support.memory import PEAK
from _support.mutations import HUGE, mutate
from pellucid import EOPClassifier, ExKMC, Explanation, from_json
from pellucid.export.json_reading import schema_of

N_MUTATIONS = int(os.environ.get("PELLUCID_MUTATIONS", 1200 if EXTENDED else 240))
MAX_SECONDS = 5
PREFIXES = ("not an explanation: ", "not JSON: ", "written by a later pellucid: ")


def documents():
    """Small models of every kind."""
    return json.loads(documents_text())


@cache
def documents_text():
    iris, y = load_iris(return_X_y=True, as_frame=True)
    numbers = ExKMC(3, n_leaves=5, random_state=0).fit(iris.to_numpy(), y.to_numpy())
    categories = category_model(60)[0].to_dict()
    categories["fill"] = {"age": 3.0}
    formats = format_model()[0]
    reading = {"separator": ";", "missing": ["-"], "nested": {"x": [1, 2.5, None, True]}}
    formats = Explanation(
        formats.tree_, names=formats.tree_columns_, formats=formats.formats_, reading=reading
    ).to_dict()
    regions = [
        EOPClassifier(regions=shape, random_state=0, max_dim=2, max_error=0.1)
        .fit(iris, y)
        .to_dict()
        for shape in ("box", "polyhedron", "ellipse")
    ]
    return json.dumps([numbers.to_dict(), categories, formats, *regions])


def normalised(document):
    """A document without what has no influence on the model."""
    found = {key: value for key, value in document.items() if key != "made_by"}
    for key in ("categories", "formats", "fill"):
        found[key] = found.get(key) or {}
    for written in found["formats"].values():
        for key in ("prefix", "suffix", "date_format", "values"):
            if not written.get(key, 1):
                del written[key]
    if found.get("features") == found["columns"]:
        found["features"] = None
    for feature in found.get("features") or []:
        if isinstance(feature, dict) and feature.pop("otherwise", None) is not None:
            del found["categories"]  # derived from the pair of indicators
            break
    for level in found.get("levels", []):
        for region in level["regions"]:
            counts = {(answer, true): weight for answer, true, weight in region["counts"]}
            region["counts"] = sorted([*pair, w] for pair, w in counts.items() if w > 0)
    if not found.get("reading"):
        found.pop("reading", None)
    return found


def outcome(text):
    """Whether a document is refused or read, after checking that either happens in time."""
    begin = time.process_time()
    try:
        model = from_json(text)
    except ValueError as error:
        message = str(error)
        assert message.startswith(PREFIXES), message
        assert "\n" not in message
        assert len(message) < 2000
        assert message.isprintable()
        model = None
    assert time.process_time() - begin < MAX_SECONDS
    if model is None:
        return "refused"
    stated, read = normalised(json.loads(text)), normalised(model.to_dict())
    if "categories" not in stated:
        read.pop("categories")
    assert read == stated
    if "nodes" in read and read["columns"] is None and read["n_columns"] < 100:
        X = np.random.default_rng(0).normal(size=(5, read["n_columns"]))
        assert len(model.predict(X)) == 5
    return "read"


@pytest.mark.slow
def test_mutated_models_are_refused_or_read_exactly():
    originals = documents()
    rng = np.random.default_rng(int(os.environ.get("PELLUCID_SEED", "0")))
    found, slowest = Counter(), 0.0
    for i in range(N_MUTATIONS):
        text = mutate(originals[i % len(originals)], rng)
        begin = time.process_time()
        try:
            found[outcome(text)] += 1
        except Exception as error:
            shown = text if len(text) < 3000 else text[:3000] + b"..."
            raise AssertionError(f"mutation {i}: {error!r}\n{shown!r}") from error
        slowest = max(slowest, time.process_time() - begin)
    print(dict(found), f"slowest {slowest:.2f} s")
    assert found["refused"] > N_MUTATIONS / 2
    assert found["read"] > N_MUTATIONS / 100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "shown"),
    [(HUGE, "inf"), ("-" + HUGE, "-inf"), ("1e999", "inf"), ("1" + "0" * 350, "a whole number of")],
)
def test_numbers_that_no_float_can_hold_are_named(number, shown):
    text = json.dumps(documents()[0])
    for key in ("threshold", "weight"):
        at = text.index(f'"{key}": ') + len(key) + 4
        end = min(i for i in (text.find(",", at), text.find("}", at)) if i > 0)
        with pytest.raises(ValueError, match=rf"nodes\[0\].{key} is {shown}.* expected a finite"):
            from_json(text[:at] + number + text[end:])


def test_a_key_that_appears_twice_is_named_with_its_place():
    document = documents()[0]
    text = json.dumps(document).replace('"right": ', '"left": 1, "right": ')
    with pytest.raises(ValueError, match=r"not an explanation: nodes\[\d+\].left appears twice"):
        from_json(text)


CHAIN = """
nodes = []
for i in range(4000):
    nodes.append(dict(feature=0, threshold=i, left=2*i+1, right=2*i+2, rows=1, weight=1.0))
    nodes.append(dict(cluster=0, purity=None, rows=1, weight=1.0))
nodes.append(dict(cluster=0, purity=None, rows=1, weight=1.0))
document["nodes"] = nodes
"""
BOMBS = {
    "a deep chain": (CHAIN, "have more than 5,000,000 conditions"),
    "columns": ('document["n_columns"] = 2**50', "n_columns is 1125899906842624, expected a whole"),
    "labels": (
        'document["clusters"] = ["x" * 10**6, *map(str, range(10**4))]',
        "clusters[0] has 1,000,000 characters",
    ),
    "many labels": (
        'document["clusters"] = [0] * 200_000', "clusters has 200,000 labels, expected at most"
    ),
    "equal labels": (
        'document["clusters"] = [*range(10**5 - 1), 7]', "clusters[99999] repeats 7"
    ),
    "equal names": (
        'document.update(columns=[*map(str, range(10**5)), "0"], n_columns=10**5 + 1)',
        "columns[100000] repeats '0'",
    ),
    "features": (
        'document.update(columns=[*map(str, range(30_000))], n_columns=30_000, '
        'features=[dict([("column", str(i)), ("is", 1)]) for i in range(30_000)])',
        "nodes[0].threshold is",
    ),
    "nodes": ('document["nodes"] = [[]] * 10**5', "nodes[0] is a list, expected an object"),
    "unconnected nodes": (
        'document["nodes"] = [document["nodes"][-1]] * 30_000', "nodes[1] is not a child"
    ),
    "size": ('document["made_by"] = "x" * 7 * 10**7', "it has more than 67,108,864 bytes"),
}  # fmt: skip


BOMB_RUNNER = (
    PEAK
    + """
import copy, json, sys, time
from pathlib import Path
from pellucid import Explanation, from_json
folder = Path(sys.argv[1])
original, bombs = json.loads((folder / "bombs.json").read_text())
path = folder / "model.json"
before = peak()
for name, (change, _) in bombs.items():
    document = copy.deepcopy(original)
    exec(change)
    path.write_text(json.dumps(document))
    del document
    begin, said = time.process_time(), "read"
    try:
        from_json(path)
    except ValueError as error:
        said = str(error)
    print(json.dumps([name, said, time.process_time() - begin, peak() - before]))
"""
)


@pytest.mark.slow
def test_documents_that_would_take_much_memory_or_time_are_refused(tmp_path):
    (tmp_path / "bombs.json").write_text(json.dumps([documents()[0], BOMBS]))
    command = [sys.executable, "-c", BOMB_RUNNER, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, *_ in results] == list(BOMBS)
    for name, said, seconds, megabytes in results:
        assert BOMBS[name][1] in said
        assert seconds < MAX_SECONDS, name
        assert megabytes < 1000, name


def test_counts_of_regions_are_bounded():
    document = documents()[3]
    document["clusters"] = list(range(5000))
    with pytest.raises(ValueError, match=r"levels\[0\].regions has \d+ regions, expected at most"):
        from_json(json.dumps(document))


@pytest.mark.parametrize("name", ["explanation", "regions"])
def test_the_schemas_are_valid_and_describe_every_value(name):
    schema = schema_of(name)
    assert schema["properties"]["format"]["const"] == f"pellucid.{name}"

    def check(part):
        if isinstance(part, dict):
            if "type" in part and part.get("description") is None:
                assert set(part) == {"type"}, part  # a condition of if
            for value in part.values():
                check(value)
        elif isinstance(part, list):
            for value in part:
                check(value)

    check(schema)
