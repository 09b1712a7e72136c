//! `/v1/robots`: the file of a site, where it came from, and what is in it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use mayi::access::Origin;
use mayi::report::{ErrorCode, RequestError};

use super::{Answered, App, aside, cached, fresh_for, place_of};

pub(crate) async fn get(State(app): State<Arc<App>>, request: Request<Body>) -> Answered {
    let (parts, _) = request.into_parts();
    let place = place_of(&parts)?;
    let url = url_of(parts.uri.query().unwrap_or_default())?;
    let origin = Origin::of_url(&url).map_err(RequestError::from)?;
    let robots = app.fetcher.on_behalf_of(place.by().client).robots(&origin).await;
    let octets = robots.robots_txt().map_or(0, |file| file.text().len());
    aside(&app, &place, octets, move |_| {
        let report = robots.site_report();
        let body = serde_json::to_vec(&report).expect("what is known is JSON");
        Ok(cached(&parts.headers, body, "application/json", fresh_for(report.file.as_ref())))
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
