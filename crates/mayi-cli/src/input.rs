//! Files and standard input → the parts of a question.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use mayi::page::{HeadReader, PageControls, PageOptions, PageRules};
use mayi::registry::Registry;
use mayi::report::AgentReport;
use mayi::{Crawler, Limits, ReadOptions, RobotsTxt};

use crate::cli::{PageReading, QuestionArgs, ReadingArgs};
use crate::commands::page::push_file;
use crate::exit::Failure;
use crate::fetching::Online;
use crate::text::{self, shown};

/// Reads the file of a question. No more of it is read than its limit lets in, so that a file
/// without an end costs no more than a large one.
pub(crate) fn robots(question: &QuestionArgs, path: &Path) -> Result<RobotsTxt<'static>, Failure> {
    let options = read_options(question)?;
    let mut octets = Vec::new();
    // A little more than the limit, so that what is after it can be seen.
    open(path)?
        .take(options.limits().file_octets() as u64 + 4)
        .read_to_end(&mut octets)
        .map_err(|error| unreadable(path, &error))?;
    let options = match &question.charset {
        Some(charset) => options.with_charset(charset),
        None => options,
    };
    Ok(RobotsTxt::read(octets, &options))
}

/// How the files of a question are read.
pub(crate) fn read_options(question: &QuestionArgs) -> Result<ReadOptions, Failure> {
    let limits = Limits::with_file_octets(question.max_octets).map_err(Failure::new)?;
    let options = reading(&question.reading)?.with_limits(limits);
    Ok(options.with_dialect(question.reading.of_dialect(&question.dialect.0)))
}

/// The options for every file.
pub(crate) fn reading(reading: &ReadingArgs) -> Result<ReadOptions, Failure> {
    let mut options = ReadOptions::default();
    if !reading.registries.is_empty() {
        options = options.with_registry(registry(&reading.registries)?);
    }
    Ok(options)
}

/// The built-in registries, extended by files.
pub(crate) fn registry(files: &[PathBuf]) -> Result<Arc<Registry>, Failure> {
    let mut registry = Registry::built_in();
    for path in files {
        let mut text = String::new();
        open(path)?.read_to_string(&mut text).map_err(|error| unreadable(path, &error))?;
        let extended = registry.extended(&name(path), &text).map_err(Failure::new)?;
        registry = Arc::new(extended);
    }
    Ok(registry)
}

/// The crawler of a question. People copy User-Agent strings from logs: the name in it that the registry or
/// the file knows is used, and a message says so. In a dialect that looks for names in the whole string, it is used as it is.
pub(crate) fn crawler(
    question: &QuestionArgs,
    robots: Option<&RobotsTxt<'_>>,
) -> Result<Crawler, Failure> {
    if !question.dialect.0.compares_product_tokens() {
        let crawler = registry(&question.reading.registries)?.crawler(&question.agent);
        return crawler.with_parts(question.claims.of_crawler("")).map_err(Failure::new);
    }
    let said = if question.agent.contains('/') {
        let registry = registry(&question.reading.registries)?;
        Some(AgentReport::of(&question.agent, &registry, robots))
    } else {
        None
    };
    let agent = match said {
        Some(AgentReport { agent: Some(agent), message, .. }) => {
            anstream::eprintln!(
                "mayi: {}: {}",
                shown(question.agent.as_bytes()),
                shown(message.as_bytes())
            );
            Cow::Owned(agent)
        }
        _ => Cow::Borrowed(&*question.agent),
    };
    Crawler::of_parts(question.claims.of_crawler(&agent)).map_err(Failure::new)
}

/// Header fields as the library takes them.
pub(crate) fn borrowed(fields: &[(String, String)]) -> Vec<(&str, &str)> {
    fields.iter().map(|(name, value)| (&**name, &**value)).collect()
}

/// The page rules of the response that apply to the crawler, if the question has a response.
pub(crate) fn page_rules(
    question: &QuestionArgs,
    crawler: &Crawler,
) -> Result<Option<PageRules>, Failure> {
    if question.headers.is_empty() && question.html.is_none() {
        return Ok(None);
    }
    let (fields, options) = (borrowed(&question.headers), page_options(&question.page_reading));
    let mut head = HeadReader::new(&fields, options);
    if let Some(path) = &question.html {
        push_file(&mut head, path)?;
    }
    Ok(Some(PageControls::of_head(&fields, head, options).for_crawler(crawler)))
}

