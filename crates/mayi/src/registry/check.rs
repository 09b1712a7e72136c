//! The text of a registry file → checked entries, or everything that is wrong with them.
//!
//! The checks are the drafts' rules for registrations: the form of identifiers, the eight value types,
//! and that only the controller of an application registers directives for it.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Deserialize;
use toml::Spanned;

use super::entries::{
    Agent, AgentKind, Application, ApplicationDirective, Category, Overrides, Purpose, Status,
};
use super::error::{RegistryError, RegistryErrors};
use super::{Registry, starts_of};
use crate::crawler::{Crawler, Manners, ProductToken};
use crate::preference::Preference;
use crate::span::line_at;
use crate::structured::{ValueType, parse_bare_item};

type Text = Spanned<String>;

/// The entries of one kind: the shipped ones are borrowed until a file is laid over them.
type Entries<T> = Cow<'static, [T]>;

/// A file as it is read; a text keeps its place, so that an error can name the line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    purpose: Vec<RawPurpose>,
    #[serde(default)]
    application: Vec<RawApplication>,
    #[serde(default)]
    directive: Vec<RawDirective>,
    #[serde(default)]
    category: Vec<RawCategory>,
    #[serde(default)]
    agent: Vec<RawAgent>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPurpose {
    token: Text,
    description: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawApplication {
    identifier: Text,
    product_token: Text,
    change_controller: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDirective {
    application: Text,
    name: Text,
    #[serde(rename = "type")]
    value_type: Text,
    description: String,
    documentation: Text,
    status: Text,
    change_controller: Option<Text>,
    overrides: Option<RawOverrides>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOverrides {
    category: Text,
    values: BTreeMap<String, Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCategory {
    label: Text,
    name: String,
    description: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAgent {
    token: Text,
    operator: String,
    kind: Text,
    #[serde(default)]
    used_for: Vec<Text>,
    #[serde(default)]
    fallback: Vec<Text>,
    #[serde(default)]
    ignores_global: bool,
    #[serde(default)]
    control_only: bool,
    source: Text,
}

/// Lays the entries of a file over a registry.
pub(super) fn extend(base: &Registry, file: &str, text: &str) -> Result<Registry, RegistryErrors> {
    let mut checker = Checker { file, text, errors: Vec::new(), left_out: 0 };
    let mut registry = base.clone();
    if text.len() > MOST_OCTETS {
        let message =
            format!("the file has {} octets; a registry file has at most {MOST_OCTETS}", text.len());
        checker.wrong(0, message);
        return Err(RegistryErrors { listed: checker.errors, left_out: 0 });
    }
    match toml::from_str::<File>(text) {
        Err(error) => checker.wrong(error.span().map_or(0, |span| span.start), error.message()),
        Ok(read) => {
            checker.purposes(read.purpose, &mut registry.purposes);
            checker.applications(read.application, &mut registry.applications);
            checker.categories(read.category, &mut registry.categories);
            checker.directives(read.directive, &mut registry);
            checker.agents(read.agent, &mut registry.agents);
            registry.agent_starts = starts_of(&registry.agents);
        }
    }
    if checker.errors.is_empty() {
        return Ok(registry);
    }
    checker.errors.sort_by_key(|error| error.line);
    Err(RegistryErrors { listed: checker.errors, left_out: checker.left_out })
}

/// How many octets a file may have. Reading TOML takes up to sixty times their memory.
const MOST_OCTETS: usize = 1 << 20;

/// How many errors are listed. A file can have one for every few octets.
const MOST_ERRORS: usize = 100;

/// How many names are listed in a message.
const MOST_NAMES: usize = 20;

struct Checker<'f> {
    file: &'f str,
    text: &'f str,
    errors: Vec<RegistryError>,
    left_out: usize,
}

impl Checker<'_> {
    fn wrong(&mut self, at: usize, message: impl Into<String>) {
        if self.errors.len() == MOST_ERRORS {
            self.left_out += 1;
            return;
        }
        let line = line_at(self.text.as_bytes(), at.min(self.text.len()) as u32).number() as usize;
        self.errors.push(RegistryError { file: self.file.to_owned(), line, message: message.into() });
    }

    fn purposes(&mut self, entries: Vec<RawPurpose>, into: &mut Entries<Purpose>) {
        let mut seen = HashSet::new();
        let mut layer = Layer::over(into.to_mut(), |purpose| purpose.token.to_ascii_lowercase());
        for raw in entries {
            let at = raw.token.span().start;
            let token = raw.token.into_inner();
            if let Err(error) = Crawler::unnamed().with_purpose(&token) {
                self.wrong(at, error.to_string());
                continue;
            }
            if self.is_first(&mut seen, &token.to_ascii_uppercase(), at) {
                let purpose = Purpose { token: token.into(), description: raw.description.into() };
                layer.put(purpose);
            }
        }
    }

    fn applications(&mut self, entries: Vec<RawApplication>, into: &mut Entries<Application>) {
        let mut seen = HashSet::new();
        let mut layer = Layer::over(into.to_mut(), |application| application.identifier.to_string());
        for raw in entries {
            let at = raw.identifier.span().start;
            let identifier = raw.identifier.into_inner();
            if sfv::TokenRef::from_str(&identifier).is_err() {
                let message = format!(
                    "`{identifier}` is not an application identifier: it has to be a Token of RFC 9651 §3.3.4"
                );
                self.wrong(at, message);
            }
            let controller_at = raw.change_controller.span().start;
            let change_controller = raw.change_controller.into_inner();
            if change_controller.trim().is_empty() {
                self.wrong(controller_at, "a change controller needs a name and contact details");
            }
            let token_at = raw.product_token.span().start;
            match ProductToken::new(raw.product_token.as_ref()) {
                Err(error) => self.wrong(token_at, error.to_string()),
                Ok(product_token) => {
                    if self.is_first(&mut seen, &identifier, at) {
                        let application = Application {
                            identifier: identifier.into(),
                            product_token,
                            change_controller: change_controller.into(),
                        };
                        layer.put(application);
                    }
                }
            }
        }
    }

    fn categories(&mut self, entries: Vec<RawCategory>, into: &mut Entries<Category>) {
        let mut seen = HashSet::new();
        let mut layer = Layer::over(into.to_mut(), |category| category.label.to_string());
        for raw in entries {
            let at = raw.label.span().start;
            let label = raw.label.into_inner();
            if sfv::KeyRef::from_str(&label).is_err() {
                let message =
                    format!("`{label}` is not a label: it has to be a key of RFC 9651 §3.1.2");
                self.wrong(at, message);
            } else if label == "other" {
                let message =
                    "`other` lists the labels outside of the vocabulary; choose another label";
                self.wrong(at, message);
            } else if self.is_first(&mut seen, &label, at) {
                let category = Category {
                    label: label.into(),
                    name: raw.name.into(),
                    description: raw.description.into(),
                };
                layer.put(category);
            }
        }
    }

    fn directives(&mut self, entries: Vec<RawDirective>, registry: &mut Registry) {
        let mut seen = HashSet::new();
        let mut directives = Vec::new();
        for raw in entries {
            let place = |text: &Text| text.span().start;
            let known = self.errors.len();
            let (application, name) = (raw.application.as_ref().clone(), raw.name.as_ref().clone());
            if sfv::KeyRef::from_str(&name).is_err() {
                let message =
                    format!("`{name}` is not a directive name: it has to be a key of RFC 9651 §3.1.2");
                self.wrong(place(&raw.name), message);
            }
            match registry.application(&application) {
                None => {
                    let message = format!("no application `{application}` is registered");
                    self.wrong(place(&raw.application), message);
                }
                Some(owner) => {
                    if let Some(controller) = &raw.change_controller
                        && *controller.as_ref() != owner.change_controller
                    {
                        let message = format!(
                            "`{application}` is controlled by `{}`, and only they may register its \
                             directives",
                            owner.change_controller
                        );
                        self.wrong(place(controller), message);
                    }
                }
            }
            if !raw.documentation.as_ref().contains("://") {
                let message = "the documentation has to be an absolute URL";
                self.wrong(place(&raw.documentation), message);
            }
            let value_type = self.one_of(&raw.value_type, ValueType::ALL, ValueType::name);
            let statuses = [Status::Active, Status::Deprecated];
            let status = self.one_of(&raw.status, &statuses, Status::name);
            let overrides = match (raw.overrides, value_type) {
                (Some(raw), Some(value_type)) => Some(self.overrides(raw, value_type, registry)),
                _ => None,
            };
            let key = format!("{application};{name}");
            if !self.is_first(&mut seen, &key, place(&raw.name)) || self.errors.len() > known {
                continue;
            }
            if let (Some(value_type), Some(status)) = (value_type, status) {
                let directive = ApplicationDirective {
                    application: application.into(),
                    name: name.into(),
                    value_type,
                    description: raw.description.into(),
                    documentation: raw.documentation.into_inner().into(),
                    status,
                    overrides,
                };
                directives.push(directive);
            }
        }
        let key =
            |directive: &ApplicationDirective| format!("{};{}", directive.application, directive.name);
        let mut layer = Layer::over(registry.directives.to_mut(), key);
        for directive in directives {
            layer.put(directive);
        }
    }

    fn overrides(
        &mut self,
        raw: RawOverrides,
        value_type: ValueType,
        registry: &Registry,
    ) -> Overrides {
        let category = raw.category.as_ref().clone();
        if registry.category(&category).is_none() {
            let known = registry.categories.iter().map(|known| &*known.label).take(MOST_NAMES);
            let mut known = known.collect::<Vec<_>>().join(", ");
            if registry.categories.len() > MOST_NAMES {
                known.push_str(" and others");
            }
            let message = format!("no usage category `{category}`; there are {known}");
            self.wrong(raw.category.span().start, message);
        }
        let mut values = Vec::new();
        for (written, meaning) in raw.values {
            let at = meaning.span().start;
            let value = parse_bare_item(written.as_bytes());
            match value.filter(|value| value.value_type() == value_type) {
                None => {
                    let message =
                        format!("`{written}` is not a value of the type {}", value_type.name());
                    self.wrong(at, message);
                }
                Some(value) => {
                    let meanings = [Preference::Allowed, Preference::Disallowed];
                    if let Some(meaning) = self.one_of(&meaning, &meanings, Preference::name) {
                        values.push((value, meaning));
                    }
                }
            }
        }
        Overrides { category: category.into(), values: values.into() }
    }

    fn agents(&mut self, entries: Vec<RawAgent>, into: &mut Entries<Agent>) {
        let mut seen = HashSet::new();
        let mut layer = Layer::over(into.to_mut(), |agent| agent.token.to_ascii_lowercase());
        for raw in entries {
            let place = |text: &Text| text.span().start;
            let known = self.errors.len();
            if let Err(error) = ProductToken::new(raw.token.as_ref()) {
                self.wrong(place(&raw.token), error.to_string());
            }
            let mut fallbacks = Vec::new();
            for fallback in &raw.fallback {
                match ProductToken::new(fallback.as_ref()) {
                    Ok(token) => fallbacks.push(token),
                    Err(error) => self.wrong(place(fallback), error.to_string()),
                }
            }
            if !raw.source.as_ref().contains("://") {
                self.wrong(place(&raw.source), "the source has to be an absolute URL");
            }
            let mut kind_of = |text| self.one_of(text, AgentKind::ALL, AgentKind::name);
            let (kind, used_for) =
                (kind_of(&raw.kind), raw.used_for.iter().filter_map(kind_of).collect());
            let lower = raw.token.as_ref().to_ascii_lowercase();
            if !self.is_first(&mut seen, &lower, place(&raw.token)) || self.errors.len() > known {
                continue;
            }
            if let Some(kind) = kind {
                let agent = Agent {
                    token: raw.token.into_inner().into(),
                    operator: raw.operator.into(),
                    kind,
                    used_for: Cow::Owned(used_for),
                    control_only: raw.control_only,
                    source: raw.source.into_inner().into(),
                    manners: Manners {
                        fallbacks: fallbacks.into(),
                        ignores_global: raw.ignores_global,
                    },
                };
                layer.put(agent);
            }
        }
        layer.entries.sort_by_cached_key(|agent| agent.token.to_ascii_lowercase());
    }

    /// The value of this name, or an error that lists the names.
    fn one_of<T: Copy>(&mut self, text: &Text, all: &[T], name: fn(T) -> &'static str) -> Option<T> {
        let found = all.iter().copied().find(|value| name(*value) == text.as_ref());
        if found.is_none() {
            let names: Vec<_> = all.iter().map(|value| name(*value)).collect();
            let message = format!("`{}` is not one of {}", text.as_ref(), names.join(", "));
            self.wrong(text.span().start, message);
        }
        found
    }

    /// Whether no entry before it has the same key.
    fn is_first(&mut self, seen: &mut HashSet<String>, key: &str, at: usize) -> bool {
        let is_first = seen.insert(key.to_owned());
        if !is_first {
            self.wrong(at, format!("`{key}` is registered twice in this file"));
        }
        is_first
    }
}

/// Lays entries over those of a registry: one with the same key takes its place.
struct Layer<'e, T> {
    entries: &'e mut Vec<T>,
    places: HashMap<String, usize>,
    key: fn(&T) -> String,
}

impl<'e, T> Layer<'e, T> {
    fn over(entries: &'e mut Vec<T>, key: fn(&T) -> String) -> Self {
        let places = entries.iter().enumerate().map(|(place, entry)| (key(entry), place)).collect();
        Self { entries, places, key }
    }

    fn put(&mut self, entry: T) {
        match self.places.entry((self.key)(&entry)) {
            Entry::Occupied(place) => self.entries[*place.get()] = entry,
            Entry::Vacant(place) => {
                place.insert(self.entries.len());
                self.entries.push(entry);
            }
        }
    }
}
