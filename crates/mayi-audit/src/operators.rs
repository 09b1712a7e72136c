//! What operators publish about the addresses of their crawlers: the names of their lists, and the host
//! names that reverse DNS has for them. Each row says where that is documented.

use mayi::registry::{Agent, Registry};

/// What is known about some crawlers of one operator.
struct Published {
    /// The name of the file with their ranges, without its ending, in lower case.
    files: &'static [&'static str],
    /// Their product tokens.
    tokens: &'static [&'static str],
    /// What the names of their addresses end in.
    hosts: &'static [&'static str],
}

const PUBLISHED: &[Published] = &[
    // https://developers.google.com/crawling/docs/crawlers-fetchers/verify-google-requests
    Published {
        files: &["googlebot", "common-crawlers", "google"],
        tokens: &[
            "Googlebot",
            "Googlebot-Image",
            "Googlebot-News",
            "Googlebot-Video",
            "Storebot-Google",
            "Google-InspectionTool",
            "GoogleOther",
            "GoogleOther-Image",
            "GoogleOther-Video",
            "Google-CloudVertexBot",
        ],
        hosts: &["googlebot.com"],
    },
    Published {
        files: &["special-crawlers", "google"],
        tokens: &[
            "AdsBot-Google",
            "AdsBot-Google-Mobile",
            "AdsBot-Google-Mobile-Apps",
            "Mediapartners-Google",
            "APIs-Google",
            "Google-Safety",
        ],
        hosts: &["google.com"],
    },
    Published {
        files: &[
            "user-triggered-fetchers",
            "user-triggered-fetchers-google",
            "user-triggered-agents",
            "google",
        ],
        tokens: &[
            "FeedFetcher-Google",
            "Google-Read-Aloud",
            "Google-Site-Verification",
            "Google-NotebookLM",
            "Google-Pinpoint",
            "Google-CWS",
            "GoogleProducer",
            "GoogleMessages",
            "Google-Agent",
        ],
        hosts: &["google.com", "gae.googleusercontent.com"],
    },
    // https://www.bing.com/webmasters/help/how-to-verify-bingbot-3905dc26
    Published {
        files: &["bingbot", "bing", "microsoft"],
        tokens: &[
            "bingbot",
            "AdIdxBot",
            "BingPreview",
            "BingVideoPreview",
            "MicrosoftPreview",
            "msnbot",
            "msnbot-media",
        ],
        hosts: &["search.msn.com"],
    },
    // https://platform.openai.com/docs/bots
    Published { files: &["gptbot", "openai"], tokens: &["GPTBot"], hosts: &[] },
    Published {
        files: &["searchbot", "oai-searchbot", "openai"],
        tokens: &["OAI-SearchBot"],
        hosts: &[],
    },
    Published { files: &["chatgpt-user", "openai"], tokens: &["ChatGPT-User"], hosts: &[] },
    Published { files: &["adsbot", "oai-adsbot", "openai"], tokens: &["OAI-AdsBot"], hosts: &[] },
    // https://support.claude.com/en/articles/8896518
    Published {
        files: &["claudebot", "anthropic", "claude"],
        tokens: &["ClaudeBot", "Claude-User", "Claude-SearchBot", "Claude-Web", "anthropic-ai"],
        hosts: &[],
    },
    // https://docs.perplexity.ai/guides/bots
    Published { files: &["perplexitybot", "perplexity"], tokens: &["PerplexityBot"], hosts: &[] },
    Published { files: &["perplexity-user", "perplexity"], tokens: &["Perplexity-User"], hosts: &[] },
    // https://support.apple.com/en-us/119829
    Published { files: &["applebot", "apple"], tokens: &["Applebot"], hosts: &["applebot.apple.com"] },
    // https://commoncrawl.org/ccbot
    Published {
        files: &["ccbot", "commoncrawl", "common-crawl"],
        tokens: &["CCBot"],
        hosts: &["crawl.commoncrawl.org"],
    },
    // https://duckduckgo.com/duckduckgo-help-pages/results/duckduckbot
    Published { files: &["duckduckbot", "duckduckgo"], tokens: &["DuckDuckBot"], hosts: &[] },
    Published { files: &["duckassistbot", "duckduckgo"], tokens: &["DuckAssistBot"], hosts: &[] },
    // https://developer.amazon.com/amazonbot
    Published {
        files: &["amazonbot", "amazon"],
        tokens: &["Amazonbot"],
        hosts: &["crawl.amazonbot.amazon"],
    },
    // https://yandex.com/support/webmaster/robot-workings/check-yandex-robots.html
    Published {
        files: &["yandex", "yandexbot"],
        tokens: &[
            "YandexBot",
            "YandexImages",
            "YandexVideo",
            "YandexMedia",
            "YandexNews",
            "YandexMobileBot",
            "YandexWebmaster",
        ],
        hosts: &["yandex.ru", "yandex.net", "yandex.com"],
    },
    // https://help.baidu.com/question?prod_id=99&class=0&id=3001
    Published {
        files: &["baiduspider", "baidu"],
        tokens: &[
            "Baiduspider",
            "Baiduspider-image",
            "Baiduspider-news",
            "Baiduspider-render",
            "Baiduspider-video",
        ],
        hosts: &["baidu.com", "baidu.jp"],
    },
    // https://napoveda.seznam.cz/en/seznambot-crawler/
    Published { files: &["seznambot", "seznam"], tokens: &["SeznamBot"], hosts: &["seznam.cz"] },
    // https://webmaster.petalsearch.com/site/petalbot
    Published { files: &["petalbot"], tokens: &["PetalBot"], hosts: &["petalsearch.com"] },
    // https://www.mojeek.com/bot.html
    Published { files: &["mojeekbot", "mojeek"], tokens: &["MojeekBot"], hosts: &["mojeek.com"] },
];

