//! Instances of several files: imports, and the detection of unrelated files.

use std::collections::BTreeSet;
use std::path::Path;

use fastrand::Rng;
use masque_lcc::{InstanceInput, NoFiles, OpenedInstance, Session, Setup, Text, format, open_with};
use masque_mu::{Space, check, read_formula};
use masque_testkit::{TextLibrary, seeds};
use masque_text::{Sources, render};
use masque_verdict::{Budget, Verdict};

/// Opens some texts of a library; the others can be imported.
fn opened(given: &[&str], library: &TextLibrary) -> (OpenedInstance, Sources) {
    let mut sources = Sources::default();
    let add = |name: &&str| sources.add(*name, library.0[Path::new(name)].as_str()).unwrap();
    let files = given.iter().map(add).collect();
    let opened = open_with(&mut sources, &InstanceInput { files, ..InstanceInput::default() }, library);
    (opened, sources)
}

fn codes(opened: &OpenedInstance) -> Vec<&'static str> {
    opened.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

fn names(opened: &OpenedInstance, sources: &Sources) -> Vec<String> {
    let files = opened.files.iter().chain(&opened.property_files);
    files.map(|file| sources.name(*file).to_string()).collect()
}

fn drawn(opened: &OpenedInstance, sources: &Sources) -> String {
    opened.diagnostics.iter().map(|diagnostic| render(sources, diagnostic, false)).collect()
}

const FARM: &str = "a(hen, H) :: egg => a(farmer, F). a(farmer, F) :: egg <= a(hen, H).";
const TEAM: &str = "agent a(hen, h). agent a(farmer, f).";

#[test]
fn one_file_can_import_a_whole_instance() {
    let main = format!("import \"lib/farm.lcc\". import 'goals.mu'. {TEAM}");
    let asks = FARM.replace("a(farmer, F).", "a(farmer, F) <- sunny and windy.");
    let library = TextLibrary::new(&[
        ("main.lcc", &main),
        ("lib/farm.lcc", &format!("import \"facts.pol\". import \"../more.pol\". {asks}")),
        ("lib/facts.pol", "import \"./../more.pol\". common sunny."),
        ("more.pol", "common windy."),
        ("goals.mu", "fed : inev(in(egg)) ;"),
    ]);
    let (opened, sources) = opened(&["main.lcc"], &library);
    assert_eq!(codes(&opened), [""; 0], "{}", drawn(&opened, &sources));
    let expected = ["main.lcc", "lib/farm.lcc", "lib/facts.pol", "lib/../more.pol", "goals.mu"];
    assert_eq!(names(&opened, &sources), expected);
    assert_eq!(opened.properties[0].source.name.text, "fed");
    assert!(opened.system.is_some());
}

/// A given file is not read again when it is imported.
#[test]
fn files_are_read_once() {
    let library = TextLibrary::new(&[
        ("a.lcc", &format!("import \"b.lcc\". import \"b.lcc\". {TEAM}")),
        ("b.lcc", &format!("{FARM} property fed : inev(in(egg)) ;")),
    ]);
    for given in [&["a.lcc"][..], &["a.lcc", "b.lcc"], &["b.lcc", "a.lcc"]] {
        let (opened, sources) = opened(given, &library);
        assert_eq!(codes(&opened), [""; 0], "{}", drawn(&opened, &sources));
        assert_eq!((opened.files.len(), opened.properties.len()), (2, 1), "{given:?}");
    }
}

#[test]
fn import_mistakes_are_reported() {
    let chain: Vec<(String, String)> =
        (0..12).map(|n| (format!("c{n}.pol"), format!("import \"c{}.pol\".", (n + 1) % 12))).collect();
    let mut files: Vec<(&str, &str)> =
        chain.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    files.extend([
        ("self.lcc", "import \"self.lcc\"."),
        ("one.lcc", "common p. import \"two.lcc\"."),
        ("two.lcc", "import \"three.lcc\"."),
        ("three.lcc", "import \"two.lcc\"."),
        ("missing.lcc", "import \"none.pol\". import \"./none.pol\". import \"nowhere/none.pol\"."),
        ("broken.lcc", "import rules."),
        ("broken_too.lcc", "import \"rules.pol\" common p."),
    ]);
    let library = TextLibrary::new(&files);
    let mut all = String::new();
    for (name, expected) in [
        ("self.lcc", &["lcc/import-cycle"][..]),
        ("one.lcc", &["lcc/import-cycle"]),
        ("c3.pol", &["lcc/import-cycle"]),
        ("missing.lcc", &["lcc/import-not-found", "lcc/import-not-found"]),
        ("broken.lcc", &["lcc/syntax"]),
        ("broken_too.lcc", &["lcc/missing-stop", "lcc/import-not-found"]),
    ] {
        let (opened, sources) = opened(&[name], &library);
        let drawn = drawn(&opened, &sources);
        let mut codes = codes(&opened);
        codes.sort_by_key(|code| expected.iter().position(|other| other == code));
        assert_eq!(codes, expected, "{name}\n{drawn}");
        assert!(opened.system.is_none());
        all += &format!("{drawn}\n");
    }
    insta::assert_snapshot!("import_mistakes", all);
}

