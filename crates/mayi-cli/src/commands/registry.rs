//! `mayi registry`: what the registries have, and whether a user's own file is valid.

use std::io::{self, BufWriter, Write};

use mayi::registry::{Agent, ApplicationDirective, Registry};

use crate::cli::{RegistryCommand, RegistryName};
use crate::exit::{Exit, Failure};
use crate::input;
use crate::text::{counted, shown};

pub(crate) fn run(command: &RegistryCommand) -> Result<Exit, Failure> {
    let mut out = BufWriter::new(anstream::AutoStream::auto(io::stdout()));
    match command {
        RegistryCommand::List { which, from } => {
            list(&mut out, &*input::registry(&from.registries)?, *which)?;
        }
        RegistryCommand::Show { name, from } => {
            show(&mut out, &*input::registry(&from.registries)?, name)?;
        }
        RegistryCommand::Check { files } => {
            input::registry(files)?;
            writeln!(out, "{}: sound", counted(files.len(), "file"))?;
        }
    }
    out.flush()?;
    Ok(Exit::Allowed)
}

fn list(out: &mut impl Write, registry: &Registry, which: Option<RegistryName>) -> io::Result<()> {
    for (name, title, rows) in [
        (RegistryName::Purposes, "purposes", purposes(registry)),
        (RegistryName::Applications, "applications", applications(registry)),
        (RegistryName::Directives, "directives", directives(registry)),
        (RegistryName::Categories, "categories", categories(registry)),
        (RegistryName::Agents, "agents", agents(registry)),
    ] {
        // With one registry the lines are its entries alone, for other programs to read.
        match which {
            None => writeln!(out, "# {title}")?,
            Some(which) if which == name => {}
            Some(_) => continue,
        }
        for Entry { fields, .. } in rows {
            let cells: Vec<_> = fields.iter().map(|(_, value)| shown(value.as_bytes())).collect();
            writeln!(out, "{}", cells.join("\t").trim_end())?;
        }
    }
    Ok(())
}

fn show(out: &mut impl Write, registry: &Registry, name: &str) -> Result<(), Failure> {
    let mut found = false;
    for (kind, entries) in [
        ("purpose", purposes(registry)),
        ("application", applications(registry)),
        ("directive", directives(registry)),
        ("category", categories(registry)),
        ("agent", agents(registry)),
    ] {
        let is = |known: &String| known.eq_ignore_ascii_case(name);
        for entry in entries.iter().filter(|entry| entry.names.iter().any(is)) {
            if std::mem::replace(&mut found, true) {
                writeln!(out)?;
            }
            writeln!(out, "[{kind}]")?;
            for (field, value) in entry.fields.iter().filter(|(_, value)| !value.is_empty()) {
                writeln!(out, "{field}: {}", shown(value.as_bytes()))?;
            }
        }
    }
    if found {
        return Ok(());
    }
    let name = shown(name.as_bytes());
    Err(Failure::new(format_args!(
        "no registry has `{name}`; `mayi registry list` shows what there is"
    )))
}

/// An entry as its fields in order, and the names that it is found by.
struct Entry {
    names: Vec<String>,
    fields: Vec<(&'static str, String)>,
}

fn purposes(registry: &Registry) -> Vec<Entry> {
    let entries = registry.purposes().iter().map(|purpose| Entry {
        names: vec![purpose.token.to_string()],
        fields: vec![
            ("token", purpose.token.to_string()),
            ("description", purpose.description.to_string()),
        ],
    });
    entries.collect()
}

fn applications(registry: &Registry) -> Vec<Entry> {
    let entries = registry.applications().iter().map(|application| Entry {
        names: vec![application.identifier.to_string()],
        fields: vec![
            ("identifier", application.identifier.to_string()),
            ("product token", application.product_token.to_string()),
            ("change controller", application.change_controller.to_string()),
        ],
    });
    entries.collect()
}

fn directives(registry: &Registry) -> Vec<Entry> {
    let entries = registry.directives().iter().map(|directive| {
        let full = format!("{};{}", directive.application, directive.name);
        Entry {
            names: vec![full, directive.name.to_string(), directive.application.to_string()],
            fields: vec![
                ("application", directive.application.to_string()),
                ("name", directive.name.to_string()),
                ("type", directive.value_type.name().to_owned()),
                ("status", directive.status.name().to_owned()),
                ("description", directive.description.to_string()),
                ("documentation", directive.documentation.to_string()),
                ("overrides", overrides_of(directive)),
            ],
        }
    });
    entries.collect()
}

fn categories(registry: &Registry) -> Vec<Entry> {
    let entries = registry.categories().iter().map(|category| Entry {
        names: vec![category.label.to_string()],
        fields: vec![
            ("label", category.label.to_string()),
            ("name", category.name.to_string()),
            ("description", category.description.to_string()),
        ],
    });
    entries.collect()
}

fn agents(registry: &Registry) -> Vec<Entry> {
    let entries = registry.agents().iter().map(|agent| Entry {
        names: vec![agent.token.to_string()],
        fields: vec![
            ("token", agent.token.to_string()),
            ("operator", agent.operator.to_string()),
            ("kind", agent.kind.name().to_owned()),
            ("source", agent.source.to_string()),
            ("manners", manners_of(agent)),
        ],
    });
    entries.collect()
}

fn overrides_of(directive: &ApplicationDirective) -> String {
    let Some(overrides) = &directive.overrides else { return String::new() };
    let values =
        overrides.values.iter().map(|(value, meaning)| format!("{value} means {}", meaning.name()));
    format!("{}: {}", overrides.category, values.collect::<Vec<_>>().join(", "))
}

/// How a crawler finds its group where no line names it.
fn manners_of(agent: &Agent) -> String {
    let mut manners = Vec::new();
    let fallback: Vec<_> = agent.fallback().collect();
    if !fallback.is_empty() {
        manners.push(format!("falls back to {}", fallback.join(", ")));
    }
    if agent.ignores_global() {
        manners.push("ignores `*`".to_owned());
    }
    if !agent.used_for.is_empty() {
        let kinds: Vec<_> = agent.used_for.iter().map(|kind| kind.name()).collect();
        manners.push(format!("its data is used for {}", kinds.join(", ")));
    }
    if agent.control_only {
        manners.push("a token for robots.txt only".to_owned());
    }
    manners.join("; ")
}
