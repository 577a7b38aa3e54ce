//! Parses and checks models in tests.

pub(crate) mod formulas;
pub(crate) mod nnf;
pub(crate) mod random;

use masque_bdi::explanation::Explanation;
use masque_bdi::model::{Model, State};
use masque_bdi::outcome::{Failure, PropertyResult, WorldResult};
use masque_bdi::plan::{Plan, WorldId};
use masque_bdi::reference::Reference;
use masque_bdi::replay::replay;
use masque_bdi::symbolic::Engine;
use masque_bdi::{System, check, parse_system};
use masque_testkit::{TextLibrary, example_files, seeds};
use masque_text::{Diagnostic, OptionOverride, Sources, render};
use masque_verdict::Budget;

/// Result of parsing and checking a text; the model is `None` if there are errors.
pub(crate) struct Read {
    pub(crate) sources: Sources,
    pub(crate) model: Option<(Model, Plan)>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Parses and checks a text, with options from outside. A text that begins with `// file: NAME` is several files.
pub(crate) fn read(text: &str, options: &[(String, String)]) -> Read {
    let mut sources = Sources::default();
    let files = example_files(text, "// file: ", "test.bdi");
    let file = sources.add(files[0].0, files[0].1).unwrap();
    let overrides = overrides(options, &mut sources);
    let System { tree, mut diagnostics, .. } = parse_system(&mut sources, file, &TextLibrary::new(&files));
    let mut model = None;
    if !diagnostics.iter().any(Diagnostic::is_error) {
        let checked = check(&tree, &overrides);
        diagnostics.extend(checked.diagnostics);
        model = checked.model;
    }
    Read { sources, model, diagnostics }
}

/// Returns options as if they were given on the command line.
pub(crate) fn overrides(options: &[(String, String)], sources: &mut Sources) -> Vec<OptionOverride> {
    let overrides = options.iter().map(|(name, value)| {
        let given = sources.add("--option", format!("{name}={value}")).unwrap();
        OptionOverride { name: name.clone(), value: value.clone(), span: sources.span(given) }
    });
    overrides.collect()
}

/// Worlds and verdicts of a model.
pub(crate) type Results = (Vec<WorldResult>, Vec<PropertyResult>);

/// Builds the worlds and decides the properties with the symbolic engine.
pub(crate) fn by_engine(model: &Model, plan: &Plan) -> Result<Results, Failure> {
    let mut engine = Engine::new(model, plan, &Budget::default())?;
    let worlds = (0..plan.worlds.len() as u32).map(|w| engine.world_result(WorldId(w)).unwrap()).collect();
    let properties = (0..model.properties.len()).map(|p| engine.decide(p)).collect();
    Ok((worlds, properties))
}

/// Builds the worlds and decides the properties with the reference.
pub(crate) fn by_reference(model: &Model, plan: &Plan) -> Result<Results, Failure> {
    let mut reference = Reference::new(model, plan)?;
    let worlds = (0..plan.worlds.len() as u32).map(|w| reference.world_result(WorldId(w))).collect();
    let properties = (0..model.properties.len()).map(|p| reference.property(p)).collect();
    Ok((worlds, properties))
}

/// Explains the properties that fail; returns the explanations with the indices of the properties.
pub(crate) fn explanations(engine: &mut Engine<'_>, model: &Model) -> Vec<(usize, Explanation)> {
    let failing = (0..model.properties.len()).filter_map(|p| {
        let fails = engine.decide(p).verdict.word() == "fails";
        fails.then(|| (p, engine.explain(p).unwrap().unwrap()))
    });
    failing.collect()
}

/// Confirms the explanations of all properties that fail. Returns their number.
pub(crate) fn confirm(model: &Model, plan: &Plan, what: &str) -> usize {
    let mut engine = Engine::new(model, plan, &Budget::default()).unwrap();
    let explanations = explanations(&mut engine, model);
    for (property, explanation) in &explanations {
        assert_eq!(replay(model, plan, *property, explanation), Ok(()), "{explanation:#?}\n{what}");
    }
    explanations.len()
}

/// Options by name and value.
pub(crate) type OptionPairs = Vec<(String, String)>;

/// A random system in which agents have attitudes about themselves, with the results on which the engine and the
/// reference agree.
pub(crate) struct OwnSystem {
    pub(crate) text: String,
    pub(crate) options: OptionPairs,
    pub(crate) read: Read,
    /// Seed, options and text, for messages.
    pub(crate) what: String,
    pub(crate) worlds: Vec<WorldResult>,
    pub(crate) properties: Vec<PropertyResult>,
}

/// Compares the engine with the reference on random systems with attitudes of agents about themselves, and calls
/// `then` with each system that could be decided. The only error that the systems may have is a cycle of attitudes.
pub(crate) fn each_own_system(
    default_seeds: &str,
    system: fn(u64) -> (String, OptionPairs),
    mut then: impl FnMut(&Model, &Plan, &OwnSystem),
) {
    for seed in seeds(default_seeds) {
        let (text, options) = system(seed);
        let read = read(&text, &options);
        let what = format!("seed {seed}, options {options:?}\n{text}");
        let Some((model, plan)) = &read.model else {
            let codes: Vec<_> = read.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
            assert!(matches!(codes[..], ["bdi/cyclic-nesting"]), "{what}\n{}", read.drawn());
            continue;
        };
        let found = by_engine(model, plan);
        assert_eq!(found, by_reference(model, plan), "{what}");
        let Ok((worlds, properties)) = found else { continue };
        let (model, plan) = (model.clone(), plan.clone());
        then(&model, &plan, &OwnSystem { text, options, read, what, worlds, properties });
    }
}

impl Read {
    /// Renders all diagnostics.
    pub(crate) fn drawn(&self) -> String {
        self.diagnostics.iter().map(|d| render(&self.sources, d, false)).collect()
    }
}

/// Returns the model of a text without errors.
pub(crate) fn model(text: &str, options: &[(String, String)]) -> (Model, Plan) {
    let read = read(text, options);
    let drawn = read.drawn();
    read.model.unwrap_or_else(|| panic!("{drawn}\n{text}"))
}

/// The reference with its model and plan.
pub(crate) struct Slow<'m> {
    pub(crate) model: &'m Model,
    pub(crate) plan: &'m Plan,
    pub(crate) reference: Reference<'m>,
}

impl<'m> Slow<'m> {
    /// Builds all worlds; `None` if an assignment leaves its range.
    pub(crate) fn new((model, plan): &'m (Model, Plan)) -> Option<Slow<'m>> {
        Some(Slow { model, plan, reference: Reference::new(model, plan).ok()? })
    }

    /// Returns a state of a world with the values of defined attitudes.
    pub(crate) fn defined(&mut self, world: WorldId, state: &State) -> State {
        let mut defined = state.clone();
        let vars = &self.model.program(self.plan.program(world)).vars;
        for (&var, value) in vars.iter().zip(&mut defined.values) {
            if self.model.var(var).definition.is_some() {
                *value = i64::from(self.reference.label(world, state, var));
            }
        }
        defined
    }

    /// Returns the states of a world with the values of defined attitudes.
    pub(crate) fn states(&mut self, world: WorldId) -> Vec<State> {
        let states = self.reference.world(world).states.clone();
        states.iter().map(|state| self.defined(world, state)).collect()
    }
}
