//! The names of LCC and policy files for editors: where each is declared and where it is used.
//!
//! The index is made from the trees that the recovering parser returns, before names are checked, so an error in
//! one statement leaves the names of the others. Sections come from the tokens, so that half-typed statements have
//! theirs too.
//!
//! | names | scope | declared by |
//! |---|---|---|
//! | roles | the instance | the first clause, else a role declaration, else the first use |
//! | agents | the instance | the `agent` or `server` statement, else the first use |
//! | messages | the instance | the first occurrence |
//! | predicates | the instance | the first fact, else a choice, else a rule, else the first use |
//! | constants in arguments | the instance | the first occurrence |
//! | properties | the instance | the property; obligations have none |
//! | logic variables | the statement, or one action pattern of a formula | the first occurrence |
//! | fixpoint variables | the body of the fixpoint | the fixpoint |
//!
//! A name belongs to its kind whatever the number of its arguments. A constant or functor in an argument has no
//! kind by itself: a variable may carry it to another place. It is the agent, message, role or predicate of that
//! name, in this order, or else a value. So a rename of any of these keeps the meaning, unless a variable carries
//! a name of one kind to a place of another kind, and both kinds have the name.

mod details;
mod formulas;
mod sections;
mod statements;
#[cfg(test)]
mod tests;

use masque_text::{Declaration, FileId, Library, NameIndex, NameKind, NameUse, Sources, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use self::details::Facts;
use crate::import::{Gathered, gather};
use crate::lexer::Token;
use crate::parser::parse;

/// Returns the names of a file and its imports. The texts of imports are added to the sources; a library that
/// knows open buffers returns their texts.
///
/// ```
/// use masque_text::{NameKind, NoFiles, Sources};
///
/// let mut sources = Sources::default();
/// let text = "a(hen, H) :: egg => a(farmer, F).  a(farmer, F) :: egg <= a(hen, H).  agent a(hen, ";
/// let file = sources.add("farm.lcc", text).unwrap();
/// let index = masque_lcc::names(&mut sources, file, &NoFiles);
/// let hen = index.at(text.rfind("hen, H").unwrap() as u32).unwrap();
/// assert_eq!(index.declaration(hen).kind, NameKind::Role);
/// assert_eq!(index.uses_of(hen.declaration).count(), 2);
/// ```
pub fn names(sources: &mut Sources, file: FileId, library: &dyn Library) -> NameIndex {
    let is_of_properties = sources.name(file).to_ascii_lowercase().ends_with(".mu");
    let (files, properties) = if is_of_properties { (vec![], vec![file]) } else { (vec![file], vec![]) };
    let Gathered { mut trees, files, properties, .. } = gather(sources, &files, &properties, library);
    if trees.is_empty() && !is_of_properties {
        // There are too many imports.
        trees.push(parse(sources, file).0);
    }
    let mut collector = Collector::new(sources);
    trees.iter().for_each(|tree| collector.tree(tree));
    properties.iter().for_each(|file| collector.property_file(*file));
    let mut index = collector.finish();
    let files = if files.is_empty() && !is_of_properties { vec![file] } else { files };
    index.sections = sections::sections(sources, &files, &index);
    index
}

/// What a name stands for, as far as its place shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// A place that only names of this kind can have.
    Of(NameKind),
    /// An argument: a constant, or a functor with arguments.
    Constant,
    Functor,
    /// The action of a rule: a predicate, unless only a message has the name, because `send` was forgotten.
    Action,
}

/// How well an occurrence serves as the declaration of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    #[default]
    Use,
    /// A rule about a predicate.
    Rule,
    /// A choice, or a role declaration.
    Announcement,
    /// A clause of a role, a fact, a member of the team, a property.
    Definition,
}

/// An occurrence of a name of the instance.
#[derive(Clone, Debug)]
struct Occurrence {
    place: Place,
    name: String,
    span: Span,
    rank: Rank,
    /// Location of the whole statement.
    whole: Span,
    /// The part of the statement that shows the name on one line.
    shown: Span,
}

/// A variable of one statement, pattern or formula.
#[derive(Clone, Debug)]
struct Local {
    name: String,
    kind: NameKind,
    uses: Vec<Span>,
    whole: Span,
    /// Location of the name of the declaration around it.
    parent: Option<Span>,
}

/// Collects the occurrences of names.
struct Collector<'s> {
    sources: &'s Sources,
    occurrences: Vec<Occurrence>,
    locals: Vec<Local>,
    /// The logic variables in scope, with their index among the locals.
    variables: FxHashMap<String, usize>,
    /// The statement that is visited.
    statement: Statement,
    facts: Facts,
}

/// The statement that is visited.
#[derive(Clone, Copy, Debug, Default)]
struct Statement {
    whole: Span,
    /// The part that shows a name.
    shown: Span,
    /// Location of the name that the statement is about.
    about: Option<Span>,
    /// Whether `self` stands for the owner or enforcer.
    has_self: bool,
}

