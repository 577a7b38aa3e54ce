//! The fix of a deadlock: a line `Other` in the protocol of an agent.

use crate::lexer::{Token, Tokens};

/// Returns where a line `Other` with all actions belongs in the protocol of the agent at a byte of a text, and the line.
/// There is none if the protocol has such a line, or if the agent has no protocol or no list of actions.
///
/// ```
/// let text = "Agent A\n  Actions = {go, stay};\n  Protocol:\n    x : {go};\n  end Protocol\nend Agent\n";
/// let (at, line) = masque_ispl::other_line(text, 6).unwrap();
/// assert!(text[at..].starts_with("end Protocol"));
/// assert_eq!(line, "  Other : {go, stay};\n  ");
/// ```
pub fn other_line(text: &str, agent: usize) -> Option<(usize, String)> {
    let tokens = Tokens::new(text, 0);
    let first = tokens.at(agent as u32);
    let word = |token: usize| if tokens.kind(token) == Token::Word { tokens.text(token) } else { "" };
    let is_end = |token: usize, section: &str| word(token) == "end" && word(token + 1) == section;
    let agent = first..(first..tokens.len()).find(|token| is_end(*token, "Agent"))?;
    let end = agent.clone().find(|token| is_end(*token, "Protocol"))?;
    let actions = agent.clone().find(|token| word(*token) == "Actions")?;
    let brace = |kind: Token, from: usize| (from..agent.end).find(|token| tokens.kind(*token) == kind);
    let open = brace(Token::OpenBrace, actions)?;
    let close = brace(Token::CloseBrace, open)?;
    if (first..end).any(|token| word(token) == "Other") {
        return None;
    }
    // The space before `end Protocol` is its indentation.
    let at = tokens.span(end).start as usize;
    let line = text[..at].rfind('\n').map_or(at, |line| line + 1);
    let indent = Some(&text[line..at]).filter(|indent| indent.trim().is_empty()).unwrap_or_default();
    let list = tokens.slice(tokens.span(open).to(tokens.span(close)));
    Some((at, format!("  Other : {list};\n{indent}")))
}
