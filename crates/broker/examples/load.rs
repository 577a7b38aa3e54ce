//! The service under load, over HTTP on loopback: response times, no response lost or confused, clients that are
//! killed, random messages, hostile clients, silent connections.
//!
//! ```text
//! cargo run --release -p masque-broker --example load -- target/release/masque [ROUNDS]
//! ```
//!
//! The service runs in its own process, so that its memory can be measured. ROUNDS is the number of random
//! messages; the default is 100 000. With 0 rounds, only hostile clients and silent connections are measured.
//! The limit on open files must be above 10 100 (`ulimit -n`).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const TOKEN: &str = "0123456789abcdef";

fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1);
    let program = args.next().ok_or("the path of the program is needed")?;
    let rounds: u64 = args.next().map_or(Ok(100_000), |rounds| rounds.parse())?;
    let travel = travel()?;
    hostile(&program, &travel)?;
    silent(&program, &travel)?;
    if rounds == 0 {
        return Ok(());
    }
    let server = Server::start(&program, &["--states", "1000000000000", "--timeout", "20s"])?;
    for n_clients in [1, 8] {
        latency(&server, &travel, n_clients)?;
    }
    in_flight(&server)?;
    killed(&server)?;
    fuzz(&server, rounds)?;
    Ok(())
}

struct Server {
    child: Child,
    address: SocketAddr,
}

impl Drop for Server {
    /// Kills the service when this program ends, also after an error.
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Server {
    fn start(program: &str, options: &[&str]) -> Result<Server, Failure> {
        let mut child = Command::new(program)
            .args(["broker", "--listen", "127.0.0.1:0"])
            .args(options)
            .env("MASQUE_TOKEN", TOKEN)
            .stderr(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(child.stderr.take().ok_or("no output")?);
        let mut line = String::new();
        lines.read_line(&mut line)?;
        let address = line.trim().rsplit('/').next().ok_or("no address")?.parse()?;
        // Later output of the service is shown; it should not mention bugs.
        std::thread::spawn(move || lines.lines().map_while(Result::ok).for_each(|line| eprintln!("{line}")));
        Ok(Server { child, address })
    }

    fn connect(&self) -> Result<Connection, Failure> {
        Connection::new(self.address)
    }

    /// The bytes that the process uses.
    fn resident(&self) -> Result<u64, Failure> {
        let text = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id()))?;
        Ok(text.split_whitespace().nth(1).ok_or("no memory")?.parse::<u64>()? * 4096)
    }

    /// The largest number of bytes that the process has used so far.
    fn peak(&self) -> Result<u64, Failure> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no peak")?;
        Ok(line.trim().trim_end_matches("kB").trim().parse::<u64>()? * 1024)
    }

    /// A gauge or counter.
    fn metric(&self, name: &str) -> Result<u64, Failure> {
        let mut client = self.connect()?;
        client.send("GET /metrics", "")?;
        let (_, text) = client.receive()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        Ok(line.ok_or("no such metric")?.parse()?)
    }

    fn wait_for_quiet(&self) -> Result<(), Failure> {
        let end = Instant::now() + Duration::from_secs(30);
        while self.metric("masque_calls_open")? > 0 {
            if Instant::now() > end {
                return Err("calls are stuck".into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    fn new(address: SocketAddr) -> Result<Connection, Failure> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Connection { stream: BufReader::new(stream) })
    }

    fn send(&mut self, request: &str, body: &str) -> Result<(), Failure> {
        let length = body.len();
        let text = format!(
            "{request} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        Ok(self.stream.get_mut().write_all(text.as_bytes())?)
    }

    fn receive(&mut self) -> Result<(u16, String), Failure> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).ok_or("the connection is closed")?.parse()?;
        let mut length = 0;
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok((status, String::from_utf8(body)?))
    }

    fn call(&mut self, id: u64, method: &str, params: &Value) -> Result<Value, Failure> {
        self.send("POST /rpc", &message(id, method, params))?;
        let answer: Value = serde_json::from_str(&self.receive()?.1)?;
        match answer["id"] == id && answer["error"].is_null() {
            true => Ok(answer["result"].clone()),
            false => Err(format!("{method}: {answer}").into()),
        }
    }

    fn open(&mut self, text: &str) -> Result<String, Failure> {
        let opened = self.call(1, "open", &json!({"files": [{"name": "a.lcc", "text": text}]}))?;
        Ok(opened["session"].as_str().ok_or("no session")?.to_string())
    }
}

