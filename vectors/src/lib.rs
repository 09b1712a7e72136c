//! The conformance vectors as values: TOML files in, requests with their expected decisions out.
//!
//! The format is described in `README.md` beside the data. This reader knows JSON and nothing of the
//! engine, so that every front end can be held to the same cases.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Everything in the folders of this package.
///
/// # Panics
/// When a file can't be read or is not in the format: there is nothing to go on with.
pub fn all() -> Vectors {
    let mut vectors = Vectors::default();
    for path in files() {
        let text = fs::read_to_string(&path).expect("a vector file is UTF-8 text");
        let file: File =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        vectors.cases.extend(file.vector.iter().flat_map(cases));
        vectors.locate.extend(file.locate);
        vectors.access.extend(file.access);
        vectors.keep.extend(file.keep);
        vectors.scripts.extend(file.script);
        vectors.lint.extend(file.lint);
    }
    vectors
}

/// The vectors by kind.
#[derive(Debug, Default)]
pub struct Vectors {
    /// Requests with their expected decisions.
    pub cases: Vec<Case>,
    /// URLs with the URLs of their files.
    pub locate: Vec<Locate>,
    /// Scripts of responses with the access results that they come to.
    pub access: Vec<Access>,
    /// Copies and outcomes with what is in force.
    pub keep: Vec<Keep>,
    /// Servers and questions over time, with what is answered and what is asked of the servers.
    pub scripts: Vec<Script>,
    /// Files with what a lint must find in them.
    pub lint: Vec<LintCase>,
}

impl Vectors {
    /// Id, clauses and reason of every vector; cases of one vector come once.
    pub fn summaries(&self) -> Vec<&About> {
        let mut summaries: Vec<&About> = self.cases.iter().map(|case| &case.about).collect();
        summaries.dedup_by_key(|about| &about.id);
        summaries.extend(self.locate.iter().map(|vector| &vector.about));
        summaries.extend(self.access.iter().map(|vector| &vector.about));
        summaries.extend(self.keep.iter().map(|vector| &vector.about));
        summaries.extend(self.scripts.iter().map(|vector| &vector.about));
        summaries
    }
}

/// What every vector says of itself.
#[derive(Clone, Debug, Deserialize)]
pub struct About {
    /// Its id, unique over all files.
    pub id: String,
    /// The clauses that it shows.
    pub clauses: Vec<String>,
    /// Why the answer is what it is.
    pub why: String,
}

/// One request and what its decision must have.
#[derive(Clone, Debug)]
pub struct Case {
    /// The vector that it is part of.
    pub about: About,
    /// The request, as JSON.
    pub request: Value,
    /// The extensions that are switched off.
    pub without: Vec<String>,
    /// What must be in the decision.
    pub expect: Value,
}

impl Case {
    /// Compares a decision with what is expected.
    ///
    /// # Errors
    /// What is missing or different, and where.
    pub fn check(&self, decision: &Value) -> Result<(), String> {
        agrees(&self.expect, decision, "").map_err(|difference| {
            let url = self.request["url"].as_str().unwrap_or_default();
            let url: String = url.chars().take(200).collect();
            format!("{}: {url}: {difference}\n  as {}", self.about.id, self.about.why)
        })
    }
}

