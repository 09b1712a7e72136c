"""A spider that the tests run as a program of its own: `spider.py CASE START-URL…`. It prints what it got."""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess

case, starts = sys.argv[1], sys.argv[2:]
seen: dict[str, Any] = {"pages": {}, "items": [], "delays": {}}


class Spider(scrapy.Spider):
    name = "tested"

    async def start(self) -> AsyncIterator[scrapy.Request]:
        for url in starts:
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response: Any) -> Iterator[Any]:
        decision = response.meta.get("mayi")
        seen["pages"][response.url] = None if decision is None else decision.to_dict()
        slot = self.crawler.engine.downloader.slots[response.meta["download_slot"]]  # type: ignore[union-attr]
        seen["delays"][response.url] = slot.delay
        yield {"url": response.url, "mayi": decision}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, dont_filter=True)


class Keep:
    def process_item(self, item: Any) -> Any:
        seen["items"].append({name: value for name, value in item.items() if name != "mayi"})
        return item


SETTINGS: dict[str, Any] = {
    "ROBOTSTXT_OBEY": True,
    "USER_AGENT": "ExampleBot/1.0 (+https://example.com/bot)",
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_DELAY": 0,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "INFO",
    "ITEM_PIPELINES": {"mayi.scrapy.UsesPipeline": 100, Keep: 200},
}
if case == "parser":
    SETTINGS["ROBOTSTXT_PARSER"] = "mayi.scrapy.MayiRobotParser"
else:
    SETTINGS["DOWNLOADER_MIDDLEWARES"] = {
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "mayi.scrapy.RobotsTxtMiddleware": 100,
        "mayi.scrapy.PageControlsMiddleware": 950,
    }
    SETTINGS["MAYI_LEAST_FRESH"] = 0.5
    SETTINGS["MAYI_MOST_CRAWL_DELAY"] = 0.5
    SETTINGS["MAYI_ONLY_RECORD"] = case == "record"
    SETTINGS["MAYI_MARK_ITEMS"] = case == "mark"

process = CrawlerProcess(SETTINGS)
crawler = process.create_crawler(Spider)
process.crawl(crawler)
process.start()
stats = crawler.stats.get_stats() if crawler.stats is not None else {}
seen["stats"] = {name: value for name, value in stats.items() if isinstance(value, int)}
print(json.dumps(seen))