fn message(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// The travel example, as parameters of `open`.
fn travel() -> Result<Value, Failure> {
    let file = |name: &str| -> Result<Value, Failure> {
        let path = format!("{}/../../models/lcc/{name}", env!("CARGO_MANIFEST_DIR"));
        Ok(json!({"name": name, "text": std::fs::read_to_string(path)?}))
    };
    let names = ["travel", "travel_team", "f_member", "f_customer", "f_pgp", "f_x509"];
    let mut files: Vec<Value> =
        names.iter().map(|name| file(&format!("{name}.lcc"))).collect::<Result<_, _>>()?;
    files.push(file("rules.pol")?);
    Ok(json!({"files": files, "properties": [file("travel.mu")?]}))
}

/// Runs a function in several threads, and collects the results.
fn side_by_side<T: Send>(n: u64, work: impl Fn(u64) -> Result<T, Failure> + Sync) -> Result<Vec<T>, Failure> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..n).map(|own| scope.spawn(move || work(own))).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|done| done.map_err(|_| Failure::from("a client has panicked"))?).collect()
    })
}

/// The travel check: cold (in a new session, all eleven properties), and after a rule has changed.
fn latency(server: &Server, travel: &Value, n_clients: u64) -> Result<(), Failure> {
    const ROUNDS: u64 = 300;
    let member = json!(["know hd: member(ta, syta)."]);
    let times = side_by_side(n_clients, |_| {
        let mut client = server.connect()?;
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..ROUNDS {
            let opened = client.call(round, "open", travel)?;
            let session = &opened["session"];
            let start = Instant::now();
            let cold = client.call(round, "check", &json!({"session": session}))?;
            times[0].push(start.elapsed());
            client.call(round, "update", &json!({"session": session, "remove": member}))?;
            let start = Instant::now();
            let changed = client.call(round, "check", &json!({"session": session}))?;
            times[1].push(start.elapsed());
            let verdict = |checked: &Value| checked["answers"][3]["verdict"].clone();
            if (verdict(&cold), verdict(&changed)) != (json!("holds"), json!("fails")) {
                return Err(format!("wrong verdicts: {cold} {changed}").into());
            }
            client.call(round, "close", &json!({"session": session}))?;
        }
        Ok(times)
    })?;
    for (at, what) in ["travel check, cold", "travel check, a rule changed"].iter().enumerate() {
        let all: Vec<Duration> = times.iter().flat_map(|times| times[at].iter().copied()).collect();
        let [p50, p99, worst] = quantiles(all);
        println!("{what}, {n_clients} client(s): p50 {p50:.2} ms, p99 {p99:.2} ms, worst {worst:.2} ms");
    }
    Ok(())
}

/// The median, the 99th percentile and the maximum, in milliseconds.
fn quantiles(mut times: Vec<Duration>) -> [f64; 3] {
    times.sort_unstable();
    let last = times.len().saturating_sub(1);
    [500, 990, 1_000].map(|of| {
        let time = times.get((times.len() * of / 1_000).min(last));
        time.map_or(0.0, |time| time.as_secs_f64() * 1e3)
    })
}

/// Total memory of the service with hostile clients, in bytes.
const TOTAL_MEMORY: u64 = 512 << 20;
/// Bytes by which the memory of the process may exceed that.
const PROCESS_MEMORY: u64 = 64 << 20;

/// A text of 4 MB whose time to load is quadratic: one agent in very many first roles.
fn slow_text() -> String {
    format!("a(r(X), R) :: null. {}", "agent a(r(X), one). ".repeat(200_000))
}

/// A text of 4 MB whose memory to load is quadratic: many owners extend a recursion through negation.
fn large_text() -> String {
    let common = (0..60_000).map(|i| format!("common q <- r{i}. common r{i} <- p. "));
    let owners = (0..60_000).map(|i| format!("know o{i}: q <- p. "));
    let text: String = common.chain(owners).collect();
    format!("a(x, A) :: null. agent a(x, a1). common p <- not q. {text}")
}

