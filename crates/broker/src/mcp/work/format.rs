//! `fmt`: texts in the standard layout.

use std::io;
use std::path::Path;

use masque_driver as driver;

use super::super::answers::{FormatAnswer, FormattedFile, Marked};
use super::super::parameters::{Format, Settings};
use super::{Answer, Job, answer};

/// Formats files. None is changed on the disk.
pub(super) fn format(job: &Job, asked: Format) -> io::Result<Answer> {
    let limits = job.limits();
    let (mut files, mut diagnostics, mut text) = (Vec::new(), Vec::new(), String::new());
    let mut is_error = false;
    for file in &asked.files {
        let formatted = driver::format_file(Path::new(&file.name), &limits);
        let changed = formatted.is_changed;
        let formatted_text = match formatted.text {
            Ok(formatted) => {
                let state = if changed { "reformatted; use the text below" } else { "is already formatted" };
                text.push_str(&format!("{}: {state}\n", file.name));
                if changed {
                    text.push_str(&formatted);
                    text.push('\n');
                }
                Some(formatted)
            }
            Err(errors) => {
                is_error = true;
                let marked = Marked::all(&formatted.sources, &errors);
                text.push_str(&format!("{}: cannot be formatted\n", file.name));
                marked.iter().for_each(|found| text.push_str(&format!("{}\n", found.excerpt)));
                diagnostics.extend(marked);
                None
            }
        };
        files.push(FormattedFile { name: file.name.clone(), text: formatted_text, changed });
    }
    let used = job.used(&asked.files, &Settings::default(), None);
    answer(&FormatAnswer { used, files, diagnostics }, text, is_error)
}
