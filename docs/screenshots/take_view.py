"""Screenshots of the case explorer, on a run that is made for them: `python docs/screenshots/take_view.py`.

The cases are drawn and the candidates simulated: the pictures show the pages, not a result.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
TESTS = FOLDER.parents[1] / "tests"
SHOTS = {  # name: address, width, height, scheme
    "view-pattern-1440-light": ("pattern=pair&modality=Histopathology&severity=L2", 1440, 900, "light"),
    "view-question-1440-light": (
        "pattern=pair&page=question&case=case-001&question=mcq&type=gaussian_blur",
        1440,
        1500,
        "light",
    ),
    "view-map-1440-dark": ("page=map", 1440, 620, "dark"),
    "view-questions-390-light": ("sort=hardest", 390, 844, "light"),
}


def take(run: Path, out: Path) -> None:
    """All pictures of a run."""
    from view_browser import at, chromium, open_page, serving_view

    with chromium() as browser:
        for name, (address, width, height, scheme) in SHOTS.items():
            with serving_view(run) as link:
                page, _ = open_page(browser, link, width, color_scheme=scheme)
                page.set_viewport_size({"width": width, "height": height})
                at(page, address)
                page.wait_for_load_state("networkidle")
                for image in page.locator(".frame img, .thumb img").all():
                    image.evaluate("image => image.decode().catch(() => {})")
                page.screenshot(path=out / f"{name}.png")
                page.context.close()


if __name__ == "__main__":
    sys.path[:0] = [str(TESTS), str(TESTS / "view")]
    from explored_run import write_explored_run

    with tempfile.TemporaryDirectory() as folder:
        take(write_explored_run(Path(folder)), FOLDER)