/// Whether every member that is expected is there with the same value.
fn agrees(expected: &Value, found: &Value, at: &str) -> Result<(), String> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            expected.iter().try_for_each(|(name, value)| {
                let at = format!("{at}.{name}");
                let found = found.get(name).ok_or_else(|| format!("{at} is missing"))?;
                agrees(value, found, &at)
            })
        }
        // TOML has two kinds of number where JSON has one.
        (Value::Number(one), Value::Number(other)) if one.as_f64() == other.as_f64() => Ok(()),
        _ if expected == found => Ok(()),
        _ => Err(format!("{at} is {found}, not {expected}")),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    vector: Vec<Vector>,
    #[serde(default)]
    locate: Vec<Locate>,
    #[serde(default)]
    access: Vec<Access>,
    #[serde(default)]
    keep: Vec<Keep>,
    #[serde(default)]
    script: Vec<Script>,
    #[serde(default)]
    lint: Vec<LintCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    id: String,
    clauses: Vec<String>,
    why: String,
    robots: Option<String>,
    robots_base64: Option<String>,
    robots_parts: Option<Vec<Part>>,
    charset: Option<String>,
    robots_status: Option<i64>,
    robots_error: Option<String>,
    dialect: Option<String>,
    asks: Vec<Ask>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    agent: String,
    url: Option<String>,
    url_parts: Option<Vec<Part>>,
    dialect: Option<String>,
    purposes: Option<Vec<String>>,
    apps: Option<Vec<String>>,
    user_agent: Option<String>,
    union: Option<bool>,
    registered_purposes_only: Option<bool>,
    now: Option<String>,
    headers: Option<Vec<(String, String)>>,
    html: Option<String>,
    html_base64: Option<String>,
    #[serde(default)]
    no_extensions: Vec<String>,
    expect: toml::Value,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    text: Option<String>,
    base64: Option<String>,
    times: Option<usize>,
}

impl Part {
    fn octets(&self) -> Vec<u8> {
        let octets = match (&self.text, &self.base64) {
            (Some(text), None) => text.clone().into_bytes(),
            (None, Some(base64)) => STANDARD.decode(base64).expect("base64"),
            _ => panic!("a part has either `text` or `base64`"),
        };
        octets.repeat(self.times.unwrap_or(1))
    }
}

/// The requests of a vector, one an ask.
fn cases(vector: &Vector) -> impl Iterator<Item = Case> {
    let about =
        About { id: vector.id.clone(), clauses: vector.clauses.clone(), why: vector.why.clone() };
    let robots = robots(vector);
    vector.asks.iter().map(move |ask| {
        let url = match (&ask.url, &ask.url_parts) {
            (Some(url), None) => url.clone(),
            (None, Some(parts)) => {
                let octets = parts.iter().flat_map(Part::octets).collect();
                String::from_utf8(octets).expect("a URL is text")
            }
            _ => panic!("{}: an ask has either `url` or `url_parts`", about.id),
        };
        let mut request = Map::new();
        request.insert("url".to_owned(), url.into());
        request.insert("agent".to_owned(), ask.agent.as_str().into());
        request.insert("robots".to_owned(), robots.clone());
        if let Some(dialect) = ask.dialect.as_ref().or(vector.dialect.as_ref()) {
            request.insert("dialect".to_owned(), dialect.as_str().into());
        }
        for (name, value) in [
            ("purposes", ask.purposes.as_ref().map(|purposes| json!(purposes))),
            ("apps", ask.apps.as_ref().map(|apps| json!(apps))),
            ("user_agent", ask.user_agent.as_ref().map(|user_agent| json!(user_agent))),
            ("page", page(ask)),
            ("union", ask.union.map(Value::from)),
            ("registered_purposes_only", ask.registered_purposes_only.map(Value::from)),
            ("now", ask.now.as_ref().map(|now| json!(now))),
        ] {
            request.extend(value.map(|value| (name.to_owned(), value)));
        }
        let without = ask.no_extensions.clone();
        let expect = serde_json::to_value(&ask.expect).expect("TOML values are JSON values");
        Case { about: about.clone(), request: request.into(), without, expect }
    })
}

/// The member `page` of a request, where the ask has a page.
fn page(ask: &Ask) -> Option<Value> {
    let mut page = Map::new();
    page.extend(ask.headers.as_ref().map(|headers| ("headers".to_owned(), json!(headers))));
    page.extend(ask.html.as_ref().map(|html| ("html".to_owned(), json!(html))));
    let octets = ask.html_base64.as_ref().map(|base64| json!({ "base64": base64 }));
    page.extend(octets.map(|octets| ("html".to_owned(), octets)));
    (!page.is_empty()).then(|| page.into())
}

