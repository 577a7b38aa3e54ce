//! Opens an instance: protocol, team, knowledge, policies and properties, read from several files.

use masque_mu::tree::Named;
use masque_mu::{Property, parse_formula, parse_properties};
use masque_text::{Diagnostic, FileId, Library, NoFiles, OptionOverride, ReadLimits, Sources, Span};
use rustc_hash::FxHashMap;

use crate::import::{Gathered, gather};
use crate::lint::lint;
use crate::lower::{Lowered, Lowering, lower_from};
use crate::names::check_statements;
use crate::obligation::{Acts, WithActs};
use crate::program::Program;
use crate::stratify::stratify;
use crate::system::System;
use crate::term::Terms;
use crate::tree::{Item, PropertyText, Tree};
use crate::unrelated_files::unrelated;

/// Estimated bytes of a property, without its formula.
pub(crate) const BYTES_PER_PROPERTY: u64 = 1024;
/// Estimated bytes of a formula per byte of its text.
pub(crate) const BYTES_PER_FORMULA_BYTE: u64 = 24;
/// Steps of work to check the names of a property, without its patterns.
const STEPS_PER_PROPERTY: u64 = 64;

/// The input from which an instance is opened.
#[derive(Clone, Debug, Default)]
pub struct InstanceInput {
    /// Files with statements: `.lcc` and `.pol`.
    pub files: Vec<FileId>,
    /// Files with properties: `.mu`.
    pub properties: Vec<FileId>,
    /// Options that override those in the files.
    pub options: Vec<OptionOverride>,
}

/// The result of opening an instance.
#[derive(Debug)]
pub struct OpenedInstance {
    /// Files with statements: the given ones, then the imported ones.
    pub files: Vec<FileId>,
    /// Files with properties: the given ones, then the imported ones.
    pub property_files: Vec<FileId>,
    /// The syntax trees of the files with statements.
    pub trees: Vec<Tree>,
    /// The system, if there are no errors.
    pub system: Option<System>,
    /// The properties: first those of the files with statements, obligations included, in the order of the
    /// text, then those of the property files.
    pub properties: Vec<Property>,
    /// Errors and warnings about the files.
    pub diagnostics: Vec<Diagnostic>,
    /// For each file with statements, the indices of the files that it imports.
    pub(crate) imports: Vec<Vec<usize>>,
}

/// Opens an instance. Imports are resolved among the given files only; see [`open_with`].
///
/// ```
/// use masque_lcc::{InstanceInput, open};
/// let mut sources = masque_text::Sources::default();
/// let text = "a(hen, H) :: egg => a(farmer, F).  a(farmer, F) :: egg <= a(hen, H).
///     agent a(hen, h).  agent a(farmer, f).  property fed : inev(in(egg)) ;";
/// let files = vec![sources.add("farm.lcc", text).unwrap()];
/// let opened = open(&mut sources, &InstanceInput { files, ..InstanceInput::default() });
/// assert!(opened.diagnostics.is_empty());
/// assert_eq!(opened.properties[0].source.name.text, "fed");
/// ```
pub fn open(sources: &mut Sources, parts: &InstanceInput) -> OpenedInstance {
    open_with(sources, parts, &NoFiles)
}

/// Opens an instance whose imports are read from a library. If a limit of the sources is exceeded, there is no
/// system, and the diagnostics are incomplete.
pub fn open_with(sources: &mut Sources, parts: &InstanceInput, library: &dyn Library) -> OpenedInstance {
    let (mut opened, imports) = OpenedInstance::gather(sources, parts, library);
    opened.imports = imports;
    opened.check(sources, &parts.options, Terms::default());
    opened
}

impl OpenedInstance {
    /// Checks the trees, reads the properties and makes the system, whose terms are added to the given ones.
    /// Trees beyond those of the files are of statements that a session has added.
    pub(crate) fn check(&mut self, sources: &Sources, options: &[OptionOverride], terms: Terms) {
        // A statement that could not be read would be missing elsewhere, and one mistake would be reported as
        // many.
        let limits = sources.limits();
        if self.has_errors() || limits.exceeded().is_some() {
            return;
        }
        // Options and properties that clash across unrelated files would be consequences of this error.
        let (files, added) = self.trees.split_at(self.files.len().min(self.trees.len()));
        if let Some(diagnostic) = unrelated(sources, files, &self.imports, added) {
            self.diagnostics.push(diagnostic);
            self.diagnostics.extend(lint(&self.trees, limits));
            return;
        }
        let lowering = Lowering::of(Program::default(), terms, limits);
        let Lowered { program, terms, diagnostics } = lower_from(lowering, &self.trees, options, true);
        self.diagnostics.extend(diagnostics);
        if limits.may_continue() {
            self.diagnostics.extend(stratify(&program, &terms, limits));
            self.diagnostics.extend(lint(&self.trees, limits));
        }
        if self.has_errors() || !limits.may_continue() {
            return;
        }
        let items = self.trees.iter().flat_map(|tree| &tree.items);
        let warnings = check_statements(&program, &terms, items, limits);
        self.diagnostics.extend(warnings);
        let mut system = System::new(program, terms);
        self.read_properties(sources, &mut system);
        if !self.has_errors() && limits.may_continue() {
            self.system = Some(system);
        }
    }
}

