//! Random models. The same seed gives the same text on every machine.

mod condition;
mod dice;
mod formula;
mod formulas;
mod logics;
mod modern;
mod old;
mod parameterised;

pub use formulas::{FORMULA_MODEL, random_formulas};
pub use modern::{
    random_determined_model, random_fair_game_model, random_fixpoint_model, random_game_model, random_model,
    random_path_model, random_recurring_model,
};
pub use old::random_old_model;
pub use parameterised::random_parameterised_model;

/// All generators of random models.
pub const GENERATORS: [crate::Generator; 6] = [
    random_model,
    random_old_model,
    random_parameterised_model,
    random_path_model,
    random_game_model,
    random_fixpoint_model,
];

/// A text that is being written, one statement per line.
#[derive(Default)]
struct Page {
    text: String,
    depth: usize,
}

impl Page {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    /// Writes `heading`, the indented content, and `closing`.
    fn block(&mut self, heading: &str, closing: &str, content: impl FnOnce(&mut Page)) {
        self.line(heading);
        self.depth += 1;
        content(self);
        self.depth -= 1;
        self.line(closing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts of the syntax that must occur in some random model.
    const SURFACE: &[&str] = &[
        "Semantics = SA;",
        "Semantics = MA;",
        "MultiAssignment",
        "SingleAssignment",
        "Agent Environment",
        "Obsvars:",
        "Lobsvars = {",
        "RedStates:",
        "Actions = {};",
        "Other : {",
        "boolean",
        ": -",
        "<> ",
        "!= ",
        "<= ",
        ">= ",
        " mod ",
        " / ",
        " * ",
        " & ",
        " | ",
        " ^ ",
        "~",
        "Environment.Action = ",
        "Fairness",
        "AG ",
        "EG ",
        "AX ",
        "EX ",
        "AF ",
        "EF ",
        " U ",
        " W ",
        " R ",
        "K(",
        "GK(",
        "DK(",
        "GCK(",
        "O(",
        "KH(",
        ".GreenStates",
        ".RedStates",
        " -> ",
        " <-> ",
        "K({",
        "{Environment",
        "true",
        "false",
    ];

    #[test]
    fn the_whole_surface_occurs() {
        let texts: String = (0..300).map(random_model).collect();
        let missing: Vec<_> = SURFACE.iter().filter(|part| !texts.contains(**part)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let without_environment = (0..300).filter(|&s| !random_model(s).contains("Environment")).count();
        assert!((30..150).contains(&without_environment), "{without_environment}");
    }

    #[test]
    fn the_surface_of_other_logics_occurs() {
        let rows: [(crate::Generator, &[&str]); 5] = [
            (random_recurring_model, &["LTL ", "CTL* E(", "G (F (", "F (G (", "X (", ") U ("]),
            (
                random_determined_model,
                &["LTL ", "CTL* A(", "CTL* E(", "X (", "G (", "F (", ") U (", ") W (", ") R ("],
            ),
            (
                random_path_model,
                &["LTL ", "CTL* ", "X (", "F (", "G (", ") U (", ") W (", ") R (", "K(", "A(", "E("],
            ),
            (
                random_game_model,
                &[
                    ">X ",
                    ">F ",
                    ">G ",
                    ") U (",
                    ") W (",
                    ") R (",
                    "uniform>",
                    "uniform-joint>",
                    "uniform-objective>",
                ],
            ),
            (random_fixpoint_model, &["mu Z.", "nu Z.", "nu Y.", "EX{", "AX{", "EX (", ".Action = ", "!("]),
        ];
        for (make, parts) in rows {
            let texts: String = (0..200).map(make).collect();
            let missing: Vec<_> = parts.iter().filter(|part| !texts.contains(**part)).collect();
            assert!(missing.is_empty(), "{missing:?}");
            let n_fair = (0..200).filter(|&seed| make(seed).contains("Fairness")).count();
            assert!(n_fair > 50, "{n_fair}");
            let is_valid = |&seed: &u64| crate::load(&make(seed), masque_model::Deadlock::Finite).is_some();
            assert_eq!((0..200).filter(is_valid).count(), 200);
        }
    }

    #[test]
    fn brackets_and_sections_are_closed() {
        let small = [
            random_determined_model,
            random_path_model,
            random_recurring_model,
            random_game_model,
            random_fair_game_model,
            random_fixpoint_model,
        ];
        for make in [random_model, random_old_model, random_parameterised_model].into_iter().chain(small) {
            for seed in 0..300 {
                let text = make(seed);
                let count = |part: &str| text.matches(part).count();
                for (open, close) in [("(", ")"), ("{", "}"), ("[", "]")] {
                    assert_eq!(count(open), count(close), "{text}");
                }
                for section in ["Agent ", "Protocol", "Evaluation", "InitStates", "Groups", "Formulae"] {
                    let lines = text.lines().map(str::trim);
                    let (ends, begins): (Vec<_>, Vec<_>) = lines
                        .filter(|l| l.trim_start_matches("end ").starts_with(section.trim()))
                        .partition(|l| l.starts_with("end"));
                    assert_eq!(ends.len(), begins.len(), "{section} in {text}");
                }
                assert_eq!(text, make(seed), "a seed determines the model");
            }
        }
    }

    #[test]
    fn models_have_six_to_ten_formulas() {
        for seed in 0..100 {
            let text = random_model(seed);
            let formulas = text.split("Formulae").nth(1).unwrap_or_default();
            assert!((6..=10).contains(&formulas.matches(";\n").count()), "{text}");
        }
    }
}
