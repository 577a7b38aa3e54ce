//! The lines of a file, taken from the tree: headings, statements, ends.
//!
//! A line is identified by its first token and extends to the first token of the next line, so the
//! lines cover the file although the tree leaves out brackets and semicolons.

use masque_text::Span;

use crate::lexer::{Token, Tokens};
use crate::tree::{
    Agent, Definition, FormulaLine, Group, Item, Kind, Line as EvolutionLine, Logic, ProtocolLine, Section,
    Tree, Variable,
};

/// Kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// `Agent NAME`, `Vars:`, `for i in 1..N {`
    Open,
    /// `end NAME`, `}`
    Close,
    /// `param N = 3;`, `import "FILE";`: the first word is a keyword.
    Param,
    /// `x : 0..3;`
    Variable,
    /// A formula; in path formulas `U` binds tighter than `and`, in state formulas it is loosest.
    Formula {
        /// The formula begins with `LTL` or `CTL*`.
        is_path: bool,
    },
    /// Any other statement.
    Statement,
}

/// A line before it is broken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Index of its first token.
    pub(super) start: u32,
    /// Level of indentation.
    pub(super) level: u32,
    pub(super) kind: LineKind,
}

/// Role of a word that the tree determines, where the adjacent tokens do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// `AG`, `X`, .. as an operator; elsewhere these are names.
    Prefix,
    /// `mu`, `nu`
    Fixpoint,
    /// `not`; a mark at `!` is not needed.
    Negation,
    /// `LTL`
    Logic,
    /// `CTL` of `CTL*`
    CtlStar,
}

/// Lines, and marks with the position of their word, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) lines: Vec<Line>,
    pub(super) marks: Vec<(u32, Mark)>,
}

/// Computes the outline of a tree without errors.
pub(super) fn outline(tree: &Tree, tokens: &Tokens<'_>) -> Outline {
    let mut reader = Reader { tokens, outline: Outline::default() };
    reader.file(tree);
    let mut outline = reader.outline;
    // Sections are visited by kind, but may stand in any order.
    outline.lines.sort_unstable_by_key(|line| line.start);
    outline.marks.sort_unstable();
    outline
}

struct Reader<'t> {
    tokens: &'t Tokens<'t>,
    outline: Outline,
}

impl Reader<'_> {
    fn file(&mut self, tree: &Tree) {
        for expr in &tree.exprs {
            match expr.kind {
                Kind::Temporal(..) | Kind::Path(..) | Kind::Step(..) => {
                    self.outline.marks.push((expr.span.start, Mark::Prefix));
                }
                Kind::Fixpoint(_) => self.outline.marks.push((expr.span.start, Mark::Fixpoint)),
                Kind::Not(_) => self.outline.marks.push((expr.span.start, Mark::Negation)),
                _ => {}
            }
        }
        for import in &tree.imports {
            self.line(import.span, 0, LineKind::Param);
        }
        for param in &tree.sections.params {
            self.line(param.span, 0, LineKind::Param);
        }
        if let Some(section) = &tree.sections.semantics {
            self.line(section.span, 0, LineKind::Statement);
        }
        for agent in &tree.sections.agents {
            self.agent(agent);
        }
        self.section(&tree.sections.evaluation, 0);
        self.condition(&tree.sections.init_states, 0);
        self.section(&tree.sections.groups, 0);
        self.section(&tree.sections.fairness, 0);
        self.section(&tree.sections.formulae, 0);
    }

    fn agent(&mut self, agent: &Agent) {
        self.line(agent.span, 0, LineKind::Open);
        for set in [&agent.lobsvars, &agent.actions, &agent.lstate, &agent.lgreen].into_iter().flatten() {
            self.line(set.span, 1, LineKind::Statement);
        }
        self.section(&agent.obsvars, 1);
        self.section(&agent.vars, 1);
        self.condition(&agent.red_states, 1);
        self.section(&agent.protocol, 1);
        self.section(&agent.evolution, 1);
        self.close(agent.span, 2, 0);
    }

    fn section<T: Statement>(&mut self, section: &Option<Section<Vec<Item<T>>>>, level: u32) {
        let Some(section) = section else { return };
        self.line(section.span, level, LineKind::Open);
        self.items(&section.items, level + 1);
        self.close(section.span, 2, level);
    }

    fn items<T: Statement>(&mut self, items: &[Item<T>], level: u32) {
        for item in items {
            match item {
                Item::One(statement) => {
                    self.line(statement.span(), level, statement.kind());
                    if let Some(mark) = statement.mark(self.tokens) {
                        self.outline.marks.push(mark);
                    }
                }
                Item::For { items, span, .. } => {
                    self.line(*span, level, LineKind::Open);
                    self.items(items, level + 1);
                    self.close(*span, 1, level);
                }
            }
        }
    }

    /// A section that holds one condition. Its expression may begin after brackets, so the
    /// statement is found from the heading.
    fn condition<T>(&mut self, section: &Option<Section<Option<T>>>, level: u32) {
        let Some(section) = section else { return };
        self.line(section.span, level, LineKind::Open);
        if section.items.is_some() {
            let after = self.tokens.at(section.heading.end);
            let start = after + usize::from(self.tokens.kind(after) == Token::Colon);
            self.outline.lines.push(Line {
                start: start as u32,
                level: level + 1,
                kind: LineKind::Statement,
            });
        }
        self.close(section.span, 2, level);
    }

    fn line(&mut self, span: Span, level: u32, kind: LineKind) {
        let start = self.tokens.at(span.start) as u32;
        self.outline.lines.push(Line { start, level, kind });
    }

    /// The line of the last `n_tokens` tokens of a span.
    fn close(&mut self, span: Span, n_tokens: usize, level: u32) {
        let start = (self.tokens.at(span.end) - n_tokens) as u32;
        self.outline.lines.push(Line { start, level, kind: LineKind::Close });
    }
}

/// A statement of a section.
trait Statement {
    fn span(&self) -> Span;

    fn kind(&self) -> LineKind {
        LineKind::Statement
    }

    fn mark(&self, _tokens: &Tokens<'_>) -> Option<(u32, Mark)> {
        None
    }
}

impl Statement for Variable {
    fn span(&self) -> Span {
        self.span
    }

    fn kind(&self) -> LineKind {
        LineKind::Variable
    }
}

impl Statement for ProtocolLine {
    fn span(&self) -> Span {
        self.span
    }
}

impl Statement for EvolutionLine {
    fn span(&self) -> Span {
        self.span
    }
}

impl Statement for Definition {
    fn span(&self) -> Span {
        self.span
    }
}

impl Statement for Group {
    fn span(&self) -> Span {
        self.span
    }
}

impl Statement for FormulaLine {
    fn span(&self) -> Span {
        self.span
    }

    fn kind(&self) -> LineKind {
        LineKind::Formula { is_path: self.logic != Logic::State }
    }

    fn mark(&self, tokens: &Tokens<'_>) -> Option<(u32, Mark)> {
        let mark = match self.logic {
            Logic::State => return None,
            Logic::Ltl => Mark::Logic,
            Logic::CtlStar => Mark::CtlStar,
        };
        let start = match &self.label {
            // The formula begins after the colon.
            Some(label) => tokens.span(tokens.at(label.span.end) + 1).start,
            None => self.span.start,
        };
        Some((start, mark))
    }
}
