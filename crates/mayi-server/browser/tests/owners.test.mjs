// What the owner of a site comes for: to put the findings right, and to see who may fetch what.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { open, says, suite } from "./harness.mjs";

const { held, onPage } = suite();

const many = `User-agent: *\n${Array.from({ length: 30 }, (_, at) => `Dissallow: /a${at}\nfoo${at} bar\n`).join("")}`;

/** What a button downloads. */
async function downloaded(page, button) {
  const [saved] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return { name: saved.suggestedFilename(), text: await readFile(await saved.path(), "utf8") };
}

onPage("findings are counted, grouped by kind, filtered, and fixed together", async (page) => {
  await open(page, held.server.origin);
  await page.locator("#robots").fill(many);
  await says(page.locator("#findings-severities"), /60 \w+s|30 \w+s\s+30 \w+s/);
  const kinds = page.locator("#findings > .finding");
  assert.equal(await kinds.count(), 2);
  const group = kinds.filter({ hasText: "S002" });
  await group.getByText("all 30 of this kind").click();
  await group.locator(".alike .line-link", { hasText: /^line 60$/ }).click();
  await page.locator('#gutter .number.now[data-line="60"]').waitFor();
  await page.getByLabel("Filter findings").fill("S004");
  assert.equal(await kinds.count(), 1);
  await page.getByLabel("Filter findings").fill("");
  await page.locator("#findings-severities button").first().click();
  assert.ok((await kinds.count()) < 2);
  await page.locator("#findings-severities button").first().click();
  await group.getByRole("button", { name: /^Fix all 30/ }).click();
  assert.equal(await page.locator("#robots").inputValue(), many.replaceAll("Dissallow", "Disallow"));
  await page.keyboard.press("Control+z");
  assert.equal(await page.locator("#robots").inputValue(), many);
});

onPage("what is only a matter of style is found on request", async (page) => {
  await open(page, held.server.origin);
  await page.locator("#robots").fill("User-agent: *\nDisallow: /a*\n");
  await says(page.locator("#findings-heading"), /none/);
  await page.getByLabel("Style too").check();
  await says(page.locator("#findings"), /P006/);
});

onPage("a code leads to its manual page", async (page) => {
  await open(page, held.server.origin);
  await page.locator("#findings a.code", { hasText: "S002" }).click();
  const dialog = page.getByRole("dialog", { name: "About a finding" });
  await says(dialog, /S002 misspelled-name[\s\S]*What is wrong[\s\S]*What crawlers do/);
  await page.keyboard.press("Escape");
  assert.equal(await dialog.isVisible(), false);
});

onPage("the file is copied and downloaded", async (page) => {
  await open(page, held.server.origin);
  await page.locator("#robots").fill("User-agent: *\nDisallow: /ä\n");
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await says(page.locator(".toast"), /copied/);
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "User-agent: *\nDisallow: /ä\n");
  const file = await downloaded(page, page.getByRole("button", { name: "Download", exact: true }));
  assert.deepEqual(file, { name: "robots.txt", text: "User-agent: *\nDisallow: /ä\n" });
});

