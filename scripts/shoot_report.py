"""Photograph report pages in headless Chromium: light, dark and on a phone, the first look or the whole page.

    python scripts/shoot_report.py page.html other.html --to shots
    python scripts/shoot_report.py page.html --view phone --whole --to shots

Writes one PNG per page and view, `page.light.png`, of 256 colours so that it is small, and prints how many pixels high
the labels of the graph are. Needs playwright, Pillow and a Chromium of the system.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu"]
VIEWS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"},
    "wide": {"viewport": {"width": 2200, "height": 1200}, "color_scheme": "light"},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "color_scheme": "light",
        "is_mobile": True,
        "has_touch": True,
        "device_scale_factor": 2,
    },
}
LABEL = """() => {
  const g = document.querySelector("#nodes text");
  return g ? parseFloat(getComputedStyle(g).fontSize) * g.getScreenCTM().a : null;
}"""


def main() -> None:
    """Photograph every page in every view asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--view", action="append", choices=sorted(VIEWS), help="repeatable; all if not given")
    parser.add_argument("--whole", action="store_true", help="the whole page instead of the first look")
    parser.add_argument("--at", metavar="SELECTOR", help="only this element")
    parser.add_argument("--click", metavar="SELECTOR", action="append", default=[], help="press these first")
    parser.add_argument("--to", type=Path, default=Path(), metavar="FOLDER")
    given = parser.parse_args()
    given.to.mkdir(parents=True, exist_ok=True)
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        for path in given.pages:
            for view in given.view or VIEWS:
                page = browser.new_page(**VIEWS[view])
                page.goto(path.resolve().as_uri())
                for selector in given.click:
                    page.locator(selector).first.click()
                if given.click:
                    page.mouse.move(0, 0)
                target = given.to / f"{path.stem}.{view}.png"
                if given.at is not None:
                    page.locator(given.at).first.screenshot(path=target)
                else:
                    page.screenshot(path=target, full_page=given.whole)
                Image.open(target).convert("RGB").quantize(256).save(target, optimize=True)
                label = page.evaluate(LABEL)
                print(f"{target}: labels of {label:.1f} px" if label is not None else target)
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
