//! Names of a model for editors: what each stands for, where it is declared and where it is used.
//!
//! The index is built from the tree that the recovering parser returns, before the checker: first the declarations
//! of all sections, then the uses in all bodies, then both in the statements that have a syntax error. A name has
//! one declaration for all members of its family: `coin[i in 1..3]` and `coin[4]` declare the name `coin` of their
//! agent once.

mod bodies;
mod broken;
mod declare;
mod details;
mod size;
mod values;

use std::borrow::Cow;

use masque_text::{Declaration, FileId, Library, NameIndex, NameKind, NameUse, Section, Sources, Span};
use rustc_hash::FxHashMap;

use crate::lexer::Token;
use crate::parser::read_model;
use crate::tree::{Dialect, Names, Pattern, Symbol, Tree};
use values::Enumerations;

/// Maximum number of bytes of a declaration that is shown on one line.
const MAX_SHOWN_BYTES: usize = 160;

/// Finds the names of a file and of all files that it imports. Statements with syntax errors lose no other
/// statement; their own names are found as far as the section shows what they mean.
///
/// ```
/// use masque_text::{NameKind, NoFiles, Sources};
///
/// let mut sources = Sources::default();
/// let text = "Agent A Vars: x : 0..3; end Vars Protocol: x = 1 : {go; end Protocol end Agent
///             Evaluation high if A.x > 1; end Evaluation";
/// let file = sources.add("broken.ispl", text).unwrap();
/// let index = masque_ispl::names(&mut sources, file, &NoFiles);
/// let place = text.rfind("x >").unwrap() as u32;
/// let declaration = index.declaration(index.at(place).unwrap());
/// assert_eq!((declaration.kind, declaration.text.as_str()), (NameKind::Variable, "x : 0..3"));
/// assert!(declaration.details.contains(&"2 bits.".to_string()));
/// ```
pub fn names(sources: &mut Sources, file: FileId, library: &dyn Library) -> NameIndex {
    let model = read_model(sources, file, library, true);
    index(sources, &model.tree)
}

/// Builds the index of a tree.
fn index(sources: &Sources, tree: &Tree) -> NameIndex {
    let mut indexer = Indexer::new(sources, tree);
    indexer.declare_all();
    indexer.sections();
    let broken = indexer.declare_broken();
    indexer.bodies();
    indexer.broken_uses(&broken);
    indexer.values();
    indexer.details();
    let mut index = indexer.index;
    index.sort();
    index
}

/// The names that an agent declares.
#[derive(Debug)]
struct Scope {
    /// The agent.
    declaration: u32,
    variables: FxHashMap<Symbol, u32>,
    actions: FxHashMap<Symbol, u32>,
    /// Enumeration of the local states in the dialect of the papers.
    local_states: Option<u32>,
    /// Index variables of a family.
    indexes: Vec<(Symbol, u32)>,
}

/// A table of names that are declared once.
#[derive(Clone, Copy, Debug)]
enum Table {
    Parameters,
    Propositions,
    Groups,
    Properties,
    /// Variables of the agent with this scope.
    Variables(usize),
    /// Actions of the agent with this scope.
    Actions(usize),
}

impl Table {
    fn kind(self) -> NameKind {
        match self {
            Table::Parameters => NameKind::Parameter,
            Table::Propositions => NameKind::Proposition,
            Table::Groups => NameKind::Group,
            Table::Properties => NameKind::Property,
            Table::Variables(_) => NameKind::Variable,
            Table::Actions(_) => NameKind::Action,
        }
    }
}

/// A name that is being declared.
#[derive(Clone, Copy, Debug)]
struct New {
    name: Symbol,
    /// Location of the name; later bytes, such as an index, are ignored.
    at: Span,
    /// Location of the whole declaration.
    whole: Span,
    parent: Option<u32>,
}

struct Indexer<'t> {
    sources: &'t Sources,
    tree: &'t Tree,
    /// Names of the tree, and of statements that are not in it.
    names: Cow<'t, Names>,
    index: NameIndex,
    /// Scope of each agent or family.
    agents: FxHashMap<Symbol, usize>,
    scopes: Vec<Scope>,
    /// Scope of the Environment.
    environment: Option<usize>,
    parameters: FxHashMap<Symbol, u32>,
    propositions: FxHashMap<Symbol, u32>,
    groups: FxHashMap<Symbol, u32>,
    properties: FxHashMap<Symbol, u32>,
    enumerations: Enumerations,
    /// Enumeration of each variable that has one, by declaration.
    variable_enums: FxHashMap<u32, u32>,
    /// The agents that have a variable of the Environment in their `Lobsvars`, by variable.
    observers: FxHashMap<u32, Vec<u32>>,
    /// Index variables in scope, innermost last.
    indexes: Vec<(Symbol, u32)>,
    /// Fixpoint variables in scope, innermost last.
    fixpoints: Vec<(Symbol, u32)>,
    /// The declaration around the current statement.
    parent: Option<u32>,
    /// The name `Action`, if the file contains it.
    word_action: Option<Symbol>,
    /// The name `Lstate`, in the dialect of the papers.
    word_lstate: Option<Symbol>,
}

