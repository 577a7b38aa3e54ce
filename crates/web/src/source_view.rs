//! The source text beside the results, with diagnostics and verdicts in its margin.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::protocol::{DiagnosticInfo, SourceInfo};
use crate::state::ModelState;

/// A sign in the margin of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sign {
    /// `holds`, `fails`, `unknown`, `error`, `warning` or `note`.
    kind: String,
    text: String,
    /// Index of the property that the sign leads to.
    property: Option<usize>,
}

/// All files of the model.
pub(crate) fn sources(base: &str, model: &ModelState) -> Markup {
    html! {
        @for (nth, source) in model.model.sources.iter().enumerate() {
            details.source-file open[nth == 0] id={ "file-" (nth) } {
                summary { code { (source.name) } }
                (source_lines(base, model, source, nth))
            }
        }
    }
}

fn source_lines(base: &str, model: &ModelState, source: &SourceInfo, file: usize) -> Markup {
    let signs = signs(model, &source.name);
    html! {
        div.source tabindex="0" role="region" aria-label={ "Text of " (source.name) } data-scroll={ "source-" (file) } {
            ol {
                @for (index, line) in source.text.lines().enumerate() {
                    @let number = index as u32 + 1;
                    @let here = signs.get(&number);
                    li id={ "L" (file) "-" (number) } class=[here.map(|signs| format!("has-{}", signs[0].kind))] {
                        span.signs {
                            @for sign in here.into_iter().flatten() {
                                @match sign.property {
                                    Some(property) => {
                                        a class={ "sign " (sign.kind) } href={ (base) "/evidence/" (property + 1) } title=(sign.text) { span.sr { (sign.text) } }
                                    }
                                    None => span class={ "sign " (sign.kind) } title=(sign.text) { span.sr { (sign.text) } },
                                }
                            }
                        }
                        code { (line) }
                        @for sign in here.into_iter().flatten().filter(|sign| sign.property.is_none()) {
                            span class={ "remark " (sign.kind) } { (sign.text) }
                        }
                    }
                }
            }
            @if source.is_cut { p.empty { "The rest of the file is not shown." } }
        }
    }
}

/// The signs of each line of a file, most important first.
fn signs(model: &ModelState, file: &str) -> BTreeMap<u32, Vec<Sign>> {
    let mut signs: BTreeMap<u32, Vec<Sign>> = BTreeMap::new();
    let findings = model.checked().map(|info| info.findings.as_slice()).unwrap_or_default();
    for DiagnosticInfo { severity, message, place, .. } in model.model.diagnostics.iter().chain(findings) {
        if let Some((name, line)) = place
            && name == file
        {
            let sign = Sign { kind: severity.clone(), text: message.clone(), property: None };
            signs.entry(*line).or_default().push(sign);
        }
    }
    for (index, property) in model.model.properties.iter().enumerate() {
        let verdict = model.checked().and_then(|info| info.verdicts.get(index));
        if let (Some((name, line)), Some(verdict)) = (&property.place, verdict)
            && name == file
        {
            let text = format!("{} {}", property.title, verdict.word);
            signs.entry(*line).or_default().push(Sign {
                kind: verdict.word.clone(),
                text,
                property: Some(index),
            });
        }
    }
    signs
}

/// The address of a line of a file in the overview.
pub(crate) fn line_address(base: &str, model: &ModelState, (file, line): &(String, u32)) -> Option<String> {
    let nth = model.model.sources.iter().position(|source| source.name == *file)?;
    Some(format!("{base}/#L{nth}-{line}"))
}
