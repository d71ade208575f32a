"""No unproved number: each decimal number of the prose stands in an output, or says its source.

A line that repeats what was said in a lecture holds ``*spoken*``; one that takes a number from
a publication holds ``*cited*``.
"""

import html
import re
from decimal import Decimal

MARKS = ("*spoken*", "*cited*")
MINUS = "\N{MINUS SIGN}"
# No letter, digit or point before; no point and digit (a version, a section such as 3.2.1) after.
DECIMAL = re.compile(
    rf"(?<![\w.])([-{MINUS}]?)(\d{{1,3}}(?:,\d{{3}})+|\d*)\.(\d+)(?!\.?\d)(?![^\W_])"
)


def decimals(text: str) -> list[Decimal]:
    """Find the decimal numbers of a text, by value; a minus counts where no operand precedes."""
    found = []
    for match in DECIMAL.finditer(text):
        before = text[: match.start()][-1:]
        # In `a-0.5` and `a - 0.5` the dash is an operator and the number is positive.
        negative = bool(match[1]) and not (before.isalnum() or (before and before in ")]}"))
        value = Decimal(f"{match[2].replace(',', '') or '0'}.{match[3]}")
        found.append(-value if negative else value)
    return found


def visible(markdown: str) -> str:
    """Leave what a reader sees: no comments, tags with attributes, link targets or addresses."""
    text = re.sub(r"<!--.*?-->", " ", markdown, flags=re.DOTALL)
    text = re.sub(r"(\]\()[^)\s]*", r"\1", text)
    text = re.sub(r"(?m)^\s*\[[^\]]+\]:\s*\S+", " ", text)
    text = re.sub(r"\b(?:https?|mailto|doi):\S+", " ", text)
    text = re.sub(r"</?[A-Za-z][^<>]*>", " ", text)
    text = re.sub(r"\\(?:hspace|vspace|rule|[ ,;:!])\{[^}]*\}", " ", text)
    return html.unescape(text).replace(r"\,", " ").replace(r"\;", " ")


def prose_decimals(markdown: str) -> list[tuple[str, Decimal]]:
    """Pair each unmarked line with the decimal numbers in it."""
    marks = [any(mark in line for mark in MARKS) for line in markdown.splitlines()]
    kept = "\n".join(
        "" if marked else line for line, marked in zip(markdown.splitlines(), marks, strict=True)
    )
    return [
        (line.strip(), value) for line in visible(kept).splitlines() for value in decimals(line)
    ]


def stored_text(notebook: dict) -> str:
    """Join the text that the outputs show; configs of live figures are attributes: left out."""
    parts = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            parts.append("".join(output.get("text", "")))
            data = output.get("data", {})
            parts.append("".join(data.get("text/plain", "")))
            shown = "".join(data.get("text/html", ""))
            shown = re.sub(r"(?s)<(script|style)\b.*?</\1>|<!--.*?-->", " ", shown)
            # Quoted attributes may hold `>`.
            shown = re.sub(r"""<(?:[^<>"']|"[^"]*"|'[^']*')*>""", " ", shown)
            parts.append(html.unescape(shown))
    return "\n".join(parts)


def markdown_of(notebook: dict) -> str:
    """Join the Markdown cells."""
    return "\n\n".join(
        "".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"
    )


def unproved(markdown: str, *notebooks: dict) -> list[str]:
    """List the numbers of the prose that stand in no output of these notebooks."""
    proved = {value for notebook in notebooks for value in decimals(stored_text(notebook))}
    return [
        f"{value} stands in no stored output: {line}"
        for line, value in prose_decimals(markdown)
        if value not in proved
    ]
