"""mayi in Scrapy: a parser for ``ROBOTSTXT_PARSER``, and a middleware that does what a parser can't.

In ``settings.py``, only the parser, in Scrapy's own middleware::

    ROBOTSTXT_OBEY = True
    ROBOTSTXT_PARSER = "mayi.scrapy.MayiRobotParser"

or the middleware::

    ROBOTSTXT_OBEY = True
    DOWNLOADER_MIDDLEWARES = {
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "mayi.scrapy.RobotsTxtMiddleware": 100,
        "mayi.scrapy.PageControlsMiddleware": 950,
    }
    ITEM_PIPELINES = {"mayi.scrapy.UsesPipeline": 100}
"""

from __future__ import annotations

import dataclasses
import logging
import weakref
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.exceptions import DropItem, IgnoreRequest, NotConfigured
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.robotstxt import RobotParser

from . import _faces, aio
from ._errors import InvalidUrl
from ._fetcher import Answer, weakly
from ._keeping import Keeping
from ._mayi import Crawler, Decision, RobotsTxt
from ._report import Uses, grounds_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler as ScrapyCrawler

__all__ = ["MayiRobotParser", "PageControlsMiddleware", "RobotsTxtMiddleware", "UsesPipeline"]

logger = logging.getLogger(__name__)

#: The fetcher of each crawl that has :class:`RobotsTxtMiddleware`.
_fetchers: weakref.WeakKeyDictionary[Any, aio.Fetcher] = weakref.WeakKeyDictionary()


