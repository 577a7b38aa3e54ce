//! `masque check --certify`, `--certified`, and `masque certify`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A game with knowledge, norms and uniform strategies. That there is none, the last verdict, has no certificate.
const MODEL: &str = "\
Agent Environment
  Obsvars: seen : boolean; end Obsvars
  Vars: coin : 0..2; end Vars
  Actions = {keep, turn};
  Protocol: Other : {keep, turn}; end Protocol
  Evolution: coin = (coin + 1) mod 3 if Action = turn; seen = (coin = 2) if Action = keep; end Evolution
end Agent
Agent Player
  Vars: tries : 0..2; end Vars
  Actions = {wait, look};
  RedStates: tries = 2; end RedStates
  Protocol: Other : {wait, look}; end Protocol
  Evolution: tries = tries + 1 if Action = look; end Evolution
end Agent
Evaluation tails if Environment.coin = 2; seen if Environment.seen; end Evaluation
InitStates Environment.coin = 0 and Player.tries = 0 and !Environment.seen; end InitStates
Groups all = {Environment, Player}; end Groups
Formulae
  AG (EF (K(Player, tails) or !K(Player, tails)));
  AG !K(Player, tails);
  <all> F tails;
  E((!seen) U tails);
  O(Player, !tails);
  AG (tails -> <all, uniform-joint> F seen);
  <Player, uniform> G !seen;
end Formulae
";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        std::fs::write(folder.path("coin.ispl"), MODEL).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn masque(&self, args: &[&str]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
        let Output { status, stdout, stderr } =
            command.current_dir(self.0.path()).args(args).output().unwrap();
        (status.code().unwrap(), String::from_utf8([stdout, stderr].concat()).unwrap())
    }
}

#[test]
fn certificates_are_written_and_confirmed() {
    let folder = Folder::new();
    for engine in ["explicit", "symbolic"] {
        let (code, text) = folder.masque(&["check", "coin.ispl", "--certify", "proofs", "--engine", engine]);
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("6 certificates written, 1 not certified"), "{text}");
        assert!(
            text.contains("not certified: certificates do not cover claims that no uniform strategy exists"),
            "{text}"
        );
        let proofs: Vec<String> = (1..=6).map(|n| format!("proofs/coin-{n}.certificate")).collect();
        let proofs: Vec<&str> = proofs.iter().map(String::as_str).collect();
        let (code, text) = folder.masque(&[&["certify", "coin.ispl"], &proofs[..]].concat());
        assert_eq!(code, 0, "{text}");
        assert_eq!(text.matches(": confirmed: coin.ispl, property ").count(), 6, "{text}");
        // The opposite verdict, and another model.
        for proof in &proofs {
            let proof = std::fs::read_to_string(folder.path(proof)).unwrap();
            let opposite = if proof.contains("verdict holds") { "verdict fails" } else { "verdict holds" };
            let wrong = proof.replace("verdict holds", opposite).replace("verdict fails", opposite);
            std::fs::write(folder.path("wrong"), wrong).unwrap();
            let (code, text) = folder.masque(&["certify", "coin.ispl", "wrong"]);
            assert!(code == 1 && text.contains("refused: coin.ispl"), "{text}");
        }
        std::fs::write(folder.path("other.ispl"), MODEL.replace("= 2", "= 1")).unwrap();
        assert_eq!(folder.masque(&["certify", "other.ispl", proofs[0]]).0, 2);
    }
}

