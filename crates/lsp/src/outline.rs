//! Outlines: symbols of a document and of the workspace, folding, and semantic tokens.

use std::path::Path;

use gen_lsp_types as lsp;
use masque_text::NameKind;

use crate::document::Document;
use crate::lines::Encoding;
use crate::names::ModelNames;
use crate::server::Server;
use crate::words::{PieceKind, Tongue, pieces};

/// Maximum number of symbols of the workspace that one request returns.
const MAX_SYMBOLS: usize = 500;
/// Maximum number of models whose names one request collects.
const MAX_MODELS: usize = 200;
/// Largest document with semantic tokens and folding, in bytes.
const MAX_TOKEN_BYTES: usize = 8 << 20;

/// The types of semantic tokens, in the order of the legend.
pub(crate) const TOKEN_TYPES: [&str; 13] = [
    "class",
    "variable",
    "enumMember",
    "function",
    "property",
    "namespace",
    "parameter",
    "event",
    "keyword",
    "comment",
    "number",
    "string",
    "operator",
];
/// The modifiers of semantic tokens, in the order of the legend.
pub(crate) const TOKEN_MODIFIERS: [&str; 1] = ["declaration"];

impl Server {
    /// The declarations of a document as a tree.
    pub(crate) fn document_symbols(&mut self, uri: &lsp::Uri) -> Option<Vec<lsp::DocumentSymbol>> {
        let path = self.document(uri)?.path.clone();
        let model = self.names_of(&path).into_iter().next()?;
        let uris = self.uris();
        let places = model.places(self.encoding, &uris);
        let declared: Vec<_> = model.declared_in(&path).collect();
        // Children come after their parents, so the tree is built from the end.
        let mut children: std::collections::HashMap<Option<u32>, Vec<lsp::DocumentSymbol>> =
            Default::default();
        let is_declared = |place: &u32| declared.iter().any(|(other, _)| other == place);
        for (place, declaration) in declared.iter().rev() {
            let mut inner = children.remove(&Some(*place)).unwrap_or_default();
            inner.reverse();
            let selection_range = places.range(declaration.span);
            let whole = places.range(declaration.whole);
            #[allow(deprecated)]
            let symbol = lsp::DocumentSymbol {
                name: declaration.name.clone(),
                detail: Some(declaration.text.clone()).filter(|text| *text != declaration.name),
                kind: symbol_kind(declaration.kind),
                tags: None,
                deprecated: None,
                range: if contains(whole, selection_range) { whole } else { selection_range },
                selection_range,
                children: (!inner.is_empty()).then_some(inner),
            };
            let parent = declaration.parent.filter(|parent| parent < place && is_declared(parent));
            children.entry(parent).or_default().push(symbol);
        }
        let mut top = children.remove(&None).unwrap_or_default();
        top.reverse();
        Some(top)
    }

    /// The declarations of all models of the workspace whose names contain the letters of the query in their order.
    pub(crate) fn workspace_symbols(&mut self, query: &str) -> Vec<lsp::WorkspaceSymbol> {
        let mut found = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for file in self.workspace.files().into_iter().take(MAX_MODELS) {
            if found.len() >= MAX_SYMBOLS || !seen.insert(file.clone()) {
                continue;
            }
            for model in self.names_of(&file) {
                found.extend(self.symbols_of(&model, &file, query));
            }
        }
        found.truncate(MAX_SYMBOLS);
        found.dedup();
        found
    }

    fn symbols_of(&self, model: &ModelNames, file: &Path, query: &str) -> Vec<lsp::WorkspaceSymbol> {
        let uris = self.uris();
        let places = model.places(self.encoding, &uris);
        let matching =
            model.declared_in(file).filter(|(_, declaration)| matches_query(&declaration.name, query));
        let symbol = |(_, declaration): (u32, &masque_text::Declaration)| {
            let parent = declaration.parent.and_then(|parent| model.index.declarations.get(parent as usize));
            lsp::WorkspaceSymbol {
                location: lsp::WorkspaceSymbolLocation::Location(places.location(declaration.span)),
                data: None,
                base_symbol_information: lsp::BaseSymbolInformation {
                    name: declaration.name.clone(),
                    kind: symbol_kind(declaration.kind),
                    tags: None,
                    container_name: parent.map(|parent| parent.name.clone()),
                },
            }
        };
        matching.take(MAX_SYMBOLS).map(symbol).collect()
    }

