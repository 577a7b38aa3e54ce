//! What shows a verdict, as text.
//!
//! Each claim is a sentence, followed by what shows it: a run, two states side by side, a chain.
//! States have the numbers that they have in the JSON report.

use std::io;

use masque_driver::{
    Because, Chain, JointAction, Missing, PathRun, Possibility, ReasonId, Showing, StateId, VarId,
};

use crate::compare::{Comparison, Limits};
use crate::cut::{Shown, cut};
use crate::frame::Frame;
use crate::lines::{ACTION, Lines, PLAIN, Piece, STATE, STRONG};
use crate::wording::plural;

/// So many claims are told; the others are counted.
pub(crate) const MOST_TOLD: usize = 40;
/// Of a long run so many states at each end are shown.
const ENDS: usize = 5;
/// So many states are named in a sentence.
const MOST_NAMED: usize = 6;

/// Tells evidence to a person.
pub(crate) struct Teller<'a, 'l> {
    pub(crate) frame: &'a Frame<'a>,
    pub(crate) lines: &'a mut Lines<'l>,
    limits: Limits,
    /// The first state that was shown with all its variables.
    whole: Option<StateId>,
    /// For each state, whether it was shown.
    pub(crate) is_shown: Vec<bool>,
}

impl<'a, 'l> Teller<'a, 'l> {
    pub(crate) fn new(frame: &'a Frame<'a>, lines: &'a mut Lines<'l>, limits: Limits) -> Self {
        let is_shown = vec![false; frame.evidence.states.len()];
        Teller { frame, lines, limits, whole: None, is_shown }
    }

    /// All of it.
    pub(crate) fn tell(&mut self) -> io::Result<()> {
        let evidence = self.frame.evidence;
        let begins_with_run = matches!(&evidence.root().because, Because::Run(_));
        if evidence.start.states.len() > 1 || !begins_with_run {
            self.run(&evidence.start, &[])?;
        }
        let order = self.frame.order();
        let needs_telling = |id: &ReasonId| !matches!(evidence.reason(*id).because, Because::Here);
        let mut told = order.iter().copied().filter(|id| id.index() == 0 || needs_telling(id));
        for id in told.by_ref().take(MOST_TOLD) {
            self.reason(id)?;
        }
        let n_left_out = told.count();
        self.left_out(n_left_out, " claims that this rests on")
    }

    /// Says how many items are not shown, if there are any; `what` follows the number.
    pub(crate) fn left_out(&mut self, n: usize, what: &str) -> io::Result<()> {
        match n {
            0 => Ok(()),
            n => self.say(&format!("and {n} more{what}; --format json has them all")),
        }
    }

    pub(crate) fn say(&mut self, text: &str) -> io::Result<()> {
        self.lines.sentence(PLAIN, "  ", text)
    }

    fn reason(&mut self, id: ReasonId) -> io::Result<()> {
        let reason = self.frame.evidence.reason(id);
        let claim = format!("{} at {}", self.frame.claim_of(id), number(reason.state));
        match &reason.because {
            Because::Here => self.head(&claim),
            Because::Operands(list) => self.head(&format!("{claim}, for {}", self.claims(list))),
            Because::DeadEnd(list) if list.is_empty() => {
                self.head(&format!("{claim}, which has no successor"))
            }
            Because::DeadEnd(list) => {
                self.head(&format!("{claim}, which has no successor, and {}", self.claims(list)))
            }
            Because::Run(showing) => self.showing(&claim, showing),
            Because::Possible(possible) => self.possible(&claim, reason.state, possible),
            Because::Chain(chain) => self.chain(&claim, reason.state, chain),
            Because::Strategy(strategy) => self.strategy(&claim, reason, strategy),
            Because::Answers(answers) => self.answers(&claim, reason, answers),
            Because::Unfolded(unfolding) => self.unfolding(&claim, unfolding),
            Because::NotShown(missing) => self.head(&format!("{claim}: {}", why_not_shown(*missing))),
        }
    }

