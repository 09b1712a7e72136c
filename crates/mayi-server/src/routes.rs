//! Paths and methods → operations. `openapi.json` says the same for clients, and a test checks that they
//! agree.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, Response, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use hyper::body::Incoming;
use tower_service::Service;

use crate::api::{App, decide, edit, operation, owners, page, reading, registry, robots};
use crate::gate::Place;
use crate::page::ASSETS;
use crate::problem::Problem;

const DECIDE: &str = "/v1/decide";

pub(crate) fn router(app: &Arc<App>) -> Router {
    let mut router = Router::new()
        .route(DECIDE, post(decide::routed).get(decide::get))
        .route("/v1/lint", post(reading::lint_file))
        .route("/v1/page", post(reading::read_page).get(page::get))
        .route("/v1/overview", post(owners::overview))
        .route("/v1/crawler", post(owners::crawler))
        .route("/v1/compare", post(owners::compare))
        .route("/v1/diff", post(owners::diff))
        .route("/v1/format", post(owners::format))
        .route("/v1/edit", post(edit::edit))
        .route("/v1/robots", get(robots::get))
        .route("/v1/registry/{which}", get(registry::list))
        .route("/v1/registry/{which}/{name}", get(registry::show))
        .route("/v1/dialects", get(registry::dialects))
        .route("/healthz", get(operation::health))
        .route("/readyz", get(operation::ready))
        .route("/metrics", get(operation::metrics))
        .route("/openapi.json", get(operation::openapi));
    for asset in ASSETS {
        router = router.route(asset.path, get(operation::asset));
    }
    router
        .method_not_allowed_fallback(wrong_method)
        .fallback(operation::fallback)
        .with_state(Arc::clone(app))
}

/// Answers a request. The path of nearly all requests is compared directly, which saves the router and its
/// allocations.
pub(crate) async fn answer(
    app: &Arc<App>,
    router: &Router,
    request: Request<Incoming>,
    place: Option<Place>,
) -> Response<Body> {
    let mut request = request;
    if let Some(place) = place {
        if request.method() == Method::POST && request.uri().path() == DECIDE {
            return decide::post(app, place, request).await.into_response();
        }
        request.extensions_mut().insert(place);
    }
    // In a box, so that the answers above are not made in a future of its size, which is moved more than once.
    let Ok(response) = Box::pin(router.clone().call(request.map(Body::new))).await;
    response
}

/// axum adds which methods there are.
async fn wrong_method() -> Problem {
    let detail = "this path does not support this method; the Allow header lists the methods";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", detail)
}
