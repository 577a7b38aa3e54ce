//! The fields of forms and queries.

use std::time::Duration;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use http_body_util::{BodyExt, Limited};

use crate::server::plain;

/// Maximum bytes of the body of a request.
const MAX_BODY_BYTES: usize = 64 << 10;
/// Time in which a body must arrive.
const MAX_BODY_TIME: Duration = Duration::from_secs(10);

/// The fields of a form or a query.
pub(crate) struct Fields(pub(crate) Vec<(String, String)>);

impl Fields {
    pub(crate) fn of_query(request: &Request) -> Fields {
        Fields::new(request.uri().query().unwrap_or_default())
    }

    pub(crate) async fn of_body(request: Request) -> Result<Fields, Response> {
        let body = Limited::new(request.into_body(), MAX_BODY_BYTES).collect();
        match tokio::time::timeout(MAX_BODY_TIME, body).await {
            Ok(Ok(body)) => Ok(Fields::new(&String::from_utf8_lossy(&body.to_bytes()))),
            Ok(Err(_)) => {
                let message =
                    format!("the request is too large or broken; the maximum is {MAX_BODY_BYTES} bytes");
                Err(plain(StatusCode::PAYLOAD_TOO_LARGE, message))
            }
            Err(_) => {
                Err(plain(StatusCode::REQUEST_TIMEOUT, "the request took too long to arrive".to_string()))
            }
        }
    }

    fn new(text: &str) -> Fields {
        let pair = |field: &str| match field.split_once('=') {
            Some((name, value)) => (decoded(name), decoded(value)),
            None => (decoded(field), String::new()),
        };
        Fields(text.split('&').filter(|field| !field.is_empty()).map(pair).collect())
    }

    /// The value of a field.
    pub(crate) fn find(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of a field that is a number; 0 if there is none.
    pub(crate) fn number(&self, name: &str) -> usize {
        self.find(name).and_then(|value| value.parse().ok()).unwrap_or(0)
    }
}

/// Decodes a part of a form: `+` is a blank, and `%41` is a byte.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        let hexadecimal = |digit: &u8| (*digit as char).to_digit(16);
        match (first, tail) {
            (b'+', _) => bytes.push(b' '),
            (b'%', [high, low, after @ ..]) if hexadecimal(high).is_some() && hexadecimal(low).is_some() => {
                let code = hexadecimal(high).unwrap_or(0) * 16 + hexadecimal(low).unwrap_or(0);
                bytes.push(code as u8);
                rest = after;
            }
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn fields_of_forms() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let found = Fields::new(text).0;
            let found: Vec<_> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("",                       &[]);
        check("a=1&b=x+y",              &[("a", "1"), ("b", "x y")]);
        check("f=%3Ca%3E%26&&g",        &[("f", "<a>&"), ("g", "")]);
        check("f=100%&g=%4&h=%zz",      &[("f", "100%"), ("g", "%4"), ("h", "%zz")]);
        check("f=%E2%9C%93",            &[("f", "✓")]);
        check("f=%+41&g=%ff",           &[("f", "% 41"), ("g", "\u{fffd}")]);
    }
}