#[test]
fn certified_verdicts_say_so() {
    let folder = Folder::new();
    let (code, text) = folder.masque(&["check", "coin.ispl", "--certified"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("holds (certified)") && text.contains("fails (certified)"), "{text}");
    assert!(text.contains("6 certified, 1 not certified"), "{text}");
    assert!(!Path::new(&folder.path("proofs")).exists());
    let (_, text) = folder.masque(&["check", "coin.ispl", "--certified", "--format", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    let properties = report["runs"][0]["properties"].as_array().unwrap();
    let certified = properties.iter().filter(|property| property["certified"] == true).count();
    assert_eq!((certified, properties.len()), (6, 7));
    let why = &properties[6]["not_certified"];
    assert_eq!(why, "certificates do not cover claims that no uniform strategy exists");
    let (code, _) = folder.masque(&["check", "coin.ispl", "--certified", "--quick"]);
    assert_eq!(code, 2);
}

/// Parameters, options and imports are part of what is confirmed.
#[test]
fn parameters_and_options_are_confirmed() {
    let folder = Folder::new();
    let text = format!("param N = 2;\nimport \"coin.ispl\";\n{}", "");
    std::fs::write(folder.path("main.ispl"), text).unwrap();
    let args =
        ["check", "main.ispl", "-D", "N=5", "--deadlock", "stutter", "--at", "reachable", "--certified"];
    let (code, text) = folder.masque(&args);
    assert!(text.contains("(certified)"), "{code} {text}");
    let (_, _) = folder.masque(&[&args[..8], &["--certify", "proofs"]].concat());
    let (code, text) = folder.masque(&["certify", "main.ispl", "proofs/main-1.certificate"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("(at=reachable deadlock=stutter overflow=drop strategies=perfect N=5)"), "{text}");
}

/// What has no certificate: the reason for each verdict, the number in the summary, and both in JSON.
#[rustfmt::skip]
#[test]
fn verdicts_without_certificate_say_why() {
    let folder = Folder::new();
    let (model, formulas) = MODEL.split_once("Formulae\n").unwrap();
    let fair = format!("{model}Fairness seen; end Fairness\nFormulae\n  <all> F tails;\n  <all, uniform> F tails;\n  EF seen;\nend Formulae\n");
    let paths = format!("{model}Formulae\n  LTL F tails;\n  CTL* E(G F seen);\n  EF seen;\nend Formulae\n");
    assert!(formulas.contains("uniform"));
    let texts = [
        ("fair.ispl", fair.as_str()),
        ("paths.ispl", paths.as_str()),
        ("farm.lcc", "a(hen, H) :: null. agent a(hen, h). property ends : AF final ;"),
    ];
    for (name, text) in texts {
        std::fs::write(folder.path(name), text).unwrap();
    }
    for file in ["tests/models/lamp.aut", "tests/models/lamp.mu", "../../models/bdi/trader.bdi"] {
        std::fs::copy(file, folder.path(file.rsplit('/').next().unwrap())).unwrap();
    }
    let check = |files: &[&str], certified: usize, reason: &str, n_missing: usize| {
        let (_, text) = folder.masque(&[&["check", "--certified"], files].concat());
        assert_eq!(text.matches(&format!("not certified: {reason}\n")).count(), n_missing, "{text}");
        let some = if certified > 0 { format!("{certified} certified, ") } else { String::new() };
        assert!(text.contains(&format!("{some}{n_missing} not certified")), "{text}");
        let (_, text) = folder.masque(&[&["check", "--certify", "proofs", "--format", "json"], files].concat());
        let report: Value = serde_json::from_str(&text).unwrap();
        let properties = report["runs"][0]["properties"].as_array().unwrap();
        let missing = properties.iter().filter(|property| property["not_certified"] == reason);
        assert_eq!(missing.count(), n_missing, "{text}");
        let written = properties.iter().filter(|property| property["certificate"].is_string());
        assert_eq!(written.count(), certified, "{text}");
    };
    //    files                             certified  reason                                                      without
    check(&["fair.ispl"],                   1,         "certificates do not cover coalitions with fairness",       2);
    check(&["paths.ispl"],                  1,         "certificates do not cover path formulas of LTL and CTL*",  2);
    check(&["coin.ispl", "--engine", "race"], 0,       "the engine that decided it writes no certificates",        7);
    check(&["coin.ispl", "--processes", "2"], 0,       "the engine that decided it writes no certificates",        7);
    check(&["farm.lcc"],                    0,         "certificates do not cover LCC files",                      1);
    check(&["lamp.aut", "lamp.mu"],         0,         "certificates do not cover AUT files",                      4);
    check(&["trader.bdi"],                  0,         "certificates do not cover BDI files",                      12);
}
