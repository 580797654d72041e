"""Makes customers.csv: made-up customers of four kinds, with what real files have."""

from pathlib import Path

import numpy as np
import polars as pl

KINDS = {  # share, then mean and spread: age, visits a year, basket, share bought online
    "family": (0.35, (38, 5), (40, 8), (85, 15), (0.25, 0.10)),
    "student": (0.25, (23, 2), (22, 6), (18, 5), (0.75, 0.12)),
    "retired": (0.25, (68, 5), (55, 10), (32, 8), (0.05, 0.04)),
    "wholesale": (0.15, (45, 8), (12, 3), (420, 90), (0.50, 0.20)),
}
PAYMENT = {"family": "card", "student": "phone", "retired": "cash", "wholesale": "invoice"}


def make_customers(n_rows: int = 400) -> pl.DataFrame:
    """A table of customers; the kind they were drawn from is not in it."""
    rng = np.random.default_rng(0)
    names = list(KINDS)
    kind = rng.choice(len(names), n_rows, p=[share for share, *_ in KINDS.values()])
    means = np.array([[pair[0] for pair in rest] for _, *rest in KINDS.values()])[kind]
    spreads = np.array([[pair[1] for pair in rest] for _, *rest in KINDS.values()])[kind]
    drawn = rng.normal(means, spreads)
    payment = [
        PAYMENT[names[k]] if rng.random() < 0.85 else str(rng.choice(list(PAYMENT.values())))
        for k in kind
    ]
    age = [None if rng.random() < 0.02 else int(value) for value in drawn[:, 0].clip(18, 90)]
    return pl.DataFrame(
        {
            "customer_id": np.arange(10_001, 10_001 + n_rows),
            "age": age,
            "visits": drawn[:, 1].clip(1).astype(int),
            "basket_eur": drawn[:, 2].clip(2).round(2),
            "online_share": drawn[:, 3].clip(0, 1).round(2),
            "payment": payment,
        }
    )


if __name__ == "__main__":
    make_customers().write_csv(Path(__file__).with_name("customers.csv"))
