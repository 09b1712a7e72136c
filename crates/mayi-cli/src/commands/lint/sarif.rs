//! Diagnostics as SARIF 2.1.0: one run with the registry of lints as its rules.

use std::fmt::Write as _;

use mayi::lint::{Diagnostic, LINTS, Lint, LintSet, Linted, Place, Severity};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::sources::Source;
use super::text::left_out;

/// The results of files, already as JSON, which takes less memory than a tree of values; and notes about
/// files whose results are not all listed.
#[derive(Default)]
pub(super) struct Results {
    listed: Vec<Box<RawValue>>,
    left_out: Vec<Value>,
}

impl Results {
    pub(super) fn add(&mut self, mut others: Self) {
        self.listed.append(&mut others.listed);
        self.left_out.append(&mut others.left_out);
    }

    /// The whole log.
    pub(super) fn finish(self) -> Log {
        let rules: Vec<Value> = LINTS.iter().map(|lint| rule(lint)).collect();
        let tool = json!({ "driver": {
            "name": "mayi",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules,
        } });
        let invocation =
            json!({ "executionSuccessful": true, "toolExecutionNotifications": self.left_out });
        let run = Run {
            tool,
            column_kind: "unicodeCodePoints",
            invocations: (!self.left_out.is_empty()).then_some([invocation]),
            results: self.listed,
        };
        Log { schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [run] }
    }
}

/// A log of one run.
#[derive(Serialize)]
pub(super) struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Value,
    column_kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    invocations: Option<[Value; 1]>,
    results: Vec<Box<RawValue>>,
}

fn rule(lint: &Lint) -> Value {
    let clauses: Vec<_> = lint.clauses.iter().map(|clause| clause.id()).collect();
    json!({
        "id": lint.code,
        "name": lint.name,
        "shortDescription": { "text": lint.summary },
        "help": { "text": lint.manual(), "markdown": lint.manual() },
        "defaultConfiguration": { "level": level(lint.severity), "enabled": lint.set == LintSet::Default },
        "properties": { "tags": clauses, "set": lint.set.name() },
    })
}

/// The results of one file.
pub(super) fn results(source: &Source, linted: &Linted<'_>) -> serde_json::Result<Results> {
    let uri = uri_of(source);
    let results = linted.diagnostics().iter().map(|found| to_raw_value(&result(&uri, linted, found)));
    let left_out = left_out(linted).map(|left_out| {
        json!({ "level": "note", "message": { "text": left_out }, "locations": [location(&uri, None)] })
    });
    Ok(Results { listed: results.collect::<Result<_, _>>()?, left_out: left_out.into_iter().collect() })
}

fn result(uri: &str, linted: &Linted<'_>, found: &Diagnostic) -> Value {
    let text = format!("{}. {}", found.message, found.reading);
    let index = LINTS.iter().position(|lint| *lint == found.lint);
    let mut result = json!({
        "ruleId": found.lint.code,
        "ruleIndex": index,
        "level": level(found.severity),
        "message": { "text": text },
        "locations": [location(uri, found.place)],
    });
    if found.count > 1 {
        result["occurrenceCount"] = found.count.into();
    }
    let related = found.related.iter().map(|other| (other.place, &*other.message));
    let others = found.others.iter().map(|place| (*place, "the same here"));
    let locations: Vec<Value> = related
        .chain(others)
        .map(|(place, message)| {
            let mut location = location(uri, Some(place));
            location["message"] = json!({ "text": message });
            location
        })
        .collect();
    if !locations.is_empty() {
        result["relatedLocations"] = locations.into();
    }
    // Regions of a file that had to be decoded are not those of its octets.
    if let (Some(fix), Some(start)) = (&found.fix, linted.text_start()) {
        let replacements = fix.edits.iter().map(|edit| {
            json!({
                "deletedRegion": {
                    "byteOffset": start + edit.span.start as usize,
                    "byteLength": edit.span.len(),
                },
                "insertedContent": { "text": String::from_utf8_lossy(&edit.replacement) },
            })
        });
        let replacements: Vec<Value> = replacements.collect();
        result["fixes"] = json!([{
            "description": { "text": fix.label },
            "artifactChanges": [{ "artifactLocation": { "uri": uri }, "replacements": replacements }],
        }]);
    }
    result
}

fn location(uri: &str, place: Option<Place>) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri } });
    if let Some(place) = place {
        physical["region"] = json!({
            "startLine": place.line.number(),
            "startColumn": place.column,
            "endLine": place.line.number(),
            "endColumn": place.end_column,
        });
    }
    json!({ "physicalLocation": physical })
}

fn level(severity: Severity) -> &'static str {
    severity.name()
}

/// The name of a source as a URI reference, as SARIF wants it.
fn uri_of(source: &Source) -> String {
    let text = match source {
        Source::Url(url) => return url.clone(),
        Source::StandardInput => return "stdin".to_owned(),
        Source::Path(path) => path.to_string_lossy().replace('\\', "/"),
    };
    let mut uri = String::new();
    for octet in text.bytes() {
        if octet.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&octet) {
            uri.push(char::from(octet));
        } else {
            write!(uri, "%{octet:02X}").expect("writing to memory does not fail");
        }
    }
    uri
}
