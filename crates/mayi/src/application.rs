//! App-Directives → what the site asks of each application (APP-1 to APP-8).

use indexmap::IndexMap;

use crate::access::View;
use crate::crawler::{Crawler, ProductToken};
use crate::directive::APP_DIRECTIVES;
use crate::forms::Forms;
use crate::registry::Registry;
use crate::robots_txt::RobotsTxt;
use crate::selection::{GroupBy, select_for_application};
use crate::span::{LineCounter, LineNumber};
use crate::structured::{Part, Value, each_part, octets_of_path, split_path};
use crate::target::Target;

/// What a file asks of one application.
///
/// ```
/// use mayi::{Crawler, RobotsTxt, Target, Value};
///
/// let robots = RobotsTxt::parse(b"User-Agent: *\nAllow: /\nApp-Directives: examplesearch;widgets=?0\n");
/// let crawler = Crawler::new("ExampleBot")?.with_application("examplesearch")?;
/// let asked = robots.app_directives(&crawler, &Target::parse("https://example.com/")?);
/// assert_eq!(asked[0].application(), "examplesearch");
/// assert_eq!(asked[0].value("widgets"), Some(&Value::Boolean(false)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AppDirectives {
    application: String,
    by: Option<GroupBy>,
    directives: Parameters,
    unusable: Parameters,
    rules: Vec<AppRule>,
}

/// An App-Directives rule that matches the target and names the application.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppRule {
    /// The line that it is on.
    pub line: LineNumber,
    /// How many octets its pattern has; none without a pattern.
    pub octets: usize,
    /// Whether it is one of the longest, which apply.
    pub applies: bool,
}

impl AppDirectives {
    /// The application.
    pub fn application(&self) -> &str {
        &self.application
    }

    /// How the groups that it uses were found, if it has any.
    pub fn by(&self) -> Option<GroupBy> {
        self.by
    }

    /// The value of a directive.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.directives.get(name)
    }

    /// All directives.
    pub fn directives(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.directives.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Directives whose value has another type than the registered one, and are not used (APP-8).
    pub fn unusable(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.unusable.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The rules that match and name the application, in file order.
    pub fn rules(&self) -> &[AppRule] {
        &self.rules
    }
}

impl RobotsTxt<'_> {
    /// What the file asks of each of the crawler's applications about a target, in their order. An
    /// application that is named twice is listed once.
    pub fn app_directives(&self, crawler: &Crawler, target: &Target<'_>) -> Vec<AppDirectives> {
        app_directives_of(View::of(self), crawler, target)
    }
}

/// The product token whose groups apply to an application (APP-5).
pub(crate) fn token_of<'r>(
    registry: &'r Registry,
    crawler: &'r Crawler,
    application: &str,
) -> &'r ProductToken {
    let registered = registry.application(application);
    registered.map_or(crawler.product_token(), |application| &application.product_token)
}

