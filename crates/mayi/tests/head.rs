//! The head of a document against a whole HTML parser, on documents that proptest makes up.

#[path = "head/mod.rs"]
mod head;

use head::check;
use proptest::prelude::*;

/// Pieces of documents, among them everything that the insertion modes of the head treat in a way of
/// its own. Each meta has a number, so that it is seen which ones count.
fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "<!doctype html>",
        "<html>",
        "</html>",
        "<head>",
        "</head>",
        "<body>",
        "</body>",
        "<br>",
        "</br>",
        "<title>",
        "</title>",
        "<style>",
        "</style>",
        "<script>",
        "</script>",
        "<!-- ",
        " -->",
        "<noscript>",
        "</noscript>",
        "<template>",
        "</template>",
        "<noframes>",
        "</noframes>",
        "<link>",
        "<base>",
        "<basefont>",
        "<bgsound>",
        "<p>",
        "</p>",
        "<div>",
        "text",
        " ",
        "\n",
        "\t",
        "\u{c}",
        "<frameset>",
        "&amp;",
        "&#32;",
        "<",
        ">",
        "</",
        "<!",
        "<?x?>",
        "<![CDATA[",
        "]]>",
        "\0",
        "\"",
        "<meta>",
        "</meta>",
        "</x>",
        "<textarea>",
        "</textarea>",
        "<svg>",
        "</svg>",
        "<math>",
        "</math>",
        "<html lang=en>",
        "<head/>",
        "<script/>",
        "<template/>",
        "<title a=\">\">",
        "<!-->",
        "--!>",
        "<table>",
        "<tr>",
        "<select>",
        "<option>",
        "<image>",
        "<object>",
        "</template x>",
    ]);
    let meta = (0..100_u32, 0..8_u8).prop_map(|(number, form)| match form {
        0 => format!("<meta name=robots content=r{number}>"),
        1 => format!("<META NAME='robots' CONTENT=\"r{number}\"/>"),
        2 => format!("<meta content=r{number} name=robots content=other>"),
        3 => format!("<meta name=ro&#98;ots content='r{number}'>"),
        4 => format!("<meta charset=utf-8 name=robots content=r{number} name=x>"),
        5 => format!("<meta name=robots\ncontent=r{number}\n>"),
        6 => format!("<meta name=description content=r{number}>"),
        _ => format!("<meta name=robots content=r{number} x='>'>"),
    });
    prop_oneof![2 => fixed.prop_map(str::to_owned), 1 => meta]
}

/// A few thousand documents, or as many as `PROPTEST_CASES` says.
fn cases() -> u32 {
    let wanted = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    wanted.unwrap_or(4000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_head_has_the_metas_that_a_tree_has(pieces in prop::collection::vec(piece(), 0..14)) {
        let html = pieces.concat();
        check(&html);
    }
}

#[test]
fn documents_of_note() {
    for html in [
        "",
        "<meta name=robots content=r1>",
        "<title><meta name=robots content=r1></title><meta name=robots content=r2>",
        "<head></head> <meta name=robots content=r1>x<meta name=robots content=r2>",
        "<noscript><meta name=robots content=r1></noscript><meta name=robots content=r2>",
        "<template><meta name=robots content=r1></template><meta name=robots content=r2>",
        "<script>'</scr'+'ipt>'<meta name=robots content=r1></script><meta name=robots content=r2>",
        "<script><!--<script></script><meta name=robots content=r1>--></script><meta name=robots content=r2>",
        "</p></x><meta name=robots content=r1></br><meta name=robots content=r2>",
        "</head><noscript></noscript><meta name=robots content=r1>",
        "\u{feff}<meta name=robots content=r1>",
        "<meta name=robots content=r1",
    ] {
        check(html);
    }
}
