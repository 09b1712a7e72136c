"""The conformance vectors of the project as Python values: see vectors/README.md for the format."""

from __future__ import annotations

import base64
import datetime
import pathlib
import re
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


#: The members that this reader knows, by kind of table and by what is within one.
ABOUT = {"id", "clauses", "why"}
FILES = {"robots", "robots_base64", "robots_parts"}
KEEPING = {"unavailable_uses_copy", "unreachable_for_seconds", "after_unreachable"}
ASKED = {"purposes", "apps", "user_agent", "union", "registered_purposes_only", "now"}
MEMBERS = {
    "vector": ABOUT | FILES | {"robots_status", "robots_error", "charset", "dialect", "asks"},
    "asks": ASKED | {"agent", "url", "url_parts", "dialect", "headers", "html", "html_base64", "no_extensions", "expect"},
    "locate": ABOUT | {"url", "robots_url", "error"},
    "access": ABOUT | {"url", "responses", "result", "treat_429_as_unreachable"},
    "responses": {"url", "status", "location", "error"},
    "keep": ABOUT | KEEPING | {"copy", "last", "expect"},
    "copy": {"fetched_seconds_ago", "headers"},
    "last": {"result", "seconds_ago", "since_seconds_ago"},
    "script": ABOUT | {"options", "steps"},
    "options": KEEPING | {"treat_429_as_unreachable", "stale_while_revalidate_seconds", "offline"},
    "steps": {"at", "servers", "ask", "expect", "requests"},
    "servers": {"url", "status", "headers", "body", "error"},
    "lint": FILES | {"code", "why", "page", "found", "clean"},
    "page": {"url", "headers", "html"},
    "found": {"line", "column", "text", "severity", "fix"},
}


def tables() -> Iterator[tuple[str, dict[str, Any]]]:
    """All tables of all files, each with its kind."""
    for path in sorted(FOLDER.glob("*/*.toml")):
        for kind, found in tomllib.loads(path.read_text("utf-8")).items():
            for table in found:
                check_members(kind, table)
                yield kind, table


def check_members(kind: str, table: dict[str, Any]) -> None:
    """Fails on a member that is not known, so that nothing that is expected is passed over."""
    assert kind in MEMBERS, f"a kind of vector that is not known: {kind}"
    assert set(table) <= MEMBERS[kind], f"{kind} {table.get('id')}: {sorted(set(table) - MEMBERS[kind])} is not known"
    for name, value in table.items():
        if name in MEMBERS:
            for one in value if isinstance(value, list) else [value]:
                check_members(name, one)


def seconds_of(time: str) -> float:
    """A time of RFC 3339 as `time.time()` tells it. Python 3.10 reads fewer forms of it than later ones."""
    fraction = re.sub(r"\.(\d+)", lambda found: f".{found[1][:6]:0<6}", time.upper().replace("Z", "+00:00"))
    return datetime.datetime.fromisoformat(fraction).timestamp()


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


def cases_of(vector: dict[str, Any]) -> Iterator[Case]:
    """The requests of a vector."""
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
        request |= {name: ask[name] for name in sorted(ASKED) if name in ask}
        yield Case(vector["id"], request, ask.get("no_extensions", []), ask["expect"])


def cases() -> Iterator[Case]:
    """The requests of all vectors."""
    for kind, vector in tables():
        if kind == "vector":
            yield from cases_of(vector)


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
