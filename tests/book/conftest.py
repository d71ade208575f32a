"""A browser, pages that may not leave this machine, and the built book."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
INSIDE = ("file:", "data:", "blob:", "about:", "http://127.0.0.1")


def _lacking(message: str) -> None:
    """Skip on a reader's machine; fail where REQUIRE_BROWSER=1 says the tool must be there."""
    if os.environ.get("REQUIRE_BROWSER") == "1":
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium or Chrome."""
    names = ("chromium", "google-chrome", "chrome", "chromium-browser")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        _lacking("Chromium or Chrome is not installed; browser tests need one.")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _lacking("playwright is not installed, so Chromium or Chrome cannot be driven.")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=ARGS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def book() -> Path:
    """The built book's folder."""
    folder = next(
        (p for p in (ROOT / "book/_build/html", ROOT / "_build/html") if p.is_dir()), None
    )
    if folder is None:
        _lacking("The book is not built; run make html.")
    assert folder is not None
    return folder


@pytest.fixture
def page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Make pages; at the end no page may have asked outside or thrown.

    A page's ``outside`` and ``errors`` lists are on the page object. A test that expects one
    empties the list.
    """
    contexts = []
    pages = []

    def make(width: int = 1280, height: int = 900, color_scheme: str = "light", **more: Any) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=color_scheme, **more
        )
        contexts.append(context)
        made = context.new_page()
        made.outside = []
        made.errors = []

        def gate(route: Any) -> None:
            if route.request.url.startswith(INSIDE):
                route.continue_()
            else:
                made.outside.append(route.request.url)
                route.abort()

        context.route("**/*", gate)
        made.on("pageerror", lambda error: made.errors.append(str(error)))
        pages.append(made)
        return made

    yield make
    outside = [url for made in pages for url in made.outside]
    errors = [error for made in pages for error in made.errors]
    for context in contexts:
        context.close()
    assert outside == [], f"pages asked outside this machine: {outside}"
    assert errors == [], f"pages threw: {errors}"
