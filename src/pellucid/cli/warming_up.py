"""``pellucid warm-up``: compile everything once."""

from __future__ import annotations

from pellucid import first_use
from pellucid.cli.output import show_measures
from pellucid.cli.progress import working


def warm_up() -> None:
    """Compile all loops and print where the machine code is stored."""
    with working("compiling"):
        done = first_use.warm_up()
    show_measures(
        [
            ("compiled loops", f"{done.n_compiled:,}"),
            ("seconds", f"{done.seconds:.0f}"),
            ("stored in", done.folder or "nothing is stored: no folder can be written"),
        ]
    )
