"""Options of `explain`, and column names that users give."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest

import pellucid
from pellucid._utils.notices import InputError, UsageError, command_line
from pellucid.cli import options as commands
from pellucid.methods import BY_WORD
from pellucid.table_explainer.arguments import ExplainOptions, listed, match_names, one_name

COLUMNS = ["dep_time", "dep_delay", "Carrier", "a, b", "x", "two\nlines"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("x", ["x"]),
        ("x, carrier", ["x", "Carrier"]),
        (["x", "Carrier"], ["x", "Carrier"]),
        ("dep_*", ["dep_time", "dep_delay"]),
        ("DEP_*,x", ["dep_time", "dep_delay", "x"]),
        ("dep_time,dep_*", ["dep_time", "dep_delay"]),
        ("?", ["x"]),
        ("a, b", ["a, b"]),
        ("two\nlines", ["two\nlines"]),
        ('"a, b",x', ["a, b", "x"]),
    ],
)
def test_names_and_patterns(given, expected):
    assert match_names(given, COLUMNS, "columns") == expected


def test_an_exact_name_is_preferred_to_one_that_differs_in_case():
    assert match_names("b", ["B", "b"], "columns") == ["b"]
    assert match_names("[x]", ["x", "[x]"], "columns") == ["[x]"]


@pytest.mark.parametrize("given", ["", " ", " ,", []])
def test_no_name_is_an_error(given):
    with pytest.raises(UsageError, match="^columns= names no column$"):
        match_names(given, COLUMNS, "columns")


def test_an_empty_list_leaves_out_nothing():
    assert match_names([], COLUMNS, "exclude") == []
    with pytest.raises(UsageError, match="^labels= names no column$"):
        match_names("", COLUMNS, "labels")


def test_a_name_cannot_be_given_twice():
    with pytest.raises(UsageError, match="^exclude= names 'Carrier' more than once$"):
        match_names("carrier,Carrier", COLUMNS, "exclude")


def test_an_unknown_name_is_answered_with_the_columns_and_a_similar_name():
    with pytest.raises(InputError) as caught:
        match_names("dep_tme", COLUMNS, "columns")
    assert str(caught.value) == (
        "columns=: there is no column 'dep_tme'; the columns are 'dep_time', 'dep_delay', "
        "'Carrier', 'a, b', 'x', 'two\\nlines'; did you mean 'dep_time'?"
    )
    with command_line(), pytest.raises(InputError) as caught:
        match_names("nothing", COLUMNS, "columns")
    assert str(caught.value).startswith("--columns: there is no column 'nothing'")
    assert caught.value.hint is None


def test_one_name():
    assert one_name("carrier", COLUMNS, "labels") == "Carrier"
    with pytest.raises(InputError, match="^labels= names more than one column: 'dep_time', 'dep_d"):
        one_name("dep_*", COLUMNS, "labels")


def test_long_lists_are_cut():
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed([f"c{i}" for i in range(30)]).endswith("'c19', and 10 more")


def test_the_options_are_the_parameters_of_explain():
    parameters = dict(inspect.signature(pellucid.explain).parameters)
    for name in ("table", "names", "verbose"):
        del parameters[name]
    parameters["seed"] = parameters.pop("random_state")
    assert {name: p.default for name, p in parameters.items()} == vars(ExplainOptions())


def test_the_command_line_has_every_option_with_its_default():
    groups = (commands.CLUSTERS, commands.OBJECTIVE, commands.TREE, commands.DATA)
    known = {name: each for group in groups for name, each in group.items()}
    known["profile"] = commands.EXPLAIN_DATA["profile"]
    assert {field.name: field.default for field in fields(ExplainOptions)} == {
        name: each.default for name, each in known.items()
    }


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ({}, "explainable"),
        ({"labels": "group"}, "explainable"),
        ({"labels": "group", "polish": "yes"}, "spex"),
        ({"objective": "kmedians"}, "exshallow"),
        ({"polish": "deep"}, "exshallow"),
        ({"labels": "group", "method": "imm"}, "imm"),
    ],
)
def test_the_method_follows_from_the_other_options(options, method):
    assert ExplainOptions(**options).chosen_method is BY_WORD[method]


def test_only_options_that_are_given_reach_the_estimator():
    assert ExplainOptions(k=3, seed=5).tree_parameters() == {}
    given = ExplainOptions(leaves=7, polish="yes", objective="kmeans")
    assert given.tree_parameters() == {"n_leaves": 7, "polish": True}