    /// Sections, declarations and comments of more than one line.
    pub(crate) fn folding(&mut self, uri: &lsp::Uri) -> Option<Vec<lsp::FoldingRange>> {
        let document = self.document(uri)?.clone();
        if document.text.len() > MAX_TOKEN_BYTES {
            return Some(Vec::new());
        }
        let mut lines: Vec<(u32, u32, Option<lsp::FoldingRangeKind>)> = Vec::new();
        if let Some(model) = self.names_of(&document.path).into_iter().next() {
            let uris = self.uris();
            let places = model.places(self.encoding, &uris);
            let file = model.file(&document.path).map(|file| model.sources.span(file));
            let whole = model.declared_in(&document.path).map(|(_, declaration)| declaration.whole);
            let sections = model.index.sections.iter().map(|section| section.span);
            let is_inside = |span: &masque_text::Span| {
                file.is_some_and(|file| file.start <= span.start && span.end <= file.end)
            };
            for span in whole.chain(sections).filter(is_inside) {
                let range = places.range(span);
                lines.push((range.start.line, range.end.line, None));
            }
        }
        lines.extend(comment_lines(&document, self.encoding));
        lines.retain(|(first, last, _)| first < last);
        lines.sort_by_key(|(first, last, _)| (*first, *last));
        lines.dedup_by_key(|(first, last, _)| (*first, *last));
        let range = |(start_line, end_line, kind)| lsp::FoldingRange {
            start_line,
            end_line,
            kind,
            ..lsp::FoldingRange::default()
        };
        Some(lines.into_iter().map(range).collect())
    }

    /// Names by their kinds, and keywords, comments, numbers and texts.
    pub(crate) fn semantic_tokens(&mut self, uri: &lsp::Uri) -> Option<lsp::SemanticTokens> {
        let document = self.document(uri)?.clone();
        if document.text.len() > MAX_TOKEN_BYTES {
            return Some(lsp::SemanticTokens::default());
        }
        let tongue = Tongue::of(&document.path);
        let keywords = tongue.keywords();
        let model = self.names_of(&document.path).into_iter().next();
        let mut tokens = Vec::new();
        for (kind, at) in pieces(tongue, &document.text) {
            let name = model.as_ref().filter(|_| kind == PieceKind::Word).and_then(|model| {
                let (declaration, span) = model.at(&document.path, at.start)?;
                let is_here = model.position(&document.path, at.start)? == span.start;
                let declaration = model.declaration(declaration);
                is_here.then_some((token_type(declaration.kind), u32::from(declaration.span == span)))
            });
            let plain = || match kind {
                PieceKind::Comment => Some("comment"),
                PieceKind::Text => Some("string"),
                PieceKind::Number => Some("number"),
                PieceKind::Word if keywords.contains(&&document.text[at.clone()]) => Some("keyword"),
                PieceKind::Word if tongue.operator(&document.text[at.clone()]).is_some() => Some("operator"),
                PieceKind::Word | PieceKind::Sign => None,
            };
            let Some((word, modifiers)) = name.or_else(|| Some((plain()?, 0))) else { continue };
            tokens.push((at, word, modifiers));
        }
        Some(lsp::SemanticTokens { result_id: None, data: encoded(&document, tokens, self.encoding) })
    }
}

