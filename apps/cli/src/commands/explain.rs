//! `masque explain`: the page of a diagnostic's code.

use std::io::Write;

use anyhow::bail;
use masque_driver as driver;
use masque_report::Text;

use crate::args::ExplainArgs;
use crate::{Context, Exit};

/// `explain CODE`: prints the page of a code, or without a code, a list of all codes.
pub fn explain(args: &ExplainArgs, context: &Context, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let Some(code) = &args.code else {
        let width = driver::codes().map(|(code, _)| code.len()).max().unwrap_or_default();
        for (code, summary) in driver::codes() {
            let summary = Text { width: usize::MAX, ..Text::default() }.page_text(&summary);
            write!(out, "{code:width$}  {summary}")?;
        }
        return Ok(Exit::AllHold);
    };
    match driver::explain(code) {
        Some(page) => context.text.page(out, code, page)?,
        None => {
            let hint =
                driver::similar_code(code).unwrap_or_else(|| "`masque explain` lists all codes".to_string());
            bail!("no diagnostic has the code `{code}`; {hint}");
        }
    }
    Ok(Exit::AllHold)
}
