//! The file of `--cluster`: one worker process per line.

use std::net::Ipv6Addr;

use masque_text::{Diagnostic, FileId, Severity, Sources, Span};

/// Help text with the accepted forms of a line.
const ACCEPTED_FORMS: &str = "write HOST or HOST:PORT, an IPv6 address in brackets: [2001:db8::7]:9000";

/// A machine that runs a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Host name or address (an IPv6 address in brackets): an argument of the launcher, and the address at
    /// which other workers reach it.
    pub name: String,
    /// Port at which the worker listens for other workers. `None` means any free port.
    pub port: Option<u16>,
}

/// Reads `HOST` or `HOST:PORT` lines. Empty lines and comments after `#` are skipped. Every invalid line
/// gets a diagnostic.
///
/// ```
/// use masque_cluster::read_hosts;
/// use masque_text::Sources;
/// let mut sources = Sources::default();
/// let file = sources.add("hosts.txt", "# the lab\nnode1\nnode2:9000\n[::1]:9001\n").unwrap();
/// let (hosts, diagnostics) = read_hosts(&sources, file);
/// assert!(diagnostics.is_empty());
/// assert_eq!((hosts[1].name.as_str(), hosts[1].port, hosts[2].name.as_str()), ("node2", Some(9000), "[::1]"));
/// ```
pub fn read_hosts(sources: &Sources, file: FileId) -> (Vec<Host>, Vec<Diagnostic>) {
    let (mut hosts, mut diagnostics) = (Vec::new(), Vec::new());
    let mut start = 0;
    for line in sources.text(file).split_inclusive('\n') {
        let word = line.split('#').next().unwrap_or_default();
        let indent = word.len() - word.trim_start().len();
        let word = word.trim();
        if !word.is_empty() {
            let from = start + indent as u32;
            let span = sources.span(file).slice(from, from + word.len() as u32);
            match read_host(word, span) {
                Ok(host) => hosts.push(host),
                Err(diagnostic) => diagnostics.push(*diagnostic),
            }
        }
        start += line.len() as u32;
    }
    if hosts.is_empty() && diagnostics.is_empty() {
        let message = format!("there is no host in `{}`", sources.name(file));
        let none = Diagnostic::nowhere(Severity::Error, "cluster/no-host", message);
        diagnostics.push(none.hint(format!("{ACCEPTED_FORMS}; one per line")));
    }
    (hosts, diagnostics)
}

fn read_host(word: &str, span: Span) -> Result<Host, Box<Diagnostic>> {
    // The colons of an IPv6 address are inside brackets.
    let end = word.find(']').map_or(0, |bracket| bracket + 1);
    let colon = word[end..].find(':').map(|colon| end + colon);
    let (name, port) = match colon {
        Some(colon) => (&word[..colon], Some(&word[colon + 1..])),
        None => (word, None),
    };
    let not_a_host = || Diagnostic::error("cluster/not-a-host", span, format!("`{word}` is not a host"));
    if word.parse::<Ipv6Addr>().is_ok() {
        // The last group could also be a port.
        return Err(not_a_host().hint(format!("write an IPv6 address in brackets: [{word}]")).into());
    }
    if name.contains('@') {
        let help = "put the login name into the settings of ssh, or use `--launcher \"ssh -l NAME\"`";
        return Err(not_a_host().hint(help).into());
    }
    if !is_name(name) && !is_bracketed(name) {
        return Err(not_a_host().hint(ACCEPTED_FORMS).into());
    }
    let port = match port.map(|text| (text, text.parse::<u16>())) {
        None => None,
        Some((_, Ok(port))) if port > 0 => Some(port),
        Some((text, _)) => {
            let port_span = span.slice((word.len() - text.len()) as u32, word.len() as u32);
            let message = format!("`{text}` is not a port; a port is a number from 1 to 65535");
            return Err(Diagnostic::error("cluster/not-a-port", port_span, message).into());
        }
    };
    Ok(Host { name: name.to_string(), port })
}

/// Whether this is a host name or an IPv4 address. A leading dash is refused, because a launcher would read
/// an option.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['-', '.'])
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

/// Whether this is an IPv6 address in brackets.
fn is_bracketed(name: &str) -> bool {
    let inside = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    inside.is_some_and(|inside| inside.parse::<Ipv6Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<(String, Option<u16>)>, Vec<String>) {
        let mut sources = Sources::default();
        let file = sources.add("hosts.txt", text).unwrap();
        let (hosts, diagnostics) = read_hosts(&sources, file);
        let reported = diagnostics.iter().map(|d| {
            let location = d.primary.as_ref().map(|label| {
                let (from, _) = sources.locate(label.span);
                format!("{}:{} `{}` ", from.line, from.column, sources.slice(label.span))
            });
            format!("{}{}", location.unwrap_or_default(), d.code)
        });
        (hosts.into_iter().map(|host| (host.name, host.port)).collect(), reported.collect())
    }

    #[test]
    fn hosts() {
        //                text                     name            port
        for (text, name, port) in [
            ("node1", "node1", None),
            ("  node1:9000\t# the fast one", "node1", Some(9000)),
            ("10.0.0.1:1", "10.0.0.1", Some(1)),
            ("[::1]", "[::1]", None),
            ("[2001:db8::7]:65535\r\n", "[2001:db8::7]", Some(65535)),
            ("#\n\nrechner-ö.example_1", "rechner-ö.example_1", None),
        ] {
            assert_eq!(read(text), (vec![(name.to_string(), port)], vec![]), "{text:?}");
        }
    }

    #[test]
    fn invalid_hosts_are_reported() {
        //   text, diagnostics
        for (text, expected) in [
            ("", &["cluster/no-host"][..]),
            ("# a\n\n", &["cluster/no-host"]),
            ("a\n  b c\nd:x", &["2:3 `b c` cluster/not-a-host", "3:3 `x` cluster/not-a-port"]),
            ("-oProxyCommand=x", &["1:1 `-oProxyCommand=x` cluster/not-a-host"]),
            ("a:0", &["1:3 `0` cluster/not-a-port"]),
            ("a:", &["1:3 `` cluster/not-a-port"]),
            ("a:70000", &["1:3 `70000` cluster/not-a-port"]),
            ("a:-1", &["1:3 `-1` cluster/not-a-port"]),
            (":9", &["1:1 `:9` cluster/not-a-host"]),
            ("me@a", &["1:1 `me@a` cluster/not-a-host"]),
            ("::1", &["1:1 `::1` cluster/not-a-host"]),
            ("2001:db8::1:9000", &["1:1 `2001:db8::1:9000` cluster/not-a-host"]),
            ("[::1", &["1:1 `[::1` cluster/not-a-host"]),
            ("[a]:9", &["1:1 `[a]:9` cluster/not-a-host"]),
            ("[fe80::1%eth0]:9", &["1:1 `[fe80::1%eth0]:9` cluster/not-a-host"]),
            ("[::1]9", &["1:1 `[::1]9` cluster/not-a-host"]),
            ("n\u{fffd}de:9", &["1:1 `n\u{fffd}de:9` cluster/not-a-host"]),
        ] {
            assert_eq!(read(text).1, expected, "{text:?}");
        }
    }
}
