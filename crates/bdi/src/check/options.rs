//! Options: their names and values, in the file and from the command line.

use masque_text::{Diagnostic, Span, did_you_mean};

use crate::model::{Condition2, Delay, Options, SelfAttitudes, Totality};

/// Maximum value of `option nesting`: each level adds a world.
pub const MAX_NESTING: u32 = 1000;

const NAMES: [&str; 6] = ["totality", "condition2", "consistency", "delay", "nesting", "self"];

/// Returns the values of an option that are words, or the names of all options.
pub(crate) fn option_values(name: Option<&str>) -> Vec<&'static str> {
    match name {
        None => NAMES.to_vec(),
        Some("totality") => vec!["trim", "strict"],
        Some("condition2") => vec!["remove", "infer"],
        Some("consistency") => vec!["on", "off"],
        Some("delay") => vec!["none", "all"],
        Some("self") => vec!["explicit", "paper"],
        Some(_) => Vec::new(),
    }
}

/// Sets an option, or returns an error.
pub(super) fn set(options: &mut Options, name: &str, value: &str, span: Span) -> Result<(), Box<Diagnostic>> {
    let is_name = value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let nesting = value.parse().ok().filter(|bound| *bound <= MAX_NESTING);
    match (name, value) {
        ("totality", "trim") => options.totality = Totality::Trim,
        ("totality", "strict") => options.totality = Totality::Strict,
        ("condition2", "remove") => options.condition2 = Condition2::Remove,
        ("condition2", "infer") => options.condition2 = Condition2::Infer,
        ("consistency", "off" | "on") => options.consistency = value == "on",
        ("delay", "none") => options.delay = Delay::None,
        ("delay", "all") => options.delay = Delay::All,
        ("delay", functor) if is_name => options.delay = Delay::Functor(functor.to_string()),
        ("nesting", _) if nesting.is_some() => options.nesting = nesting,
        ("self", "explicit") => options.self_attitudes = SelfAttitudes::Explicit,
        ("self", "paper") => options.self_attitudes = SelfAttitudes::Paper,
        _ => return Err(Box::new(refusal(name, value, span))),
    }
    Ok(())
}

/// Returns the error for an unknown option or a value that the option does not accept.
fn refusal(name: &str, value: &str, span: Span) -> Diagnostic {
    let allowed = match name {
        "totality" => "`trim` or `strict`",
        "condition2" => "`remove` or `infer`",
        "consistency" => "`on` or `off`",
        "delay" => "`none`, `all` or the name of an action",
        "nesting" => "a number from 0 to 1000",
        "self" => "`explicit` or `paper`",
        _ => {
            let message = format!("there is no option `{name}`");
            let help = did_you_mean(name, NAMES)
                .unwrap_or_else(|| format!("the options are `{}`", NAMES.join("`, `")));
            return Diagnostic::error("bdi/unknown-option", span, message).hint(help);
        }
    };
    let message = format!("option `{name}` cannot be `{value}`");
    Diagnostic::error("bdi/bad-option", span, message).hint(format!("it is {allowed}"))
}
