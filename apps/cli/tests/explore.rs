//! `masque explore` over plain HTTP: its door, its pages, reloading, cancelling, the simulator, and its end.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Maximum time for something that takes a moment, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

const LAMP: &str = "-- <script>alert(1)</script>
Agent Lamp
  Vars: on : boolean; end Vars
  Actions = {switch, wait};
  Protocol: Other : {switch, wait}; end Protocol
  Evolution: on = true if on = false and Action = switch; end Evolution
end Agent
InitStates Lamp.on = false; end InitStates
Formulae
  possible: EF Lamp.on;
  never: AG !Lamp.on;
end Formulae
";

/// Five counters of 60 values each, which change independently: a check takes minutes.
const COUNTERS: &str = "
Agent Counter[i in 1..5]
  Vars: c : 0..59; end Vars
  Actions = {step, wait};
  Protocol: Other : {step, wait}; end Protocol
  Evolution: c = c + 1 if c < 59 and Action = step; end Evolution
end Agent
InitStates forall(i in 1..5 : Counter[i].c = 0); end InitStates
Formulae AG Counter[1].c < 60; end Formulae
";

/// A running `masque explore`.
struct Server {
    child: Child,
    port: u16,
    /// The token and the number of a tab, with slashes around them.
    base: String,
    _folder: Option<TempDir>,
}

/// A response: its status, its header in lower case, and its body.
struct Response {
    status: u16,
    header: String,
    body: String,
}

impl Server {
    fn start(files: &[&Path], options: &[&str]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
        command.arg("explore").args(files).args(options).arg("--no-open");
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let rest = line.trim().strip_prefix("open http://127.0.0.1:").unwrap_or_else(|| panic!("{line}"));
        let (port, base) = rest.split_once('/').unwrap();
        let port = port.parse().unwrap();
        let mut server = Server { child, port, base: format!("/{base}"), _folder: None };
        server.base = server.new_tab();
        server
    }

    /// Explores a text in a file of its own.
    fn of_text(name: &str, text: &str, options: &[&str]) -> (Server, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let mut server = Server::start(&[&path], options);
        server._folder = Some(folder);
        (server, path)
    }

    /// The address of a new tab.
    fn new_tab(&self) -> String {
        let token = self.base.split('/').nth(1).unwrap();
        let response = self.request("GET", &format!("/{token}/"), "", "");
        assert_eq!(response.status, 303, "{}", response.body);
        response.header.lines().find_map(|line| line.strip_prefix("location: ")).unwrap().to_string()
    }

    fn send(&self, request: &str) -> Response {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        let (header, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = header.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let body = if header.to_lowercase().contains("transfer-encoding: chunked") {
            unchunked(body)
        } else {
            body.to_string()
        };
        Response { status, header: header.to_lowercase(), body }
    }

    fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> Response {
        let length = body.len();
        self.send(&format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}",
            self.port
        ))
    }

    fn get(&self, path: &str) -> String {
        let response = self.request("GET", &format!("{}{path}", self.base), "", "");
        assert_eq!(response.status, 200, "{path}: {}", response.body);
        response.body
    }

    /// Sends a form, and returns the page that it leads to.
    fn post(&self, path: &str, body: &str) -> String {
        let response = self.request("POST", &format!("{}{path}", self.base), "", body);
        assert_eq!(response.status, 303, "{path}: {}", response.body);
        let location = response.header.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
        let page = self.request("GET", location, "", "");
        assert_eq!(page.status, 200, "{location}");
        page.body
    }

    /// Loads a page again and again until it contains a text.
    fn wait_for(&self, path: &str, text: &str) -> String {
        let start = Instant::now();
        loop {
            let page = self.get(path);
            if page.contains(text) {
                return page;
            }
            assert!(start.elapsed() < PATIENCE, "no `{text}` on {path}:\n{page}");
            sleep(Duration::from_millis(50));
        }
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// The processes that the server has started.
    fn children(&self) -> Vec<u32> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let lists = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
        lists
            .flat_map(|list| list.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<_>>())
            .collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn unchunked(text: &str) -> String {
    let (mut rest, mut out) = (text, String::new());
    while let Some((size, tail)) = rest.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size, 16) else { break };
        // Chunks are counted in bytes, and the text may have been cut inside a character.
        let Some(chunk) = tail.get(..size) else { return out + tail };
        out += chunk;
        rest = tail[size..].trim_start_matches("\r\n");
    }
    out
}