impl<'t> Indexer<'t> {
    fn new(sources: &'t Sources, tree: &'t Tree) -> Self {
        let is_papers = tree.dialect == Dialect::Papers;
        Indexer {
            sources,
            tree,
            names: Cow::Borrowed(&tree.names),
            index: NameIndex::default(),
            agents: FxHashMap::default(),
            scopes: Vec::new(),
            environment: None,
            parameters: FxHashMap::default(),
            propositions: FxHashMap::default(),
            groups: FxHashMap::default(),
            properties: FxHashMap::default(),
            enumerations: Enumerations::default(),
            variable_enums: FxHashMap::default(),
            observers: FxHashMap::default(),
            indexes: Vec::new(),
            fixpoints: Vec::new(),
            parent: None,
            word_action: tree.names.find("Action"),
            word_lstate: is_papers.then(|| tree.names.find("Lstate")).flatten(),
        }
    }

    fn table(&mut self, table: Table) -> &mut FxHashMap<Symbol, u32> {
        match table {
            Table::Parameters => &mut self.parameters,
            Table::Propositions => &mut self.propositions,
            Table::Groups => &mut self.groups,
            Table::Properties => &mut self.properties,
            Table::Variables(scope) => &mut self.scopes[scope].variables,
            Table::Actions(scope) => &mut self.scopes[scope].actions,
        }
    }

    /// Declares a name, or adds a use of it if the table has it.
    fn declare_in(&mut self, table: Table, new: New) -> u32 {
        if let Some(&known) = self.table(table).get(&new.name) {
            self.use_at(known, new.name, new.at);
            return known;
        }
        let declaration = self.declare(table.kind(), new);
        self.table(table).insert(new.name, declaration);
        declaration
    }

    /// Adds a declaration and the use in it.
    fn declare(&mut self, kind: NameKind, new: New) -> u32 {
        let New { name, at, whole, parent } = new;
        let text = self.names.text(name);
        self.index.declarations.push(Declaration {
            name: text.to_string(),
            kind,
            span: at.slice(0, text.len() as u32),
            whole,
            parent,
            text: self.one_line(whole),
            details: Vec::new(),
        });
        let declaration = self.index.declarations.len() as u32 - 1;
        self.use_at(declaration, name, at);
        declaration
    }

    /// Adds a use of a name that begins where `at` begins.
    fn use_at(&mut self, declaration: u32, name: Symbol, at: Span) {
        let span = at.slice(0, self.names.text(name).len() as u32);
        self.index.uses.push(NameUse { span, declaration });
    }

    /// Returns a statement on one line, without its `;` and the end of a long text.
    fn one_line(&self, span: Span) -> String {
        let text = self.sources.slice(span);
        let short = &text[..text.floor_char_boundary(MAX_SHOWN_BYTES)];
        let mut line = masque_text::on_one_line::<Token>(short);
        if short.len() < text.len() {
            line.push_str(" ..");
        } else if line.ends_with(';') {
            line.pop();
        }
        line
    }

    fn scope_of(&self, pattern: &Pattern) -> Option<usize> {
        self.agents.get(&pattern.name).copied()
    }

    /// Adds the sections that the parser has found. A section of an agent belongs to the agent around it.
    fn sections(&mut self) {
        let starts: FxHashMap<u32, u32> = self
            .tree
            .sections
            .agents
            .iter()
            .filter_map(|agent| {
                let scope = self.scope_of(&agent.pattern)?;
                Some((agent.span.start, self.scopes[scope].declaration))
            })
            .collect();
        let mut outline = self.tree.outline.clone();
        outline.sort_by_key(|(_, span)| (span.start, std::cmp::Reverse(span.end)));
        let mut agent: Option<(Span, Option<u32>)> = None;
        for (heading, span) in outline {
            if heading == "Agent" {
                agent = Some((span, starts.get(&span.start).copied()));
            }
            let owner = agent.filter(|(around, _)| span.end <= around.end).and_then(|(_, owner)| owner);
            self.index.sections.push(Section { heading, span, owner });
        }
    }
}
