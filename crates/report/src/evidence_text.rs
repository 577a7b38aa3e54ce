//! Evidence about interpreted systems as text.
//!
//! Each claim is a sentence, followed by the evidence for it: a path, two states side by side, or a chain.
//! States have the same numbers as in the JSON report.

use std::io;

use masque_driver::{
    Because, Chain, EvidencePath, JointAction, NotShownReason, PathReason, Possibility, ReasonId, StateId,
    VarId,
};

use crate::compare::Comparison;
use crate::evidence_context::EvidenceContext;
use crate::folded::folded;
use crate::limits::Limits;
use crate::lines::{ACTION, Lines, PLAIN, Piece, STATE, STRONG};
use crate::long_paths::{Shown, cut};
use crate::run_table::RunTable;
use crate::run_text::{RunText, View};
use crate::wording::{enumeration, plural};

/// Maximum number of states named in a sentence.
const MAX_NAMED_STATES: usize = 6;

/// Writes evidence as text.
pub(crate) struct EvidenceWriter<'a, 'l> {
    pub(crate) context: &'a EvidenceContext<'a>,
    pub(crate) lines: &'a mut Lines<'l>,
    pub(crate) limits: Limits,
    view: View,
    /// First state that was shown with all its variables.
    whole: Option<StateId>,
    /// For each state, whether it was shown already.
    pub(crate) is_shown: Vec<bool>,
}

impl<'a, 'l> EvidenceWriter<'a, 'l> {
    pub(crate) fn new(
        context: &'a EvidenceContext<'a>,
        lines: &'a mut Lines<'l>,
        limits: Limits,
        view: View,
    ) -> Self {
        let is_shown = vec![false; context.evidence.states.len()];
        EvidenceWriter { context, lines, limits, view, whole: None, is_shown }
    }

