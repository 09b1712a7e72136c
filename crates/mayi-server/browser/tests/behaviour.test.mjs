// What the page does, from the first visit to a server that is gone.

import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { decided, open, pictures, program, says, serve, suite, verdicts, watched } from "./harness.mjs";

const { held, onPage } = suite();

const lines = (page, state) =>
  page.locator(`#gutter .number.${state}`).evaluateAll((all) => all.map((one) => Number(one.dataset.line)));

/** The editor is drawn with the next picture, not at once: what is not there yet is looked for again. */
async function linesAre(page, state, expected) {
  for (let look = 0; look < 50; look += 1) {
    if (isDeepStrictEqual(await lines(page, state), expected)) return;
    await page.waitForTimeout(100);
  }
  assert.deepEqual(await lines(page, state), expected);
}

/** The text of a field, replaced by what a person would type. */
async function type(page, selector, text) {
  await page.locator(selector).fill(text);
}

onPage("the first visit shows decisions, a finding and the lines that decided", async (page) => {
  await open(page, held.server.origin);
  assert.deepEqual(await verdicts(page), ["✓ allowed", "✓ allowed", "✗ disallowed", "✓ allowed"]);
  await linesAre(page, "lit", [17, 18, 19]);
  const strip = await page.locator("#decisions .decision").first().locator(".uses li").allInnerTexts();
  assert.equal(strip.length, 7);
  await says(page.locator("#findings-heading"), /^Findings: [1-9]/);
  await says(page.locator("#findings"), /line 17/);
  await page.locator("#overlay .mark").first().waitFor();
  await says(page.locator("#status"), /3 allowed, 1 disallowed/);
});

onPage("typing changes decisions and findings", async (page) => {
  await open(page, held.server.origin);
  await type(page, "#robots", "User-agent: *\nDisallow: /\n");
  await says(page.locator("#decisions-count"), /^1 allowed, 3 disallowed/);
  await linesAre(page, "lit", [2]);
  await page.locator("#robots").press("Control+End");
  await page.keyboard.type("Alow: /press/");
  await says(page.locator("#findings"), /line 3/);
  await page.keyboard.press("Home");
  await page.keyboard.type("Allow: /press/\n# ");
  await says(page.locator("#decisions-count"), /^2 allowed, 2 disallowed/);
  await type(page, "#urls", "/press/x\nnot a url\n");
  await says(page.locator("#decisions-count"), /1 allowed, 0 disallowed, 1 without an answer|1 allowed, 1 disallowed/);
});

onPage("a decision opens into its reasons, and its line is found", async (page) => {
  await open(page, held.server.origin);
  const row = page.locator(".decision").first();
  await row.getByRole("button", { name: /^Why/ }).click();
  await says(row.locator(".why"), /Disallow: \/\s/);
  const text = await row.locator(".why").innerText();
  for (const part of [
    /decides/,
    /lost/,
    /REP-8/,
    /GPTBot/,
    /chosen/,
    /skipped/,
    /content-usage/,
    /sitemap/,
    /misspelled/,
  ]) {
    assert.match(text, part);
  }
  // By key, the focus goes along and the line is selected.
  await row.locator(".by .line-link").press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "robots");
  assert.equal(await page.evaluate(() => getSelection().toString()), "Allow: /press/");
  await linesAre(page, "now", [18]);
});

onPage("a line far away is scrolled to and lit", async (page) => {
  await open(page, held.server.origin);
  const filler = "Disallow: /none\n".repeat(400);
  await type(page, "#robots", `User-agent: *\n${filler}Disallow: /press/\n`);
  await says(page.locator(".decision .by").first(), /line 402/);
  await page.locator(".decision .by .line-link").first().click();
  const there = page.locator('#gutter .number[data-line="402"]');
  await page.locator('#gutter .number.lit.disallowed[data-line="402"]').waitFor();
  const [frame, number] = [await page.locator("#editor").boundingBox(), await there.boundingBox()];
  assert.ok(number.y >= frame.y && number.y + number.height <= frame.y + frame.height, "the line is in sight");
  const drawn = await page.locator("#overlay .line").count();
  assert.ok(drawn < 100, `only what is in sight is drawn, not ${drawn} lines`);
});

