"""Generated tables with a known number of groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

FAMILIES = ("blobs", "skewed", "categories", "noise", "mixed")
NUMBERS = range(2, 9)

SEPARATION = (4.5, 7.0)
"""Distance of the closest two group means, in standard deviations of a group."""


@dataclass(frozen=True)
class GeneratedTable:
    """A family of tables, the number of groups, and a random seed.

    Groups are normally distributed around their means, in 2 to 6 columns. In "skewed" and "mixed",
    the columns are exponentials of such numbers. "categories" and "mixed" have one or two columns
    of categories, of which a group has its own one in 85% of the rows and a random one otherwise.
    "noise" and "mixed" have one to three columns that say nothing about the groups.
    """

    family: str
    n_groups: int
    seed: int

    @property
    def name(self) -> str:
        """Name of the table."""
        return f"{self.family} {self.n_groups} ({self.seed})"

    def make(self) -> tuple[pl.DataFrame, np.ndarray]:
        """The table and the group of each row."""
        k = self.n_groups
        rng = np.random.default_rng([k, self.seed, sum(map(ord, self.family))])
        n_rows = int(rng.integers(40, 160)) * k + 60
        n_columns = int(rng.integers(max(2, int(np.log2(k)) + 1), 7))
        separation = rng.uniform(*SEPARATION)
        means = _means(rng, k, n_columns) * separation
        share = np.maximum(rng.dirichlet(np.full(k, 6.0)), 0.5 / k)
        group = rng.choice(k, n_rows, p=share / share.sum())
        X = means[group] + rng.normal(size=(n_rows, n_columns))
        if self.family in ("skewed", "mixed"):
            X = np.exp(X / X.std(axis=0) * 0.9) * 10 ** rng.uniform(0, 4, n_columns)
        else:
            X = X - X.min(axis=0) + rng.uniform(0, 20, n_columns)
            X *= 10 ** rng.uniform(-1, 3, n_columns)
        columns: dict[str, list] = {f"m{j}": X[:, j].round(4).tolist() for j in range(n_columns)}
        if self.family in ("categories", "mixed"):
            for j in range(int(rng.integers(1, 3))):
                n_values = int(rng.integers(2, 5))
                own = rng.integers(0, n_values, k)[group]
                value = np.where(rng.random(n_rows) < 0.85, own, rng.integers(0, n_values, n_rows))
                columns[f"c{j}"] = [f"value {'abcd'[v]}" for v in value]
        if self.family in ("noise", "mixed"):
            for j in range(int(rng.integers(1, 4))):
                draw = rng.normal(size=n_rows) if j % 2 == 0 else rng.uniform(0, 100, n_rows)
                columns[f"noise{j}"] = draw.round(3).tolist()
        return pl.DataFrame(columns), group


def _means(rng: np.random.Generator, k: int, n_columns: int) -> np.ndarray:
    """Random means, the closest two of which have distance 1."""
    found = []
    for _ in range(200):
        means = rng.uniform(-1, 1, (k, n_columns))
        apart = np.sqrt(((means[:, None] - means[None]) ** 2).sum(axis=-1))
        closest = apart[np.triu_indices(k, 1)].min()
        found.append((closest, means / closest))
        if closest > 0.35 * np.sqrt(n_columns):
            break
    return max(found, key=lambda pair: pair[0])[1]


def generated_tables(n_seeds: int = 1) -> list[GeneratedTable]:
    """Tables of every family and number of groups."""
    return [GeneratedTable(f, k, s) for s in range(n_seeds) for f in FAMILIES for k in NUMBERS]
