"""The picture that the README opens with: ``python docs/examples/picture_of_report.py``.

Needs Chromium, Playwright and Pillow.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
PICTURE = HERE.parent / "images" / "report.png"


def main() -> None:
    """Write the report of the customers, and take a picture of its top and its tree."""
    with tempfile.TemporaryDirectory() as folder:
        report, raw = Path(folder, "report.html"), Path(folder, "raw.png")
        command = ["explain", HERE / "customers.csv", "--report", report]
        command += ["--rows", "customers", "--title", "Customers of a shop", "--quiet"]
        start = "from pellucid.cli.app import main; main()"
        subprocess.run(
            [sys.executable, "-c", start, *command], check=True, stdout=subprocess.DEVNULL
        )
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": 1000, "height": 1900})
            page.goto(f"file://{report}")
            page.evaluate(
                "for (const part of document.querySelectorAll('nav, .slider, #tree .toolbar, "
                "#tree .note, #tree .detail')) part.style.display = 'none'"
            )
            box = page.locator(".tree").bounding_box()
            height = box["y"] + box["height"] + 20
            page.screenshot(path=raw, clip={"x": 0, "y": 0, "width": 1000, "height": height})
            browser.close()
        # Few colours take few bytes.
        Image.open(raw).convert("RGB").quantize(256).save(PICTURE, optimize=True)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
