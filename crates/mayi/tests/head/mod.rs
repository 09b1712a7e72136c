//! A document → the robots meta elements of its head, by a whole HTML parser and by the crate: the same
//! ones, or a recorded reason why not. The property test and the fuzz target share this.

use html5ever::driver::ParseOpts;
use html5ever::parse_document;
use html5ever::tendril::TendrilSink;
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use mayi::Crawler;
use mayi::page::{HeadReader, PageControls, PageOptions, Progress, RuleValue};

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
                let name = value("name").unwrap_or_default();
                if name.trim_ascii().eq_ignore_ascii_case("robots") {
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

/// What holds for a crawler: the rules with their values, and what was not understood.
type Rules = (Vec<(String, RuleValue)>, Vec<String>);

fn rules_of(controls: &PageControls) -> Rules {
    let rules = controls.for_crawler(&Crawler::new("ExampleBot").expect("a token"));
    let all = rules.rules().iter().map(|rule| (rule.name().to_owned(), rule.value().clone()));
    (all.collect(), rules.unsupported().iter().map(|(text, _)| text.clone()).collect())
}

/// A head with nothing in it but metas with these contents.
fn bare_head(contents: &[String]) -> String {
    let escaped = |content: &String| content.replace('&', "&amp;").replace('"', "&quot;");
    let meta = |content| format!("<meta name=robots content=\"{}\">", escaped(content));
    contents.iter().map(meta).collect::<Vec<_>>().concat()
}

/// Compares the two, read at once and in chunks.
pub(crate) fn check(html: &str) {
    if is_recorded(html) {
        return;
    }
    let options = PageOptions::default();
    let expected = PageControls::read_text(&[], &bare_head(&metas_by_tree(html)), options);
    let found = PageControls::read_text(&[], html, options);
    assert_eq!(rules_of(&found), rules_of(&expected), "{html:?}");

    // In chunks it is the same, and being told that the head is over is never wrong.
    let mut head = HeadReader::new(&[("Content-Type", "text/html; charset=utf-8")], options);
    for chunk in html.as_bytes().chunks(7) {
        if head.push(chunk) == Progress::Over {
            break;
        }
    }
    let in_chunks = PageControls::of_head(&[], head, options);
    assert_eq!(rules_of(&in_chunks), rules_of(&expected), "{html:?} in chunks");
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
