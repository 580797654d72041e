"""The words of rules, in the language of a report."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from pellucid._utils.texts import current_language, texts_of


@dataclass(frozen=True)
class RuleWords:
    """Words between the names, the values and the signs of rules, and of suggested names."""

    and_: str
    or_: str
    is_: str
    is_not: str
    not_: str
    none_of: str
    missing: str
    nothing: str
    anything: str
    always: str
    never: str
    everywhere: str
    low: str
    high: str
    early: str
    late: str
    no: str
    average: str


def rule_words() -> RuleWords:
    """The words of the current language; see `pellucid._utils.texts.texts_in`.

    Examples
    --------
    >>> from pellucid._utils.texts import texts_in
    >>> from pellucid.tables.encoding import Indicator
    >>> with texts_in("de"):
    ...     print(Indicator("district", "Gangnam").negation)
    district ist nicht Gangnam
    """
    return _words(current_language())


@cache
def _words(language: str) -> RuleWords:
    return RuleWords(**texts_of("rules", language))
