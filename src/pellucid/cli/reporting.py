"""The report of a command: the model on what was clustered, told in the units of the table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pellucid.cli import CommandError, check_target
from pellucid.cli.fitting import Fitted
from pellucid.report import write_report
from pellucid.report.subject import MANY_VALUES, MOST_FITS
from pellucid.tradeoff import TradeOff


def check_page(path: Path, option: str) -> None:
    """Fail unless `path`, which `option` of the command line names, can be a page."""
    check_target(path, option)
    if path.suffix.lower() not in (".html", ".htm"):
        raise CommandError(
            f"{option}: {path} is not named as a page, but that is what is written",
            hint=f"name it {path.with_suffix('.html').name}",
        )


def write_fitted_report(path: Path, fitted: Fitted) -> None:
    """Write the report of a fitted model into a file."""
    prepared = fitted.prepared
    name = Path(prepared.source.name).name
    made = {"data": name, "rows": f"{len(prepared.rows):,}"}
    if prepared.is_scaled:
        made["columns"] = "given the same spread before clustering"
    write_report(
        path,
        fitted.explanation,
        prepared.table,
        fitted=fitted.model,
        title=name,
        reference=fitted.reference,
        trade_off=_trade_off(fitted),
        made=made,
    )


def _trade_off(fitted: Fitted) -> TradeOff | None:
    """Other trees of the same clusters, in the units of the table."""
    model, prepared = fitted.model, fitted.prepared
    n_values = prepared.Z.size * len(model.cluster_names_)
    if not hasattr(model, "path") or n_values > MANY_VALUES:
        return None
    path = model.path(prepared.Z, max_fits=MOST_FITS)
    if not prepared.is_scaled:
        return path
    return TradeOff(
        (replace(point, tree=prepared.restate(point.tree)[0]) for point in path),
        path.is_complete,
    )
