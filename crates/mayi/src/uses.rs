//! Every signal about a use of a page → one answer per use, with its signals (USE-4 to USE-6, APP-9).

mod prepared;

pub use prepared::{CrawlerUses, UseAnswers};
pub(crate) use prepared::{UsesOfApplications, UsesOfGroups, WantedDirectives};

use indexmap::IndexMap;

use crate::access::View;
use crate::application::AppDirectives;
use crate::content_usage::{self, FilePreferences, Said, Unread};
use crate::crawler::Crawler;
use crate::extension::Extension;
use crate::forms::Forms;
use crate::preference::{Preference, Statement};
use crate::records::{self, ContentSignal};
use crate::registry::Registry;
use crate::robots_txt::RobotsTxt;
use crate::selection::{Selection, select};
use crate::span::LineNumber;
use crate::target::Target;

/// What may be done with a page that may be fetched.
///
/// ```
/// use mayi::{Crawler, Preference, RobotsTxt, Target, Use};
///
/// let robots = RobotsTxt::parse(b"User-agent: *\nContent-Usage: train-ai=n\nContent-Signal: search=yes\n");
/// let crawler = Crawler::new("ExampleBot")?;
/// let usage = robots.usage(&crawler, &Target::parse("https://example.com/")?, &[]);
/// assert_eq!(usage.preference("train-ai"), Preference::Disallowed);
/// assert_eq!(usage.answer(Use::Search), Preference::Allowed);
/// assert_eq!(usage.answer(Use::AiInput), Preference::Unknown);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    categories: IndexMap<String, Preference>,
    other: IndexMap<String, Preference>,
    overrides: Vec<Override>,
    signals: Vec<Signal>,
    unreadable: Vec<UnreadableUsage>,
}

/// A use of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "report", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Use {
    /// Training a model.
    Train,
    /// Showing it in search results.
    Search,
    /// Giving it to a model as input.
    AiInput,
}

impl Use {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Train, Self::Search, Self::AiInput];

    /// As in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Search => "search",
            Self::AiInput => "ai-input",
        }
    }

    /// The usage category for it.
    const fn category(self) -> Option<&'static str> {
        match self {
            Self::Train => Some("train-ai"),
            Self::Search => Some("search"),
            Self::AiInput => None,
        }
    }

    /// The key of Content-Signal for it.
    const fn signal_key(self) -> &'static str {
        match self {
            Self::Train => "ai-train",
            Self::Search => "search",
            Self::AiInput => "ai-input",
        }
    }
}

/// A signal about a use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signal {
    /// The use that it is about.
    pub about: Use,
    /// What it is.
    pub source: SignalSource,
    /// What it says.
    pub says: Preference,
    /// The line of the file that it is on.
    pub line: Option<LineNumber>,
    /// Whether it is a preference of the file that the directives of every application override, so
    /// that it no longer counts (APP-9).
    pub is_overridden: bool,
}

/// The kinds of signals about uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "report", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum SignalSource {
    /// Content-Usage in the file.
    ContentUsage,
    /// The Content-Usage header.
    ContentUsageHeader,
    /// Content-Signal in the file.
    ContentSignal,
    /// The Content-Signal header.
    ContentSignalHeader,
    /// DisallowAITraining and AllowAITraining.
    AiTraining,
    /// A page rule.
    Page,
    /// A directive of an application, which its registry entry gives a meaning for the use.
    AppDirective,
}

impl SignalSource {
    /// As in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ContentUsage => "content-usage",
            Self::ContentUsageHeader => "content-usage-header",
            Self::ContentSignal => "content-signal",
            Self::ContentSignalHeader => "content-signal-header",
            Self::AiTraining => "ai-training",
            Self::Page => "page",
            Self::AppDirective => "app-directive",
        }
    }
}

/// A Content-Usage that could not be read: what it could have said is unknown (USE-3, USE-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadableUsage {
    /// The line of the file that it is on; none for the header.
    pub line: Option<LineNumber>,
    /// Whether there is nothing after the path, instead of something that is not a Dictionary.
    pub is_missing: bool,
}

/// A directive that overrides the preference of its file, because the two say different things
/// (APP-9).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Override {
    /// The usage category.
    pub category: String,
    /// The application that the directive is for.
    pub application: String,
    /// The directive.
    pub directive: String,
    /// What the file's Content-Usage says.
    pub preference: Preference,
    /// What the directive makes of it, for its application.
    pub outcome: Preference,
    /// The line of the longest rule that the directive is in.
    pub line: Option<LineNumber>,
}

impl Usage {
    /// The categories of the vocabulary, with the outcome for each.
    pub fn categories(&self) -> impl Iterator<Item = (&str, Preference)> {
        self.categories.iter().map(|(label, preference)| (label.as_str(), *preference))
    }