impl OpenedInstance {
    /// Reads the files and their imports without checking them. Also returns, for each file with statements,
    /// the indices of the files that it imports.
    pub(crate) fn gather(
        sources: &mut Sources,
        parts: &InstanceInput,
        library: &dyn Library,
    ) -> (OpenedInstance, Vec<Vec<usize>>) {
        let Gathered { files, trees, properties, imports, diagnostics } =
            gather(sources, &parts.files, &parts.properties, library);
        let (system, property_files) = (None, properties);
        (
            OpenedInstance {
                files,
                property_files,
                trees,
                system,
                properties: Vec::new(),
                diagnostics,
                imports: Vec::new(),
            },
            imports,
        )
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Reads and resolves all properties.
    pub(crate) fn read_properties(&mut self, sources: &Sources, system: &mut System) {
        system.reading = sources.limits().clone();
        let mut acts = Acts::default();
        let named = self.named(sources, system, &mut acts);
        self.resolve(named, &mut WithActs { system, acts }, sources.limits());
        self.check_names(sources, system);
        system.reading = ReadLimits::default();
    }

    /// Warns about names in properties that match nothing.
    fn check_names(&mut self, sources: &Sources, system: &System) {
        let obligations = self.trees.iter().flat_map(|tree| &tree.items).filter_map(|item| match item {
            Item::Obligation(obligation) => Some((obligation.span, obligation)),
            _ => None,
        });
        let obligations: FxHashMap<Span, _> = obligations.collect();
        for Property { source: Named { name, phi, .. }, .. } in &self.properties {
            if !sources.limits().work(STEPS_PER_PROPERTY) {
                break;
            }
            self.diagnostics.extend(match obligations.get(&name.span) {
                Some(obligation) => system.obligation_warnings(obligation, phi, sources),
                None => system.name_warnings(phi),
            });
        }
    }

    /// Parses all properties, and turns obligations into properties.
    fn named(&mut self, sources: &Sources, system: &mut System, acts: &mut Acts) -> Vec<Named> {
        let (mut named, mut diagnostics) = (Vec::new(), Vec::new());
        let mut n_obligations = 0;
        for item in self.trees.iter().flat_map(|tree| &tree.items) {
            if !sources.limits().may_continue() {
                break;
            }
            match item {
                Item::Property(PropertyText { name, formula }) => {
                    let (phi, found) = parse_formula(sources, *formula);
                    diagnostics.extend(found);
                    let name = masque_mu::tree::Name { text: name.text.clone(), span: name.span };
                    named.extend(phi.map(|phi| Named::read(sources, name, phi)));
                }
                Item::Obligation(obligation) => {
                    n_obligations += 1;
                    let (demanded, found) =
                        acts.property_of(format!("obligation_{n_obligations}"), obligation, sources, system);
                    diagnostics.extend(found);
                    named.extend(demanded);
                }
                _ => {}
            }
        }
        for file in &self.property_files {
            let (more, found) = parse_properties(sources, sources.span(*file));
            diagnostics.extend(found);
            named.extend(more);
        }
        self.diagnostics.extend(diagnostics);
        named
    }

    /// Resolves the names in properties, and reports names that two properties share.
    fn resolve(&mut self, named: Vec<Named>, words: &mut WithActs<'_>, limits: &ReadLimits) {
        let mut firsts: FxHashMap<String, Span> = FxHashMap::default();
        for source in named {
            let span = source.phi.span;
            let formula = u64::from(span.end.saturating_sub(span.start)) * BYTES_PER_FORMULA_BYTE;
            if !limits.charge(BYTES_PER_PROPERTY + formula) {
                break;
            }
            if let Some(first) = firsts.get(&source.name.text) {
                let message = format!("there are two properties called `{}`", source.name.text);
                let hint = if source.name.text.starts_with("obligation_") {
                    "obligations are called `obligation_1`, `obligation_2` .. in the order of the text"
                } else {
                    "reports name properties, so each needs a name of its own"
                };
                let diagnostic = Diagnostic::error("lcc/duplicate-property", source.name.span, message)
                    .also(*first, "first property of this name")
                    .hint(hint);
                self.diagnostics.push(diagnostic);
            }
            let (formula, found) = words.resolve(&source.phi);
            self.diagnostics.extend(found);
            firsts.entry(source.name.text.clone()).or_insert(source.name.span);
            let Some(formula) = formula else { continue };
            self.properties.push(Property { source, formula });
        }
    }
}
