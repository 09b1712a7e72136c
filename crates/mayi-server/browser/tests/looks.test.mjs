// How the page looks and whether everybody can use it: pictures at two widths in two themes, and axe on
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
  compare: async (page) => {
    await page.getByRole("tab", { name: "Compare" }).click();
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

for (const colorScheme of ["light", "dark"]) {
  for (const width of [320, 1280]) {
    for (const [view, go] of Object.entries(VIEWS)) {
      test(`${view}, ${width} px, ${colorScheme}`, async () => {
        const watch = await watched(browser, server.origin, { viewport: { width, height: 900 }, colorScheme });
        const { page } = watch;
        await open(page, server.origin);
        await says(page.locator("#findings-heading"), /^Findings: [1-9]/);
        await go(page);
        const file = path.join(pictures, `${view}-${width}-${colorScheme}.png`);
        await page.screenshot({ path: file, fullPage: width < 600 && view !== "help" });
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
