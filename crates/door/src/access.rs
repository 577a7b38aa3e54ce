//! Access control for HTTP requests: the host, the origin and the token.
//!
//! A browser lets any web page send requests to this machine. Such a request has the host or the origin of the
//! page, and is refused, even with the token.

use std::hint::black_box;
use std::net::{IpAddr, SocketAddr};

/// The rules for accepting requests.
#[derive(Clone)]
pub struct AccessRules {
    /// Names of this machine.
    local: Vec<String>,
    /// Further host names of the service, which a proxy may use.
    hosts: Vec<String>,
    /// The port of the service.
    port: u16,
    token: Option<Token>,
}

/// A secret that requests must carry.
#[derive(Clone)]
pub struct Token(String);

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP status: 400, 401 or 403.
    pub status: u16,
    /// Reason for the refusal, for the client.
    pub message: &'static str,
}

/// A token that is too short or has characters that are not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadToken;

impl Token {
    /// Minimum number of characters of a token, so that guessing one is hopeless.
    pub const MIN_LENGTH: usize = 16;

    /// A given token. Blanks around it, such as the newline at the end of a file, are not part of it.
    pub fn new(text: &str) -> Result<Token, BadToken> {
        let text = text.trim();
        let is_good = text.len() >= Token::MIN_LENGTH && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_good { Ok(Token(text.to_string())) } else { Err(BadToken) }
    }

    /// A new token of 256 random bits.
    pub fn random() -> Result<Token, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The token itself, for clients that may know it.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether a given token is this one. The time this takes depends only on the length of the given token.
    fn is(&self, given: &str) -> bool {
        let own = self.0.as_bytes();
        let mut difference = u8::from(own.len() != given.len());
        for (index, byte) in given.bytes().enumerate() {
            // Every byte is compared, even after a difference.
            difference = black_box(difference | (byte ^ own[index % own.len()]));
        }
        black_box(difference) == 0
    }
}

impl std::fmt::Debug for Token {
    /// Hides the secret, which must not appear in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

impl AccessRules {
    /// The rules of a service at an address; `hosts` are additional host names of the service.
    pub fn new(address: SocketAddr, hosts: &[String], token: Option<Token>) -> AccessRules {
        let hosts = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        let mut local = Vec::new();
        if !address.ip().is_unspecified() {
            local.push(host_text(address.ip()));
        }
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            local.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_string));
        }
        AccessRules { local, hosts, port: address.port(), token }
    }

    /// Checks that the host and the origin of a request are names of this service.
    pub fn check_host(&self, host: Option<&str>, origin: Option<&str>) -> Result<(), Refusal> {
        let refuse = |message| Err(Refusal { status: 403, message });
        if !host.is_some_and(|host| self.knows(host)) {
            return refuse("the `Host` of the request is not a name of this service; see `--allow-host`");
        }
        match origin {
            None => Ok(()),
            Some(origin) if self.is_own_origin(origin) => Ok(()),
            Some(_) => refuse("requests from web pages of other origins are refused"),
        }
    }

    /// Whether an origin is this service. Another port of this machine is another service; a proxy in front of this
    /// one may have any port.
    fn is_own_origin(&self, origin: &str) -> bool {
        let schemes = [("http://", 80), ("https://", 443)];
        schemes.into_iter().any(|(scheme, usual_port)| {
            let Some(host) = origin.strip_prefix(scheme) else { return false };
            let (name, port) = split_port(host);
            let is_local = has_name(&self.local, name) && port.unwrap_or(Some(usual_port)) == Some(self.port);
            is_local || has_name(&self.hosts, name)
        })
    }

    /// Checks that a request carries the token: `Authorization: Bearer TOKEN`.
    pub fn check_token(&self, authorization: Option<&str>) -> Result<(), Refusal> {
        let Some(token) = &self.token else { return Ok(()) };
        let given = authorization.and_then(|value| {
            let (scheme, given) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| given.trim())
        });
        match given {
            Some(given) if token.is(given) => Ok(()),
            Some(_) => Err(Refusal { status: 401, message: "the token is wrong" }),
            None => {
                Err(Refusal { status: 401, message: "the header `Authorization: Bearer TOKEN` is missing" })
            }
        }
    }

    /// Checks that the first part of a path is the token, for services whose addresses contain it.
    pub fn check_path(&self, path: &str) -> Result<(), Refusal> {
        let Some(token) = &self.token else { return Ok(()) };
        let given = path.strip_prefix('/').and_then(|path| path.split('/').next()).unwrap_or_default();
        match token.is(given) {
            true => Ok(()),
            false => Err(Refusal { status: 401, message: "the address must begin with the token" }),
        }
    }

    /// Whether a host, with or without a port, is a name of this service.
    fn knows(&self, host: &str) -> bool {
        let (name, _) = split_port(host);
        has_name(&self.local, name) || has_name(&self.hosts, name)
    }
}

