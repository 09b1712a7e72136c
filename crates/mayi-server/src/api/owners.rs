//! `/v1/overview`, `/v1/compare`, `/v1/diff`, `/v1/format`, `/v1/crawler`: what given files mean for
//! crawlers, without a fetch.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Request as HttpRequest;
use mayi::meaning::diff_within;
use mayi::report::{AgentReport, FormatReport, RobotsInput};
use mayi::{Dialect, ProductToken, RobotsTxt};
use serde::Deserialize;

use super::reading::{Few, MOST_AGENTS, answered, file, no_token, there, to_vec, within_budget};
use super::{Answered, App, object};
use crate::problem::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OverviewBody<'a> {
    #[serde(borrow)]
    robots: RobotsInput<'a>,
    #[serde(borrow, default)]
    dialect: Option<Cow<'a, str>>,
}

pub(crate) async fn overview(State(app): State<Arc<App>>, request: HttpRequest<Body>) -> Answered {
    answered(app, request, |app, octets, stop| {
        let body: OverviewBody<'_> = object(octets)?;
        let reading =
            app.reading().with_dialect(dialect(app, body.dialect.as_deref())?).with_stop(stop.clone());
        let site = body.robots.site_file(&reading)?;
        let overview = mayi::meaning::overview(&site, &reading);
        within_budget(app, stop, overview.spent)?;
        Ok(to_vec(&overview))
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CrawlerBody<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "there")]
    robots: Option<RobotsInput<'a>>,
}

pub(crate) async fn crawler(State(app): State<Arc<App>>, request: HttpRequest<Body>) -> Answered {
    answered(app, request, |app, octets, _| {
        let reading = app.reading();
        let body: CrawlerBody<'_> = object(octets)?;
        let robots = body.robots.as_ref().map(|robots| file(robots, reading.clone())).transpose()?;
        let robots = robots.map(|(octets, reading)| RobotsTxt::read(octets, &reading));
        let report = AgentReport::of(&body.text, &reading.registry(), robots.as_ref());
        Ok(to_vec(&report))
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CompareBody<'a> {
    #[serde(borrow)]
    robots: RobotsInput<'a>,
    #[serde(borrow, default)]
    agents: Few<Cow<'a, str>, MOST_AGENTS>,
}

pub(crate) async fn compare(State(app): State<Arc<App>>, request: HttpRequest<Body>) -> Answered {
    answered(app, request, |app, octets, stop| {
        let body: CompareBody<'_> = object(octets)?;
        let (octets, options) = file(&body.robots, app.reading().with_stop(stop.clone()))?;
        let agents = body.agents.iter().map(|token| ProductToken::unless_global(token));
        let agents = agents.collect::<Result<Vec<_>, _>>().map_err(no_token)?;
        let agents = (!agents.is_empty()).then_some(&*agents);
        let dialects = Dialect::BY_TOKEN.iter().map(|it| dialect(app, Some(it.name())));
        let dialects = dialects.collect::<Result<Vec<_>, _>>()?;
        let compared = mayi::meaning::compare(octets, &options, &dialects, agents);
        within_budget(app, stop, compared.spent)?;
        Ok(to_vec(&compared))
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DiffBody<'a> {
    #[serde(borrow)]
    old: RobotsInput<'a>,
    #[serde(borrow)]
    new: RobotsInput<'a>,
    #[serde(borrow, default)]
    dialect: Option<Cow<'a, str>>,
}

pub(crate) async fn diff(State(app): State<Arc<App>>, request: HttpRequest<Body>) -> Answered {
    answered(app, request, |app, octets, stop| {
        let body: DiffBody<'_> = object(octets)?;
        let reading =
            app.reading().with_dialect(dialect(app, body.dialect.as_deref())?).with_stop(stop.clone());
        let (old, of_old) = file(&body.old, reading.clone())?;
        let (new, of_new) = file(&body.new, reading)?;
        let diff = diff_within(&RobotsTxt::read(old, &of_old), &RobotsTxt::read(new, &of_new), &of_new);
        within_budget(app, stop, diff.spent)?;
        Ok(to_vec(&diff))
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormatBody<'a> {
    #[serde(borrow)]
    robots: RobotsInput<'a>,
}

pub(crate) async fn format(State(app): State<Arc<App>>, request: HttpRequest<Body>) -> Answered {
    answered(app, request, |app, octets, _| {
        let reading = app.reading();
        let body: FormatBody<'_> = object(octets)?;
        let (octets, _) = file(&body.robots, reading)?;
        Ok(to_vec(&FormatReport::of(mayi::format(octets))))
    })
    .await
}

/// The dialect of this name, as the service reads it; without a name, its default.
fn dialect(app: &App, name: Option<&str>) -> Result<Dialect, Problem> {
    Ok(app.fetcher.answering().dialect_named(name)?)
}
