//! Races of made-up programs: what is told is taken at its word, and lanes break.
#![cfg(unix)]

use std::fs;

use masque_verdict::Show;

use super::*;
use crate::load_text;
use crate::request::Work;

/// A system with two properties, of which the first holds.
const MODEL: &str = "
    Agent Light
      Vars: on : boolean; end Vars
      Actions = {wait, switch};
      Protocol: Other : {wait, switch}; end Protocol
      Evolution: on = ~on if Action = switch; end Evolution
    end Agent
    Evaluation lit if Light.on; end Evaluation
    InitStates !Light.on; end InitStates
    Formulae EX lit; AX lit; end Formulae";

fn options() -> EngineOptions {
    EngineOptions { evidence: Show::All, ..EngineOptions::default() }
}

fn task(options: EngineOptions) -> Task {
    let (name, text, request) = ("m.ispl".to_string(), MODEL.to_string(), Request::default());
    Task { name, text, request, options, timeout: None, memory: None }
}

/// What an engine of ours tells, line by line.
fn told(engine: &str) -> Vec<String> {
    let options = EngineOptions { choice: EngineChoice::from_name(engine).unwrap(), ..options() };
    let mut out = Vec::new();
    lane(&serde_json::to_string(&task(options)).unwrap(), &mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_string).collect()
}

/// A race whose lanes are shell scripts: the explicit one, and the symbolic one. `$1` is what an
/// engine would tell, line by line.
fn run(explicit: &str, symbolic: &str, limits: &Limits) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("told");
    fs::write(&path, told("explicit").join("\n") + "\n").unwrap();
    let script = format!(
        "read -r task
         case \"$task\" in *'\"choice\":\"explicit\"'*) {explicit} ;; *) {symbolic} ;; esac"
    );
    let args = ["-c", &script, "lane", path.to_str().unwrap()].map(str::to_string).to_vec();
    let work = Work { jobs: NonZeroUsize::new(2), engine: EngineChoice::Race, ..Work::default() };
    let loaded = load_text("m.ispl", MODEL, &Request { work, ..Request::default() });
    race_of(&Program { path: "sh".into(), args }, &loaded, limits, &mut |_| ()).unwrap()
}

fn verdicts(run: &Run) -> String {
    run.decisions.iter().map(|decided| decided.verdict.to_string()).collect::<Vec<_>>().join(" ")
}

/// What is told is what is heard.
#[test]
fn news_arrive_as_they_were_sent() {
    for engine in ["explicit", "symbolic"] {
        let lines = told(engine);
        for (number, line) in lines.iter().enumerate() {
            let news: News = serde_json::from_str(line).unwrap();
            if number + 1 == lines.len() {
                assert!(matches!(news, News::End));
                continue;
            }
            assert_eq!(serde_json::to_string(&news).unwrap(), *line);
        }
        assert!(lines.len() > 4, "{lines:?}");
    }
}

#[rustfmt::skip]
#[test]
fn the_first_complete_answer_counts() {
    let check = |explicit: &str, symbolic: &str, expected: &str, because: &str| {
        let run = run(explicit, symbolic, &Limits::default());
        assert_eq!(verdicts(&run), expected, "{because}");
        run
    };
    const ALL: &str = "cat $1";
    const FIRST: &str = "head -n 2 $1; echo '{\"Event\":{\"Stopped\":{\"why\":\"Memory\",\"states\":7,\"bytes\":null}}}'; echo '\"End\"'";
    const FAR: &str = "echo '{\"Event\":{\"Remarks\":[2,[]]}}'; cat $1";
    //    explicit                   symbolic                 expected                 because
    check(ALL,                       "exec sleep 1000",       "holds fails",           "the slow one is ended");
    check("exec sleep 1000",         ALL,                     "holds fails",           "whoever is first");
    check("exit 101",                ALL,                     "holds fails",           "a bug is no answer");
    check("echo oops",               ALL,                     "holds fails",           "nor is nonsense");
    check(FAR,                       ALL,                     "holds fails",           "nor is one about a third property");
    check("head -n 2 $1",            ALL,                     "holds fails",           "nor is half an answer");
    check("head -n 2 $1; exit 101",  FIRST,                   "holds unknown(memory)", "what a lane with a bug has told is forgotten");
    check(FIRST,                     "kill -9 $$",            "holds unknown(memory)", "what any has decided is decided");
    let run = check(FIRST,           FIRST,                   "holds unknown(memory)", "limits are kept");
    assert_eq!((run.explored, &run.states), (Some(7), &Some(2_u64.into())));
    assert!(run.decisions[0].evidence.is_some());
}

/// A lane that withholds evidence is no winner as long as another may have some; if none has, its verdicts
/// stand.
#[test]
fn withheld_evidence_is_waited_for() {
    const LYING: &str =
        "sed 's/\"evidence\":{.*}},\"withheld\":null/\"evidence\":null},\"withheld\":\"made up\"/' $1";
    let run = run(LYING, "sleep 0.3; cat $1", &Limits::default());
    assert_eq!(verdicts(&run), "holds fails");
    assert!(run.decisions.iter().all(|decided| decided.withheld.is_none()));
    let run = super::tests::run(LYING, LYING, &Limits::default());
    assert_eq!(verdicts(&run), "holds fails");
    assert!(run.decisions.iter().all(|decided| decided.withheld.as_deref() == Some("made up")));
    assert_eq!(run.states, Some(2_u64.into()));
}

#[test]
fn limits_end_a_race() {
    let later = Instant::now() + Duration::from_millis(50);
    let limits = Limits { deadline: Some(later), ..Limits::default() };
    let run = run("head -n 2 $1; exec sleep 1000", "exec sleep 1000", &limits);
    assert_eq!(verdicts(&run), "holds unknown(timeout)");
    let limits = Limits::default();
    limits.interrupt.store(true, Ordering::Relaxed);
    let run = super::tests::run("exec sleep 1000", "exec sleep 1000", &limits);
    assert_eq!(verdicts(&run), "unknown(interrupted) unknown(interrupted)");
}

#[test]
#[should_panic(expected = "all engines of a race ended with a bug")]
fn a_bug_of_all_is_a_bug() {
    run("exit 101", "exit 101", &Limits::default());
}

#[test]
fn a_program_that_does_not_exist_is_an_error() {
    let (engine, program) = (EngineChoice::Race, Some("/nowhere/masque".into()));
    let work = Work { engine, program, ..Work::default() };
    let loaded = load_text("m.ispl", MODEL, &Request { work, ..Request::default() });
    assert!(crate::check(&loaded, &Limits::default(), &mut |_| ()).is_err());
}

/// All lanes together keep to the memory, and have as many threads as there may be.
#[test]
fn lanes_share_what_there_is() {
    let limits = Limits { memory: Some(1200), ..Limits::default() };
    //           jobs  lanes  the explicit engine's threads
    for (jobs, n_lanes, n_threads) in [(1, 2, 1), (2, 2, 1), (3, 3, 1), (4, 3, 2), (8, 3, 6)] {
        let tasks = tasks(&limits, &task(EngineOptions { jobs: NonZeroUsize::new(jobs), ..options() }));
        assert_eq!(
            (tasks.len(), tasks[0].options.jobs.map(NonZeroUsize::get)),
            (n_lanes, Some(n_threads)),
            "{jobs}"
        );
        assert!(tasks.iter().all(|task| task.memory == Some(1200 / n_lanes as u64)), "{jobs}");
    }
}