/// Whether a process exists and is not a zombie.
fn is_alive(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn only_requests_with_the_token_of_this_origin_are_answered() {
    let (server, _) = Server::of_text("lamp.ispl", LAMP, &[]);
    let token = server.base.split('/').nth(1).unwrap().to_string();
    let paths = [
        "/",
        "/style.css",
        "/app.js",
        "/events",
        "/evidence/1",
        "/simulate",
        "/graph",
        "/protocol",
        "/worlds",
        "/copy",
        "/1/",
        "/1/app.js",
        "/1/events",
        "/1/simulate/reset",
        "/x/y",
        "/favicon.ico",
    ];
    for path in paths {
        for path in
            [path.to_string(), format!("/{}{path}", "0".repeat(token.len())), format!("{path}?token={token}")]
        {
            for method in ["GET", "POST", "OPTIONS"] {
                let response = server.request(method, &path, "", "");
                assert_eq!(response.status, 401, "{method} {path}");
                assert!(!response.header.contains("access-control"), "{path}");
            }
        }
    }
    let home = server.base.clone();
    let refused = |headers: &str| server.request("GET", &home, headers, "").status;
    assert_eq!(refused("Origin: http://evil.example\r\n"), 403);
    assert_eq!(refused("Origin: null\r\n"), 403);
    // A browser sends forms of these pages with a hidden origin, because of their referrer policy.
    for (site, status) in [("same-origin", 200), ("same-site", 403), ("cross-site", 403), ("none", 403)] {
        assert_eq!(refused(&format!("Origin: null\r\nSec-Fetch-Site: {site}\r\n")), status, "{site}");
    }
    let other = refused("Origin: http://evil.example\r\nSec-Fetch-Site: same-origin\r\n");
    assert_eq!(other, 403);
    assert_eq!(refused(&format!("Origin: http://127.0.0.1:{}\r\n", server.port)), 200);
    let other_host = format!("GET {home} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert_eq!(server.send(&other_host).status, 403);
    let page = server.request("GET", &home, "", "");
    assert!(page.header.contains("referrer-policy: no-referrer"), "{}", page.header);
    let policy = page.header.lines().find(|line| line.starts_with("content-security-policy:")).unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"), "{policy}");
    assert!(
        !policy.split(';').any(|part| part.contains("script-src") && part.contains("unsafe")),
        "{policy}"
    );
    // Nothing on a page comes from elsewhere.
    for path in ["", "evidence/1", "simulate", "graph?show=1", "style.css", "app.js"] {
        let body = server.get(path);
        let addresses = body.matches("http://").count() + body.matches("https://").count();
        assert_eq!(addresses, body.matches("http://www.w3.org/2000/svg").count(), "{path}");
    }
    let large = server.request("POST", &format!("{home}simulate/formula"), "", &"x".repeat(100_000));
    assert_eq!(large.status, 413);
}

#[test]
fn the_overview_follows_the_file() {
    let (server, path) = Server::of_text("lamp.ispl", LAMP, &[]);
    let page = server.wait_for("", ">fails<");
    assert!(page.contains(">possible<") && page.contains(">holds<") && page.contains("EF Lamp.on"), "{page}");
    // What the file contains is shown, not run.
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !page.contains("<script>alert"),
        "{page}"
    );
    fs::write(&path, LAMP.replace("AG !Lamp.on", "AG EF Lamp.on")).unwrap();
    server.wait_for("", "AG EF Lamp.on");
    let page = server.wait_for("", "Checked in");
    assert!(!page.contains(">fails<"), "{page}");
    fs::write(&path, LAMP.replace("end Agent", "")).unwrap();
    let page = server.wait_for("", "The model has errors");
    assert!(page.contains("class=\"error\"") && page.contains("lamp.ispl"), "{page}");
    server.get("simulate");
    server.get("graph?show=1");
    server.get("evidence/1");
    fs::write(&path, LAMP).unwrap();
    server.wait_for("", ">fails<");
}

#[test]
fn parameters_are_changed_on_the_page() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/ispl/dining_cryptographers.ispl");
    let text = fs::read_to_string(path).unwrap();
    let (server, _) = Server::of_text("dc.ispl", &text, &[]);
    let page = server.wait_for("", "Checked in");
    let name =
        page.split("id=\"parameter-").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_string();
    server.post("parameters", &format!("{name}=5&unknown=7"));
    let page = server.wait_for("", &format!("value=\"5\" id=\"parameter-{name}\""));
    assert!(page.contains("Crypt"), "{page}");
    let page = server.post("parameters", &format!("{name}=4"));
    assert!(page.contains("Overview"), "{page}");
    server.wait_for("", &format!("value=\"4\" id=\"parameter-{name}\""));
}

