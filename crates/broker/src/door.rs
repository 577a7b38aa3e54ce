//! Who may come in over HTTP: the host that is asked for, where a page comes from, the token.
//!
//! A browser lets any page send requests to this machine. Such a request names the page's own host,
//! or comes with the page's origin; neither is let in, token or not.

use std::hint::black_box;
use std::net::{IpAddr, SocketAddr};

/// What a request must show.
#[derive(Clone)]
pub struct Door {
    hosts: Vec<String>,
    token: Option<Token>,
}

/// A secret that requests must carry.
#[derive(Clone)]
pub struct Token(String);

/// What is wrong with a request: a status of HTTP and a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// 401 or 403.
    pub status: u16,
    /// Why.
    pub message: &'static str,
}

/// What is wrong with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadToken;

impl Token {
    /// The shortest token that is taken: nobody tries 2^64 of them.
    pub const SHORTEST: usize = 16;

    /// A token that was given; spaces around it, as at the end of a file, are not part of it.
    pub fn new(text: &str) -> Result<Token, BadToken> {
        let text = text.trim();
        let is_good = text.len() >= Token::SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_good { Ok(Token(text.to_string())) } else { Err(BadToken) }
    }

    /// A new token of 256 random bits.
    pub fn random() -> Result<Token, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The token itself, to be told to those who may know it.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether it is this one. The time it takes tells the length of what was given, nothing else.
    fn is(&self, given: &str) -> bool {
        let own = self.0.as_bytes();
        let mut difference = u8::from(own.len() != given.len());
        for (at, byte) in given.bytes().enumerate() {
            // Every byte is looked at, whatever the ones before it were.
            difference = black_box(difference | (byte ^ own[at % own.len()]));
        }
        black_box(difference) == 0
    }
}

impl std::fmt::Debug for Token {
    /// Secrets do not belong in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Door {
    /// The door of a service at an address; `hosts` are further names it is known by.
    pub fn new(address: SocketAddr, hosts: &[String], token: Option<Token>) -> Door {
        let mut names: Vec<String> = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        if !address.ip().is_unspecified() {
            names.push(host_text(address.ip()));
        }
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            names.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_string));
        }
        Door { hosts: names, token }
    }

    /// Whether the host and origin of a request are ours.
    pub fn admits(&self, host: Option<&str>, origin: Option<&str>) -> Result<(), Refusal> {
        let refuse = |message| Err(Refusal { status: 403, message });
        if !host.is_some_and(|host| self.knows(host)) {
            return refuse("the `Host` of the request is not a name of this service; see `--allow-host`");
        }
        match origin {
            None => Ok(()),
            Some(origin) => {
                let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
                match host.is_some_and(|host| self.knows(host)) {
                    true => Ok(()),
                    false => refuse("requests from pages of other origins are not answered"),
                }
            }
        }
    }

    /// Whether a request carries the token: `Authorization: Bearer TOKEN`.
    pub fn opens_for(&self, authorization: Option<&str>) -> Result<(), Refusal> {
        let Some(token) = &self.token else { return Ok(()) };
        let given = authorization.and_then(|value| {
            let (scheme, given) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| given.trim())
        });
        match given {
            Some(given) if token.is(given) => Ok(()),
            Some(_) => Err(Refusal { status: 401, message: "this is not the token" }),
            None => Err(Refusal { status: 401, message: "`Authorization: Bearer TOKEN` is needed" }),
        }
    }

    /// Whether a host, with or without a port, is one of our names.
    fn knows(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => &host,
        };
        self.hosts.iter().any(|own| own == name)
    }
}

/// An address as it stands in `Host`.
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
            let door = Door::new(address.parse().unwrap(), &["Broker.example".to_string()], None);
            let host = (!host.is_empty()).then_some(host);
            assert_eq!(door.admits(host, origin).is_ok(), expected, "{address} {host:?} {origin:?}");
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
        check("127.0.0.1:80",   "localhost",          Some("https://broker.example"),   true);
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
        let door = Door::new("127.0.0.1:1".parse().unwrap(), &[], Some(token));
        let check = |given: Option<&str>, expected: bool| {
            assert_eq!(door.opens_for(given).is_ok(), expected, "{given:?}");
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
        assert!(Door::new("127.0.0.1:1".parse().unwrap(), &[], None).opens_for(None).is_ok());
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
