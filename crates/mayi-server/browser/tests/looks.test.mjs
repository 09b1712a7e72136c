// How the page looks and whether everybody can use it: pictures at several widths in two themes, and axe on
// every tab. The pictures are for people; what is asserted is that nothing is wider than the screen.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, test } from "node:test";
import { launch, open, pictures, says, serve, watched } from "./harness.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let server, browser;
before(async () => {
  [server, browser] = await Promise.all([serve(), launch()]);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** What can be seen, and how to get there. */
const VIEWS = {
  decisions: async () => {},
  why: async (page) => {
    await page.getByRole("button", { name: /^Why/ }).first().click();
    await says(page.locator(".why").first(), /REP-8/);
    await page.locator("details.json summary").first().click();
  },
  crawlers: async (page) => {
    await page.getByRole("button", { name: /^AI training/ }).click();
    await says(page.locator("#kind-training"), /GPTBot/);
  },
  wizard: async (page) => {
    await page.getByRole("button", { name: "Change this …" }).click();
    await page.locator("#goal-training").selectOption("refuse");
    await says(page.locator("#wizard-result"), /ClaudeBot/);
  },
  table: async (page) => {
    await page.getByRole("tab", { name: "Table" }).click();
    await page.locator(".cell.disallowed").first().click();
  },
  findings: async (page) => {
    const lines = Array.from({ length: 40 }, (_, at) => `Dissallow: /a${at}\nfoo${at} bar\nnoindex: /x${at}\n`);
    await page.locator("#robots").fill(`User-agent: *\n${lines.join("")}`);
    await page.getByText("all 40 of this kind").first().click();
  },
  manual: async (page) => {
    await page.locator("#findings a.code").first().click();
    await says(page.locator("#manual"), /What is wrong/);
  },
  changes: async (page) => {
    const robots = await page.locator("#robots").inputValue();
    await page
      .locator("#robots")
      .fill(`${robots.replace("Disallow: /cart/", "Disallow: /basket/")}\nUser-agent: ClaudeBot\nDisallow: /\n`);
    await page.getByRole("tab", { name: "Changes" }).click();
    await says(page.locator("#versions"), /ClaudeBot/);
  },
  readings: async (page) => {
    await page.getByRole("tab", { name: "Readings" }).click();
    await page.locator("#comparison table").waitFor();
  },
  page: async (page) => {
    await page.getByRole("tab", { name: "Page controls" }).click();
    await says(page.locator("#page-rules"), /noarchive/);
  },
  help: async (page) => {
    await page.getByRole("button", { name: "Help", exact: true }).click();
  },
  suggestions: async (page) => {
    await page.locator("#agent").fill("goog");
    await page.locator("#agent").press("ArrowDown");
  },
};

for (const [colorScheme, widths] of Object.entries({ light: [320, 390, 1280, 1440], dark: [320, 1280] })) {
  for (const width of widths) {
    for (const [view, go] of Object.entries(VIEWS)) {
      test(`${view}, ${width} px, ${colorScheme}`, async () => {
        const watch = await watched(browser, server.origin, { viewport: { width, height: 900 }, colorScheme });
        const { page } = watch;
        await open(page, server.origin);
        await says(page.locator("#findings-heading"), /^Findings: [1-9]/);
        await go(page);
        const file = path.join(pictures, `${view}-${width}-${colorScheme}.png`);
        await page.screenshot({ path: file, fullPage: width < 600 && !["help", "manual", "wizard"].includes(view) });
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `the page is ${over} px wider than the screen`);
        // Evaluated by the browser's debugger, which the content security policy does not bind.
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
        const told = violations.map(({ id, nodes }) => ({
          id,
          nodes: nodes.map((node) => `${node.html} ${node.failureSummary}`),
        }));
        assert.deepEqual(told, []);
        watch.check();
        await watch.close();
      });
    }
  }
}
