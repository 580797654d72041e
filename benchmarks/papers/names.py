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
_FILES = {
    "20Newsgroups": "newsgroups20",
    "Mice": "mice_protein_552",
    "Cifar10": "cifar10_jpeg",
}
ABSENT = ("Beer", "BNG", "Collins", "Poker", "Sensorless")
"""OpenML and UCI sets that no package carries."""

NAMES = {_FILES.get(name, name.lower()): name for name in PAPER_NAMES}
"""The paper's name of each data set, by the name of its file."""
