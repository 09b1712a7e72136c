// The wizard: the smallest edit of the file in the editor, or a new file, with what it means.

import assert from "node:assert/strict";
import { open, pictures, says, suite } from "./harness.mjs";

const { held, onPage } = suite();

const text = (page) => page.locator("#robots").inputValue();

async function openWizard(page) {
  await open(page, held.server.origin);
  await page.getByRole("button", { name: "Change this …" }).click();
  return page.getByRole("dialog", { name: "Change who may do what" });
}

onPage("refusing AI training changes the file as little as possible, and Ctrl+Z undoes it", async (page) => {
  const dialog = await openWizard(page);
  const before = await text(page);
  await says(dialog, /Nothing is chosen yet/);
  await dialog.getByLabel("AI training", { exact: true }).selectOption("may fetch nothing");
  await says(dialog.locator("#wizard-result"), /ClaudeBot[\s\S]*may no longer fetch/);
  // Nothing else changes: whatever is not about AI training keeps its decisions.
  assert.doesNotMatch(await dialog.locator(".change h3").allInnerTexts().then(String), /Googlebot|all other crawlers/);
  await dialog.getByRole("button", { name: "Put it into the editor" }).click();
  const after = await text(page);
  assert.match(after, /User-agent: ClaudeBot/i);
  assert.ok(after.startsWith("# The robots.txt of a small shop."), "comments stay");
  await says(page.locator("#overview-sentences"), /AI training crawlers may fetch nothing|may not train/);
  await page.keyboard.press("Control+z");
  assert.equal(await text(page), before);
});

onPage("a single crawler is kept out of a folder, and a wrong path is said to be one", async (page, watch) => {
  watch.expect(/status of 422/);
  const dialog = await openWizard(page);
  await dialog.getByText("Single crawlers").click();
  await dialog.getByLabel("Crawlers, separated by commas").fill("ClaudeBot");
  await dialog.getByLabel("May they?").selectOption("may not fetch");
  await dialog.getByLabel("What, as a path").fill("/shoes/");
  await says(dialog.locator(".change h3"), /^ClaudeBot$/);
  await says(dialog.locator("#wizard-result"), /Disallow: \/shoes\//);
  await dialog.getByLabel("What, as a path").fill("shoes");
  await says(dialog.locator("#wizard-result"), /start with/);
  assert.equal(await dialog.getByRole("button", { name: "Put it into the editor" }).isDisabled(), true);
  await page.keyboard.press("Escape");
  assert.equal(await dialog.isVisible(), false);
});

onPage("a new file is written from answers", async (page) => {
  const dialog = await openWizard(page);
  await dialog.getByLabel("Write a new file").check();
  await dialog.getByLabel("AI training", { exact: true }).selectOption("may fetch nothing");
  await dialog.getByLabel("Search engines", { exact: true }).selectOption("may fetch everything");
  await dialog.getByLabel("Folders to keep all crawlers out of").fill("/cart/\n/account/\n");
  await dialog.getByLabel("Sitemaps").fill("https://shop.example/sitemap.xml");
  await dialog.getByText("Also use new proposed lines").click();
  await dialog.getByLabel(/Content-Signal/).check();
  await says(dialog.locator(".lines"), /Disallow: \/account\//);
  await dialog.getByRole("button", { name: "Put it into the editor" }).click();
  const written = await text(page);
  assert.match(
    written,
    /^User-agent: \*\nContent-Signal: search=yes, ai-train=no\nDisallow: \/cart\/\nDisallow: \/account\/\n/,
  );
  assert.match(written, /User-agent: GPTBot\n/);
  // Its archive is used to train models.
  assert.match(written, /User-agent: CCBot\n/);
  assert.match(written, /\nSitemap: https:\/\/shop\.example\/sitemap\.xml\n/);
  await says(page.locator("#findings-heading"), /none/);
});

onPage("a kind of site gives answers and says why, and each answer can be changed", async (page) => {
  const dialog = await openWizard(page);
  await dialog.getByLabel("Write a new file").check();
  const kinds = await dialog.getByLabel("What kind of site is it?").locator("option").allInnerTexts();
  assert.equal(kinds.length, 6, String(kinds));
  await dialog.getByLabel("What kind of site is it?").selectOption("A shop");
  await says(dialog.locator("#wizard-site-hint"), /People should find your products/);
  assert.equal(await dialog.getByLabel("AI training", { exact: true }).inputValue(), "refuse");
  const folders = dialog.getByLabel("Folders to keep all crawlers out of");
  assert.equal(await folders.inputValue(), "/cart/\n/checkout/\n/account/");
  await folders.fill("/basket/");
  await says(dialog.locator("#wizard-result"), /AI training crawlers may fetch nothing, so they may not use this site/);
  await says(dialog.locator(".lines"), /Disallow: \/basket\//);
  await page.screenshot({ path: `${pictures}/task-wizard-shop.png` });
  await dialog.getByLabel("What kind of site is it?").selectOption("Not for the public: a test site, an intranet");
  await says(dialog.locator("#wizard-site-hint"), /needs a password/);
  await says(dialog.locator("#wizard-result"), /Crawlers may fetch nothing/);
  await dialog.getByRole("button", { name: "Put it into the editor" }).click();
  assert.equal(await text(page), "User-agent: *\nDisallow: /\n");
});

onPage("an existing file gets the words of the proposals and a sitemap, and no decision changes", async (page) => {
  await open(page, held.server.origin);
  await page.locator("#robots").fill("User-agent: *\nDisallow: /cart/ # baskets\n");
  await page.getByRole("button", { name: "Change this …" }).click();
  const dialog = page.getByRole("dialog", { name: "Change who may do what" });
  await dialog.getByText("Also use new proposed lines").click();
  await dialog.getByLabel("Used to train AI models").selectOption("no");
  await dialog.getByLabel(/Content-Usage/).check();
  await dialog.getByLabel(/Content-Signal/).check();
  await dialog.getByLabel("Purposes that may fetch nothing").fill("EXAMPLE-PURPOSE-1");
  await dialog.getByLabel("Sitemaps").fill("https://shop.example/sitemap.xml");
  await says(dialog.locator("#wizard-result"), /may not be used to train AI models/);
  await says(dialog.locator("#wizard-result"), /content-usage: added train-ai=n/i);
  await page.screenshot({ path: `${pictures}/task-wizard-proposals.png` });
  await dialog.getByRole("button", { name: "Put it into the editor" }).click();
  assert.equal(
    await text(page),
    "User-agent: *\nContent-Usage: train-ai=n\nContent-Signal: ai-train=no\nDisallow: /cart/ # baskets\n\n" +
      "User-Agent-Purpose: EXAMPLE-PURPOSE-1\nDisallow: /\n\nSitemap: https://shop.example/sitemap.xml\n",
  );
  await page.keyboard.press("Control+z");
  assert.equal(await text(page), "User-agent: *\nDisallow: /cart/ # baskets\n");
});

onPage("what is an exception already is not touched, and the wizard names its line", async (page) => {
  const dialog = await openWizard(page);
  await dialog.getByText("Also use new proposed lines").click();
  await dialog.getByLabel("Used to train AI models").selectOption("no");
  await dialog.getByLabel(/Content-Usage/).check();
  await says(dialog.locator("#wizard-result"), /line 21 \(Content-Usage: \/press\/ train-ai=y, search=y\).*by hand/);
  assert.equal(await dialog.getByRole("button", { name: "Put it into the editor" }).isDisabled(), true);
});