fn has_name(names: &[String], name: &str) -> bool {
    names.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Splits a host into its name and its port, if it has one. The port is none within if it is no port number.
fn split_port(host: &str) -> (&str, Option<Option<u16>>) {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            (name, Some(port.parse().ok()))
        }
        _ => (host, None),
    }
}

/// An address as it is written in the header `Host`.
fn host_text(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn hosts_and_origins() {
        let check = |address: &str, host: &str, origin: Option<&str>, expected: bool| {
            let rules = AccessRules::new(address.parse().unwrap(), &["Broker.example".to_string()], None);
            let host = (!host.is_empty()).then_some(host);
            assert_eq!(rules.check_host(host, origin).is_ok(), expected, "{address} {host:?} {origin:?}");
        };
        check("127.0.0.1:80",   "127.0.0.1",          None,                             true);
        check("127.0.0.1:80",   "127.0.0.1:80",       None,                             true);
        check("127.0.0.1:80",   "LocalHost:1",        None,                             true);
        check("127.0.0.1:80",   "[::1]:80",           None,                             true);
        check("127.0.0.1:80",   "broker.example",     None,                             true);
        check("127.0.0.1:80",   "evil.example",       None,                             false);
        check("127.0.0.1:80",   "localhost.evil:80",  None,                             false);
        check("127.0.0.1:80",   "127.0.0.1.evil",     None,                             false);
        check("127.0.0.1:80",   "127.0.0.1:x",        None,                             false);
        check("127.0.0.1:80",   "",                   None,                             false);
        check("127.0.0.1:80",   "localhost",          Some("http://localhost:80"),      true);
        check("127.0.0.1:80",   "localhost",          Some("http://localhost"),         true);
        check("127.0.0.1:80",   "localhost",          Some("https://localhost"),        false);
        check("127.0.0.1:80",   "localhost:80",       Some("http://localhost:81"),      false);
        check("127.0.0.1:81",   "localhost:81",       Some("http://localhost:81"),      true);
        check("127.0.0.1:81",   "localhost:81",       Some("http://127.0.0.1"),         false);
        check("127.0.0.1:81",   "localhost:81",       Some("http://localhost:99999"),   false);
        check("127.0.0.1:443",  "localhost",          Some("https://[::1]"),            true);
        check("127.0.0.1:80",   "localhost",          Some("https://broker.example"),   true);
        check("127.0.0.1:80",   "localhost",          Some("https://broker.example:8443"), true);
        check("127.0.0.1:80",   "localhost",          Some("http://evil.example"),      false);
        check("127.0.0.1:80",   "localhost",          Some("null"),                     false);
        check("192.0.2.7:80",   "192.0.2.7:80",       None,                             true);
        check("192.0.2.7:80",   "localhost",          None,                             false);
        check("0.0.0.0:80",     "192.0.2.7",          None,                             false);
        check("0.0.0.0:80",     "broker.example:80",  None,                             true);
        check("[2001:db8::1]:80", "[2001:db8::1]",    None,                             true);
    }

    #[rustfmt::skip]
    #[test]
    fn tokens() {
        let token = Token::new(" 0123456789abcdef\n").unwrap();
        let rules = AccessRules::new("127.0.0.1:1".parse().unwrap(), &[], Some(token));
        let check = |given: Option<&str>, expected: bool| {
            assert_eq!(rules.check_token(given).is_ok(), expected, "{given:?}");
        };
        check(Some("Bearer 0123456789abcdef"),                  true);
        check(Some("bearer  0123456789abcdef"),                 true);
        check(Some("Bearer 0123456789abcdeF"),                  false);
        check(Some("Bearer 0123456789abcde"),                   false);
        check(Some("Bearer 0123456789abcdef0123456789abcdef"),  false);
        check(Some("Bearer "),                                  false);
        check(Some("Basic 0123456789abcdef"),                   false);
        check(Some("0123456789abcdef"),                         false);
        check(None,                                             false);
        assert!(AccessRules::new("127.0.0.1:1".parse().unwrap(), &[], None).check_token(None).is_ok());
        let check = |path: &str, expected: bool| assert_eq!(rules.check_path(path).is_ok(), expected, "{path}");
        check("/0123456789abcdef",        true);
        check("/0123456789abcdef/",       true);
        check("/0123456789abcdef/a/b",    true);
        check("/0123456789abcdef0",       false);
        check("0123456789abcdef/",        false);
        check("//0123456789abcdef",       false);
        check("/a/0123456789abcdef",      false);
        check("/",                        false);
        check("",                         false);
    }

    #[test]
    fn a_token_is_long_and_plain() {
        assert_eq!(Token::new("short").err(), Some(BadToken));
        assert_eq!(Token::new("with a space inside it").err(), Some(BadToken));
        let (one, two) = (Token::random().unwrap(), Token::random().unwrap());
        assert!(one.text().len() == 64 && one.text() != two.text());
        assert_eq!(format!("{one:?}"), "Token(..)");
    }
}
