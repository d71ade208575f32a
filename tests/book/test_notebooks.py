"""The notebooks as files: what a reader would stumble over, and what nbval does not see."""

import copy
import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
from prose_numbers import decimals, markdown_of, unproved

BOOK = Path(__file__).resolve().parents[2] / "book"
PATHS = sorted(BOOK.glob("*.ipynb"))
NOTEBOOKS = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in PATHS}
PAGES = sorted(BOOK.glob("*.md"))


def source(cell):
    return "".join(cell["source"])


def code_cells(notebook):
    cells = [(i, c) for i, c in enumerate(notebook["cells"]) if c["cell_type"] == "code"]
    return [(i, cell) for i, cell in cells if source(cell).strip()]


def tags(cell):
    return set(cell["metadata"].get("tags", []))


def shown(output):
    """Give what an output shows as text; pictures are bytes, not text."""
    parts = ["".join(output.get("text", ""))]
    for kind, value in output.get("data", {}).items():
        if not kind.startswith("image/") or kind == "image/svg+xml":
            parts.append(value if isinstance(value, str) else _join(value))
    return "\n".join(parts)


def _join(value):
    return "".join(value) if isinstance(value, list) else json.dumps(value)


# --- the rules: each takes a notebook and lists its problems --------------------------------------


def kernel_problems(notebook, name=""):
    kernel = notebook["metadata"].get("kernelspec", {}).get("name")
    return [] if kernel == "python3" else [f"the kernel is {kernel!r}, not 'python3'"]


def count_problems(notebook, name=""):
    """nbval passes over a cell without a count; so each must have run, in order."""
    counts = [cell["execution_count"] for _, cell in code_cells(notebook)]
    expected = list(range(1, len(counts) + 1))
    return [] if counts == expected else [f"execution counts are {counts}"]


def error_problems(notebook, name=""):
    return [
        f"cell {i} stores an error: {output.get('ename')}"
        for i, cell in code_cells(notebook)
        for output in cell["outputs"]
        if output["output_type"] == "error" and "raises-exception" not in tags(cell)
    ]


def uncompared_problems(notebook, name=""):
    cells = code_cells(notebook)
    loose = [(i, c) for i, c in cells if tags(c) & {"nbval-ignore-output", "nbval-skip"}]
    problems = [
        f"cell {i} is not compared and is no widget, timing or image"
        for i, cell in loose
        if not tags(cell) & {"widget", "timing", "image"}
    ]
    if 3 * len(loose) > len(cells):
        problems.append(f"{len(loose)} of {len(cells)} cells are not compared")
    return problems


FORBIDDEN = {
    "a class": r"^\s*class\s+\w",
    "a shell or magic command": r"^\s*[!%]",
    "an installation": r"\bpip\w*\s+install\b",
    "sys.path": r"\bsys\.path\b",
    "a download": r"\b(?:requests|urllib|wget|curl|load_dataset|urlretrieve|hf_hub_download)\b",
}


def code_problems(notebook, name=""):
    return [
        f"cell {i} holds {what}"
        for i, cell in code_cells(notebook)
        for what, pattern in FORBIDDEN.items()
        if re.search(pattern, source(cell), flags=re.MULTILINE)
    ]


def length_problems(notebook, name=""):
    problems = []
    for i, cell in code_cells(notebook):
        lines = len(source(cell).strip().splitlines())
        limit = 30 if "hide-cell" in tags(cell) else 15
        if lines > limit:
            problems.append(f"cell {i} has {lines} lines, more than {limit}")
    return problems


DIRECTIVE = re.compile(r"^\s*:{3,}|^\s*[`~]{3,}\{|\{[a-z][a-z:]*\}`", flags=re.MULTILINE)


def directive_problems(notebook, name=""):
    """JupyterLab shows directives and roles raw."""
    return [
        f"cell {i} holds a directive or role: {match[0].strip()}"
        for i, cell in enumerate(notebook["cells"])
        if cell["cell_type"] == "markdown" and (match := DIRECTIVE.search(source(cell)))
    ]


PRIVATE = {
    "a script": r"<script\b",
    "a memory address": r"\b0x[0-9a-fA-F]{6,}\b",
    "a path of one machine": (
        r"(?<![\w.<])/(?:home|root|tmp|usr|opt|Users|work|var|mnt)/\w|\b[A-Z]:\\"
    ),
}


def output_problems(notebook, name=""):
    return [
        f"cell {i} stores {what}"
        for i, cell in code_cells(notebook)
        for output in cell["outputs"]
        for what, pattern in PRIVATE.items()
        if re.search(pattern, shown(output))
    ]