onPage("a crawler is picked by keyboard", async (page) => {
  await open(page, held.server.origin);
  const agent = page.locator("#agent");
  await agent.fill("googlebot-im");
  await page.locator("#agent-list [role=option]").first().waitFor();
  assert.equal(await agent.getAttribute("aria-expanded"), "true");
  await agent.press("ArrowDown");
  const active = await agent.getAttribute("aria-activedescendant");
  assert.equal(await page.locator(`#${active}`).getAttribute("aria-selected"), "true");
  await agent.press("Enter");
  assert.equal(await agent.inputValue(), "Googlebot-Image");
  assert.equal(await agent.getAttribute("aria-expanded"), "false");
  // It falls back to Googlebot, whose group lets sorted lists be fetched.
  await says(page.locator("#decisions-count"), /^4 allowed, 0 disallowed/);
  await agent.press("ArrowDown");
  await agent.press("Escape");
  assert.equal(await agent.getAttribute("aria-expanded"), "false");
  assert.equal(await agent.inputValue(), "Googlebot-Image");
  // By its operator, and any other text.
  await agent.fill("openai");
  await says(page.locator("#agent-list"), /GPTBot/);
  await agent.fill("SomethingElse");
  await says(page.locator("#agent-hint"), /Not in the registry/);
  await agent.fill("(((");
  await says(page.locator("#decisions-count"), /without an answer/);
});

onPage("suggestions that come late are for what was typed before", async (page) => {
  let answer;
  const typed = new Promise((resolve) => (answer = resolve));
  await page.route("**/v1/registry/agents", async (route) => {
    await typed;
    await route.continue();
  });
  await open(page, held.server.origin);
  const agent = page.locator("#agent");
  await agent.fill("googlebot-im");
  assert.equal(await agent.getAttribute("aria-expanded"), "false");
  answer();
  await says(page.locator("#agent-list"), /Googlebot-Image/);
  assert.equal(await agent.getAttribute("aria-expanded"), "true");
});

onPage("purposes are completed one after the other", async (page) => {
  await open(page, held.server.origin);
  await type(page, "#robots", "User-agent-purpose: EXAMPLE-PURPOSE-2\nDisallow: /\n");
  // They are folded away until they are used.
  const purposes = page.getByRole("combobox", { name: /Purposes/ });
  assert.equal(await purposes.isVisible(), false);
  await page.getByText("Purposes and applications").click();
  await purposes.fill("EXAMPLE-PURPOSE-1, ex");
  await page.locator("#purposes-list [role=option]").nth(1).click();
  assert.equal(await purposes.inputValue(), "EXAMPLE-PURPOSE-1, EXAMPLE-PURPOSE-2");
  await says(page.locator("#decisions-count"), /^1 allowed, 3 disallowed/);
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.locator(".toast").waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  await page.goto("about:blank");
  await page.goto(link);
  await decided(page);
  assert.equal(await purposes.isVisible(), true);
});

onPage("the dialect changes decisions", async (page) => {
  await open(page, held.server.origin);
  await type(page, "#urls", "/robots.txt\n");
  await says(page.locator("#decisions-count"), /^1 allowed, 0 disallowed/);
  await page.locator("#dialect").selectOption("google");
  await says(page.locator("#decisions-count"), /^0 allowed, 1 disallowed/);
});

onPage("a fix is applied to octets, and can be undone", async (page) => {
  await open(page, held.server.origin);
  const written = "# Größe 🦊 日本\nUser-agent: *\n# ü\nDissallow: /ä\n";
  await type(page, "#robots", written);
  await says(page.locator("#findings"), /line 4/);
  const mark = page.locator("#overlay .line").nth(3).locator(".mark").first();
  assert.match(await mark.innerText(), /Dissallow/);
  await page.locator("#findings .finding", { hasText: "line 4" }).getByRole("button", { name: /^Fix/ }).first().click();
  const fixed = await page.locator("#robots").inputValue();
  assert.equal(fixed, written.replace("Dissallow", "Disallow"));
  await page.keyboard.press("Control+z");
  assert.equal(await page.locator("#robots").inputValue(), written);
});

onPage("F8 goes from finding to finding", async (page) => {
  await open(page, held.server.origin);
  await type(page, "#robots", "User-agent: *\nDissallow: /a\nAllow: /b\nDissallow: /c\n");
  await says(page.locator("#findings"), /all 2 of this kind/);
  await page.locator("#urls").focus();
  await page.keyboard.press("F8");
  assert.equal(await page.evaluate(() => getSelection().toString()), "Dissallow: /a");
  await page.keyboard.press("F8");
  const next = await page.evaluate(() => getSelection().toString());
  assert.notEqual(next, "Dissallow: /a");
});