class MayiRobotParser(RobotParser):
    """A robots.txt file for Scrapy's middleware. The setting ``MAYI_DIALECT`` says how it is read."""

    def __init__(self, robotstxt_body: bytes, *, dialect: str = "rfc9309") -> None:
        self._robots = RobotsTxt(robotstxt_body, dialect=dialect)

    @classmethod
    def from_crawler(cls, crawler: ScrapyCrawler | Any, robotstxt_body: bytes) -> MayiRobotParser:
        """The parser for a crawl."""
        settings = getattr(crawler, "settings", None)
        dialect = settings.get("MAYI_DIALECT", "rfc9309") if settings is not None else "rfc9309"
        return cls(robotstxt_body, dialect=dialect)

    @classmethod
    def _of(cls, robots: RobotsTxt) -> MayiRobotParser:
        made = cls(b"")
        made._robots = robots
        return made

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Whether the crawler may fetch the URL."""
        return self._robots._may_fetch(url, user_agent)

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """The seconds that the file asks the crawler to wait between requests, or None."""
        return self._robots.crawl_delay(_faces.crawler_of(user_agent))


class RobotsTxtMiddleware:
    """Obeys robots.txt as RFC 9309 says, with Scrapy's own downloader as the client.

    One file per origin, not per host; statuses, redirects and failures by REP-19 to REP-21; a stale file is fetched
    again, and the last good copy is used while its server fails. A Crawl-delay becomes the delay of the site's slot, up
    to ``MAYI_MOST_CRAWL_DELAY`` seconds. Disallowed requests are logged and counted with the line that decided.

    Settings: ``ROBOTSTXT_OBEY``, ``ROBOTSTXT_USER_AGENT``, ``MAYI_DIALECT``, ``MAYI_STORE`` (where files are cached),
    ``MAYI_LEAST_FRESH`` (for how many seconds a file is not requested again, whatever its server says; 60),
    ``MAYI_MOST_CRAWL_DELAY`` (60; 0 for no delay), ``MAYI_ONLY_RECORD`` (decides and counts, and lets every request
    through).
    """

    DOWNLOAD_PRIORITY: int = 1000

    def __init__(self, crawler: ScrapyCrawler) -> None:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        self.crawler = crawler
        self._user_agent: str | None = settings.get("ROBOTSTXT_USER_AGENT")
        self._default_user_agent = str(settings.get("USER_AGENT"))
        self._only_record = settings.getbool("MAYI_ONLY_RECORD", False)
        self._most_delay = settings.getfloat("MAYI_MOST_CRAWL_DELAY", 60.0)
        self._least_delay = settings.getfloat("DOWNLOAD_DELAY", 0.0)
        self._fetcher = aio.Fetcher(
            self._user_agent or self._default_user_agent,
            store=settings.get("MAYI_STORE"),
            dialect=settings.get("MAYI_DIALECT", "rfc9309"),
            timeout=settings.getfloat("DOWNLOAD_TIMEOUT", 180.0),
            keeping=Keeping(least_fresh=settings.getfloat("MAYI_LEAST_FRESH", 60.0)),
            fetch=weakly(self._fetch),
        )
        _fetchers[crawler] = self._fetcher
        crawler.signals.connect(self._close, signal=signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: ScrapyCrawler) -> RobotsTxtMiddleware:
        """The middleware for a crawl."""
        return cls(crawler)

    async def process_request(self, request: Request, spider: Any = None) -> None:
        """Lets a request through, or drops it."""
        if request.meta.get("dont_obey_robotstxt"):
            return
        try:
            robots = self._fetcher.ready(request.url)
            if robots is None:
                robots = await self._fetcher.robots(request.url)
                await self._parsed(robots, request)
        except InvalidUrl:
            return  # `data:` and `file:` have no robots.txt.
        crawler = _faces.crawler_of(self._agent(request))
        decision = robots.decide(request.url, crawler)
        request.meta["mayi"] = decision
        self._slow_down(request, robots, crawler)
        self._count("decisions")
        if decision.allowed:
            return
        self._count("forbidden", "robotstxt/forbidden")
        self._count(f"forbidden/{decision.reason}")
        line = grounds_of(decision)
        extra = {"spider": self.crawler.spider}
        if self._only_record:
            logger.info("robots.txt disallows %s (%s); it is only recorded", request, line, extra=extra)
            return
        logger.info("Forbidden by robots.txt: %s (%s)", request, line, extra=extra)
        raise IgnoreRequest(f"Forbidden by robots.txt ({line})")

    def _agent(self, request: Request) -> str | bytes:
        if self._user_agent:
            return self._user_agent
        return request.headers.get(b"User-Agent", self._default_user_agent) or b"*"

    async def _fetch(self, url: str, headers: dict[str, str]) -> Answer:
        """Fetches a robots.txt with Scrapy's downloader, its proxies and its limits. Redirects are returned."""
        self._count("requests", "robotstxt/request_count")
        meta = {
            "dont_obey_robotstxt": True,
            "dont_redirect": True,
            "dont_retry": True,
            "dont_cache": True,
            "handle_httpstatus_all": True,
            "download_fail_on_dataloss": False,
        }
        request = Request(
            url,
            headers=headers,
            priority=self.DOWNLOAD_PRIORITY,
            meta=meta,
            callback=NO_CALLBACK,
            dont_filter=True,
        )
        engine = self.crawler.engine
        assert engine is not None
        response: Response = await engine.download_async(request)
        self._count("responses", "robotstxt/response_count")
        self._count(f"statuses/{response.status}", f"robotstxt/response_status_count/{response.status}")
        pairs = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in response.headers.items()
            for value in values
        ]
        return Answer(response.status, pairs, response.body)

    async def _parsed(self, robots: RobotsTxt, request: Request) -> None:
        robots_parsed = getattr(signals, "robots_parsed", None)  # new in Scrapy 2.18
        if robots_parsed is not None and robots.access == "successful":
            await self.crawler.signals.send_catch_log_async(
                signal=robots_parsed, robotparser=MayiRobotParser._of(robots), request=request
            )

    def _slow_down(self, request: Request, robots: RobotsTxt, crawler: Crawler) -> None:
        """Gives the slot of the site the delay that its file asks for, up to a limit."""
        asked = robots.crawl_delay(crawler) if self._most_delay > 0 else None
        engine = self.crawler.engine
        downloader = getattr(engine, "downloader", None)
        if asked is None or downloader is None:
            return
        delay = max(min(asked, self._most_delay), self._least_delay)
        key = downloader.get_slot_key(request)
        slot = downloader.slots.get(key)
        if slot is not None:
            slot.delay = max(slot.delay, delay)
        elif key not in downloader.per_slot_settings:
            downloader.per_slot_settings[key] = {"delay": delay}

    def _count(self, *names: str) -> None:
        stats = self.crawler.stats
        if stats is not None:
            for name in names:
                stats.inc_value(name if "/" in name and name.startswith("robotstxt") else f"mayi/{name}")

    def _close(self) -> None:
        self._fetcher._native.close()