    /// The sentence with a claim, after an empty line.
    pub(crate) fn head(&mut self, text: &str) -> io::Result<()> {
        self.lines.empty()?;
        self.lines.sentence(STRONG, "  ", text)
    }

    /// "`p` is true, `q` is false"
    pub(crate) fn claims(&self, list: &[ReasonId]) -> String {
        let all: Vec<String> = list.iter().map(|id| self.frame.claim_of(*id)).collect();
        all.join(", ")
    }

    fn showing(&mut self, claim: &str, showing: &Showing) -> io::Result<()> {
        let Showing { run, claims, fair } = showing;
        let how = match (run.back_to, run.states.len()) {
            (Some(_), _) => "on this run, which goes on for ever, ",
            (None, 1) => "",
            (None, 2) => "after this step ",
            (None, _) => "on this run ",
        };
        let facts: Vec<String> = (self.by_claim(claims).iter())
            .map(|(what, positions)| format!("{what} {}", places(run, positions)))
            .collect();
        let mut text = format!("{claim}, for {how}{}", facts.join(", "));
        for (constraint, &position) in self.frame.system.fairness.iter().zip(fair) {
            let constraint = self.frame.formula(*constraint);
            text += &format!("; it is fair, for `{constraint}` is true at {}", number(run.states[position]));
        }
        self.head(&text)?;
        self.run(run, &self.frame.important(showing))
    }

    /// The different claims along a run in the order in which they first appear, each with its
    /// positions.
    fn by_claim(&self, claims: &[(usize, ReasonId)]) -> Vec<(String, Vec<usize>)> {
        let mut found: Vec<(_, Vec<usize>)> = Vec::new();
        for &(position, id) in claims {
            let reason = self.frame.evidence.reason(id);
            let literal = (reason.formula, reason.holds);
            match found.iter_mut().find(|(known, _)| *known == literal) {
                Some((_, positions)) => positions.push(position),
                None => found.push((literal, vec![position])),
            }
        }
        let text = |((formula, holds), positions)| (self.frame.claim(formula, holds), positions);
        found.into_iter().map(text).collect()
    }

    fn possible(&mut self, claim: &str, here: StateId, possible: &Possibility) -> io::Result<()> {
        let Possibility { view, green, state, path, reason } = possible;
        let (other, operand) = (number(*state), self.frame.claim_of(*reason));
        let norm = match self.frame.agents(green) {
            names if names.is_empty() => String::new(),
            names if green.len() == 1 => format!("{names} is green and "),
            names => format!("{names} are green and "),
        };
        let Some(path) = path else {
            return self.head(&format!("{claim}, for {norm}{operand} right there"));
        };
        if view.is_empty() {
            self.head(&format!("{claim}, for at {other} {norm}{operand}"))?;
        } else {
            let together = if view.len() > 1 { ", even together," } else { "" };
            let who = self.frame.agents(view);
            let same =
                format!("{claim}, for {who}{together} cannot tell it from {other}, where {norm}{operand}");
            self.head(&same)?;
            let operand = self.frame.evidence.reason(*reason).formula;
            Comparison::new(self.frame, (here, *state), view, operand).write(self.lines, self.limits)?;
        }
        self.reached(*state, path, !view.is_empty())
    }

    /// How a state is reached; one that stands side by side with another needs not be shown again.
    pub(crate) fn reached(&mut self, state: StateId, path: &PathRun, is_compared: bool) -> io::Result<()> {
        let name = number(state);
        if path.states.len() == 1 && is_compared {
            self.is_shown[state.index()] = true;
            return self.say(&format!("{name} is an initial state"));
        }
        if path.states.iter().all(|state| self.is_shown[state.index()]) {
            return self.say(&format!("{name} is reached as above"));
        }
        let how = if path.states.len() == 1 { "is an initial state" } else { "is reached like this" };
        self.say(&format!("{name} {how}:"))?;
        self.run(path, &[])
    }