/// What the host names of a crawler's addresses end in, as its operator says; none if it does not say.
pub fn host_names_of(agent: &Agent) -> &'static [&'static str] {
    let has =
        |row: &&Published| row.tokens.iter().any(|token| token.eq_ignore_ascii_case(&agent.token));
    PUBLISHED.iter().find(has).map_or(&[], |row| row.hosts)
}

/// Whether a host name is one of those of a crawler's addresses.
///
/// ```
/// let registry = mayi::registry::Registry::built_in();
/// let googlebot = registry.agent("Googlebot").expect("it is known");
/// assert!(mayi_audit::is_host_of(googlebot, "crawl-66-249-66-1.googlebot.com."));
/// assert!(!mayi_audit::is_host_of(googlebot, "googlebot.com.evil.example"));
/// assert!(!mayi_audit::is_host_of(googlebot, "notgooglebot.com"));
/// ```
pub fn is_host_of(agent: &Agent, host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let ends_in = |name: &&str| host.strip_suffix(*name).is_some_and(|before| before.ends_with('.'));
    host_names_of(agent).iter().any(ends_in)
}

/// The crawlers that a file of ranges is about, by its name without its ending.
pub(crate) fn crawlers_of_file<'r>(stem: &str, registry: &'r Registry) -> Vec<&'r Agent> {
    let stem = stem.to_ascii_lowercase();
    // A name may have more words around it, as `openai-gptbot` or `bingbot_2026`: the longest run of words
    // that is a name counts.
    let breaks = stem.match_indices(['-', '_', '.']).map(|(at, _)| at).take(MOST_WORDS - 1);
    let starts: Vec<_> = std::iter::once(0).chain(breaks.clone().map(|at| at + 1)).collect();
    let ends: Vec<_> = breaks.chain([stem.len()]).collect();
    let mut runs: Vec<_> =
        starts.iter().flat_map(|&start| ends.iter().map(move |&end| (start, end))).collect();
    runs.retain(|(start, end)| start < end);
    runs.sort_by_key(|(start, end)| std::cmp::Reverse(end - start));
    let found = runs.into_iter().map(|(start, end)| crawlers_named(&stem[start..end], registry));
    found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

/// In how many words the name of a file is taken apart.
const MOST_WORDS: usize = 8;

fn crawlers_named<'r>(name: &str, registry: &'r Registry) -> Vec<&'r Agent> {
    let rows = PUBLISHED.iter().filter(|row| row.files.contains(&name));
    let mut found: Vec<_> =
        rows.flat_map(|row| row.tokens).filter_map(|token| registry.agent(token)).collect();
    if found.is_empty() {
        found.extend(registry.agent(name));
        // A crawler's ranges are those of the crawlers that use its groups, too.
        let follows = |agent: &&Agent| agent.fallback().any(|token| token.eq_ignore_ascii_case(name));
        if !found.is_empty() {
            found.extend(registry.agents().iter().filter(follows));
        }
    }
    if found.is_empty() {
        let is_operator = |agent: &&Agent| {
            let plain = |octet: &u8| octet.is_ascii_alphanumeric();
            let operator = agent.operator.bytes().filter(plain).map(|octet| octet.to_ascii_lowercase());
            operator.eq(name.bytes().filter(plain))
        };
        found.extend(registry.agents().iter().filter(is_operator));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_their_names() {
        let registry = Registry::built_in();
        let tokens = |stem: &str| {
            let mut tokens: Vec<_> =
                crawlers_of_file(stem, &registry).iter().map(|agent| &*agent.token).collect();
            tokens.sort_unstable();
            tokens.join(" ")
        };
        assert!(tokens("googlebot").contains("Googlebot-Image"));
        assert!(tokens("special-crawlers").contains("AdsBot-Google"));
        for (stem, token) in [
            ("bingbot", "bingbot"),
            ("gptbot", "GPTBot"),
            ("openai-gptbot", "GPTBot"),
            ("gptbot-ranges", "GPTBot"),
            ("searchbot", "OAI-SearchBot"),
            ("anthropic", "ClaudeBot"),
            ("perplexitybot", "PerplexityBot"),
            ("applebot", "Applebot"),
            ("ccbot", "CCBot"),
            ("AhrefsBot", "AhrefsBot"),
            ("internet-archive", "ia_archiver"),
        ] {
            assert!(tokens(stem).contains(token), "{stem}: {}", tokens(stem));
        }
        assert_eq!(tokens("readme"), "");
        assert_eq!(tokens(&"a-".repeat(1000)), "");
    }

    #[test]
    fn the_tokens_are_in_the_registry() {
        let registry = Registry::built_in();
        for token in PUBLISHED.iter().flat_map(|row| row.tokens) {
            assert!(registry.agent(token).is_some(), "{token}");
        }
    }
}