/// A check that ends by its time limit and needs ever more memory.
const COUNTER: &str = "a(counter(N), C) :: null <- M is N + 1 then a(counter(M), C).
    agent a(counter(0), c). option states = 1000000000. property never : AG !done(c) ;";

/// Two hostile `open`s and two expensive checks run all the time. An honest client checks a changing session.
fn hostile(program: &str, travel: &Value) -> Result<(), Failure> {
    const TIME: Duration = Duration::from_secs(20);
    let total = format!("{TOTAL_MEMORY}B");
    let options =
        ["--workers", "4", "--timeout", "5s", "--states", "1000000000000", "--total-memory", &total];
    let server = Server::start(program, &options)?;
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let is_running = || !is_over.load(std::sync::atomic::Ordering::Relaxed);
    let repeat_open = |text: String| -> Result<(), Failure> {
        let params = json!({"files": [{"name": "hostile.lcc", "text": text}]});
        while is_running() {
            let mut client = server.connect()?;
            // The result is an error: a limit is exceeded.
            _ = client.call(1, "open", &params);
        }
        Ok(())
    };
    let repeat_check = || -> Result<(), Failure> {
        while is_running() {
            let mut client = server.connect()?;
            let session = client.open(COUNTER)?;
            _ = client.call(1, "check", &json!({"session": session}));
            _ = client.call(1, "close", &json!({"session": session}));
        }
        Ok(())
    };
    let honest = || -> Result<Vec<Duration>, Failure> {
        std::thread::sleep(Duration::from_secs(1));
        let mut client = server.connect()?;
        let session = client.call(1, "open", travel)?["session"].clone();
        let member = json!(["know hd: member(ta, syta)."]);
        let mut times = Vec::new();
        let end = Instant::now() + TIME;
        for round in (0..).take_while(|_| Instant::now() < end) {
            std::thread::sleep(Duration::from_millis(2));
            let change = if round % 2 == 0 { "remove" } else { "add" };
            for (method, params) in [
                ("update", json!({"session": session, change: member})),
                ("check", json!({"session": session, "property": "deadlock_free"})),
                ("moves", json!({"session": session})),
            ] {
                let start = Instant::now();
                client.call(round, method, &params)?;
                times.push(start.elapsed());
            }
            // A new client opens a session of its own.
            let start = Instant::now();
            let mut visitor = server.connect()?;
            let opened = visitor.call(round, "open", travel)?;
            times.push(start.elapsed());
            visitor.call(round, "close", &json!({"session": opened["session"]}))?;
        }
        Ok(times)
    };
    let times = std::thread::scope(|scope| {
        let hostile = [
            scope.spawn(|| repeat_open(slow_text())),
            scope.spawn(|| repeat_open(large_text())),
            scope.spawn(repeat_check),
            scope.spawn(repeat_check),
        ];
        let times = honest();
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        hostile.into_iter().for_each(|thread| _ = thread.join());
        times
    })?;
    let n_calls = times.len();
    let [p50, p99, worst] = quantiles(times);
    println!(
        "2 hostile opens and 2 expensive checks, {n_calls} honest calls: p50 {p50:.2} ms, p99 {p99:.2} ms, \
         worst {worst:.2} ms"
    );
    check_peak(&server)?;
    if p99 < 100.0 { Ok(()) } else { Err("the honest client waits for too long".into()) }
}

/// Prints the peak of the memory, and fails if it is too large.
fn check_peak(server: &Server) -> Result<(), Failure> {
    let peak = server.peak()?;
    let over = (peak as f64 - TOTAL_MEMORY as f64) / 1e6;
    println!("  peak memory {:.1} MB, {over:+.1} MB relative to --total-memory", peak as f64 / 1e6);
    if peak <= TOTAL_MEMORY + PROCESS_MEMORY { Ok(()) } else { Err("that is too much memory".into()) }
}

