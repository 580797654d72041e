"""Two records side by side: how many fits agree, and in which fields the others differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any


def compare(old: Mapping[str, Any], new: Mapping[str, Any], only: str = "") -> int:
    """Print the differences between two records.

    Parameters
    ----------
    old, new : mapping
        Records.
    only : str
        Compare only fits whose keys contain this text.

    Returns
    -------
    int
        1 if a fit differs or is in one of the records only, else 0.
    """
    before, after = (
        {key: found for key, found in record["fits"].items() if only in key}
        for record in (old, new)
    )
    for name, version in old["made_with"].items():
        if (other := new["made_with"].get(name)) != version:
            print(f"made with another {name}: {version} and {other}")
    both = [key for key in before if key in after]
    differing = {key: differing_fields(before[key], after[key]) for key in both}
    differing = {key: names for key, names in differing.items() if names}
    missing = {
        "OLD": [key for key in before if key not in after],
        "NEW": [key for key in after if key not in before],
    }
    for key, names in differing.items():
        print(f"differs: {key}: {', '.join(names)}")
    for name, keys in missing.items():
        for key in keys:
            print(f"only in {name}: {key}")
    counts = Counter(name for names in differing.values() for name in names)
    if counts:
        print("fits that differ, by field:", ", ".join(f"{n} {name}" for name, n in counts.items()))
    n_missing = sum(map(len, missing.values()))
    print(
        f"{len(both) - len(differing)} fits agree, {len(differing)} differ, "
        f"{n_missing} are in one record only"
    )
    return int(bool(differing or n_missing))


def differing_fields(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Names of the fields in which two fits differ."""
    return [name for name in {**old, **new} if old.get(name) != new.get(name)]
