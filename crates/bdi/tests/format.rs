//! The formatter: snapshots, and what must hold for all files.

mod support;

use std::fs;
use std::path::Path;

use fastrand::Rng;
use masque_bdi::{format, parse};
use masque_testkit::structure;
use masque_text::Sources;
use support::formulas::expression;
use support::random;

fn formatted(text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add("test.bdi", text).unwrap();
    format(&sources, file).unwrap()
}

/// Formats, and checks that the same is read, that a second time changes nothing, and that no line
/// ends in a blank.
fn formats_well(text: &str) -> String {
    let result = formatted(text);
    let squeeze = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(squeeze(&result), squeeze(text));
    assert_eq!(formatted(&result), result, "{text}");
    assert!(result.lines().all(|line| line.trim_end() == line), "{result}");
    let tree = |text: &str| {
        let mut sources = Sources::default();
        let file = sources.add("test.bdi", text).unwrap();
        let (tree, _) = parse(&sources, file);
        structure(&tree)
    };
    assert_eq!(tree(text), tree(&result), "{text}\n{result}");
    result
}

#[test]
fn a_file_laid_out_badly() {
    let text = "// news\nagent   snd is var p,q , n:0..7 ,m : {a,b};\nbdi B(rcv,p|q)=D(rcv,EF p)&p;\n\
        fair ( p|q );\ninit forall p in AP:p:=false;\nloop\ndo read(p);\n\n\n\nif p&!B(rcv,p) then{\n\
        do putmsg(inform(snd,rcv,!p));// tell\n(B(rcv,p):=true)|(n:=-1+n-1)\n}else if !p then skip\nendloop\n\
        view B(rcv) in snd is loop skip endloop mas=snd||rcv;top snd; option nesting=2;\n\
        property P1 initially in top.B(rcv):AF(p|E[p U !q])->\n!n>=3;check serial B(rcv) in snd;\n/* the end */";
    insta::assert_snapshot!(formats_well(text));
}

#[test]
fn all_files_and_random_systems() {
    let mut n_files = 0;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in [root.join("tests/conformance"), root.join("../../models/bdi")] {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "bdi") {
                formats_well(&fs::read_to_string(&path).unwrap());
                n_files += 1;
            }
        }
    }
    assert!(n_files >= 15);
    for seed in 60_000..60_200 {
        formats_well(&random::system(seed).0);
    }
}

#[test]
fn random_formulas() {
    for seed in 0..100 {
        let mut random = Rng::with_seed(seed);
        let formulas = (0..10).map(|n| format!("property p{n}: {};", expression(&mut random, 4)));
        formats_well(&formulas.collect::<Vec<String>>().join("\n"));
    }
}
