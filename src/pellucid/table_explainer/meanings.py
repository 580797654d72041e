"""What the name and the values of a column mean: a date, a part of the calendar, a result, a code.

Such columns are described in the result instead of being clustered on. A name alone decides only
where it is unmistakable; otherwise the values must fit it. A name is read as words:
"arrival_month", "ArrivalMonth" and "arrival month" are the same.
"""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from pellucid.table_explainer import tuning

_WORDS = re.compile(r"[A-ZÄÖÜ]+(?![a-zäöüß])|[A-ZÄÖÜ]?[a-zäöüß]+|\d+")


def _set(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


# Parts of the calendar and of the day, and their smallest and largest number.
_PARTS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(_set("day tag doy yday dayofyear"), (1, 366)),
    **dict.fromkeys(_set("mday dom dayofmonth"), (1, 31)),
    **dict.fromkeys(_set("weekday wday dow dayofweek wochentag"), (0, 7)),
    **dict.fromkeys(_set("month mnth mo mon monat"), (1, 12)),
    **dict.fromkeys(_set("week wk weekofyear isoweek woche"), (0, 54)),
    **dict.fromkeys(_set("quarter qtr quartal"), (1, 4)),
    **dict.fromkeys(_set("hour hr stunde"), (0, 24)),
    **dict.fromkeys(_set("minute second"), (0, 60)),
    "season": (0, 4),
}
# Parts of the calendar with other meanings (home runs), which need another part beside them.
_AMBIGUOUS = _set("hr mo mon dom tag second minute")
_AMBIGUOUS_BESIDE = _set("date datum day month year yr weekday hour jahr")
# A flag of the rows of one year, such as y98.
_YEAR_FLAG = re.compile(r"(?:y|yr|year|d)_?(?:19|20)?\d\d")
_YEAR = _set("year yr jahr annee año ano")
_ALSO_YEAR = _YEAR | _set("years yrs vintage")
_AFTER_PART = {*_PARTS, *_YEAR} | _set("of the sold num number no nr name id text abb index")
# Words with which "day" is a quantity: "calls per day", "sales last month".
_BEFORE_COUNT = _set(
    "per a each last past num n no nr number count nb",
    "total tot avg mean average max min sum work working",
)
# Words with which a year is a property of the thing in the row, like its age.
_OF_A_THING = _set(
    "built blt build baujahr remod remodel remodeled remodelled renovated renovation renov",
    "construction constructed model make made manufacture manufactured birth born birthyear",
    "founded found founding established opened opening debut discovered discovery vintage",
    "installed",
)
_CALENDAR_TEXTS = (
    _set(
        "mon tue wed thu fri sat sun tues weds thur thurs",
        "monday tuesday wednesday thursday friday saturday sunday",
    ),
    _set("montag dienstag mittwoch donnerstag freitag samstag sonntag sonnabend"),
    _set(
        "jan feb mar apr may jun jul aug sep sept oct nov dec",
        "january february march april june july august september october november december",
    ),
    _set("januar februar märz april mai juni juli august september oktober november dezember"),
    _set("spring summer autumn fall winter springer frühling sommer herbst"),
)
# Flags of months or weekdays, such as mon, tues and wed, that are calendar parts together.
_FEWEST_FLAGS = 3
_CENTURY = r"(?:1[5-9]|2[01])\d\d"
# Text of a period: 2015-Q1, 2015-03, Jan 2015.
_PERIOD = re.compile(
    rf"{_CENTURY}[-/]{_CENTURY}|{_CENTURY}[-/. ]?[QWMHqwmh]?\d{{1,2}}(?:[-/.]\d{{1,2}})?|"
    rf"[QqWwHh]\d{{1,2}}[-/. ]?{_CENTURY}|\d{{1,2}}[-/.]{_CENTURY}|"
    r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-/. ,']*(?:\d\d|\d{4})"
)
_RESULTS = _set(
    "y target class label response outcome result results cluster",
    "prediction predicted groundtruth ground truth zielgröße",
)
# Words of results that need few values: "death" may be a number of deaths.
_FEW_RESULTS = _set(
    "churn churned attrition default defaulted survived survival fraud fraudulent isfraud exited",
    "died dead death deceased event censored censor censors cens converted conversion purchased",
    "subscribed clicked diagnosis relapse bankrupt admitted delinquent classification",
)
# Words of results that need two values; as a number, "purchase" is an amount.
_ALSO_BINARY = _set(
    "purchase approved approval attrited bought accepted cancelled canceled disease alive",
    "readmitted delinq spam success failure deny denied risk arrest arrested rearrested recidivism",
    "left resigned quit terminated",
)
# Words that make a flag a result whatever the other words: "default payment next month".
_CERTAIN_RESULTS = _set("churn target default attrition fraud outcome survived")
# Names of two columns that are the result of a study together: what happened, and when. One of them
# is unmistakable.
_EVENTS = _set("cens censor censors censored dead died death arrest relapse failed")
_ALSO_EVENTS = _set("status event")
_FOLLOW_UP = _set("time futime survtime survt stime survival")
_ALSO_FOLLOW_UP = _set("t duration durat days week weeks")
# Words that leave the meaning of a result as it is: "is_churn", "loan default flag".
_BESIDE_RESULT = _set(
    "is has was did the flag ind indicator status label value yes binary customer loan credit",
    "company group type name code id num final true variable var col score will user bad good",
)
# Last words of the names of numbers that stand for a place or a kind.
_CODES = _set(
    "site station store block plot subject subj patient batch tract district ward precinct county",
    "state region country stratum strata psu household litter occupation industry sector sic naics",
    "isic type kind category parcel barcode device machine terminal branch warehouse outlet depot",
)
# Words of codes that need not be the last one, also in the plural.
_CODES_ANYWHERE = _set(
    "zip postal plz postleitzahl phone telephone tel telefon mobile fax fips code cod flight",
    "zipcode postalcode postcode areacode",
)
_JOINED_CODE = re.compile(r".+(?:fips|zip|code)")

