//! The pages of the repository: links lead somewhere, and the index names each page once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use masque_testkit::{MarkdownPage, files_below};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Markdown files of the repository that are written for readers.
pub(crate) fn pages() -> Vec<PathBuf> {
    let root = Path::new(ROOT).canonicalize().unwrap();
    let mut pages = Vec::new();
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"] {
        pages.push(root.join(name));
    }
    pages.extend(files_below(&root.join("docs"), &["md"]));
    pages.extend(files_below(&root.join("models"), &["md"]));
    pages.push(root.join("editors/vscode/README.md"));
    pages
}

/// Whether a link leaves the repository.
fn is_elsewhere(target: &str) -> bool {
    ["https://", "http://", "mailto:"].iter().any(|scheme| target.starts_with(scheme))
}

/// Why a link from a page leads nowhere, if it does.
fn broken(page: &Path, target: &str, anchors: &BTreeMap<PathBuf, Vec<String>>) -> Option<String> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { page.to_path_buf() } else { page.parent()?.join(file) };
    let Ok(path) = path.canonicalize() else { return Some(format!("there is no `{file}`")) };
    if anchor.is_empty() {
        return None;
    }
    let Some(known) = anchors.get(&path) else { return Some(format!("`{file}` is no page with headings")) };
    (!known.iter().any(|name| name == anchor)).then(|| format!("`{file}` has no heading `{anchor}`"))
}

#[test]
fn links_lead_to_files_and_headings() {
    let texts: Vec<_> = pages().into_iter().map(|path| (fs::read_to_string(&path).unwrap(), path)).collect();
    let read = texts.iter().map(|(text, path)| (path, MarkdownPage::new(text)));
    let read: Vec<_> = read.collect();
    let anchors: BTreeMap<_, _> = read.iter().map(|(path, page)| ((*path).clone(), page.anchors())).collect();
    let (mut problems, mut n_links) = (Vec::new(), 0);
    for (path, page) in &read {
        for link in page.links().into_iter().filter(|link| !is_elsewhere(&link.target)) {
            n_links += 1;
            if let Some(problem) = broken(path, &link.target, &anchors) {
                problems.push(format!("{}:{}: {}: {problem}", path.display(), link.line, link.target));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(n_links >= 400, "the links are found: {n_links}");
    let page = Path::new(ROOT).canonicalize().unwrap().join("docs/ispl.md");
    assert_eq!(broken(&page, "logics.md#atl", &anchors), None);
    assert!(broken(&page, "logics.md#no-such-heading", &anchors).is_some());
    assert!(broken(&page, "no-such-page.md", &anchors).is_some());
}

/// The tags of works, such as `FHMV95`, that a text cites in brackets: letters and two digits.
fn cited(text: &str) -> impl Iterator<Item = &str> {
    let tags = text.split('[').skip(1).filter_map(|rest| rest.split_once([']', ' ', ',']));
    tags.map(|(tag, _)| tag).filter(|tag| {
        let letters = tag.trim_end_matches(|c: char| c.is_ascii_digit());
        letters.len() + 2 == tag.len()
            && letters.len() >= 2
            && letters.chars().all(|c| c.is_ascii_alphabetic())
    })
}

#[test]
fn cited_works_are_in_the_list() {
    let list = fs::read_to_string(Path::new(ROOT).join("docs/references.md")).unwrap();
    let mut n_tags = 0;
    for path in pages() {
        let text = fs::read_to_string(&path).unwrap();
        for tag in cited(&text) {
            n_tags += 1;
            assert!(list.contains(&format!("\n| {tag} |")), "{}: [{tag}]", path.display());
        }
    }
    assert!(n_tags >= 80, "the tags are found: {n_tags}");
    assert_eq!(cited("[No99] and [x](y), [AB04, s2]").collect::<Vec<_>>(), ["No99", "AB04"]);
}

/// The pages below `docs` that a text links to, in order. Links to headings of pages are no index entries.
fn entries(text: &str) -> Vec<String> {
    let links = MarkdownPage::new(text).links().into_iter().map(|link| link.target);
    links.filter(|target| target.ends_with(".md") && !target.starts_with("..")).collect()
}

/// The first heading of a page, without its number and without signs of code.
fn title(page: &Path) -> String {
    let text = fs::read_to_string(page).unwrap();
    let heading = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
    let words = heading.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim();
    words.replace('`', "")
}

/// The table of contents of the book that belongs to the index: a part for each of its sections.
fn table_of_contents(index: &str) -> String {
    let folder = Path::new(ROOT).join("docs");
    let mut contents = format!("# Summary\n\n[{}](README.md)\n", title(&folder.join("README.md")));
    for section in index.split("\n## ").skip(1) {
        let heading = section.lines().next().unwrap_or_default();
        contents += &format!("\n# {heading}\n\n");
        for page in entries(section) {
            contents += &format!("- [{}]({page})\n", title(&folder.join(&page)));
        }
    }
    contents
}

/// `docs/README.md` names each page once, and the table of contents of the book, `docs/SUMMARY.md`, has the same pages
/// in the same order. With `SUMMARY=write` the test writes the table.
#[test]
fn the_index_names_each_page_once() {
    let folder = Path::new(ROOT).join("docs");
    let index = fs::read_to_string(folder.join("README.md")).unwrap();
    let files = files_below(&folder, &["md"]);
    let mut pages: Vec<String> = files
        .iter()
        .map(|path| path.strip_prefix(&folder).unwrap().to_string_lossy().replace('\\', "/"))
        .filter(|name| !["README.md", "SUMMARY.md"].contains(&name.as_str()))
        .collect();
    let mut named = entries(&index);
    named.sort();
    pages.sort();
    assert_eq!(named, pages, "each page is named once");
    let titles: BTreeSet<String> = pages.iter().map(|page| title(&folder.join(page))).collect();
    assert_eq!(titles.len(), pages.len(), "two pages have the same title");
    let (path, contents) = (folder.join("SUMMARY.md"), table_of_contents(&index));
    if std::env::var_os("SUMMARY").is_some_and(|value| value == "write") {
        fs::write(&path, &contents).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), contents, "`SUMMARY=write` writes it");
}
