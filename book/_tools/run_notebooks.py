"""Run the book's notebooks, each in a fresh kernel, and store their outputs.

Usage: `python book/_tools/run_notebooks.py [FILE ...]`; without files, every notebook in book/.

What is stored depends on the sources alone: no times, paths, versions or random ids. So a second
run leaves every file as it was, byte for byte, and a difference in the repository is a difference
in what a reader sees.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

BOOK = Path(__file__).resolve().parents[1]
CELL_TIMEOUT_S = 300
SCRIPT = re.compile(r"<script>.*?</script>", re.DOTALL)
NOT_STORED = {"remove-output", "nbval-ignore-output"}  # a control that needs a running kernel
WIDGET = "application/vnd.jupyter.widget-view+json"


def clean_outputs(outputs: list[Any]) -> list[Any]:
    """Return the outputs as stored: streams joined, scripts and tracebacks' frames taken out."""
    kept: list[Any] = []
    for output in outputs:
        if output.output_type == "stream":
            # How the kernel cuts a stream into pieces depends on timing.
            if kept and kept[-1].output_type == "stream" and kept[-1].name == output.name:
                kept[-1].text += output.text
                continue
        elif output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]  # frames name local paths
        elif "text/html" in output.data:
            output.data["text/html"] = SCRIPT.sub("", output.data["text/html"])
        kept.append(output)
    return kept


def clean(notebook: Any) -> None:
    """Take out of a notebook, in place, all that is not determined by its sources."""
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            **{
                key: value
                for key, value in notebook.metadata.items()
                if key not in {"kernelspec", "language_info", "widgets"}
            },
        }
    )
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = clean_outputs(cell.outputs)
            if set(cell.metadata.get("tags", ())) >= NOT_STORED:
                cell.outputs = []


def give_ids(source: dict[str, Any]) -> None:
    """Give each cell that lacks an id one made from its place."""
    source["nbformat_minor"] = max(source["nbformat_minor"], 5)
    taken = {cell.get("id") for cell in source["cells"]}
    for place, cell in enumerate(source["cells"]):
        if not cell.get("id"):
            new = f"cell-{place:03d}"
            while new in taken:
                new += "x"
            taken.add(new)
            cell["id"] = new


def run(path: Path) -> bool:
    """Run one notebook in place; return whether its file changed."""
    before = path.read_text(encoding="utf-8")
    source = json.loads(before)
    give_ids(source)  # before nbformat does, which would make them up at random
    notebook = nbformat.reads(json.dumps(source), as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT_S,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(BOOK)}},
    ).execute()
    clean(notebook)
    for cell in notebook.cells:
        if any(WIDGET in output.get("data", {}) for output in cell.get("outputs", ())):
            sys.exit(f"{path.name}: cell {cell.id} shows a widget: tag it {sorted(NOT_STORED)}")
    nbformat.validate(notebook)
    after = nbformat.writes(notebook).rstrip("\n") + "\n"  # indented by 1, keys sorted
    if after != before:
        path.write_text(after, encoding="utf-8", newline="\n")
    return after != before


def main(names: list[str]) -> None:
    os.environ.pop("LESSONS_BOOK", None)  # stored as JupyterLab shows them, less scripts
    paths = [Path(name).resolve() for name in names] or sorted(BOOK.glob("*.ipynb"))
    if not paths:
        sys.exit("There is no notebook in book/.")
    for path in paths:
        begun = time.monotonic()
        try:
            changed = run(path)
        except CellExecutionError as error:
            sys.exit(f"{path.name}: a cell failed, and the file is as it was.\n{error}")
        seconds = time.monotonic() - begun
        print(f"{path.name}: {'changed' if changed else 'as it was'} ({seconds:.1f} s)", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
