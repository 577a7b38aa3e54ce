//! The program on files: answers and exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Files of a test, in a folder of its own.
struct Files(tempfile::TempDir);

const MODEL: &str = "\
Agent A
  Vars: on : boolean; end Vars
  Actions = {wait, switch};
  Protocol: Other : {wait, switch}; end Protocol
  Evolution: on = ~on if Action = switch; end Evolution
end Agent
Evaluation lit if A.on; end Evaluation
InitStates !A.on; end InitStates
Formulae EF lit; end Formulae
";

/// A certificate for `EF lit`, written by hand.
fn proof(layers: &str) -> String {
    let digest = masque_certificate::digest([MODEL]);
    format!(
        "masque.certificate/1\nmodel {digest}\nat initial\ndeadlock finite\noverflow drop\n\
         strategies perfect\nverdict holds\ntitle 1\nformula EF(lit)\nbit 0 A.on\naction 0 A\n\
         nodes 1\n0 f t\ninv t\nreached \nclaims 1\nclaim of=- {layers}\nroot 0\nend\n"
    )
}

impl Files {
    fn new() -> Files {
        let files = Files(tempfile::tempdir().unwrap());
        files.write("lamp.ispl", MODEL);
        files
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn run(&self, files: &[&Path]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_masque-certify"));
        let Output { status, stdout, stderr } =
            command.current_dir(self.0.path()).args(files).output().unwrap();
        let text = [stdout, stderr].concat();
        (status.code().unwrap(), String::from_utf8(text).unwrap())
    }
}

#[test]
fn a_proof_by_hand_is_confirmed() {
    let files = Files::new();
    let path = files.write("p", &proof("layers=1,-1"));
    let (code, text) = files.run(&[Path::new("lamp.ispl"), &path]);
    assert!(text.contains("confirmed: lamp.ispl, property 1 holds: EF(lit) (at=initial"), "{text}");
    assert_eq!(code, 0);
}

#[test]
fn wrong_layers_are_refused_with_a_state() {
    let files = Files::new();
    let path = files.write("p", &proof("layers=-1,1"));
    let (code, text) = files.run(&[Path::new("lamp.ispl"), &path]);
    assert!(text.contains("E(f U g), for EF(lit)\n  at A.on=false"), "{text}");
    assert_eq!(code, 1);
}

#[test]
fn files_that_do_not_fit_are_bad_input() {
    let files = Files::new();
    let good = files.write("p", &proof("layers=1,-1"));
    let lamp = Path::new("lamp.ispl");
    let other = files.write("other.ispl", &MODEL.replace("!A.on", "A.on"));
    let (code, text) = files.run(&[&other, &good]);
    assert!(text.contains("was written for another model than"), "{text}");
    assert_eq!(code, 2);
    let cases = [
        (proof("layers=1,-1").replace("nodes 1", "nodes 2"), "line 14: expected a place in the order"),
        (proof("layers=1,-2"), "line 17: expected a set: `t`, `f`, or the number of a node before"),
        (
            proof("layers=1,-1").replace("root 0", "root 7"),
            "line 18: expected the number of a claim before, or `-`",
        ),
        (proof("layers=1,-1").replace("bit 0 A.on\n", ""), "a node tests a bit of a variable in the order"),
        (proof("layers=1,-1").replace("EF(lit)", "EF(lit"), "expected"),
        (proof("layers=1,-1").replace("at initial", "at all"), "is not one of initial, reachable"),
    ];
    for (text, expected) in cases {
        let path = files.write("p", &text);
        let (code, text) = files.run(&[lamp, &path]);
        assert!(text.contains(expected), "{text}");
        assert_eq!(code, 2, "{text}");
    }
    assert_eq!(files.run(&[lamp]).0, 2);
    assert_eq!(files.run(&[&good]).0, 2);
    assert_eq!(files.run(&[Path::new("--timeout"), Path::new("soon")]).0, 2);
}

#[test]
fn a_limit_is_exit_code_3() {
    let files = Files::new();
    let path = files.write("p", &proof("layers=1,-1"));
    let (code, text) = files.run(&[Path::new("--timeout"), Path::new("0"), Path::new("lamp.ispl"), &path]);
    assert!(code == 3 || code == 0, "{text}");
    let large = MODEL.replace("on : boolean;", "on : boolean; n : 0..100000;");
    let large = large.replace("on = ~on if Action = switch;", "on = ~on if Action = switch and n > 7;");
    let model = files.write("large.ispl", &large);
    let bits: String = (0..17).map(|power| format!("bit {power} A.n\n")).collect();
    let text = proof("layers=1,-1")
        .replace(&masque_certificate::digest([MODEL]), &masque_certificate::digest([large.as_str()]))
        .replace("action 0 A\n", &format!("action 0 A\n{bits}"));
    let path = files.write("q", &text);
    let (code, text) = files.run(&[&model, &path]);
    assert!(text.contains("an expression has too many values"), "{text}");
    assert_eq!(code, 3);
}
