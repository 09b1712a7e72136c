//! Every signal about a use of a page → one answer a use, with the signals that spoke (USE-4 to
//! USE-6, APP-9).

use indexmap::IndexMap;

use crate::application::AppDirectives;
use crate::crawler::Crawler;
use crate::extension::Extension;
use crate::forms::Forms;
use crate::page::PageRules;
use crate::preference::{self, Preference, Statement, joined_header};
use crate::records::{self, ContentSignal};
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
    /// The applications that the question is for.
    applications: Vec<String>,
    overrides: Vec<Override>,
    signals: Vec<Signal>,
}

/// A use that content can be put to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

    /// As reports have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Search => "search",
            Self::AiInput => "ai-input",
        }
    }

    /// The usage category that speaks about it.
    const fn category(self) -> Option<&'static str> {
        match self {
            Self::Train => Some("train-ai"),
            Self::Search => Some("search"),
            Self::AiInput => None,
        }
    }

    /// The key of Content-Signal that speaks about it.
    const fn signal_key(self) -> &'static str {
        match self {
            Self::Train => "ai-train",
            Self::Search => "search",
            Self::AiInput => "ai-input",
        }
    }
}

/// Something that spoke about a use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signal {
    /// The use that it spoke about.
    pub about: Use,
    /// What it is.
    pub source: SignalSource,
    /// What it says.
    pub says: Preference,
    /// The line of the file that it stands on.
    pub line: Option<LineNumber>,
}

/// What speaks about uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// A directive of an application that overrides a preference.
    AppDirective,
}

impl SignalSource {
    /// As reports have it.
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

    /// Whether it speaks from the file, or from the response; an override does neither: it changes
    /// what the file says.
    const fn is_in_file(self) -> Option<bool> {
        match self {
            Self::ContentUsage | Self::ContentSignal | Self::AiTraining => Some(true),
            Self::ContentUsageHeader | Self::ContentSignalHeader | Self::Page => Some(false),
            Self::AppDirective => None,
        }
    }
}

/// A directive that overrides the preference of its file (APP-9).
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
    /// What the directive makes of it.
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

    /// Everything that spoke, by use.
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// The answer about a use: the most restrictive of what spoke, where a directive that overrides
    /// the preference stands for all that its own file says about the use (USE-6, APP-9).
    pub fn answer(&self, about: Use) -> Preference {
        let spoke = |in_file: bool| {
            let of_use = self.signals.iter().filter(|signal| signal.about == about);
            let signals = of_use.filter(move |signal| signal.source.is_in_file() == Some(in_file));
            let says = signals.map(|signal| signal.says);
            says.fold(Preference::Unknown, Preference::most_restrictive)
        };
        let of_file = match about.category() {
            Some(label) => self.overridden(label, spoke(true)),
            None => spoke(true),
        };
        of_file.most_restrictive(spoke(false))
    }
}

impl RobotsTxt<'_> {
    /// What may be done with a target that may be fetched: from the file, and from the header fields
    /// of the response, if there is one. What may not be fetched has no preferences (USE-4): ask for
    /// the decision first.
    pub fn usage(&self, crawler: &Crawler, target: &Target<'_>, fields: &[(&str, &str)]) -> Usage {
        let directives = self.app_directives(crawler, target);
        let selection = select(self, crawler, &mut ());
        let response = Response { fields, page: None };
        usage_of(self, crawler, selection.as_ref(), target, response, &directives)
    }
}

/// What is known of a response.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Response<'a> {
    pub(crate) fields: &'a [(&'a str, &'a str)],
    /// The page rules that hold for the crawler.
    pub(crate) page: Option<&'a PageRules>,
}