/// Tokens in the relative form of the protocol. A token that continues on further lines becomes one per line.
fn encoded(
    document: &Document,
    tokens: Vec<(std::ops::Range<usize>, &str, u32)>,
    encoding: Encoding,
) -> Vec<lsp::SemanticToken> {
    let mut data = Vec::new();
    let (mut line, mut start) = (0, 0);
    for (at, word, token_modifiers_bitset) in tokens {
        let token_type = TOKEN_TYPES.iter().position(|other| *other == word).unwrap_or(0) as u32;
        let mut from = at.start;
        for part in document.text[at].split_inclusive('\n') {
            let content = part.trim_end_matches(['\n', '\r']);
            let range = document.range(from, from + content.len(), encoding);
            from += part.len();
            if range.start == range.end || range.start.line != range.end.line {
                continue;
            }
            let delta_line = range.start.line - line;
            let delta_start =
                if delta_line == 0 { range.start.character - start } else { range.start.character };
            (line, start) = (range.start.line, range.start.character);
            let length = range.end.character - range.start.character;
            data.push(lsp::SemanticToken {
                delta_line,
                delta_start,
                length,
                token_type,
                token_modifiers_bitset,
            });
        }
    }
    data
}

/// Comments that follow each other, from the first to the last line.
fn comment_lines(document: &Document, encoding: Encoding) -> Vec<(u32, u32, Option<lsp::FoldingRangeKind>)> {
    let mut blocks: Vec<(u32, u32)> = Vec::new();
    let mut ends_with_comment = false;
    for (kind, at) in pieces(Tongue::of(&document.path), &document.text) {
        if kind != PieceKind::Comment {
            ends_with_comment = false;
            continue;
        }
        let range = document.range(at.start, at.end, encoding);
        match blocks.last_mut().filter(|_| ends_with_comment) {
            Some((_, last)) if *last + 1 >= range.start.line => *last = range.end.line,
            _ => blocks.push((range.start.line, range.end.line)),
        }
        ends_with_comment = true;
    }
    blocks.into_iter().map(|(first, last)| (first, last, Some(lsp::FoldingRangeKind::Comment))).collect()
}

fn contains(outer: lsp::Range, inner: lsp::Range) -> bool {
    let at = |position: lsp::Position| (position.line, position.character);
    at(outer.start) <= at(inner.start) && at(inner.end) <= at(outer.end)
}

/// Whether a name has the letters of a query in their order, whatever their case.
fn matches_query(name: &str, query: &str) -> bool {
    let mut letters = name.chars().map(|c| c.to_ascii_lowercase());
    query.chars().map(|c| c.to_ascii_lowercase()).all(|wanted| letters.any(|letter| letter == wanted))
}

fn symbol_kind(kind: NameKind) -> lsp::SymbolKind {
    match kind {
        NameKind::Agent | NameKind::Role => lsp::SymbolKind::Class,
        NameKind::Variable | NameKind::Index | NameKind::Fixpoint => lsp::SymbolKind::Variable,
        NameKind::Value => lsp::SymbolKind::EnumMember,
        NameKind::Action | NameKind::Predicate => lsp::SymbolKind::Function,
        NameKind::Proposition => lsp::SymbolKind::Boolean,
        NameKind::Group => lsp::SymbolKind::Array,
        NameKind::Parameter => lsp::SymbolKind::Constant,
        NameKind::Property => lsp::SymbolKind::Property,
        NameKind::Message => lsp::SymbolKind::Event,
        NameKind::World => lsp::SymbolKind::Namespace,
    }
}

/// The type of the semantic token of a name.
pub(crate) fn token_type(kind: NameKind) -> &'static str {
    match kind {
        NameKind::Agent | NameKind::Role => "class",
        NameKind::Variable | NameKind::Fixpoint => "variable",
        NameKind::Value => "enumMember",
        NameKind::Action | NameKind::Predicate => "function",
        NameKind::Proposition | NameKind::Property => "property",
        NameKind::Group | NameKind::World => "namespace",
        NameKind::Parameter | NameKind::Index => "parameter",
        NameKind::Message => "event",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_match_letters_in_order() {
        assert!(matches_query("sendack", "SA") && matches_query("x", ""));
        assert!(!matches_query("sendack", "as2"));
    }
}
