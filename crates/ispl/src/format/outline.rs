//! The lines of a file, taken from the tree: headings, statements, ends.
//!
//! A line is identified by its first token and extends to the first token of the next line, so the
//! lines cover the file although the tree leaves out brackets and semicolons.

use masque_text::Span;

use crate::lexer::{Token, Tokens};
use crate::tree::{Agent, FormulaLine, Item, Kind, Logic, Section, Tree};

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
        /// For a path formula: position of its first word, `LTL` or `CTL*`.
        logic: Option<u32>,
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
    /// `mu`, `nu` and `not`; a mark at `!` is not needed.
    Keyword,
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

/// Where a statement is, and what kind of line it is.
type Statement<T> = fn(&T) -> (Span, LineKind);

fn formula(line: &FormulaLine) -> (Span, LineKind) {
    let logic = (line.logic != Logic::State).then_some(line.formula_span.start);
    (line.span, LineKind::Formula { logic })
}

struct Reader<'t> {
    tokens: &'t Tokens<'t>,
    outline: Outline,
}

impl Reader<'_> {
    fn file(&mut self, tree: &Tree) {
        for expr in &tree.exprs {
            let mark = match expr.kind {
                Kind::Temporal(..) | Kind::Path(..) | Kind::Step(..) => Mark::Prefix,
                Kind::Fixpoint(_) | Kind::Not(_) => Mark::Keyword,
                _ => continue,
            };
            self.outline.marks.push((expr.span.start, mark));
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
        self.section(&tree.sections.evaluation, 0, |definition| (definition.span, LineKind::Statement));
        self.condition(&tree.sections.init_states, 0);
        self.section(&tree.sections.groups, 0, |group| (group.span, LineKind::Statement));
        self.section(&tree.sections.fairness, 0, formula);
        self.section(&tree.sections.formulae, 0, formula);
    }

    fn agent(&mut self, agent: &Agent) {
        self.line(agent.span, 0, LineKind::Open);
        for set in [&agent.lobsvars, &agent.actions, &agent.lstate, &agent.lgreen].into_iter().flatten() {
            self.line(set.span, 1, LineKind::Statement);
        }
        self.section(&agent.obsvars, 1, |variable| (variable.span, LineKind::Variable));
        self.section(&agent.vars, 1, |variable| (variable.span, LineKind::Variable));
        self.condition(&agent.red_states, 1);
        self.section(&agent.protocol, 1, |line| (line.span, LineKind::Statement));
        self.section(&agent.evolution, 1, |line| (line.span, LineKind::Statement));
        self.close(agent.span, 2, 0);
    }

    fn section<T>(&mut self, section: &Option<Section<Vec<Item<T>>>>, level: u32, statement: Statement<T>) {
        let Some(section) = section else { return };
        self.line(section.span, level, LineKind::Open);
        self.items(&section.items, level + 1, statement);
        self.close(section.span, 2, level);
    }

    fn items<T>(&mut self, items: &[Item<T>], level: u32, statement: Statement<T>) {
        for item in items {
            match item {
                Item::One(one) => {
                    let (span, kind) = statement(one);
                    self.line(span, level, kind);
                }
                Item::For { items, span, .. } => {
                    self.line(*span, level, LineKind::Open);
                    self.items(items, level + 1, statement);
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
