"""Makes a small crawl in the layout of Common Crawl, to try the job with: ``python make_data.py FOLDER [PAGES]``.

Everything in it is invented. It has what a real one has: a site with most of the pages, redirects between hosts and
between files, answers of every status, HTML in the place of a robots.txt, files that were asked for twice, records that
were cut off, and URLs that can't be answered.
"""

from __future__ import annotations

import datetime
import gzip
import random
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

CRAWL = "CC-MAIN-2026-43"
START = datetime.datetime(2026, 10, 17, tzinfo=datetime.timezone.utc)
#: The site that has nine of ten pages.
LARGE = "www.large.example"


def rules(number: int) -> str:
    """The robots.txt of a site."""
    lines = ["# made", "User-agent: *", f"Disallow: /private{number % 3}/", "Allow: /private1/open", ""]
    if number % 4 == 0:
        lines += ["User-agent: CCBot", "Disallow: /", "Allow: /$", ""]
    if number % 7 == 0:
        lines += ["User-agent: ExampleBot", "Disallow: /*?page=", "Content-Usage: train-ai=n", ""]
    return "\n".join(lines)


def record(kind: str, url: str, date: str, block: bytes, more: str = "") -> bytes:
    """A record of a WARC, compressed by itself."""
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n{more}"
        f"Content-Type: application/http; msgtype={kind}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + block + b"\r\n\r\n", mtime=0)


def response(url: str, status: int, fields: str = "", body: str = "", day: int = 0, more: str = "") -> bytes:
    """What a server answered, and what it was asked."""
    date = (START + datetime.timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%SZ")
    asked = record("request", url, date, b"GET /robots.txt HTTP/1.1\r\n\r\n")
    return asked + record("response", url, date, f"HTTP/1.1 {status} Status\r\n{fields}\r\n{body}".encode(), more)


def site(number: int) -> list[bytes]:
    """The records of a site's robots.txt: each number is another case."""
    host = f"site{number}.example"
    url, plain = f"https://{host}/robots.txt", "Content-Type: text/plain\r\n"
    case = number % 16
    if case == 1:
        return [response(url, 404, body="<h1>not here</h1>")]
    if case == 2:
        return [response(url, 503)]
    if case == 3:
        www = f"https://www.{host}/robots.txt"
        return [response(url, 301, f"Location: {www}\r\n"), response(www, 200, plain, rules(number))]
    if case == 4:
        return [response(url, 200, "Content-Type: text/html\r\n", "<!doctype html><title>Welcome</title>")]
    if case == 5:
        before = response(url, 200, plain, "User-agent: *\nDisallow: /\n")
        return [before, response(url, 200, plain, rules(number), day=2)]
    if case == 6:
        return [response(url, 200, plain, "User-agent: *", more="WARC-Truncated: disconnect\r\n")]
    if case == 7:
        return [response(url, 302, "Location: https://nowhere.example/robots.txt\r\n")]
    if case == 8:
        hops = 5 if number % 32 == 8 else 6
        chain = [response(url, 302, "Location: /1\r\n")]
        chain += [response(f"https://{host}/{n}", 302, f"Location: /{n + 1}\r\n") for n in range(1, hops)]
        return [*chain, response(f"https://{host}/{hops}", 200, plain, rules(number))]
    if case == 9:
        return [response(url, 301, "Location: /a\r\n"), response(f"https://{host}/a", 301, "Location: /robots.txt\r\n")]
    if case == 10:
        return []
    return [response(url, 200, plain, rules(number))]


def page(number: int, sites: int, chance: random.Random) -> str:
    """The URL of a page."""
    path = chance.choice(["", "news/", "private0/", "private1/", "private1/open/", "private2/", "?page="]) + str(number)
    if chance.random() < 0.9:
        return f"https://{LARGE}/{path}"
    host = f"site{chance.randrange(sites)}.example"
    if chance.random() < 0.01:
        return f"https://{chance.choice(['a b', '[', ''])}/{path}"
    # Some are written in other ways, and mean the same.
    return chance.choice(["https://" + host, "HTTPS://" + host.upper() + ":443", "https://user@" + host]) + "/" + path


def make(folder: Path, pages: int = 20_000, sites: int = 96, files: int = 4) -> None:
    """Writes the crawl."""
    chance = random.Random(17)
    records = [one for number in range(sites) for one in site(number)]
    records.append(response(f"https://{LARGE}/robots.txt", 200, "Content-Type: text/plain\r\n", rules(28)))
    # A redirect and what it leads to are in whichever files they are in.
    chance.shuffle(records)
    for number in range(files):
        path = folder / f"crawl-data/{CRAWL}/segments/1760000000.{number}/robotstxt/{CRAWL}-{number:05}.warc.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        info = record("warcinfo", "", START.strftime("%Y-%m-%dT%H:%M:%SZ"), b"robots: classic\r\n")
        path.write_bytes(info + b"".join(records[number::files]))
    urls = [page(number, sites, chance) for number in range(pages)]
    table = index_of(urls)
    for number in range(files):
        path = folder / f"cc-index/crawl={CRAWL}/subset=warc/part-{number:05}.gz.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        first, end = number * pages // files, (number + 1) * pages // files
        pq.write_table(table.slice(first, end - first), path, row_group_size=2_000)
    # Pages that the job has to leave out.
    path = folder / f"cc-index/crawl={CRAWL}/subset=robotstxt/part-00000.gz.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(index_of([f"https://site{number}.example/robots.txt" for number in range(sites)]), path)


def index_of(urls: list[str]) -> pa.Table:
    """The table of these pages, with the columns of the columnar index."""
    hosts = [url.partition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")[0].lower() for url in urls]
    count = len(urls)
    times = [START + datetime.timedelta(seconds=number) for number in range(count)]
    texts = {
        "url_surtkey": [",".join(reversed(host.split("."))) + ")/" for host in hosts],
        "url": urls,
        "url_host_name": hosts,
        "url_host_tld": [host.rpartition(".")[2] for host in hosts],
        "url_host_registered_domain": [".".join(host.split(".")[-2:]) for host in hosts],
        "url_protocol": ["https"] * count,
        "url_path": ["/" + url.partition("://")[2].partition("/")[2].partition("?")[0] for url in urls],
        "url_query": [url.partition("?")[2] or None for url in urls],
    }
    columns: dict[str, pa.Array] = {name: pa.array(values, pa.string()) for name, values in texts.items()}
    columns["url_port"] = pa.nulls(count, pa.int32())
    columns["fetch_time"] = pa.array(times, pa.timestamp("ms", "UTC"))
    columns["fetch_status"] = pa.array([200] * count, pa.int16())
    for name in ("fetch_redirect", "content_digest", "content_charset", "content_languages", "content_truncated"):
        columns[name] = pa.nulls(count, pa.string())
    columns["content_mime_type"] = columns["content_mime_detected"] = pa.array(["text/html"] * count)
    columns["warc_filename"] = pa.array([f"crawl-data/{CRAWL}/segments/1760000000.0/warc/x.warc.gz"] * count)
    columns["warc_record_offset"] = pa.array([number * 1_000 for number in range(count)], pa.int32())
    columns["warc_record_length"] = pa.array([1_000] * count, pa.int32())
    columns["warc_segment"] = pa.array(["1760000000.0"] * count)
    return pa.table(columns)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    make(Path(sys.argv[1]), *(int(pages) for pages in sys.argv[2:]))
