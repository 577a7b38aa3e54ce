//! Races between shell scripts that send prepared messages, and fail in various ways.
#![cfg(unix)]

use std::fs;

use masque_verdict::Show;

use super::*;
use crate::load_text;
use crate::request::{Request, Work};

/// A system with two properties: the first holds, the second fails.
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
    let model = SentModel::of_texts(&[("m.ispl", MODEL)], &Request::default());
    Task { model, options, timeout: None, memory: None }
}

/// The output of a real engine, line by line.
fn output(engine: &str) -> Vec<String> {
    let options = EngineOptions { choice: EngineChoice::from_name(engine).unwrap(), ..options() };
    let mut out = Vec::new();
    run_contender(&serde_json::to_string(&task(options)).unwrap(), &mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_string).collect()
}

/// A race between two shell scripts that stand for the explicit and the symbolic engine. The file `$1` has the
/// output of a real engine.
fn run(explicit: &str, symbolic: &str, limits: &Limits) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("output");
    fs::write(&path, output("explicit").join("\n") + "\n").unwrap();
    let script = format!(
        "read -r task
         case \"$task\" in *'\"choice\":\"explicit\"'*) {explicit} ;; *) {symbolic} ;; esac"
    );
    let args = ["-c", &script, "contender", path.to_str().unwrap()].map(str::to_string).to_vec();
    let work = Work { jobs: NonZeroUsize::new(2), engine: EngineChoice::Race, ..Work::default() };
    let loaded = load_text("m.ispl", MODEL, &Request { work, ..Request::default() });
    race_of(&Program { path: "sh".into(), args }, &loaded, limits, &mut |_| ()).unwrap()
}

fn verdicts(run: &Run) -> String {
    run.decisions.iter().map(|decided| decided.verdict.to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn messages_survive_serialisation() {
    for engine in ["explicit", "symbolic"] {
        let lines = output(engine);
        for (number, line) in lines.iter().enumerate() {
            let output: Output = serde_json::from_str(line).unwrap();
            if number + 1 == lines.len() {
                assert!(matches!(output, Output::End));
                continue;
            }
            assert_eq!(serde_json::to_string(&output).unwrap(), *line);
        }
        assert!(lines.len() > 4, "{lines:?}");
    }
}

#[rustfmt::skip]
#[test]
fn the_first_complete_result_counts() {
    let check = |explicit: &str, symbolic: &str, expected: &str, because: &str| {
        let run = run(explicit, symbolic, &Limits::default());
        assert_eq!(verdicts(&run), expected, "{because}");
        run
    };
    const ALL: &str = "cat $1";
    const FIRST: &str = "head -n 2 $1; echo '{\"Message\":{\"Stopped\":{\"why\":\"Memory\",\"states\":7,\"bytes\":null}}}'; echo '\"End\"'";
    const THIRD: &str = "echo '{\"Message\":{\"Remarks\":[2,[]]}}'; cat $1";
    //    explicit                   symbolic                 expected                 because
    check(ALL,                       "exec sleep 1000",       "holds fails",           "the slow contender is stopped");
    check("exec sleep 1000",         ALL,                     "holds fails",           "either contender can win");
    check("exit 101",                ALL,                     "holds fails",           "a crash is no result");
    check("echo oops",               ALL,                     "holds fails",           "nonsense is no result");
    check(THIRD,                     ALL,                     "holds fails",           "there is no third property");
    check("head -n 2 $1",            ALL,                     "holds fails",           "one of two verdicts is not complete");
    check("head -n 2 $1; exit 101",  FIRST,                   "holds unknown(memory)", "messages of a contender that crashes are discarded");
    check(FIRST,                     "kill -9 $$",            "holds unknown(memory)", "a verdict of any contender counts");
    let run = check(FIRST,           FIRST,                   "holds unknown(memory)", "the reason of a stop is kept");
    assert_eq!((run.explored, &run.states), (Some(7), &Some(2_u64.into())));
    assert!(run.decisions[0].evidence.is_some());
}

/// A contender that withholds evidence does not win while another may have some. If none has, its verdicts
/// stand.
#[test]
fn a_race_waits_for_evidence() {
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
fn limits_stop_a_race() {
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
fn a_race_panics_if_all_contenders_crash() {
    run("exit 101", "exit 101", &Limits::default());
}

#[test]
fn a_missing_program_is_an_error() {
    let (engine, program) = (EngineChoice::Race, Some("/nowhere/masque".into()));
    let work = Work { engine, program, ..Work::default() };
    let loaded = load_text("m.ispl", MODEL, &Request { work, ..Request::default() });
    assert!(crate::check(&loaded, &Limits::default(), &mut |_| ()).is_err());
}

#[test]
fn contenders_share_memory_and_threads() {
    //   jobs, contenders, threads of the explicit engine
    for (jobs, n_contenders, n_threads) in [(1, 2, 1), (2, 2, 1), (3, 3, 1), (4, 3, 2), (8, 3, 6)] {
        let common = task(EngineOptions { jobs: NonZeroUsize::new(jobs), ..options() });
        let tasks = tasks(&Task { memory: Some(1200), ..common });
        assert_eq!(
            (tasks.len(), tasks[0].options.jobs.map(NonZeroUsize::get)),
            (n_contenders, Some(n_threads)),
            "{jobs}"
        );
        assert!(tasks.iter().all(|task| task.memory == Some(1200 / n_contenders as u64)), "{jobs}");
    }
}