def alt_problems(notebook, name=""):
    """Each image says in words what it shows."""
    problems = []
    for i, cell in enumerate(notebook["cells"]):
        texts = [source(cell)] if cell["cell_type"] == "markdown" else []
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            texts.append(_join(data.get("text/html", [])))
            alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
            metadata = output.get("metadata", {})
            alt = alt or metadata.get("alt", "") or metadata.get("image/png", {}).get("alt", "")
            if any(kind.startswith("image/") for kind in data) and not alt.strip():
                problems.append(f"cell {i} shows an image without alt text")
        for text in texts:
            problems += [f"cell {i}: an empty alt" for _ in re.finditer(r"!\[\s*\]\(", text)]
            for tag in re.findall(r"<img\b[^>]*>", text):
                if not re.search(r"""\balt\s*=\s*["'][^"']+["']""", tag):
                    problems.append(f"cell {i}: an <img> without alt")
            for tag in re.findall(r"<svg\b[^>]*>", text):
                if "aria-label" not in tag and 'aria-hidden="true"' not in tag:
                    problems.append(f"cell {i}: an <svg> without a label")
    return problems


def link_problems(notebook, name=""):
    problems = []
    for target in re.findall(r"\]\(([^)\s]+)[^)]*\)", markdown_of(notebook)):
        path = target.split("#")[0]
        if path and not re.match(r"[a-z]+:", path) and not (BOOK / path).exists():
            problems.append(f"a link leads to {path}, which does not exist")
    return problems


def exercise_problems(notebook, name=""):
    if not name[:1].isdigit():
        return []
    stubs = [
        cell
        for _, cell in code_cells(notebook)
        if ".check(" in source(cell) and "hide-cell" not in tags(cell)
    ]
    return [] if len(stubs) >= 4 else [f"{len(stubs)} exercises check themselves, fewer than 4"]


def number_problems(notebook, name=""):
    return unproved(markdown_of(notebook), notebook)


RULES = (
    kernel_problems,
    count_problems,
    error_problems,
    uncompared_problems,
    code_problems,
    length_problems,
    directive_problems,
    output_problems,
    alt_problems,
    link_problems,
    exercise_problems,
    number_problems,
)


def test_the_book_has_a_notebook():
    assert PATHS


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__.removesuffix("_problems"))
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_notebook_breaks_a_rule(name, rule):
    assert rule(NOTEBOOKS[name], name) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_each_number_of_a_page_stands_in_the_output_of_a_notebook(path):
    text = re.sub(r"\A---\n.*?\n---\n", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"(?ms)^```\{code-cell\}.*?^```", "", text)
    assert unproved(text, *NOTEBOOKS.values()) == []


# --- the rules bite -------------------------------------------------------------------------------


def code(text="x = 1", count=1, outputs=(), **metadata):
    return {
        "cell_type": "code",
        "source": text,
        "execution_count": count,
        "outputs": list(outputs),
        "metadata": metadata,
    }


def words(text):
    return {"cell_type": "markdown", "source": text, "metadata": {}}


def stream(text):
    return {"output_type": "stream", "name": "stdout", "text": [text]}


def html(text):
    return {"output_type": "display_data", "data": {"text/html": [text]}, "metadata": {}}


def book(*cells, kernel="python3"):
    return {"metadata": {"kernelspec": {"name": kernel}}, "cells": list(cells)}


ERROR = {"output_type": "error", "ename": "ValueError", "evalue": "", "traceback": []}
PNG = {"output_type": "display_data", "data": {"image/png": "iVBO"}, "metadata": {}}
CHECKED = [code("chapter.one.check(f)", i + 1) for i in range(4)]
GOOD = book(
    words("# Title\n\nThe score is 0.51. [A page](intro.md) and `x = {1}`."),
    code("print(0.51)", 1, [stream("it·dog = 0.51\n")]),
    code("f()", 2, [ERROR], tags=["raises-exception"]),
    code("solved()\n" * 30, 3, tags=["hide-cell"]),
    *[code("chapter.one.check(f)", i) for i in (4, 5, 6, 7)],
)

