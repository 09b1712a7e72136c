//! The registries of the drafts, as data: purposes, applications, their directives, usage categories and
//! known crawlers.
//!
//! The shipped files are in `data/`, and in the program as the tables of `shipped.rs`, which a test
//! makes from them: nothing is read when a program starts. A user's file has entries of any kind and
//! extends them: an entry with the same key replaces the shipped one. Nothing is fetched, and the
//! caller reads the file: this module takes its text.
//!
//! ```
//! use mayi::registry::Registry;
//!
//! let text = r#"
//! [[purpose]]
//! token = "ARCHIVE"
//! description = "keeping pages for later"
//! "#;
//! let registry = Registry::built_in().extended("mine.toml", text)?;
//! assert!(registry.purpose("archive").is_some());
//!
//! let errors = registry.extended("mine.toml", "[[agent]]\ntoken = \"a b\"\n").unwrap_err();
//! assert!(errors.to_string().starts_with("mine.toml:1: "));
//! # Ok::<(), mayi::registry::RegistryErrors>(())
//! ```

mod check;
mod claim;
mod entries;
mod error;
#[cfg(test)]
mod making;
#[cfg(feature = "report")]
mod meanings;
mod shipped;

pub use claim::Claim;
#[cfg(feature = "report")]
pub(crate) use claim::names_in;
pub use entries::{
    Agent, AgentKind, Application, ApplicationDirective, Category, Overrides, Purpose, Status,
};
pub use error::{RegistryError, RegistryErrors};

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::{Arc, LazyLock};

use crate::crawler::{Manners, ProductToken};
use crate::octets::{eight_in_lower_case, first_eight};

/// All registries together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Registry {
    purposes: Cow<'static, [Purpose]>,
    applications: Cow<'static, [Application]>,
    directives: Cow<'static, [ApplicationDirective]>,
    categories: Cow<'static, [Category]>,
    /// By token, in lower case.
    agents: Cow<'static, [Agent]>,
    /// The start of each agent's token, by which it is looked up.
    agent_starts: Box<[u64]>,
}

static BUILT_IN: LazyLock<Arc<Registry>> = LazyLock::new(|| {
    Arc::new(Registry {
        purposes: Cow::Borrowed(shipped::PURPOSES),
        applications: Cow::Borrowed(shipped::APPLICATIONS),
        directives: Cow::Borrowed(shipped::DIRECTIVES),
        categories: Cow::Borrowed(shipped::CATEGORIES),
        agents: Cow::Borrowed(shipped::AGENTS),
        agent_starts: starts_of(shipped::AGENTS),
    })
});

impl Registry {
    /// The registries that are shipped. They are in the program: this reads nothing.
    pub fn built_in() -> Arc<Self> {
        Arc::clone(&BUILT_IN)
    }

    /// These registries, extended and overridden by the entries of a file.
    ///
    /// # Errors
    /// Everything that is wrong with the file, each with its line and with what would be right.
    pub fn extended(&self, file: &str, text: &str) -> Result<Self, RegistryErrors> {
        check::extend(self, file, text)
    }

    /// The purpose tokens.
    pub fn purposes(&self) -> &[Purpose] {
        &self.purposes
    }

    /// The application identifiers.
    pub fn applications(&self) -> &[Application] {
        &self.applications
    }

    /// The directives of applications.
    pub fn directives(&self) -> &[ApplicationDirective] {
        &self.directives
    }

    /// The usage categories.
    pub fn categories(&self) -> &[Category] {
        &self.categories
    }

    /// The known crawlers.
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// The purpose with this token, ignoring case.
    pub fn purpose(&self, token: &str) -> Option<&Purpose> {
        self.purposes.iter().find(|purpose| purpose.token.eq_ignore_ascii_case(token))
    }

    /// The application with this identifier.
    pub fn application(&self, identifier: &str) -> Option<&Application> {
        self.applications.iter().find(|application| application.identifier == identifier)
    }

    /// The directive of this name for an application.
    pub fn directive(&self, application: &str, name: &str) -> Option<&ApplicationDirective> {
        self.directives
            .iter()
            .find(|directive| directive.application == application && directive.name == name)
    }

    /// The usage category with this label.
    pub fn category(&self, label: &str) -> Option<&Category> {
        self.categories.iter().find(|category| category.label == label)
    }

    /// The known crawler with this product token, ignoring case.
    ///
    /// ```
    /// let registry = mayi::registry::Registry::built_in();
    /// let agent = registry.agent("googlebot-image").expect("it is well known");
    /// assert_eq!(agent.operator, "Google");
    /// ```
    pub fn agent(&self, token: &str) -> Option<&Agent> {
        let lower = |text: &'_ str| -> Vec<u8> { text.to_ascii_lowercase().into_bytes() };
        debug_assert!(self.agents.is_sorted_by_key(|agent| lower(&agent.token)));
        // Every selection needs this. Most names differ in their first eight octets, which are compared as one number.
        let start = start_in_lower_case(token.as_bytes());
        let from = self.agent_starts.partition_point(|known| *known < start);
        let same = self.agent_starts[from..].partition_point(|known| *known == start);
        let agents = &self.agents[from..from + same];
        let found = agents.binary_search_by(|agent| compare_in_lower_case(&agent.token, token));
        found.ok().map(|at| &agents[at])
    }

    /// How a crawler finds its group (WILD-6).
    pub(crate) fn manners_of(&self, token: &ProductToken) -> Cow<'_, Manners> {
        match self.agent(token.as_str()) {
            Some(agent) => Cow::Borrowed(&agent.manners),
            None => Cow::Owned(Manners::default()),
        }
    }
}

/// The starts of the tokens of agents, as they are looked up.
fn starts_of(agents: &[Agent]) -> Box<[u64]> {
    agents.iter().map(|agent| start_in_lower_case(agent.token.as_bytes())).collect()
}

/// The first eight octets in lower case, as a number that is ordered as they are.
#[inline]
fn start_in_lower_case(text: &[u8]) -> u64 {
    eight_in_lower_case(first_eight(text)).swap_bytes()
}

/// Which of two texts in lower case is before the other.
#[inline(never)]
fn compare_in_lower_case(one: &str, other: &str) -> Ordering {
    let [eights, others] = [one, other].map(|it| it.as_bytes().chunks(8).map(start_in_lower_case));
    eights.cmp(others).then(one.len().cmp(&other.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_registries_are_sound() {
        let registry = Registry::built_in();
        assert_eq!(registry.purposes().len(), 3);
        assert!(registry.agents().len() >= 150);
        assert!(registry.agent("ADSBOT-GOOGLE").expect("it is known").manners.ignores_global);
        for none in
            ["", "no-such-crawler", "Googlebo", "CCBot\0", "Googlebot-Imagf", "~~~~~~~~~", "ÄÖÜ"]
        {
            assert_eq!(registry.agent(none), None);
        }
        for agent in registry.agents() {
            for token in [agent.token.to_ascii_lowercase(), agent.token.to_ascii_uppercase()] {
                assert_eq!(registry.agent(&token), Some(agent));
            }
            assert!(agent.source.starts_with("https://"), "{}", agent.token);
        }
    }
}
