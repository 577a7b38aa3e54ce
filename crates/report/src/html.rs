//! The page around evidence: its head, the overview of each model, and the legends of drawings.

use std::collections::HashMap;
use std::fmt::{self, Write};

use crate::graph_svg::escaped;
use crate::page_style::STYLE;
use crate::wording::plural;

/// Version that is named on the page.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A page with the evidence of one or more models.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    models: Vec<ModelPart>,
    /// Drawings and tables that are on the page, with the ids of the elements that contain them.
    known: HashMap<String, String>,
    /// Number of elements that were given an id.
    n_ids: usize,
}

/// The part of a page about one model.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelPart {
    /// Name of the file, or of the files together.
    pub(crate) name: String,
    /// Summary of the verdicts.
    pub(crate) summary: String,
    /// Facts about the model and its check, in pairs of a word and HTML.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// Messages about the model, as items of a list.
    pub(crate) messages: Vec<String>,
    /// Meaning of the colours and symbols in the drawings, each once.
    pub(crate) legend: Vec<String>,
    /// Properties.
    pub(crate) sections: Vec<Section>,
    /// Headings of the columns with the name and the formula of a section, if these are something else.
    pub(crate) headings: Option<[&'static str; 2]>,
}

/// The part of a page about one property.
#[derive(Clone, Debug, Default)]
pub(crate) struct Section {
    /// Word of the verdict, which selects its colour.
    pub(crate) word: &'static str,
    /// Verdict, with its reason if it is unknown.
    pub(crate) verdict: String,
    pub(crate) name: String,
    pub(crate) formula: String,
    /// Evidence, as HTML.
    pub(crate) body: String,
    /// Whether the body has no evidence.
    pub(crate) is_bare: bool,
}

impl Page {
    /// Adds the part of a model.
    pub(crate) fn add(&mut self, part: ModelPart) {
        self.models.push(part);
    }

    /// Writes an element with content, or a link to the element that has the same content already. `open` is
    /// the start tag without its end, `what` names the content in the link.
    pub(crate) fn write_once(
        &mut self,
        out: &mut String,
        (open, close): (&str, &str),
        key: &str,
        content: &str,
        what: &str,
    ) -> fmt::Result {
        if let Some(id) = self.known.get(key) {
            return writeln!(out, r##"<p>{what} is <a href="#{id}">the same as above</a>.</p>"##);
        }
        self.n_ids += 1;
        let id = format!("e{}", self.n_ids);
        self.known.insert(key.to_string(), id.clone());
        writeln!(out, "{open} id=\"{id}\">\n{content}{close}")
    }

    /// The page as HTML.
    pub(crate) fn html(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let is_single = self.models.len() == 1;
        let name = match &self.models[..] {
            [model] => model.name.clone(),
            models => plural(models.len(), "model", "models"),
        };
        let title = match &self.models[..] {
            [model] => format!("{}: {}", model.name, model.summary),
            models => models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>().join(", "),
        };
        write_head(out, &title)?;
        writeln!(out, "<header><h1>{}</h1>", escaped(&name))?;
        if let [model] = &self.models[..] {
            writeln!(out, "<p>{}</p>", escaped(&model.summary))?;
        } else {
            writeln!(out, r#"<nav aria-label="Models"><ul>"#)?;
            for (at, model) in self.models.iter().enumerate() {
                let (name, summary) = (escaped(&model.name), escaped(&model.summary));
                writeln!(out, r##"<li><a href="#m{}">{name}</a>: {summary}</li>"##, at + 1)?;
            }
            writeln!(out, "</ul></nav>")?;
        }
        writeln!(out, "</header>\n<main id=\"main\">")?;
        for (at, model) in self.models.iter().enumerate() {
            let level = if is_single { 2 } else { 3 };
            writeln!(out, r#"<article id="m{}">"#, at + 1)?;
            if is_single {
                writeln!(out, "<h2>Overview</h2>")?;
            } else {
                writeln!(out, "<h2>{}</h2>\n<p>{}</p>", escaped(&model.name), escaped(&model.summary))?;
            }
            model.write(out, at, level)?;
            writeln!(out, "</article>")?;
        }
        writeln!(out, "</main>\n<footer><p>Written by masque {VERSION}.</p></footer></body></html>")
    }
}

fn section_id(model: usize, nth: usize) -> String {
    format!("m{}-p{}", model + 1, nth + 1)
}

impl ModelPart {
    /// Writes the overview and the sections; `at` is the index of the model, `level` that of their headings.
    fn write(&self, out: &mut String, at: usize, level: u32) -> fmt::Result {
        if !self.facts.is_empty() {
            writeln!(out, r#"<dl class="facts">"#)?;
            for (word, html) in &self.facts {
                writeln!(out, "<dt>{word}</dt><dd>{html}</dd>")?;
            }
            writeln!(out, "</dl>")?;
        }
        if !self.sections.is_empty() {
            self.write_properties(out, at)?;
        }
        if !self.messages.is_empty() {
            writeln!(out, r#"<ul class="messages">"#)?;
            self.messages.iter().try_for_each(|message| writeln!(out, "{message}"))?;
            writeln!(out, "</ul>")?;
        }
        if !self.legend.is_empty() {
            writeln!(out, r#"<p class="legend">In drawings: {}</p>"#, self.legend.join(";\n"))?;
        }
        for (nth, section) in self.sections.iter().enumerate() {
            section.write(out, &section_id(at, nth), level)?;
        }
        Ok(())
    }

    /// Writes the table of the properties, with links to their sections.
    fn write_properties(&self, out: &mut String, at: usize) -> fmt::Result {
        writeln!(out, r#"<nav aria-label="Properties of {}">"#, escaped(&self.name))?;
        writeln!(out, r#"<table class="overview"><thead><tr><th scope="col">verdict</th>"#)?;
        let [name, formula] = self.headings.unwrap_or(["property", "formula"]);
        writeln!(out, r#"<th scope="col">{name}</th><th scope="col">{formula}</th></tr></thead><tbody>"#)?;
        for (nth, section) in self.sections.iter().enumerate() {
            let id = section_id(at, nth);
            let Section { word, verdict, name, formula, .. } = section;
            let [verdict, name, formula] = [verdict, name, formula].map(|text| escaped(text));
            writeln!(
                out,
                r##"<tr><td><span class="verdict {word}">{verdict}</span></td><td><a href="#{id}">{name}</a></td><td>{formula}</td></tr>"##
            )?;
        }
        writeln!(out, "</tbody></table></nav>")
    }
}

impl Section {
    fn write(&self, out: &mut String, id: &str, level: u32) -> fmt::Result {
        let Section { word, verdict, name, formula, body, is_bare } = self;
        let class = if *is_bare { r#" class="bare""# } else { "" };
        let [verdict, name, formula] = [verdict, name, formula].map(|text| escaped(text));
        writeln!(
            out,
            r#"<section id="{id}"{class}><h{level}><span class="verdict {word}">{verdict}</span> {name} <code>{formula}</code></h{level}>"#
        )?;
        writeln!(out, "{body}</section>")
    }
}

/// Writes everything before the header of the page. The policy forbids scripts and everything from elsewhere.
fn write_head(out: &mut String, title: &str) -> fmt::Result {
    let title = escaped(title);
    writeln!(
        out,
        r##"<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="masque {VERSION}">
<title>{title}</title>
<style>{STYLE}</style></head><body>
<a class="skip" href="#main">Skip to the content</a>
<svg class="hidden" aria-hidden="true"><defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 L10 5 L0 10 z"/></marker></defs></svg>"##
    )
}