impl<'s> Collector<'s> {
    fn new(sources: &'s Sources) -> Collector<'s> {
        Collector {
            sources,
            occurrences: Vec::new(),
            locals: Vec::new(),
            variables: FxHashMap::default(),
            statement: Statement::default(),
            facts: Facts::default(),
        }
    }

    /// Begins a statement, whose variables are its own.
    fn begin(&mut self, statement: Statement) {
        self.statement = statement;
        self.variables.clear();
    }

    /// Adds an occurrence of a name of the instance.
    fn add(&mut self, place: Place, name: &str, span: Span, rank: Rank) {
        let Statement { mut whole, mut shown, .. } = self.statement;
        // The enforcer in a heading is outside the rules below it.
        if span.end <= whole.start {
            (whole, shown) = (span, span);
        }
        let span = self.inner_name(span);
        self.occurrences.push(Occurrence { place, name: name.to_string(), span, rank, whole, shown });
    }

    /// Adds an occurrence of a logic variable.
    fn variable(&mut self, name: &str, span: Span) {
        let span = self.inner_name(span);
        let Statement { whole, about, .. } = self.statement;
        let next = self.locals.len();
        let index = *self.variables.entry(name.to_string()).or_insert(next);
        if index == next {
            let name = name.to_string();
            self.locals.push(Local { name, kind: NameKind::Index, uses: Vec::new(), whole, parent: about });
        }
        self.locals[index].uses.push(span);
    }

    /// The location of the name at the beginning of a term: without brackets around the term, arguments and
    /// quotes.
    fn inner_name(&self, span: Span) -> Span {
        let text = self.sources.slice(span);
        let mut lexer = <Token as logos::Logos>::lexer(text);
        while let Some(token) = lexer.next() {
            let found = lexer.span();
            let (start, end) = match token {
                Ok(Token::Word | Token::Variable | Token::Dotted) => (found.start, found.end),
                Ok(Token::Quoted) => (found.start + 1, found.end - 1),
                _ => continue,
            };
            return Span { start: span.start + start as u32, end: span.start + end as u32 };
        }
        span
    }

    /// Makes the index, without sections.
    fn finish(self) -> NameIndex {
        let known = |kind: NameKind| -> FxHashSet<&str> {
            let of_kind = self.occurrences.iter().filter(|one| one.place == Place::Of(kind));
            of_kind.map(|one| one.name.as_str()).collect()
        };
        let [agents, messages, roles, predicates] =
            [NameKind::Agent, NameKind::Message, NameKind::Role, NameKind::Predicate].map(known);
        let kind_of = |one: &Occurrence| match one.place {
            Place::Of(kind) => kind,
            Place::Action if predicates.contains(one.name.as_str()) => NameKind::Predicate,
            Place::Action if messages.contains(one.name.as_str()) => NameKind::Message,
            Place::Action => NameKind::Predicate,
            Place::Constant if agents.contains(one.name.as_str()) => NameKind::Agent,
            _ if messages.contains(one.name.as_str()) => NameKind::Message,
            _ if roles.contains(one.name.as_str()) => NameKind::Role,
            _ if predicates.contains(one.name.as_str()) => NameKind::Predicate,
            Place::Constant | Place::Functor => NameKind::Value,
        };
        let mut groups: FxHashMap<(NameKind, &str), Vec<&Occurrence>> = FxHashMap::default();
        for one in &self.occurrences {
            groups.entry((kind_of(one), &one.name)).or_default().push(one);
        }
        let mut made: Vec<Made> = Vec::new();
        for ((kind, name), uses) in groups {
            let rank = |one: &Occurrence| if kind == NameKind::Message { Rank::Use } else { one.rank };
            let first = uses.iter().min_by_key(|one| (std::cmp::Reverse(rank(one)), one.span.start));
            let Some(first) = first else { continue };
            let declaration = Declaration {
                name: name.to_string(),
                kind,
                span: first.span,
                whole: first.whole,
                parent: None,
                text: details::on_one_line(self.sources, first.shown),
                details: self.facts.details(kind, name),
            };
            made.push(Made { declaration, uses: uses.iter().map(|one| one.span).collect(), parent: None });
        }
        made.extend(self.locals.iter().map(|local| self.made_local(local)));
        index_of(made)
    }

    fn made_local(&self, local: &Local) -> Made {
        let Local { name, kind, uses, whole, parent } = local;
        let (text, details) = match kind {
            NameKind::Fixpoint => (details::on_one_line(self.sources, *whole), Vec::new()),
            _ => (name.clone(), vec![details::scope(self.sources, *whole)]),
        };
        let span = uses.iter().copied().min_by_key(|span| span.start).unwrap_or(*whole);
        let (name, kind, whole) = (name.clone(), *kind, *whole);
        let declaration = Declaration { name, kind, span, whole, parent: None, text, details };
        Made { declaration, uses: uses.clone(), parent: *parent }
    }
}

/// A declaration with its uses.
struct Made {
    declaration: Declaration,
    uses: Vec<Span>,
    /// Location of a use of the name of the declaration around it.
    parent: Option<Span>,
}

/// Sorts declarations and uses by location.
fn index_of(mut made: Vec<Made>) -> NameIndex {
    made.sort_by_key(|one| (one.declaration.span.start, one.declaration.span.end));
    let mut index = NameIndex::default();
    for (number, one) in made.iter().enumerate() {
        index.uses.extend(one.uses.iter().map(|span| NameUse { span: *span, declaration: number as u32 }));
    }
    index.uses.sort_unstable_by_key(|name| (name.span.start, name.span.end, name.declaration));
    // The enforcer in a heading is that of each rule below it.
    index.uses.dedup();
    let parents: Vec<Option<u32>> = made
        .iter()
        .map(|one| one.parent.and_then(|span| index.at(span.start)).map(|found| found.declaration))
        .collect();
    for (one, parent) in made.into_iter().zip(parents) {
        index.declarations.push(Declaration { parent, ..one.declaration });
    }
    index
}
