//! The pages behind the codes of diagnostics.

use std::sync::LazyLock;

use masque_text::did_you_mean;

/// The codes and their pages, in the order of the documents.
static PAGES: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| masque_docs::DIAGNOSTICS.iter().flat_map(|reference| pages(reference)).collect());

/// The page of a code: what the message means, an example, and what to do.
///
/// ```
/// assert!(masque_driver::explain("file/not-found").is_some());
/// assert!(masque_driver::explain("file/no-such-code").is_none());
/// ```
pub fn explain(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|(c, _)| *c == code).map(|(_, page)| *page)
}

/// All codes, each with the first sentence of its page.
pub fn codes() -> impl Iterator<Item = (&'static str, String)> {
    PAGES.iter().map(|(code, page)| (*code, summary(page)))
}

/// A hint at the code that was probably meant: the same name in another group, or a similar code.
pub fn similar_code(code: &str) -> Option<String> {
    let name = code.rsplit('/').next().unwrap_or(code);
    let same_name = PAGES.iter().find(|(c, _)| c.rsplit('/').next() == Some(name));
    match same_name {
        Some((meant, _)) => Some(format!("did you mean `{meant}`?")),
        None => did_you_mean(code, PAGES.iter().map(|(c, _)| *c)),
    }
}

/// The pages of a document. Headings `## code` begin a page; any other heading of that level ends one.
fn pages(reference: &str) -> Vec<(&str, &str)> {
    let mut pages = Vec::new();
    for section in reference.split("\n## ").skip(1) {
        let (heading, page) = section.split_once('\n').unwrap_or((section, ""));
        let code = heading.trim().trim_matches('`');
        if code.contains('/') && !code.contains(' ') {
            pages.push((code, page.trim()));
        }
    }
    pages
}

/// The first sentence, or its part before a colon, on one line and without a full stop.
fn summary(page: &str) -> String {
    let paragraph: Vec<&str> = page.lines().take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let end = paragraph.find(". ").into_iter().chain(paragraph.find(": ")).min();
    paragraph[..end.unwrap_or(paragraph.len())].trim_end_matches(['.', ':']).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_become_pages() {
        let text = "# Codes\n\nIntro.\n\n## ispl/a\n\nFirst\nthing. More.\n\n```text\n# x\n```\n\n## Not a code\n\n## `ispl/b`\nSecond.\n";
        let pages = pages(text);
        assert_eq!(pages.iter().map(|p| p.0).collect::<Vec<_>>(), ["ispl/a", "ispl/b"]);
        assert!(pages[0].1.ends_with("```"));
        assert_eq!([summary(pages[0].1), summary(pages[1].1)], ["First thing", "Second"]);
    }

    #[test]
    fn a_code_without_its_group_is_found() {
        assert_eq!(similar_code("not-found").as_deref(), Some("did you mean `file/not-found`?"));
        assert_eq!(similar_code("file/not-fuond").as_deref(), Some("did you mean `file/not-found`?"));
        assert_eq!(similar_code("quite/else"), None);
    }
}
