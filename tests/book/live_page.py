"""What the browser tests of all live figures share: a page that loads them, and looking at it."""

from pathlib import Path
from typing import Any

import torch

from lessons_pkg.figures.live import STYLES, LiveFigure

FIGURES = Path(__file__).resolve().parents[2] / "lessons_pkg" / "figures"


def write(folder: Path, body: str, head: str = "") -> str:
    """Write a page and give its address."""
    path = folder / "page.html"
    path.write_text(
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Harness</title>"
        "<meta name='viewport' content='width=device-width'>"
        f"<style>body{{background:var(--at-bg);margin:16px}}</style>{head}</head>"
        f"<body><main>{body}</main></body></html>",
        encoding="utf-8",
    )
    return path.as_uri()


def harness(folder: Path, *figures: LiveFigure) -> str:
    """Write a page that loads style and scripts the way the book does."""
    styles = (FIGURES / "css" / name for name in STYLES)
    head = "".join(f"<link rel='stylesheet' href='{path.as_uri()}'>" for path in styles)
    head += f"<script defer src='{(FIGURES / 'js' / 'base.js').as_uri()}'></script>"
    return write(folder, "".join(figure.html() for figure in figures), head)


def settle(page: Any) -> None:
    """Wait until a change of the state is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))")


def computed(page: Any, tag: str) -> Any:
    """Give the figure's present numbers at full precision."""
    settle(page)
    return page.evaluate(f"() => document.querySelector('{tag}').computed()")


def near(got: Any, expected: Any) -> None:
    """Require that the browser's numbers are torch's, to six digits."""
    want = torch.as_tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(torch.tensor(got, dtype=torch.float64), want, atol=1e-12, rtol=1e-6)


def spilled(page: Any, tag: str) -> list[str]:
    """Texts in the figure that are wider than their box; empty where all is well."""
    return page.evaluate(
        f"[...document.querySelectorAll('{tag} :is(th, td, p, output, button, label)')]"
        ".filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 1)"
        ".map((e) => e.textContent)"
    )


def faults_of_axe(page: Any) -> list[tuple[str, str]]:
    """What axe finds in the page's main part; empty where all is well."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, context="main").response["violations"]
    return [(f["id"], f["nodes"][0]["html"]) for f in found]