class PageControlsMiddleware:
    """Puts what may be done with a page into ``response.meta["mayi"]``: a decision with ``page`` and ``uses``.

    What the site's robots.txt says about uses counts too, if :class:`RobotsTxtMiddleware` is used and has the file.
    """

    def __init__(self, crawler: ScrapyCrawler) -> None:
        self._user_agent: str | None = crawler.settings.get("ROBOTSTXT_USER_AGENT")
        self._default_user_agent = str(crawler.settings.get("USER_AGENT"))
        self._crawler = crawler
        self._no_file = RobotsTxt(b"")

    @classmethod
    def from_crawler(cls, crawler: ScrapyCrawler) -> PageControlsMiddleware:
        """The middleware for a crawl."""
        return cls(crawler)

    def process_response(self, request: Request, response: Response, spider: Any = None) -> Response:
        """The same response; its decision is in the request's meta, which is also that of the response."""
        agent = self._user_agent or request.headers.get(b"User-Agent", self._default_user_agent) or b"*"
        pairs = [(name, value) for name, values in response.headers.items() for value in values]
        html = response.body if b"html" in (response.headers.get(b"Content-Type") or b"html") else b""
        fetcher = _fetchers.get(self._crawler)
        try:
            robots = fetcher._native.ready(response.url) if fetcher is not None else None
            request.meta["mayi"] = (robots or self._no_file).decide(
                response.url, _faces.crawler_of(agent), headers=pairs, html=html
            )
        except InvalidUrl:
            pass  # `data:` and `file:` have no robots.txt.
        return response


class UsesPipeline:
    """Drops items that may not be used, or marks them: ``MAYI_USES`` names the uses, ``["train"]`` by default.

    An item is judged by the page that it came from: by its field ``mayi``, which is the decision that
    :class:`PageControlsMiddleware` has put into ``response.meta["mayi"]``. With ``MAYI_MARK_ITEMS`` an item is kept, and
    its field ``mayi_disallowed`` has the uses that are disallowed.
    """

    def __init__(self, uses: list[str], mark: bool) -> None:
        known = [field.name for field in dataclasses.fields(Uses)]
        unknown = [use for use in uses if use not in known]
        if unknown:
            raise ValueError(f"MAYI_USES has {', '.join(unknown)}; there are {', '.join(known)}")
        self._uses = uses
        self._mark = mark
        self._has_warned = False

    @classmethod
    def from_crawler(cls, crawler: ScrapyCrawler) -> UsesPipeline:
        """The pipeline for a crawl."""
        settings = crawler.settings
        return cls(settings.getlist("MAYI_USES", ["train"]), settings.getbool("MAYI_MARK_ITEMS"))

    def process_item(self, item: Any, spider: Any = None) -> Any:
        """The item, if it may be used."""
        fields = ItemAdapter(item)
        decision: Decision | None = fields.get("mayi")
        if decision is None:
            if not self._has_warned:
                logger.warning("An item without a field `mayi` can't be judged and is kept: give it response.meta['mayi']")
            self._has_warned = True
            return item
        disallowed = [use for use in self._uses if getattr(decision.uses, use) == "disallowed"]
        if self._mark:
            fields["mayi_disallowed"] = disallowed
        elif disallowed:
            raise DropItem(f"{decision.url} may not be used for: {', '.join(disallowed)}")
        return item
