//! The laws of the extensions: structured values and regular expressions of any shape (PUR, AIA, APP,
//! USE).

use mayi::{Crawler, Extension, Preference, RobotsTxt, Target, Use};

use super::{Question, read};

/// The crawler of a question, with purposes and applications of every kind.
pub(crate) fn crawler(question: &Question) -> Option<Crawler> {
    let crawler = Crawler::new(&question.agent).ok()?.with_purpose("EXAMPLE-PURPOSE-1").ok()?;
    let applications = ["examplesearch", "exampleassistant", "exampletypes", "x", "a"];
    applications.into_iter().try_fold(crawler, |crawler, name| crawler.with_application(name).ok())
}

/// Directives never change access, and hold whatever access says (APP-7): turning every rule of the
/// file around leaves them as they are.
pub(crate) fn directives_do_not_depend_on_access(question: &Question) {
    let (Some(crawler), Ok(target)) = (crawler(question), Target::parse(&question.url)) else { return };
    let robots = RobotsTxt::parse(&question.robots);
    let turned = turned_around(&robots);
    let turned = RobotsTxt::parse(&turned);
    let directives = |robots: &RobotsTxt<'_>| -> Vec<String> {
        let asked = robots.app_directives(&crawler, &target);
        asked.iter().map(|asked| format!("{:?}", asked.directives().collect::<Vec<_>>())).collect()
    };
    assert_eq!(directives(&robots), directives(&turned), "{question:?}");
}

/// The file with `Disallow` for each `Allow` that is written so, and the other way round.
fn turned_around(robots: &RobotsTxt<'_>) -> Vec<u8> {
    let mut turned = Vec::new();
    for line in robots.lines() {
        let name = line.record().map(|record| record.name().to_ascii_lowercase());
        let other: Option<&[u8]> = match name.as_deref() {
            Some(b"allow") => Some(b"Disallow: "),
            Some(b"disallow") => Some(b"Allow: "),
            _ => None,
        };
        match (other, line.record()) {
            (Some(other), Some(record)) => {
                turned.extend_from_slice(other);
                turned.extend_from_slice(record.value());
            }
            _ => turned.extend_from_slice(line.text()),
        }
        turned.extend_from_slice(line.end());
    }
    turned
}

/// A header that disallows a use can only make an answer more restrictive (USE-5, USE-6).
pub(crate) fn a_header_only_restricts(question: &Question) {
    let (Some(crawler), Ok(target)) = (crawler(question), Target::parse(&question.url)) else { return };
    let robots = RobotsTxt::parse(&question.robots);
    let without = robots.usage(&crawler, &target, &[]);
    let fields = [("Content-Usage", "train-ai=n"), ("Content-Signal", "search=no, ai-input=no")];
    let with = robots.usage(&crawler, &target, &fields);
    for about in Use::ALL {
        assert!(with.answer(*about) >= without.answer(*about), "{question:?}");
        assert_eq!(with.answer(*about), Preference::Disallowed, "{question:?}");
    }
}

/// With every extension off, nothing but product tokens and `*` chooses a group, and lines of the
/// extensions are other records: taking them out changes no decision (REP-17).
pub(crate) fn what_is_switched_off_does_not_matter(question: &Question) {
    let (Some(crawler), Ok(target)) = (crawler(question), Target::parse(&question.url)) else { return };
    let dialect = Extension::ALL
        .iter()
        .fold(mayi::Dialect::RFC9309, |dialect, extension| dialect.without(*extension));
    let robots = read(&question.robots, &dialect);
    let mut bare = Vec::new();
    for line in robots.lines() {
        let is_other = line.record().is_some_and(|record| record.directive().is_none());
        if !is_other {
            bare.extend_from_slice(line.text());
        }
        bare.extend_from_slice(line.end());
    }
    let decision = robots.decide(&crawler, &target);
    assert!(
        decision.group().is_none_or(|group| matches!(group.by().name(), "product-token" | "global"))
    );
    // A byte order mark and a charset have been read already: the text is UTF-8 or nearly.
    let bare = super::file_of(&bare);
    let bare = read(&bare, &dialect);
    assert_eq!(bare.decide(&crawler, &target).is_allowed(), decision.is_allowed(), "{question:?}");
}
