//! Requests about the name at a position: hover, definition, references, highlights and renaming.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gen_lsp_types as lsp;
use masque_text::NameKind;
use serde_json::{Value, json};

use crate::names::{ModelNames, Occurrences, occurrences, unranged};
use crate::server::{Refusal, Server};
use crate::words::{Tongue, word_at};

impl Server {
    /// A place in an open document: its path, and the offset in bytes.
    pub(crate) fn place(&self, params: &lsp::TextDocumentPositionParams) -> Option<(PathBuf, usize)> {
        let document = self.document(&params.text_document.uri)?;
        Some((document.path.clone(), document.offset(params.position, self.encoding)))
    }

    fn occurrences(&mut self, path: &Path, offset: usize) -> Option<Occurrences> {
        let models = self.names_of(path);
        let uris = self.uris();
        occurrences(&models, path, offset, self.encoding, &uris)
    }

    /// The declaration of a name, the meaning of an operator, and the verdict on a property.
    pub(crate) fn hover(&mut self, params: &lsp::TextDocumentPositionParams) -> Option<lsp::Hover> {
        let (path, offset) = self.place(params)?;
        let mut parts = Vec::new();
        let mut range = None;
        for model in self.names_of(&path) {
            let Some((declaration, span)) = model.at(&path, offset) else { continue };
            let declaration = model.declaration(declaration);
            let id = Tongue::of(&path);
            parts.push(format!("```{}\n{}\n```", code_name(id), declaration.text));
            parts.extend(declaration.details.iter().cloned());
            range = Some(model.places(self.encoding, &self.uris()).range(span));
            break;
        }
        if parts.is_empty()
            && let Some((operator, at)) = self.operator_at(&path, offset)
        {
            parts.push(format!("`{}`: {}", operator.form, operator.meaning));
            range = self.documents.get(&path).map(|document| document.range(at.start, at.end, self.encoding));
        }
        parts.extend(self.verdict_at(&path, params.position));
        let value = parts.join("\n\n");
        let contents =
            lsp::Contents::MarkupContent(lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value });
        (!parts.is_empty()).then_some(lsp::Hover { contents, range })
    }

    fn operator_at(
        &self,
        path: &Path,
        offset: usize,
    ) -> Option<(&'static masque_text::Operator, std::ops::Range<usize>)> {
        let text = &self.documents.get(path)?.text;
        let tongue = Tongue::of(path);
        let word = word_at(text, offset);
        if let Some(operator) = tongue.operator(&text[word.clone()]) {
            return Some((operator, word));
        }
        // A sign around the position, the longest first.
        (1..=3).rev().find_map(|length| {
            let starts =
                (offset.saturating_sub(length)..=offset).filter(|start| text.is_char_boundary(*start));
            starts
                .filter_map(|start| Some(start..start + length).filter(|at| text.get(at.clone()).is_some()))
                .find_map(|at| {
                    let sign = text.get(at.clone())?;
                    let is_sign = !sign.contains(|c: char| c.is_alphanumeric() || c.is_whitespace());
                    tongue.operator(sign).filter(|_| is_sign).map(|operator| (operator, at))
                })
        })
    }

    /// The location of a declaration: of its name, or of the whole.
    pub(crate) fn definition(&mut self, params: &lsp::TextDocumentPositionParams) -> Option<lsp::Location> {
        let (path, offset) = self.place(params)?;
        match self.occurrences(&path, offset) {
            Some(found) => Some(found.declared),
            None => self.imported_file(&path, offset),
        }
    }

    /// The location of the whole declaration.
    pub(crate) fn declaration(&mut self, params: &lsp::TextDocumentPositionParams) -> Option<lsp::Location> {
        let (path, offset) = self.place(params)?;
        self.occurrences(&path, offset).map(|found| found.whole)
    }

    /// The beginning of the file whose path stands at the offset.
    fn imported_file(&self, path: &Path, offset: usize) -> Option<lsp::Location> {
        let text = &self.documents.get(path)?.text;
        let line_start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
        let target = crate::workspace::imports(path, &text[line_start..line_end]).into_iter().next()?;
        target.is_file().then(|| lsp::Location { uri: self.uri(&target), range: lsp::Range::default() })
    }

    /// All occurrences of a name in the workspace.
    pub(crate) fn references(&mut self, params: &lsp::ReferenceParams) -> Option<Vec<lsp::Location>> {
        let (path, offset) = self.place(&params.text_document_position_params)?;
        let found = self.occurrences(&path, offset)?;
        let mut locations: Vec<lsp::Location> = Vec::new();
        for (file, range) in &found.uses {
            locations.push(lsp::Location { uri: self.uri(file), range: unranged(*range) });
        }
        if !params.context.include_declaration {
            locations.retain(|location| *location != found.declared);
        }
        Some(locations)
    }

    /// The occurrences of a name in the same file.
    pub(crate) fn highlights(
        &mut self,
        params: &lsp::TextDocumentPositionParams,
    ) -> Option<Vec<lsp::DocumentHighlight>> {
        let (path, offset) = self.place(params)?;
        let found = self.occurrences(&path, offset)?;
        let here = found.uses.iter().filter(|(file, _)| *file == path);
        Some(
            here.map(|(_, range)| {
                let range = unranged(*range);
                let is_declaration = found.declared.range == range;
                let kind = if is_declaration {
                    lsp::DocumentHighlightKind::Write
                } else {
                    lsp::DocumentHighlightKind::Read
                };
                lsp::DocumentHighlight { range, kind: Some(kind) }
            })
            .collect(),
        )
    }

    /// The range and the text of the name to rename.
    pub(crate) fn prepare_rename(
        &mut self,
        params: &lsp::TextDocumentPositionParams,
    ) -> Result<Value, Refusal> {
        let (path, offset) = self.place(params).ok_or_else(|| Refusal::failed("the document is not open"))?;
        let found =
            self.occurrences(&path, offset).ok_or_else(|| Refusal::failed("there is no name here"))?;
        Ok(json!({"range": found.here, "placeholder": found.name}))
    }

    /// Renames a name in all files of the workspace that use it. Refuses words that cannot be names, and names that
    /// are taken.
    pub(crate) fn rename(&mut self, params: &lsp::RenameParams) -> Result<lsp::WorkspaceEdit, Refusal> {
        let place = &params.text_document_position_params;
        let (path, offset) = self.place(place).ok_or_else(|| Refusal::failed("the document is not open"))?;
        let found =
            self.occurrences(&path, offset).ok_or_else(|| Refusal::failed("there is no name here"))?;
        let new = params.new_name.trim();
        check_new_name(Tongue::of(&path), &found, new)?;
        for model in self.names_of(&path) {
            check_clash(&model, &path, offset, new)?;
        }
        let mut changes: HashMap<lsp::Uri, Vec<lsp::TextEdit>> = HashMap::new();
        for (file, range) in &found.uses {
            let edit = lsp::TextEdit { range: unranged(*range), new_text: new.to_string() };
            changes.entry(self.uri(file)).or_default().push(edit);
        }
        Ok(lsp::WorkspaceEdit { changes: Some(changes), ..lsp::WorkspaceEdit::default() })
    }
}