    /// Writes all of the evidence.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        let evidence = self.context.evidence;
        let starts_with_path = matches!(&evidence.root().because, Because::Path(_));
        if evidence.start.states.len() > 1 || !starts_with_path {
            self.run(&evidence.start, &[])?;
        }
        let order = self.context.order();
        let is_local = |id: &ReasonId| matches!(evidence.reason(*id).because, Because::Here);
        let mut claims = order.iter().copied().filter(|id| id.index() == 0 || !is_local(id));
        for id in claims.by_ref().take(self.limits.claims) {
            self.reason(id)?;
        }
        let n_left_out = claims.count();
        self.left_out(n_left_out, " claims on which this depends")
    }

    /// Writes how many items are not shown, if there are any; `what` follows the number.
    pub(crate) fn left_out(&mut self, n: usize, what: &str) -> io::Result<()> {
        match n {
            0 => Ok(()),
            n => self.say(&format!("and {n} more{what} (--full shows all)")),
        }
    }

    pub(crate) fn say(&mut self, text: &str) -> io::Result<()> {
        self.lines.sentence(PLAIN, "  ", text)
    }

    fn reason(&mut self, id: ReasonId) -> io::Result<()> {
        let reason = self.context.evidence.reason(id);
        let claim = format!("{} at {}", self.context.claim_of(id), number(reason.state));
        match &reason.because {
            Because::Here => self.head(&claim),
            Because::Operands(list) => self.head(&format!("{claim} because {}", self.claims(list))),
            Because::DeadEnd(list) => {
                let mut facts = vec![format!("{} has no successor", number(reason.state))];
                facts.extend(list.iter().map(|id| self.context.claim_of(*id)));
                self.head(&format!("{claim} because {}", enumeration(&facts)))
            }
            Because::Path(showing) => self.showing(&claim, showing),
            Because::Possible(possible) => self.possible(&claim, reason.state, possible),
            Because::Chain(chain) => self.chain(&claim, reason.state, chain),
            Because::Strategy(strategy) => self.strategy(&claim, reason, strategy),
            Because::Responses(answers) => self.answers(&claim, reason, answers),
            Because::Unfolded(unfolding) => self.unfolding(&claim, unfolding),
            Because::NotShown(missing) => self.head(&format!("{claim} ({})", why_not_shown(*missing))),
        }
    }

    /// Writes the sentence with a claim, after an empty line.
    pub(crate) fn head(&mut self, text: &str) -> io::Result<()> {
        self.lines.empty()?;
        self.lines.sentence(STRONG, "  ", text)
    }

    /// "`p` is true and `q` is false"
    pub(crate) fn claims(&self, list: &[ReasonId]) -> String {
        let all: Vec<String> = list.iter().map(|id| self.context.claim_of(*id)).collect();
        enumeration(&all)
    }

    fn showing(&mut self, claim: &str, showing: &PathReason) -> io::Result<()> {
        let showing = &folded(showing);
        let PathReason { run, claims, fair } = showing;
        let how = match (run.back_to, run.states.len()) {
            (Some(_), _) => "on this infinite path ",
            (None, 1) => "",
            (None, 2) if claims.iter().all(|(position, _)| *position == 1) => "after this step ",
            (None, _) => "on this path ",
        };
        let facts: Vec<String> = (self.by_claim(claims).iter())
            .map(|(what, positions)| format!("{what} {}", places(run, positions)))
            .collect();
        let mut text = format!("{claim} because {how}{}", enumeration(&facts));
        let constraints: Vec<String> = (self.context.system.fairness.iter().zip(fair))
            .map(|(constraint, position)| {
                let state = number(run.states[*position]);
                format!("{} at {state}", self.context.claim(*constraint, true))
            })
            .collect();
        if !constraints.is_empty() {
            text += &format!("; the path is fair because {}", enumeration(&constraints));
        }
        self.head(&text)?;
        self.run(run, &self.context.important(showing))
    }

    /// The different claims along a path in the order of their first occurrence, each with its positions.
    fn by_claim(&self, claims: &[(usize, ReasonId)]) -> Vec<(String, Vec<usize>)> {
        let mut found: Vec<(_, Vec<usize>)> = Vec::new();
        for &(position, id) in claims {
            let reason = self.context.evidence.reason(id);
            let literal = (reason.formula, reason.holds);
            match found.iter_mut().find(|(known, _)| *known == literal) {
                Some((_, positions)) => positions.push(position),
                None => found.push((literal, vec![position])),
            }
        }
        let text = |((formula, holds), positions)| (self.context.claim(formula, holds), positions);
        found.into_iter().map(text).collect()
    }

    fn possible(&mut self, claim: &str, here: StateId, possible: &Possibility) -> io::Result<()> {
        let Possibility { view, green, state, path, reason } = possible;
        let (other, operand) = (number(*state), self.context.claim_of(*reason));
        let norm = match self.context.agents(green) {
            names if names.is_empty() => String::new(),
            names if green.len() == 1 => format!("{names} is green and "),
            names => format!("{names} are green and "),
        };
        let Some(path) = path else {
            return self.head(&format!("{claim} because {norm}{operand} there"));
        };
        if view.is_empty() {
            self.head(&format!("{claim} because {norm}{operand} at {other}"))?;
        } else {
            let together = if view.len() > 1 { " together" } else { "" };
            let (who, this) = (self.context.agents(view), number(here));
            self.head(&format!(
                "{claim} because {who}{together} cannot distinguish {this} from {other}, where {norm}{operand}"
            ))?;
            let operand = self.context.evidence.reason(*reason).formula;
            Comparison::new(self.context, (here, *state), view, operand).write(self.lines, self.limits)?;
        }
        self.reached(*state, path, !view.is_empty())
    }

    /// Writes how a state is reached. A state that was compared with another is not shown again.
    pub(crate) fn reached(
        &mut self,
        state: StateId,
        path: &EvidencePath,
        is_compared: bool,
    ) -> io::Result<()> {
        let name = number(state);
        if path.states.len() == 1 && is_compared {
            self.is_shown[state.index()] = true;
            return self.say(&format!("{name} is an initial state"));
        }
        if path.states.iter().all(|state| self.is_shown[state.index()]) {
            return self.say(&format!("{name} is reached as shown above"));
        }
        let how = if path.states.len() == 1 { "is an initial state" } else { "is reached by this path" };
        self.say(&format!("{name} {how}:"))?;
        self.run(path, &[])
    }

    /// Writes the states of a chain one below the other, with the agent that cannot distinguish them.
    fn chain(&mut self, claim: &str, here: StateId, chain: &Chain) -> io::Result<()> {
        let operand = self.context.claim_of(chain.reason);
        let Some(last) = chain.links.last() else {
            return self.head(&format!("{claim} because {operand} there"));
        };
        let links = match chain.links.len() {
            1 => "one link leads".to_string(),
            n => format!("a chain of {n} links leads"),
        };
        let (first, last) = (number(here), number(last.state));
        self.head(&format!("{claim} because {links} from {first} to {last}, where {operand}"))?;
        let state = |id| (STATE, format!("{:>6}  ", number(id)));
        self.lines.line(&[state(here)])?;
        let mut before = here;
        let n_shown = chain.links.len().min(self.limits.claims);
        for link in &chain.links[..n_shown] {
            let agent = &self.context.system.agent(link.agent).name;
            self.lines.line(&[(ACTION, format!("     |  {agent} cannot distinguish"))])?;
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

    /// Writes a path: the first state, then each joint action and the variables it changes. `important`
    /// positions are shown even if the path is long.
    pub(crate) fn run(&mut self, run: &EvidencePath, important: &[usize]) -> io::Result<()> {
        let important: Vec<usize> = important.iter().copied().chain(run.back_to).collect();
        if self.view != View::Steps {
            let table = RunTable::of_path(self.context.system, self.context.evidence, run);
            let shown = cut(run.states.len(), self.limits.at_each_end, &important);
            run.states.iter().for_each(|state| self.is_shown[state.index()] = true);
            return RunText { table: &table, shown: &shown, limits: self.limits }
                .write(self.lines, self.view);
        }
        let width = run.states.iter().map(|state| number(*state).len()).max().unwrap_or_default();
        let mut before: Option<StateId> = None;
        // Whether the state shown last lies on the loop.
        let is_on_loop = |start: usize, before: Option<StateId>| {
            run.states[start..].iter().any(|state| Some(*state) == before)
        };
        let indent = if run.back_to.is_some() { "    " } else { "" };
        for shown in cut(run.states.len(), self.limits.at_each_end, &important) {
            let position = match shown {
                Shown::Position(position) => position,
                Shown::LeftOut(n) => {
                    let states = plural(n, "state", "states");
                    let bar = if run.back_to.is_some_and(|start| is_on_loop(start, before)) {
                        "|   "
                    } else {
                        indent
                    };
                    let text = format!("  {bar}.. {states} left out (--full shows all)");
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

    /// The first state of a path: all its variables, unless it was shown before or at most half of them
    /// differ from the first state that was shown.
    fn first(&mut self, state: StateId) -> Vec<Piece> {
        if self.is_shown[state.index()] {
            return vec![(PLAIN, "(as above)".to_string())];
        }
        if let Some(whole) = self.whole {
            let differing = self.context.differing(whole, state);
            if differing.len() * 2 <= self.context.system.variables.len() {
                let mut items = self.changed(whole, state);
                if let Some((_, text)) = items.first_mut() {
                    *text = format!("like {}, but {text}", number(whole));
                }
                return items;
            }
        }
        self.whole.get_or_insert(state);
        self.assignments(self.context.system.variable_ids().collect(), state)
    }

    /// All variables of a state, unless it was shown before. It counts as shown from now on.
    pub(crate) fn unless_shown(&mut self, state: StateId) -> Option<Vec<Piece>> {
        let is_shown = std::mem::replace(&mut self.is_shown[state.index()], true);
        (!is_shown).then(|| self.assignments(self.context.system.variable_ids().collect(), state))
    }

    fn changed(&self, before: StateId, state: StateId) -> Vec<Piece> {
        match self.context.differing(before, state) {
            none if none.is_empty() => vec![(PLAIN, "(nothing changes)".to_string())],
            variables => self.assignments(variables, state),
        }
    }

    pub(crate) fn assignments(&self, variables: Vec<VarId>, state: StateId) -> Vec<Piece> {
        let abridged = self.context.abridge(variables, self.limits.variables);
        let style = |variable| if self.context.matters(variable) { STRONG } else { PLAIN };
        let pieces = abridged.shown.iter().map(|&v| (style(v), self.context.assignment(v, state)));
        pieces.chain(more(abridged.n_left_out)).collect()
    }

    pub(crate) fn doing(&self, joint: Option<&JointAction>, before: StateId, after: StateId) -> Vec<Piece> {
        let Some(joint) = joint else { return vec![(ACTION, "(no agent acts)".to_string())] };
        let changed = self.context.differing(before, after);
        let abridged = self.context.doing(joint, &changed, self.limits);
        if abridged.shown.is_empty() {
            return vec![(ACTION, "(no agent acts)".to_string())];
        }
        abridged.shown.into_iter().map(|text| (ACTION, text)).chain(more(abridged.n_left_out)).collect()
    }
}

/// The number of a state, as in the JSON report.
pub(crate) fn number(state: StateId) -> String {
    format!("#{}", state.0)
}

/// Why a claim is not shown.
pub(crate) fn why_not_shown(missing: NotShownReason) -> &'static str {
    match missing {
        NotShownReason::AllPaths => "not shown: this is about all paths from there",
        NotShownReason::AllStates => "not shown: this is about all states that are possible there",
        NotShownReason::Strategies => {
            "not shown: no uniform strategy wins, but one with perfect information does"
        }
        NotShownReason::Fixpoint => "not shown: a variable occurs under an operator that is not unfolded",
        NotShownReason::Fairness => "not shown: a fairness constraint depends on more than one state",
        NotShownReason::TooMuch => "not shown: the evidence would be too long",
    }
}

fn more(n: usize) -> Option<Piece> {
    (n > 0).then(|| (PLAIN, format!("and {n} more (--full shows them)")))
}

/// Positions of a path in words.
fn places(run: &EvidencePath, positions: &[usize]) -> String {
    let state = |position: &usize| number(run.states[*position]);
    let names = |positions: &[usize]| {
        let mut names: Vec<String> = Vec::new();
        for name in positions.iter().map(state) {
            // A path may visit a state more than once.
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    };
    let is_prefix = positions.iter().enumerate().all(|(n, position)| n == *position);
    match positions {
        [] => String::new(),
        [position] => format!("at {}", state(position)),
        all if is_prefix && all.len() == run.states.len() => "at every state".to_string(),
        [first, .., last] if is_prefix => format!("from {} to {}", state(first), state(last)),
        few if few.len() <= MAX_NAMED_STATES => {
            format!("at {}", enumeration(&names(few)))
        }
        [first, .., last] => {
            format!("at {} states from {} to {}", positions.len(), state(first), state(last))
        }
    }
}
