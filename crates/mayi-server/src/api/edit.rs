//! `/v1/edit`: goals of a site's owner in, the smallest edit of the file out.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Request as HttpRequest;
use mayi::edit::{GoalInput, MOST_GOALS, NewFile, report};
use mayi::report::RobotsInput;
use serde::Deserialize;

use super::reading::{Few, answered, file, there, to_vec, within_budget};
use super::{Answered, App, object};
use crate::problem::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EditBody<'a> {
    /// The file to edit.
    #[serde(borrow, default, deserialize_with = "there")]
    robots: Option<RobotsInput<'a>>,
    /// What a new file says, if there is none yet.
    #[serde(borrow, default, deserialize_with = "there")]
    new: Option<NewFile<'a>>,
    /// The goals of the edit. Their name in JSON is older than the one here.
    #[serde(rename = "wishes", default)]
    goals: Few<GoalInput, MOST_GOALS>,
}

pub(crate) async fn edit(State(app): State<Arc<App>>, request: HttpRequest<Body>) -> Answered {
    answered(app, request, |app, octets, stop| {
        let body: EditBody<'_> = object(octets)?;
        let options = app.reading().with_stop(stop.clone());
        let registry = options.registry();
        let (octets, options) = match (&body.robots, &body.new) {
            (Some(robots), None) => {
                let (octets, options) = file(robots, options)?;
                (Cow::Borrowed(octets), options)
            }
            (None, Some(new)) => {
                let text = new.text().map_err(|error| Problem::invalid(error.to_string()))?;
                (Cow::Owned(text.into_bytes()), options)
            }
            _ => {
                return Err(Problem::invalid(
                    "give either `robots`, a file to edit, or `new`, a new file",
                ));
            }
        };
        let goals = body.goals.iter().map(|goal| goal.goal(&registry)).collect::<Result<Vec<_>, _>>();
        let goals = goals.map_err(|error| Problem::invalid(error.to_string()))?;
        let said = report(&octets, &goals, &options);
        if let Some(diff) = &said.diff {
            within_budget(app, stop, diff.spent)?;
        }
        Ok(to_vec(&said))
    })
    .await
}
