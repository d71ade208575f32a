"""The words of the lessons: the glossary, and the headings that the lecture map shows."""

import json
import re
import tomllib
from pathlib import Path

import pytest

BOOK = Path(__file__).resolve().parents[2] / "book"
GLOSSARY = (BOOK / "glossary.md").read_text(encoding="utf-8")
ENTRIES = dict(re.findall(r"^(\w[^\n]*)\n  (.+)$", GLOSSARY, flags=re.MULTILINE))
LINK = re.compile(r"\[([^]]+)\]\(([^)#]+)#([^)]+)\)")


def slug(title):
    return re.sub(r"[^\w\- ]", "", re.sub(r"[*`$]", "", title).strip().lower()).replace(" ", "-")


def sections(name):
    """Map the anchor of each section of a notebook to its title and all that stands in it."""
    cells = json.loads((BOOK / name).read_text(encoding="utf-8"))["cells"]
    text = "\n".join(
        "".join(cell["source"])
        if cell["cell_type"] == "markdown"
        else re.sub("(?m)^", "    ", "".join(cell["source"]) + json.dumps(cell["outputs"]))
        for cell in cells
    )
    parts = re.split(r"(?m)^#+ +(.+)$", text)
    return {
        slug(title): (title, body) for title, body in zip(parts[1::2], parts[2::2], strict=True)
    }


PROLOGUE = "00_before_attention.ipynb"
SECTIONS = {path.name: sections(path.name) for path in sorted(BOOK.glob("*.ipynb"))}

# How a section writes a word where it does not write it as the glossary does.
WRITTEN = {
    "d_v": "d_v",
    "W_K": "w_k",
    "hard look-up": "hard one",
    "d_model": "d_{\\text{model}}",
    "gated network": "gated",
    "exploding gradient": "explodes",
    "recurrence": "recurrent",
    "vanishing gradient": "vanishes",
}


def test_the_glossary_is_in_alphabetical_order():
    assert list(ENTRIES) == sorted(ENTRIES, key=lambda word: word.lower().replace("_", " "))
    assert GLOSSARY.count("\n  ") == len(ENTRIES) > 40


@pytest.mark.parametrize("word", ENTRIES)
def test_an_entry_is_one_sentence(word):
    sentence = LINK.sub("", ENTRIES[word]).strip()
    assert re.fullmatch(r"[A-Z][^.]*\.", sentence), sentence


@pytest.mark.parametrize("word", [word for word, text in ENTRIES.items() if LINK.search(text)])
def test_the_section_that_an_entry_names_uses_the_word(word):
    ((_, page, anchor),) = LINK.findall(ENTRIES[word])
    title, body = SECTIONS[page][anchor]
    stem = WRITTEN.get(word, word).lower()
    text = f"{title}\n{body}".lower().replace("*", "")
    assert re.search(rf"(?<![a-z]){re.escape(stem)}", text), (word, title)


def test_each_of_the_twelve_words_to_keep_has_an_entry():
    _, page = SECTIONS[PROLOGUE]["one-page"]
    kept = re.search(r"\*\*Twelve words to keep:\*\* ([^.]+)\.", page)[1]
    words = re.split(r"[,;] ", kept)
    assert len(words) == 12
    assert set(words) <= set(ENTRIES)


def test_each_section_of_the_lecture_map_is_one_of_its_page():
    text = (BOOK / "lecture_map.toml").read_text(encoding="utf-8")
    for concept in tomllib.loads(text)["concept"]:
        titles = sections(f"{concept['page']}.ipynb")
        assert set(concept["sections"]) <= set(titles), concept["id"]


@pytest.mark.browser  # needs the built book, not a browser
def test_the_lecture_map_shows_the_headings_of_the_prologue_as_they_are_written(book):
    shown = (book / "book/lecture_map.html").read_text(encoding="utf-8")
    text = (BOOK / "lecture_map.toml").read_text(encoding="utf-8")
    for concept in tomllib.loads(text)["concept"]:
        for anchor in concept["sections"]:
            title = sections(f"{concept['page']}.ipynb")[anchor][0]
            written = re.sub(r"\*([^*]+)\*", r"<em>\1</em>", title)
            assert f'{concept["page"]}.html#{anchor}">{written}</a>' in shown, anchor
