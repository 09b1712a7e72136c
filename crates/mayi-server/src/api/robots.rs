//! `/v1/robots`: the file of a site, where it came from, and what is in it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use mayi::access::Origin;
use mayi::report::{ErrorCode, RequestError};

use super::{Answered, App, aside, cached, fresh_for, place_of};

/// The minimum time between two requests for the file of a site. A person who presses a button sees no
/// difference.
const LEAST_BETWEEN: Duration = Duration::from_secs(10);

pub(crate) async fn get(State(app): State<Arc<App>>, request: Request<Body>) -> Answered {
    let (parts, _) = request.into_parts();
    let place = place_of(&parts)?;
    let (url, is_fresh) = asked(parts.uri.query().unwrap_or_default())?;
    let origin = Origin::of_url(&url).map_err(RequestError::from)?;
    let fetcher = app.fetcher.on_behalf_of(place.by().client);
    let robots = if is_fresh {
        fetcher.ask_again(&origin, LEAST_BETWEEN).await
    } else {
        fetcher.robots(&origin).await
    };
    let octets = robots.robots_txt().map_or(0, |file| file.text().len());
    aside(&app, &place, octets, move |_| {
        let report = robots.site_report();
        let body = serde_json::to_vec(&report).expect("what is known is JSON");
        // A client that wants the current file must not get it from a cache on the way.
        let fresh = if is_fresh { Duration::ZERO } else { fresh_for(report.file.as_ref()) };
        Ok(cached(&parts.headers, body, "application/json", fresh))
    })
    .await
}

/// A URL of the site, and whether its file must be requested again.
fn asked(query: &str) -> Result<(String, bool), RequestError> {
    let wrong = |message: &str| RequestError::new(ErrorCode::InvalidRequest, message);
    let (mut url, mut fresh) = (None, None);
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let is_new = match (&*name, &*value) {
            ("url", url_of_site) => url.replace(url_of_site.to_owned()).is_none(),
            ("fresh", "true") => fresh.replace(true).is_none(),
            ("fresh", "false") => fresh.replace(false).is_none(),
            ("fresh", _) => return Err(wrong("`fresh` is `true` or `false`")),
            _ => return Err(wrong("there are two parameters: `url`, a URL of the site, and `fresh`")),
        };
        if !is_new {
            return Err(wrong("a parameter is given twice"));
        }
    }
    let url = url.ok_or_else(|| wrong("`url` is missing: a URL of the site"))?;
    Ok((url, fresh.unwrap_or(false)))
}