_THINGS = (
    "user|cust|customer|order|member|passenger|player|patient|unit|product|prod|item|store|shop|"
    "client|account|acct|person|emp|employee|staff|student|school|county|state|country|movie|film|"
    "song|track|artist|team|game|match|record|case|sample|subject|resp|respondent|house|household|"
    "hh|loan|device|session|event|station|site|trip|transaction|trans|invoice|ticket|row|obs|doc|"
    "pat|sub|subj|family|fam|firm|company|village|region|district|city|group|class|course|teacher|"
    "branch|machine|terminal|warehouse|outlet|driver|vehicle|supplier|vendor|seller|policy|contract"
)
_JOINED_ID = re.compile(rf"(?:{_THINGS})(?:ids?|no|nr|num|key|code)")
_ID_WORDS = _set("id ids key uuid guid pk ssn sku iban isbn ean serial")
# Last words of the names of numbers of the rows.
_NUMBERING = _set("index idx row rownum rowid nr no num number seqno obs obsno")
# Words that end with "id" and are no ID: paid, solid, humid.
_NO_ID = _set(
    "paid unpaid prepaid solid fluid acid liquid void valid invalid bid mid rapid humid lipid",
    "android grid hybrid thyroid steroid asteroid aid covid kid lid said raid arid ovoid typhoid",
    "vivid",
)


def words_of(name: str) -> list[str]:
    """The words of a column name in lower case: loan, status and 2 of "loanStatus2"."""
    return [word.lower() for word in _WORDS.findall(name)]


