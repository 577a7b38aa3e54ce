//! Shrinking of a failing text: delta debugging by blocks, by lines, then inside lines.
//!
//! The generators write one statement per line and close sections with `end`, so most texts stay valid when
//! lines are removed. A removal that makes the text invalid is rejected, because the failure is then
//! gone. [Zeller & Hildebrandt 2002, "Simplifying and isolating failure-inducing input"]

use std::ops::Range;

/// Returns the shortest text found by greedy removal for which `fails` is still true.
///
/// If `fails` is false for `text`, returns `text`. Removal is repeated until
/// no single block, line or part of a line can be removed.
pub fn shrink(text: &str, mut fails: impl FnMut(&str) -> bool) -> String {
    if !fails(text) {
        return text.to_string();
    }
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    loop {
        let before = lines.clone();
        lines = without_blocks(lines, &mut fails);
        lines = without_lines(lines, &mut fails);
        lines = with_shorter_lines(lines, &mut fails);
        if lines == before {
            return join(&lines);
        }
    }
}

fn join(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

fn without<T: Clone>(items: &[T], cut: Range<usize>) -> Vec<T> {
    [&items[..cut.start], &items[cut.end..]].concat()
}

/// Removes blocks between a heading and its `end`, or between `{` and `}`, outermost first; or only
/// the heading and the `end`, keeping the content.
fn without_blocks(mut lines: Vec<String>, fails: &mut impl FnMut(&str) -> bool) -> Vec<String> {
    let mut start = 0;
    while start < lines.len() {
        let Some(last) = block_end(&lines, start) else {
            start += 1;
            continue;
        };
        let whole = without(&lines, start..last + 1);
        let inside = without(&without(&lines, last..last + 1), start..start + 1);
        if fails(&join(&whole)) {
            lines = whole;
        } else if fails(&join(&inside)) {
            lines = inside;
        } else {
            start += 1;
        }
    }
    lines
}

/// Returns the line that closes the block that begins at line `start`, if one begins there.
fn block_end(lines: &[String], start: usize) -> Option<usize> {
    let line = lines[start].trim();
    if line.ends_with('{') {
        let indent = indent_of(&lines[start]);
        return (start + 1..lines.len()).find(|&i| lines[i].trim() == "}" && indent_of(&lines[i]) == indent);
    }
    let word = line.split(|c: char| !c.is_alphanumeric()).next().filter(|word| !word.is_empty())?;
    let end = format!("end {word}");
    (start + 1..lines.len()).find(|&i| lines[i].trim() == end)
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Removes sequences of lines, halving their length from all lines down to one.
fn without_lines(mut lines: Vec<String>, fails: &mut impl FnMut(&str) -> bool) -> Vec<String> {
    let mut length = lines.len().max(1);
    loop {
        let mut start = 0;
        while start < lines.len() {
            let shorter = without(&lines, start..(start + length).min(lines.len()));
            if fails(&join(&shorter)) {
                lines = shorter;
            } else {
                start += length;
            }
        }
        if length == 1 {
            return lines;
        }
        length /= 2;
    }
}

/// Replaces each statement by shorter ones while one of them still fails. Headings stay whole.
fn with_shorter_lines(mut lines: Vec<String>, fails: &mut impl FnMut(&str) -> bool) -> Vec<String> {
    for i in 0..lines.len() {
        while lines[i].contains(';') {
            let indent = indent_of(&lines[i]);
            let candidates = shorter(&tokens(&lines[i]));
            let found = candidates.into_iter().find_map(|candidate| {
                let mut changed = lines.clone();
                changed[i] = format!("{:indent$}{}", "", spaced(&candidate));
                fails(&join(&changed)).then_some(changed)
            });
            match found {
                Some(changed) => lines = changed,
                None => break,
            }
        }
    }
    lines
}

/// Returns the words and signs of a line; a comment is one token.
fn tokens(line: &str) -> Vec<String> {
    const SIGNS: [&str; 8] = ["<->", "..", "<=", ">=", "<>", "!=", "->", "--"];
    let mut tokens = Vec::new();
    let mut rest = line.trim();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            SIGNS.iter().find(|sign| rest.starts_with(**sign)).map_or(first.len_utf8(), |sign| sign.len())
        };
        let length = if rest.starts_with("--") { rest.len() } else { length };
        tokens.push(rest[..length].to_string());
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Joins tokens to a line, with conventional spaces.
fn spaced(tokens: &[String]) -> String {
    let mut line = String::new();
    for token in tokens {
        let no_space_before = matches!(token.as_str(), ";" | "," | ")" | "]" | "[" | "}" | "." | "..");
        let no_space_after = line.is_empty() || line.ends_with(['(', '[', '{', '.', '!', '~']);
        if !no_space_before && !no_space_after {
            line.push(' ');
        }
        line.push_str(token);
    }
    line
}

/// Returns lines with fewer tokens, the shortest first: a balanced sequence removed, a pair of brackets
/// removed, or `name(a, b)` replaced by `a` or `b`.
fn shorter(tokens: &[String]) -> Vec<Vec<String>> {
    /// Maximum number of tokens of a sequence that is removed, because the number of sequences grows with
    /// the square. Longer ones are removed as parts.
    const MAX_REMOVED_TOKENS: usize = 24;
    let mut candidates = Vec::new();
    for start in 0..tokens.len() {
        for end in start + 1..=tokens.len().min(start + MAX_REMOVED_TOKENS) {
            if is_balanced(&tokens[start..end]) {
                candidates.push(without(tokens, start..end));
            }
        }
    }
    for open in 0..tokens.len() {
        let Some(close) = closing(tokens, open) else { continue };
        candidates.push(without(&without(tokens, close..close + 1), open..open + 1));
        let name = open.saturating_sub(1);
        let is_name = |token: &String| token.starts_with(char::is_alphabetic);
        let begin = if name < open && is_name(&tokens[name]) { name } else { open };
        for part in parts(tokens, open + 1..close) {
            let replaced = [&tokens[..begin], &tokens[part], &tokens[close + 1..]].concat();
            candidates.push(replaced);
        }
    }
    candidates.retain(|candidate| candidate.len() < tokens.len());
    candidates.sort_by_key(Vec::len);
    candidates
}

/// Returns +1 for an opening bracket, -1 for a closing one, otherwise 0.
fn bracket(token: &str) -> i32 {
    match token {
        "(" | "{" | "[" => 1,
        ")" | "}" | "]" => -1,
        _ => 0,
    }
}

fn is_balanced(tokens: &[String]) -> bool {
    let mut depth = 0;
    tokens.iter().all(|token| {
        depth += bracket(token);
        depth >= 0
    }) && depth == 0
}

/// Returns the index of the bracket that closes the one at index `open`, if there is one.
fn closing(tokens: &[String], open: usize) -> Option<usize> {
    if bracket(&tokens[open]) != 1 {
        return None;
    }
    let mut depth = 0;
    (open..tokens.len()).find(|&i| {
        depth += bracket(&tokens[i]);
        depth == 0
    })
}

/// Splits a range at commas, colons and binary temporal operators outside inner brackets.
fn parts(tokens: &[String], range: Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, range.start);
    for i in range.clone() {
        depth += bracket(&tokens[i]);
        if depth == 0 && matches!(tokens[i].as_str(), "," | "U" | "W" | "R" | ":") {
            parts.push(start..i);
            start = i + 1;
        }
    }
    parts.push(start..range.end);
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, needed: &[&str], expected: &str) {
        let contains_all = |text: &str| needed.iter().all(|part| text.contains(part));
        assert_eq!(shrink(text, contains_all), expected);
    }

    #[test]
    fn removes_lines() {
        check("a;\nb;\nc;\nd;\n", &["a;", "c;"], "a;\nc;\n");
        check("a\nb\n", &["z"], "a\nb\n");
    }

    #[test]
    fn removes_headings_with_their_ends() {
        let text = "Agent A\n  Vars:\n    x : boolean;\n  end Vars\nend Agent\nAgent B\nend Agent\n";
        let balanced = |text: &str| {
            text.matches("Agent").count() == 2 * text.matches("end Agent").count()
                && text.matches("Vars").count() == 2 * text.matches("end Vars").count()
                && text.contains("Agent B")
        };
        assert_eq!(shrink(text, balanced), "Agent B\nend Agent\n");
    }

    #[test]
    fn removes_parts_of_statements() {
        let keeps = |text: &str| {
            let text: String = text.split_whitespace().collect();
            text.contains("K(Alice,p)")
                && text.ends_with(';')
                && text.matches('(').count() == text.matches(')').count()
        };
        let text = "  AG((q and !r) -> E(true U (K(Alice, p) or EX q)));\n";
        assert_eq!(shrink(text, keeps), "  K (Alice, p);\n");
    }

    #[test]
    fn replaces_calls_by_their_arguments() {
        let tokens = tokens("GK({A}, E(q U p));");
        let candidates: Vec<String> = shorter(&tokens).iter().map(|c| spaced(c)).collect();
        for expected in ["E (q U p);", "GK ({A}, p);", "GK ({A}, q);", "GK {A}, E (q U p);"] {
            assert!(candidates.iter().any(|c| c == expected), "{expected} in {candidates:?}");
        }
    }

    #[test]
    fn tokens_survive_spacing() {
        let line = "x = -1 and b <> ~c if Bob.Action = go or slot[i] >= 2; -- why: a.b";
        assert_eq!(tokens(&spaced(&tokens(line))), tokens(line));
        assert_eq!(tokens("y : -1..2;"), ["y", ":", "-", "1", "..", "2", ";"]);
    }
}
