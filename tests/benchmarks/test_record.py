"""The record of what the estimators compute: the same in every run, and compared field by field."""

import json
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from benchmarks import record
from benchmarks.__main__ import main
from benchmarks.record import cases, contents
from benchmarks.record.design import Design
from benchmarks.settings import HERE
from pellucid import IMM

pytestmark = pytest.mark.slow

SUBSET = "IMM/iris"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A record of a few fits, as a file."""
    path = tmp_path_factory.mktemp("record") / "record.json"
    assert main(["record", str(path), "--only", SUBSET]) == 0
    return path


def test_two_runs_agree(small, tmp_path, capsys):
    again = tmp_path / "again.json"
    assert main(["record", str(again), "--only", SUBSET]) == 0
    assert again.read_text(encoding="utf-8") == small.read_text(encoding="utf-8")
    fits = record.read(small)["fits"]
    assert main(["record", "--compare", str(small), str(again)]) == 0
    assert f"{len(fits)} fits agree, 0 differ, 0 are in one record only" in capsys.readouterr().out
    assert all("error" not in found for found in fits.values())


def test_a_changed_field_is_reported_with_its_key(small, tmp_path, capsys):
    changed = record.read(small)
    key = next(iter(changed["fits"]))
    changed["fits"][key]["tree"] = "0" * 12
    record.write(tmp_path / "changed.json", changed)
    assert main(["record", "--compare", str(small), str(tmp_path / "changed.json")]) == 1
    output = capsys.readouterr().out
    assert f"differs: {key}: tree\n" in output
    assert "1 differ" in output


def test_a_missing_fit_is_a_difference(small, tmp_path, capsys):
    fewer = record.read(small)
    key = next(iter(fewer["fits"]))
    del fewer["fits"][key]
    record.write(tmp_path / "fewer.json", fewer)
    assert main(["record", "--compare", str(small), str(tmp_path / "fewer.json")]) == 1
    assert f"only in OLD: {key}\n" in capsys.readouterr().out


def test_the_next_float_above_a_threshold_is_another_tree():
    X = load_iris().data
    tree = IMM(3, random_state=0).fit(X).tree_
    threshold = tree.threshold.copy()
    threshold[0] = np.nextafter(threshold[0], np.inf)
    assert contents.tree_digest(tree) == contents.tree_digest(tree.replace())
    assert contents.tree_digest(tree) != contents.tree_digest(tree.replace(threshold=threshold))


def test_every_pair_of_options_is_fitted():
    design = Design(cases._can_be_fitted)
    drawn = list(cases.tree_options(design))
    for name, options in cases.FACTORS.items():
        for method in cases.methods():
            possible = set(method.factors.get(name, options))
            assert possible == {o[name] for m, o in drawn if m.name == method.name}
    for one, other in combinations(cases.FACTORS, 2):
        for a in cases.FACTORS[one]:
            for b in cases.FACTORS[other]:
                is_possible = not ({one, other} == {"objective", "polish"} and a != "kmeans" and b)
                assert ((one, a), (other, b)) in design.n_seen or not is_possible


def test_the_committed_record_has_every_fit():
    path = HERE / "results" / "record.json"
    committed = json.loads(path.read_text(encoding="utf-8"))
    keys = [case.key for case in cases.all_cases()]
    assert len(keys) == len(set(keys)) >= 600
    assert list(committed["fits"]) == keys
    assert path.stat().st_size < 250_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name either one file to write or --compare OLD NEW"),
        (["--compare", "nowhere.json", "nowhere.json"], "cannot be read as a record"),
        (["out.json", "--only", "nonsense"], "no key contains 'nonsense'"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message, capsys):
    assert main(["record", *arguments]) == 2
    assert message in capsys.readouterr().err
