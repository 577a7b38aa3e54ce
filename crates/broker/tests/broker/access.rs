//! HTTP: which requests are accepted, and the paths of the service.

use crate::support::{Server, TOKEN};
use std::io::BufRead;

use masque_broker::Limits;

/// Headers that replace the default ones; an empty header is omitted.
type Headers<'h> = &'h [(&'h str, &'h str)];

#[rustfmt::skip]
#[test]
fn statuses() {
    let server = Server::start(Limits::default());
    let bearer = format!("Bearer {TOKEN}");
    let own = format!("http://{}", server.address);
    let elsewhere = "http://localhost:1";
    let rows: [(&str, Headers<'_>, u16); 24] = [
        ("POST /rpc",     &[],                                            200),
        ("POST /rpc",     &[("Content-Type", "application/json; charset=utf-8")], 200),
        ("POST /rpc",     &[("Content-Type", "text/plain")],              415),
        ("POST /rpc",     &[("Content-Type", "")],                        415),
        ("POST /rpc",     &[("Authorization", "")],                       401),
        ("POST /rpc",     &[("Authorization", "Bearer 0123456789abcdeX")], 401),
        ("POST /rpc",     &[("Host", "evil.example")],                    403),
        ("POST /rpc",     &[("Host", "evil.example"), ("Authorization", &bearer)], 403),
        ("POST /rpc",     &[("Origin", "http://evil.example")],           403),
        ("POST /rpc",     &[("Origin", "null")],                          403),
        ("POST /rpc",     &[("Origin", elsewhere)],                       403),
        ("POST /rpc",     &[("Transfer-Encoding", "chunked")],            400),
        ("POST /rpc",     &[("Content-Length", "2"), ("Transfer-Encoding", "chunked")], 400),
        ("POST /rpc",     &[("Origin", &own)],                            200),
        ("POST http://evil.example/rpc", &[],                             403),
        ("GET /rpc",      &[],                                            405),
        ("OPTIONS /rpc",  &[],                                            405),
        ("GET /health",   &[("Authorization", "")],                       200),
        ("GET /health",   &[("Host", "evil.example")],                    403),
        ("GET /metrics",  &[("Authorization", "")],                       401),
        ("GET /metrics",  &[],                                            200),
        ("GET /schema",   &[],                                            200),
        ("POST /schema",  &[],                                            405),
        ("GET /",         &[],                                            404),
    ];
    for (request, headers, expected) in rows {
        let mut client = server.connect();
        client.send(request, headers, b"{}");
        let (status, body) = client.receive();
        assert_eq!(status, expected, "{request} {headers:?}: {body}");
        if status >= 400 {
            assert!(body.starts_with(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32010"#), "{body}");
        }
    }
}

#[test]
fn pages() {
    let server = Server::start(Limits::default());
    let get = |path: &str| {
        let mut client = server.connect();
        client.send(&format!("GET {path}"), &[], b"");
        client.receive().1
    };
    assert_eq!(get("/health"), r#"{"status":"ok"}"#);
    assert_eq!(get("/schema"), masque_broker::schema());
    let metrics = get("/metrics");
    assert!(metrics.contains("\nmasque_connections_total 3\n"), "{metrics}");
    assert!(metrics.contains("masque_calls_total{method=\"open\",outcome=\"ok\"} 0\n"));
    // No web page of another origin may read a response.
    let mut client = server.connect();
    client.send("GET /health", &[], b"");
    let mut text = String::new();
    while !text.ends_with("\r\n\r\n") {
        client.stream.read_line(&mut text).unwrap();
    }
    assert!(!text.to_ascii_lowercase().contains("access-control"), "{text}");
}