/// Ten thousand connections that stay silent, and an honest client that connects afterwards.
fn silent(program: &str, travel: &Value) -> Result<(), Failure> {
    const CONNECTIONS: usize = 10_000;
    let total = format!("{TOTAL_MEMORY}B");
    let server = Server::start(program, &["--total-memory", &total])?;
    let start = Instant::now();
    let mut silent = Vec::new();
    for _ in 0..CONNECTIONS {
        silent.push(TcpStream::connect(server.address)?);
    }
    let connected = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let mut client = server.connect()?;
    let opened = client.call(1, "open", travel)?;
    client.call(2, "check", &json!({"session": opened["session"]}))?;
    let served = start.elapsed().as_secs_f64();
    println!(
        "{CONNECTIONS} silent connections made in {connected:.2} s; an honest client is served in {served:.3} s"
    );
    check_peak(&server)?;
    if served < 1.0 { Ok(()) } else { Err("the honest client waits for too long".into()) }
}

/// Eight clients with 125 connections each: every response belongs to its own request.
fn in_flight(server: &Server) -> Result<(), Failure> {
    let start = Instant::now();
    let answers = side_by_side(8, |own| {
        let mut clients = Vec::new();
        for _ in 0..125 {
            let mut client = server.connect()?;
            // The first request with the token takes a seat.
            client.send("GET /health", "")?;
            client.receive()?;
            clients.push(client);
        }
        let text = format!(
            "a(hen, H) :: egg{own} => a(farmer, F). a(farmer, F) :: egg{own} <= a(hen, H).
             agent a(hen, h). agent a(farmer, f)."
        );
        let session = clients[0].open(&text)?;
        let mut n_answers = 0;
        for round in 0..10 {
            let id = |at: usize| own * 1_000_000 + round * 1_000 + at as u64;
            for (at, client) in clients.iter_mut().enumerate() {
                client.send("POST /rpc", &message(id(at), "moves", &json!({"session": session})))?;
            }
            for (at, client) in clients.iter_mut().enumerate() {
                let answer: Value = serde_json::from_str(&client.receive()?.1)?;
                let is_own = answer["result"]["moves"][0]["message"] == format!("egg{own}");
                if answer["id"] != id(at) || !is_own {
                    return Err(format!("crossed: {answer}").into());
                }
                n_answers += 1;
            }
        }
        clients[0].call(1, "close", &json!({"session": session}))?;
        Ok(n_answers)
    })?;
    let (n, time) = (answers.iter().sum::<u64>(), start.elapsed().as_secs_f64());
    println!(
        "in flight, 8 clients with 125 connections each: {n} of 10000 answers, none crossed, {time:.1} s"
    );
    Ok(())
}

/// A client that is killed in the middle of a check, two hundred times.
fn killed(server: &Server) -> Result<(), Failure> {
    const ENDLESS: &str = "a(counter(N), C) :: null <- M is N + 1 then a(counter(M), C).
        agent a(counter(0), c). option states = 1000000000. property never : AG !done(c) ;";
    let kill = |n: usize| -> Result<(), Failure> {
        for round in 0..n {
            let mut client = server.connect()?;
            let session = client.open(ENDLESS)?;
            client.send("POST /rpc", &message(1, "check", &json!({"session": session})))?;
            // While the call waits, at the beginning of its work, and in the middle.
            std::thread::sleep(Duration::from_millis(round as u64 % 10));
            client.stream.get_ref().shutdown(Shutdown::Both)?;
            drop(client);
            server.connect()?.call(1, "close", &json!({"session": session}))?;
        }
        server.wait_for_quiet()
    };
    // The memory of a check at its cancellation varies, and the allocator keeps some of it for the next one. So
    // the minimum of several measurements is compared, before and after.
    let least = || -> Result<u64, Failure> {
        let readings = (0..5).map(|_| kill(40).and_then(|()| server.resident()));
        Ok(readings.collect::<Result<Vec<_>, _>>()?.into_iter().min().unwrap_or_default())
    };
    // Each of the service's threads keeps memory of the largest check it has run.
    kill(1500)?;
    let before = least()?;
    let after = least()?;
    let (sessions, calls) = (server.metric("masque_sessions")?, server.metric("masque_calls_open")?);
    let grown = (after as f64 - before as f64) / 1e6;
    println!(
        "200 clients killed: {grown:+.2} MB (now {:.1} MB), {sessions} sessions, {calls} calls left",
        after as f64 / 1e6
    );
    if grown >= 10.0 || sessions + calls > 0 {
        return Err("that is too much".into());
    }
    Ok(())
}

