//! App-Directives → what the site asks of each application (APP-1 to APP-8).

use indexmap::IndexMap;

use crate::crawler::{Crawler, ProductToken};
use crate::directive::APP_DIRECTIVES;
use crate::evaluation::Forms;
use crate::registry::Registry;
use crate::robots_txt::RobotsTxt;
use crate::selection::{GroupBy, select_for_application};
use crate::span::{LineCounter, LineNumber};
use crate::structured::{Value, octets_of_path, split_path};
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
    /// The line that it stands on.
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
    /// What the file asks of each of the crawler's applications about a target, in their order.
    pub fn app_directives(&self, crawler: &Crawler, target: &Target<'_>) -> Vec<AppDirectives> {
        let forms = Forms::of(target, self.dialect().comparison);
        crawler
            .applications()
            .map(|application| of_application(self, crawler, application, &forms))
            .collect()
    }
}

fn of_application(
    robots: &RobotsTxt<'_>,
    crawler: &Crawler,
    application: &str,
    forms: &Forms<'_>,
) -> AppDirectives {
    let registered = robots.registry().application(application);
    let token = registered.map_or(crawler.product_token(), |application| &application.product_token);
    let (by, named) = rules_that_name(robots, token, application, forms);
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
            asked.merge(parameters, robots.registry());
        }
        asked.rules.push(rule);
    }
    asked
}

type Parameters = IndexMap<String, Value>;

/// The rules of the application's groups that match and name it, with its parameters in each.
fn rules_that_name(
    robots: &RobotsTxt<'_>,
    token: &ProductToken,
    application: &str,
    forms: &Forms<'_>,
) -> (Option<GroupBy>, Vec<(AppRule, Parameters)>) {
    let Some(selection) = select_for_application(robots, token) else { return (None, Vec::new()) };
    let mut named = Vec::new();
    let mut counter = LineCounter::new(robots.text());
    for record in selection.records(robots).filter(|record| record.is(&APP_DIRECTIVES)) {
        let (path, list) = split_path(robots.value(record));
        let Some(octets) = octets_of_path(path, forms, robots.dialect().comparison) else { continue };
        if let Some(parameters) = parameters_of(list, application) {
            let rule = AppRule { line: counter.line_at(record.start()), octets, applies: false };
            named.push((rule, parameters));
        }
    }
    (Some(selection.by), named)
}

/// The parameters of an application in a List, if the List parses and names it. Members that are
/// not Tokens name nobody (APP-3).
fn parameters_of(list: &[u8], application: &str) -> Option<Parameters> {
    let list: sfv::List = sfv::Parser::new(list).parse().ok()?;
    let mut parameters: Option<Parameters> = None;
    for entry in list {
        let sfv::ListEntry::Item(item) = entry else { continue };
        if item.bare_item.as_token().map(sfv::TokenRef::as_str) != Some(application) {
            continue;
        }
        let into = parameters.get_or_insert_default();
        into.extend(item.params.into_iter().map(|(key, value)| (key.into(), value.into())));
    }
    parameters
}

impl AppDirectives {
    /// Takes parameters over, the later value of a directive winning (APP-4), and sets those aside
    /// that have a type other than the registered one (APP-8).
    fn merge(&mut self, parameters: Parameters, registry: &Registry) {
        for (name, value) in parameters {
            let registered = registry.directive(&self.application, &name);
            if registered.is_some_and(|directive| directive.value_type != value.value_type()) {
                self.directives.swap_remove(&name);
                self.unusable.insert(name, value);
            } else {
                self.unusable.swap_remove(&name);
                self.directives.insert(name, value);
            }
        }
    }
}
