//! Law 13: laying a file out changes nothing that a reader makes of it, and a second time nothing at all.

use mayi::access::SiteFile;
use mayi::report::Question as Asked;
use mayi::{Dialect, Extension, ReadOptions, Target};
use serde_json::Value;

use super::{Question, extensions};

/// Every part of the decision, with its explanation, is the same before and after, but for where things
/// stand: in every dialect as it is, and with the extensions off that the choices take away.
pub(crate) fn laying_out_changes_nothing(question: &Question, choices: &[u8]) {
    let formatted = mayi::format(&question.robots);
    let again = mayi::format(formatted.octets());
    assert!(!again.is_changed(), "a second time: {question:?}");
    assert_eq!(formatted.is_changed(), formatted.octets() != question.robots, "{question:?}");

    let off = choices.iter().map(|choice| Extension::ALL[usize::from(*choice) % Extension::ALL.len()]);
    for dialect in Dialect::ALL {
        let fewer = off.clone().fold(dialect.clone(), Dialect::without);
        for dialect in [dialect.clone(), fewer] {
            let before = report(question, &question.robots, &dialect);
            let after = report(question, formatted.octets(), &dialect);
            let laid_out = formatted.octets().escape_ascii();
            assert_eq!(before, after, "{dialect}: {question:?} became b\"{laid_out}\"");
        }
    }
}

/// The whole report with everything but places.
fn report(question: &Question, robots: &[u8], dialect: &Dialect) -> Option<Value> {
    let crawler = extensions::crawler(question)?;
    let target = Target::parse(&question.url).ok()?;
    let options = ReadOptions::default().with_dialect(dialect.clone());
    let file = SiteFile::read(robots, &options);
    let asked = Asked { file: &file, crawler: &crawler, target: &target, fields: &[], page: None };
    let mut report = serde_json::to_value(asked.explained()).expect("a report is JSON");
    forget_places(&mut report);
    Some(report)
}

fn forget_places(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match (name.as_str(), &mut *member) {
                    ("line" | "column", place) => *place = Value::Null,
                    ("lines", Value::Array(lines)) => *member = lines.len().into(),
                    (_, member) => forget_places(member),
                }
            }
        }
        Value::Array(members) => members.iter_mut().for_each(forget_places),
        _ => {}
    }
}
