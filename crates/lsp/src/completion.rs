//! Completion and signature help.

use std::collections::BTreeSet;
use std::path::Path;

use gen_lsp_types as lsp;
use masque_driver::Language;
use masque_text::{Completion, CompletionKind, NameKind};

use crate::server::Server;
use crate::words::{PieceKind, Tongue, parameters, pieces, word_at};

/// Maximum number of completions.
const MAX_ITEMS: usize = 1_000;
/// Bytes before the position that are searched for an open bracket.
const SEARCHED_BYTES: usize = 4 << 10;

impl Server {
    /// Names and keywords that may stand at a position.
    pub(crate) fn completion(
        &mut self,
        params: &lsp::TextDocumentPositionParams,
    ) -> Option<Vec<lsp::CompletionItem>> {
        let (path, offset) = self.place(params)?;
        let document = self.document(&params.text_document.uri)?.clone();
        let tongue = Tongue::of(&path);
        let before = &document.text[..word_at(&document.text, offset).start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        if let Some(start) = open_import(&document.text[line_start..offset]) {
            return Some(self.importable_files(&path, start));
        }
        if is_in_comment(tongue, &document.text[line_start..offset]) {
            return Some(Vec::new());
        }
        let model = self.names_of(&path).into_iter().next();
        let position = model.as_ref().and_then(|model| model.position(&path, offset));
        let of_language = |found: Vec<Completion>| {
            let is_shown = |one: &Completion| self.client.has_snippets || one.kind != CompletionKind::Snippet;
            found.into_iter().filter(is_shown).map(offered).collect()
        };
        let mut items: Vec<lsp::CompletionItem> = match (&model, position, tongue) {
            (Some(model), Some(position), Tongue::Ispl) => {
                of_language(masque_ispl::completions(&model.index, &model.sources, position))
            }
            (Some(model), Some(position), Tongue::Mu) => {
                of_language(masque_mu::completions(&model.index, &model.sources, position))
            }
            (Some(model), Some(position), Tongue::Bdi) => {
                of_language(masque_bdi::completions(&model.index, &model.sources, position))
            }
            (Some(model), Some(position), Tongue::Lcc) => {
                of_language(masque_lcc::completions(&model.index, &model.sources, position))
            }
            // There are no names in a transition system, and none of a file that is too large.
            _ => words(tongue),
        };
        let mut seen = BTreeSet::new();
        items.retain(|item: &lsp::CompletionItem| seen.insert(item.label.clone()));
        items.truncate(MAX_ITEMS);
        Some(items)
    }

    /// The model files that a file may import, relative to its folder.
    fn importable_files(&self, path: &Path, start: &str) -> Vec<lsp::CompletionItem> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let language = Language::of_path(path);
        let files = self.workspace.files();
        let others = files.iter().filter(|file| *file != path && Language::of_path(file) == language);
        let relative = others.filter_map(|file| Some(file.strip_prefix(folder).ok()?.to_str()?.to_string()));
        let matching = relative.filter(|name| name.starts_with(start) || start.is_empty());
        matching.map(|name| item(name, lsp::CompletionItemKind::File, None)).collect()
    }

    /// The operator whose brackets contain a position, and which operand it is.
    pub(crate) fn signature_help(
        &mut self,
        params: &lsp::TextDocumentPositionParams,
    ) -> Option<lsp::SignatureHelp> {
        let (path, offset) = self.place(params)?;
        let text = &self.documents.get(&path)?.text;
        let from = crate::lines::floor_boundary(text, offset.saturating_sub(SEARCHED_BYTES));
        let tongue = Tongue::of(&path);
        let (word, n_commas) = open_bracket(tongue, &text[from..offset])?;
        let operator = tongue.operator(word)?;
        let parameters = parameters(operator);
        let active = (!parameters.is_empty()).then(|| n_commas.min(parameters.len() - 1) as u32);
        let label = |at: std::ops::Range<usize>| lsp::ParameterInformation {
            label: lsp::ParameterInformationLabel::String(operator.form[at].to_string()),
            documentation: None,
        };
        let signature = lsp::SignatureInformation {
            label: operator.form.to_string(),
            documentation: Some(lsp::Documentation::String(operator.meaning.to_string())),
            parameters: Some(parameters.into_iter().map(label).collect()),
            active_parameter: active.map(lsp::ActiveParameter::Int),
        };
        Some(lsp::SignatureHelp {
            signatures: vec![signature],
            active_signature: Some(0),
            active_parameter: active.map(lsp::ActiveParameter::Int),
        })
    }
}

/// The part of a path that is typed after `import "`.
fn open_import(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("import")?.trim_start().strip_prefix(['"', '\''])?;
    (!rest.contains(['"', '\''])).then_some(rest)
}