/// The member `robots` of the vector's requests.
fn robots(vector: &Vector) -> Value {
    let octets = |base64: String| match &vector.charset {
        Some(charset) => json!({ "base64": base64, "charset": charset }),
        None => json!({ "base64": base64 }),
    };
    let mut given = [
        vector.robots.as_ref().map(|text| match &vector.charset {
            Some(_) => octets(STANDARD.encode(text)),
            None => text.as_str().into(),
        }),
        vector.robots_base64.clone().map(octets),
        vector.robots_parts.as_ref().map(|parts| {
            octets(STANDARD.encode(parts.iter().flat_map(Part::octets).collect::<Vec<_>>()))
        }),
        vector.robots_status.map(|status| json!({ "status": status })),
        vector.robots_error.as_ref().map(|error| json!({ "error": error })),
    ]
    .into_iter()
    .flatten();
    match (given.next(), given.next()) {
        (Some(robots), None) => robots,
        _ => panic!("{}: a vector has exactly one of the robots members", vector.id),
    }
}

/// REP-18: a URL and where its file is.
#[derive(Clone, Debug, Deserialize)]
pub struct Locate {
    /// Id, clauses, reason.
    #[serde(flatten)]
    pub about: About,
    /// The URL that is asked about.
    pub url: String,
    /// Where its file is.
    pub robots_url: Option<String>,
    /// Or why there is none.
    pub error: Option<String>,
}

/// REP-19 to REP-21: what is answered, and what that comes to.
#[derive(Clone, Debug, Deserialize)]
pub struct Access {
    /// Id, clauses, reason.
    #[serde(flatten)]
    pub about: About,
    /// The URL whose file is wanted.
    pub url: String,
    /// The responses, in the order in which they are asked for.
    pub responses: Vec<ServerResponse>,
    /// `successful`, `unavailable` or `unreachable`.
    pub result: String,
    /// The option of that name.
    #[serde(default)]
    pub treat_429_as_unreachable: bool,
}

/// What a server answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerResponse {
    /// The URL that must be asked for.
    pub url: String,
    /// The status of the answer.
    pub status: Option<u16>,
    /// Its `Location`.
    pub location: Option<String>,
    /// Or how the network failed.
    pub error: Option<String>,
}

/// REP-20, REP-21, REP-23: what is kept, and what is in force.
#[derive(Clone, Debug, Deserialize)]
pub struct Keep {
    /// Id, clauses, reason.
    #[serde(flatten)]
    pub about: About,
    /// The copy that is kept.
    pub copy: Option<Copy>,
    /// What came of the last attempt.
    pub last: Last,
    /// The option of that name.
    #[serde(default)]
    pub unavailable_uses_copy: bool,
    /// The option of that name.
    pub unreachable_for_seconds: Option<u64>,
    /// The option of that name.
    pub after_unreachable: Option<String>,
    /// What must come of it.
    pub expect: KeepExpect,
}

/// A copy of a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copy {
    /// How long ago it was fetched.
    pub fetched_seconds_ago: u64,
    /// With which header fields.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
}

/// What came of the last attempt.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Last {
    /// `successful`, `unavailable` or `unreachable`.
    pub result: String,
    /// How long ago it was made.
    #[serde(default)]
    pub seconds_ago: u64,
    /// How long ago the file was first unreachable.
    pub since_seconds_ago: Option<u64>,
}

/// What must be in force.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeepExpect {
    /// Whether the copy may be used without asking again.
    pub fresh: Option<bool>,
    /// For how many seconds more.
    pub fresh_seconds: Option<u64>,
    /// `copy`, `allow-all` or `disallow-all`.
    #[serde(rename = "use")]
    pub in_force: Option<String>,
}

/// REP-18 to REP-24 over time: what servers say, what is asked, what is answered.
#[derive(Clone, Debug, Deserialize)]
pub struct Script {
    /// Id, clauses, reason.
    #[serde(flatten)]
    pub about: About,
    /// The options that are set.
    #[serde(default)]
    pub options: ScriptOptions,
    /// What happens, in order.
    pub steps: Vec<ScriptStep>,
}

