//! `mayi check --server`: the same answers from a running service, printed in the same way.
//!
//! What the service says is drawn from its JSON. The line that decided is quoted from the file, which
//! the service has too.

use std::io::{self, Read, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use mayi::access::Origin;
use mayi::report::rfc3339_of;
use mayi::{Limits, LineNumber, ReadOptions, RobotsTxt, Target};
use mayi_server::client::Client;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::cli::Question;
use crate::exit::{Exit, Failure};
use crate::input;
use crate::text::{BAD, DIM, GOOD, STRONG, shown, styled};

#[derive(Debug, Args)]
#[command(next_help_heading = "Asking a running service")]
pub(crate) struct ServiceArgs {
    /// Ask the service at this URL, for example http://127.0.0.1:9309/. The service then fetches and
    /// reads the files
    #[arg(long, value_name = "URL", conflicts_with_all = [
        "no_extensions", "registries", "max_octets", "store", "offline", "allow_private", "allow_addresses", "fetch_as", "timeout", "roots",
    ])]
    pub(crate) server: Option<String>,

    /// The environment variable with the API key for the service
    #[arg(hide_short_help = true, long, value_name = "VARIABLE", requires = "server")]
    api_key_env: Option<String>,
}

impl ServiceArgs {
    /// The key, where there is one. It is never a word of the command line, which others can see.
    pub(crate) fn key(&self) -> Result<Option<String>, Failure> {
        let Some(name) = &self.api_key_env else { return Ok(None) };
        std::env::var(name)
            .map(Some)
            .map_err(|_| Failure::new(format_args!("the environment has no variable `{name}`")))
    }
}

pub(crate) fn run(question: &Question, server: &str, key: Option<&str>) -> Result<Exit, Failure> {
    // What is wrong with the words is said before anybody is asked.
    input::crawler(question)?;
    let client = Client::new(server, key).map_err(Failure::new)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format_args!("no runtime is to be had: {error}")))?;
    let mut asking = Asking {
        question,
        client,
        runtime,
        given: given(question)?,
        html: html(question)?,
        file: None,
    };
    let mut out = crate::text::out();
    let mut exit = Exit::Allowed;
    for url in input::urls(question)? {
        exit = exit.max(asking.answer(&url?, &mut out)?);
    }
    out.flush()?;
    Ok(exit)
}

/// A file of the command line.
struct Given {
    name: String,
    octets: Vec<u8>,
}

fn given(question: &Question) -> Result<Option<Given>, Failure> {
    let read = |path: &Path| {
        let mut octets = Vec::new();
        // What is behind the limit is not read there either, and need not be sent.
        let most = Limits::default().file_octets() as u64 + 4;
        let read = input::open(path)?.take(most).read_to_end(&mut octets);
        read.map_err(|error| input::unreadable(path, &error))?;
        Ok(Given { name: input::name(path), octets })
    };
    question.robots.as_deref().map(read).transpose()
}

/// The HTML of the question, as much of it as is read of a page.
fn html(question: &Question) -> Result<Option<Vec<u8>>, Failure> {
    let Some(path) = &question.html else { return Ok(None) };
    let mut octets = Vec::new();
    let most = input::page_options(&question.page_reading).html_octets as u64;
    let read = input::open(path)?.take(most).read_to_end(&mut octets);
    read.map_err(|error| input::unreadable(path, &error))?;
    Ok(Some(octets))
}

struct Asking<'q> {
    question: &'q Question,
    client: Client,
    runtime: tokio::runtime::Runtime,
    given: Option<Given>,
    /// The HTML of the page.
    html: Option<Vec<u8>>,
    /// The file of the site that was asked about last.
    file: Option<(Origin, RobotsTxt<'static>)>,
}

