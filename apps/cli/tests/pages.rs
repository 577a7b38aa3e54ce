//! README, tutorials and guides: each command line that they print is run, and prints what the page says.
//!
//! A comment on the line before a code block says what the block is:
//!
//! * `<!-- file: NAME -->`: the text of a file. The test writes it into the folder of the page, and checks that a model
//!   has the usual layout.
//! * `<!-- needs: PROGRAM -->`: run where the program is installed.
//! * `<!-- not run: REASON -->`: not run, because it needs a server, a network or a terminal, or depends on time. The
//!   test counts these blocks.
//!
//! In a block `console`, lines that begin with `$ ` are run by a shell in the folder of the page, which contains
//! `models` and `examples`. The lines that follow are the output; a line `..` stands for any lines. A model in a block
//! `ispl`, `bdi`, `lcc` or `mu` without a comment must have no errors, and its expected verdicts must be right. Blocks
//! `text` are notation, not commands. Blocks `rust` are documentation tests of the crate `masque`. There are no other
//! blocks.
//!
//! With `PAGES=write` the test writes the outputs into the pages instead. Review the change as prose.
//!
//! `.ci/fresh` runs this test with an installed program (`PAGES_PROGRAM`) and with pages, models and examples of a fresh
//! copy of the sources (`PAGES_SOURCE`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use masque_testkit::{Fence, MarkdownPage, files_below};

/// The root of the sources that contain the pages.
fn root() -> PathBuf {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::env::var_os("PAGES_SOURCE").map_or_else(|| PathBuf::from(here), PathBuf::from)
}

/// The program that is run.
fn program() -> PathBuf {
    std::env::var_os("PAGES_PROGRAM").map_or_else(|| env!("CARGO_BIN_EXE_masque").into(), PathBuf::from)
}

/// The pages whose blocks are run.
fn pages() -> Vec<PathBuf> {
    let root = root();
    let mut pages = vec![root.join("README.md")];
    pages.extend(["install.md", "testing.md", "versions.md"].map(|name| root.join("docs").join(name)));
    for folder in ["tutorials", "howto", "ideas"] {
        pages.extend(files_below(&root.join("docs").join(folder), &["md"]));
    }
    pages
}

/// What was found on a page.
#[derive(Default)]
struct Found {
    n_commands: usize,
    n_files: usize,
    n_models: usize,
    not_run: Vec<String>,
    problems: Vec<String>,
}

/// The folder of a page, with its files.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = tempfile::tempdir().unwrap();
        for name in ["models", "examples"] {
            copy(&root().join(name), &folder.path().join(name));
        }
        Folder(folder)
    }

    /// Whether a program is installed.
    fn has(&self, program: &str) -> bool {
        self.run(&format!("command -v {program} > /dev/null && echo yes")) == "yes\n"
    }

    /// Runs a command line by a shell that finds the program. Returns both outputs as they would appear on a terminal.
    fn run(&self, line: &str) -> String {
        let program = program();
        let mut path = vec![program.parent().unwrap().to_path_buf()];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{{ {line}\n}} 2>&1")]).current_dir(self.0.path()).stdin(Stdio::null());
        command
            .env("PATH", std::env::join_paths(path).unwrap())
            .env_remove("GITHUB_ACTIONS")
            .env("NO_COLOR", "1");
        let output = command.output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Whether an output is the expected one, in which a line `..` stands for any lines.
fn matches(expected: &[&str], found: &[&str]) -> bool {
    let Some((first, rest)) = expected.split_first() else { return found.is_empty() };
    if *first == ".." {
        return (0..=found.len()).any(|n| matches(rest, &found[n..]));
    }
    found.first() == Some(first) && matches(rest, &found[1..])
}

/// The commands of a block with the outputs that it prints.
fn commands<'a>(lines: &[&'a str]) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    for &line in lines {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push((command, Vec::new()));
        } else {
            commands.last_mut().expect("a block `console` begins with a command").1.push(line);
        }
    }
    commands
}

/// Runs the commands of a block; returns the block with the outputs found.
fn console(fence: &Fence<'_>, folder: &Folder, page: &str, found: &mut Found) -> String {
    let mut block = String::new();
    for (command, expected) in commands(&fence.lines) {
        found.n_commands += 1;
        let output = folder.run(command);
        let lines: Vec<&str> = output.lines().collect();
        let is_right = matches(&expected, &lines);
        if !is_right {
            found.problems.push(format!("{page}:{}: `{command}` prints\n{output}", fence.line));
        }
        let shown = if is_right { expected } else { lines };
        block += &format!("$ {command}\n");
        block.extend(shown.iter().map(|line| format!("{line}\n")));
    }
    block
}

const LANGUAGES: [&str; 3] = ["ispl", "bdi", "lcc"];

