"""Methods and data sets of the ExShallow paper's tables."""

from __future__ import annotations

PUBLISHED = "exshallow_published.csv"
METHODS = ("exshallow", "exgreedy", "imm", "kmc")
"""Of table 2; table 3 has one more."""

PAPER_NAMES = [
    "Anuran",
    "Avila",
    "Beer",
    "BNG",
    "Cifar10",
    "Collins",
    "Covtype",
    "Digits",
    "Iris",
    "Letter",
    "Mice",
    "20Newsgroups",
    "Pendigits",
    "Poker",
    "Sensorless",
    "Vowel",
]
NAMES = {{"20Newsgroups": "newsgroups20"}.get(name, name.lower()): name for name in PAPER_NAMES}
"""The paper's name of each data set, by the name of its file."""