impl Asking<'_> {
    fn answer(&mut self, url: &str, out: &mut impl Write) -> Result<Exit, Failure> {
        // A URL that nothing can be asked about is told of as it is without a service.
        let wrong = match (Target::parse(url), self.given.is_some()) {
            (Ok(_), false) => Origin::of_url(url).err(),
            (target, _) => target.err(),
        };
        if let Some(error) = wrong {
            super::check::wrong_url(out, error, url, self.question)?;
            return Ok(Exit::NoAnswer);
        }
        let request = self.request(url);
        let said = self.runtime.block_on(self.client.decide(request)).map_err(Failure::new)?;
        let report: Value = serde_json::from_str(&said)
            .map_err(|error| Failure::new(format_args!("the service has sent no JSON: {error}")))?;
        if let Some(message) = report["error"]["message"].as_str() {
            return Err(Failure::new(message));
        }
        let Some(is_allowed) = report["access"]["allowed"].as_bool() else {
            return Err(Failure::new("what answers at this URL is not a decision service"));
        };
        if self.question.json {
            super::check::write_json_text(out, &said)?;
        } else {
            let verdict =
                if is_allowed { styled(GOOD, "allowed   ") } else { styled(BAD, "disallowed") };
            let why = self.why(url, &report)?;
            writeln!(out, "{verdict}  {}  {}", shown(url.as_bytes()), styled(DIM, why))?;
            write_parts(out, &said, &report)?;
        }
        Ok(match report["access"]["reason"].as_str() {
            _ if is_allowed => Exit::Allowed,
            Some("unreachable") => Exit::Unreachable,
            _ => Exit::Disallowed,
        })
    }

    fn request(&self, url: &str) -> Vec<u8> {
        let Question { agent, claims, headers, dialect, charset, page_reading, .. } = self.question;
        let mut request = json!({
            "url": url, "agent": agent, "purposes": claims.purposes, "apps": claims.apps,
            "user_agent": claims.user_agent, "dialect": dialect.0.name(),
        });
        // What the service does by itself, or by its clock, is not said.
        if claims.registered_purposes_only {
            request["registered_purposes_only"] = json!(true);
        }
        if page_reading.union {
            request["union"] = json!(true);
        }
        if let Some(now) = page_reading.now {
            request["now"] = json!(rfc3339_of(now));
        }
        if let Some(given) = &self.given {
            request["robots"] = json!({ "base64": STANDARD.encode(&given.octets), "charset": charset });
        }
        if !headers.is_empty() || self.html.is_some() {
            let html = self.html.as_ref().map(|octets| json!({ "base64": STANDARD.encode(octets) }));
            request["page"] = json!({ "headers": headers, "html": html });
        }
        request.to_string().into_bytes()
    }

    fn why(&mut self, url: &str, report: &Value) -> Result<String, Failure> {
        let access = &report["access"];
        let file = match &self.given {
            Some(given) => given.name.clone(),
            None => Origin::of_url(url).map_err(Failure::new)?.robots_url(),
        };
        let number = |value: &Value| value.as_u64().and_then(|line| u32::try_from(line).ok());
        Ok(match access["reason"].as_str().unwrap_or_default() {
            "rule" => {
                let line = number(&access["rule"]["line"]).unwrap_or_default();
                let text = self.line(url, line)?;
                format!("{file}:{line}: {text}")
            }
            "no-rule" => {
                let lines = access["group"]["lines"].as_array();
                let lines: Vec<_> = lines.into_iter().flatten().map(Value::to_string).collect();
                format!("{file}:{}: no rule of this group matches", lines.join(","))
            }
            "unavailable" | "unreachable" => format!("{file}: {}", sentence(&report["file"])),
            "robots-txt" => "robots.txt itself may always be fetched".to_owned(),
            _ => format!("{file}: no group is for this crawler"),
        })
    }

    /// A line of the file, as it is written.
    fn line(&mut self, url: &str, number: u32) -> Result<String, Failure> {
        let options = ReadOptions::default().with_dialect(self.question.dialect.0.clone());
        let quoted = |robots: &RobotsTxt<'_>| {
            let number = LineNumber::new(number);
            let line = number.and_then(|number| robots.line(number)).map(|line| line.text());
            shown(line.unwrap_or_default().trim_ascii())
        };
        if let Some(given) = &self.given {
            let options = match &self.question.charset {
                Some(charset) => options.with_charset(charset),
                None => options,
            };
            return Ok(quoted(&RobotsTxt::read(&*given.octets, &options)));
        }
        let origin = Origin::of_url(url).map_err(Failure::new)?;
        if self.file.as_ref().is_none_or(|(known, _)| *known != origin) {
            let said = self.runtime.block_on(self.client.robots(url)).map_err(Failure::new)?;
            let said: Value = serde_json::from_str(&said).unwrap_or_default();
            // A dialect may read octets that the text was decoded from.
            let octets = match (said["text"].as_str(), said["base64"].as_str()) {
                (_, Some(base64)) => STANDARD.decode(base64).unwrap_or_default(),
                (Some(text), None) => text.as_bytes().to_vec(),
                (None, None) => Vec::new(),
            };
            let options = match said["content_type"].as_str() {
                Some(content_type) => options.with_content_type(content_type),
                None => options,
            };
            self.file = Some((origin, RobotsTxt::read(octets, &options)));
        }
        Ok(self.file.as_ref().map(|(_, robots)| quoted(robots)).unwrap_or_default())
    }
}