/// Checks a model that is no file of its page.
fn model(fence: &Fence<'_>, folder: &Folder, page: &str, found: &mut Found) {
    let name = format!("block{}.{}", fence.line, fence.info);
    fs::write(folder.0.path().join(&name), fence.text()).unwrap();
    found.n_models += 1;
    let output = folder.run(&format!("masque test --strict -q {name} || echo wrong"));
    if !output.is_empty() {
        found.problems.push(format!("{page}:{}: {output}", fence.line));
    }
}

/// Runs everything on a page; returns the page with the outputs found.
fn run_page(name: &str, text: &str, found: &mut Found) -> String {
    let folder = Folder::new();
    let page = MarkdownPage::new(text);
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    for fence in &page.fences {
        write_file(fence, &folder, name, found);
    }
    for fence in &page.fences {
        let mark = fence.mark.unwrap_or_default();
        if let Some(reason) = mark.strip_prefix("not run: ") {
            found.not_run.push(format!("{name}: {reason}"));
        } else if mark.strip_prefix("needs: ").is_some_and(|needed| !folder.has(needed)) {
            println!("{name}:{}: not run, because a program is not installed: {mark}", fence.line);
        } else if fence.info == "console" {
            let block = console(fence, &folder, name, found);
            replace(&mut lines, fence, &block);
        } else if mark.starts_with("file: ") {
        } else if LANGUAGES.contains(&fence.info) {
            model(fence, &folder, name, found);
        } else if !["text", "rust"].contains(&fence.info)
            || fence.lines.iter().any(|line| line.starts_with("$ "))
        {
            let problem = "a block needs a comment, see the opening comment of this test";
            found.problems.push(format!("{name}:{}: {problem}", fence.line));
        }
    }
    lines.retain(|line| line != REMOVED);
    lines.join("\n") + "\n"
}

/// A line that is removed at the end, so that the others keep their numbers until then.
const REMOVED: &str = "\0";

/// Puts a new text into a block.
fn replace(lines: &mut [String], fence: &Fence<'_>, block: &str) {
    let n_lines = fence.lines.len();
    if n_lines > 0 && fence.text() != *block {
        lines[fence.line..fence.line + n_lines].fill(REMOVED.to_string());
        lines[fence.line] = block.trim_end_matches('\n').to_string();
    }
}

/// Writes a block that is a file, and checks its layout.
fn write_file(fence: &Fence<'_>, folder: &Folder, page: &str, found: &mut Found) {
    let Some(name) = fence.mark.and_then(|mark| mark.strip_prefix("file: ")) else { return };
    found.n_files += 1;
    let path = folder.0.path().join(name);
    if path.exists() {
        found.problems.push(format!("{page}:{}: the page has the file `{name}` twice", fence.line));
    }
    fs::write(path, fence.text()).unwrap();
    if LANGUAGES.iter().any(|language| name.ends_with(language)) {
        let output = folder.run(&format!("masque fmt --check {name}"));
        if !output.is_empty() {
            found.problems.push(format!("{page}:{}: {output}", fence.line));
        }
    }
}

#[test]
fn commands_print_what_the_pages_say() {
    let is_writing = std::env::var_os("PAGES").is_some_and(|value| value == "write");
    let mut found = Found::default();
    for path in pages() {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        let written = run_page(&name, &text, &mut found);
        if is_writing && written != text {
            fs::write(&path, written).unwrap();
        }
    }
    let Found { n_commands, n_files, n_models, not_run, problems } = found;
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(n_commands >= 45 && n_files >= 10 && n_models >= 8, "{n_commands}, {n_files}, {n_models}");
    println!("{n_commands} commands, {n_files} files and {n_models} models on the pages are as printed");
    println!("{} blocks are not run", not_run.len());
    let not_run = format!("{} blocks are not run:\n{}\n", not_run.len(), not_run.join("\n"));
    insta::assert_snapshot!(not_run);
}

/// The comparison can fail: another output, a line too many, and a line too few are noticed.
#[test]
fn outputs_are_compared_line_by_line() {
    assert!(matches(&["a", "..", "d"], &["a", "b", "c", "d"]));
    assert!(matches(&["a", ".."], &["a"]));
    assert!(!matches(&["a", "..", "d"], &["a", "b"]));
    assert!(!matches(&["a"], &["a", "b"]) && !matches(&["a", "b"], &["a"]) && !matches(&["a"], &["b"]));
    let text = "<!-- file: x.ispl -->\n```ispl\nAgent\n```\n```console\n$ echo one; echo two\none\n```\n```text\n$ x\n```\n";
    let mut found = Found::default();
    let written = run_page("page", text, &mut found);
    assert_eq!(found.problems.len(), 3, "{:?}", found.problems);
    assert!(written.contains("$ echo one; echo two\none\ntwo\n```\n"), "{written}");
}
