//! Rules and facts of a protocol that are switched off and on, and the verdicts that follow.
//!
//! A session of `masque_lcc` holds the protocol. Switching a statement off removes it from the session, so only what
//! depends on it is computed anew.

use std::collections::BTreeSet;

use masque_lcc::tree::Item;
use masque_lcc::{Question, Refused, RefusedTexts as RefusedSession, Session, Setup, Text, Update};
use masque_verdict::Verdict;
use serde::{Deserialize, Serialize};

use super::{Answer, Unanswered};
use crate::Refused as RefusedTexts;
use crate::check::Limits;
use crate::load::{Loaded, Model};

/// The kind of a statement that can be switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StatementKind {
    /// A rule.
    Rule,
    /// A fact, or a choice.
    Fact,
}

/// A statement that can be switched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// The statement as written.
    pub text: String,
    /// Name of its file, and its line from 1.
    pub place: (String, u32),
}

/// The verdict of a property with all statements, and with those that are on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchedVerdict {
    /// Verdict with all statements.
    pub before: String,
    /// Verdict with the statements that are on.
    pub now: String,
}

/// A protocol some of whose statements are switched off.
pub struct ProtocolSwitches {
    session: Session,
    statements: Vec<Statement>,
    formulas: Vec<String>,
    /// Indices of the statements that are off.
    off: BTreeSet<usize>,
    /// Verdicts with all statements.
    before: Option<Vec<Verdict>>,
}

impl ProtocolSwitches {
    /// Opens a loaded protocol.
    ///
    /// # Errors
    ///
    /// If the model is no protocol, or a limit is hit.
    pub fn new(loaded: &Loaded, limits: &Limits) -> Answer<ProtocolSwitches> {
        let Some(Model::Lcc(instance)) = &loaded.model else {
            return Err(Unanswered::Impossible("only protocols have rules and facts that can be switched"));
        };
        let sources = &loaded.sources;
        let mut setup = Setup::default();
        let mut statements: Vec<Statement> = Vec::new();
        // Names such as `<formula>` are texts of the command line, which are asked as formulas.
        for file in sources.files().filter(|file| !sources.name(*file).starts_with('<')) {
            let name = sources.name(file);
            if name == "option" || !loaded.names.iter().any(|known| known == name) {
                continue;
            }
            let text = Text::new(name, sources.text(file));
            if crate::is_properties(name.as_ref()) {
                setup.properties.push(text);
                continue;
            }
            setup.files.push(text);
            for item in masque_lcc::parse(sources, file).0.items {
                let kind = match item {
                    Item::Rule(_) => StatementKind::Rule,
                    Item::Fact(_) | Item::Choice(_) => StatementKind::Fact,
                    _ => continue,
                };
                let span = item.statement_span();
                let mut text = sources.slice(span).trim().to_string();
                if !text.ends_with('.') {
                    text.push('.');
                }
                if !statements.iter().any(|known| known.text == text) {
                    let place = (name.to_string(), sources.locate(span).0.line);
                    statements.push(Statement { kind, text, place });
                }
            }
        }
        setup.options =
            loaded.options.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        let session = Session::open_within(&setup, &limits.cancellable_budget());
        let session = session.map_err(|refused| match refused.stopped {
            Some(stop) => Unanswered::Stopped(stop.why),
            None => {
                let RefusedSession { sources, diagnostics, .. } = *refused;
                Box::new(RefusedTexts { sources, diagnostics }).into()
            }
        })?;
        let text = |property: crate::property::PropertyText| property.formula;
        let formulas = Model::Lcc(instance.clone()).properties().into_iter().map(text).collect();
        Ok(ProtocolSwitches { session, statements, formulas, off: BTreeSet::new(), before: None })
    }

    /// The statements that can be switched, in the order of the files.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// Switches the statements with these indices off and all others on, and decides the properties.
    ///
    /// # Errors
    ///
    /// If a statement cannot be switched, or a limit is hit. Then nothing is switched.
    pub fn switch(&mut self, off: &BTreeSet<usize>, limits: &Limits) -> Answer<Vec<SwitchedVerdict>> {
        let before = match &self.before {
            Some(known) => known.clone(),
            None => {
                self.update(&BTreeSet::new(), limits)?;
                let found = self.verdicts(limits);
                let is_decided = found.iter().all(|verdict| !matches!(verdict, Verdict::Unknown(_)));
                self.before = is_decided.then(|| found.clone());
                found
            }
        };
        self.update(off, limits)?;
        let now = if off.is_empty() { before.clone() } else { self.verdicts(limits) };
        let pair =
            |(before, now): (Verdict, Verdict)| SwitchedVerdict { before: word(before), now: word(now) };
        Ok(before.into_iter().zip(now).map(pair).collect())
    }

    fn update(&mut self, off: &BTreeSet<usize>, limits: &Limits) -> Answer<()> {
        let text = |index: &usize| self.statements.get(*index).map(|statement| statement.text.clone());
        let add: Vec<String> = self.off.difference(off).filter_map(text).collect();
        let remove: Vec<String> = off.difference(&self.off).filter_map(text).collect();
        if add.is_empty() && remove.is_empty() {
            return Ok(());
        }
        match self.session.update_within(&Update { add, remove }, &limits.cancellable_budget()) {
            Ok(_) => {
                self.off = off.clone();
                Ok(())
            }
            Err(Refused::Stopped(stop)) => Err(Unanswered::Stopped(stop.why)),
            Err(Refused::Invalid(diagnostics)) => {
                let sources = self.session.sources().clone();
                Err(Box::new(RefusedTexts { sources, diagnostics }).into())
            }
        }
    }

    fn verdicts(&mut self, limits: &Limits) -> Vec<Verdict> {
        let (formulas, session) = (self.formulas.clone(), &mut self.session);
        let budget = limits.cancellable_budget();
        let mut verdicts = Vec::new();
        for formula in formulas {
            let reply = session.check(&Question::Formula(formula), false, &budget);
            verdicts.push(
                reply.map_or(Verdict::Unknown(masque_verdict::Why::Unsupported), |reply| {
                    reply.checked.verdict
                }),
            );
        }
        verdicts
    }
}

fn word(verdict: Verdict) -> String {
    match verdict {
        Verdict::Unknown(why) => format!("unknown ({})", why.word()),
        other => other.word().to_string(),
    }
}