#[test]
fn evidence_shows_the_formula_at_a_state() {
    let (server, _) = Server::of_text("lamp.ispl", LAMP, &[]);
    server.wait_for("", ">fails<");
    let page = server.get("evidence/2");
    assert!(
        page.contains("<svg") && page.contains("data-state=\"1\"") && page.contains("type=\"range\""),
        "{page}"
    );
    let part = server.get("evidence/2/state/1?before=0");
    assert!(part.contains("is-true") && part.contains("Lamp.on") && part.contains("changed"), "{part}");
    assert!(part.contains("Simulate from here"), "{part}");
    let page = server.post("simulate/follow", "property=1&run=0&position=1");
    assert!(page.contains("State 1"), "{page}");
    assert!(server.get("evidence/2/state/99").contains("no such state"));
    assert!(server.get("evidence/99").contains("no property"));
    // The slider begins at the step of the selected state.
    let page = server.get("evidence/2?state=1");
    assert!(page.contains("step 1 of 1") && page.contains("value=\"1\""), "{page}");
    assert!(page.contains("data-selected=\"1\""), "{page}");
}

/// A verdict without evidence shows the initial state and the truth of the formula there.
#[test]
fn a_verdict_at_the_initial_state_shows_that_state() {
    let folder = tempfile::tempdir().unwrap();
    let (aut, mu) = (folder.path().join("ring.aut"), folder.path().join("ring.mu"));
    fs::write(&aut, "des (0, 2, 2)\n(0, \"go\", 1)\n(1, \"back\", 0)\n").unwrap();
    fs::write(&mu, "first : <\"back\"> true ;\nalways : AG (<\"go\"> true or <\"back\"> true) ;\n").unwrap();
    let server = Server::start(&[&aut, &mu], &[]);
    server.wait_for("", "Checked in");
    let page = server.get("evidence/1");
    assert!(page.contains("Initial state") && page.contains("The formula here"), "{page}");
    assert!(page.contains("is-false") && page.contains("Simulate from here"), "{page}");
    let page = server.get("evidence/2");
    assert!(page.contains("Initial state") && page.contains("is-true"), "{page}");
    // The formula is true, its part `<"go"> true` is, too, and its part `<"back"> true` is false.
    assert_eq!([page.matches("is-true").count(), page.matches("is-false").count()], [3, 1], "{page}");
    assert!(server.get("evidence/2?initial=7").contains("no such initial state"));
}

/// Where the middle of a long run is left out of the drawing, its last states keep their numbers.
#[test]
fn states_after_a_gap_keep_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let (aut, mu) = (folder.path().join("line.aut"), folder.path().join("line.mu"));
    let steps: String = (0..60).map(|state| format!("({state}, \"s{state}\", {})\n", state + 1)).collect();
    fs::write(&aut, format!("des (0, 60, 61)\n{steps}")).unwrap();
    fs::write(&mu, "late : EF <\"s58\"> true ;\n").unwrap();
    let server = Server::start(&[&aut, &mu], &[]);
    server.wait_for("", "Checked in");
    let page = server.get("evidence/1");
    assert!(page.contains("left out") && page.contains("data-state=\"58\">\n<title>58"), "{page}");
    let part = server.get("evidence/1/state/58");
    assert!(part.contains("<dd>58") && part.contains("is-true"), "{part}");
}

/// The evidence of a BDI property begins in the world of the property.
#[test]
fn states_of_other_worlds_are_found_in_their_worlds() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let server = Server::start(&[&models.join("bdi/news_figure2.bdi")], &[]);
    server.wait_for("", "Checked in");
    let page = server.get("evidence/1");
    let part = server.get("evidence/1/state/0");
    assert!(part.contains("is-false") && !part.contains("another world"), "{part}");
    assert!(part.matches("<code>").count() > 1, "{part}");
    let last = page.matches("<g class=\"state\"").count() - 1;
    let part = server.get(&format!("evidence/1/state/{last}"));
    assert!(part.contains("<dd>protocol.B(rcv)") && part.contains("another world"), "{part}");
    assert!(server.get(&format!("evidence/1/state/{}", last + 1)).contains("no such state"));
}

