//! The frame of every page: head, navigation, and the parts that several pages share.

use masque_text::counted;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::protocol::Values;
use crate::state::{CheckState, ModelState};

/// A page of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Overview,
    Evidence,
    Simulator,
    Graph,
    Protocol,
    Worlds,
}

/// A page with its frame. Paths in it are relative to `base`.
pub(crate) fn page(base: &str, place: Place, model: &ModelState, title: &str, main: &Markup) -> Markup {
    let path = if model.model.name.is_empty() { "masque" } else { &model.model.name };
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " – " (name) }
                link rel="icon" href={ (base) "/icon.svg" } type="image/svg+xml";
                link rel="stylesheet" href={ (base) "/style.css" };
                script type="module" src={ (base) "/app.js" } {}
            }
            body data-base=(base) {
                a.skip href="#main" { "Skip to the content" }
                (arrow_heads())
                header.top {
                    div.brand { (mask()) span.file title=(path) { (name) } }
                    nav aria-label="Parts" {
                        @for (other, path, label) in places(base) {
                            @if is_shown(other, &model.model.language) { a href=(path) aria-current=[(other == place).then_some("page")] { (label) } }
                        }
                    }
                    div #status { (status(model)) }
                }
                div #busy hidden role="status" {
                    span { "Working…" }
                    form method="post" action={ (base) "/cancel-question" } data-quiet { button { "Cancel" } }
                }
                main #main data-revision=(model.revision) { (main) }
            }
        }
    }
}

/// Whether models of a language have a part.
fn is_shown(place: Place, language: &str) -> bool {
    match place {
        Place::Worlds => language == "bdi",
        Place::Protocol => language == "lcc",
        _ => true,
    }
}

fn places(base: &str) -> [(Place, String, &'static str); 6] {
    [
        (Place::Overview, format!("{base}/"), "Overview"),
        (Place::Evidence, format!("{base}/evidence"), "Evidence"),
        (Place::Simulator, format!("{base}/simulate"), "Simulator"),
        (Place::Graph, format!("{base}/graph"), "State graph"),
        (Place::Protocol, format!("{base}/protocol"), "Protocol"),
        (Place::Worlds, format!("{base}/worlds"), "Worlds"),
    ]
}

/// The heads of arrows, which drawings refer to.
fn arrow_heads() -> Markup {
    PreEscaped(
        r#"<svg class="hidden" aria-hidden="true"><defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 L10 5 L0 10 z"/></marker></defs></svg>"#
            .to_string(),
    )
}

/// The sign of the program.
fn mask() -> Markup {
    PreEscaped(
        r#"<svg class="mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true"><path d="M3 10c4-3 9-3 13-1 4-2 9-2 13 1 0 7-3 13-8 13-2 0-3-2-5-2s-3 2-5 2c-5 0-8-6-8-13z" fill="currentColor"/><ellipse cx="10.5" cy="13.5" rx="3" ry="2" class="eye"/><ellipse cx="21.5" cy="13.5" rx="3" ry="2" class="eye"/></svg>"#
            .to_string(),
    )
}

/// The state of the check in a few words.
pub(crate) fn status(model: &ModelState) -> Markup {
    let n_errors = model.model.diagnostics.iter().filter(|found| found.severity == "error").count();
    html! {
        @match &model.check {
            CheckState::Loading => span.chip.busy { "loading" },
            CheckState::NotChecked if n_errors > 0 => span.chip.fails { (counted(n_errors, "error", "errors")) },
            CheckState::NotChecked => span.chip.unknown { "not checked" },
            CheckState::Running(info) => span.chip.busy { "checking " (info.decided) "/" (info.total.max(model.model.properties.len())) },
            CheckState::Cancelled => span.chip.unknown { "cancelled" },
            CheckState::Failed(_) => span.chip.fails { "failed" },
            CheckState::Done { info, .. } => {
                @for (word, n) in count_verdicts(info) {
                    span class={ "chip " (word) } { (n) " " (verb(word, n)) }
                }
            },
        }
    }
}

fn count_verdicts(info: &crate::protocol::CheckInfo) -> Vec<(&'static str, usize)> {
    let count = |word: &str| info.verdicts.iter().filter(|verdict| verdict.word == word).count();
    let all = ["holds", "fails", "unknown"].map(|word| (word, count(word)));
    all.into_iter().filter(|(_, n)| *n > 0).collect()
}

fn verb(word: &str, n: usize) -> &'static str {
    match (word, n) {
        ("holds", 1) => "holds",
        ("holds", _) => "hold",
        ("fails", 1) => "fails",
        ("fails", _) => "fail",
        _ => "unknown",
    }
}

/// A verdict as a badge.
pub(crate) fn verdict(word: &str, reason: Option<&str>) -> Markup {
    html! {
        span class={ "verdict " (word) } { (word) @if let Some(reason) = reason { " (" (reason) ")" } }
    }
}

/// A time in words.
pub(crate) fn time(milliseconds: u64) -> String {
    match milliseconds {
        0 => "< 1 ms".to_string(),
        1..=999 => format!("{milliseconds} ms"),
        1000..=59_999 => format!("{:.1} s", milliseconds as f64 / 1000.0),
        _ => format!("{} min {} s", milliseconds / 60_000, milliseconds / 1000 % 60),
    }
}

/// A message in place of content.
pub(crate) fn empty(text: &str) -> Markup {
    html! { p.empty { (text) } }
}

/// Maximum number of characters of a value beside others.
const MAX_NARROW_CHARS: usize = 36;

/// A variable, its value, and whether the value changed.
type ShownValue<'v> = (&'v str, &'v str, bool);

/// The values of a state, grouped by agent. Values that differ from those of the state before are marked.
pub(crate) fn values_table(values: &Values, before: Option<&Values>) -> Markup {
    let mut groups: Vec<(&str, Vec<ShownValue<'_>>)> = Vec::new();
    for (index, (name, value)) in values.iter().enumerate() {
        let (group, variable) = name.rsplit_once('.').unwrap_or(("", name));
        let old = before.and_then(|before| match before.get(index) {
            Some((known, old)) if known == name => Some(old),
            _ => before.iter().find(|(known, _)| known == name).map(|(_, old)| old),
        });
        let row = (variable, value.as_str(), before.is_some() && old != Some(value));
        match groups.last_mut() {
            Some((known, rows)) if *known == group => rows.push(row),
            _ => groups.push((group, vec![row])),
        }
    }
    // Long values, such as the clauses of a protocol, get the whole width.
    let is_wide = values.iter().any(|(_, value)| value.chars().count() > MAX_NARROW_CHARS);
    html! {
        div.lanes.wide[is_wide] {
            @for (group, rows) in &groups {
                section.lane-card {
                    @if !group.is_empty() { h4 { (group) } }
                    dl {
                        @for (name, value, is_changed) in rows {
                            div.changed[*is_changed] {
                                dt { (name) }
                                dd { (value) @if *is_changed { span.sr { " (changed)" } } }
                            }
                        }
                    }
                }
            }
        }
    }
}