#[test]
fn the_number_of_files_is_limited() {
    let name = |n: usize| format!("f{n}.pol");
    let chain = |n: usize| {
        TextLibrary(
            (0..n).map(|index| (name(index).into(), format!("import \"{}\".", name(index + 1)))).collect(),
        )
    };
    let mut library = chain(999);
    library.0.insert("f999.pol".into(), format!("{FARM} {TEAM}"));
    let (whole, sources) = opened(&["f0.pol"], &library);
    assert_eq!(codes(&whole), [""; 0], "{}", drawn(&whole, &sources));
    assert_eq!(whole.files.len(), 1000);
    assert_eq!(codes(&opened(&["f0.pol"], &chain(5000)).0), ["lcc/too-many-files"]);
    let many: Vec<(String, String)> = (0..1001).map(|n| (name(n), "common p.".to_string())).collect();
    let library = TextLibrary(many.iter().map(|(name, text)| (name.into(), text.clone())).collect());
    let given: Vec<&str> = many.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(codes(&opened(&given, &library).0), ["lcc/too-many-files"]);
    // At most 20 failures are reported.
    let text: String = (0..100).map(|n| format!("import \"none{n}\".\n")).collect();
    assert_eq!(codes(&opened(&["a"], &TextLibrary::new(&[("a", &text)])).0).len(), 20);
}

/// `import` is a name everywhere except at the beginning of a statement.
#[test]
fn import_is_not_a_reserved_word() {
    let text =
        "a(import, I) :: import(x) => a(export, E) <- import. a(export, E) :: import(X) <= a(import, I).
        agent a(import, import). agent a(export, e). common import.";
    let (opened, sources) = opened(&["a"], &TextLibrary::new(&[("a", text)]));
    assert_eq!(codes(&opened), [""; 0], "{}", drawn(&opened, &sources));
}

#[test]
fn imports_are_formatted() {
    let mut sources = Sources::default();
    let text = "import\n\"a.pol\" .\n\n\nimport 'b.mu'. a(hen,H)::null import \"c.pol\".";
    let file = sources.add("a.lcc", text).unwrap();
    let formatted = format(&sources, file).unwrap();
    assert_eq!(formatted, "import \"a.pol\".\n\nimport 'b.mu'.\na(hen, H) :: null\nimport \"c.pol\".\n");
}

/// Texts of a session can import each other by name, and no other files.
#[test]
fn sessions_import_their_own_texts() {
    let open = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(name, text)| Text::new(*name, *text)).collect();
        Session::open(Setup { files, ..Setup::default() })
    };
    let team = format!("import \"farm.lcc\". {TEAM}");
    assert!(open(&[("x/team.lcc", &team), ("x/farm.lcc", FARM)]).is_ok());
    for files in [&[("team.lcc", team.as_str())][..], &[("x/team.lcc", &team), ("farm.lcc", FARM)]] {
        let refused = open(files).unwrap_err();
        assert_eq!(refused.diagnostics[0].code, "lcc/import-not-found");
    }
    let mut session = open(&[("team.lcc", &team), ("farm.lcc", FARM)]).unwrap();
    let import = vec!["import \"farm.lcc\".".to_string()];
    let update = masque_lcc::Update { add: import.clone(), ..Default::default() };
    assert_eq!(session.update(&update).unwrap_err()[0].code, "lcc/fixed");
    assert_eq!(session.place(&import[0]).unwrap_err()[0].code, "lcc/no-state");
}

