"""Serve the built book at a local address, on the first free port from 8000."""

from __future__ import annotations

import functools
import http.server
import sys
from pathlib import Path

HTML = Path(__file__).resolve().parents[2] / "_build" / "html"
FIRST_PORT, LAST_PORT = 8000, 8099


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line for each, and without letting a browser keep an old page."""

    def end_headers(self) -> None:
        """Forbid the browser to use a stored copy unasked: the book may have been built again."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Server(http.server.ThreadingHTTPServer):
    """A server that takes a port only when nobody else listens there."""

    allow_reuse_address = sys.platform != "win32"  # on Windows it would share a taken port


def first_free(directory: Path) -> Server:
    """Return a server for `directory`, bound to the first free port."""
    handler = functools.partial(Handler, directory=str(directory))
    for port in range(FIRST_PORT, LAST_PORT + 1):
        try:
            return Server(("127.0.0.1", port), handler)
        except OSError:
            continue
    sys.exit(f"No free port from {FIRST_PORT} to {LAST_PORT}.")


def main() -> None:
    if not (HTML / "index.html").is_file():
        sys.exit("There is no built book: run `make html` first.")
    with first_free(HTML) as server:
        print(f"Open http://127.0.0.1:{server.server_address[1]}/  (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
