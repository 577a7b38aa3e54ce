//! Formatting of a document or of a range, as edits of lines.

use gen_lsp_types as lsp;
use masque_driver::{Limits, format_text};

use crate::server::{Refusal, Server};

/// Largest document that is formatted, in bytes.
const MAX_BYTES: usize = 16 << 20;
/// Time that formatting may take.
const MAX_TIME: std::time::Duration = std::time::Duration::from_secs(5);
/// Maximum number of different lines for which single changes are found.
const MAX_DIFFERENCES: usize = 2_000;

/// Lines `old` of a text become lines `new` of another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

impl Server {
    /// The edits that format a document, or only those that touch a range. A document with syntax errors is refused.
    pub(crate) fn format(
        &mut self,
        uri: &lsp::Uri,
        range: Option<lsp::Range>,
    ) -> Result<Vec<lsp::TextEdit>, Refusal> {
        let document = self.document(uri).ok_or_else(|| Refusal::failed("the document is not open"))?;
        if document.text.len() > MAX_BYTES {
            return Err(Refusal::failed("the document is too large to be formatted"));
        }
        let limits =
            Limits { deadline: std::time::Instant::now().checked_add(MAX_TIME), ..Limits::default() };
        let name = document.path.display().to_string();
        let formatted =
            format_text(&name, &document.text, &limits).map_err(|errors| match errors.first() {
                Some(error) => {
                    Refusal::failed(format!("the document cannot be formatted: {}", error.message))
                }
                None => Refusal::failed("the document cannot be formatted"),
            })?;
        // The formatter ends lines with `\n`; a document with other line ends keeps them.
        let formatted =
            if document.text.contains("\r\n") { formatted.replace('\n', "\r\n") } else { formatted };
        let (old, new) = (lines(&document.text), lines(&formatted));
        let touches = |change: &Change| {
            range.is_none_or(|range| {
                change.old.start <= range.end.line as usize && range.start.line as usize <= change.old.end
            })
        };
        let position = |line: usize| {
            let offset =
                document.lines.line(&document.text, line).map_or(document.text.len(), |(start, _)| start);
            document.lines.position(&document.text, offset, self.encoding)
        };
        let edit = |change: Change| lsp::TextEdit {
            range: lsp::Range { start: position(change.old.start), end: position(change.old.end) },
            new_text: new[change.new].concat(),
        };
        Ok(changes(&old, &new).into_iter().filter(touches).map(edit).collect())
    }
}

/// The lines of a text, each with its end.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The changes that turn one list of lines into another, by the algorithm of Myers; one large change if there are
/// too many differences.
fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[prefix..], &new[prefix..]);
    let suffix = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_mid, new_mid) = (&old_rest[..old_rest.len() - suffix], &new_rest[..new_rest.len() - suffix]);
    if old_mid.is_empty() && new_mid.is_empty() {
        return Vec::new();
    }
    let whole = Change { old: prefix..prefix + old_mid.len(), new: prefix..prefix + new_mid.len() };
    let Some(kept) = kept_lines(old_mid, new_mid) else { return vec![whole] };
    let mut found = Vec::new();
    let (mut a, mut b) = (0, 0);
    for (next_a, next_b) in kept.into_iter().chain([(old_mid.len(), new_mid.len())]) {
        if a < next_a || b < next_b {
            found.push(Change { old: prefix + a..prefix + next_a, new: prefix + b..prefix + next_b });
        }
        (a, b) = (next_a + 1, next_b + 1);
    }
    found
}

/// The lines that both texts have, in their order; none if the texts differ too much.
fn kept_lines(old: &[&str], new: &[&str]) -> Option<Vec<(usize, usize)>> {
    let (n, m) = (old.len() as isize, new.len() as isize);
    let max = (n + m).min(MAX_DIFFERENCES as isize);
    let middle = max as usize + 1;
    let mut reached = vec![0isize; 2 * max as usize + 3];
    let mut history: Vec<Vec<isize>> = Vec::new();
    for d in 0..=max {
        history.push(reached.clone());
        for k in (-d..=d).step_by(2) {
            let at = |k: isize| (middle as isize + k) as usize;
            let down = k == -d || (k != d && reached[at(k - 1)] < reached[at(k + 1)]);
            let mut x = if down { reached[at(k + 1)] } else { reached[at(k - 1)] + 1 };
            while x < n && x - k < m && x - k >= 0 && old[x as usize] == new[(x - k) as usize] {
                x += 1;
            }
            reached[at(k)] = x;
            if x >= n && x - k >= m {
                return Some(trace_back(&history, middle, d, (n, m)));
            }
        }
        // The history of many differences needs much memory.
        if history.len() * reached.len() > 16 << 20 {
            return None;
        }
    }
    None
}

fn trace_back(history: &[Vec<isize>], middle: usize, d: isize, end: (isize, isize)) -> Vec<(usize, usize)> {
    let (mut x, mut y) = end;
    let mut kept = Vec::new();
    for d in (0..=d).rev() {
        let reached = &history[d as usize];
        let at = |k: isize| (middle as isize + k) as usize;
        let k = x - y;
        let down = k == -d || (k != d && reached[at(k - 1)] < reached[at(k + 1)]);
        let previous = if down { k + 1 } else { k - 1 };
        let (from_x, from_y) =
            if d == 0 { (0, 0) } else { (reached[at(previous)], reached[at(previous)] - previous) };
        let (start_x, start_y) = match (d, down) {
            (0, _) => (0, 0),
            (_, true) => (from_x, from_y + 1),
            (_, false) => (from_x + 1, from_y),
        };
        while x > start_x && y > start_y {
            (x, y) = (x - 1, y - 1);
            kept.push((x as usize, y as usize));
        }
        (x, y) = (from_x, from_y);
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes turn the old lines into the new ones, and keep a longest common part.
    #[test]
    fn changes_are_complete() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..2_000 {
            let mut some = |max: usize| -> Vec<&str> {
                let n = random.usize(..=max);
                (0..n).map(|_| *random.choice(&["a\n", "b\n", "c\n"]).unwrap_or(&"a\n")).collect()
            };
            let (old, new) = (some(9), some(9));
            let mut result: Vec<&str> = Vec::new();
            let mut done = 0;
            for change in changes(&old, &new) {
                result.extend(&old[done..change.old.start]);
                result.extend(&new[change.new.clone()]);
                done = change.old.end;
            }
            result.extend(&old[done..]);
            assert_eq!(result, new, "{old:?}");
        }
    }
}
