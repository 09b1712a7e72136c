"""The conformance vectors of the project as Python values: see vectors/README.md for the format."""

from __future__ import annotations

import base64
import pathlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "vectors"


@dataclass(frozen=True)
class Case:
    """One request and what its decision must have."""

    id: str
    request: dict[str, Any]
    without: list[str]
    expect: dict[str, Any]


def tables(name: str) -> Iterator[dict[str, Any]]:
    """All tables of a name in all files."""
    for path in sorted(FOLDER.glob("*/*.toml")):
        yield from tomllib.loads(path.read_text("utf-8")).get(name, [])


def octets_of(parts: list[dict[str, Any]]) -> bytes:
    """Pieces, joined."""
    joined = b""
    for part in parts:
        piece = part["text"].encode() if "text" in part else base64.b64decode(part["base64"])
        joined += piece * part.get("times", 1)
    return joined


def file_of(vector: dict[str, Any]) -> bytes | None:
    """The octets of a vector's file, where it has one."""
    if "robots" in vector:
        return str(vector["robots"]).encode()
    if "robots_base64" in vector:
        return base64.b64decode(vector["robots_base64"])
    if "robots_parts" in vector:
        return octets_of(vector["robots_parts"])
    return None


def robots_of(vector: dict[str, Any]) -> Any:
    """The member `robots` of a vector's requests."""
    octets = file_of(vector)
    if octets is None:
        if "robots_status" in vector:
            return {"status": vector["robots_status"]}
        return {"error": vector["robots_error"]}
    if "robots" in vector and "charset" not in vector:
        return vector["robots"]
    carried = {"base64": base64.b64encode(octets).decode()}
    return carried | ({"charset": vector["charset"]} if "charset" in vector else {})


def cases() -> Iterator[Case]:
    """All requests of all vectors."""
    copied = ["purposes", "apps", "user_agent", "union", "registered_purposes_only", "now"]
    for vector in tables("vector"):
        robots = robots_of(vector)
        for ask in vector["asks"]:
            url = ask["url"] if "url" in ask else octets_of(ask["url_parts"]).decode()
            request = {"url": url, "agent": ask["agent"], "robots": robots}
            dialect = ask.get("dialect", vector.get("dialect"))
            if dialect is not None:
                request["dialect"] = dialect
            page = {name: ask[name] for name in ("headers", "html") if name in ask}
            if "html_base64" in ask:
                page["html"] = {"base64": ask["html_base64"]}
            if page:
                request["page"] = page
            request |= {name: ask[name] for name in copied if name in ask}
            yield Case(vector["id"], request, ask.get("no_extensions", []), ask["expect"])


def difference(expected: Any, found: Any, at: str = "") -> str | None:
    """What of the expected members is missing or different, or None."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name, value in expected.items():
            if name not in found:
                return f"{at}.{name} is missing"
            told = difference(value, found[name], f"{at}.{name}")
            if told is not None:
                return told
        return None
    return None if expected == found else f"{at} is {found!r}, not {expected!r}"
