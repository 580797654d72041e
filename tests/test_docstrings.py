"""Docstrings of all public names and their methods, checked by numpydoc where it is installed."""

import inspect

import pytest

from test_site import find, listed_in_api

OPTIONAL = {"ES01", "SA01", "EX01", "GL01", "GL08", "SS05", "SS06"}
"""Sections that a docstring may lack, and rules of wording: a summary may be a noun phrase."""

OPTIONS_OF_REPORTS = ("pellucid.report.report_html", "pellucid.report.write_report")
"""The parameters of the first are documented as options of the second."""


def public_methods(name, owner):
    """Full names of the methods and properties that this package defines."""
    for method in dir(owner):
        found = inspect.getattr_static(owner, method)
        found = getattr(found, "fget", None) or getattr(found, "__func__", found)
        is_own = str(getattr(found, "__module__", "")).startswith("pellucid")
        if not method.startswith("_") and inspect.isfunction(found) and is_own:
            yield f"{name}.{method}", found


def faults(validate, name):
    """What numpydoc finds, without what is optional."""
    result = validate(name)
    attributes = result["docstring"].partition("Attributes\n----------")[2]
    for code, text in result["errors"]:
        if code in OPTIONAL or (name in OPTIONS_OF_REPORTS and code in ("PR01", "PR02")):
            continue
        # The fields of a result are documented as its attributes.
        is_result = inspect.isclass(find(name)) and code == "PR01"
        fields = text.split("'")[1::2] if is_result else []
        if not fields or not all(field in attributes for field in fields):
            yield f"{name}: {code} {text}"


def test_docstrings_follow_numpydoc():
    validate = pytest.importorskip("numpydoc.validate").validate
    found, seen = [], set()
    for name, documented in listed_in_api().items():
        found += faults(validate, name)
        if inspect.isclass(documented):
            for method, function in public_methods(name, documented):
                if function not in seen:
                    found += faults(validate, method)
                seen.add(function)
    assert len(seen) > 50
    assert not found, "\n".join(found)
