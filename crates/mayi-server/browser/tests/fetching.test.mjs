// Fetching a site's robots.txt: what is told of it, and that nothing is destroyed.

import assert from "node:assert/strict";
import { open, says, site, suite } from "./harness.mjs";

const { held, onPage } = suite();

const text = (page, id) => page.locator(id).inputValue();

async function fetchFile(page, url) {
  await page.locator("#site").fill(url);
  await page.locator("#site").press("Enter");
}

onPage("a site's file is fetched, its story is told, and Ctrl+Z undoes it", async (page) => {
  const there = await site({
    "/robots.txt": { status: 301, headers: { Location: "/r.txt" } },
    "/r.txt": { headers: { "Content-Type": "text/plain" }, body: "User-agent: *\r\nDisallow: /tail\r\n" },
  });
  try {
    await open(page, held.server.origin);
    const before = [await text(page, "#robots"), await text(page, "#urls")];
    await fetchFile(page, `${there.origin}/tail/x`);
    await says(page.locator("#story"), /This is the robots\.txt of http:\/\/127/);
    await says(page.locator("#story .facts"), /status 200 · 32 octets · text\/plain · 1 redirect · asked just now/);
    assert.equal(await text(page, "#robots"), "User-agent: *\nDisallow: /tail\n");
    await says(page.locator("#decisions-count"), /^0 allowed, 1 disallowed/);
    await says(page.locator(".decision .url"), /\/tail\/x/);
    await page.locator("#story summary").click();
    await says(page.locator("#story"), /robots\.txt → 301/);
    assert.doesNotMatch(await page.locator("#story").innerText(), /came of|successful/);
    // The focus is still in the field of the address.
    await page.keyboard.press("Control+z");
    assert.deepEqual([await text(page, "#robots"), await text(page, "#urls")], before);
    await says(page.locator("#decisions-count"), /^3 allowed, 1 disallowed/);
    assert.equal(await page.locator("#story").isVisible(), false);
  } finally {
    await there.stop();
  }
});

onPage("a long file can be undone too, by the button", async (page) => {
  const body = `User-agent: *\n${"Disallow: /none\n".repeat(5000)}`;
  const there = await site({ "/robots.txt": { headers: { "Content-Type": "text/plain" }, body } });
  try {
    await open(page, held.server.origin);
    await page.locator("#robots").fill("User-agent: *\nDisallow: /mine\n");
    await fetchFile(page, there.origin);
    await says(page.locator("#story"), /80,014 octets/);
    assert.equal(await text(page, "#robots"), body);
    await page.getByRole("button", { name: "Undo" }).click();
    assert.equal(await text(page, "#robots"), "User-agent: *\nDisallow: /mine\n");
  } finally {
    await there.stop();
  }
});

onPage("URLs that were typed stay, and those of another site are marked", async (page) => {
  const there = await site({ "/robots.txt": { headers: { "Content-Type": "text/plain" }, body: "User-agent: *\n" } });
  try {
    await open(page, held.server.origin);
    await page.locator("#urls").fill("https://other.example/a\n/b\n");
    await fetchFile(page, there.origin);
    await says(page.locator("#decisions-count"), /^3 allowed, 0 disallowed/);
    assert.equal(await text(page, "#urls"), `${there.origin}/\nhttps://other.example/a\n/b\n`);
    const marked = page.locator(".decision", { has: page.locator(".elsewhere") });
    assert.equal(await marked.count(), 1);
    await says(marked.locator(".url"), /other\.example/);
    await says(marked.locator(".elsewhere"), /on another site\. The file is assumed to be the one of http:\/\/127/);
  } finally {
    await there.stop();
  }
});

onPage("a file in another charset is shown decoded, and asked as it came", async (page) => {
  const body = Buffer.from("User-agent: *\nDisallow: /caf\xe9\n", "latin1");
  const headers = { "Content-Type": "text/plain; charset=iso-8859-1" };
  const there = await site({ "/robots.txt": { headers, body } });
  try {
    await open(page, held.server.origin);
    await fetchFile(page, `${there.origin}/caf%C3%A9`);
    await says(page.locator("#story"), /not UTF-8/);
    assert.equal(await text(page, "#robots"), "User-agent: *\nDisallow: /café\n");
    await says(page.locator("#decisions-count"), /^0 allowed, 1 disallowed/);
  } finally {
    await there.stop();
  }
});

onPage("a web page in place of the file is called that", async (page) => {
  const body = "<!doctype html>\n<title>Welcome</title>\n";
  const there = await site({ "/robots.txt": { headers: { "Content-Type": "text/html" }, body } });
  try {
    await open(page, held.server.origin);
    await fetchFile(page, there.origin);
    await says(page.locator("#story"), /This is a web page, not a robots\.txt/);
  } finally {
    await there.stop();
  }
});

