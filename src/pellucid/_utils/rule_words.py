"""The words of rules, in the language of a report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

LANGUAGES = ("en", "de")
"""Languages of reports."""


@dataclass(frozen=True)
class RuleWords:
    """Words between the names, the values and the signs of rules, and of suggested names."""

    and_: str = "and"
    or_: str = "or"
    is_: str = "is"
    is_not: str = "is not"
    not_: str = "not"
    none_of: str = "none of"
    missing: str = "missing"
    nothing: str = "nothing"
    anything: str = "anything"
    always: str = "always"
    never: str = "never"
    low: str = "low {}"
    high: str = "high {}"
    early: str = "early {}"
    late: str = "late {}"
    no: str = "no {}"
    average: str = "average"


_WORDS = {
    "en": RuleWords(),
    "de": RuleWords(
        and_="und",
        or_="oder",
        is_="ist",
        is_not="ist nicht",
        not_="nicht",
        none_of="keines von",
        missing="leer",
        nothing="nichts",
        anything="beliebig",
        always="immer",
        never="nie",
        low="{} niedrig",
        high="{} hoch",
        early="{} früh",
        late="{} spät",
        no="{} nein",
        average="durchschnittlich",
    ),
}

_current: ContextVar[RuleWords] = ContextVar("rule_words", default=_WORDS["en"])


def rule_words() -> RuleWords:
    """The words of the current language, which is English unless `rules_in` has changed it."""
    return _current.get()


@contextmanager
def rules_in(language: str) -> Iterator[None]:
    """Write rules in a language.

    Parameters
    ----------
    language : {"en", "de"}

    Examples
    --------
    >>> from pellucid._utils.rule_words import rules_in
    >>> from pellucid.tables.encoding import Indicator
    >>> with rules_in("de"):
    ...     print(Indicator("district", "Gangnam").negation)
    district ist nicht Gangnam
    """
    token = _current.set(_WORDS[language])
    try:
        yield
    finally:
        _current.reset(token)
