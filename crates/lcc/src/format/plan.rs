//! Decides where lines break.

use std::collections::BTreeSet;

use masque_text::Span;

use super::{WIDTH, is_close, is_open, spacing};
use crate::lexer::{Token, Tokens};
use crate::tree::{Clause, Item, Proc, ProcKind, Tree};

/// Line breaks and spaces of a file.
pub(super) struct Plan {
    /// For each token that begins a line, the indentation of that line.
    pub(super) breaks: Vec<Option<usize>>,
    /// Tokens preceded by a space although their kinds do not ask for one.
    pub(super) spaced: Vec<bool>,
    /// The first tokens of statements.
    pub(super) begins: BTreeSet<usize>,
}

impl Plan {
    pub(super) fn new(tokens: &Tokens<'_>, tree: &Tree) -> Plan {
        let n = tokens.len();
        let mut planner = Planner {
            tokens,
            plan: Plan { breaks: vec![None; n], spaced: vec![false; n], begins: BTreeSet::new() },
            partner: partners(tokens),
        };
        for item in &tree.items {
            let start = tokens.at(planner.start_of(item).start);
            planner.plan.begins.insert(start);
            planner.set(start, 0);
            match item {
                Item::Clause(clause) | Item::Now(clause) => planner.clause(start, clause),
                _ => {}
            }
        }
        planner.headings(tree);
        planner.plan
    }
}

/// For each opening bracket, the index of the matching closing bracket.
fn partners(tokens: &Tokens<'_>) -> Vec<usize> {
    let mut partners = vec![usize::MAX; tokens.len()];
    let mut open = Vec::new();
    for at in 0..tokens.len() {
        let kind = tokens.kind(at);
        if is_open(kind) {
            open.push(at);
        } else if is_close(kind)
            && let Some(opened) = open.pop()
        {
            partners[opened] = at;
        }
    }
    partners
}

struct Planner<'t> {
    tokens: &'t Tokens<'t>,
    plan: Plan,
    partner: Vec<usize>,
}

impl Planner<'_> {
    /// The first token of a statement: its keyword, if it has one, which the tree does not cover.
    fn start_of(&self, item: &Item) -> Span {
        let before = |span: Span| match self.tokens.at(span.start).checked_sub(1) {
            Some(keyword) => self.tokens.span(keyword),
            None => span,
        };
        match item {
            Item::Clause(clause) => clause.span,
            Item::Now(clause) => before(clause.span),
            Item::Member(member) => before(member.agent.span),
            Item::Fact(fact) => fact.span,
            Item::Rule(rule) => rule.span,
            Item::Obligation(duty) => duty.span,
            Item::Choice(choice) => choice.span,
            Item::Mail(mail) => mail.span,
            Item::Setting(setting) => before(setting.name.span),
            Item::Role(role) => role.span,
            Item::Property(property) => before(property.name.span),
            Item::Import(import) => before(import.path.span),
        }
    }

    /// Begins a line with each heading, and indents the rules below it that have no enforcer in front.
    fn headings(&mut self, tree: &Tree) {
        for heading in &tree.headings {
            let start = self.tokens.at(heading.start);
            self.plan.begins.insert(start);
            self.set(start, 0);
        }
        for item in &tree.items {
            let start = self.tokens.at(self.start_of(item).start);
            if self.tokens.kind(start) == Token::Open {
                self.set(start, 2);
            }
        }
    }

    fn set(&mut self, at: usize, indent: usize) {
        if let Some(line) = self.plan.breaks.get_mut(at) {
            *line = Some(indent);
        }
    }

    /// The tokens of a span: the first one, and the one after the last.
    fn range(&self, span: Span) -> (usize, usize) {
        (self.tokens.at(span.start), self.tokens.at(span.end))
    }

    /// Width of some tokens on one line; more than [`WIDTH`] if there is a comment among them.
    fn width(&self, (from, to): (usize, usize)) -> usize {
        let comments = self.tokens.comments();
        let first = comments.partition_point(|comment| comment.before as usize <= from);
        if comments.get(first).is_some_and(|comment| (comment.before as usize) < to) {
            return WIDTH + 1;
        }
        let one = |at: usize| {
            let blank = usize::from(at > from && spacing::is_spaced(self.tokens, at));
            blank + spacing::written(self.tokens, at).chars().count()
        };
        (from..to).map(one).sum()
    }

    fn clause(&mut self, start: usize, clause: &Clause) {
        let (from, to) = self.range(clause.body.span);
        if self.width((start, to)) < WIDTH {
            return;
        }
        self.set(from, 2);
        self.process(&clause.body, 2, 1);
    }

    /// Breaks a process that begins at `indent`. Its last line is followed by `after` columns.
    fn process(&mut self, process: &Proc, indent: usize, after: usize) {
        let (mut from, mut to) = self.range(process.span);
        if indent + self.width((from, to)) + after <= WIDTH {
            return;
        }
        let mut indent = indent;
        // `( first` .. `last )`: the inside is indented by two.
        while from + 1 < to && self.tokens.kind(from) == Token::Open && self.partner[from] == to - 1 {
            self.plan.spaced[from + 1] = true;
            self.plan.spaced[to - 1] = true;
            from += 1;
            to -= 1;
            indent += 2;
        }
        match &process.kind {
            ProcKind::Then(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    let (first, _) = self.range(part.span);
                    if at > 0 {
                        self.set(first, indent);
                    }
                    self.process(part, indent, 5);
                }
            }
            ProcKind::Or(parts) | ProcKind::Par(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    let (first, _) = self.range(part.span);
                    if at > 0 {
                        self.set(first - 1, indent);
                        self.set(first, indent);
                    }
                    self.process(part, indent, 2);
                }
            }
            ProcKind::Guarded(step, constraint) => {
                let is_behind = step.span.end <= constraint.span.start;
                let (_, end) = self.range(step.span);
                if is_behind && self.tokens.kind(end) == Token::If {
                    self.set(end, indent + 4);
                }
            }
            _ => {}
        }
    }
}