/// The URLs of a question: those on the command line, then those of its file. Those of the command line are
/// all answered, for the exit status. A file may have no end: reading stops when nobody reads the answers any
/// more.
pub(crate) fn urls(
    question: &QuestionArgs,
) -> Result<impl Iterator<Item = Result<String, Failure>>, Failure> {
    let mut readers = Vec::new();
    let mut given = Vec::new();
    for url in &question.url {
        if url == "-" {
            readers.push(Path::new("-"));
        } else {
            let whole = with_scheme(url);
            if let Cow::Owned(whole) = &whole {
                anstream::eprintln!(
                    "mayi: {} is read as {}",
                    shown(url.as_bytes()),
                    shown(whole.as_bytes())
                );
            }
            given.push(Ok(whole.into_owned()));
        }
    }
    readers.extend(question.urls.as_deref());
    let registries = question.reading.registries.iter().map(|path| &**path);
    let others =
        question.html.as_deref().into_iter().chain(registries).chain(question.robots.as_deref());
    one_reader(readers.iter().copied().chain(others))?;
    let mut lines = Vec::new();
    for path in readers {
        let path = path.to_owned();
        let reader = BufReader::new(open(&path)?);
        lines.push(reader.split(b'\n').filter_map(move |line| match line {
            Ok(line) => {
                let line = String::from_utf8_lossy(&line).trim().to_owned();
                (!line.is_empty()).then_some(Ok(line))
            }
            Err(error) => Some(Err(unreadable(&path, &error))),
        }));
    }
    let lines = lines.into_iter().flatten().take_while(|_| !text::is_closed());
    Ok(given.into_iter().chain(lines))
}

/// A URL as a person types it: `example.com/a` is `https://example.com/a`.
pub(crate) fn with_scheme(url: &str) -> Cow<'_, str> {
    // A host has a dot or a port, or is `localhost`. `file:/a`, `mailto:a@b` and `/a` have no host.
    let authority = url.split(['/', '?', '#']).next().unwrap_or_default();
    let is_host = !url.contains("://")
        && match authority.rsplit_once(':') {
            Some((_, port)) if port.ends_with(']') => true,
            Some((_, port)) => !port.is_empty() && port.bytes().all(|octet| octet.is_ascii_digit()),
            None => authority.contains('.') || authority == "localhost",
        };
    if is_host { Cow::Owned(format!("https://{url}")) } else { Cow::Borrowed(url) }
}

/// Fails if more than one of these paths is standard input.
pub(crate) fn one_reader<'p>(paths: impl Iterator<Item = &'p Path>) -> Result<(), Failure> {
    if paths.filter(|path| *path == Path::new("-")).count() > 1 {
        return Err(Failure::new("standard input (`-`) can be only one of the inputs"));
    }
    Ok(())
}

/// How pages are read.
pub(crate) fn page_options(reading: &PageReading) -> PageOptions {
    let mut options = PageOptions::default();
    options.union = reading.union;
    options.now = Some(reading.now.unwrap_or_else(SystemTime::now));
    options
}

/// A file that was read as a whole.
pub(crate) struct Loaded {
    /// Its name in messages for people.
    pub(crate) name: String,
    pub(crate) octets: Vec<u8>,
    /// The Content-Type that came with it.
    pub(crate) content_type: Option<Box<str>>,
}

impl Loaded {
    /// How to read it, by these options.
    pub(crate) fn reading(&self, options: &ReadOptions) -> ReadOptions {
        match &self.content_type {
            Some(content_type) => options.clone().with_content_type(content_type),
            None => options.clone(),
        }
    }
}

/// The largest file that is loaded, far beyond what any crawler reads of a robots.txt.
const MOST_LOADED: u64 = 64 << 20;

/// Whether a word is a URL rather than the name of a file.
fn is_url(source: &str) -> bool {
    let scheme = source.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https" | "ftp"))
}

/// Loads a robots.txt from where it is: a site, a file, or standard input for `-`.
pub(crate) fn load(source: &str, online: &Online<'_>) -> Result<Loaded, Failure> {
    match url_of(source) {
        Some(url) => online.load(&url),
        None => load_file(source),
    }
}

/// The URL that an argument means, if it is not a file: `example.com` is a URL if no file has this name, and
/// a message says so.
pub(crate) fn url_of(source: &str) -> Option<Cow<'_, str>> {
    if is_url(source) {
        return Some(Cow::Borrowed(source));
    }
    let path = Path::new(source);
    let is_text = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("txt"));
    let is_file = source == "-" || is_text || path.exists();
    match with_scheme(source) {
        Cow::Owned(url) if !is_file => {
            anstream::eprintln!(
                "mayi: there is no file `{}`: using the URL {}",
                shown(source.as_bytes()),
                shown(url.as_bytes())
            );
            Some(Cow::Owned(url))
        }
        _ => None,
    }
}

/// Loads a file, or standard input for `-`.
pub(crate) fn load_file(source: &str) -> Result<Loaded, Failure> {
    let path = Path::new(source);
    let mut octets = Vec::new();
    let mut file = open(path)?.take(MOST_LOADED + 1);
    file.read_to_end(&mut octets).map_err(|error| unreadable(path, &error))?;
    let name = name(path);
    if octets.len() as u64 > MOST_LOADED {
        return Err(Failure::new(format_args!(
            "`{name}` is larger than 64 MiB, so it is not a robots.txt"
        )));
    }
    Ok(Loaded { name, octets, content_type: None })
}

/// Opens a file, or standard input for `-`.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read + Send>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    Ok(Box::new(file))
}

pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format_args!("`{}` can't be read: {error}", path.display()))
}

/// The name of a file in messages for people.
pub(crate) fn name(path: &Path) -> String {
    if path == Path::new("-") {
        return "standard input".to_owned();
    }
    shown(path.display().to_string().as_bytes())
}
