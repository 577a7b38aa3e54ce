//! The items of a file and the sections of programs, found from the tokens alone.

use masque_text::Span;

use crate::lexer::{Token, Tokens, is_reserved};
use crate::tree::{Name, Tree};

/// Kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    Agent,
    View,
    Mas,
    Top,
    Option,
    Property,
    Check,
    Import,
    /// Text before the first item.
    Stray,
}

impl ItemKind {
    /// Returns the kind of item that begins at a token.
    fn at(tokens: &Tokens<'_>, index: usize) -> Option<ItemKind> {
        if tokens.kind(index) != Token::Word {
            return None;
        }
        let next = tokens.kind((index + 1).min(tokens.len()));
        let before = index.checked_sub(1).map_or("", |before| tokens.text(before));
        match tokens.text(index) {
            "agent" => Some(ItemKind::Agent),
            "view" => Some(ItemKind::View),
            "mas" => Some(ItemKind::Mas),
            "option" => Some(ItemKind::Option),
            "property" => Some(ItemKind::Property),
            // In `in top : f` and `subworld top in a` it is a path.
            "top" if next == Token::Word && !matches!(before, "in" | "subworld") => Some(ItemKind::Top),
            "check" if next == Token::Word => Some(ItemKind::Check),
            "import" if next == Token::Quoted => Some(ItemKind::Import),
            _ => None,
        }
    }

    /// Returns the heading of the section.
    pub(super) fn heading(self) -> &'static str {
        match self {
            ItemKind::Agent => "agent",
            ItemKind::View => "view",
            ItemKind::Mas => "mas",
            ItemKind::Top => "top",
            ItemKind::Option => "option",
            ItemKind::Property => "property",
            ItemKind::Check => "check",
            ItemKind::Import => "import",
            ItemKind::Stray => "file",
        }
    }
}

/// An item of a file.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Index of the file.
    pub(super) file: usize,
    pub(super) kind: ItemKind,
    /// Index of its first token.
    pub(super) first: usize,
    /// Index after its last token.
    pub(super) end: usize,
    /// Location in the source.
    pub(super) span: Span,
    /// Whether the tree does not have it.
    pub(super) is_broken: bool,
    /// Its place in the tree, for agents and views.
    pub(super) in_tree: Option<usize>,
}

/// Returns the items of a file.
pub(super) fn items(file: usize, tokens: &Tokens<'_>, tree: &Tree) -> Vec<Item> {
    let mut starts: Vec<(usize, ItemKind)> =
        (0..tokens.len()).filter_map(|index| Some((index, ItemKind::at(tokens, index)?))).collect();
    if !tokens.is_empty() && starts.first().is_none_or(|(first, _)| *first > 0) {
        starts.insert(0, (0, ItemKind::Stray));
    }
    let ends: Vec<usize> = starts.iter().skip(1).map(|(first, _)| *first).chain([tokens.len()]).collect();
    let known = KnownItems::new(tree);
    let item = |((first, kind), end): ((usize, ItemKind), usize)| {
        let span = tokens.span(first).to(tokens.span(end - 1));
        let (is_broken, in_tree) = known.find(kind, span);
        Item { file, kind, first, end, span, is_broken, in_tree }
    };
    starts.into_iter().zip(ends).map(item).collect()
}

/// Starts of the items of a tree, sorted.
struct KnownItems {
    agents: Vec<(u32, usize)>,
    views: Vec<(u32, usize)>,
    others: Vec<(u32, usize)>,
}

impl KnownItems {
    fn new(tree: &Tree) -> KnownItems {
        let starts = |spans: Vec<Span>| {
            let mut starts: Vec<(u32, usize)> =
                spans.iter().enumerate().map(|(index, span)| (span.start, index)).collect();
            starts.sort_unstable();
            starts
        };
        let others = tree.properties.iter().map(|property| property.span);
        let others = others.chain(tree.mas.iter().map(|(_, span)| *span));
        let others = others.chain(tree.tops.iter().map(|name| name.span));
        let others = others.chain(tree.options.iter().map(|option| option.name.span));
        KnownItems {
            agents: starts(tree.agents.iter().map(|agent| agent.name.span).collect()),
            views: starts(tree.views.iter().map(|view| view.span).collect()),
            others: starts(others.collect()),
        }
    }

