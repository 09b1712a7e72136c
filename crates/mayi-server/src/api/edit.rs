//! `/v1/edit`: wishes of a site's owner in, the smallest edit of the file out.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Request as HttpRequest;
use mayi::edit::{MOST_WISHES, NewFile, WishInput, report};
use mayi::report::RobotsInput;
use serde::Deserialize;

use super::reading::{Few, body_of, file, there, to_vec};
use super::{Answered, App, aside, json, object};
use crate::problem::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EditBody<'a> {
    /// The file to edit.
    #[serde(borrow, default, deserialize_with = "there")]
    robots: Option<RobotsInput<'a>>,
    /// What a new file says, where there is none yet.
    #[serde(borrow, default, deserialize_with = "there")]
    new: Option<NewFile<'a>>,
    #[serde(borrow, default)]
    wishes: Few<WishInput<'a>, MOST_WISHES>,
}

pub(crate) async fn edit(State(app): State<Arc<App>>, request: HttpRequest<Body>) -> Answered {
    let (place, read) = body_of(&app, request).await?;
    let shared = Arc::clone(&app);
    aside(&app, &place, read.octets.len(), move |stop| {
        let app = shared;
        let body: EditBody<'_> = object(&read.octets)?;
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
        let wishes = body.wishes.iter().map(|wish| wish.wish(&registry)).collect::<Result<Vec<_>, _>>();
        let wishes = wishes.map_err(|error| Problem::invalid(error.to_string()))?;
        Ok(json(to_vec(&report(&octets, &wishes, &options))))
    })
    .await
}