onPage("a fetch without a file leaves everything alone, and says what holds", async (page, watch) => {
  // Refusals are also written to the console by the browser.
  watch.expect(/status of 4\d\d|status of 5\d\d/);
  const [empty, broken, gone] = [await site({}), await site({ "/robots.txt": { status: 503 } }), await site({})];
  await gone.stop();
  try {
    await open(page, held.server.origin);
    await page.locator("#robots").fill("User-agent: *\nDisallow: /mine\n");
    await page.locator("#urls").fill("/mine\n");
    const unchanged = async () => {
      assert.equal(await text(page, "#robots"), "User-agent: *\nDisallow: /mine\n");
      assert.equal(await text(page, "#urls"), "/mine\n");
      await says(page.locator("#decisions-count"), /^0 allowed, 1 disallowed/);
    };
    await fetchFile(page, gone.origin);
    await says(page.locator("#story"), /could not be fetched: the server does not accept connections/);
    await page.locator("#story summary").click();
    assert.doesNotMatch(await page.locator("#story").innerText(), /os error/);
    await unchanged();
    await fetchFile(page, "http://nosuch.invalid/");
    await says(page.locator("#story"), /there is no such host/);
    await fetchFile(page, "gopher://example.com/");
    await says(page.locator("#story"), /scheme|http/);
    await unchanged();
    await fetchFile(page, broken.origin);
    await says(page.locator("#story"), /could not be fetched: the server answered with status 503/);
    await unchanged();
    await fetchFile(page, empty.origin);
    await says(page.locator("#story"), /has no robots\.txt: .*404.*Crawlers may fetch everything/);
    await unchanged();
    // What holds then can be looked at, and undone.
    await page.getByRole("button", { name: "Show the decisions for that" }).click();
    await says(page.locator("#decisions"), /the site has no robots\.txt/);
    await page.keyboard.press("Control+z");
    await unchanged();
  } finally {
    await Promise.all([empty.stop(), broken.stop()]);
  }
});

onPage("a live page is fetched into the page controls, and Ctrl+Z undoes it", async (page) => {
  const there = await site({
    "/robots.txt": { headers: { "Content-Type": "text/plain" }, body: "User-agent: *\nDisallow: /closed\n" },
    "/page": {
      headers: { "Content-Type": "text/html", "X-Robots-Tag": "noarchive" },
      body: "<!doctype html><title>x</title><meta name=robots content=noindex><img src=/never.png>",
    },
  });
  try {
    await open(page, held.server.origin);
    await page.getByRole("tab", { name: "Page controls" }).click();
    const before = [await text(page, "#headers"), await text(page, "#html")];
    await page.locator("#page-url").fill(`${there.origin}/page`);
    await page.locator("#page-url").press("Enter");
    await says(page.locator("#page-story"), /status 200/);
    assert.match(await text(page, "#headers"), /x-robots-tag: noarchive/i);
    assert.match(await text(page, "#html"), /content=noindex/);
    await says(page.locator("#page-rules"), /✗ index/);
    await says(page.locator("#page-rules"), /noarchive/);
    await page.keyboard.press("Control+z");
    assert.deepEqual([await text(page, "#headers"), await text(page, "#html")], before);
  } finally {
    await there.stop();
  }
});

onPage("a page that the site's robots.txt disallows is not fetched", async (page) => {
  const there = await site({
    "/robots.txt": { headers: { "Content-Type": "text/plain" }, body: "User-agent: *\nDisallow: /closed\n" },
    "/closed": { headers: { "Content-Type": "text/html", "X-Robots-Tag": "noarchive" }, body: "closed" },
  });
  try {
    await open(page, held.server.origin);
    await page.getByRole("tab", { name: "Page controls" }).click();
    const before = [await text(page, "#headers"), await text(page, "#html")];
    await page.locator("#page-url").fill(`${there.origin}/closed`);
    await page.locator("#page-url").press("Enter");
    await says(page.locator("#page-story"), /robots\.txt[\s\S]*The fields are as they were/);
    assert.deepEqual([await text(page, "#headers"), await text(page, "#html")], before);
  } finally {
    await there.stop();
  }
});

onPage("Fetch again now asks the site, although a copy is kept", async (page) => {
  const answers = {
    "/robots.txt": { headers: { "Content-Type": "text/plain" }, body: "User-agent: *\nDisallow: /a\n" },
  };
  const there = await site(answers);
  try {
    await open(page, held.server.origin);
    await fetchFile(page, there.origin);
    await says(page.locator("#story"), /This is the robots\.txt of/);
    answers["/robots.txt"].body = "User-agent: *\nDisallow: /b\n";
    // The service asks a site once in ten seconds at most.
    await page.waitForTimeout(10_500);
    await page.getByRole("button", { name: "Fetch again now" }).click();
    await page.waitForFunction(() => document.querySelector("#robots").value.includes("/b"));
  } finally {
    await there.stop();
  }
});
