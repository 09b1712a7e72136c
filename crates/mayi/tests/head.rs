//! The head of a document against a whole HTML parser: the same robots meta elements, or a recorded
//! reason why not.

use html5ever::driver::ParseOpts;
use html5ever::parse_document;
use html5ever::tendril::TendrilSink;
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use mayi::Crawler;
use mayi::page::{HeadReader, PageControls, PageOptions, Progress};
use proptest::prelude::*;

/// The contents of the metas called `robots` that html5ever puts into the head of the document, in
/// document order. A `template` has its contents elsewhere than among its children.
fn metas_by_tree(html: &str) -> Vec<String> {
    let dom = parse_document(RcDom::default(), ParseOpts::default()).one(html);
    let child = |node: &Handle, name: &str| {
        let children = node.children.borrow();
        children.iter().find(|child| element_name(child) == Some(name.to_owned())).cloned()
    };
    let mut metas = Vec::new();
    if let Some(head) = child(&dom.document, "html").and_then(|html| child(&html, "head")) {
        for node in head.children.borrow().iter() {
            if let NodeData::Element { attrs, .. } = &node.data
                && element_name(node).as_deref() == Some("meta")
            {
                let value = |name: &str| {
                    let attributes = attrs.borrow();
                    let found = attributes.iter().find(|attribute| &*attribute.name.local == name);
                    found.map(|attribute| attribute.value.to_string())
                };
                if value("name").as_deref() == Some("robots") {
                    metas.extend(value("content"));
                }
            }
        }
    }
    metas
}

fn element_name(node: &Handle) -> Option<String> {
    match &node.data {
        NodeData::Element { name, .. } => Some(name.local.to_string()),
        _ => None,
    }
}

/// What the crate finds, as the rules that no one understands: their names are what was written.
fn metas_by_head(controls: &PageControls) -> Vec<String> {
    let rules = controls.for_crawler(&Crawler::new("ExampleBot").expect("a token"));
    rules.unsupported().iter().map(|(text, _)| text.clone()).collect()
}

fn check(html: &str) {
    let options = PageOptions::default();
    let expected: Vec<String> = metas_by_tree(html);
    let found = metas_by_head(&PageControls::read_text(&[], html, options));
    assert_eq!(found, expected, "{html:?}");

    // In chunks it is the same, and being told that the head is over is never wrong.
    let mut head = HeadReader::new(&[("Content-Type", "text/html; charset=utf-8")], options);
    for chunk in html.as_bytes().chunks(7) {
        if head.push(chunk) == Progress::Over {
            break;
        }
    }
    assert_eq!(
        metas_by_head(&PageControls::of_head(&[], head, options)),
        expected,
        "{html:?} in chunks"
    );
}

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
        if !is_recorded(&html) {
            check(&html);
        }
    }
}

/// Documents that are read otherwise, and why.
fn is_recorded(html: &str) -> bool {
    // Within a template, foreign content and the content models of tables and selects decide which tags
    // change the tokenizer. Metas in templates never count, so only a template that such content keeps
    // open or closed could matter; telling that would take the whole tree builder.
    let lower = html.to_ascii_lowercase();
    let in_template = lower.find("<template").map_or("", |at| &lower[at..]);
    ["<svg", "<math", "<select", "<table", "<frameset", "<textarea"]
        .iter()
        .any(|tag| in_template.contains(tag))
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
