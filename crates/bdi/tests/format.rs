//! The formatter: snapshots, and what must hold for every file.

use std::fs;
use std::path::Path;

use crate::support::formulas::expression;
use crate::support::random;
use fastrand::Rng;
use masque_bdi::{format, parse};
use masque_testkit::{LanguageUnderTest, files_below, structure, without_white_space};
use masque_text::Sources;

/// Formats a text and checks that the same tokens and the same tree are read.
fn formats_well(text: &str) -> String {
    let content = |text: &str| {
        let mut sources = Sources::default();
        let file = sources.add("test.bdi", text).unwrap();
        (without_white_space(text), structure(&parse(&sources, file).0))
    };
    LanguageUnderTest { prefix: "bdi/", format }.formats_well(text, content)
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [root.join("tests/conformance"), root.join("../../models/bdi")];
    let files: Vec<_> = folders.iter().flat_map(|folder| files_below(folder, &["bdi"])).collect();
    assert!(files.len() >= 15);
    for path in files {
        formats_well(&fs::read_to_string(&path).unwrap());
    }
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
