// What the tests share: our server, a site of the test on loopback, a browser, and pages that are watched.
//
// A watched page fails its test when it asks another origin, writes an error to the console, throws, or is
// stopped by the content security policy.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const workspace = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../..");

/** Where screenshots go. */
export const pictures = path.join(process.env.CARGO_TARGET_DIR ?? path.join(workspace, "target"), "page");
await mkdir(pictures, { recursive: true });

/** The program. */
export const program = process.env.MAYI ?? path.join(workspace, "target/debug/mayi");

/** The servers that run. One that is left behind would keep its test file from ending. */
const running = new Set();
after(() => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts the server on a port that is free; gives its address and a way to end it. */
export async function serve(...more) {
  const args = ["serve", "--listen", "127.0.0.1:0", "--allow-address", "127.0.0.0/8", "--store", "memory", ...more];
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  ended.then(() => running.delete(child));
  let said = "";
  const address = await new Promise((resolve, reject) => {
    const hear = (octets) => {
      said += octets;
      const found = /https?:\/\/127\.0\.0\.1:[1-9]\d*/.exec(said) ?? /\b127\.0\.0\.1:[1-9]\d*/.exec(said);
      if (found) resolve(found[0].startsWith("http") ? found[0] : `http://${found[0]}`);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("error", reject);
    ended.then((code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return { origin: address, stop };
}

/** A site on loopback: paths and what they answer, `{status, headers, body}`. */
export async function site(answers) {
  const server = http.createServer((request, response) => {
    const { status = 200, headers = {}, body = "" } = answers[request.url] ?? { status: 404 };
    response.writeHead(status, headers);
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { origin: `http://127.0.0.1:${server.address().port}`, stop };
}

/** The browser: Debian's Chromium, or the one that `MAYI_CHROMIUM` names. It asks nobody on its own. */
export const launch = () =>
  chromium.launch({
    executablePath: process.env.MAYI_CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
      "--disable-quic",
    ],
  });

/** With `MAYI_PAGE=disk` the files of the page are read from their folder: a change needs no build. */
async function fromDisk(context, origin) {
  const folder = path.join(workspace, "crates/mayi-server/page");
  const types = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
  const policy = (await fetch(origin)).headers.get("content-security-policy");
  await context.route(
    (url) => url.origin === origin && /^\/([\w-]+\.(js|css|svg))?$/.test(url.pathname),
    async (route) => {
      const name = new URL(route.request().url()).pathname.slice(1) || "index.html";
      const type = `${types[name.split(".").at(-1)]}; charset=utf-8`;
      const headers = { "content-security-policy": policy, "content-type": type };
      await route.fulfill({ headers, body: await readFile(path.join(folder, name)) });
    },
  );
}

/** A page of its own, and `check`, which fails where something went wrong that must not. */
export async function watched(browser, origin, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  if (process.env.MAYI_PAGE === "disk") await fromDisk(context, origin);
  const page = await context.newPage();
  const wrong = [];
  let expected = [];
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) wrong.push(`asked ${request.url()}`);
  });
  page.on("console", (message) => {
    if (message.type() === "error") wrong.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => wrong.push(`thrown: ${error.stack}`));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  return {
    page,
    /** Things that this test brings about itself. */
    expect: (...patterns) => (expected = patterns),
    check: () => {
      const unexpected = wrong.filter((one) => !expected.some((pattern) => pattern.test(one)));
      assert.deepEqual(unexpected, []);
    },
    close: () => context.close(),
  };
}

/** Opens the page and waits until it has decided. */
export async function open(page, origin, fragment = "") {
  await page.goto(`${origin}/${fragment}`);
  await decided(page);
}

/** Waits until the decisions that are shown are those that were asked for. */
export const decided = (page) =>
  page.waitForFunction(() => document.querySelector("#decisions")?.getAttribute("aria-busy") === "false");

/** The verdicts that are shown, in order. */
export const verdicts = (page) => page.locator("#decisions .verdict .answer").allInnerTexts();

/** Waits until a locator's text matches. */
export async function says(locator, pattern) {
  const deadline = Date.now() + 15_000;
  let text = null;
  while (Date.now() < deadline) {
    text = await locator.innerText({ timeout: 1000 }).catch(() => null);
    if (text !== null && pattern.test(text)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.match(String(text), pattern);
}

/** A server and a browser for the tests of a file, and `onPage`, which makes a test with a page that is watched. */
export function suite() {
  const held = {};
  before(async () => {
    [held.server, held.browser] = await Promise.all([serve(), launch()]);
  });
  after(async () => {
    await held.browser?.close();
    await held.server?.stop();
  });
  const onPage = (name, run, options) =>
    test(name, async () => {
      const watch = await watched(held.browser, held.server.origin, options);
      try {
        await run(watch.page, watch);
        watch.check();
      } finally {
        await watch.close();
      }
    });
  return { held, onPage };
}
