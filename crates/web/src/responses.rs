//! Responses: pages, files, and addresses to go to.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use maud::Markup;

use crate::child::NoReply;

pub(crate) fn asset(text: &str, kind: &'static str) -> Response {
    let mut response = Response::new(Body::from(text.to_string()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

pub(crate) fn html_page(markup: Markup) -> Response {
    asset(&markup.into_string(), "text/html; charset=utf-8")
}

/// Sends the browser to another page.
pub(crate) fn see(base: &str, path: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(location) = HeaderValue::from_str(&format!("{base}{path}")) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// Why a process gave no reply, for the user.
pub(crate) fn message(error: NoReply) -> String {
    match error {
        NoReply::Cancelled => "It was cancelled.".to_string(),
        NoReply::Failed(message) => message,
    }
}