    /// Labels that are not in the vocabulary (USE-2).
    pub fn other(&self) -> impl Iterator<Item = (&str, Preference)> {
        self.other.iter().map(|(label, preference)| (label.as_str(), *preference))
    }

    /// The outcome for a label.
    pub fn preference(&self, label: &str) -> Preference {
        let found = self.categories.get(label).or_else(|| self.other.get(label));
        found.copied().unwrap_or_default()
    }

    /// The directives that override preferences.
    pub fn overrides(&self) -> &[Override] {
        &self.overrides
    }

    /// All signals, by use.
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// The Content-Usage rules and fields that could not be read, and would have counted.
    pub fn unreadable(&self) -> &[UnreadableUsage] {
        &self.unreadable
    }

    /// The answer about a use: the most restrictive of the signals that are not overridden (USE-6, APP-9).
    pub fn answer(&self, about: Use) -> Preference {
        let counts = |signal: &&Signal| signal.about == about && !signal.is_overridden;
        let says = self.signals.iter().filter(counts).map(|signal| signal.says);
        says.fold(Preference::Unknown, Preference::most_restrictive)
    }
}

impl RobotsTxt<'_> {
    /// What may be done with a target that may be fetched: from the file, and from the header fields
    /// of the response, if there is one. What may not be fetched has no preferences (USE-4): ask for
    /// the decision first.
    pub fn usage(&self, crawler: &Crawler, target: &Target<'_>, fields: &[(&str, &str)]) -> Usage {
        let directives = self.app_directives(crawler, target);
        let selection = select(self, crawler, &mut ());
        let response = Response { fields, has_noai: false };
        usage_of(View::of(self), selection.as_ref(), target, response, &directives)
    }
}

/// What is known about a response.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Response<'a> {
    pub(crate) fields: &'a [(&'a str, &'a str)],
    /// Whether a page rule that applies to the crawler says `noai`.
    pub(crate) has_noai: bool,
}

/// The same, where the groups and the directives are known already.
pub(crate) fn usage_of(
    View { robots, dialect, registry }: View<'_>,
    selection: Option<&Selection>,
    target: &Target<'_>,
    response: Response<'_>,
    directives: &[AppDirectives],
) -> Usage {
    let fields = response.fields;
    let forms = Forms::of(target, dialect.comparison);
    let of_groups = robots.zip(selection);
    let file = of_groups.map(|(robots, groups)| content_usage::of_file(robots, groups, &forms));
    let file = file.unwrap_or_default();
    let of_header = |extension, name| {
        Some(fields).filter(|_| dialect.reads(extension)).and_then(|fields| joined_header(fields, name))
    };
    let header_usage = of_header(Extension::UsagePreferences, "Content-Usage")
        .map(|value| Statement::parse(value.as_bytes()));
    let header_signal = of_header(Extension::Records, "Content-Signal")
        .map(|value| ContentSignal::parse(value.as_bytes()));
    let signals: Vec<(Use, LineNumber, Preference)> = robots
        .into_iter()
        .flat_map(|robots| records::content_signals(robots, selection))
        .flat_map(|(line, value)| {
            let signal = ContentSignal::parse(value);
            Use::ALL.iter().map(move |&about| (about, line, signal.preference(about.signal_key())))
        })
        .filter(|(_, _, says)| *says != Preference::Unknown)
        .collect();
    let training = of_groups.and_then(|(robots, groups)| records::ai_training(robots, groups, &forms));

    let spoken = spoken_of(registry, directives);
    let of_file = file.combined();
    let header = header_usage.iter().flatten().next();
    let mut usage = Usage {
        overrides: overrides_of(&spoken, &of_file),
        unreadable: unreadable(&file, header_usage.as_ref()),
        ..Usage::default()
    };
    usage.combine(registry, &of_file, header, &spoken);

    for &about in Use::ALL {
        let is_overridden = about.category().is_some_and(|label| {
            let stated = of_file.preference(label);
            let is_overridden = |of_it: &Vec<_>| overridden(of_it, label, stated).is_some();
            !spoken.is_empty() && spoken.iter().all(is_overridden)
        });
        let mut say = |source, says, line| {
            let is_overridden = is_overridden && source == SignalSource::ContentUsage;
            if says != Preference::Unknown {
                usage.signals.push(Signal { about, source, says, line, is_overridden });
            }
        };
        if let Some(label) = about.category() {
            for (line, said) in &file.deciding {
                if let Ok(statement) = said {
                    say(SignalSource::ContentUsage, statement.preference(label), Some(*line));
                }
            }
            if let Some(header) = header {
                say(SignalSource::ContentUsageHeader, header.preference(label), None);
            }
        }
        for (_, line, says) in signals.iter().filter(|(of, ..)| *of == about) {
            say(SignalSource::ContentSignal, *says, Some(*line));
        }
        if let Some(header) = &header_signal {
            say(SignalSource::ContentSignalHeader, header.preference(about.signal_key()), None);
        }
        if about == Use::Train
            && let Some((line, says)) = training
        {
            say(SignalSource::AiTraining, says, Some(line));
        }
        if about == Use::Train && response.has_noai {
            say(SignalSource::Page, Preference::Disallowed, None);
        }
        let of_use = |spoke: &&Spoken<'_>| Some(spoke.category) == about.category();
        for spoke in spoken.iter().flatten().filter(of_use) {
            say(SignalSource::AppDirective, spoke.means, spoke.line);
        }
    }
    usage
}

