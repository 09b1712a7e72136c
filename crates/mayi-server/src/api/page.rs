//! `GET /v1/page`: a live page, fetched as a crawler fetches it, and what may be done with it.

use std::sync::Arc;
use std::time::SystemTime;

use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use mayi::Crawler;
use mayi::access::Origin;
use mayi::report::{ErrorCode, LivePageReport, RequestError};
use mayi_fetch::NoPage;

use super::reading::{no_token, to_vec};
use super::{Answered, App, aside, json, place_of};
use crate::problem::Problem;

pub(crate) async fn get(State(app): State<Arc<App>>, request: Request<Body>) -> Answered {
    let (parts, _) = request.into_parts();
    let place = place_of(&parts)?;
    let (url, crawler) = asked(parts.uri.query().unwrap_or_default())?;
    let fetcher = app.fetcher.on_behalf_of(place.by().client);
    let page = fetcher.page(&url).await.map_err(RequestError::from)?;
    if let Err(NoPage::TooSoon(left)) = &page.answer {
        return Err(Problem::too_often(left.as_secs() + 1));
    }
    let octets = page.answer.as_ref().map_or(0, |response| response.body.len());
    let mut options = app.page;
    options.now = Some(SystemTime::now());
    aside(&app, &place, octets, move |_| {
        let agent = page.crawler.product_token().as_str();
        let message = match &page.answer {
            Ok(response) => {
                let (status, octets) = (response.status, response.body.len());
                format!("The page answered with status {status}; {octets} octets of it were read.")
            }
            Err(none) => none.sentence(agent),
        };
        let mut report = LivePageReport::new(&page.url, agent, page.asked, message);
        if let Ok(response) = &page.answer {
            let fields: Vec<_> = response.fields().collect();
            let body = (&response.body[..], response.is_cut);
            report = report.with_answer(response.status, &fields, body, &crawler, options);
        }
        Ok(json(to_vec(&report)))
    })
    .await
}

/// The URL of the page, and the crawler whose rules are wanted.
fn asked(query: &str) -> Result<(String, Crawler), Problem> {
    let wrong = |message: &str| Problem::from(RequestError::new(ErrorCode::InvalidRequest, message));
    let (mut url, mut agent) = (None, None);
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let is_new = match &*name {
            "url" => url.replace(value.into_owned()).is_none(),
            "agent" => agent.replace(Crawler::new(&value).map_err(no_token)?).is_none(),
            _ => return Err(wrong("there are two parameters: `url`, and `agent`, a product token")),
        };
        if !is_new {
            return Err(wrong("a parameter is given twice"));
        }
    }
    let url = url.ok_or_else(|| wrong("`url` is missing: the URL of the page"))?;
    let origin = Origin::of_url(&url).map_err(RequestError::from)?;
    if !matches!(origin.scheme(), "http" | "https") {
        return Err(wrong("`url` has to be a URL of http or https"));
    }
    Ok((url, agent.unwrap_or_else(Crawler::unnamed)))
}
