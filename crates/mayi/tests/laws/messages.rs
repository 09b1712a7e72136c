//! What the laws are tried on beside files and URLs: what stands around a file on its way, and what a page says.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::generators::{agent, url};
use super::laws::access::Response;

/// The label of a charset.
pub(crate) fn charset() -> impl Strategy<Value = &'static str> {
    let labels =
        &["utf-8", "iso-8859-1", "utf-16le", "utf-16be", "shift_jis", "iso-2022-jp", "gb18030", "x"];
    select(&labels[..])
}

/// Octets that are nearly JSON.
pub(crate) fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    let words = &[
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\\",
        "\\u00",
        "\\ud800",
        "null",
        "true",
        "1",
        "-1",
        "1e999",
        "\"url\"",
        "\"agent\"",
        "\"robots\"",
        "\"dialect\"",
        "\"explain\"",
        "\"base64\"",
        "\"status\"",
        "\"error\"",
        "\"charset\"",
        "\"https://h/\"",
        "\"a\"",
        "\"google\"",
        "\"QQ==\"",
        "503",
        "\"é\"",
    ];
    let soup = vec(select(&words[..]), 0..24).prop_map(|words| words.concat().into_bytes());
    let robots = select(
        &[
            "null",
            "\"User-agent: *\\nDisallow: /\"",
            "{\"status\": 404}",
            "{\"status\": 1000}",
            "{\"error\": \"timeout\"}",
            "{\"base64\": \"//5VAA==\"}",
            "{\"base64\": \"!\"}",
            "{\"base64\": \"QQ\", \"charset\": \"x\"}",
            "{}",
            "{\"status\": 200}",
            "1",
            "{\"base64\": \"6Q==\", \"charset\": \"iso-8859-1\"}",
            "{\"status\": 1, \"error\": \"x\"}",
        ][..],
    );
    let dialect = option::of(select(&["google", "koster-00", "x"][..]));
    let nearly = (url(), agent(), robots, dialect, any::<bool>()).prop_map(
        |(url, agent, robots, dialect, explain)| {
            // `robots` is JSON as it is, or meant to be nearly so.
            let members = [
                format!("\"url\": {}", serde_json::json!(url)),
                format!("\"agent\": {}", serde_json::json!(agent)),
                format!("\"robots\": {robots}"),
                format!("\"dialect\": {}", serde_json::json!(dialect)),
                format!("\"explain\": {explain}"),
            ];
            format!("{{{}}}", members.join(", ")).into_bytes()
        },
    );
    prop_oneof![1 => soup, 3 => nearly, 1 => vec(any::<u8>(), 0..40)]
}

/// What servers say, one response after the other.
pub(crate) fn responses() -> impl Strategy<Value = Vec<Response>> {
    let status =
        select(&[301_u16, 302, 303, 307, 308, 301, 308, 200, 204, 304, 300, 404, 429, 500, 999][..]);
    let location = select(
        &[
            "/a",
            "/b",
            "c",
            "/d?e",
            "#f",
            "//other.test/",
            "http://h/1",
            "https://h/2",
            "https://h/robots.txt",
            "ftp://h/",
            "javascript:0",
            "",
            "http://",
            "https://[::1]/",
            "\\\\x\\y",
            "/é",
            "http://h:99999/",
        ][..],
    );
    let response = (status, option::weighted(0.9, location.prop_map(str::to_owned)));
    vec(option::weighted(0.95, response), 0..9)
}

/// Header fields, most of which are about freshness.
pub(crate) fn fields() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = select(
        &["Cache-Control", "cache-control", "Expires", "Date", "Age", "ETag", "Last-Modified", "Vary"]
            [..],
    );
    let value = select(
        &[
            "max-age=60",
            "max-age=99999999999999999999999",
            "max-age=\"5\"",
            "max-age=-1",
            "max-age",
            "public, max-age=86401",
            "no-cache",
            "no-cache=\"x\"",
            "private,,=",
            "s-maxage=9",
            "0",
            "60",
            "-1",
            "18446744073709551615",
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Fri, 31 Dec 9999 23:59:59 GMT",
            "Thu, 01 Jan 1970 00:00:00 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "\"a\"",
            "",
        ][..],
    );
    vec((name.prop_map(str::to_owned), value.prop_map(str::to_owned)), 0..6)
}

/// The value of a Robots-Tag or X-Robots-Tag field.
pub(crate) fn tag() -> impl Strategy<Value = String> {
    let words = select(vec![
        "*",
        "ExampleBot",
        "otherbot",
        "noindex",
        "nofollow",
        "nosnippet",
        "none",
        "NoIndex",
        ";",
        ";",
        ",",
        ",",
        ":",
        "=",
        "(",
        ")",
        " ",
        "\"",
        "?0",
        "?1",
        "max-snippet",
        "0",
        "20",
        "unavailable_after",
        "25 Jun 2010",
        "Friday, 25-Jun-10",
        "15:00:00",
        "PST",
        "é",
        "\\",
    ]);
    vec(words, 0..12).prop_map(|words| words.concat())
}

/// The start of a document.
pub(crate) fn html() -> impl Strategy<Value = String> {
    let words = select(vec![
        "<head>",
        "</head>",
        "<body>",
        "<title>",
        "</title>",
        "<script>",
        "</script>",
        "<!--",
        "-->",
        "<meta name=robots content=noindex>",
        "<meta name=examplebot content='nofollow, noindex'>",
        "<meta name=\"robots\" content=\"max-snippet: 0\">",
        "<template>",
        "</template>",
        "x",
        " ",
        "<",
        ">",
        "<meta charset=utf-8>",
        "é",
        "\u{feff}",
    ]);
    vec(words, 0..10).prop_map(|words| words.concat())
}
