"""Where the tools of the report's tests are, and what to do where they are not."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

FRONTEND = Path(__file__).parents[2] / "frontend"
AXE = FRONTEND / "node_modules" / "axe-core" / "axe.min.js"


# Fills the form row by row and says which cluster the page finds.
ANSWERS = """rows => rows.map(row => {
  let last;
  for (const field of document.querySelectorAll('.fields .field')) {
    const input = field.querySelector('input, select');
    const value = row[field.querySelector('span').textContent];
    if (input.tagName === 'INPUT') input.value = value;
    else {
      const options = [...input.options].map(option => option.text);
      const at = options.indexOf(value);
      input.selectedIndex = at < 0 ? options.length - 1 : at;
    }
    last = input;
  }
  last.dispatchEvent(new Event('input'));
  const said = document.querySelector('.verdict-label');
  return said === null ? null : said.textContent.slice(' (label '.length, -1);
})"""

# Everything is opened first: what is folded away must be sound, too.
_FAULTS = """async contrast => {
  document.querySelectorAll('details').forEach(part => { part.open = true; });
  const options = { resultTypes: ['violations'], selectors: false };
  options.rules = { 'color-contrast': { enabled: contrast } };
  const { violations } = await axe.run(document, options);
  return violations
    .filter(fault => ['serious', 'critical'].includes(fault.impact))
    .map(fault => [fault.id, fault.nodes.slice(0, 3).map(node => node.html.slice(0, 200))]);
}"""


def serious_faults(page, *, contrast: bool = True) -> list:
    """What axe-core finds wrong with a page, of what keeps people from using it.

    Contrasts of colours take four fifths of its time; they can be left out where a page has the
    same colours as another one.
    """
    if not AXE.exists():
        leave_out(
            "axe-core is not there (npm ci in frontend): accessibility is not tested",
            needs_npm=True,
        )
    page.evaluate(AXE.read_text(encoding="utf-8"))
    return page.evaluate(_FAULTS, contrast)


def leave_out(reason: str, *, needs_npm: bool = False) -> None:
    """Skip, or fail where the tests in a browser are insisted on.

    What comes from npm is insisted on only where there is npm: a machine that tests need not be
    one that builds the page.
    """
    insists = os.environ.get("PELLUCID_BROWSER_TESTS") == "require"
    if insists and not (needs_npm and shutil.which("npm") is None):
        pytest.fail(reason)
    pytest.skip(reason)
