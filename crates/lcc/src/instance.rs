//! Several files as one instance: protocol, team, knowledge, policies and properties together.

use masque_mu::tree::Named;
use masque_mu::{Property, Vocabulary, parse_formula, parse_properties, resolve};
use masque_text::{Diagnostic, FileId, Sources, Span};
use rustc_hash::FxHashMap;

use crate::lint::lint;
use crate::lower::{Lowered, Scope, lower};
use crate::parser::parse;
use crate::stratify::stratify;
use crate::symbol::Symbol;
use crate::system::System;
use crate::tree::{Duty, Item, Tree};

/// An option given beside the files: name, value, and where it was written.
#[derive(Clone, Debug)]
pub struct Given {
    /// Which option.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Where it stands, for messages about it.
    pub span: Span,
}

/// What an instance is made of.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Files with statements: `.lcc` and `.pol`.
    pub files: Vec<FileId>,
    /// Files with properties: `.mu`.
    pub properties: Vec<FileId>,
    /// Options that override those in the files.
    pub options: Vec<Given>,
}

/// What could be made of the files.
#[derive(Debug)]
pub struct Opened {
    /// The files as trees.
    pub trees: Vec<Tree>,
    /// The system, if there are no errors.
    pub system: Option<System>,
    /// The properties in the order of the text: those in the protocol files, what the obligations
    /// demand, then those of the property files.
    pub properties: Vec<Property>,
    /// All that is to be said of the files.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads an instance.
///
/// ```
/// use masque_lcc::{Parts, open};
/// let mut sources = masque_text::Sources::default();
/// let text = "a(hen, H) :: egg => a(farmer, F).  a(farmer, F) :: egg <= a(hen, H).
///     agent a(hen, h).  agent a(farmer, f).  property fed : inev(in(egg)) ;";
/// let files = vec![sources.add("farm.lcc", text).unwrap()];
/// let opened = open(&mut sources, &Parts { files, ..Parts::default() });
/// assert!(opened.diagnostics.is_empty());
/// assert_eq!(opened.properties[0].source.name.text, "fed");
/// ```
pub fn open(sources: &mut Sources, parts: &Parts) -> Opened {
    let mut opened = Opened::parse(sources, &parts.files);
    // What could not be read would be missed everywhere else: one mistake would look like ten.
    if opened.has_errors() {
        return opened;
    }
    let Lowered { program, terms, diagnostics } = lower(&opened.trees, &parts.options);
    opened.diagnostics.extend(diagnostics);
    opened.diagnostics.extend(stratify(&program, &terms));
    opened.diagnostics.extend(lint(&opened.trees));
    if opened.has_errors() {
        return opened;
    }
    let mut system = System::new(program, terms);
    opened.read_properties(sources, &mut system, &parts.properties);
    if !opened.has_errors() {
        opened.system = Some(system);
    }
    opened
}

impl Opened {
    /// Reads files and makes nothing of them yet.
    pub(crate) fn parse(sources: &Sources, files: &[FileId]) -> Opened {
        let (trees, diagnostics): (Vec<_>, Vec<_>) = files.iter().map(|file| parse(sources, *file)).unzip();
        Opened { trees, system: None, properties: Vec::new(), diagnostics: diagnostics.concat() }
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Reads all properties.
    pub(crate) fn read_properties(&mut self, sources: &mut Sources, system: &mut System, files: &[FileId]) {
        let named = self.named(sources, system, files);
        self.resolve(named, system);
    }

    /// All properties as written.
    fn named(&mut self, sources: &mut Sources, system: &mut System, files: &[FileId]) -> Vec<Named> {
        let mut named = Vec::new();
        let items: Vec<Item> = self.trees.iter().flat_map(|tree| &tree.items).cloned().collect();
        let mut n_duties = 0;
        for item in items {
            let (name, name_span, span) = match item {
                Item::Property(property) => (property.name.text, property.name.span, property.formula),
                Item::Duty(duty) => {
                    n_duties += 1;
                    let text = demand(&duty, sources, system);
                    let Ok(file) = sources.add(format!("obligation {n_duties}"), text) else { continue };
                    (format!("obligation_{n_duties}"), duty.span, sources.span(file))
                }
                _ => continue,
            };
            let (phi, found) = parse_formula(sources, span);
            self.diagnostics.extend(found);
            let name = masque_mu::tree::Name { text: name, span: name_span };
            named.extend(phi.map(|phi| Named { name, phi }));
        }
        for file in files {
            let (more, found) = parse_properties(sources, sources.span(*file));
            self.diagnostics.extend(found);
            named.extend(more);
        }
        named
    }

    fn resolve(&mut self, named: Vec<Named>, words: &mut dyn Vocabulary) {
        let mut firsts: FxHashMap<String, Span> = FxHashMap::default();
        for source in named {
            if let Some(first) = firsts.get(&source.name.text) {
                let message = format!("there are two properties called `{}`", source.name.text);
                let hint = match source.name.text.starts_with("obligation_") {
                    true => {
                        "obligations are called `obligation_1`, `obligation_2` .. in the order of the text"
                    }
                    false => "reports name properties, so each needs a name of its own",
                };
                let diagnostic = Diagnostic::error("lcc/duplicate-property", source.name.span, message)
                    .also(*first, "the other one")
                    .hint(hint);
                self.diagnostics.push(diagnostic);
            }
            let (formula, found) = resolve(&source.phi, words);
            self.diagnostics.extend(found);
            firsts.entry(source.name.text.clone()).or_insert(source.name.span);
            let Some(formula) = formula else { continue };
            self.properties.push(Property { source, formula });
        }
    }
}

/// What an obligation demands: after P, on every run, the act or Q.
///
/// ```text
/// (S, O, !A) after P until Q   =   nu Z. [-]Z && [P] mu Y. <->tt && [-{#(A)@S, Q}]Y
/// ```
fn demand(duty: &Duty, sources: &Sources, system: &mut System) -> String {
    let mut scope = Scope::default();
    let enforcer = scope.term(&mut system.terms, &duty.enforcer);
    let mut scope = Scope::of(enforcer);
    let subject = scope.term(&mut system.terms, &duty.subject);
    let action = scope.term(&mut system.terms, &duty.action);
    let pair = system.terms.app(Symbol::SET, &[subject, action]);
    let pair = system.terms.canonical(pair);
    let [subject, action] = [0, 1].map(|at| system.terms.text(system.terms.arg(pair, at)));
    let after = sources.slice(duty.after);
    let until = duty.until.map(|span| format!(", {}", sources.slice(span))).unwrap_or_default();
    format!("nu Z. [-]Z && [{after}] mu Y. <->tt && [-{{#({action})@{subject}{until}}}]Y")
}
