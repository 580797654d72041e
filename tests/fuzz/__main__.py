"""``python -m tests.fuzz``: random cases for some minutes, or one case by its number."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .campaign import Campaign, accumulate, table


def main() -> int:
    """Run; the exit code is 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seed", type=int, help="run this case only, and describe it")
    parser.add_argument("--counts", type=Path, help="JSON file to which the counts are added")
    options = parser.parse_args()
    if options.seed is not None:
        return _run_one(options.seed)
    campaign = Campaign(options.minutes, options.workers, options.first_seed)
    campaign.run()
    print(table(campaign.counts))
    if options.counts:
        total = accumulate(options.counts, campaign)
        print(f"\nin {options.counts}, all runs together:\n{table(total)}")
    return 1 if campaign.failures else 0


def _run_one(seed: int) -> int:
    from .running import draw_case, run_case

    case, _ = draw_case(seed)
    print(case.model, case.description, sep="\n")
    print(f"may be refused: {case.may_refuse}; must be: {case.must_refuse}")
    print(f"X = {case.X!r}\nweight = {case.weight!r}\ny = {case.y!r}")
    outcome = run_case(seed)
    print(f"{outcome.kind} after {outcome.n_fits} fits: {outcome.message}")
    return int(outcome.is_failure)


if __name__ == "__main__":
    sys.exit(main())