    /// The states one below the other, with what the agent between them does not see.
    fn chain(&mut self, claim: &str, here: StateId, chain: &Chain) -> io::Result<()> {
        let operand = self.frame.claim_of(chain.reason);
        let Some(last) = chain.links.last() else {
            return self.head(&format!("{claim}, for {operand} right there"));
        };
        let links = match chain.links.len() {
            1 => "one link leads".to_string(),
            n => format!("a chain of {n} links leads"),
        };
        self.head(&format!("{claim}, for {links} to {}, where {operand}", number(last.state)))?;
        let state = |id| (STATE, format!("{:>6}  ", number(id)));
        self.lines.line(&[state(here)])?;
        let mut before = here;
        let n_shown = chain.links.len().min(MOST_TOLD);
        for link in &chain.links[..n_shown] {
            let agent = &self.frame.system.agent(link.agent).name;
            self.lines.line(&[(ACTION, format!("     |  {agent} cannot tell"))])?;
            let changed = self.changed(before, link.state);
            self.lines.flow(&[state(link.state)], "        ", &changed, ", ")?;
            before = link.state;
        }
        self.left_out(chain.links.len() - n_shown, " links")?;
        for link in &chain.links[..n_shown] {
            self.reached(link.state, &link.path, true)?;
        }
        Ok(())
    }

    /// A run: the first state, then what is done and what it changes. `important` positions are
    /// shown even if the run is long.
    pub(crate) fn run(&mut self, run: &PathRun, important: &[usize]) -> io::Result<()> {
        let important: Vec<usize> = important.iter().copied().chain(run.back_to).collect();
        let width = run.states.iter().map(|state| number(*state).len()).max().unwrap_or_default();
        let mut before: Option<StateId> = None;
        // Whether the loop has begun when so much is shown.
        let is_past = |start: usize, before: Option<StateId>| {
            run.states[start..].iter().any(|state| Some(*state) == before)
        };
        let indent = if run.back_to.is_some() { "    " } else { "" };
        for shown in cut(run.states.len(), ENDS, &important) {
            let position = match shown {
                Shown::Position(position) => position,
                Shown::LeftOut(n) => {
                    let states = plural(n, "state is", "states are");
                    let bar =
                        if run.back_to.is_some_and(|start| is_past(start, before)) { "|   " } else { indent };
                    let text = format!("  {bar}.. {states} left out; --format json has them all");
                    self.lines.line(&[(PLAIN, text)])?;
                    continue;
                }
            };
            let (arrow, bar) = match run.back_to {
                None => ("", ""),
                Some(start) if position == start => (",-> ", "|   "),
                Some(start) if position > start => ("|   ", "|   "),
                Some(_) => ("    ", "    "),
            };
            let state = run.states[position];
            let items = match before {
                Some(before) => self.changed(before, state),
                None => self.first(state),
            };
            let label = (STATE, format!("{:>width$}  ", number(state)));
            let next = format!("  {bar}{:width$}  ", "");
            self.lines.flow(&[(PLAIN, format!("  {arrow}")), label], &next, &items, ", ")?;
            if let Some(action) = run.actions.get(position) {
                let after = match run.states.get(position + 1) {
                    Some(next) => Some(*next),
                    None => run.back_to.map(|start| run.states[start]),
                };
                let items = self.doing(action.as_ref(), state, after.unwrap_or(state));
                self.lines.flow(&[(PLAIN, format!("{next}  "))], &format!("{next}  "), &items, ", ")?;
            }
            self.is_shown[state.index()] = true;
            before = Some(state);
        }
        match run.back_to {
            None => Ok(()),
            Some(start) => {
                let text = format!("  '-- back to {}", number(run.states[start]));
                self.lines.line(&[(STATE, text)])
            }
        }
    }