onPage("a link holds everything, whatever it is written in", async (page, watch) => {
  await open(page, held.server.origin);
  const robots = "# \ufeffKäse, 日本語, 🦊 and \u202eturned\nUser-agent: *\nDisallow: /日本\n";
  await type(page, "#robots", robots);
  await type(page, "#urls", "https://example.com/日本/🦊\n");
  await type(page, "#agent", "Éa");
  await page.getByRole("tab", { name: "Page controls" }).click();
  await type(page, "#html", "<meta name=robots content=noindex><!-- ✓ -->");
  await page.locator("#use-page").check();
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.locator(".toast").waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/#1\.[A-Za-z0-9_-]+$/);
  const other = await watched(held.browser, held.server.origin);
  // An agent that is no token is refused in words, which the browser also writes to its console.
  for (const watched of [watch, other]) watched.expect(/status of 422/);
  await other.page.goto(link);
  await decided(other.page);
  assert.equal(await other.page.locator("#robots").inputValue(), robots);
  assert.equal(await other.page.locator("#urls").inputValue(), "https://example.com/日本/🦊\n");
  assert.equal(await other.page.locator("#page-agent").inputValue(), "Éa");
  assert.equal(await other.page.locator("#html").inputValue(), "<meta name=robots content=noindex><!-- ✓ -->");
  assert.equal(await other.page.locator("#use-page").isChecked(), true);
  assert.equal(await other.page.getByRole("tab", { selected: true }).innerText(), "Page controls");
  other.check();
  await other.close();
});

onPage("a damaged link shows the example and says so", async (page) => {
  await open(page, held.server.origin, "#1.AAAA");
  await says(page.locator(".toast"), /damaged/);
  assert.equal((await verdicts(page)).length, 4);
});

onPage("the address follows what is typed, and going back to the example clears it", async (page) => {
  await open(page, held.server.origin);
  await type(page, "#agent", "CCBot");
  await page.waitForFunction(() => location.hash.startsWith("#1."));
  await page.reload();
  await decided(page);
  assert.equal(await page.locator("#agent").inputValue(), "CCBot");
  await page.getByRole("button", { name: "Example", exact: true }).click();
  await page.waitForFunction(() => location.hash === "");
  assert.equal(await page.locator("#agent").inputValue(), "GPTBot");
});

onPage("a long list of findings makes no blank page below it", async (page) => {
  await open(page, held.server.origin);
  const lines = Array.from({ length: 40 }, (_, at) => `Dissallow: /a${at}\nfoo${at} bar\nnoindex: /x${at}\n`);
  await type(page, "#robots", `User-agent: *\n${lines.join("")}`);
  await says(page.locator("#findings"), /noindex/i);
  const over = await page.evaluate(() => {
    const end = document.querySelector("footer").getBoundingClientRect().bottom + scrollY;
    return document.documentElement.scrollHeight - Math.max(end, innerHeight);
  });
  assert.ok(over < 2, `${over} px below the end of the page`);
});

onPage("Example is undone by Ctrl+Z, and done again", async (page) => {
  await open(page, held.server.origin);
  const mine = "User-agent: *\nDisallow: /mine\n";
  await type(page, "#robots", mine);
  await type(page, "#urls", "/mine\n");
  await page.getByRole("button", { name: "Example", exact: true }).click();
  await says(page.locator("#decisions-count"), /^3 allowed, 1 disallowed/);
  await page.keyboard.press("Control+z");
  assert.equal(await page.locator("#robots").inputValue(), mine);
  assert.equal(await page.locator("#urls").inputValue(), "/mine\n");
  await says(page.locator("#decisions-count"), /^0 allowed, 1 disallowed/);
  await page.keyboard.press("Control+Shift+z");
  await says(page.locator("#decisions-count"), /^3 allowed, 1 disallowed/);
  // What is typed after it has the browser's own undo, and comes first.
  await page.locator("#robots").press("Control+End");
  await page.keyboard.insertText("# more");
  await page.keyboard.press("Control+z");
  assert.match(await page.locator("#robots").inputValue(), /sitemap\.xml\n$/);
  await page.keyboard.press("Control+z");
  assert.equal(await page.locator("#robots").inputValue(), mine);
});

