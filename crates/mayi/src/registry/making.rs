//! The files of `data/` → the text of `shipped.rs`, for the tests.
//!
//! The files are read as a user's file is, by the same checks, so what is shipped is what they say. The
//! tables are in the repository, not made by a build script: then nobody who builds the library has to read
//! TOML, and this test fails if the two disagree.

use std::fmt::{Display, Write};
use std::path::Path;

use super::{Agent, ApplicationDirective, Registry};
use crate::structured::Value;

/// The shipped files, with their names, each after those that it refers to.
const FILES: [(&str, &str); 5] = [
    ("purposes.toml", include_str!("../../data/purposes.toml")),
    ("applications.toml", include_str!("../../data/applications.toml")),
    ("categories.toml", include_str!("../../data/categories.toml")),
    ("directives.toml", include_str!("../../data/directives.toml")),
    ("agents.toml", include_str!("../../data/agents.toml")),
];

/// The tables say what the files say. `MAYI_WRITE_DOCS=1` writes them again.
#[test]
fn the_tables_are_those_of_the_files() {
    let add = |registry: Registry, (name, text): (&str, &str)| {
        registry.extended(name, text).unwrap_or_else(|errors| panic!("a shipped registry: {errors}"))
    };
    let read = FILES.into_iter().fold(Registry::default(), add);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/registry/shipped.rs");
    if std::env::var_os("MAYI_WRITE_DOCS").is_some() {
        std::fs::write(&path, tables(&read)).expect("the tables can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let advice = "run `MAYI_WRITE_DOCS=1 cargo test -p mayi --lib registry` once, then again without";
    assert!(written == tables(&read), "{} is stale: {advice}", path.display());
    assert!(*Registry::built_in() == read, "the program has other tables: {advice}");
}

/// The text of `shipped.rs`.
fn tables(registry: &Registry) -> String {
    let mut text = String::from(HEAD);
    let purposes = registry.purposes().iter().map(|purpose| {
        format!(
            "Purpose {{ token: Borrowed({:?}), description: Borrowed({:?}) }}",
            purpose.token, purpose.description
        )
    });
    table(&mut text, "PURPOSES", "Purpose", purposes);
    let applications = registry.applications().iter().map(|application| {
        let token = application.product_token.as_str();
        format!(
            "application({:?}, {token:?}, {:?})",
            application.identifier, application.change_controller
        )
    });
    table(&mut text, "APPLICATIONS", "Application", applications);
    let categories = registry.categories().iter().map(|category| {
        let (label, name, description) = (&category.label, &category.name, &category.description);
        format!("Category {{ label: Borrowed({label:?}), name: Borrowed({name:?}), description: Borrowed({description:?}) }}")
    });
    table(&mut text, "CATEGORIES", "Category", categories);
    table(&mut text, "DIRECTIVES", "ApplicationDirective", registry.directives().iter().map(directive));
    table(&mut text, "AGENTS", "Agent", registry.agents().iter().map(agent));
    text
}

fn table(text: &mut String, name: &str, of: &str, entries: impl Iterator<Item = impl Display>) {
    let written = writeln!(text, "\n#[rustfmt::skip]\npub(super) static {name}: &[{of}] = &[");
    written.expect("writing to memory does not fail");
    for entry in entries {
        writeln!(text, "    {entry},").expect("writing to memory does not fail");
    }
    text.push_str("];\n");
}

fn directive(directive: &ApplicationDirective) -> String {
    let ApplicationDirective { application, name, description, documentation, .. } = directive;
    let overrides = directive.overrides.as_ref().map_or("None".to_owned(), |overrides| {
        let values = overrides.values.iter().map(|(value, meaning)| {
            // A type that no shipped directive gives a meaning to is not written here.
            let value = match value {
                Value::Boolean(value) => format!("Value::Boolean({value})"),
                Value::Token(value) => format!("Value::Token(Borrowed({value:?}))"),
                other => panic!("write {other} in `making.rs` as well"),
            };
            format!("({value}, Preference::{meaning:?})")
        });
        let values = values.collect::<Vec<_>>().join(", ");
        format!(
            "Some(Overrides {{ category: Borrowed({:?}), values: Borrowed(const {{ &[{values}] }}) }})",
            overrides.category
        )
    });
    let (value_type, status) = (directive.value_type, directive.status);
    format!(
        "ApplicationDirective {{ application: Borrowed({application:?}), name: Borrowed({name:?}), \
         value_type: ValueType::{value_type:?}, description: Borrowed({description:?}), documentation: \
         Borrowed({documentation:?}), status: Status::{status:?}, overrides: {overrides} }}"
    )
}

fn agent(agent: &Agent) -> String {
    let Agent { token, operator, kind, source, .. } = agent;
    let kinds: Vec<_> = agent.used_for.iter().map(|kind| format!("AgentKind::{kind:?}")).collect();
    let start = match kinds.as_slice() {
        [] => "agent(".to_owned(),
        some => format!("used_for(const {{ &[{}] }}, ", some.join(", ")),
    };
    let mut text = format!("{start}{token:?}, {operator:?}, AgentKind::{kind:?}, {source:?}");
    let fallbacks: Vec<_> = agent.fallback().map(|token| format!("token({token:?})")).collect();
    match fallbacks.as_slice() {
        [] => text.push_str(", &[])"),
        some => write!(text, ", const {{ &[{}] }})", some.join(", "))
            .expect("writing to memory does not fail"),
    }
    if agent.ignores_global() {
        text.push_str(".ignoring_global()");
    }
    if agent.control_only {
        text.push_str(".for_control_only()");
    }
    text
}

/// What stands above the tables.
const HEAD: &str = r"//! The shipped registries as tables, made from the files of `data/` by the test in `making.rs`: do not
//! edit them here. `MAYI_WRITE_DOCS=1 cargo test -p mayi --lib registry` writes them again.

use std::borrow::Cow::Borrowed;

use super::{
    Agent, AgentKind, Application, ApplicationDirective, Category, Overrides, Purpose, Status,
};
use crate::crawler::{Manners, ProductToken};
use crate::preference::Preference;
use crate::structured::{Value, ValueType};

const fn token(token: &'static str) -> ProductToken {
    ProductToken::shipped(token)
}

const fn application(
    identifier: &'static str,
    product_token: &'static str,
    change_controller: &'static str,
) -> Application {
    Application {
        identifier: Borrowed(identifier),
        product_token: token(product_token),
        change_controller: Borrowed(change_controller),
    }
}

const fn agent(
    token: &'static str,
    operator: &'static str,
    kind: AgentKind,
    source: &'static str,
    fallbacks: &'static [ProductToken],
) -> Agent {
    used_for(&[], token, operator, kind, source, fallbacks)
}

const fn used_for(
    kinds: &'static [AgentKind],
    token: &'static str,
    operator: &'static str,
    kind: AgentKind,
    source: &'static str,
    fallbacks: &'static [ProductToken],
) -> Agent {
    Agent {
        token: Borrowed(token),
        operator: Borrowed(operator),
        kind,
        used_for: Borrowed(kinds),
        control_only: false,
        source: Borrowed(source),
        manners: Manners { fallbacks: Borrowed(fallbacks), ignores_global: false },
    }
}

impl Agent {
    const fn ignoring_global(mut self) -> Self {
        self.manners.ignores_global = true;
        self
    }

    const fn for_control_only(mut self) -> Self {
        self.control_only = true;
        self
    }
}
";
