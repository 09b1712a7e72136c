// Kinds of sites: what their owners usually want. Each is a start that every answer can be changed from.

/**
 * By name: what people call it, why these answers, the kinds of crawlers that are refused, what pages may be used
 * for, and folders that no crawler needs.
 */
export const SITES = {
  shop: {
    label: "A shop",
    why: "People should find your products, also through AI search and assistants. Carts and accounts are different for every visitor and are useless in search results. AI training is refused: change that if models should know your products.",
    refused: ["training"],
    uses: { search: "allowed", "ai-input": "allowed", train: "disallowed" },
    folders: ["/cart/", "/checkout/", "/account/"],
  },
  news: {
    label: "A blog or news",
    why: "Readers come from search engines, and AI search links to you. Your texts are your income, so AI training is refused. The search of your own site has an unlimited number of result pages for a crawler.",
    refused: ["training"],
    uses: { search: "allowed", "ai-input": "allowed", train: "disallowed" },
    folders: ["/search/"],
  },
  documentation: {
    label: "Documentation",
    why: "People ask search engines and assistants how your product works, so all may read it, for AI training too. The search of your own site has an unlimited number of result pages for a crawler.",
    refused: [],
    uses: { search: "allowed", "ai-input": "allowed", train: "allowed" },
    folders: ["/search/"],
  },
  company: {
    label: "A company, a club or a person",
    why: "Everybody should find you and know what you do, so nobody is refused. A login page is of no use to crawlers.",
    refused: [],
    uses: { search: "allowed", "ai-input": "allowed", train: "allowed" },
    folders: ["/login/"],
  },
  private: {
    label: "Not for the public: a test site, an intranet",
    why: "No crawler should come. But robots.txt is only a request, and everybody can read it: what must stay private needs a password.",
    refused: [],
    uses: {},
    folders: ["/"],
  },
};
