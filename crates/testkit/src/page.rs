//! Tests of documentation pages: their code blocks, and the pages that explain diagnostics.
//!
//! A page of diagnostics has an introduction and one section `## code` for each code. The examples
//! of a section must trigger exactly its code; see [`DiagnosticsPage`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use masque_text::{Diagnostic, Sources, render};

/// The code blocks of a Markdown text that are marked with this word.
pub fn code_blocks<'a>(text: &'a str, mark: &str) -> Vec<&'a str> {
    let fence = format!("```{mark}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

/// A diagnostic and its rendering as text.
pub type Rendered = (Diagnostic, String);

/// Renders diagnostics as text without colours.
pub fn rendered(sources: &Sources, diagnostics: Vec<Diagnostic>) -> Vec<Rendered> {
    let with_text = |diagnostic| {
        let text = render(sources, &diagnostic, false);
        (diagnostic, text)
    };
    diagnostics.into_iter().map(with_text).collect()
}

/// The renderings of diagnostics, one after the other.
pub fn all_text(found: &[Rendered]) -> String {
    found.iter().map(|(_, text)| text.as_str()).collect()
}

/// The section of one diagnostic code.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    /// Diagnostic code, the heading of the section.
    pub code: &'a str,
    /// Text below the heading.
    pub text: &'a str,
}

/// A page that explains diagnostics.
#[derive(Debug)]
pub struct DiagnosticsPage<'a> {
    /// Text before the first section.
    pub introduction: &'a str,
    /// Sections in the order of the page.
    pub sections: Vec<Section<'a>>,
}

impl<'a> DiagnosticsPage<'a> {
    /// Splits the text of a page into its sections.
    pub fn new(text: &'a str) -> Self {
        let mut parts = text.split("\n## ");
        let introduction = parts.next().unwrap_or_default();
        let sections = parts.filter_map(|part| part.split_once('\n'));
        DiagnosticsPage {
            introduction,
            sections: sections.map(|(code, text)| Section { code, text }).collect(),
        }
    }

    /// Checks that each example triggers the code of its section and nothing else, and that each good
    /// example triggers nothing. Returns all renderings, for a snapshot.
    ///
    /// `bad` and `good` return the diagnostics of the examples of a section, one list per example.
    ///
    /// # Panics
    ///
    /// Panics with a list of the examples that are wrong.
    pub fn check_examples(
        &self,
        bad: impl Fn(Section<'a>) -> Vec<Vec<Rendered>>,
        good: impl Fn(Section<'a>) -> Vec<Vec<Rendered>>,
    ) -> String {
        let (mut all, mut wrong) = (String::new(), String::new());
        for &section in &self.sections {
            let code = section.code;
            for found in bad(section) {
                if found.len() != 1 || found[0].0.code != code {
                    wrong += &format!("{code} finds {}:\n{}", found.len(), all_text(&found));
                }
                all += &(all_text(&found) + "\n");
            }
            for found in good(section).iter().filter(|found| !found.is_empty()) {
                wrong += &format!("the good example of {code}:\n{}", all_text(found));
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
        all
    }

    /// Checks that the page is sorted, explains exactly these codes (others with another prefix may stand
    /// beside them), and that each section begins with a sentence.
    ///
    /// # Panics
    ///
    /// Panics if one of these does not hold.
    pub fn check_codes(&self, prefix: &str, codes: &BTreeSet<String>) {
        let of_page: Vec<&str> = self.sections.iter().map(|section| section.code).collect();
        assert!(of_page.is_sorted(), "{of_page:?}");
        let explained = of_page.into_iter().filter(|code| code.starts_with(prefix)).map(String::from);
        assert_eq!(explained.collect::<BTreeSet<_>>(), *codes);
        for Section { code, text } in &self.sections {
            let first = text.trim_start().split("\n\n").next().unwrap_or_default().trim_end();
            let is_sentence =
                first.starts_with(|c: char| c.is_uppercase() || c == '`') && first.ends_with(['.', ':']);
            assert!(is_sentence && !first.starts_with("```"), "{code} begins with a sentence: {first}");
        }
    }
}

/// The diagnostic codes with this prefix, such as `mu/`, in the sources of the crate at `manifest`.
pub fn codes_in_sources(manifest: &str, prefix: &str) -> BTreeSet<String> {
    let quote = format!("\"{prefix}");
    let mut codes = BTreeSet::new();
    for path in files_below(&Path::new(manifest).join("src"), &["rs"]) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let after = text.split(&quote).skip(1);
        codes.extend(after.filter_map(|rest| Some(format!("{prefix}{}", rest.split('"').next()?))));
    }
    codes
}

/// The files below a folder with one of these extensions, sorted.
///
/// # Panics
///
/// Panics if the folder cannot be read.
pub fn files_below(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            files.extend(files_below(&path, extensions));
        } else if path.extension().is_some_and(|found| extensions.iter().any(|wanted| found == *wanted)) {
            files.push(path);
        }
    }
    files.sort();
    files
}
