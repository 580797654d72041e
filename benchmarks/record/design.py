"""Which combinations of options are fitted: a sample in which every pair of options occurs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

_N_CANDIDATES = 30


class Design:
    """Combinations of options in which all pairs occur about equally often.

    Parameters
    ----------
    is_valid : callable
        Whether a combination, a dict of names to options, can be fitted.
    """

    def __init__(self, is_valid: Callable[[dict], bool] = lambda combination: True) -> None:
        self._is_valid = is_valid
        self.n_seen: Counter = Counter()

    def draw(self, subject: str, factors: Mapping[str, Sequence], n_least: int) -> Iterator[dict]:
        """Combinations for one subject, until each option has occurred with it.

        Parameters
        ----------
        subject : str
            What the combinations are for. It also seeds the draws, so the combinations depend
            only on it and on the subjects before it.
        factors : mapping of str to sequence
            Options by the name of the factor.
        n_least : int
            How many combinations to draw at least.
        """
        rng = random.Random(subject)
        missing = {(name, option) for name, options in factors.items() for option in options}
        chosen: list[dict] = []
        n_most = n_least + 2 * max(map(len, factors.values()))
        while (missing or len(chosen) < n_least) and len(chosen) < n_most:
            candidates = [c for c in self._candidates(rng, factors, missing) if c not in chosen]
            if not candidates:
                continue
            best = max(
                candidates, key=lambda c: (len(missing.intersection(c.items())), self._rarity(c))
            )
            chosen.append(best)
            missing.difference_update(best.items())
            self.n_seen.update(pairs(best))
            yield best

    def _candidates(self, rng: random.Random, factors: Mapping, missing: set) -> Iterator[dict]:
        """Valid combinations at random; every other one prefers options that are missing."""
        found = 0
        while found < _N_CANDIDATES:
            combination = {}
            for name, options in factors.items():
                rare = [option for option in options if (name, option) in missing]
                among = rare if rare and found % 2 == 0 else options
                # Only `random()` gives the same numbers in all versions of Python.
                combination[name] = among[int(rng.random() * len(among))]
            if self._is_valid(combination):
                yield combination
            found += 1

    def _rarity(self, combination: dict) -> float:
        total = 0.0
        for pair in pairs(combination):  # `sum` rounds in another way since Python 3.12
            total += 1 / (1 + self.n_seen[pair])
        return total


def pairs(combination: Mapping) -> list[tuple]:
    """All pairs of options in a combination, each option with the name of its factor."""
    return list(combinations(combination.items(), 2))