/// The same for a file that may be absent.
pub(crate) fn app_directives_of(
    View { robots, dialect, registry }: View<'_>,
    crawler: &Crawler,
    target: &Target<'_>,
) -> Vec<AppDirectives> {
    let forms = Forms::of(target, dialect.comparison);
    // Applications of one product token have its groups in common, whose lines are read once for all.
    let mut of_tokens: IndexMap<&str, (&ProductToken, Named<'_>)> = IndexMap::new();
    for application in crawler.applications() {
        let token = token_of(registry, crawler, application);
        let of_token = of_tokens.entry(token.as_str()).or_insert_with(|| (token, Named::new()));
        of_token.1.entry(application).or_default();
    }
    let read = |(name, (token, mut named))| {
        let by = robots.and_then(|robots| read_rules(robots, token, &mut named, &forms));
        (name, (by, named))
    };
    let mut of_tokens: IndexMap<&str, _> = of_tokens.into_iter().map(read).collect();
    let asked_of = |application| {
        let token = token_of(registry, crawler, application);
        let (by, named) = of_tokens.get_mut(token.as_str())?;
        Some(asked_of(registry, application, *by, named.swap_remove(application)?))
    };
    crawler.applications().filter_map(asked_of).collect()
}

type Parameters = IndexMap<String, Value>;

/// The rules that match and name each application, with its parameters in each.
type Named<'a> = IndexMap<&'a str, Vec<(AppRule, Parameters)>>;

/// Reads the rules of a product token's groups that match and name one of the applications, and says how
/// the groups were found. A List that does not parse is skipped, and members that are not Tokens name
/// nobody (APP-3).
fn read_rules(
    robots: &RobotsTxt<'_>,
    token: &ProductToken,
    named: &mut Named<'_>,
    forms: &Forms<'_>,
) -> Option<GroupBy> {
    let selection = select_for_application(robots, token)?;
    let mut counter = LineCounter::new(robots.text());
    for record in selection.non_rules(robots).filter(|record| record.is(&APP_DIRECTIVES)) {
        let (path, list) = split_path(robots.value(record));
        let Some(octets) = octets_of_path(path, forms, robots.dialect().comparison) else { continue };
        // The one that parameters belong to, by its place.
        let mut current = None;
        each_part(list, |part| match part {
            Part::Item(sfv::BareItemFromInput::Token(name)) => {
                current = named.get_index_of(name.as_str());
                let Some((_, rules)) = current.and_then(|place| named.get_index_mut(place)) else {
                    return;
                };
                let line = counter.line_at(record.start());
                // It may be named twice on one line.
                if rules.last().is_none_or(|(rule, _)| rule.line != line) {
                    rules.push((AppRule { line, octets, applies: false }, Parameters::new()));
                }
            }
            Part::Item(_) | Part::InnerList => current = None,
            Part::Parameter(key, value) => {
                let rules = current.and_then(|place| named.get_index_mut(place));
                if let Some((_, parameters)) = rules.and_then(|(_, rules)| rules.last_mut()) {
                    parameters.insert(key.to_owned(), Value::of(value.into()));
                }
            }
        });
    }
    Some(selection.by)
}

/// The result of the rules that name an application: the longest of them apply (APP-6).
fn asked_of(
    registry: &Registry,
    application: &str,
    by: Option<GroupBy>,
    named: Vec<(AppRule, Parameters)>,
) -> AppDirectives {
    let most = named.iter().map(|(rule, _)| rule.octets).max();
    let mut asked = AppDirectives {
        application: application.to_owned(),
        by,
        directives: Parameters::new(),
        unusable: Parameters::new(),
        rules: Vec::new(),
    };
    for (mut rule, parameters) in named {
        rule.applies = Some(rule.octets) == most;
        if rule.applies {
            asked.merge(parameters, registry);
        }
        asked.rules.push(rule);
    }
    asked
}

impl AppDirectives {
    /// Adds parameters; the later value of a directive wins (APP-4). Those with a type other than the
    /// registered one are collected separately (APP-8).
    fn merge(&mut self, parameters: Parameters, registry: &Registry) {
        let application = self.application.clone();
        let is_unusable = |name: &str, value: &Value| {
            let registered = registry.directive(&application, name);
            registered.is_some_and(|directive| directive.value_type != value.value_type())
        };
        // Nearly always there is one rule, whose parameters need no other room; there can be very many.
        let is_first = self.directives.is_empty() && self.unusable.is_empty();
        if is_first && !parameters.iter().any(|(name, value)| is_unusable(name, value)) {
            self.directives = parameters;
            return;
        }
        for (name, value) in parameters {
            if is_unusable(&name, &value) {
                self.directives.swap_remove(&name);
                self.unusable.insert(name, value);
            } else {
                self.unusable.swap_remove(&name);
                self.directives.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(applications: &[&str], file: &str) -> Vec<AppDirectives> {
        let crawler = Crawler::new("ExampleBot").expect("a token");
        let add =
            |crawler: Crawler, name: &&str| crawler.with_application(name).expect("an identifier");
        let crawler = applications.iter().fold(crawler, add);
        let target = Target::parse("https://example.com/a").expect("a URL");
        RobotsTxt::parse(file.as_bytes()).app_directives(&crawler, &target)
    }

    #[test]
    fn an_application_that_is_named_twice_is_asked_for_once() {
        let file = "User-agent: *\nApp-Directives: b;x, a;y=1, a;z, a;y=2\n";
        let asked = asked(&["a", "examplesearch", "b", "a"], file);
        let names: Vec<_> = asked.iter().map(AppDirectives::application).collect();
        assert_eq!(names, ["a", "examplesearch", "b"]);
        assert_eq!(asked[0].directives().map(|(name, _)| name).collect::<Vec<_>>(), ["y", "z"]);
        assert_eq!(asked[0].rules().len(), 1, "a line is one rule, however often it names it");
    }

    #[test]
    fn as_many_applications_as_a_file_can_name_are_read_in_one_pass() {
        // One pass for each of them would take minutes.
        let names: Vec<_> = (0..20_000).map(|number| format!("a{number}")).collect();
        let lines = names.iter().map(|name| format!("App-Directives: {name};x\n"));
        let file = format!("User-agent: *\n{}", lines.collect::<String>());
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let found = asked(&names, &file);
        assert!(found.iter().take(15_000).all(|asked| asked.value("x").is_some()));
        assert!(asked(&names, "").iter().all(|asked| asked.by().is_none()));
    }
}
