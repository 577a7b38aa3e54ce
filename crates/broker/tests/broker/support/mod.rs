//! A service to test, and clients that use it over HTTP and over lines of text.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use masque_broker::{AccessRules, Config, Limits, Log, Service, Token, serve_http, serve_stdio};
use serde_json::{Value, json};

/// The token in all tests.
pub(crate) const TOKEN: &str = "0123456789abcdef";
/// A time limit that no test reaches.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// A protocol of two agents, with a rule and two properties.
pub(crate) const READER: &str = "a(reader, R) :: null <- open(F) then opened(F) => a(clerk, C).
    a(clerk, C) :: opened(F) <= a(reader, R).
    agent a(reader, rita).  agent a(clerk, carl).
    know rita: open(diary).  know rita: open(ledger).
    rule archive: (S, _, +open(_)) <- member(S).  know archive: member(rita).
    property ends : AF final ;
    property diary : EF <#(open(diary))>tt ;";

/// A counter whose check does not end within the tests.
pub(crate) const ENDLESS: &str = "a(counter(N), C) :: null <- M is N + 1 then a(counter(M), C).
    agent a(counter(0), c).  option states = 1000000000.
    property never : AG !done(c) ;";

/// A service without child processes.
pub(crate) fn service(limits: Limits) -> Arc<Service> {
    Service::new(Config { limits, log: Log::silent(), ..Config::default() }).unwrap()
}

/// A service over HTTP, until it is dropped.
pub(crate) struct Server {
    pub(crate) service: Arc<Service>,
    pub(crate) address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(limits: Limits) -> Server {
        Server::of(service(limits))
    }

    /// A service that reads imports below a folder.
    pub(crate) fn below(root: &Path, limits: Limits) -> Server {
        let root = Some(root.to_path_buf());
        Server::of(Service::new(Config { limits, log: Log::silent(), root, ..Config::default() }).unwrap())
    }

    fn of(service: Arc<Service>) -> Server {
        let served = Arc::clone(&service);
        let (sender, receiver) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = runtime();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                sender.send(address).unwrap();
                let token = Token::new(TOKEN).unwrap();
                serve_http(served, listener, AccessRules::new(address, &[], Some(token))).await;
            });
            runtime.shutdown_background();
        });
        Server { service, address: receiver.recv().unwrap(), thread: Some(thread) }
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::new(self.address, TOKEN)
    }

    /// Waits until a condition on the gauges is true.
    pub(crate) fn wait(&self, what: &str, is_so: impl Fn(masque_broker::Gauges) -> bool) {
        let end = Instant::now() + SOON;
        while !is_so(self.service.gauges()) {
            assert!(Instant::now() < end, "{what}: {:?}", self.service.gauges());
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.service.stop();
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || std::thread::panicking());
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A connection that is kept open.
pub(crate) struct Connection {
    pub(crate) stream: BufReader<TcpStream>,
    token: String,
    next: u64,
}

impl Connection {
    pub(crate) fn new(address: SocketAddr, token: &str) -> Connection {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        Connection { stream: BufReader::new(stream), token: token.to_string(), next: 0 }
    }

    /// Sends a request and does not wait for the response.
    pub(crate) fn send(&mut self, request: &str, headers: &[(&str, &str)], body: &[u8]) {
        let mut head = format!("{request} HTTP/1.1\r\n");
        let authorization = format!("Bearer {}", self.token);
        let length = body.len().to_string();
        let usual = [
            ("Host", "localhost"),
            ("Authorization", authorization.as_str()),
            ("Content-Type", "application/json"),
            ("Content-Length", length.as_str()),
        ];
        for (name, value) in usual.iter().filter(|(name, _)| headers.iter().all(|(own, _)| own != name)) {
            head += &format!("{name}: {value}\r\n");
        }
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            head += &format!("{name}: {value}\r\n");
        }
        head += "\r\n";
        let stream = self.stream.get_mut();
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
    }

    /// Reads a response: its status and body.
    pub(crate) fn receive(&mut self) -> (u16, String) {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no answer but {line:?}"));
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        (status, String::from_utf8(body).unwrap())
    }

    /// Sends a message and returns the response.
    pub(crate) fn post(&mut self, body: &str) -> (u16, String) {
        self.send("POST /rpc", &[], body.as_bytes());
        self.receive()
    }

    /// Makes a call and returns the whole response.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let (status, body) = self.post(&message(self.next, method, &params));
        assert_eq!(status, 200, "{body}");
        let answer: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(self.next)));
        answer
    }

    /// Makes a call that succeeds, and returns its result.
    pub(crate) fn ok(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.call(method, params);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Opens a session with an instance in one file.
    pub(crate) fn open(&mut self, text: &str) -> String {
        let opened = self.ok("open", json!({"files": [{"name": "a.lcc", "text": text}]}));
        opened["session"].as_str().unwrap().to_string()
    }
}

/// A call as a message.
pub(crate) fn message(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// A service on lines of text.
pub(crate) struct Lines {
    pub(crate) input: Option<PipeWriter>,
    pub(crate) output: BufReader<PipeReader>,
    thread: Option<JoinHandle<()>>,
}

impl Lines {
    pub(crate) fn start(service: Arc<Service>) -> Lines {
        let (their_input, input) = std::io::pipe().unwrap();
        let (output, their_output) = std::io::pipe().unwrap();
        let thread = std::thread::spawn(move || {
            let runtime = runtime();
            runtime.block_on(serve_stdio(service, BufReader::new(their_input), their_output)).unwrap();
            runtime.shutdown_background();
        });
        Lines { input: Some(input), output: BufReader::new(output), thread: Some(thread) }
    }

    pub(crate) fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?} is no answer"))
    }

    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.send(&message(1, method, &params));
        self.receive()
    }

    /// Closes the input and returns the remaining output.
    pub(crate) fn finish(mut self) -> Vec<Value> {
        drop(self.input.take());
        let mut said = String::new();
        self.output.read_to_string(&mut said).unwrap();
        self.thread.take().unwrap().join().unwrap();
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The travel example: protocol, team and rules, with properties, as parameters of `open`.
pub(crate) fn travel() -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/lcc/");
    let file = |name: &str| {
        let text = std::fs::read_to_string(format!("{folder}{name}")).unwrap();
        json!({"name": name, "text": text})
    };
    let facts = ["f_member.lcc", "f_customer.lcc", "f_pgp.lcc", "f_x509.lcc"];
    let files = ["travel.lcc", "travel_team.lcc", "rules.pol"].into_iter().chain(facts);
    json!({
        "files": files.map(file).collect::<Vec<_>>(),
        "properties": [file("travel.mu")],
    })
}