    /// Returns whether the tree lacks the item at a location, and the place of an agent or a view.
    fn find(&self, kind: ItemKind, span: Span) -> (bool, Option<usize>) {
        let list = match kind {
            ItemKind::Agent => &self.agents,
            ItemKind::View => &self.views,
            ItemKind::Import => return (false, None),
            _ => &self.others,
        };
        let after = list.partition_point(|(start, _)| *start < span.start);
        match list.get(after).filter(|(start, _)| *start < span.end) {
            Some((_, index)) => (false, Some(*index)),
            None => (true, None),
        }
    }
}

/// Returns the name at a token, if there is one.
pub(super) fn name_at(tokens: &Tokens<'_>, index: usize) -> Option<Name> {
    if index >= tokens.len() || tokens.kind(index) != Token::Word || is_reserved(tokens.text(index)) {
        return None;
    }
    Some(Name { text: tokens.text(index).to_string(), span: tokens.span(index) })
}

/// Whether the heading of an agent or a view is complete.
pub(super) fn has_is(tokens: &Tokens<'_>, item: &Item) -> bool {
    (item.first..item.end).any(|index| tokens.text(index) == "is")
}

/// Returns the index after the heading of an agent or a view, which ends with `is`. Without it, the program of an agent
/// begins after the name, if there is one.
pub(super) fn body_start(tokens: &Tokens<'_>, item: &Item) -> usize {
    match (item.first..item.end).find(|&index| tokens.text(index) == "is") {
        Some(is) => is + 1,
        None if item.kind == ItemKind::Agent => {
            let has_name = name_at(tokens, item.first + 1).is_some();
            (item.first + 1 + usize::from(has_name)).min(item.end)
        }
        None => item.end,
    }
}

/// Returns the sections of the program of an agent or a view.
pub(super) fn sections(tokens: &Tokens<'_>, item: &Item) -> Vec<(&'static str, Span)> {
    let mut found: Vec<(&'static str, Span)> = Vec::new();
    let mut at = body_start(tokens, item);
    while at < item.end {
        let heading = match tokens.text(at) {
            "var" => "var",
            "bdi" => "bdi",
            "fair" if !matches!(tokens.kind((at + 1).min(tokens.len())), Token::Assign | Token::Comma) => {
                "fair"
            }
            "init" => "init",
            _ => break,
        };
        let end = section_end(tokens, at + 1, item.end, heading == "init");
        found.push((heading, tokens.span(at).to(tokens.span(end - 1))));
        at = end;
    }
    if at < item.end {
        found.push(("program", tokens.span(at).to(tokens.span(item.end - 1))));
    }
    found
}

/// Returns the index after the section that continues at a token: after its `;` or, for `init`, before the program.
fn section_end(tokens: &Tokens<'_>, from: usize, end: usize, is_init: bool) -> usize {
    let mut depth = 0usize;
    for index in from..end {
        match tokens.kind(index) {
            Token::OpenBrace if is_init && depth == 0 => return index,
            Token::Open | Token::OpenBrace | Token::OpenBracket => depth += 1,
            Token::Close | Token::CloseBrace | Token::CloseBracket => depth = depth.saturating_sub(1),
            Token::Semicolon => return index + 1,
            Token::Word if matches!(tokens.text(index), "loop" | "if" | "skip" | "init" | "bdi" | "var") => {
                return index;
            }
            // `do a` begins the program unless it is a part of a formula.
            Token::Word if is_init && depth == 0 && tokens.text(index) == "do" => {
                let is_operand = matches!(
                    tokens.kind(index - 1),
                    Token::Assign | Token::Not | Token::Ampersand | Token::Vee | Token::Bar | Token::Implies
                );
                if !is_operand {
                    return index;
                }
            }
            _ => {}
        }
    }
    end
}