onPage("all crawlers and all URLs are in the table, a sign leads to its line, and CSV has everything", async (page) => {
  await open(page, held.server.origin);
  const urls = [...Array.from({ length: 30 }, (_, at) => `/cart/${at}`), "/press/", "mailto:x"];
  await page.locator("#urls").fill(urls.join("\n"));
  await page.getByRole("tab", { name: "Table" }).click();
  await page.locator("#grid-agents").fill("GPTBot, Googlebot, Nobody, *");
  await says(page.locator("#grid-count"), /32 URLs × 4 crawlers: 120 of 128 disallowed/);
  const heads = await page.locator(".grid thead th").allInnerTexts();
  assert.deepEqual(heads, ["URL", "GPTBot", "Googlebot", "Nobody", "any other crawler"]);
  assert.equal(await page.locator(".grid .cell").count(), 32 * 4);
  await page.getByRole("button", { name: "Googlebot: disallowed, line 11" }).first().click();
  await says(page.locator("#grid-line"), /Googlebot and \/cart\/0: disallowed, line 11 Disallow: \/cart\//);
  await page.locator('#gutter .number.now[data-line="11"]').waitFor();
  const { name, text } = await downloaded(page, page.getByRole("button", { name: "Download CSV" }));
  assert.equal(name, "decisions.csv");
  const rows = text.trim().split("\r\n");
  assert.equal(rows.length, 1 + 32 * 4);
  assert.equal(rows[0], "url,crawler,dialect,decision,reason,line,rule");
  assert.equal(rows[2], '"https://shop.example/cart/0","Googlebot","rfc9309","disallowed","rule","11","Disallow: /cart/"');
  assert.match(rows.at(-1), /"mailto:x","\*","rfc9309","no answer"/);
});

onPage(
  "on a phone every crawler is in sight, without scrolling sideways",
  async (page) => {
    await open(page, held.server.origin);
    await page.getByRole("tab", { name: "Table" }).click();
    await page.locator(".cards .cell").first().waitFor();
    const over = await page.locator("#grid").evaluate((grid) => grid.scrollWidth - grid.clientWidth);
    assert.ok(over <= 0, `the table is ${over} px wider than its place`);
    await says(page.locator(".cards li").nth(2), /✗ GPTBot/);
  },
  { viewport: { width: 390, height: 844 } },
);

onPage("an edit is told by what it means, crawler by crawler, against the file as it was opened", async (page) => {
  await open(page, held.server.origin);
  const before = await page.locator("#robots").inputValue();
  await page.getByRole("tab", { name: "Changes" }).click();
  await says(page.locator("#versions"), /The two files are the same/);
  await page.locator("#robots").fill(`${before}\nUser-agent: ClaudeBot\nDisallow: /\n`);
  await says(page.locator("#versions"), /Decisions change for 1 crawler/);
  await says(page.locator("#versions .change h3"), /^ClaudeBot$/);
  await says(page.locator("#versions .change"), /may no longer fetch[\s\S]*for example https:\/\/shop\.example\//);
  await says(page.locator("#versions .change"), /now: line 26 Disallow: \//);
  assert.deepEqual(await page.locator("#versions .changed.added").allTextContents(), [
    "+ added:  ",
    "+ added: User-agent: ClaudeBot",
    "+ added: Disallow: /",
  ]);
});

onPage("a file can be compared with a pasted one, and the link holds it", async (page) => {
  await open(page, held.server.origin);
  await page.locator("#robots").fill("User-agent: *\nDisallow: /a\n");
  await page.getByRole("tab", { name: "Changes" }).click();
  await page.locator("#earlier").selectOption("a file that I paste");
  await page.locator("#other").fill("User-agent: *\nDisallow: /b\n\nSitemap: https://shop.example/s.xml\n");
  await says(page.locator("#versions"), /all other crawlers/);
  await says(page.locator("#versions"), /✗ may no longer fetch\s+\/a/);
  await says(page.locator("#versions"), /✓ may now fetch\s+\/b/);
  await says(page.locator("#versions"), /sitemap: removed https:\/\/shop\.example\/s\.xml/i);
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.locator(".toast").waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  await page.goto("about:blank");
  await page.goto(link);
  await says(page.locator("#versions"), /✗ may no longer fetch\s+\/a/);
});

onPage("Format puts a file in order, and can be undone", async (page) => {
  await open(page, held.server.origin);
  await page.locator("#robots").fill("user-agent:*\ndisallow:/a\n");
  await page.getByRole("button", { name: "Format" }).click();
  await says(page.locator(".toast"), /No decision has changed/);
  assert.equal(await page.locator("#robots").inputValue(), "User-agent: *\nDisallow: /a\n");
  await page.keyboard.press("Control+z");
  assert.equal(await page.locator("#robots").inputValue(), "user-agent:*\ndisallow:/a\n");
});

onPage("who may do what is the first thing shown, and each kind of crawler leads to its crawlers", async (page) => {
  await open(page, held.server.origin);
  const top = page.getByRole("region", { name: "Who may do what with this site?" });
  await says(top, /AI training/);
  const box = await top.boundingBox();
  const editor = await page.locator("#editor").boundingBox();
  assert.ok(box.y < editor.y, "it is above the editor");
  await top.getByRole("button", { name: /^AI training/ }).click();
  assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Crawlers");
  const training = page.locator("#kind-training");
  const row = training.locator("tr", { hasText: "GPTBot" });
  await says(row, /a part/);
  await row.getByRole("button", { name: "line 17" }).first().click();
  await page.locator('#gutter .number.now[data-line="17"]').waitFor();
  // A crawler that may fetch nothing may not train either: that is said, and not "unknown".
  await page.locator("#robots").fill("User-agent: GPTBot\nDisallow: /\n");
  await says(row, /nothing/);
  await says(row, /✗ train\s*: disallowed/);
});

onPage("a whole User-Agent string is understood, and other names in it are offered", async (page) => {
  await open(page, held.server.origin);
  await page.locator("#agent").fill("Mozilla/5.0 (compatible; Googlebot/2.1; bingbot/2.0)");
  await says(page.locator("#agent-hint"), /read as the crawler Googlebot\. It also names bingbot/);
  await says(page.locator("#decisions-count"), /^4 allowed/);
  await page.getByRole("button", { name: "Take bingbot" }).click();
  assert.equal(await page.locator("#agent").inputValue(), "bingbot");
  await says(page.locator("#agent-hint"), /Microsoft/);
  await page.locator("#agent").fill("Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0");
  await says(page.locator("#agent-hint"), /names no crawler/);
});

onPage("what may not be fetched may not be used, and the page says so instead of a question mark", async (page) => {
  await open(page, held.server.origin);
  await page.locator("#robots").fill("User-agent: GPTBot\nDisallow: /\n");
  await page.locator("#urls").fill("https://shop.example/a\n");
  await says(page.locator("#decisions-count"), /0 allowed, 1 disallowed/);
  await says(page.locator("#decisions .uses"), /✗ train\s*: disallowed/);
  assert.match(await page.locator("#decisions .uses .answer", { hasText: "train" }).getAttribute("title"), /can't be used/);
});

onPage("an archive whose data trains models is listed with the training crawlers", async (page) => {
  await open(page, held.server.origin);
  await page.getByRole("button", { name: /^AI training/ }).click();
  await says(page.locator("#kind-training"), /CCBot \(its archive is used for this\)/);
  await says(page.locator("#kind-archive"), /CCBot/);
});

onPage("the table says in which dialect it was asked, and leads to where others differ", async (page) => {
  await open(page, held.server.origin);
  await page.locator("#dialect").selectOption("google");
  await page.getByRole("tab", { name: "Table" }).click();
  await says(page.locator("#grid-dialect"), /These are the decisions of the dialect google/);
  await page.getByRole("button", { name: "Show where other dialects decide differently" }).click();
  assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Readings");
});