/// Members whose order or whose digits count: a [`Value`] keeps neither.
#[derive(Deserialize)]
struct AsWritten<'a> {
    #[serde(borrow, default)]
    directives: Members<Members<&'a RawValue>>,
    #[serde(borrow, default)]
    records: RecordsAsWritten<'a>,
}

#[derive(Default, Deserialize)]
struct RecordsAsWritten<'a> {
    #[serde(borrow, default)]
    crawl_delay: Option<&'a RawValue>,
}

/// The members of an object, in its order.
struct Members<T>(Vec<(String, T)>);

impl<T> Default for Members<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Members<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Members<T>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader(std::marker::PhantomData))
    }
}

/// The other parts of the decision, where they say something, as `check` has them.
fn write_parts(out: &mut impl Write, said: &str, report: &Value) -> io::Result<()> {
    let as_written: AsWritten<'_> = serde_json::from_str(said)?;
    let mut part = |name: &str, text: String| {
        writeln!(out, "            {} {}", styled(STRONG, name), shown(text.as_bytes()))
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let file = &report["file"];
    if file.is_object() && file["from"] != "none" {
        part("robots.txt", sentence(file))?;
    }
    for warning in report["warnings"].as_array().into_iter().flatten() {
        let place = &warning["place"];
        let line = place["line"].as_u64().filter(|_| place["in"] == "robots.txt");
        let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
        part("warning", format!("{place}{}", text(&warning["message"])))?;
    }
    if report["access"]["for_training"] == true {
        part("training", "the product token says that the crawler gathers for training".to_owned())?;
    }
    for (application, Members(directives)) in as_written.directives.0 {
        let directives = directives.iter().map(|(name, value)| format!("{name}={value}"));
        part(&application, directives.collect::<Vec<_>>().join(" "))?;
    }
    for over in report["overrides"].as_array().into_iter().flatten() {
        let (category, before, after) =
            (text(&over["category"]), text(&over["preference"]), text(&over["outcome"]));
        let (app, directive) = (text(&over["application"]), text(&over["directive"]));
        part("override", format!("{category}: {before}, but {after} by {app};{directive}"))?;
    }
    for name in ["index", "snippet", "follow", "train", "search", "ai-input"] {
        let answer = text(&report["uses"][name]);
        if answer == "unknown" {
            continue;
        }
        let spoke = report["signals"][name].as_array().into_iter().flatten();
        let spoke = spoke.map(|signal| {
            let (source, says) = (text(&signal["signal"]), text(&signal["says"]));
            match signal["line"].as_u64() {
                Some(line) if signal["overridden"] == true => {
                    format!("{source} at line {line}: {says}, overridden")
                }
                Some(line) => format!("{source} at line {line}: {says}"),
                None => format!("{source}: {says}"),
            }
        });
        let spoke: Vec<_> = spoke.collect();
        let signals = if spoke.is_empty() { String::new() } else { format!(" ({})", spoke.join("; ")) };
        part(name, format!("{answer}{signals}"))?;
    }
    let seconds = as_written.records.crawl_delay.and_then(|text| text.get().parse::<f64>().ok());
    if let Some(seconds) = seconds {
        part("crawl-delay", format!("{seconds} s"))?;
    }
    Ok(())
}

/// The story of a file, in the words of [`mayi::report::FileReport::sentence`].
fn sentence(file: &Value) -> String {
    let text = |name: &str| file[name].as_str().unwrap_or_default();
    match text("from") {
        "fetched" => "fetched now".to_owned(),
        "revalidated" => "revalidated now, unchanged".to_owned(),
        "fresh" => format!("cached, fresh until {}", text("fresh_until")),
        "stale-while-revalidating" => format!("cached since {}, being revalidated", text("checked")),
        "stale-offline" => {
            format!("cached since {}, stale since {}", text("checked"), text("fresh_until"))
        }
        "stale-unreachable" => format!(
            "cached since {}, unreachable since {} ({})",
            text("checked"),
            text("failing_since"),
            text("access")
        ),
        "stale-unavailable" => {
            format!("cached since {}, no longer available ({})", text("checked"), text("access"))
        }
        _ => format!("none ({})", text("access")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use mayi::access::AccessResult;
    use mayi::report::{Answering, FileReport, FileSource, Request};

    use super::*;

    /// The parts of a report as `check` draws them, and as they are drawn from its JSON.
    fn both(report: &mayi::report::Report<'_>) -> (String, String) {
        let json = serde_json::to_string(report).expect("a report is JSON");
        let value: Value = serde_json::from_str(&json).expect("JSON");
        let (mut here, mut there) = (Vec::new(), Vec::new());
        super::super::check::write_parts(&mut here, report).expect("memory takes it");
        write_parts(&mut there, &json, &value).expect("memory takes it");
        let text = |octets| String::from_utf8(octets).expect("text");
        (text(here), text(there))
    }

    #[test]
    fn every_vector_is_drawn_alike() {
        let mut count = 0;
        for case in &mayi_vectors::all().cases {
            let json = case.request.to_string();
            let Ok(request) = Request::from_json(json.as_bytes()) else { continue };
            let Ok(answer) = Answering::default().answer(&request) else { continue };
            let (here, there) = both(&answer.report());
            assert_eq!(there, here, "{json}");
            count += 1;
        }
        assert!(count > 100, "{count} vectors were drawn");
    }

    #[test]
    fn stories_are_told_alike() {
        let time = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        for from in [
            FileSource::Fetched,
            FileSource::Revalidated,
            FileSource::Fresh,
            FileSource::StaleWhileRevalidating,
            FileSource::StaleUnreachable,
            FileSource::StaleUnavailable,
            FileSource::None,
        ] {
            let mut story = FileReport::new(from, &AccessResult::Successful);
            story.fetched = time(1);
            story.checked = time(2);
            story.fresh_until = time(3);
            story.failing_since = time(4);
            let json = serde_json::to_value(&story).expect("a report is JSON");
            assert_eq!(sentence(&json), story.sentence(), "{json}");
        }
    }

    #[test]
    fn order_and_digits_stay() {
        let file = "User-agent: *\nCrawl-delay: 0.30000000000000004\n\
                    App-Directives: zebra;z=1;a=?0;m=\"x y\", apple;z=2.50;b=tok\n";
        let json = json!({
            "url": "https://example.com/", "agent": "a", "apps": ["zebra", "apple"], "robots": file,
        });
        let json = json.to_string();
        let request = Request::from_json(json.as_bytes()).expect("a request");
        let answer = Answering::default().answer(&request).expect("an answer");
        let (here, there) = both(&answer.report());
        assert_eq!(there, here);
        assert!(here.contains("z=1 a=false") && here.find("zebra") < here.find("apple"), "{here}");
    }
}