    /// A state at the beginning of a run: all of it, unless it was shown before or is like the first
    /// one but for little.
    fn first(&mut self, state: StateId) -> Vec<Piece> {
        if self.is_shown[state.index()] {
            return vec![(PLAIN, "(as above)".to_string())];
        }
        if let Some(whole) = self.whole {
            let differing = self.frame.differing(whole, state);
            if differing.len() * 2 <= self.frame.system.variables.len() {
                let mut items = self.changed(whole, state);
                if let Some((_, text)) = items.first_mut() {
                    *text = format!("as {}, but {text}", number(whole));
                }
                return items;
            }
        }
        self.whole.get_or_insert(state);
        self.assignments(self.frame.system.variable_ids().collect(), state)
    }

    /// All variables of a state, unless it was shown before. It counts as shown from now on.
    pub(crate) fn unless_shown(&mut self, state: StateId) -> Option<Vec<Piece>> {
        let is_shown = std::mem::replace(&mut self.is_shown[state.index()], true);
        (!is_shown).then(|| self.assignments(self.frame.system.variable_ids().collect(), state))
    }

    fn changed(&self, before: StateId, state: StateId) -> Vec<Piece> {
        match self.frame.differing(before, state) {
            none if none.is_empty() => vec![(PLAIN, "(nothing changes)".to_string())],
            variables => self.assignments(variables, state),
        }
    }

    pub(crate) fn assignments(&self, variables: Vec<VarId>, state: StateId) -> Vec<Piece> {
        let abridged = self.frame.abridge(variables, self.limits.variables);
        let style = |variable| if self.frame.matters(variable) { STRONG } else { PLAIN };
        let pieces = abridged.shown.iter().map(|&v| (style(v), self.frame.assignment(v, state)));
        pieces.chain(more(abridged.n_left_out)).collect()
    }

    pub(crate) fn doing(&self, joint: Option<&JointAction>, before: StateId, after: StateId) -> Vec<Piece> {
        let Some(joint) = joint else { return vec![(ACTION, "(nobody acts)".to_string())] };
        let changed = self.frame.differing(before, after);
        let abridged = self.frame.doing(joint, &changed, self.limits.actions);
        if abridged.shown.is_empty() {
            return vec![(ACTION, "(nobody acts)".to_string())];
        }
        abridged.shown.into_iter().map(|text| (ACTION, text)).chain(more(abridged.n_left_out)).collect()
    }
}

/// The number of a state, as in the JSON report.
pub(crate) fn number(state: StateId) -> String {
    format!("#{}", state.0)
}

/// That a claim is not shown, and why.
pub(crate) fn why_not_shown(missing: Missing) -> &'static str {
    match missing {
        Missing::AllPaths => "not shown, it is about all runs from there",
        Missing::AllStates => "not shown, it is about all states that must be reckoned with there",
        Missing::Strategies => "not shown, no uniform strategy does; with perfect information there is one",
        Missing::Fixpoint => "not shown, a variable stands under an operator that is not unfolded",
        Missing::Fairness => "not shown, a fairness constraint speaks of more than one state",
        Missing::TooMuch => "not shown, this would become too long",
    }
}

fn more(n: usize) -> Option<Piece> {
    (n > 0).then(|| (PLAIN, format!("and {n} more (-v shows them)")))
}

/// Positions of a run in words.
fn places(run: &PathRun, positions: &[usize]) -> String {
    let state = |position: &usize| number(run.states[*position]);
    let is_row = positions.iter().enumerate().all(|(n, position)| n == *position);
    match positions {
        [] => String::new(),
        [position] => format!("at {}", state(position)),
        all if is_row && all.len() == run.states.len() => "all along".to_string(),
        [.., last] if is_row => format!("up to {}", state(last)),
        few if few.len() <= MOST_NAMED => {
            format!("at {}", few.iter().map(state).collect::<Vec<_>>().join(", "))
        }
        [first, .., last] => {
            format!("at {} states, {} the first and {} the last", positions.len(), state(first), state(last))
        }
    }
}
