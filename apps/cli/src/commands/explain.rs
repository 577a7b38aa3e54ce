//! `masque explain`: the page of a diagnostic's code.

use std::io::Write;

use anyhow::bail;
use masque_driver as driver;

use crate::Exit;
use crate::args::ExplainArgs;

/// `explain CODE`: prints the page of a code, or without a code, a list of all codes.
pub fn explain(args: &ExplainArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let Some(code) = &args.code else {
        let width = driver::codes().map(|(code, _)| code.len()).max().unwrap_or_default();
        for (code, summary) in driver::codes() {
            writeln!(out, "{code:width$}  {summary}")?;
        }
        return Ok(Exit::AllHold);
    };
    match driver::explain(code) {
        Some(page) => writeln!(out, "{code}\n\n{page}")?,
        None => {
            let hint =
                driver::similar_code(code).unwrap_or_else(|| "`masque explain` lists all codes".to_string());
            bail!("no diagnostic has the code `{code}`; {hint}");
        }
    }
    Ok(Exit::AllHold)
}