/// The options of a script; where one is absent, its default holds. There is no jitter.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptOptions {
    /// The option of that name.
    pub unavailable_uses_copy: bool,
    /// The option of that name.
    pub treat_429_as_unreachable: bool,
    /// The option of that name.
    pub unreachable_for_seconds: Option<u64>,
    /// The option of that name.
    pub after_unreachable: Option<String>,
    /// The option of that name.
    pub stale_while_revalidate_seconds: Option<u64>,
    /// The option of that name.
    pub offline: bool,
}

/// A moment of a script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptStep {
    /// When it is, in seconds from the start.
    pub at: u64,
    /// What servers say from now on. What is not listed can't be reached.
    pub servers: Option<Vec<ScriptServer>>,
    /// What is asked, by ExampleBot.
    pub ask: Option<String>,
    /// What must be in the decision.
    pub expect: Option<toml::Value>,
    /// The requests that the question leads to, those in the background included: URLs, with
    /// `(unchanged?)` behind one that asks for changes only.
    pub requests: Option<Vec<String>>,
}

/// What is said to requests for a URL.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptServer {
    /// The URL.
    pub url: String,
    /// The status of the answer; 304 is said only to those who ask for changes, and 200 to others.
    pub status: Option<u16>,
    /// Its header fields.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// Its body.
    #[serde(default)]
    pub body: String,
    /// Or how the network fails.
    pub error: Option<String>,
}

impl ScriptStep {
    /// Compares a decision with what is expected of this step.
    ///
    /// # Errors
    /// What is missing or different, and where.
    ///
    /// # Panics
    /// Never: TOML values are JSON values.
    pub fn check(&self, decision: &Value) -> Result<(), String> {
        let Some(expected) = &self.expect else { return Ok(()) };
        let expected = serde_json::to_value(expected).expect("TOML values are JSON values");
        agrees(&expected, decision, "")
    }
}

/// A file and what one lint must find in it: nothing, where it is a near miss.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LintCase {
    /// The code of the lint.
    pub code: String,
    /// Why it must be found, or must not.
    pub why: String,
    robots: Option<String>,
    robots_base64: Option<String>,
    robots_parts: Option<Vec<Part>>,
    /// A page that is looked at together with the file.
    pub page: Option<LintPage>,
    /// What must be found, in the order of the file.
    #[serde(default)]
    pub found: Vec<LintFound>,
    /// Whether no lint at all may find anything.
    #[serde(default)]
    pub clean: bool,
}

/// A page of the site.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LintPage {
    /// Its URL.
    pub url: String,
    /// Its header fields.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// Its HTML.
    #[serde(default)]
    pub html: String,
}

/// One finding that must be there.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct LintFound {
    /// The line, from 1; 0 where it is about the page or the whole file.
    pub line: u32,
    /// The column, from 1 in characters; 0 where there is none.
    pub column: u32,
    /// The text that is pointed at.
    pub text: String,
    /// `note`, `warning` or `error`.
    pub severity: String,
    /// `safe` or `unsafe`; without it there must be no fix.
    pub fix: Option<String>,
}

impl LintCase {
    /// The octets of the file.
    ///
    /// # Panics
    /// When the case has none, or more than one member for them.
    pub fn octets(&self) -> Vec<u8> {
        match (&self.robots, &self.robots_base64, &self.robots_parts) {
            (Some(text), None, None) => text.clone().into_bytes(),
            (None, Some(base64), None) => STANDARD.decode(base64).expect("base64"),
            (None, None, Some(parts)) => parts.iter().flat_map(Part::octets).collect(),
            _ => panic!("{}: a case has exactly one of the robots members", self.code),
        }
    }
}

/// Every TOML file in the folders beside `src`, in a fixed order.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("the vectors are beside their reader");
        entries.map(|entry| entry.expect("a readable folder").path()).collect()
    };
    let folders = list(root).into_iter().filter(|path| path.is_dir());
    let mut files: Vec<PathBuf> = folders
        .flat_map(|folder| list(&folder))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}
