// Where a file came from and how asking for it ended, in words: what a server said becomes what holds by
// REP-19 to REP-23.

import { code, counted, element, shown } from "./dom.js";

/** Why a server could not be asked, by the first word of the error. */
const FAILURES = {
  url: "the address can't be requested",
  scheme: "only http and https addresses can be fetched",
  dns: "there is no such host",
  connect: "the server does not accept connections",
  tls: "no secure connection was possible: the certificate or the encryption is not accepted",
  timeout: "the server took too long",
  connection: "the connection broke",
  truncated: "the response ended too early",
  protocol: "the response is not valid HTTP",
  coding: "the response is compressed in a way that is not understood",
  guard: "this service does not connect to that address",
  local: "this service has no capacity to fetch it now",
};

/** Where the copy is from that decisions use. */
const FROM = {
  fetched: "fetched now",
  revalidated: "a kept copy, which the server has just confirmed",
  fresh: "a kept copy, which is still fresh",
  "stale-while-revalidating": "an older copy, while the file is being fetched again",
  "stale-offline": "an older copy, because nothing is fetched",
  "stale-unreachable": "an older copy, because the server cannot be reached now",
  "stale-unavailable": "an older copy, although the server has just said that there is no file",
  none: "there is no copy",
};

/** Why there is no file, from an access result such as `unreachable: connect: …`. */
export function failure(access) {
  const why = access.replace(/^(unavailable|unreachable): /, "");
  const status = /^status (\d+)$/.exec(why);
  if (status) return `the server answered with status ${status[1]}`;
  const kind = /^([a-z]+): /.exec(why);
  return (kind && FAILURES[kind[1]]) ?? shown(why);
}

/** What holds now that a site was asked, in sentences. */
export function outcome(site) {
  const { origin, access, copy } = site;
  const where = shown(origin);
  if (access.startsWith("unavailable"))
    return [`${where} has no robots.txt: ${failure(access)}. Crawlers may fetch everything (REP-20).`];
  if (access !== "successful")
    return [
      `The robots.txt of ${where} could not be fetched: ${failure(access)}.`,
      "Until it can be, crawlers may fetch nothing, unless they have an older copy (REP-21).",
    ];
  const said = [`This is the robots.txt of ${where}.`];
  if (isWebPage(copy))
    said[0] =
      `This is a web page, not a robots.txt. ${where} sends it for /robots.txt; ` +
      "crawlers ignore lines that are not rules (REP-22).";
  if (isElsewhere(site))
    said.push(`It was found at another host, by redirects; its rules are still those for ${where} (REP-19).`);
  if (typeof copy.robots !== "string")
    said.push(
      "It is not UTF-8: decisions use its original octets. Here, characters that can't be decoded are replaced.",
    );
  if (copy.is_cut) said.push("It is longer than this service reads; the rest is ignored (REP-24).");
  const { from } = site.file ?? {};
  if (from?.startsWith("stale")) said.push(`It is ${FROM[from]} (REP-23).`);
  return said;
}

/** A document of HTML, by what the server calls it or by how it starts. */
const isWebPage = (copy) =>
  /^\s*(text\/html|application\/xhtml)/i.test(copy.content_type ?? "") ||
  /^\s*<(!doctype|html|head)\b/i.test(typeof copy.robots === "string" ? copy.robots : (copy.text ?? ""));

const isElsewhere = ({ origin, copy }) => !copy.url.startsWith(`${origin.replace(/\/$/, "")}/`);

/** The bare facts of a fetch in a row: status, size, type, time, redirects. */
export function facts(site, octets) {
  const asked = site.asked ?? [];
  const status = asked.findLast((hop) => hop.status)?.status;
  const redirects = asked.filter((hop) => hop.status >= 300 && hop.status < 400 && hop.status !== 304).length;
  return [
    status && `status ${status}`,
    octets !== null && counted(octets, "octet"),
    site.copy?.content_type && shown(site.copy.content_type, 60),
    redirects > 0 && counted(redirects, "redirect"),
    `asked ${ago(site.at)}`,
  ].filter(Boolean);
}

/** `3 minutes ago`, for a time in UTC. */
function ago(time) {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1000));
  if (seconds < 10) return "just now";
  const units = Object.entries({ day: 86_400, hour: 3600, minute: 60, second: 1 });
  const [unit, size] = units.find(([, size]) => seconds >= size);
  return `${counted(Math.floor(seconds / size), unit)} ago`;
}

/** Everything about a fetch as a list, or null. */
export function provenance(story) {
  if (!story) return null;
  const items = [
    ["copy", FROM[story.from] ?? story.from],
    ["result", story.access === "successful" ? "there is a file" : failure(story.access)],
    ["found at", story.url],
    ["fetched", moment(story.fetched)],
    ["last checked", moment(story.checked)],
    ["asked again after", moment(story.fresh_until)],
    ["failing since", moment(story.failing_since)],
    ...(story.hops ?? []).map((hop) => ["request", `${hop.url} → ${answerOf(hop)}`]),
  ].filter(([, text]) => text);
  return element(
    "dl",
    {},
    items.map(([what, text]) => [element("dt", {}, what), element("dd", {}, code(text))]),
  );
}

const answerOf = (hop) => hop.status ?? (hop.error ? failure(hop.error) : "no response");

/** `2026-11-16 09:30:08 UTC`. */
const moment = (time) => time?.replace("T", " ").replace("Z", " UTC");