def meaning_of(present: pl.Series, others: set[str], *, is_whole: bool) -> str | None:
    """What a column means, if it is not a measurement: the key of a reason, or None. `present` has
    its known values, `others` the names of all columns in lower case.
    """
    words = words_of(present.name)
    while len(words) > 1 and words[-1].isdigit() and len(words[-1]) == 1:
        words.pop()  # date1, date2
    if is_date(present, words, is_whole=is_whole):
        return "date"
    if is_calendar_part(present, words, others, is_whole=is_whole):
        return "calendar part"
    if is_result(present, words_of(present.name), others):
        return "result"
    is_class = words[-1:] == ["class"] and present.dtype.is_numeric()
    return "kind" if is_class and present.n_unique() > tuning.FEW_VALUES else None


def is_date(present: pl.Series, words: list[str], *, is_whole: bool) -> bool:
    """Whether a column has dates, times or periods, also as text or as numbers."""
    dtype = present.dtype
    if dtype in (pl.Date, pl.Datetime):
        return True
    if dtype == pl.String:
        texts = present.unique()
        return len(texts) > 2 and all(_PERIOD.fullmatch(text.strip()) for text in texts)
    if not dtype.is_numeric() or not words:
        return False
    last, numbers = words[-1], present.cast(pl.Float64)
    if is_whole and _are_digits_of_dates(numbers):
        return True
    is_named = last in ("date", "datum", "timestamp", "datetime", "epoch")
    if is_named or (last.endswith("date") and last not in ("update", "candidate", "mandate")):
        return True
    is_time = last in (*_YEAR, "time") or words[0] in _YEAR
    if is_time and not is_whole and _are_between(numbers, *tuning.YEARS):
        return True  # such as 1949.25
    is_time = last in ("time", "ts", "at", "created", "updated")
    return is_time and _are_between(numbers, *tuning.SECONDS)


def is_calendar_part(
    present: pl.Series, words: list[str], others: set[str], *, is_whole: bool
) -> bool:
    """Whether a column has years, months, weekdays, hours or the like."""
    if present.dtype == pl.String:
        texts = {text.strip().casefold().rstrip(".") for text in present.unique().to_list()}
        if len(texts) > 1 and any(texts <= known for known in _CALENDAR_TEXTS):
            return True
    is_flag = present.n_unique() == 2
    names = [known for known in _CALENDAR_TEXTS if present.name.lower() in known]
    if is_flag and any(len(known & others) >= _FEWEST_FLAGS for known in names):
        return True
    if is_flag and _YEAR_FLAG.fullmatch(present.name):
        return True
    part = _calendar_word(words)
    if part is None or (part in _AMBIGUOUS and not _AMBIGUOUS_BESIDE.intersection(others)):
        return False
    if present.dtype.is_temporal():
        return False  # such as a duration in a column "hour"
    if not present.dtype.is_numeric():
        numbers = present.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
        return numbers.null_count() == 0 and _fits_part(numbers, words, part)
    return is_whole and _fits_part(present.cast(pl.Float64), words, part)


def _fits_part(numbers: pl.Series, words: list[str], part: str) -> bool:
    if _are_between(numbers, 0, 1):
        return False  # a flag, like the same column of booleans
    if part not in _YEAR:
        # Weeks of a purchase may be counted from any first one.
        is_of = {"of", f"{part}of"} & {*words} and len(words) > 1
        return _are_between(numbers, *((0, np.inf) if is_of else _PARTS[part]))
    if _OF_A_THING.intersection(words):
        return False
    is_short = len(words) == 1 and _are_between(numbers, 0, 99)
    return is_short or _are_between(numbers, *tuning.YEARS)


def _calendar_word(words: list[str]) -> str | None:
    """The word for a part of the calendar that a name is about."""
    names = {*_PARTS, *_YEAR}
    if not words or _BEFORE_COUNT.intersection(words[:-1]):
        return None
    if words[-1] in names:
        return words[-1]
    first = words[0] if words[0] in names else words[0].removesuffix("of")
    is_of = first != words[0] or words[1:2] == ["of"]
    if first in names and (is_of or _AFTER_PART.issuperset(words[1:])):
        return first
    return next((word for word in words if word in _YEAR), None)


