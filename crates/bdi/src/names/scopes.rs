//! Programs, the names they declare, and which names are one.

use std::collections::BTreeSet;

use masque_text::{Declaration, NameKind, NameUse, Sources, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::items::Item;
use crate::tree::{Name, Op, Tree};

/// A name in the scope of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Key {
    /// A variable, and whether it has arguments.
    Variable(String, bool),
    /// A value of an enumeration.
    Value(String),
    /// An action.
    Action(String),
}

/// The scope of an agent or a view.
#[derive(Debug)]
pub(super) struct Program {
    /// Declaration of the agent or the view.
    pub(super) owner: u32,
    /// Agent that the program describes.
    pub(super) agent: String,
    /// Title for details: `agent snd`, or `view B(rcv) in snd`.
    pub(super) title: String,
    /// Names that it declares.
    pub(super) names: FxHashMap<Key, u32>,
    /// Whether names need no declaration, because there is no `var` line.
    pub(super) is_open: bool,
}

/// The heading of a view.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    /// Attitude that the view is restricted to.
    pub(super) op: Option<Op>,
    /// Agent that is pictured.
    pub(super) agent: Name,
    /// Agent whose view it is.
    pub(super) observer: Name,
}

/// A program in [`Scopes::programs`].
pub(super) type ProgramIndex = usize;

/// All names found so far.
pub(super) struct Scopes<'t> {
    pub(super) sources: &'t Sources,
    pub(super) tree: &'t Tree,
    pub(super) declarations: Vec<Declaration>,
    pub(super) uses: Vec<NameUse>,
    /// For each declaration another one that declares the same name, or itself.
    same: Vec<u32>,
    pub(super) programs: Vec<Program>,
    /// Agents by name: declaration and program.
    pub(super) agents: FxHashMap<String, (u32, ProgramIndex)>,
    /// Programs of views, by observer, agent and attitude.
    views: FxHashMap<(String, String, Option<Op>), ProgramIndex>,
    /// Programs of the items of the tree: agents, then views.
    pub(super) in_tree: FxHashMap<(bool, usize), ProgramIndex>,
    /// Programs of broken items, by their location.
    pub(super) of_broken: FxHashMap<u32, ProgramIndex>,
    /// Programs of agents whose headings are incomplete, with what is there of their names.
    half_typed: Vec<(String, ProgramIndex)>,
    /// Program of the top world.
    pub(super) top: Option<ProgramIndex>,
    /// Titles of the programs that have attitudes about a name.
    pub(super) observers: FxHashMap<u32, BTreeSet<String>>,
    /// Pairs of programs whose equal names are one.
    joined: FxHashSet<(ProgramIndex, ProgramIndex)>,
}

