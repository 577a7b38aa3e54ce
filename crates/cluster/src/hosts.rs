//! The file of `--cluster`: one worker process per line.

/// A machine that runs a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name or address: what the launcher is given, and where other workers find it.
    pub name: String,
    /// The port to listen at for other workers; any that is free if nothing is said.
    pub port: Option<u16>,
}

/// Reads `HOST` or `HOST:PORT` lines. Empty lines and those that begin with `#` are passed over. An
/// error is one line that says what is wrong and where.
///
/// ```
/// use masque_cluster::read_hosts;
/// let hosts = read_hosts("# the lab\nnode1\nnode2:9000\n[::1]:9001\n").unwrap();
/// assert_eq!((hosts[1].name.as_str(), hosts[1].port, hosts[2].name.as_str()), ("node2", Some(9000), "[::1]"));
/// assert_eq!(read_hosts("node1:x").unwrap_err(), "line 1: `x` is not a port; write HOST or HOST:PORT");
/// ```
pub fn read_hosts(text: &str) -> Result<Vec<Host>, String> {
    let mut hosts = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        hosts.push(read_host(line).map_err(|error| format!("line {number}: {error}"))?);
    }
    match hosts.is_empty() {
        false => Ok(hosts),
        true => Err("there is no host in it; write HOST or HOST:PORT, one in a line".to_string()),
    }
}

fn read_host(line: &str) -> Result<Host, String> {
    if line.contains(char::is_whitespace) {
        return Err(format!("`{line}` is not a host; write HOST or HOST:PORT"));
    }
    // Launchers take what begins with a dash for an option.
    if line.starts_with(['-', ':']) {
        return Err(format!("`{line}` is not a host; write HOST or HOST:PORT"));
    }
    // The colons of an IPv6 address are inside brackets.
    let has_port = line.rfind(':').filter(|&colon| line.rfind(']').is_none_or(|bracket| bracket < colon));
    let Some(colon) = has_port else { return Ok(Host { name: line.to_string(), port: None }) };
    let (name, port) = (&line[..colon], &line[colon + 1..]);
    match port.parse() {
        Ok(port) if port > 0 => Ok(Host { name: name.to_string(), port: Some(port) }),
        _ => Err(format!("`{port}` is not a port; write HOST or HOST:PORT")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_host_is_told() {
        //                text           said
        for (text, said) in [
            ("", "there is no host in it; write HOST or HOST:PORT, one in a line"),
            ("# a\n\n", "there is no host in it; write HOST or HOST:PORT, one in a line"),
            ("a\nb c", "line 2: `b c` is not a host; write HOST or HOST:PORT"),
            ("-oProxyCommand=x", "line 1: `-oProxyCommand=x` is not a host; write HOST or HOST:PORT"),
            ("a:0", "line 1: `0` is not a port; write HOST or HOST:PORT"),
            ("a:70000", "line 1: `70000` is not a port; write HOST or HOST:PORT"),
            (":9", "line 1: `:9` is not a host; write HOST or HOST:PORT"),
        ] {
            assert_eq!(read_hosts(text).unwrap_err(), said, "{text:?}");
        }
    }
}
