//! Markdown pages as tests read them: code blocks with their marks, headings, links and words.
//!
//! Only what our pages use is understood: fences of three backticks, `#` headings, inline links, inline code, and
//! comments `<!-- .. -->` on lines of their own.

/// A code block.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fence<'a> {
    /// Line of the opening fence, counted from 1.
    pub line: usize,
    /// Text of the comment on the line before the fence.
    pub mark: Option<&'a str>,
    /// Word after the opening fence, such as `ispl`; empty if there is none.
    pub info: &'a str,
    /// Lines of the block, without the fences.
    pub lines: Vec<&'a str>,
}

impl Fence<'_> {
    /// The text of the block, with a line break at the end of each line.
    pub fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

/// A link or a picture in the text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Link {
    /// Line of the link, counted from 1.
    pub line: usize,
    /// Where it leads, as written.
    pub target: String,
}

/// A page, divided into code blocks and text.
#[derive(Debug)]
pub struct MarkdownPage<'a> {
    /// The code blocks, in order.
    pub fences: Vec<Fence<'a>>,
    /// The lines outside code blocks, each with its number.
    pub text: Vec<(usize, &'a str)>,
}

impl<'a> MarkdownPage<'a> {
    /// Divides a page.
    ///
    /// # Panics
    ///
    /// Panics if a code block does not end.
    pub fn new(page: &'a str) -> Self {
        let (mut fences, mut text) = (Vec::new(), Vec::new());
        let mut lines = page.lines().enumerate().map(|(index, line)| (index + 1, line));
        let mut before = "";
        while let Some((line, content)) = lines.next() {
            if let Some(info) = content.strip_prefix("```") {
                let mut block = Vec::new();
                loop {
                    match lines.next() {
                        Some((_, "```")) => break,
                        Some((_, content)) => block.push(content),
                        None => panic!("the code block in line {line} does not end"),
                    }
                }
                let mark = before.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
                fences.push(Fence { line, mark, info: info.trim(), lines: block });
                before = "";
            } else {
                text.push((line, content));
                before = content;
            }
        }
        MarkdownPage { fences, text }
    }

    /// The names by which links lead to the headings of the page, and to elements `<a id="NAME"></a>`.
    ///
    /// A heading is named by its words in lower case, joined by hyphens and without other signs. A name that occurs
    /// again gets a number.
    pub fn anchors(&self) -> Vec<String> {
        let mut anchors: Vec<String> = Vec::new();
        for (_, line) in &self.text {
            let marks = line.split("<a id=\"").skip(1).filter_map(|rest| rest.split_once('"'));
            anchors.extend(marks.map(|(name, _)| name.to_string()));
            let Some(heading) = line.trim_start_matches('#').strip_prefix(' ') else { continue };
            if !line.starts_with('#') {
                continue;
            }
            let name = anchor(heading);
            let n_before = anchors.iter().filter(|other| **other == name).count();
            anchors.push(if n_before == 0 { name } else { format!("{name}-{n_before}") });
        }
        anchors
    }

    /// The links and pictures in the text, also those of HTML elements.
    pub fn links(&self) -> Vec<Link> {
        let mut links = Vec::new();
        for &(line, content) in &self.text {
            let plain = without_code(content);
            for part in plain.split("](").skip(1) {
                let target = part.split(')').next().unwrap_or_default();
                links.push(Link { line, target: target.to_string() });
            }
            for attribute in ["src=\"", "srcset=\"", "href=\""] {
                for part in plain.split(attribute).skip(1) {
                    let target = part.split('"').next().unwrap_or_default();
                    links.push(Link { line, target: target.to_string() });
                }
            }
        }
        links
    }

    /// The words of the text outside code, comments and targets of links, each with its line.
    ///
    /// A word consists of letters; an apostrophe may stand inside. Words that contain digits or underscores, and
    /// addresses, are left out, because they are names.
    pub fn words(&self) -> Vec<(usize, String)> {
        let mut words = Vec::new();
        for &(line, content) in &self.text {
            let plain = without_tags(&without_targets(&without_code(content)));
            for piece in plain.split(|c: char| !(c.is_alphanumeric() || "'’_".contains(c))) {
                let word = piece.trim_matches(['\'', '’', '_']);
                let is_word = word.chars().all(|c| c.is_alphabetic() || c == '\'' || c == '’');
                if is_word && !word.is_empty() {
                    words.push((line, word.replace('’', "'")));
                }
            }
        }
        words
    }
}

/// The name by which links lead to a heading.
fn anchor(heading: &str) -> String {
    let heading = without_targets(heading).to_lowercase();
    let kept = heading.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    kept.collect()
}

/// A line without its inline code: each is replaced by a space.
fn without_code(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let n_ticks = rest[start..].bytes().take_while(|c| *c == b'`').count();
        let ticks = &rest[start..start + n_ticks];
        let after = &rest[start + n_ticks..];
        let Some(end) = after.find(ticks) else { break };
        plain += &rest[..start];
        plain.push(' ');
        rest = &after[end + n_ticks..];
    }
    plain + rest
}

/// A line without the targets of its links, and without addresses.
fn without_targets(line: &str) -> String {
    let mut plain = String::new();
    for (index, part) in line.split("](").enumerate() {
        plain += match part.split_once(')') {
            Some((_, rest)) if index > 0 => rest,
            _ => part,
        };
        plain.push(' ');
    }
    let is_address = |word: &&str| !word.contains("://");
    plain.split(' ').filter(is_address).collect::<Vec<_>>().join(" ")
}

/// A line without comments and HTML elements.
fn without_tags(line: &str) -> String {
    let mut parts = line.split('<');
    let mut plain = parts.next().unwrap_or_default().to_string();
    for part in parts {
        match part.split_once('>') {
            Some((tag, rest)) if tag.starts_with(|c: char| c.is_alphabetic() || "/!".contains(c)) => {
                plain += rest
            }
            _ => plain += part,
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# What `a` means: *now*\n\n<!-- file: a.ispl -->\n```ispl\nAgent A\n```\n\
                        See [the page's `x`](other.md#part), ``[no](link)`` and ![it](a.svg).\n<a id=\"q\"></a>**So** a < b\n## Part\n## Part\n";

    #[test]
    fn a_page_has_blocks_headings_links_and_words() {
        let page = MarkdownPage::new(PAGE);
        let fence = Fence { line: 4, mark: Some("file: a.ispl"), info: "ispl", lines: vec!["Agent A"] };
        assert_eq!(page.fences, [fence]);
        assert_eq!(page.fences[0].text(), "Agent A\n");
        assert_eq!(page.anchors(), ["what-a-means-now", "q", "part", "part-1"]);
        let targets: Vec<_> = page.links().into_iter().map(|link| (link.line, link.target)).collect();
        assert_eq!(targets, [(7, "other.md#part".to_string()), (7, "a.svg".to_string())]);
        let words: Vec<_> = page.words().into_iter().map(|(_, word)| word).collect();
        assert_eq!(
            words,
            ["What", "means", "now", "See", "the", "page's", "and", "it", "So", "a", "b", "Part", "Part"]
        );
    }

    #[test]
    #[should_panic(expected = "the code block in line 2 does not end")]
    fn a_block_without_end_is_refused() {
        MarkdownPage::new("text\n```\ncode\n");
    }
}