impl<'t> Scopes<'t> {
    pub(super) fn new(sources: &'t Sources, tree: &'t Tree) -> Scopes<'t> {
        Scopes {
            sources,
            tree,
            declarations: Vec::new(),
            uses: Vec::new(),
            same: Vec::new(),
            programs: Vec::new(),
            agents: FxHashMap::default(),
            views: FxHashMap::default(),
            in_tree: FxHashMap::default(),
            of_broken: FxHashMap::default(),
            half_typed: Vec::new(),
            top: None,
            observers: FxHashMap::default(),
            joined: FxHashSet::default(),
        }
    }

    /// Adds a declaration without uses.
    fn add(&mut self, declaration: Declaration) -> u32 {
        let id = self.declarations.len() as u32;
        self.declarations.push(declaration);
        self.same.push(id);
        id
    }

    /// Adds a use.
    pub(super) fn add_use(&mut self, span: Span, declaration: u32) {
        self.uses.push(NameUse { span, declaration });
    }

    fn add_program(&mut self, owner: u32, agent: &str, title: String, item: &Item) -> ProgramIndex {
        let index = self.programs.len();
        let is_open = match item.in_tree {
            Some(at) if item.kind == super::ItemKind::Agent => !self.tree.agents[at].body.has_vars,
            Some(at) => !self.tree.views[at].body.has_vars,
            None => true,
        };
        let (agent, names) = (agent.to_string(), FxHashMap::default());
        self.programs.push(Program { owner, agent, title, names, is_open });
        match item.in_tree {
            Some(at) => self.in_tree.insert((item.kind == super::ItemKind::View, at), index),
            None => self.of_broken.insert(item.span.start, index),
        };
        index
    }

    /// Declares an agent. A second one of the same name is another use of the first.
    pub(super) fn declare_agent(&mut self, name: &Name, item: &Item) {
        let title = format!("agent {}", name.text);
        let known = self.agents.get(&name.text).copied();
        let owner = match known {
            Some((known, _)) => known,
            None => self.add(Declaration {
                name: name.text.clone(),
                kind: NameKind::Agent,
                span: name.span,
                whole: item.span,
                parent: None,
                text: title.clone(),
                details: Vec::new(),
            }),
        };
        self.add_use(name.span, owner);
        let program = self.add_program(owner, &name.text, title, item);
        self.agents.entry(name.text.clone()).or_insert((owner, program));
    }

    /// Declares an agent whose name is missing, so that the names in its program are known. Like a view, it is for
    /// outlines and has no uses.
    pub(super) fn declare_unnamed(&mut self, keyword: Span, item: &Item) {
        let title = "agent without a name".to_string();
        let owner = self.add(Declaration {
            name: "agent".to_string(),
            kind: NameKind::World,
            span: keyword,
            whole: item.span,
            parent: None,
            text: title.clone(),
            details: Vec::new(),
        });
        let program = self.add_program(owner, "", title, item);
        self.half_typed.push((String::new(), program));
    }

    /// Notes that the heading of an agent is incomplete.
    pub(super) fn note_half_typed(&mut self, name: &str, item: &Item) {
        let program = self.of_broken.get(&item.span.start).copied();
        self.half_typed.extend(program.map(|program| (name.to_string(), program)));
    }

    /// Declares a view, which has no name of its own.
    pub(super) fn declare_view(&mut self, view: Signature, item: &Item) {
        let Signature { op, agent, observer } = view;
        let pictured = match op {
            Some(op) => format!("{}({})", op.name(), agent.text),
            None => agent.text.clone(),
        };
        let title = format!("view {pictured} in {}", observer.text);
        let owner = self.add(Declaration {
            name: format!("{pictured} in {}", observer.text),
            kind: NameKind::World,
            span: agent.span.to(observer.span),
            whole: item.span,
            parent: None,
            text: title.clone(),
            details: Vec::new(),
        });
        let program = self.add_program(owner, &agent.text, title, item);
        self.views.entry((observer.text, agent.text, op)).or_insert(program);
    }

    /// Declares a property.
    pub(super) fn declare_property(&mut self, name: &Name, item: &Item) {
        let text = one_line(self.sources.slice(item.span));
        let declaration = self.add(Declaration {
            name: name.text.clone(),
            kind: NameKind::Property,
            span: name.span,
            whole: item.span,
            parent: None,
            text,
            details: Vec::new(),
        });
        self.add_use(name.span, declaration);
    }

    /// Declares a name of a program, unless it is declared. Returns its declaration.
    pub(super) fn declare_in(
        &mut self,
        program: ProgramIndex,
        key: Key,
        name: &Name,
        whole: Span,
        text: String,
    ) -> u32 {
        if let Some(&known) = self.programs[program].names.get(&key) {
            return known;
        }
        let (kind, what) = match key {
            Key::Variable(..) => (NameKind::Variable, "variable"),
            Key::Value(_) => (NameKind::Value, "value"),
            Key::Action(_) => (NameKind::Action, "action"),
        };
        let Program { owner, title, .. } = &self.programs[program];
        let declaration = Declaration {
            name: name.text.clone(),
            kind,
            span: name.span,
            whole,
            parent: Some(*owner),
            text,
            details: vec![format!("{what} of {title}")],
        };
        let id = self.add(declaration);
        self.programs[program].names.insert(key, id);
        id
    }

    /// Declares the name that a `forall` binds.
    pub(super) fn declare_index(&mut self, program: Option<ProgramIndex>, name: &Name, whole: Span) -> u32 {
        let id = self.add(Declaration {
            name: name.text.clone(),
            kind: NameKind::Index,
            span: name.span,
            whole,
            parent: program.map(|program| self.programs[program].owner),
            text: format!("forall {} in AP", name.text),
            details: vec!["each boolean variable of the program".to_string()],
        });
        self.add_use(name.span, id);
        id
    }

    /// Returns the program by which the agent of a program pictures another agent.
    pub(super) fn child(&self, program: ProgramIndex, op: Op, agent: &str) -> Option<ProgramIndex> {
        let observer = &self.programs[program].agent;
        let of = |op: Option<Op>| self.views.get(&(observer.clone(), agent.to_string(), op)).copied();
        of(Some(op)).or_else(|| of(None)).or_else(|| self.program_of(agent))
    }

    /// Returns the program of an agent. An unknown agent is the one whose name is half typed or missing.
    pub(super) fn program_of(&self, agent: &str) -> Option<ProgramIndex> {
        if let Some((_, program)) = self.agents.get(agent) {
            return Some(*program);
        }
        let mut found = self.half_typed.iter().filter(|(name, _)| agent.starts_with(name));
        let (_, program) = found.next()?;
        found.next().is_none().then_some(*program)
    }

    /// Finds the top world: the agent of `top`, or the first of `mas`, or the first agent.
    pub(super) fn find_top(&mut self) {
        let of_mas = self.tree.mas.first().and_then(|(names, _)| names.first());
        let named = self.tree.tops.first().or(of_mas).map(|name| name.text.as_str());
        let first = self.declarations.iter().find(|declaration| declaration.kind == NameKind::Agent);
        let name = named.or(first.map(|declaration| declaration.name.as_str()));
        self.top = name.and_then(|name| self.program_of(name));
    }

    /// Adds a use of an agent, if there is one of this name.
    pub(super) fn use_agent(&mut self, name: &Name) -> bool {
        let known = self.agents.get(&name.text).map(|(declaration, _)| *declaration);
        known.map(|declaration| self.add_use(name.span, declaration)).is_some()
    }

    /// Makes two declarations one.
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.first_of(a), self.first_of(b));
        self.same[a.max(b) as usize] = a.min(b);
    }

    /// Returns the declaration that stands for all that are one with this one.
    pub(super) fn first_of(&self, mut declaration: u32) -> u32 {
        while self.same[declaration as usize] != declaration {
            declaration = self.same[declaration as usize];
        }
        declaration
    }

    /// Makes equal names of two programs one, and those of the programs that they picture agents by.
    pub(super) fn join_programs(&mut self, a: ProgramIndex, b: ProgramIndex) {
        let mut open = vec![(a, b)];
        while let Some((a, b)) = open.pop() {
            if a == b || !self.joined.insert((a.min(b), a.max(b))) {
                continue;
            }
            let mut keys: Vec<&Key> = self.programs[a].names.keys().collect();
            keys.sort_unstable();
            let pair = |key: &Key| Some((self.programs[a].names[key], *self.programs[b].names.get(key)?));
            let pairs: Vec<(u32, u32)> = keys.into_iter().filter_map(pair).collect();
            pairs.into_iter().for_each(|(a, b)| self.join(a, b));
            let agents: Vec<String> = self.agents.keys().cloned().collect();
            for agent in agents {
                let children = Op::ALL.map(|op| (self.child(a, op, &agent), self.child(b, op, &agent)));
                open.extend(children.into_iter().filter_map(|(a, b)| Some((a?, b?))));
            }
        }
    }

    /// Makes all actions of a name one, because an option names them.
    pub(super) fn join_actions(&mut self, name: &Name) {
        let key = Key::Action(name.text.clone());
        let found: Vec<u32> =
            self.programs.iter().filter_map(|program| program.names.get(&key).copied()).collect();
        let Some(&first) = found.first() else { return };
        found.iter().for_each(|&action| self.join(first, action));
        self.add_use(name.span, first);
    }
}

/// Maximum number of characters of a declaration as text.
const MAX_TEXT_CHARS: usize = 200;

/// Returns a text on one line, cut if it is long.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(MAX_TEXT_CHARS).collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_TEXT_CHARS) {
        Some((at, _)) => format!("{}..", &line[..at]),
        None => line,
    }
}