/// The name of a language in blocks of code.
pub(crate) fn code_name(tongue: Tongue) -> &'static str {
    match tongue {
        Tongue::Ispl => "ispl",
        Tongue::Bdi => "bdi",
        Tongue::Lcc => "lcc",
        Tongue::Mu => "mu",
        Tongue::Aut => "text",
    }
}

fn check_new_name(tongue: Tongue, found: &Occurrences, new: &str) -> Result<(), Refusal> {
    if tongue.keywords().contains(&new) {
        return Err(Refusal::failed(format!("`{new}` is a keyword and cannot be a name")));
    }
    if !tongue.is_name(new) {
        return Err(Refusal::failed(format!(
            "`{new}` is not a name: names consist of letters, digits and `_`, and begin with a letter"
        )));
    }
    // In protocols, capital letters distinguish variables from constants.
    let is_capital = |name: &str| name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
    if tongue == Tongue::Lcc && is_capital(&found.name) != is_capital(new) {
        return Err(Refusal::failed(format!(
            "`{new}` cannot replace `{}`: names of variables begin with a capital letter, other names do not",
            found.name
        )));
    }
    Ok(())
}

/// Refuses a name that another declaration has: of the same parent, or around it. Values of enumerations may be shared.
fn check_clash(model: &Arc<ModelNames>, path: &Path, offset: usize, new: &str) -> Result<(), Refusal> {
    let Some((place, _)) = model.at(path, offset) else { return Ok(()) };
    let renamed = model.declaration(place);
    if renamed.name == new {
        return Ok(());
    }
    let others = (0u32..).zip(&model.index.declarations).filter(|(other, _)| *other != place);
    let clash = others.map(|(_, other)| other).find(|other| {
        let is_shared = other.kind == NameKind::Value && renamed.kind == NameKind::Value;
        let is_nearby = other.parent == renamed.parent || other.parent.is_none() || renamed.parent.is_none();
        other.name == new && is_nearby && !is_shared
    });
    match clash {
        Some(other) => Err(Refusal::failed(format!("`{new}` is already declared: `{}`", other.text))),
        None => Ok(()),
    }
}
