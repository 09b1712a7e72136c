//! `mayi page`: what may be done with a page, and where each rule was found.

use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use mayi::Crawler;
use mayi::page::{HeadReader, PageControls, PageOptions, PageRules, Progress, RuleValue};
use mayi::report::PageReport;

use super::check::write_json;
use crate::cli::Page;
use crate::exit::{Exit, Failure};
use crate::input;
use crate::text::{BAD, DIM, GOOD, STRONG, shown, styled};

pub(crate) fn run(page: &Page) -> Result<Exit, Failure> {
    let crawler = match &page.agent {
        Some(agent) => Crawler::new(agent).map_err(Failure::new)?,
        None => Crawler::unnamed(),
    };
    let mut options = input::page_options(&page.reading);
    options.html_octets = page.max_html;
    let controls = read(page, options)?;
    let rules = controls.for_crawler(&crawler);
    let mut out = BufWriter::new(anstream::AutoStream::auto(io::stdout()));
    if page.json {
        write_json(&mut out, &PageReport::alone(&rules))?;
    } else {
        draw(&mut out, &rules, page.agent.as_deref())?;
    }
    out.flush()?;
    Ok(Exit::Allowed)
}

fn read(page: &Page, options: PageOptions) -> Result<PageControls, Failure> {
    if let Some(path) = &page.response {
        let (mut headers, body) = response(path, options)?;
        headers.extend(page.headers.iter().cloned());
        return Ok(PageControls::read_with(&input::borrowed(&headers), &body, options));
    }
    let borrowed = input::borrowed(&page.headers);
    let mut head = HeadReader::new(&borrowed, options);
    if let Some(path) = &page.html {
        push_file(&mut head, path)?;
    }
    Ok(PageControls::of_head(&borrowed, head, options))
}

/// Reads HTML from a file, no further than its head.
pub(crate) fn push_file(head: &mut HeadReader, path: &Path) -> Result<(), Failure> {
    let mut file = input::open(path)?;
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let count = file.read(&mut buffer).map_err(|error| input::unreadable(path, &error))?;
        if count == 0 || head.push(&buffer[..count]) == Progress::Over {
            return Ok(());
        }
    }
}

type Headers = Vec<(String, String)>;

/// The header fields and the body of a response as it came over the wire. A response that is followed by
/// another one, such as a redirect that `curl -L` followed, is skipped.
fn response(path: &Path, options: PageOptions) -> Result<(Headers, Vec<u8>), Failure> {
    let mut octets = Vec::new();
    // Header fields are small beside the HTML that is read.
    let most = options.html_octets as u64 + (1 << 20);
    let file = input::open(path)?;
    file.take(most).read_to_end(&mut octets).map_err(|error| input::unreadable(path, &error))?;
    let mut rest = &octets[..];
    loop {
        let (headers, body) = cut(rest).ok_or_else(|| {
            let name = input::name(path);
            Failure::new(format_args!(
                "`{name}` is not an HTTP response: it starts with a status line such as `HTTP/1.1 200 OK`"
            ))
        })?;
        if cut(body).is_none() {
            return Ok((headers, body.to_vec()));
        }
        rest = body;
    }
}

/// Cuts a response into its header fields and what follows, if it starts with a status line.
fn cut(response: &[u8]) -> Option<(Headers, &[u8])> {
    let mut rest = response;
    let mut line = || {
        let end = rest.iter().position(|&octet| octet == b'\n')?;
        let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
        rest = &rest[end + 1..];
        Some(line)
    };
    let status_line = String::from_utf8_lossy(line()?).into_owned();
    let status = status_line.strip_prefix("HTTP/")?.split_ascii_whitespace().nth(1)?;
    status.parse::<u16>().ok()?;
    let mut headers = Headers::new();
    // A response without a body may end without the blank line.
    while let Some(line) = line().filter(|line| !line.is_empty()) {
        let text = String::from_utf8_lossy(line);
        match (text.split_once(':'), headers.last_mut()) {
            // A line that starts with white space goes on with the field above.
            (_, Some((_, value))) if text.starts_with([' ', '\t']) => {
                value.push(' ');
                value.push_str(text.trim());
            }
            (Some((name, value)), _) => headers.push((name.trim().to_owned(), value.trim().to_owned())),
            (None, _) => {}
        }
    }
    Some((headers, rest))
}

fn draw(out: &mut impl Write, rules: &PageRules, agent: Option<&str>) -> io::Result<()> {
    let who = agent.unwrap_or("a crawler that is not named");
    writeln!(out, "for {}", styled(STRONG, who))?;
    let answers = [
        ("index", rules.may_index()),
        ("snippet", rules.may_show_snippet()),
        ("follow", rules.may_follow()),
    ];
    for (what, may) in answers {
        let answer = if may { styled(GOOD, "allowed") } else { styled(BAD, "disallowed") };
        writeln!(out, "  {what:<8} {answer}")?;
    }
    if rules.rules().is_empty() {
        writeln!(out, "no rules")?;
    } else {
        writeln!(out, "rules")?;
    }
    for rule in rules.rules() {
        let name = match rule.value() {
            RuleValue::Number(number) => format!("{}: {number}", rule.name()),
            RuleValue::Word(text) | RuleValue::Date(text, _) => format!("{}: {text}", rule.name()),
            _ => rule.name().to_owned(),
        };
        let found = styled(DIM, shown(rule.found().to_string().as_bytes()));
        writeln!(out, "  {}  {}  {found}", styled(STRONG, shown(name.as_bytes())), rule.meaning())?;
    }
    if !rules.unsupported().is_empty() {
        writeln!(out, "not understood")?;
    }
    for (text, found) in rules.unsupported() {
        let found = styled(DIM, shown(found.to_string().as_bytes()));
        writeln!(out, "  {}  {found}", shown(text.as_bytes()))?;
    }
    for warning in PageReport::alone(rules).warnings {
        writeln!(out, "{} {}", styled(STRONG, "warning"), shown(warning.message.as_bytes()))?;
    }
    if let Some(fresh) = rules.fresh_for() {
        writeln!(out, "fresh for {} s from when the response was made", fresh.as_secs())?;
    }
    Ok(())
}
