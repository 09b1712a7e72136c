// What a first visit shows: a file with several groups and a misspelled name, and a crawler.

const ROBOTS = `# The robots.txt of a small shop.

User-agent: *
Disallow: /cart/
Disallow: /*?sort=
Allow: /cart/help

# Search engines may see sorted lists too.
User-agent: Googlebot
User-agent: Bingbot
Disallow: /cart/
Allow: /cart/help

# Crawlers for AI: the press pages and the help.
User-agent: GPTBot
User-agent: CCBot
Dissallow: /
Allow: /press/
Allow: /cart/help$
Content-Usage: train-ai=n
Content-Usage: /press/ train-ai=y, search=y

Sitemap: https://shop.example/sitemap.xml
`;

const HEADERS = `Content-Type: text/html; charset=utf-8
X-Robots-Tag: noarchive, max-snippet: 120
Cache-Control: max-age=600
`;

const HTML = `<!doctype html>
<title>Autumn sale</title>
<meta name="robots" content="nofollow">
<meta name="GPTBot" content="noindex, nosnippet">
<p>Everything must go.</p>
`;

/** Everything that the page holds and a link carries. */
export const EXAMPLE = Object.freeze({
  robots: ROBOTS,
  agent: "GPTBot",
  purposes: "",
  apps: "",
  dialect: "rfc9309",
  urls: `https://shop.example/press/2026/autumn
https://shop.example/cart/help
https://shop.example/shoes?sort=price
https://shop.example/robots.txt
`,
  base: "https://shop.example",
  compareAgents: "",
  other: "",
  headers: HEADERS,
  html: HTML,
  usePage: false,
  style: false,
  tab: "decisions",
});