/// Each row has some texts, the number of unrelated parts, and the reason.
#[rustfmt::skip]
#[test]
fn unrelated_files_are_detected() {
    let null = "a(cow, C) :: null. agent a(cow, c).";
    let farm = format!("{FARM} {TEAM}");
    let rows: &[(&[&str], usize, &str)] = &[
        (&[&farm],                                                       1, "one file alone"),
        (&["a(p, X) :: null. a(q, X) :: null. agent a(p, x). agent a(q, y)."], 1, "one file alone is never refused"),
        (&[FARM, TEAM],                                                  1, "one team"),
        (&[&farm, null],                                                 2, "two teams that do not address each other"),
        (&[FARM, "agent a(hen, h).", "agent a(farmer, f)."],             1, "the hen addresses the farmer"),
        (&["a(p, X) :: m <= a(q, Y). a(q, Y) :: null.", "agent a(p, x).", "agent a(q, y)."], 1, "to receive is to address"),
        (&["a(p, X) :: null. agent a(p, x).", "agent a(p, y)."],         2, "no role addresses another"),
        (&["a(p, X) :: m => a(p, Y). agent a(p, x).", "agent a(p, y)."], 1, "the role addresses itself"),
        (&[&farm, "a(cow, C) :: egg => a(maid, M). a(maid, M) :: egg <= a(cow, C). agent a(cow, c). agent a(maid, m).
                   common fed(h)."],                                     2, "messages and constants do not connect"),
        (&[&farm, "a(cow, C) :: egg => a(_, h). agent a(cow, c)."],      1, "a role that is a variable may be any"),
        (&[&farm, "a(cow, C) :: a(R, C). agent a(cow, c)."],             1, "and so may one that is entered"),
        (&[&farm, "a(cow, C) :: a(bull, C). a(bull, C) :: moo => a(hen, H). agent a(cow, c)."],
                                                                         1, "by a role that is entered later"),
        (&[&farm, "a(cow, C) :: null. a(bull, C) :: moo => a(hen, H). agent a(cow, c)."],
                                                                         2, "no agent is ever in the addressing role"),
        (&[&farm, "common sunny. rule h: (_, _, -send(egg))."],          1, "no team"),
        (&[&farm, null, "a(bull, B) :: moo => a(cow, C) then moo => a(hen, H). agent a(bull, b)."],
                                                                         1, "the third file addresses both"),
        (&[&farm, null, "a(bull, B) :: null. agent a(bull, b)."],        3, "three parts"),
        (&[&farm, "now a(_, h) :: nil. now a(farmer, f) :: nil."],       1, "states of members of the other file"),
        (&[&farm, "a(cow, C) :: null. now a(cow, c) :: null."],          2, "a new agent"),
        (&["r(hen, initial) r(farmer, necessary) a(hen, H) :: egg => a(farmer, F) a(farmer, F) :: egg <= a(hen, H)",
           "r(cow, initial) a(cow, C) :: null"],                         2, "declared roles make teams"),
        (&[&farm, "r(cow, initial) a(cow, C) :: null"],                  1, "but not where there are members"),
        (&["r(hen, initial) a(hen, H) :: null", "r(cow, optional) a(cow, C) :: null"],
                                                                         1, "an optional role makes no team"),
        (&[&farm, "import \"0\". a(cow, C) :: null. agent a(cow, c)."],  1, "one imports the other"),
        (&[&farm, null, "import \"0\". import \"1\"."],                  1, "a third imports both"),
        (&[&format!("import \"2\". {farm}"), "import \"2\". a(cow, C) :: null. agent a(cow, c).", "common sunny."],
                                                                         2, "both import the same facts"),
        (&[&format!("import \"2\". {farm}"), "import \"2\". a(cow, C) :: null. agent a(cow, c).",
           "a(sun, S) :: null. agent a(sun, s)."],                       1, "both import the same team"),
        (&[&farm, null, "mail a(cow, c) -> a(hen, h) : moo."],           1, "a message is under way"),
    ];
    for (texts, expected, because) in rows {
        let numbers: Vec<String> = (0..texts.len()).map(|n| n.to_string()).collect();
        let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
        let files: Vec<(&str, &str)> = numbers.iter().copied().zip(texts.iter().copied()).collect();
        let (opened, sources) = opened(&numbers, &TextLibrary::new(&files));
        let found = parts(&opened);
        assert_eq!(found, *expected, "{because}\n{texts:#?}\n{}", drawn(&opened, &sources));
    }
}

/// Number of unrelated parts that an instance falls into.
fn parts(opened: &OpenedInstance) -> usize {
    let found = opened.diagnostics.iter().find(|diagnostic| diagnostic.code == "lcc/unrelated-files");
    found.map_or(1, |diagnostic| {
        assert!(diagnostic.primary.is_some());
        diagnostic.secondary.len() + 1
    })
}

/// A member in a role without a clause is reported as that mistake, not as an unrelated protocol.
#[test]
fn a_misspelt_role_is_not_an_unrelated_file() {
    let (opened, _) = opened(
        &["0", "1"],
        &TextLibrary::new(&[("0", &format!("{FARM} agent a(hen, h).")), ("1", "agent a(famer, f).")]),
    );
    assert_eq!(codes(&opened), ["lcc/no-clause", "lcc/no-receiver"]);
}

/// Random files, for a comparison with the definition of unrelated files.
struct Case {
    n_files: usize,
    /// File and role of each clause, the roles that it addresses, and the roles that it changes to.
    clauses: Vec<(usize, usize, Vec<usize>, Vec<usize>)>,
    /// File and first role of each member.
    members: Vec<(usize, usize)>,
    imports: Vec<(usize, usize)>,
}

const N_ROLES: usize = 7;

impl Case {
    fn new(seed: u64) -> Case {
        let mut rng = Rng::with_seed(seed);
        let n_files = rng.usize(2..6);
        let some =
            |rng: &mut Rng, max: usize| (0..rng.usize(0..=max)).map(|_| rng.usize(0..N_ROLES)).collect();
        let clauses =
            (0..N_ROLES).map(|role| (rng.usize(0..n_files), role, some(&mut rng, 2), some(&mut rng, 1)));
        let clauses: Vec<_> = clauses.collect();
        let members = (0..rng.usize(1..6)).map(|_| (rng.usize(0..n_files), rng.usize(0..N_ROLES))).collect();
        let imports = (0..rng.usize(0..3)).map(|_| (rng.usize(0..n_files), rng.usize(0..n_files)));
        let imports = imports.filter(|(from, to)| from < to).collect();
        Case { n_files, clauses, members, imports }
    }

    fn texts(&self) -> Vec<String> {
        let mut texts = vec!["common p.\n".to_string(); self.n_files];
        for (from, to) in &self.imports {
            texts[*from] += &format!("import \"{to}\".\n");
        }
        for (index, (file, role)) in self.members.iter().enumerate() {
            texts[*file] += &format!("agent a(r{role}, x{index}).\n");
        }
        for (file, role, partners, next) in &self.clauses {
            let mut steps = vec!["null".to_string()];
            steps.extend(partners.iter().enumerate().map(|(index, partner)| {
                format!("m {} a(r{partner}, _)", if (index + role) % 2 == 0 { "=>" } else { "<=" })
            }));
            steps.extend(next.iter().map(|next| format!("a(r{next}, X)")));
            texts[*file] += &format!("a(r{role}, X) :: {}.\n", steps.join(" then "));
        }
        texts
    }

    /// Computes the roles of a file's team.
    fn team(&self, file: usize) -> BTreeSet<usize> {
        let mut team: BTreeSet<usize> =
            self.members.iter().filter(|(of, _)| *of == file).map(|(_, role)| *role).collect();
        loop {
            let clauses = self.clauses.iter().filter(|(_, role, ..)| team.contains(role));
            let more: BTreeSet<usize> = clauses.flat_map(|(.., next)| next).copied().collect();
            if more.is_subset(&team) {
                return team;
            }
            team.extend(more);
        }
    }

    fn addresses(&self, from: usize, to: usize) -> bool {
        let (from, to) = (self.team(from), self.team(to));
        let mut clauses = self.clauses.iter().filter(|(_, role, ..)| from.contains(role));
        clauses.any(|(_, _, partners, _)| partners.iter().any(|partner| to.contains(partner)))
    }

    fn imports(&self, from: usize, to: usize) -> bool {
        from == to || self.imports.iter().any(|(file, next)| *file == from && self.imports(*next, to))
    }

    /// Computes the number of unrelated parts by the definition.
    fn parts(&self) -> usize {
        let files: Vec<usize> = (0..self.n_files).filter(|file| !self.team(*file).is_empty()).collect();
        let is_related = |left: usize, right: usize| {
            self.addresses(left, right)
                || self.addresses(right, left)
                || (0..self.n_files).any(|root| self.imports(root, left) && self.imports(root, right))
        };
        let mut parts: Vec<BTreeSet<usize>> = files.iter().map(|file| BTreeSet::from([*file])).collect();
        // Join parts until no two of them are related.
        'again: loop {
            for left in 0..parts.len() {
                for right in left + 1..parts.len() {
                    if parts[left].iter().any(|x| parts[right].iter().any(|y| is_related(*x, *y))) {
                        let joined = parts.remove(right);
                        parts[left].extend(joined);
                        continue 'again;
                    }
                }
            }
            return parts.len();
        }
    }
}

#[test]
fn unrelated_files_agree_with_the_definition() {
    let mut n_refused = 0;
    for seed in seeds("0..500") {
        let case = Case::new(seed);
        let texts = case.texts();
        let numbers: Vec<String> = (0..texts.len()).map(|n| n.to_string()).collect();
        let given: Vec<&str> = numbers.iter().map(String::as_str).collect();
        let files: Vec<(&str, &str)> = given.iter().copied().zip(texts.iter().map(String::as_str)).collect();
        let (opened, sources) = opened(&given, &TextLibrary::new(&files));
        let (found, expected) = (parts(&opened), case.parts());
        assert_eq!(found, expected, "seed {seed}\n{texts:#?}\n{}", drawn(&opened, &sources));
        n_refused += usize::from(expected > 1);
    }
    assert!(n_refused > 50);
}

/// Computes the verdicts of formulas as words; `unknown` for any limit.
fn verdicts(opened: OpenedInstance, sources: &mut Sources, formulas: &[String]) -> Vec<String> {
    let Some(mut system) = opened.system else { return vec![format!("{:?}", codes(&opened))] };
    let word = |formula: &String| {
        let file = sources.add("formula", formula.as_str()).unwrap();
        let span = sources.span(file);
        let Some(formula) = read_formula(sources, span, &mut system).0 else { return "none".to_string() };
        let budget = Budget::unlimited().with_states(2_000);
        match check(&mut Space::new(&mut system), &formula, &budget).verdict {
            Verdict::Unknown(_) => "unknown".to_string(),
            verdict => verdict.to_string(),
        }
    };
    formulas.iter().map(word).collect()
}

/// An instance has the same verdicts in one file as in several files that import each other.
#[test]
fn splitting_an_instance_changes_no_verdict() {
    let mut n_decided = 0;
    for seed in seeds("0..300") {
        let whole = if seed % 3 == 0 { crate::random::talkers(seed) } else { crate::random::instance(seed) };
        let formulas: Vec<String> = (0..4).map(|n| crate::random::formula(seed * 4 + n)).collect();
        let mut rng = Rng::with_seed(seed);
        let n_files = rng.usize(2..6);
        let mut texts = vec![String::new(); n_files];
        // Every file except the first is imported by one or two earlier files.
        for file in 1..n_files {
            for _ in 0..rng.usize(1..3) {
                texts[rng.usize(0..file)] += &format!("import \"f{file}.lcc\".\n");
            }
        }
        for line in whole.lines() {
            texts[rng.usize(0..n_files)] += &format!("{line}\n");
        }
        let texts = texts.into_iter().enumerate().map(|(index, text)| (format!("f{index}.lcc").into(), text));
        let library = TextLibrary(texts.collect());
        let (split, mut split_sources) = opened(&["f0.lcc"], &library);
        let (one, mut sources) = opened(&["one"], &TextLibrary::new(&[("one", &whole)]));
        assert_eq!(split.files.len(), n_files);
        let expected = verdicts(one, &mut sources, &formulas);
        let found = verdicts(split, &mut split_sources, &formulas);
        assert_eq!(found, expected, "seed {seed}\n{library:#?}\n{formulas:#?}");
        n_decided += expected.iter().filter(|word| ["holds", "fails"].contains(&word.as_str())).count();
    }
    assert!(n_decided > 300, "{n_decided}");
}

/// Without a library, an import of a file is an error.
#[test]
fn no_files_are_read_without_a_library() {
    let mut sources = Sources::default();
    let files = vec![sources.add("a.lcc", "import \"/etc/hosts\".").unwrap()];
    let opened = open_with(&mut sources, &InstanceInput { files, ..InstanceInput::default() }, &NoFiles);
    assert_eq!(codes(&opened), ["lcc/import-not-found"]);
}
