//! `mayi check --server`: the same answers from a running service, printed in the same way.
//!
//! The service answers with a [`Report`], which is drawn like every other. The line that decided is quoted
//! from the file, which also comes from the service.

use std::borrow::Cow;
use std::io::{Read, Write};
use std::path::Path;

use clap::Args;
use mayi::access::Origin;
use mayi::report::{ErrorReport, HtmlInput, PageInput, Report, Request, RobotsInput, SiteReport};
use mayi::{Limits, ReadOptions, RobotsTxt, Target};
use mayi_server::client::Client;

use super::check;
use crate::cli::QuestionArgs;
use crate::exit::{Exit, Failure};
use crate::input;

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

pub(crate) fn run(question: &QuestionArgs, server: &str, key: Option<&str>) -> Result<Exit, Failure> {
    // Invalid options are reported before a request is sent.
    let dialect = &question.dialect.0;
    if !dialect.compares_product_tokens() && mayi::ProductToken::new(&question.agent).is_err() {
        return Err(Failure::new(format_args!(
            "a service is asked with a product token, such as ExampleBot: in the dialect {}, a whole User-Agent string \
             can be compared only without --server",
            dialect.name()
        )));
    }
    let crawler = input::crawler(question, None)?;
    let client = Client::new(server, key).map_err(Failure::new)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format_args!("the runtime can't be started: {error}")))?;
    let mut asking = ServiceQuestions {
        question,
        agent: crawler.product_token().to_string(),
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

fn given(question: &QuestionArgs) -> Result<Option<Given>, Failure> {
    let read = |path: &Path| {
        let mut octets = Vec::new();
        // What is after the limit is not read there either, and need not be sent.
        let most = Limits::default().file_octets() as u64 + 4;
        let read = input::open(path)?.take(most).read_to_end(&mut octets);
        read.map_err(|error| input::unreadable(path, &error))?;
        Ok(Given { name: input::name(path), octets })
    };
    question.robots.as_deref().map(read).transpose()
}

/// The HTML of the question, as much of it as is read of a page.
fn html(question: &QuestionArgs) -> Result<Option<Vec<u8>>, Failure> {
    let Some(path) = &question.html else { return Ok(None) };
    let mut octets = Vec::new();
    let most = input::page_options(&question.page_reading).html_octets as u64;
    let read = input::open(path)?.take(most).read_to_end(&mut octets);
    read.map_err(|error| input::unreadable(path, &error))?;
    Ok(Some(octets))
}

struct ServiceQuestions<'q> {
    question: &'q QuestionArgs,
    /// The crawler's product token.
    agent: String,
    client: Client,
    runtime: tokio::runtime::Runtime,
    given: Option<Given>,
    /// The HTML of the page.
    html: Option<Vec<u8>>,
    /// The file that was quoted last, and its site; without one, it is the given file.
    file: Option<(Option<Origin>, RobotsTxt<'static>)>,
}

impl ServiceQuestions<'_> {
    fn answer(&mut self, url: &str, out: &mut impl Write) -> Result<Exit, Failure> {
        // An invalid URL is reported in the same way as without a service.
        let wrong = match (Target::parse(url), self.given.is_some()) {
            (Ok(_), false) => Origin::of_url(url).err(),
            (target, _) => target.err(),
        };
        if let Some(error) = wrong {
            check::wrong_url(out, error, url, self.question)?;
            return Ok(Exit::NoAnswer);
        }
        let request = serde_json::to_vec(&self.request(url)).map_err(Failure::new)?;
        let said = self.runtime.block_on(self.client.decide(request)).map_err(Failure::new)?;
        if let Ok(ErrorReport { error, .. }) = serde_json::from_str(&said) {
            return Err(Failure::new(error.message));
        }
        let report: Report<'_> = serde_json::from_str(&said).map_err(|error| {
            Failure::new(format_args!("what answers at this URL is not a decision service: {error}"))
        })?;
        if self.question.json {
            check::write_json_text(out, &said)?;
            return Ok(check::exit_of(&report));
        }
        let name = match &self.given {
            Some(given) => given.name.clone(),
            None => Origin::of_url(url).map_err(Failure::new)?.robots_url(),
        };
        let robots = if report.access.rule.is_some() { self.robots(url)? } else { None };
        check::write_answer(out, &report, &name, robots)?;
        Ok(check::exit_of(&report))
    }

    fn request<'a>(&'a self, url: &'a str) -> Request<'a> {
        let QuestionArgs { claims, headers, dialect, page_reading, .. } = self.question;
        let borrowed = |words: &'a [String]| words.iter().map(|word| Cow::Borrowed(&**word)).collect();
        let mut request = Request::new(url, &self.agent);
        request.purposes = borrowed(&claims.purposes);
        request.apps = borrowed(&claims.apps);
        request.user_agent = claims.user_agent.as_deref().map(Cow::Borrowed);
        request.dialect = Some(Cow::Borrowed(dialect.0.name()));
        request.registered_purposes_only = claims.registered_purposes_only;
        request.union = page_reading.union;
        // The service has a clock of its own.
        request.now = page_reading.now;
        request.robots = self.given_input();
        if !headers.is_empty() || self.html.is_some() {
            let mut page = PageInput::default();
            let field =
                |(name, value): &'a (String, String)| (name.as_str().into(), value.as_str().into());
            page.headers = headers.iter().map(field).collect();
            page.html = self.html.clone().map(HtmlInput::Octets);
            request.page = Some(page);
        }
        request
    }

    /// The given file, as it is sent.
    fn given_input(&self) -> Option<RobotsInput<'static>> {
        let Given { octets, .. } = self.given.as_ref()?;
        let charset = self.question.charset.clone();
        Some(RobotsInput::Octets { octets: octets.clone(), charset })
    }

    /// The file that decides about a URL, for the line that is quoted.
    fn robots(&mut self, url: &str) -> Result<Option<&RobotsTxt<'static>>, Failure> {
        let origin = match &self.given {
            // It is the file of every site.
            Some(_) => None,
            None => Some(Origin::of_url(url).map_err(Failure::new)?),
        };
        if self.file.as_ref().is_none_or(|(known, _)| *known != origin) {
            let robots = if self.given.is_some() {
                self.given_input()
            } else {
                let said = self.runtime.block_on(self.client.robots(url)).map_err(Failure::new)?;
                let site: SiteReport = serde_json::from_str(&said).map_err(Failure::new)?;
                site.copy.and_then(|copy| copy.robots)
            };
            let Some(robots) = robots else { return Ok(None) };
            let options = ReadOptions::default().with_dialect(self.question.dialect.0.clone());
            let site = robots.site_file(&options).map_err(Failure::new)?;
            let Some(read) = site.robots_txt() else { return Ok(None) };
            self.file = Some((origin, read.clone().into_owned()));
        }
        Ok(self.file.as_ref().map(|(_, robots)| robots))
    }
}