#[test]
fn a_walk_is_saved_and_replayed() {
    let (server, path) = Server::of_text("lamp.ispl", LAMP, &[]);
    server.wait_for("", ">fails<");
    let page = server.post("simulate/reset", "");
    assert!(page.contains("Initial states"), "{page}");
    let page = server.post("simulate/begin", "index=0");
    assert!(page.contains("State 0") && page.contains("switch") && page.contains("wait"), "{page}");
    let page = server.post("simulate/step", "index=0");
    assert!(page.contains("State 1") && page.contains("class=\"changed\""), "{page}");
    let page = server.post("simulate/formula", "formula=K%28Lamp%2C+Lamp.on%29");
    assert!(page.contains("K(Lamp, Lamp.on)") && page.contains("is-true"), "{page}");
    let page = server.post("simulate/formula", "formula=EF+Lamp.of");
    assert!(page.contains("remark error"), "{page}");
    let page = server.get("simulate?alike=Lamp");
    assert!(page.contains("considers") && page.contains("this state"), "{page}");
    assert!(server.get("simulate?why&property=0").contains("<pre"), "{page}");
    let page = server.post("simulate/go", "position=0");
    assert!(page.contains("State 0"), "{page}");
    let page = server.post("simulate/path", "formula=Lamp.on");
    assert!(page.contains("State 1"), "{page}");
    let page = server.post("simulate/random", "steps=5");
    assert!(page.contains("6 steps"), "{page}");
    let trace = path.with_file_name("walk.itf.json");
    fs::write(&trace, server.get("simulate/walk.itf.json")).unwrap();
    let replay =
        Command::new(env!("CARGO_BIN_EXE_masque")).arg("replay").args([&path, &trace]).output().unwrap();
    assert!(replay.status.success(), "{}", String::from_utf8_lossy(&replay.stdout));
    // A change of the file keeps the walk, as far as it is possible.
    fs::write(&path, LAMP.replace("possible:", "likely:")).unwrap();
    server.wait_for("", ">likely<");
    assert!(server.get("simulate").contains("6 steps"));
    fs::write(&path, LAMP.replace("on = true if", "on = false if")).unwrap();
    server.wait_for("simulate", "The walk ends after 0 of 6 steps");
}

#[test]
fn a_long_check_is_cancelled() {
    let (server, _) = Server::of_text("counters.ispl", COUNTERS, &["--engine", "explicit"]);
    server.wait_for("", "cancel-check");
    server.post("cancel-check", "");
    let page = server.wait_for("", "was cancelled");
    assert!(page.contains("Check again"), "{page}");
    server.post("check-again", "");
    server.wait_for("", "cancel-check");
}

#[test]
fn the_server_ends_without_leaving_a_process() {
    for (signal, is_sudden) in [("-INT", false), ("-TERM", false), ("-KILL", true)] {
        let (mut server, _) = Server::of_text("lamp.ispl", LAMP, &[]);
        server.wait_for("", ">fails<");
        server.get("simulate");
        let children = server.children();
        assert_eq!(children.len(), 2, "one process checks, one answers questions");
        server.signal(signal);
        let status = server.child.wait().unwrap();
        assert_eq!(status.success(), !is_sudden, "{signal}: {status}");
        wait_until("a process is left", || !children.iter().any(|&child| is_alive(child)));
    }
}

/// The pages of each language answer.
#[test]
fn every_language_has_its_pages() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let found = |name: &str, ext: &str| {
        let folder = models.join(name);
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
        files.sort();
        files.into_iter().find(|path| path.extension().is_some_and(|found| found == ext)).unwrap()
    };
    let ring = tempfile::tempdir().unwrap();
    let (aut, mu) = (ring.path().join("ring.aut"), ring.path().join("ring.mu"));
    fs::write(&aut, "des (0, 3, 2)\n(0, \"<script>\", 1)\n(1, \"back\", 0)\n(1, \"stay\", 1)\n").unwrap();
    fs::write(&mu, "live : AG <\"back\"> true ;\n").unwrap();
    let bdi = found("bdi", "bdi");
    let lcc = ["travel.lcc", "travel_team.lcc", "travel.mu"].map(|name| models.join("lcc").join(name));
    for files in [vec![bdi.as_path()], vec![&aut, &mu], lcc.iter().map(PathBuf::as_path).collect()] {
        let server = Server::start(&files, &[]);
        server.wait_for("", "Checked in");
        let page = server.post("simulate/random", "steps=3");
        assert!(page.contains("State ") && !page.contains("<script>\""), "{page}");
        let trace = ring.path().join("walk.itf.json");
        fs::write(&trace, server.get("simulate/walk.itf.json")).unwrap();
        let mut replay = Command::new(env!("CARGO_BIN_EXE_masque"));
        let replay = replay.arg("replay").args(&files).arg(&trace).output().unwrap();
        let text = String::from_utf8_lossy(&replay.stdout) + String::from_utf8_lossy(&replay.stderr);
        assert!(replay.status.success(), "{files:?}: {text}");
        let page = server.get("graph?show=1");
        assert!(page.contains("class=\"node"), "{files:?}");
        server.get("evidence/1");
    }
}