/// The same, where the groups and the directives are known already.
pub(crate) fn usage_of(
    robots: &RobotsTxt<'_>,
    crawler: &Crawler,
    selection: Option<&Selection>,
    target: &Target<'_>,
    response: Response<'_>,
    directives: &[AppDirectives],
) -> Usage {
    let fields = response.fields;
    let dialect = robots.dialect();
    let forms = Forms::of(target, dialect.comparison);
    let file =
        selection.map(|selection| preference::of_file(robots, selection, &forms)).unwrap_or_default();
    let of_header = |extension, name| {
        Some(fields).filter(|_| dialect.reads(extension)).and_then(|fields| joined_header(fields, name))
    };
    let header_usage = of_header(Extension::UsagePreferences, "Content-Usage")
        .and_then(|value| Statement::parse(value.as_bytes()));
    let header_signal = of_header(Extension::Records, "Content-Signal")
        .map(|value| ContentSignal::parse(value.as_bytes()));
    let signal_lines = records::content_signals(robots, selection);
    let training = selection.and_then(|selection| records::ai_training(robots, selection, &forms));

    let of_file = file.combined();
    let overrides = overrides_of(robots, directives, &of_file);
    let applications = crawler.applications().map(str::to_owned).collect();
    let mut usage = Usage { applications, overrides, ..Usage::default() };
    usage.combine(robots, &of_file, header_usage.as_ref());

    for &about in Use::ALL {
        let mut say = |source, says, line| {
            if says != Preference::Unknown {
                usage.signals.push(Signal { about, source, says, line });
            }
        };
        if let Some(label) = about.category() {
            for (line, statement) in &file.deciding {
                say(SignalSource::ContentUsage, statement.preference(label), Some(*line));
            }
            if let Some(header) = &header_usage {
                say(SignalSource::ContentUsageHeader, header.preference(label), None);
            }
        }
        for (line, signal) in &signal_lines {
            say(SignalSource::ContentSignal, signal.preference(about.signal_key()), Some(*line));
        }
        if let Some(header) = &header_signal {
            say(SignalSource::ContentSignalHeader, header.preference(about.signal_key()), None);
        }
        if about == Use::Train
            && let Some((line, says)) = training
        {
            say(SignalSource::AiTraining, says, Some(line));
        }
        if about == Use::Train && response.page.is_some_and(PageRules::has_noai) {
            say(SignalSource::Page, Preference::Disallowed, None);
        }
        for over in usage.overrides.iter().filter(|over| Some(&*over.category) == about.category()) {
            let (says, line) = (over.outcome, over.line);
            usage.signals.push(Signal { about, source: SignalSource::AppDirective, says, line });
        }
    }
    usage
}

/// What the directives of the applications make of the file's preferences (APP-9).
fn overrides_of(
    robots: &RobotsTxt<'_>,
    directives: &[AppDirectives],
    of_file: &Statement,
) -> Vec<Override> {
    let mut overrides = Vec::new();
    for asked in directives {
        for (name, value) in asked.directives() {
            let registered = robots.registry().directive(asked.application(), name);
            let Some(scope) = registered.and_then(|directive| directive.overrides.as_ref()) else {
                continue;
            };
            let Some(outcome) = scope.meaning(value) else { continue };
            overrides.push(Override {
                category: scope.category.to_string(),
                application: asked.application().to_owned(),
                directive: name.to_owned(),
                preference: of_file.preference(&scope.category),
                outcome,
                line: asked.rules().iter().rfind(|rule| rule.applies).map(|rule| rule.line),
            });
        }
    }
    overrides
}

impl Usage {
    /// Combines file, overrides and header, label by label (USE-5).
    fn combine(&mut self, robots: &RobotsTxt<'_>, of_file: &Statement, header: Option<&Statement>) {
        let in_header =
            |label: &str| header.map_or(Preference::Unknown, |header| header.preference(label));
        for category in robots.registry().categories() {
            let label = &*category.label;
            let outcome = self.overridden(label, of_file.preference(label));
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

    /// What becomes of the file's preference for the crawler's applications: for each, what its
    /// directives say, or else the preference; over all of them, the most restrictive.
    fn overridden(&self, label: &str, preference: Preference) -> Preference {
        let outcome = |application: &String| {
            let of_it = self.overrides.iter().filter(|over| over.application == *application);
            let outcomes = of_it.filter(|over| over.category == label).map(|over| over.outcome);
            outcomes.reduce(Preference::most_restrictive).unwrap_or(preference)
        };
        let outcomes = self.applications.iter().map(outcome);
        outcomes.reduce(Preference::most_restrictive).unwrap_or(preference)
    }
}
