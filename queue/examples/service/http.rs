//! The HTTP side: what comes in becomes a job.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use queue::{EnqueueError, Enqueuer, Routed};

use crate::email::{self, Email};
use crate::invoice::{self, Invoice};

/// How long a request waits for room. Then the client shall come again: a queue without a bound would only hide that.
const PATIENCE: Duration = Duration::from_millis(250);

/// What the requests share. It names no broker.
#[derive(Clone)]
struct Api {
    jobs: Enqueuer<Routed>,
    health: Arc<dyn Fn() -> (StatusCode, &'static str) + Send + Sync>,
}

/// All that is served.
pub(crate) fn router(
    jobs: Enqueuer<Routed>,
    health: impl Fn() -> (StatusCode, &'static str) + Send + Sync + 'static,
) -> Router {
    Router::new()
        .route("/emails", post(take_email))
        .route("/invoices", post(take_invoice))
        .route("/health", get(tell_health))
        .with_state(Api { jobs, health: Arc::new(health) })
}

async fn take_email(State(api): State<Api>, Json(email): Json<Email>) -> Response {
    enqueue(&api, Routed::json(email::KIND, &email)).await
}

async fn take_invoice(State(api): State<Api>, Json(invoice): Json<Invoice>) -> Response {
    enqueue(&api, Routed::json(invoice::KIND, &invoice)).await
}

async fn tell_health(State(api): State<Api>) -> (StatusCode, &'static str) {
    (api.health)()
}

/// 202 with the id once the job is in. Any other answer: it is not, and the client may send it again.
async fn enqueue(api: &Api, job: Result<Routed, queue::core::codec::Unencodable>) -> Response {
    let job = match job {
        Ok(job) => job,
        Err(error) => return (StatusCode::UNPROCESSABLE_ENTITY, error.to_string()).into_response(),
    };
    match api.jobs.job(job).within(PATIENCE).enqueue().await {
        Ok(id) => (StatusCode::ACCEPTED, id.to_string()).into_response(),
        Err(error @ (EnqueueError::Full(_) | EnqueueError::Timeout(_) | EnqueueError::Closed(_))) => {
            let later = [(header::RETRY_AFTER, "1")];
            (StatusCode::SERVICE_UNAVAILABLE, later, error.to_string()).into_response()
        }
        Err(error) => {
            eprintln!("cannot enqueue: {error}");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
