//! `/v1/robots`: the file of a site, where it came from, and what is in it.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mayi::RobotsTxt;
use mayi::access::Origin;
use mayi::report::{ErrorCode, FileReport, RequestError};
use mayi_fetch::Robots;
use serde::Serialize;

use super::{Answered, App, aside, cached, fresh_for, place_of};

/// What is known of a site's file.
#[derive(Serialize)]
struct SiteFile<'r> {
    origin: String,
    url: String,
    file: &'r FileReport,
    /// The access result: `successful`, or why there is no file.
    access: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<&'r str>,
    /// The file as text, decoded where that is not UTF-8 and its charset is known; none where there is no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'r str>,
    /// Its octets, where the text is not those.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    groups: Vec<FileGroup<'r>>,
    sitemaps: Vec<Cow<'r, str>>,
    irregularities: usize,
}

#[derive(Serialize)]
struct FileGroup<'r> {
    starts: Vec<FileLine<'r>>,
    rules: Vec<FileRule<'r>>,
}

#[derive(Serialize)]
struct FileLine<'r> {
    line: u32,
    value: Cow<'r, str>,
}

#[derive(Serialize)]
struct FileRule<'r> {
    line: u32,
    kind: &'static str,
    pattern: Cow<'r, str>,
}

pub(crate) async fn get(State(app): State<Arc<App>>, request: Request<Body>) -> Answered {
    let (parts, _) = request.into_parts();
    let place = place_of(&parts)?;
    let url = url_of(parts.uri.query().unwrap_or_default())?;
    let origin = Origin::of_url(&url).map_err(RequestError::from)?;
    let robots = app.fetcher.on_behalf_of(place.by().client).robots(&origin).await;
    let octets = robots.robots_txt().map_or(0, |file| file.text().len());
    aside(&app, &place, octets, move |_| {
        let report = robots.file_report();
        let shown = SiteFile::of(&robots, &report);
        let body = serde_json::to_vec(&shown).expect("what is known is JSON");
        Ok(cached(&parts.headers, body, "application/json", fresh_for(report.fresh_until)))
    })
    .await
}

fn url_of(query: &str) -> Result<String, RequestError> {
    let wrong = |message: &str| RequestError::new(ErrorCode::InvalidRequest, message);
    let mut url = None;
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "url" if url.is_none() => url = Some(value.into_owned()),
            "url" => return Err(wrong("`url` is given twice")),
            _ => return Err(wrong("there is one parameter: `url`, a URL of the site")),
        }
    }
    url.ok_or_else(|| wrong("`url` is missing: a URL of the site"))
}

impl<'r> SiteFile<'r> {
    fn of(robots: &'r Robots, file: &'r FileReport) -> Self {
        let copy = robots.kept().copy.as_ref().filter(|_| robots.robots_txt().is_some());
        let read = robots.robots_txt().map(|robots| &**robots);
        let text = copy.zip(read).and_then(|(copy, read)| text_of(&copy.body, read));
        let octets = copy.filter(|copy| text.is_none_or(|text| text.as_bytes() != &*copy.body));
        Self {
            origin: robots.origin().to_string(),
            url: robots.origin().robots_url(),
            file,
            access: robots.access().to_string(),
            content_type: copy.and_then(|copy| copy.content_type.as_deref()),
            text,
            base64: octets.map(|copy| STANDARD.encode(&copy.body)),
            groups: read.map(groups).unwrap_or_default(),
            sitemaps: read
                .map(|read| read.sitemaps().map(String::from_utf8_lossy).collect())
                .unwrap_or_default(),
            irregularities: read.map_or(0, |read| read.irregularities().count()),
        }
    }
}

/// The text of a file, whose lines the line numbers count: the original text, or the decoded text.
fn text_of<'r>(body: &'r [u8], read: &'r RobotsTxt<'_>) -> Option<&'r str> {
    let behind_mark = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let is_as_it_came = behind_mark.starts_with(read.text());
    std::str::from_utf8(if is_as_it_came { body } else { read.text() }).ok()
}

fn groups<'r>(robots: &'r RobotsTxt<'_>) -> Vec<FileGroup<'r>> {
    let group = |group: mayi::Group<'r>| FileGroup {
        starts: group
            .start_lines()
            .map(|(line, value)| FileLine {
                line: line.number(),
                value: String::from_utf8_lossy(value),
            })
            .collect(),
        rules: group
            .rules()
            .map(|(line, kind, pattern)| FileRule {
                line: line.number(),
                kind: kind.name(),
                pattern: String::from_utf8_lossy(pattern),
            })
            .collect(),
    };
    robots.groups().map(group).collect()
}