/// Whether the end of a line lies in a comment.
fn is_in_comment(tongue: Tongue, line: &str) -> bool {
    pieces(tongue, line).last().is_some_and(|(kind, at)| *kind == PieceKind::Comment && at.end == line.len())
}

/// The word before the innermost open bracket, and the number of commas after it.
fn open_bracket(tongue: Tongue, text: &str) -> Option<(&str, usize)> {
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut word = "";
    for (kind, at) in pieces(tongue, text) {
        match (kind, &text[at.clone()]) {
            (PieceKind::Sign, "(" | "[" | "{") => open.push((word, 0)),
            (PieceKind::Sign, ")" | "]" | "}") => _ = open.pop(),
            (PieceKind::Sign, ",") => {
                if let Some((_, n_commas)) = open.last_mut() {
                    *n_commas += 1;
                }
            }
            _ => {}
        }
        word = if kind == PieceKind::Word { &text[at] } else { "" };
    }
    open.pop().filter(|(word, _)| !word.is_empty())
}

/// The keywords and operators of a language.
fn words(tongue: Tongue) -> Vec<lsp::CompletionItem> {
    let keywords = tongue.keywords().into_iter();
    let keywords = keywords.map(|word| item(word.to_string(), lsp::CompletionItemKind::Keyword, None));
    let is_word = |sign: &str| sign.starts_with(|c: char| c.is_alphabetic());
    let operators = tongue.operators().iter().filter(|operator| is_word(operator.word)).map(|operator| {
        let detail = Some(format!("{}: {}", operator.form, operator.meaning));
        item(operator.word.to_string(), lsp::CompletionItemKind::Operator, detail)
    });
    operators.chain(keywords).collect()
}

/// A completion of the language. A text with places to fill in is shown by its first line.
fn offered(completion: Completion) -> lsp::CompletionItem {
    let Completion { text, kind, detail } = completion;
    let detail = (!detail.is_empty()).then_some(detail);
    match kind {
        CompletionKind::Keyword => item(text, lsp::CompletionItemKind::Keyword, detail),
        CompletionKind::Name(kind) => item(text, item_kind(kind), detail),
        CompletionKind::Snippet => {
            let label = format!("{} ..", without_places(text.lines().next().unwrap_or_default()));
            lsp::CompletionItem {
                insert_text: Some(text),
                insert_text_format: Some(lsp::InsertTextFormat::Snippet),
                ..item(label, lsp::CompletionItemKind::Snippet, detail)
            }
        }
    }
}

/// The text with `${1:agent}` as `agent`, and without `$0`.
fn without_places(text: &str) -> String {
    let text = text.replace("$0", "");
    let mut pieces = text.split("${");
    let first = pieces.next().unwrap_or_default().to_string();
    pieces.fold(first, |plain, piece| {
        let (place, rest) = piece.split_once('}').unwrap_or((piece, ""));
        plain + place.split_once(':').map_or("", |(_, word)| word) + rest
    })
}

fn item(label: String, kind: lsp::CompletionItemKind, detail: Option<String>) -> lsp::CompletionItem {
    lsp::CompletionItem { label, kind: Some(kind), detail, ..lsp::CompletionItem::default() }
}

fn item_kind(kind: NameKind) -> lsp::CompletionItemKind {
    match kind {
        NameKind::Agent | NameKind::Role => lsp::CompletionItemKind::Class,
        NameKind::Variable | NameKind::Index | NameKind::Fixpoint => lsp::CompletionItemKind::Variable,
        NameKind::Value => lsp::CompletionItemKind::EnumMember,
        NameKind::Action | NameKind::Predicate => lsp::CompletionItemKind::Function,
        NameKind::Proposition | NameKind::Property => lsp::CompletionItemKind::Property,
        NameKind::Group | NameKind::World => lsp::CompletionItemKind::Module,
        NameKind::Parameter => lsp::CompletionItemKind::Constant,
        NameKind::Message => lsp::CompletionItemKind::Event,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_commas() {
        assert_eq!(open_bracket(Tongue::Ispl, "AG K(a, f(x, y), "), Some(("K", 2)));
        assert_eq!(open_bracket(Tongue::Ispl, "K(a, (p"), None);
        assert_eq!(open_bracket(Tongue::Ispl, "K(a)"), None);
        assert_eq!(open_bracket(Tongue::Ispl, "K(a, -- K(\n"), Some(("K", 1)));
    }

    #[test]
    fn imports_and_places() {
        assert_eq!(open_import("  import \"par"), Some("par"));
        assert_eq!(open_import("import \"a\"; b"), None);
        assert_eq!(without_places("K(${1:agent}, ${2:phi})$0"), "K(agent, phi)");
    }
}
