"""``pellucid predict`` on files that differ from those of the model."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from pellucid import IMM
from pellucid.cli.app import app
from pellucid.explanation.explanation import Explanation
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.reading import read_source


def predict(*arguments):
    result = CliRunner().invoke(app, ["predict", *map(str, arguments)])
    assert result.exit_code == 0, result.stderr
    return result


@pytest.fixture
def model(tmp_path):
    """A model that cuts a column at 1970-01-11, or at 10 dollars."""

    def make(column_format, reading=None):
        table = pl.DataFrame({"x": np.r_[np.arange(5.0), np.arange(15.0, 20.0)]})
        fitted = IMM(2, random_state=0).fit(table)
        tree = fitted.tree_
        explanation = Explanation(
            tree, names=["x"], formats={"x": column_format}, reading=reading, columns=["x"]
        )
        file = tmp_path / "model.json"
        file.write_text(explanation.to_json())
        return file

    return make


def clusters(tmp_path, model, text, name="new.csv"):
    """Whether rows are in the cluster of the second row, and the notices."""
    (tmp_path / name).write_text(text)
    result = predict(model, tmp_path / name, "--output", tmp_path / "out.parquet")
    found = pl.read_parquet(tmp_path / "out.parquet")["cluster"]
    return [None if each is None else each == found[1] for each in found], result.stderr


def test_numbers_in_the_format_of_the_model(tmp_path, model):
    file = model(ColumnFormat(prefix="$"))
    found, said = clusters(tmp_path, file, 'x\n$3\n"$1,700"\n17\n-\nmuch\n')
    assert found == [False, True, True, None, None]
    assert "x: 1 value could not be read; treated as missing" in said
    assert "2 rows without a cluster, because a value that the rules need is missing (x 2)" in said


def test_dates_in_the_order_of_the_model(tmp_path, model):
    file = model(ColumnFormat("date", date_format="%d/%m/%Y"))
    # 02/01 is the second of January, although month before day would be assumed.
    found, said = clusters(tmp_path, file, "x\n02/01/1970\n05/03/1970\n01/12/1970\nsoon\n")
    assert found == [False, True, True, None]
    assert "x: 1 value could not be read; treated as missing" in said


def test_dates_with_a_type(tmp_path, model):
    days = [date(1970, 1, 1) + timedelta(days=n) for n in (2, 16, 30)]
    pl.DataFrame({"x": days}).write_parquet(tmp_path / "new.parquet")
    predict(
        model(ColumnFormat("date")), tmp_path / "new.parquet", "--output", tmp_path / "o.parquet"
    )
    found = pl.read_parquet(tmp_path / "o.parquet")["cluster"].to_list()
    assert found[0] != found[1] == found[2]


def test_what_a_file_leaves_open_is_read_as_in_the_model(tmp_path, model):
    text = 'x\n"3,125"\n"17,125"\n'
    assert clusters(tmp_path, model(ColumnFormat()), text)[0] == [True, True]
    file = model(ColumnFormat(), reading={"decimal": ","})
    assert clusters(tmp_path, file, text)[0] == [False, True]


def test_the_output_has_the_format_of_its_suffix(tmp_path, model):
    file = model(ColumnFormat())
    (tmp_path / "new.csv").write_text("x;y\n3,5;a\n17,5;b\n")
    result = predict(file, tmp_path / "new.csv")
    assert result.stdout.startswith("x;y;cluster;rule\n3,5;a;")
    for name in ("out.xlsx", "out.tsv", "out.jsonl"):
        predict(file, tmp_path / "new.csv", "--output", tmp_path / name)
        found = read_source(tmp_path / name).table
        assert found.columns == ["x", "y", "cluster", "rule"]
        assert found["x"].to_list() == [3.5, 17.5]
    refused = CliRunner().invoke(
        app, ["predict", str(file), str(tmp_path / "new.csv"), "--output", str(tmp_path / "o.doc")]
    )
    assert refused.exit_code == 1
    assert "tables cannot be written as '.doc'" in refused.stderr


def test_categories_that_the_model_has_not_seen_are_counted(tmp_path):
    rows = [f"{'north' if i % 2 else 'south'},{i % 3}" for i in range(60)]
    (tmp_path / "old.csv").write_text("\n".join(["side,x", *rows]) + "\n")
    arguments = ["explain", "old.csv", "-k", "2", "--columns", "side", "--model", "model.json"]
    arguments = [str(tmp_path / each) if "." in each else each for each in arguments]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    (tmp_path / "new.csv").write_text("side,x\nnorth,1\neast,2\nwest,1\nwest,0\n")
    result = predict(tmp_path / "model.json", tmp_path / "new.csv")
    said = (
        "3 rows with a value of side that was not in the training data ('west', 'east'); they are "
        "treated as none of the known values"
    )
    assert said in result.stderr.splitlines()


def test_the_output_notes_rows_with_other_values(tmp_path):
    rows = [f"{('No', 'DSL', 'Fiber')[i % 3]},{i % 3 == 0}" for i in range(90)]
    (tmp_path / "old.csv").write_text("\n".join(["service,kind", *rows]) + "\n")
    model, output = tmp_path / "model.json", tmp_path / "out.csv"
    arguments = ["explain", tmp_path / "old.csv", "--labels", "kind", "--model", model]
    assert CliRunner().invoke(app, list(map(str, arguments))).exit_code == 0
    (tmp_path / "new.csv").write_text('service\nNo\nDSL\n5G\nno\n""\n')
    predict(model, tmp_path / "new.csv", "--output", output)
    found = pl.read_csv(output)
    assert found["rule"].to_list() == [
        "service is No",
        "service is DSL or Fiber",
        "service is not No",
        "service is not No",
        "service is not No",
    ]
    assert found["rule_note"].to_list() == [
        None,
        None,
        "service: '5G' was not in the training data",
        "service: 'no' was not in the training data; 'No' was",
        "service: missing values were not in the training data",
    ]
    predict(model, tmp_path / "old.csv", "--output", output)
    assert pl.read_csv(output).columns == ["service", "kind", "cluster", "rule"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("separator", 5), ("separator", ";;"), ("na", "x"), ("na", [1]), ("skip", -1), ("header", 1)],
)
def test_how_a_file_is_read_is_checked_in_the_model(name, value):
    from pellucid.tables.reading import ReadingOptions

    with pytest.raises(ValueError, match=f"as reading.{name}, which cannot be"):
        ReadingOptions.from_dict({name: value})
