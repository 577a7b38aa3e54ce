//! Races of made-up programs: what is told is taken at its word, and lanes break.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::time::Duration;

use masque_verdict::Show;

use super::wire::{News, Task};
use super::*;
use crate::{EngineChoice, load_text};

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

/// What an engine of ours tells, line by line.
fn told(engine: &str) -> Vec<String> {
    let task = Task::new("m.ispl", MODEL, Request::default(), &options());
    let task = Task { engine: engine.to_string(), ..task };
    let mut out = Vec::new();
    lane(&serde_json::to_string(&task).unwrap(), &mut out).unwrap();
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
         case \"$task\" in *'\"engine\":\"explicit\"'*) {explicit} ;; *) {symbolic} ;; esac"
    );
    let args = ["-c", &script, "lane", path.to_str().unwrap()];
    let loaded = load_text("m.ispl", MODEL, &Request::default());
    let options = EngineOptions { jobs: NonZeroUsize::new(2), ..EngineChoice::Race.into() };
    race((Path::new("sh"), &args), (&loaded, &Request::default()), &options, limits, &mut |_| ()).unwrap()
}

fn verdicts(run: &Run) -> String {
    run.decided.iter().map(|decided| decided.outcome.verdict.to_string()).collect::<Vec<_>>().join(" ")
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
            let again = News::of(news.event(2).unwrap()).unwrap();
            assert_eq!(serde_json::to_string(&again).unwrap(), *line);
        }
        assert!(lines.len() > 4, "{lines:?}");
    }
    let far = News::Vacuous(2, Vec::new());
    assert!(far.event(2).is_none(), "there is no third property");
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
    const FIRST: &str = "head -n 2 $1; echo '{\"Stopped\":{\"why\":\"memory\",\"states\":7,\"bytes\":null}}'; echo '\"End\"'";
    //    explicit                   symbolic                 expected                 because
    check(ALL,                       "exec sleep 1000",       "holds fails",           "the slow one is ended");
    check("exec sleep 1000",         ALL,                     "holds fails",           "whoever is first");
    check("exit 101",                ALL,                     "holds fails",           "a bug is no answer");
    check("echo oops",               ALL,                     "holds fails",           "nor is nonsense");
    check("head -n 2 $1",            ALL,                     "holds fails",           "nor is half an answer");
    check("head -n 2 $1; exit 101",  FIRST,                   "holds unknown(memory)", "what a lane with a bug has told is forgotten");
    check(FIRST,                     "kill -9 $$",            "holds unknown(memory)", "what any has decided is decided");
    let run = check(FIRST,           FIRST,                   "holds unknown(memory)", "limits are kept");
    assert_eq!((run.explored, run.states.as_deref()), (Some(7), Some("2")));
    assert!(run.decided[0].outcome.evidence.is_some());
}

/// A lane that withholds evidence is no winner as long as another may have some; if none has, its verdicts
/// stand.
#[test]
fn withheld_evidence_is_waited_for() {
    const LYING: &str =
        "sed 's/\"evidence\":{.*},\"withheld\":null/\"evidence\":null,\"withheld\":\"made up\"/' $1";
    let run = run(LYING, "sleep 0.3; cat $1", &Limits::default());
    assert_eq!(verdicts(&run), "holds fails");
    assert!(run.decided.iter().all(|decided| decided.withheld.is_none()));
    let run = super::tests::run(LYING, LYING, &Limits::default());
    assert_eq!(verdicts(&run), "holds fails");
    assert!(run.decided.iter().all(|decided| decided.withheld.as_deref() == Some("made up")));
    assert_eq!(run.states.as_deref(), Some("2"));
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
    let loaded = load_text("m.ispl", MODEL, &Request::default());
    let options = EngineOptions::from(EngineChoice::Race);
    let program = Path::new("/nowhere/masque");
    let result =
        race((program, &[]), (&loaded, &Request::default()), &options, &Limits::default(), &mut |_| ());
    assert!(result.is_err());
}

/// All lanes together keep to the memory, and have as many threads as there may be.
#[test]
fn lanes_share_what_there_is() {
    let limits = Limits { memory: Some(1200), ..Limits::default() };
    let common = Task::new("m.ispl", MODEL, Request::default(), &options());
    //           jobs  lanes  the explicit engine's threads
    for (jobs, n_lanes, n_threads) in [(1, 2, 1), (2, 2, 1), (3, 3, 1), (4, 3, 2), (8, 3, 6)] {
        let options = EngineOptions { jobs: NonZeroUsize::new(jobs), ..EngineChoice::Race.into() };
        let tasks = tasks(&options, &limits, &common);
        assert_eq!((tasks.len(), tasks[0].jobs.map(NonZeroUsize::get)), (n_lanes, Some(n_threads)), "{jobs}");
        assert!(tasks.iter().all(|task| task.memory == Some(1200 / n_lanes as u64)), "{jobs}");
    }
}