/// Messages with random changes: each gets a response in time, and none reports a bug.
fn fuzz(server: &Server, rounds: u64) -> Result<(), Failure> {
    let start = Instant::now();
    let statuses = side_by_side(4, |own| {
        let mut random = fastrand::Rng::with_seed(own);
        let mut client = server.connect()?;
        let mut session = client.open(READER)?;
        let mut n_ok = 0_u64;
        for round in 0..rounds / 4 {
            if round % 1_000 == 999 {
                // Sessions that the random messages opened are closed.
                _ = client.call(1, "close", &json!({"session": session}));
                session = client.open(READER)?;
            }
            let text = mutated(&mut random, &session);
            client.send("POST /rpc", &text)?;
            let (status, body) = client.receive()?;
            if !matches!(status, 200 | 204) || body.contains("-32603") {
                return Err(format!("seed {own}, round {round}: {text}: {status} {body}").into());
            }
            n_ok += u64::from(body.contains("\"result\""));
            if let Some(opened) = body.split("\"session\":\"").nth(1).filter(|_| body.contains("\"agents\""))
            {
                let opened = opened.split('"').next().unwrap_or_default();
                client.call(1, "close", &json!({"session": opened}))?;
            }
        }
        Ok(n_ok)
    })?;
    server.wait_for_quiet()?;
    let n_ok: u64 = statuses.iter().sum();
    let (bugs, time) = (server.metric("masque_bugs_total")?, start.elapsed().as_secs_f64());
    println!(
        "{rounds} random messages: {n_ok} answered with a result, the others with errors, {bugs} bugs, {time:.0} s"
    );
    if bugs > 0 { Err("there are bugs".into()) } else { Ok(()) }
}

const READER: &str = "a(reader, R) :: null <- open(F) then opened(F) => a(clerk, C).
    a(clerk, C) :: opened(F) <= a(reader, R).
    agent a(reader, rita). agent a(clerk, carl). know rita: open(diary). know rita: open(ledger).
    rule archive: (S, _, +open(_)) <- member(S). know archive: member(rita).
    property ends : AF final ;";

/// A message with up to three random changes.
fn mutated(random: &mut fastrand::Rng, session: &str) -> String {
    let texts = [
        "know rita: x.",
        "common y(Z) <- z(Z) and not x.",
        "rule archive: (S, _, -open(F)) <- late(F).",
        "choice rita: open/1.",
        "now a(reader, rita) :: nil.",
        "mail a(reader, rita) -> a(clerk, carl) : opened(diary).",
        "nu X. mu Y. <#(open(_))>X || [-in(opened(_))@carl]Y",
    ];
    let some = |random: &mut fastrand::Rng| texts[random.usize(..texts.len())];
    let (method, params) = match random.u8(..11) {
        0 => ("check", json!({"session": session, "evidence": random.bool(), "limits": {"states": 1000}})),
        1 => ("check", json!({"session": session, "formula": some(random)})),
        2 => ("explain", json!({"session": session, "formula": some(random)})),
        3 => ("update", json!({"session": session, "add": [some(random)], "remove": [some(random)]})),
        4 => ("advance", json!({"session": session, "event": {"message": "opened(_)", "from": "rita"}})),
        5 => ("advance", json!({"session": session, "pattern": "#(open(_))@rita"})),
        6 => ("place", json!({"session": session, "statements": [some(random), some(random)]})),
        7 => {
            ("open", json!({"files": [{"name": "b.lcc", "text": READER}], "options": {"cap": random.u8(..)}}))
        }
        8 => ("cancel", json!({"session": session})),
        9 => ("moves", json!({"session": session})),
        _ => ("state", json!({"session": session})),
    };
    let mut bytes = message(random.u64(..1_000), method, &params).into_bytes();
    for _ in 0..random.usize(..4) {
        let at = random.usize(..bytes.len());
        match random.u8(..9) {
            0 | 1 => bytes[at] = random.u8(..128),
            2 => bytes.truncate(at),
            3 | 4 => bytes.insert(at, b"{}[]\",:\\0-.e()_<>=+*&|"[random.usize(..22)]),
            5 | 6 => _ = bytes.remove(at),
            _ => {
                let part = bytes[at..(at + random.usize(..30)).min(bytes.len())].to_vec();
                bytes.splice(at..at, part);
            }
        }
        if bytes.is_empty() {
            bytes.push(b'[');
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