onPage("what is too long for the address bar is there again after a reload, and can be shared", async (page) => {
  await open(page, held.server.origin);
  // Hard to deflate, so that the link is long.
  let seed = 1;
  const next = () => (seed = (seed * 48_271) % 2_147_483_647).toString(36);
  const long = `User-agent: *\n${Array.from({ length: 4000 }, () => `Disallow: /${next()}${next()}\n`).join("")}`;
  await page.evaluate((text) => navigator.clipboard.writeText(text), long);
  await page.locator("#robots").press("Control+a");
  await page.keyboard.press("Control+v");
  await page.waitForFunction(() => sessionStorage.getItem("mayi-state")?.length > 32_000);
  await page.reload();
  await decided(page);
  assert.equal(await page.locator("#robots").inputValue(), long);
  await page.getByRole("button", { name: "Copy link" }).click();
  await says(page.locator(".toast"), /characters: some programs cut links/);
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const other = await watched(held.browser, held.server.origin);
  await other.page.goto(link);
  await decided(other.page);
  assert.equal(await other.page.locator("#robots").inputValue(), long);
  other.check();
  await other.close();
  await page.getByRole("button", { name: "Example", exact: true }).click();
  await page.waitForFunction(() => sessionStorage.getItem("mayi-state") === null);
  await page.reload();
  await decided(page);
  assert.equal((await verdicts(page)).length, 4);
});

onPage("a URL of a hundred kilooctets does not hold the page up", async (page) => {
  await open(page, held.server.origin);
  await page.locator("#urls").evaluate((area) => {
    area.value = `/${"x".repeat(100 * 1024)}\nmailto:a@b.example\n`;
    area.dispatchEvent(new Event("input"));
  });
  await says(page.locator("#decisions-count"), /^0 allowed, 1 disallowed, 1 without an answer/);
  assert.ok((await page.locator(".decision .url").first().innerText()).length < 1000, "it is shown cut");
});

onPage(
  "in the colours of the system, what is lit and picked can still be told",
  async (page) => {
    await open(page, held.server.origin);
    await linesAre(page, "lit", [17, 18, 19]);
    const outline = (selector) =>
      page
        .locator(selector)
        .first()
        .evaluate((one) => getComputedStyle(one).outlineStyle);
    assert.equal(await outline("#overlay .line.lit"), "dashed");
    await page.locator("#agent").fill("goog");
    await page.locator("#agent").press("ArrowDown");
    const ground = (selector) =>
      page
        .locator(selector)
        .first()
        .evaluate((one) => getComputedStyle(one).backgroundColor);
    assert.notEqual(
      await ground('#agent-list [aria-selected="true"]'),
      await ground('#agent-list [aria-selected="false"]'),
    );
  },
  { forcedColors: "active" },
);

onPage("readings are compared side by side", async (page) => {
  await open(page, held.server.origin);
  await page.getByRole("tab", { name: "Decisions" }).press("ArrowRight");
  await page.getByRole("tab", { name: "Crawlers" }).press("ArrowRight");
  await page.getByRole("tab", { name: "Table" }).press("ArrowRight");
  await page.getByRole("tab", { name: "Changes" }).press("ArrowRight");
  assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Readings");
  const table = page.locator("#comparison table");
  await table.waitFor();
  const columns = await table.locator("thead th").count();
  assert.ok(columns > 2);
  await says(page.locator("#comparison"), /may not/);
  const link = table.locator(".line-link").first();
  const line = Number((await link.innerText()).match(/\d+/)[0]);
  await link.click();
  await linesAre(page, "now", [line]);
  await page.locator("#compare-agents").fill("Googlebot, Bingbot");
  await says(page.locator("#comparison"), /Googlebot, Bingbot|no difference between crawlers/);
});

onPage("page controls are read from header and HTML", async (page) => {
  await open(page, held.server.origin);
  await page.getByRole("tab", { name: "Page controls" }).click();
  await says(page.locator("#page-rules"), /noarchive/);
  await type(page, "#headers", "X-Robots-Tag: noindex, wibble\nContent-Usage: train-ai=n\n");
  await says(page.locator("#page-rules"), /✗ index/);
  await says(page.locator("#page-rules"), /Not understood: wibble/);
  await page.locator("#use-page").check();
  await page.getByRole("tab", { name: "Decisions" }).click();
  await says(page.locator(".decision .uses").first(), /✗ index/);
  await says(page.locator(".decision .uses").first(), /✗ train/);
});

onPage(
  "colours follow the system and the button, and are kept",
  async (page) => {
    await open(page, held.server.origin);
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    const button = page.locator("#theme");
    await button.click();
    assert.equal(await ground(), light);
    await button.click();
    const dark = await ground();
    assert.notEqual(dark, light);
    await page.reload();
    await decided(page);
    assert.equal(await ground(), dark);
    await button.click();
    assert.equal(await ground(), light);
  },
  { colorScheme: "light" },
);

