"""The built book as a reader meets it: opened from ``file://``, with the network off."""

import functools
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = "01_raw_dot_product.html"
FIGURES = ("at-three-vectors", "at-token-order")
WEIGHT_LIMIT = 200_000
WAITING: set[str] = set()  # scripts of figures whose chapter is not in the book yet

# Faults of the theme's own template, by axe's rule. Our content is checked by all other rules.
THEME_FAULTS = {
    "label-content-name-mismatch": "the theme's search and colour-mode buttons",
    "region": "the theme puts its skip link and search dialog outside all landmarks",
}


class Parsed(HTMLParser):
    """Ids, links, images, scripts and styles of one page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.headings, self.files, self.images = set(), [], [], [], []
        self.in_article = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        self.ids |= {a[key] for key in ("id", "name") if a.get(key) and tag != "meta"}
        if tag == "a" and a.get("href"):
            self.links.append(a["href"])
        self.in_article = self.in_article or tag == "article"
        if tag == "h1" and self.in_article:  # the theme has another, shown in print alone
            self.headings.append(a)
        if tag == "img":
            self.images.append(a)
        if tag == "script" and a.get("src"):
            self.files.append(a["src"])
        if tag == "link" and "stylesheet" in (a.get("rel") or "") and a.get("href"):
            self.files.append(a["href"])


@functools.cache
def parsed(path):
    return Parsed(path.read_text(encoding="utf-8"))


def pages(book):
    found = sorted((book / "book").glob("*.html"))
    assert found, "the book has no pages"
    return found


def visit(page, path, **options):
    """Open a page; note each file that it asks for and does not get."""
    made = page(**options)
    made.missing = []
    made.on("requestfailed", lambda request: made.missing.append(request.url))
    made.on(
        "response",
        lambda r: made.missing.append(f"{r.status} {r.url}") if r.status >= 400 else None,
    )
    made.goto(path.as_uri(), wait_until="load")
    return made


def settle(made):
    """Wait until the mathematics is set and the figures have started."""
    made.evaluate("() => window.MathJax?.startup?.promise")
    made.wait_for_function(
        "() => [...document.querySelectorAll('.at-fig[config]')].every(f => f.dataset.ready)"
    )


# --- what the files say, without a browser ----------------------


def test_each_page_has_one_main_heading(book):
    for path in pages(book):
        assert len(parsed(path).headings) == 1, path.name


def test_each_image_says_what_it_shows(book):
    for path in pages(book):
        for image in parsed(path).images:
            alt = image.get("alt") or ""
            decorative = image.get("aria-hidden") == "true" or image.get("role") == "presentation"
            assert decorative or (alt.strip() and "_images/" not in alt), (path.name, image)


def test_each_link_within_the_book_leads_somewhere(book):
    broken = []
    for path in pages(book):
        for link in parsed(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                broken.append(f"{path.name}: no file {link}")
            elif parts.fragment and target.suffix == ".html":
                key = unquote(parts.fragment)
                figure_state = "=" in key or "?" in key
                if not figure_state and key not in parsed(target).ids:
                    broken.append(f"{path.name}: no place {link}")
    assert broken == []


def test_the_root_page_leads_to_the_introduction(book):
    text = (book / "index.html").read_text(encoding="utf-8")
    target = re.search(r"url=([^\"'>]+)", text)
    assert target and (book / target[1].strip()).resolve() == (book / "book/intro.html").resolve()


def test_the_lecture_map_names_every_concept(book):
    tomllib = pytest.importorskip("tomllib")
    text = (ROOT / "book/lecture_map.toml").read_text(encoding="utf-8")
    shown = (book / "book/lecture_map.html").read_text(encoding="utf-8")
    for concept in tomllib.loads(text)["concept"]:
        assert f">{concept['id']}<" in shown, concept["id"]


# --- in the browser ---------------------------------------------


def test_no_page_asks_for_anything_outside_or_missing(page, book):
    for path in [book / "index.html", *pages(book)]:
        made = visit(page, path)
        made.wait_for_timeout(500)  # what is asked for late; a redirect never goes idle
        assert made.missing == [], path.name
        assert made.outside == [] and made.errors == [], path.name
        made.context.close()


def test_each_page_loads_the_styles_and_the_scripts_of_its_figures_alone(page, book):
    figures = ROOT / "lessons_pkg/figures"
    ours = [*figures.glob("js/*.js"), *figures.glob("css/*.css"), *ROOT.glob("book/_static/*.css")]
    size = {path.name: path.stat().st_size for path in ours}
    used = set()
    for path in pages(book):
        made = visit(page, path)
        settle(made)
        found = made.evaluate(
            """() => ({
              urls: [...document.querySelectorAll('script[src], link[rel=stylesheet]')]
                .map((e) => e.src || e.href),
              tags: [...document.querySelectorAll('article [config]')].map((e) => e.localName),
            })"""
        )
        loaded = {Path(urlsplit(url).path).name for url in found["urls"]} & set(size)
        own = {tag.removeprefix("at-").replace("-", "_") + ".js" for tag in found["tags"]}
        styles = {name for name in size if name.endswith(".css")}
        assert loaded == own | styles | {"base.js"}, path.name
        assert sum(size[name] for name in loaded) <= WEIGHT_LIMIT, path.name
        used |= own
        made.context.close()
    unused = {name for name in size if name.endswith(".js")} - used - {"base.js"}
    assert unused <= WAITING, unused


def test_mathematics_is_set_where_a_page_has_any(page, book):
    counted = 0
    for path in pages(book):
        if 'class="math' not in path.read_text(encoding="utf-8"):
            continue
        made = visit(page, path)
        settle(made)
        made.wait_for_selector("mjx-container", state="attached")
        expected = made.locator(".math").count()
        assert made.locator(".math mjx-container, .math > mjx-container").count() >= expected
        assert made.locator("mjx-merror, [data-mjx-error]").count() == 0, path.name
        counted += 1
        made.context.close()
    assert counted


def test_each_drawing_has_a_name(page, book):
    for path in pages(book):
        made = visit(page, path)
        settle(made)
        nameless = made.evaluate(
            """() => [...document.querySelectorAll(
                'article svg:not([aria-hidden=true]), article [role=img]')]
              .filter(s => !s.closest('[aria-hidden=true], mjx-container, button, a, summary'))
              .filter(s => !s.getAttribute('aria-label') && !s.getAttribute('aria-labelledby')
                && !s.getAttribute('alt') && !s.querySelector(':scope > title'))
              .map(s => s.outerHTML.slice(0, 120))"""
        )
        assert nameless == [], path.name
        made.context.close()


def test_no_page_is_wider_than_a_phone(page, book):
    for path in pages(book):
        made = visit(page, path, width=390, height=844)
        settle(made)
        wide = made.evaluate("() => document.documentElement.scrollWidth")
        assert wide <= 390, f"{path.name} is {wide} px wide"
        made.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_but_the_themes_own(page, book, scheme):
    axe_module = pytest.importorskip("axe_playwright_python.sync_playwright")
    rules = {name: {"enabled": False} for name in THEME_FAULTS}
    faults = []
    for path in pages(book):
        made = visit(page, path, color_scheme=scheme)
        settle(made)
        assert made.evaluate("() => document.documentElement.dataset.theme") == scheme
        result = axe_module.Axe().run(made, options={"rules": rules})
        faults += [
            f"{path.name}: {fault['id']}: {[node['target'] for node in fault['nodes']][:3]}"
            for fault in result.response["violations"]
        ]
        made.context.close()
    assert faults == []


@pytest.mark.parametrize("tag", FIGURES)
def test_a_figure_starts_and_answers_the_keyboard(page, book, tag):
    made = visit(page, book / "book" / CHAPTER)
    settle(made)
    assert made.evaluate("tag => Boolean(customElements.get(tag))", tag)
    figure = made.locator(tag).first
    assert figure.locator(".at-error").count() == 0
    numbers = f"() => JSON.stringify(document.querySelector('{tag}').computed())"
    before = made.evaluate(numbers)
    controls = figure.locator("button:not([disabled]), [tabindex='0'], input")
    changed = False
    for i in range(controls.count()):
        control = controls.nth(i)
        if not control.is_visible() or control.is_disabled():
            continue
        control.focus()
        for key in ("ArrowRight", "Enter"):
            made.keyboard.press(key)
            made.wait_for_timeout(60)
            changed = changed or made.evaluate(numbers) != before
        if changed:
            break
    assert changed, f"no control of {tag} changed a number from the keyboard"


def test_a_figure_without_javascript_shows_the_numbers_of_python(page, book):
    made = visit(page, book / "book" / CHAPTER, java_script_enabled=False)
    for tag in FIGURES:
        table = made.locator(f"{tag} table").first
        assert table.is_visible(), tag
        assert re.search(r"\d\.\d", table.inner_text()), tag
