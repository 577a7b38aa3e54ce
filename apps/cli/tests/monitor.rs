//! `masque monitor`: the logs of the agent team, text and JSON, bad input, enforcement, and exit codes.

use std::path::{Path, PathBuf};

use masque_cli::{Context, Exit};
use masque_report::{Detail, Text};
use serde_json::Value;

use crate::support::outcome;

/// The folder of this repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn context(detail: Detail) -> Context {
    Context { text: Text { detail, ..Text::default() }, ..Context::default() }
}

/// Runs `masque monitor` on the agent team and one of its logs.
fn team(log: &str, words: &[&str], detail: Detail) -> (String, Exit) {
    let path = |name: &str| root().join(name).display().to_string();
    let (model, goals) = (path("models/lcc/llm_team.lcc"), path("examples/monitor/goals.mu"));
    let (map, log) = (path("examples/monitor/team.toml"), path(&format!("examples/monitor/{log}")));
    let all = ["monitor", &model, &goals, "--map", &map, "--input", &log];
    let words: Vec<&str> = all.into_iter().chain(words.iter().copied()).collect();
    let (text, exit) = outcome(&words, &context(detail));
    (text.replace(&format!("{}/", root().display()), ""), exit)
}

macro_rules! logs {
    ($($name:ident: $log:literal, $detail:ident, $exit:ident;)*) => {$(
        #[test]
        fn $name() {
            let (text, exit) = team($log, &[], Detail::$detail);
            insta::with_settings!({ description => concat!("masque monitor .. --input ", $log), omit_expression => true }, {
                insta::assert_snapshot!(text);
            });
            assert_eq!(exit, Exit::$exit);
        }
    )*};
}

logs! {
    a_good_log: "good.jsonl", Normal, AllHold;
    a_good_log_in_detail: "good.jsonl", Verbose, AllHold;
    a_merge_without_review: "unreviewed.jsonl", Normal, SomeFail;
    a_goal_is_lost: "given_up.jsonl", Normal, SomeFail;
    an_obligation_is_open: "unlogged.jsonl", Normal, SomeFail;
}