onPage("help opens by key and closes by Esc; the skip link leads to the answers", async (page) => {
  await open(page, held.server.origin);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "answers");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Help" }).waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#help").evaluate((dialog) => dialog.open), false);
  assert.equal(new URL(page.url()).hash, "");
});

onPage("everything can be reached by Tab, and nothing holds the focus", async (page) => {
  await open(page, held.server.origin);
  const seen = new Set();
  for (let step = 0; step < 60; step++) {
    await page.keyboard.press("Tab");
    seen.add(await page.evaluate(() => document.activeElement.id || document.activeElement.className));
  }
  for (const id of [
    "copy-link",
    "theme",
    "help-open",
    "site",
    "robots",
    "tab-decisions",
    "agent",
    "dialect",
    "urls",
    "line-link",
    "toggle",
  ]) {
    assert.ok(seen.has(id), `${id} is reached; reached were ${[...seen].join(", ")}`);
  }
});

onPage("half a mebioctet stays answerable while it is typed into", async (page) => {
  await open(page, held.server.origin);
  // More than RFC 9309 asks for, and less than where files are cut.
  const long = `User-agent: *\n${Array.from({ length: 18_100 }, (_, n) => `Disallow: /folder/${n}/page\n`).join("")}`;
  assert.ok(long.length > 500 * 1024);
  await page.evaluate((text) => navigator.clipboard.writeText(text), long);
  await page.locator("#robots").press("Control+a");
  await page.keyboard.press("Control+v");
  await page.locator("#robots").press("Control+End");
  for (const key of "Disallow: /press/") await page.keyboard.press(key);
  // The main thread answers between the keys, and the decision comes.
  assert.equal(await page.evaluate(() => 6 * 7), 42);
  await says(page.locator(".decision .by").first(), /line 18102/);
  await page.locator("#robots").press("Control+Home");
  const first = page.locator('#gutter .number[data-line="1"]');
  await first.waitFor();
  assert.ok((await page.locator("#overlay .line").count()) < 100);
});

onPage("a line of half a mebioctet is shown plainly", async (page) => {
  await open(page, held.server.origin);
  await type(page, "#robots", `User-agent: *\nDisallow: /${"x".repeat(500 * 1024)}\nDisallow: /press/\n`);
  await says(page.locator(".decision .by").first(), /line 3/);
  await page.locator("#editor.plain").waitFor();
});

onPage("text of a file is never markup", async (page) => {
  await open(page, held.server.origin);
  const markup = "<img src=x onerror=alert(1)>";
  await type(page, "#robots", `User-agent: GPTBot\nDisallow: /${markup}\n${markup}: a\nSitemap: ${markup}\n`);
  await type(page, "#urls", `https://shop.example/${markup}\n`);
  await says(page.locator(".decision .by"), /line 2/);
  await page.getByRole("button", { name: /^Why/ }).click();
  await says(page.locator(".why"), /sitemap/);
  await page.getByRole("tab", { name: "Readings" }).click();
  await says(page.locator("#comparison"), /pattern/);
  assert.equal(await page.locator("img").count(), 0);
});

test("a server that is gone is said, and what was decided stays", async () => {
  const mortal = await serve();
  const watch = await watched(held.browser, mortal.origin);
  watch.expect(/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/);
  const { page } = watch;
  await open(page, mortal.origin);
  await mortal.stop();
  await page.locator("#agent").fill("CCBot");
  await says(page.locator("#problem"), /does not respond/);
  await page.getByRole("button", { name: "Try again" }).waitFor();
  assert.equal((await verdicts(page)).length, 4);
  watch.check();
  await watch.close();
});

test("a server that wants a key gets it", async () => {
  const made = spawnSync(program, ["serve", "--new-key", "page"], { encoding: "utf8" });
  const key = /^mayi_\S+$/m.exec(made.stderr)[0];
  const file = path.join(pictures, "keys");
  await writeFile(file, made.stdout);
  const locked = await serve("--keys", file);
  const watch = await watched(held.browser, locked.origin);
  watch.expect(/status of 401/);
  const { page } = watch;
  await page.goto(locked.origin);
  await says(page.locator("#problem"), /key/);
  await page.getByLabel("Key").fill(key);
  await page.getByLabel("Key").press("Enter");
  await says(page.locator("#decisions-count"), /^3 allowed, 1 disallowed/);
  // It goes once every question has been answered, not with the first.
  await page.locator("#problem").waitFor({ state: "hidden" });
  await page.locator("#agent").fill("openai");
  await says(page.locator("#agent-list"), /GPTBot/);
  watch.check();
  await watch.close();
  await locked.stop();
});