def is_result(present: pl.Series, words: list[str], others: set[str]) -> bool:
    """Whether a name is that of a result, such as churn, target or class. A column y beside x is a
    coordinate, and a class beside another result is a property.
    """
    name, n_values = present.name.lower(), present.n_unique()
    events, times = _EVENTS & others, _FOLLOW_UP & others
    if name in _FOLLOW_UP and present.dtype.is_numeric() and (events or _ALSO_EVENTS & others):
        return True
    if name in _ALSO_FOLLOW_UP and present.dtype.is_numeric() and events:
        return True
    if name in _EVENTS | _ALSO_EVENTS and n_values <= 3 and times:
        return True
    rest = [word for word in words if word not in _BESIDE_RESULT]
    rest = rest or [word for word in words if word == "label"]
    if rest == ["y"]:
        return "x" not in others
    if not rest or (rest == ["class"] and others & (_FEW_RESULTS | _CERTAIN_RESULTS)):
        return False
    if rest == ["class"] and present.dtype.is_numeric() and n_values > tuning.FEW_VALUES:
        return False
    if _RESULTS.issuperset(rest):
        return True
    is_numbered = len(rest) == 2 and rest[1].isdigit() and rest[0] in _FEW_RESULTS
    is_named = is_numbered or (_RESULTS | _FEW_RESULTS).issuperset(rest)
    if n_values <= tuning.FEW_VALUES and is_named:
        return True
    is_certain = _CERTAIN_RESULTS.intersection((rest[0], rest[-1]))
    return n_values == 2 and bool(is_certain or (_FEW_RESULTS | _ALSO_BINARY).issuperset(rest))


def is_named_code(name: str) -> bool:
    """Whether the name of a column of numbers is that of a code for a place or a kind."""
    last = next(iter(words_of(name)[-1:]), "")
    return last in _CODES or (len(last) > 5 and last.endswith("type")) or has_code_word(name)


def has_code_word(name: str) -> bool:
    """Whether a name has a word such as ZIP, phone or code, also in the plural."""
    return any({w, w[:-1]} & _CODES_ANYWHERE or _JOINED_CODE.fullmatch(w) for w in words_of(name))


def is_named_identifier(name: str) -> bool:
    """Whether a name is that of an ID, also as one word: customer_id, PassengerId, userid."""
    words = words_of(name)
    joined = ["".join(words[-2:])] if words[-1:] in (["no"], ["nr"]) else []
    is_joined = any(map(_JOINED_ID.fullmatch, [*words, *joined]))
    return is_joined or bool(_ID_WORDS.intersection(words[-1:]))


def is_named_number(name: str) -> bool:
    """Whether a name is that of an ID or of the number of a row; "yes_no" is an answer."""
    words = words_of(name)
    if not words or {"yes", "no"} <= {*words}:
        return False
    is_first = words[0] in ("id", "pk", "unnamed") or (words[0] == "column" and len(words) == 2)
    return is_first or words[-1] in _ID_WORDS | _NUMBERING


def ends_with_id(name: str) -> bool:
    """Whether the last word of a name ends with "id", such as "unitid", but not "paid"."""
    last = next(iter(words_of(name)[-1:]), "")
    return len(last) > 4 and last.endswith("id") and last not in _NO_ID


def is_named_year(name: str) -> bool:
    return bool(_ALSO_YEAR.intersection(words_of(name)))


def _are_between(numbers: pl.Series, low: float, high: float) -> bool:
    return len(numbers) > 0 and bool(numbers.is_between(low, high).all())


def _are_digits_of_dates(numbers: pl.Series) -> bool:
    """Whether whole numbers are dates such as 20150331 or months such as 201503."""
    if len(numbers) < tuning.FEWEST_DATES:
        return False
    days = pl.Series([1.0]) if not _are_between(numbers, 19000101, 21001231) else numbers % 100
    months = numbers if len(days) == 1 else (numbers / 100).floor()
    if not _are_between(months, 190001, 210012):
        return False
    return _are_between(months % 100, 1, 12) and _are_between(days, 1, 31)
