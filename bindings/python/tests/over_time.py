"""The vectors of fetching, played by a fetcher: what an attempt comes to, what is kept, and what happens over time.

Each function plays one vector with one kind of fetcher, and fails where something else comes of it than is expected.
"""

from __future__ import annotations

import email.utils
from typing import Any

import mayi
import vectors
from simulation import START, Simulation


def keeping_of(options: dict[str, Any], **more: float) -> mayi.Keeping:
    """How files are kept by the options of a vector. There is no jitter."""
    in_seconds = {"unreachable_for_seconds": "unreachable_for", "stale_while_revalidate_seconds": "stale_while_revalidate"}
    as_they_are = {"unavailable_uses_copy", "treat_429_as_unreachable", "after_unreachable"}
    named = {in_seconds.get(name, name): value for name, value in options.items() if name in as_they_are | set(in_seconds)}
    return mayi.Keeping(jitter=0.0, **named, **more)


def play_access(vector: dict[str, Any], kind: str) -> None:
    """Responses, and what the attempt comes to."""
    with Simulation(kind, keeping_of(vector)) as play:
        play.servers = {response["url"]: response for response in vector["responses"]}
        assert play.robots(vector["url"]).access == vector["result"]
        assert play.asked == [response["url"] for response in vector["responses"]]


#: The file of a copy that is kept: whatever else applies allows both or disallows both.
COPY = "User-agent: *\nDisallow: /copied\n"
IN_FORCE = {(False, True): "copy", (True, True): "allow-all", (False, False): "disallow-all"}


def play_keep(vector: dict[str, Any], kind: str) -> None:
    """What is kept and what came of the last attempt, and what applies now."""
    copy, last, expect = vector.get("copy"), vector["last"], vector["expect"]
    fields = dict(copy["headers"]) if copy else {}
    fetched = email.utils.parsedate_to_datetime(fields["Date"]).timestamp() if "Date" in fields else START
    now = fetched + (copy["fetched_seconds_ago"] if copy else 0)
    url = "https://example.com/robots.txt"
    with Simulation(kind, keeping_of(vector, least_fresh=0.0)) as play:
        if copy:
            play.now = fetched
            play.servers = {url: {"status": 200, "headers": copy["headers"], "body": COPY}}
            assert play.robots(url).access == "successful"
        # Whoever asks for a stale copy again finds nobody there, so that it is the copy that is used.
        play.servers = {url: {"status": 404}} if last["result"] == "unavailable" else {}
        if last["result"] == "successful":
            assert last["seconds_ago"] == copy["fetched_seconds_ago"]
        else:
            for ago in (last.get("since_seconds_ago", last["seconds_ago"]), last["seconds_ago"]):
                play.now = now - ago
                play.robots(url, refresh=True)
        play.now = now
        play.asked.clear()
        robots = play.robots(url)
        applies = IN_FORCE[
            robots.allowed("https://example.com/copied", "ExampleBot"), robots.allowed("https://example.com/", "ExampleBot")
        ]
        assert applies == expect["use"]
        if "fresh" not in expect:
            return
        assert robots.file is not None and robots.file.fresh_until is not None
        assert (robots.file.source == "fresh") == expect["fresh"]
        if expect["fresh"]:
            assert vectors.seconds_of(robots.file.fresh_until) - now == expect["fresh_seconds"]
        else:
            assert play.asked, "a stale copy is asked for again"


def play_script(vector: dict[str, Any], kind: str) -> None:
    """Servers and questions over time: every step."""
    options = vector.get("options", {})
    with Simulation(kind, keeping_of(options), offline=options.get("offline", False)) as play:
        for step in vector["steps"]:
            play.now = START + step["at"]
            if "servers" in step:
                play.servers = {server["url"]: server for server in step["servers"]}
            if "ask" not in step:
                continue
            play.asked.clear()
            decision = play.robots(step["ask"]).decide(step["ask"], "ExampleBot").to_dict()
            if decision["file"] is not None:  # It says that it was the caller's client that failed.
                decision["file"]["access"] = decision["file"]["access"].replace("client: OSError: ", "")
            told = vectors.difference(step.get("expect", {}), decision)
            assert told is None, f"at {step['at']}: {told}"
            if "requests" in step:
                assert play.asked == step["requests"], f"at {step['at']}"
