"""Servers on loopback for the tests: what they answer by path, and what they were asked."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable
from typing import NamedTuple


class Asked(NamedTuple):
    """A request that a server got."""

    path: str
    user_agent: str | None


Answer = tuple[int, dict[str, str], bytes]


class Site:
    """A server with an address of its own."""

    def __init__(self, robots: bytes = b"", *, answer: Callable[[str], Answer | None] | None = None) -> None:
        self.answers: dict[str, Answer] = {"/robots.txt": (200, {}, robots)}
        self.asked: list[Asked] = []
        self.wait = threading.Event()
        self.wait.set()
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(Asked(self.path, self.headers["User-Agent"]))
                site.wait.wait(20)
                told = answer(self.path) if answer is not None else None
                status, headers, body = told or site.answers.get(self.path, (404, {}, b""))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def paths(self) -> list[str]:
        """The paths that were asked for, in order."""
        return [asked.path for asked in self.asked]

    def page(self, path: str, *links: str, headers: dict[str, str] | None = None, head: str = "") -> None:
        """Has a page with links."""
        body = f"<head>{head}</head>" + "".join(f'<a href="{link}">x</a>' for link in links)
        self.answers[path] = (200, {"Content-Type": "text/html"} | (headers or {}), body.encode())

    def close(self) -> None:
        """Ends the server."""
        self.wait.set()
        self.server.shutdown()
        self.server.server_close()
