//! Where the lines of a property break.
//!
//! ```text
//! name : nu Z. [-]Z
//!              && [out(question)]
//!                   ((mu Y. <->tt && [-in(answer)]Y)
//!                    && (mu X. <->tt && [-in(price)]X)) ;
//! ```
//!
//! What is too long for a line breaks before each sign of its outermost chain. Short prefixes stay
//! on the line of what follows them, which is set in below itself; after long ones a line begins.

use super::part::{Form, Part, columns};

/// Lines break if they would be longer than this.
const WIDTH: usize = 100;
/// Longer names and prefixes are followed by a new line.
const SHORT: usize = 14;
/// How far a part is set in that begins a line below its prefix.
const INDENT: usize = 2;

/// A property with its name, `name : formula ;`.
pub(super) fn property(name: &str, formula: &Part) -> String {
    let head = format!("{name} : ");
    let mut writer = Writer { out: head.clone(), column: columns(&head) };
    let fits = columns(&head) + formula.width + 2 <= WIDTH;
    if !fits && columns(&head) > SHORT {
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

    /// Writes a part whose lines begin at `indent`; so much follows it on its last line.
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
                    // Signs that bind more stand further in than those of this chain.
                    let is_tighter = at == 0 && matches!(link.form, Form::Chain(_));
                    let inner = self.column + if is_tighter { INDENT } else { 0 };
                    self.part(link, inner, after);
                }
            }
            Form::Prefixed(prefix, inner) if columns(prefix) <= SHORT => {
                self.push(prefix);
                self.part(inner, self.column, after);
            }
            Form::Prefixed(prefix, inner) => {
                self.push(prefix.trim_end());
                // A leaf is no shorter on a line of its own.
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
