//! What a load balancer or an orchestrator wants to know.

use axum::http::StatusCode;
use queue::{DynWorker, Queue, Routed};

/// 200 while jobs are consumed: a connection to a broker, or a process that is there, is not enough.
pub(crate) fn of(queue: &Queue<DynWorker<Routed>>) -> (StatusCode, &'static str) {
    let health = queue.health();
    let status = if health.is_healthy() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, health.state.name())
}
