//! `/v1/registry` and `/v1/dialects`: what the registries have, and how files can be read.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use mayi::Dialect;
use mayi::lint::LINTS;
use mayi::registry::Registry;
use mayi::report::{DialectEntry, LintEntry};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Answered, App, cached};
use crate::problem::Problem;

/// How long answers that do not change while the service runs may be cached.
const FRESH: Duration = Duration::from_mins(5);

const NAMES: [&str; 6] = ["purposes", "applications", "directives", "categories", "agents", "lints"];

/// An entry, and the names that it is found by.
struct Entry {
    names: Vec<String>,
    value: Value,
}

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
    asked: HeaderMap,
) -> Answered {
    let Path(which) = path.map_err(no_text)?;
    let entries = entries(&app.reading().registry(), &which)?;
    let values: Vec<_> = entries.into_iter().map(|entry| entry.value).collect();
    Ok(answer(&asked, &json!({ which: values })))
}

pub(crate) async fn show(
    State(app): State<Arc<App>>,
    path: Result<Path<(String, String)>, PathRejection>,
    asked: HeaderMap,
) -> Answered {
    let Path((which, name)) = path.map_err(no_text)?;
    let entries = entries(&app.reading().registry(), &which)?;
    let is = |entry: &Entry| entry.names.iter().any(|known| known.eq_ignore_ascii_case(&name));
    let entry = entries.into_iter().find(is).ok_or_else(|| {
        let name = name.escape_debug();
        Problem::not_found(format!("`{name}` is not among the registered {which}"))
    })?;
    Ok(answer(&asked, &entry.value))
}

pub(crate) async fn dialects(State(app): State<Arc<App>>, asked: HeaderMap) -> Answered {
    let default = app.fetcher.answering().dialect().name();
    let all: Vec<_> = Dialect::ALL.iter().map(|dialect| DialectEntry::of(dialect, default)).collect();
    Ok(answer(&asked, &json!({ "dialects": all })))
}

/// No entry has a name that is not UTF-8.
#[allow(clippy::needless_pass_by_value)] // It is given to map_err.
fn no_text(_: PathRejection) -> Problem {
    Problem::not_found("the name is not UTF-8, so nothing is registered with it")
}

fn answer(asked: &HeaderMap, value: &Value) -> axum::http::Response<axum::body::Body> {
    cached(asked, value.to_string().into_bytes(), "application/json", FRESH)
}

fn entries(registry: &Registry, which: &str) -> Result<Vec<Entry>, Problem> {
    Ok(match which {
        "purposes" => of(registry.purposes(), |purpose| vec![purpose.token.to_string()]),
        "applications" => of(registry.applications(), |it| vec![it.identifier.to_string()]),
        "directives" => of(registry.directives(), |directive| {
            let full = format!("{};{}", directive.application, directive.name);
            vec![full, directive.name.to_string()]
        }),
        "categories" => of(registry.categories(), |category| vec![category.label.to_string()]),
        "agents" => of(registry.agents(), |agent| vec![agent.token.to_string()]),
        "lints" => {
            let lints: Vec<_> = LINTS.iter().map(|lint| LintEntry::of(lint)).collect();
            of(&lints, |lint| vec![lint.code.clone(), lint.name.clone()])
        }
        _ => {
            let (which, names) = (which.escape_debug(), NAMES.join(", "));
            return Err(Problem::not_found(format!(
                "no registry is called `{which}`; there are {names}"
            )));
        }
    })
}

fn of<T: Serialize>(all: &[T], names: impl Fn(&T) -> Vec<String>) -> Vec<Entry> {
    let entry = |one: &T| Entry {
        names: names(one),
        value: serde_json::to_value(one).expect("an entry is JSON"),
    };
    all.iter().map(entry).collect()
}