/// A protocol is stepped through, and a rule is switched off and on.
#[test]
fn rules_of_a_protocol_are_switched() {
    let text = "a(reader, R) :: null <- open(F) then opened(F) => a(clerk, C).
        a(clerk, C) :: opened(F) <= a(reader, R).
        agent a(reader, rita).  agent a(clerk, carl).  know rita: open(diary).
        rule archive: (S, _, +open(_)) <- member(S).  know archive: member(rita).
        property ends : AF final ;";
    let (server, _) = Server::of_text("archive.lcc", text, &[]);
    server.wait_for("", ">holds<");
    let page = server.post("simulate/begin", "index=0&to=%2Fprotocol");
    assert!(page.contains("can act") && page.contains("carl waits for"), "{page}");
    let page = server.post("simulate/step", "index=0&to=%2Fprotocol");
    assert!(page.contains("after 1 step") && page.contains("<svg"), "{page}");
    let statement = "statement=know+archive%3A+member%28rita%29.";
    let page = server.post("protocol/switch", statement);
    assert!(
        page.contains("was holds") && page.contains("aria-checked=\"false\"") && page.contains("1 off"),
        "{page}"
    );
    // Another tab has its own choice, and the walk of this one is kept.
    let other = server.request("GET", &format!("{}protocol", server.new_tab()), "", "").body;
    assert!(!other.contains("was holds") && !other.contains("after 1 step"), "{other}");
    let page = server.post("protocol/undo", "");
    assert!(!page.contains("was holds") && page.contains("after 1 step"), "{page}");
    assert!(server.post("protocol/switch", statement).contains("was holds"));
    assert!(!server.post("protocol/all", "").contains("was holds"));
    // A text that is no statement of the protocol switches nothing.
    assert!(!server.post("protocol/switch", "statement=rule+x.").contains("aria-checked=\"false\""));
}

/// Statements of imported files are switched, with the properties that the options select or add.
#[test]
fn statements_of_imported_files_are_switched() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    let files = [
        (
            "sub/clauses.lcc",
            "a(reader, R) :: null <- open(F) then opened(F) => a(clerk, C).
            a(clerk, C) :: opened(F) <= a(reader, R).
            rule archive: (S, _, +open(_)) <- member(S).  import \"../facts.pol\".",
        ),
        ("facts.pol", "know rita: open(diary).  know archive: member(rita)."),
        ("ends.mu", "ends : AF final ;\nloops : AG !final ;"),
        (
            "main.lcc",
            "import \"sub/clauses.lcc\".  import \"ends.mu\".  agent a(reader, rita).  agent a(clerk, carl).",
        ),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let main = folder.path().join("main.lcc");
    for (options, names, changed) in [
        (&[][..], &["ends", "loops"][..], 2),
        (&["--only", "loops"], &["loops"], 1),
        (&["--property", "EF final"], &["ends", "loops", "EF final"], 3),
    ] {
        let server = Server::start(&[&main], options);
        server.wait_for("", "Checked in");
        let page = server.post("protocol/switch", "statement=know+archive%3A+member%28rita%29.");
        assert_eq!(page.matches("was ").count(), changed, "{options:?}: {page}");
        let overview = server.get("evidence");
        assert!(names.iter().all(|name| overview.contains(name)), "{options:?}: {overview}");
        assert!(page.contains("know rita: open(diary).") && page.contains("1 off"), "{page}");
    }
}

/// A browser that closes its connection before the reply leaves nothing behind for the next request.
#[test]
fn an_abandoned_question_does_not_answer_the_next() {
    let (server, _) = Server::of_text("counters.ispl", COUNTERS, &["--engine", "explicit"]);
    server.wait_for("", "cancel-check");
    let begin = server.request("POST", &format!("{}simulate/begin", server.base), "", "index=0");
    assert_eq!(begin.status, 303);
    for _ in 0..3 {
        // The truth of the property is searched for when the connection is closed.
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let request =
            format!("GET {}simulate HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server.base, server.port);
        stream.write_all(request.as_bytes()).unwrap();
        sleep(Duration::from_millis(300));
    }
    let page = server.get("graph?show=1");
    assert!(page.contains("class=\"node"), "{page}");
}
