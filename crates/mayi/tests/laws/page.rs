//! The laws of page controls: any header fields and any octets for HTML (TAG).

use mayi::Crawler;
use mayi::page::{HeadReader, PageControls, PageOptions, PageRules, Progress};

/// Reading in chunks gives what reading at once gives, wherever the chunks end, and what was said to be
/// over is over.
pub(crate) fn chunks_do_not_matter(html: &[u8], size: usize) {
    let options = PageOptions::default();
    let mut head = HeadReader::new(&[], options);
    for chunk in html.chunks(size.max(1)) {
        if head.push(chunk) == Progress::Over {
            break;
        }
    }
    let (whole, chunked) = (PageControls::read(&[], html), PageControls::of_head(&[], head, options));
    assert_eq!(rules(&chunked), rules(&whole), "{}", html.escape_ascii());
}

/// The later text of the draft unites what the earlier one lets stand apart, so that it can only be
/// more restrictive (TAG-4); and so can a meta element beside a header (TAG-10).
pub(crate) fn more_is_more_restrictive(fields: &[(String, String)], html: &str) {
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    let mut union = PageOptions::default();
    union.union = true;
    let alone = rules(&PageControls::read_text(&fields, "", PageOptions::default()));
    let united = rules(&PageControls::read_text(&fields, "", union));
    let with_html = rules(&PageControls::read_text(&fields, html, PageOptions::default()));
    for more in [united, with_html] {
        assert!(alone.may_index() || !more.may_index(), "{fields:?} {html:?}");
        assert!(alone.may_follow() || !more.may_follow(), "{fields:?} {html:?}");
        assert!(alone.may_show_snippet() || !more.may_show_snippet(), "{fields:?} {html:?}");
    }
}

fn rules(controls: &PageControls) -> PageRules {
    controls.for_crawler(&Crawler::new("ExampleBot").expect("a token"))
}
