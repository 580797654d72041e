"""The process from which Spark forks its Python workers, with what they use loaded before.

Each worker would otherwise import Numba and this package and load the machine code for itself, and
its garbage collector, which runs after every task, would look at all of that each time.
"""

from __future__ import annotations

import gc

import numpy as np


def main() -> None:
    """Load what workers use, and start them on demand."""
    import pandas  # noqa: F401
    import pyarrow  # noqa: F401
    from pyspark.daemon import manager

    import pellucid.scale.spark

    rows = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 6.0]])
    pellucid.ExKMC(reference=rows[::2], n_jobs=1).fit(pellucid.scan(lambda: iter([rows])))
    gc.freeze()
    manager()


if __name__ == "__main__":
    main()