/// What could not be read of the rules that decide and of the header.
fn unreadable(file: &FilePreferences, header: Option<&Option<Statement>>) -> Vec<UnreadableUsage> {
    let unread = |(line, said): &(LineNumber, Said)| {
        let unread = said.as_ref().err()?;
        Some(UnreadableUsage { line: Some(*line), is_missing: *unread == Unread::Missing })
    };
    let of_header = header.filter(|header| header.is_none());
    let of_header = of_header.map(|_| UnreadableUsage { line: None, is_missing: false });
    file.deciding.iter().filter_map(unread).chain(of_header).collect()
}

/// A directive that means something for a usage category (APP-9).
struct Spoken<'d> {
    application: &'d str,
    directive: &'d str,
    category: &'d str,
    means: Preference,
    line: Option<LineNumber>,
}

/// The directives of each application that mean something for a usage category.
fn spoken_of<'d>(registry: &'d Registry, directives: &'d [AppDirectives]) -> Vec<Vec<Spoken<'d>>> {
    let of_application = |asked: &'d AppDirectives| {
        let application = asked.application();
        let line = asked.rules().iter().rfind(|rule| rule.applies).map(|rule| rule.line);
        let spoken = asked.directives().filter_map(|(directive, value)| {
            let registered = registry.directive(application, directive)?;
            let scope = registered.overrides.as_ref()?;
            let means = scope.meaning(value)?;
            Some(Spoken { application, directive, category: &scope.category, means, line })
        });
        spoken.collect()
    };
    directives.iter().map(of_application).collect()
}

/// What the directives of an application make of a preference that the file states, where they conflict
/// with it: otherwise there is nothing to override.
fn overridden(spoken: &[Spoken<'_>], label: &str, stated: Preference) -> Option<Preference> {
    let means = spoken.iter().filter(|spoke| spoke.category == label).map(|spoke| spoke.means);
    let outcome = means.reduce(Preference::most_restrictive)?;
    (stated != Preference::Unknown && outcome != stated).then_some(outcome)
}

/// The directives that make something else of what the file states.
fn overrides_of(spoken: &[Vec<Spoken<'_>>], of_file: &Statement) -> Vec<Override> {
    let mut overrides = Vec::new();
    for of_it in spoken {
        for spoke in of_it {
            let preference = of_file.preference(spoke.category);
            let outcome = overridden(of_it, spoke.category, preference);
            if outcome == Some(spoke.means) {
                overrides.push(Override {
                    category: spoke.category.to_owned(),
                    application: spoke.application.to_owned(),
                    directive: spoke.directive.to_owned(),
                    preference,
                    outcome: spoke.means,
                    line: spoke.line,
                });
            }
        }
    }
    overrides
}

impl Usage {
    /// Combines file, directives and header, label by label (USE-5). For each application, what its
    /// directives make of the file's preference counts, or else that preference; over all of them, the
    /// most restrictive.
    fn combine(
        &mut self,
        registry: &Registry,
        of_file: &Statement,
        header: Option<&Statement>,
        spoken: &[Vec<Spoken<'_>>],
    ) {
        let in_header =
            |label: &str| header.map_or(Preference::Unknown, |header| header.preference(label));
        for category in registry.categories() {
            let label = &*category.label;
            let stated = of_file.preference(label);
            let outcomes =
                spoken.iter().map(|of_it| overridden(of_it, label, stated).unwrap_or(stated));
            let outcome = outcomes.reduce(Preference::most_restrictive).unwrap_or(stated);
            self.categories.insert(label.to_owned(), outcome.most_restrictive(in_header(label)));
        }
        let of_header = header.into_iter().flat_map(Statement::labels);
        for (label, _) in of_file.labels().chain(of_header) {
            if !self.categories.contains_key(label) {
                let both = of_file.preference(label).most_restrictive(in_header(label));
                self.other.insert(label.to_owned(), both);
            }
        }
    }
}

/// The values of a header field, joined as one (RFC 9651 §4.2).
fn joined_header(fields: &[(&str, &str)], name: &str) -> Option<String> {
    let values = fields.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name));
    let values: Vec<_> = values.map(|(_, value)| *value).collect();
    (!values.is_empty()).then(|| values.join(", "))
}
