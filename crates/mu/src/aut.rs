//! Reads Aldebaran files (`.aut`): one transition per line.
//!
//! ```text
//! des (0, 3, 2)
//! (0, "ask", 1)
//! (1, answer, 0)
//! (1, "i", 1)
//! ```
//!
//! The first line has the initial state, the number of transitions and the number of states. A label is a
//! text in quotes, or the text between the first comma and the last.

use masque_text::{Diagnostic, Sources, Span};
use rustc_hash::FxHashMap;

use crate::{Graph, StateId};

/// Number of errors after which the rest of the file is not read.
const ERROR_LIMIT: usize = 20;
/// Estimate of the memory for a transition and the states it mentions, in bytes, while tables grow.
const BYTES_PER_TRANSITION: u64 = 160;

/// Reads an `.aut` file. Returns no graph if there are errors.
///
/// States are numbered in the order in which the file mentions them, the initial state first.
///
/// ```
/// use masque_mu::read_aut;
/// use masque_text::Sources;
///
/// let mut sources = Sources::default();
/// let file = sources.add("lamp.aut", "des (0, 2, 2)\n(0, press, 1)\n(1, press, 0)\n").unwrap();
/// let (graph, diagnostics) = read_aut(&sources, sources.span(file));
/// assert!(diagnostics.is_empty());
/// assert_eq!(graph.map(|graph| graph.n_states()), Some(2));
/// ```
pub fn read_aut(sources: &Sources, span: Span) -> (Option<Graph>, Vec<Diagnostic>) {
    let mut reader = Reader { graph: Graph::new(), states: FxHashMap::default(), diagnostics: Vec::new() };
    let mut lines = lines(sources.slice(span), span).filter(|line| !line.text.is_empty());
    let header = match lines.next() {
        Some(line) => reader.header(line),
        None => reader.no_header(span.slice(0, 0)),
    };
    if let Some(header) = header {
        reader.state(header.initial);
        let is_read = |line: &Line<'_>| {
            sources.limits().charge(BYTES_PER_TRANSITION) && reader.transition(*line, &header)
        };
        lines.take_while(is_read).for_each(drop);
        reader.compare(&header);
    }
    let is_good = !reader.diagnostics.iter().any(Diagnostic::is_error);
    (is_good.then_some(reader.graph), reader.diagnostics)
}

/// A line without the white space around it.
#[derive(Clone, Copy)]
struct Line<'t> {
    text: &'t str,
    span: Span,
}

fn lines(text: &str, span: Span) -> impl Iterator<Item = Line<'_>> {
    text.split('\n').scan(0, move |offset, line| {
        let begin = *offset + (line.len() - line.trim_start().len());
        *offset += line.len() + 1;
        let text = line.trim();
        Some(Line { text, span: span.slice(begin as u32, (begin + text.len()) as u32) })
    })
}

/// The first line.
struct Header {
    initial: u64,
    n_transitions: u64,
    n_states: u64,
    span: Span,
}

struct Reader {
    graph: Graph,
    states: FxHashMap<u64, StateId>,
    diagnostics: Vec<Diagnostic>,
}

impl Reader {
    fn header(&mut self, line: Line) -> Option<Header> {
        let inner = line.text.strip_prefix("des").and_then(|rest| in_brackets(rest.trim_start()));
        let numbers: Option<Vec<u64>> =
            inner.and_then(|inner| inner.split(',').map(|part| part.trim().parse().ok()).collect());
        let Some(&[initial, n_transitions, n_states]) = numbers.as_deref() else {
            return self.no_header(line.span);
        };
        let header = Header { initial, n_transitions, n_states, span: line.span };
        self.in_range(initial, &header, line.span).then_some(header)
    }

    fn no_header(&mut self, span: Span) -> Option<Header> {
        self.diagnostics.push(
            Diagnostic::error(
                "mu/aut-header",
                span,
                "an `.aut` file begins with `des (initial, transitions, states)`",
            )
            .hint("for example `des (0, 3, 2)`: begin in state 0; there are 3 transitions and 2 states"),
        );
        None
    }

    /// Reads a transition; returns whether to continue.
    fn transition(&mut self, line: Line, header: &Header) -> bool {
        match triple(line.text) {
            Some((from, label, to)) => {
                if self.in_range(from, header, line.span) && self.in_range(to, header, line.span) {
                    let (from, to) = (self.state(from), self.state(to));
                    self.graph.transition(from, label, to);
                }
            }
            None => self.diagnostics.push(
                Diagnostic::error("mu/aut-transition", line.span, "expected `(from, label, to)`")
                    .hint("states are numbers; write a label with a bracket or a quote in it as \"..\""),
            ),
        }
        self.diagnostics.len() < ERROR_LIMIT
    }

    fn in_range(&mut self, state: u64, header: &Header, span: Span) -> bool {
        if state < header.n_states {
            return true;
        }
        // If the number of states is wrong, many lines have this error: report it once.
        if self.diagnostics.iter().all(|other| other.code != "mu/aut-state") {
            let message = format!("there is no state {state} among {} states", header.n_states);
            self.diagnostics.push(
                Diagnostic::error("mu/aut-state", span, message)
                    .also(header.span, "the number of states is given here")
                    .hint("states are numbered from 0"),
            );
        }
        false
    }

    fn state(&mut self, number: u64) -> StateId {
        let graph = &mut self.graph;
        *self.states.entry(number).or_insert_with(|| graph.state_numbered(number))
    }

    fn compare(&mut self, header: &Header) {
        let found = self.graph.n_transitions() as u64;
        if self.diagnostics.is_empty() && found != header.n_transitions {
            let message = format!("the file has {found} transitions, not {}", header.n_transitions);
            self.diagnostics.push(
                Diagnostic::warning("mu/aut-count", header.span, message)
                    .hint("the file may be truncated; the transitions in it are checked"),
            );
        }
    }
}

fn in_brackets(text: &str) -> Option<&str> {
    text.strip_prefix('(')?.strip_suffix(')')
}

/// Splits `(from, label, to)`.
fn triple(text: &str) -> Option<(u64, &str, u64)> {
    let (from, rest) = in_brackets(text)?.split_once(',')?;
    let (label, to) = rest.rsplit_once(',')?;
    let label = label.trim();
    let label = label.strip_prefix('"').and_then(|label| label.strip_suffix('"')).unwrap_or(label);
    Some((from.trim().parse().ok()?, label, to.trim().parse().ok()?))
}
