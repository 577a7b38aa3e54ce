//! `masque teams`: candidates for the roles of a protocol that work together.

use std::io::Write;

use masque_driver::{self as driver, Limits, Question, TeamSearch, Teams};
use masque_report as report;

use crate::args::{TeamsArgs, TeamsFormat};
use crate::{Context, Exit};

/// `teams FILE.. --role NAME=FILE,..`: writes the teams that were checked, and the chosen one.
pub fn teams(
    args: &TeamsArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let limits = Limits::new(args.timeout, args.memory, &context.interrupt);
    let named = args.only.iter().cloned().map(Question::Property);
    let search = TeamSearch {
        files: args.files.clone(),
        property_files: args.property_files.clone(),
        options: args.options.clone(),
        roles: args.roles.clone(),
        questions: named.chain(args.properties.iter().cloned().map(Question::Formula)).collect(),
        want: args.want,
    };
    match driver::find_teams(&search, &limits) {
        Ok(found) => {
            match args.format {
                TeamsFormat::Text => context.text.teams(out, &found)?,
                TeamsFormat::Json => report::teams_json(out, &found)?,
            }
            Ok(exit(&found))
        }
        Err(refused) => {
            context.text.diagnostics(err, &refused.sources, &refused.diagnostics)?;
            match refused.stopped {
                Some(why) => {
                    writeln!(err, "stopped: {why}; no team was checked")?;
                    Ok(Exit::Inconclusive)
                }
                None => Ok(Exit::BadInput),
            }
        }
    }
}

/// The exit for a result: whether a team satisfies all properties, and if none was found, whether that is certain.
fn exit(found: &Teams) -> Exit {
    let is_open = |team: &driver::Team| !team.verdicts.iter().any(|verdict| verdict.word() == "fails");
    if found.teams.iter().any(driver::Team::works) {
        Exit::AllHold
    } else if found.stopped.is_some() || found.teams.iter().any(is_open) {
        Exit::Inconclusive
    } else {
        Exit::SomeFail
    }
}