BAD = {
    "another kernel": (kernel_problems, book(kernel="venv")),
    "a cell that never ran": (count_problems, book(code(count=None))),
    "a cell that ran out of order": (count_problems, book(code(count=2), code(count=1))),
    "a stored error": (error_problems, book(code(outputs=[ERROR]))),
    "an uncompared cell": (uncompared_problems, book(code(tags=["nbval-ignore-output"]))),
    "too many uncompared cells": (
        uncompared_problems,
        book(code(tags=["nbval-skip", "widget"]), code(tags=["nbval-skip", "image"]), code()),
    ),
    "a class": (code_problems, book(code("class A:\n    pass"))),
    "a shell command": (code_problems, book(code("x = 1\n!ls"))),
    "a magic": (code_problems, book(code("%matplotlib inline"))),
    "an installation": (code_problems, book(code("os.system('pip install x')"))),
    "sys.path": (code_problems, book(code("sys.path.append('..')"))),
    "a download": (code_problems, book(code("import urllib.request"))),
    "a long cell": (length_problems, book(code("x = 1\n" * 16))),
    "a long solution": (length_problems, book(code("x = 1\n" * 31, tags=["hide-cell"]))),
    "a colon fence": (directive_problems, book(words(":::{note}\nText\n:::"))),
    "a directive": (directive_problems, book(words("```{note}\nText\n```"))),
    "a role": (directive_problems, book(words("see {ref}`here`"))),
    "a stored script": (output_problems, book(code(outputs=[html("<script>1</script>")]))),
    "an address": (output_problems, book(code(outputs=[stream("<f at 0x7f3a2b1c>")]))),
    "a path": (output_problems, book(code(outputs=[stream("/home/me/x.py")]))),
    "a picture without alt": (alt_problems, book(code(outputs=[PNG]))),
    "an img without alt": (alt_problems, book(code(outputs=[html('<img src="a.png">')]))),
    "an empty alt": (alt_problems, book(words("![](a.png)"))),
    "an svg without a label": (alt_problems, book(code(outputs=[html("<svg></svg>")]))),
    "a dead link": (link_problems, book(words("[x](no_such_page.md)"))),
    "too few exercises": (exercise_problems, book(*CHECKED[:3])),
    "a number from nowhere": (number_problems, book(words("It is 0.77."), code())),
}


@pytest.mark.parametrize("name", BAD)
def test_each_rule_finds_the_fault_it_is_for(name):
    rule, notebook = BAD[name]
    assert rule(notebook, "01_bad.ipynb")


@pytest.mark.parametrize("rule", RULES)
def test_no_rule_finds_a_fault_in_a_good_notebook(rule):
    assert rule(GOOD, "01_good.ipynb") == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_number_added_to_the_prose_of_a_real_notebook_is_found(name):
    notebook = copy.deepcopy(NOTEBOOKS[name])
    notebook["cells"].append(words("And then it was 12.3456."))
    assert any("12.3456" in problem for problem in number_problems(notebook))


@pytest.mark.parametrize(
    "text",
    [
        "It is 0.77.",
        "`0.77`",
        "```\n0.77\n```",
        "$w = 0.77$",
        "It is .77, no more.",
        "| a | 0.77 |",
        "It is \N{MINUS SIGN}0.51.",
        "<b>0.77</b>",
        "0.510001",
        "(0.5, 0.77)",
        "[0.77](intro.md)",
    ],
)
def test_an_unproved_number_is_found_wherever_it_stands(text):
    assert number_problems(book(words(text), code(outputs=[stream("0.51 and 0.5")])))


@pytest.mark.parametrize(
    "text",
    [
        "It is 0.51, or .51, or 0.510.",
        "In the lecture he says 0.77. *spoken*",
        "The paper has 28.4. *cited*",
        "[x](https://a.org/0.77) and https://a.org/0.77",
        '<a href="x-0.77">x</a> <!-- 0.77 -->',
        "Section 3.2.1 of [L6.3], version 1.0.4.",
        "$1 - 0.51$",
    ],
)
def test_a_proved_marked_or_hidden_number_passes(text):
    assert number_problems(book(words(text), code(outputs=[stream("0.51")]))) == []


def test_a_number_in_the_config_of_a_figure_proves_nothing():
    figure = html(
        '<at-x config="{&quot;a&quot;: 0.77, b > 0.77}"><td title="0.77">0.51</td></at-x>'
    )
    notebook = book(words("0.51 and 0.77"), code(outputs=[figure]))
    assert len(number_problems(notebook)) == 1


def test_numbers_are_compared_by_value():
    assert decimals("1.50, .5, \N{MINUS SIGN}0.25 and 1,024.5") == [
        Decimal("1.5"),
        Decimal("0.5"),
        Decimal("-0.25"),
        Decimal("1024.5"),
    ]
