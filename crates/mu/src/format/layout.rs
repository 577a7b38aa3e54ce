//! Line breaking for properties.
//!
//! ```text
//! name : nu Z. [-]Z
//!              && [out(question)]
//!                   ((mu Y. <->tt && [-in(answer)]Y)
//!                    && (mu X. <->tt && [-in(price)]X)) ;
//! ```
//!
//! A part that is too long for a line breaks before each operator of its outermost chain. A short
//! prefix stays on the line of its operand, whose lines are aligned; after a long prefix a new line
//! begins.

use super::part::{Form, Part, columns};

/// Maximum line length in columns.
const WIDTH: usize = 100;
/// Maximum width in columns of a name or prefix whose operand begins on the same line.
const MAX_HANGING_PREFIX: usize = 14;
/// Indentation of a part that begins a line below its prefix, in columns.
const INDENT: usize = 2;

/// Lays out a property with its name, `name : formula ;`.
pub(super) fn property(name: &str, formula: &Part) -> String {
    let head = format!("{name} : ");
    let mut writer = Writer { out: head.clone(), column: columns(&head) };
    let fits = columns(&head) + formula.width + 2 <= WIDTH;
    if !fits && columns(&head) > MAX_HANGING_PREFIX {
        writer.out.truncate(head.len() - 1);
        writer.line(INDENT);
    }
    let indent = writer.column;
    writer.part(formula, indent, 2);
    writer.out.push_str(" ;");
    writer.out
}

struct Writer {
    out: String,
    column: usize,
}

impl Writer {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += columns(text);
    }

    fn line(&mut self, indent: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }

    /// Writes a part whose lines begin at `indent`. Its last line is followed by `after` columns.
    fn part(&mut self, part: &Part, indent: usize, after: usize) {
        if self.column + part.width + after <= WIDTH {
            let mut text = String::new();
            part.flat(&mut text);
            return self.push(&text);
        }
        match &part.form {
            Form::Leaf(text) => self.push(text),
            Form::Bracketed(inner) => {
                self.push("(");
                self.part(inner, self.column, after + 1);
                self.push(")");
            }
            Form::Chain(links) => {
                for (at, (sign, link)) in links.iter().enumerate() {
                    if at > 0 {
                        self.line(indent);
                        self.push(sign);
                        self.push(" ");
                    }
                    let after = if at + 1 == links.len() { after } else { 0 };
                    // Operators that bind tighter are indented further than those of this chain.
                    let is_tighter = at == 0 && matches!(link.form, Form::Chain(_));
                    let inner = self.column + if is_tighter { INDENT } else { 0 };
                    self.part(link, inner, after);
                }
            }
            Form::Prefixed(prefix, inner) if columns(prefix) <= MAX_HANGING_PREFIX => {
                self.push(prefix);
                self.part(inner, self.column, after);
            }
            Form::Prefixed(prefix, inner) => {
                self.push(prefix.trim_end());
                // A leaf cannot be broken, so a new line would not help.
                if matches!(inner.form, Form::Leaf(_)) {
                    self.push(&" ".repeat(columns(prefix) - columns(prefix.trim_end())));
                } else {
                    self.line(indent + INDENT);
                }
                self.part(inner, self.column, after);
            }
        }
    }
}
