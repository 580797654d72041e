"""Types of the options that are strings, for type checkers.

``tests/utils/test_options.py`` compares them with the strings that are accepted.
"""

from __future__ import annotations

from typing import Literal

Objective = Literal["kmeans", "kmedians"]
Noise = Literal["group", "drop"]
Polish = bool | Literal["deep"]
Effort = Literal["fast", "balanced", "best"]
RegionShape = Literal["box", "nonparametric", "polyhedron", "ellipse"]
FloatType = Literal["float64", "float32"]
FrameKind = Literal["pandas", "polars", "dict"]
SQLDialect = Literal[
    "standard",
    "bigquery",
    "duckdb",
    "mssql",
    "mysql",
    "postgres",
    "snowflake",
    "spark",
    "sqlite",
]
