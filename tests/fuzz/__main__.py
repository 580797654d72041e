"""``python -m tests.fuzz``: random cases for some minutes, or one case by its number."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .campaign import Campaign
from .counts import add_counts, read_counts, table, version, write_counts


def main() -> int:
    """Run; the exit code is 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--first-seed",
        type=int,
        help="number of the first case; default: the one after the last case in --counts, or 0",
    )
    parser.add_argument("--cases", type=int, help="end after so many cases")
    parser.add_argument("--seed", type=int, help="run this case only, and describe it")
    parser.add_argument("--only", help="kind of the cases: models, tables, or an estimator")
    parser.add_argument(
        "--counts",
        type=Path,
        help="JSON file to which the counts are added; those of another version are dropped",
    )
    parser.add_argument(
        "--merge", type=Path, nargs="+", help="only add the counts of these files to --counts"
    )
    options = parser.parse_args()
    if options.seed is not None:
        return _run_one(options.seed, options.only)
    if options.merge and not options.counts:
        parser.error("--merge needs --counts, the file for the sums")
    known = [] if options.counts is None else _current_counts(options.counts)
    if options.merge:
        total = add_counts([*known, *map(read_counts, options.merge)])
        write_counts(options.counts, total)
        print(table(total))
        return 0
    first = options.first_seed
    if first is None:
        first = max((run["next_seed"] for d in known for run in d["runs"]), default=0)

    def save(campaign: Campaign) -> None:
        if options.counts:
            write_counts(options.counts, add_counts([*known, campaign.document()]))

    campaign = Campaign(
        *(options.minutes, options.processes, first, options.cases),
        **{"show": _show, "save": save, "only": options.only},
    )
    save(campaign)  # an error, such as seeds that are counted twice, comes before the run
    campaign.run()
    print(table(campaign.document()))
    if known:
        print(f"\nin {options.counts}, all runs together:\n{table(read_counts(options.counts))}")
    return 1 if campaign.failures else 0


def _current_counts(path: Path) -> list[dict]:
    """The counts of a file, if they are of this version of what they are about."""
    if not path.exists():
        return []
    document, now = read_counts(path), version()
    kinds = ["engine"] + ["tables"] * ("explain" in document["estimators"])
    if all(document.get(kind) == now[kind] for kind in kinds):
        return [document]
    print(f"{path} has the counts of another version of the package, which are dropped")
    return []


def _show(line: str) -> None:
    print(line, flush=True)


def _run_one(seed: int, only: str | None) -> int:
    from .running import draw_case, is_table, run_case_of

    if is_table(seed, only):
        from .table_cases import draw_table_case_of

        table_case = draw_table_case_of(seed)
        print(table_case.description, table_case.table, sep="\n")
    else:
        case, _ = draw_case(seed)
        print(case.model, case.description, sep="\n")
        print(f"may be refused: {case.may_refuse}; must be: {case.must_refuse}")
        print(f"X = {case.X!r}\nweight = {case.weight!r}\ny = {case.y!r}")
    outcome = run_case_of(seed, only)
    print(f"{outcome.kind} after {outcome.n_fits} fits: {outcome.message}")
    return int(outcome.is_failure)


if __name__ == "__main__":
    sys.exit(main())
