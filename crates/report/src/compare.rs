//! Two states side by side: what an agent sees and is equal, and what it does not see.

use std::io;

use masque_driver::{AgentId, FormulaId, StateId, VarId};

use crate::frame::{Abridged, Frame, formula_variables};
use crate::lines::{DIFFERENCE, EQUAL, Lines, PLAIN, Piece, STATE, columns};
use crate::show::number;

/// How much of a state and of a step is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Variables.
    pub(crate) variables: usize,
    /// Agents' actions.
    pub(crate) actions: usize,
    /// Rows of each kind where states stand side by side.
    pub(crate) rows: usize,
}

/// Two states that somebody cannot tell apart.
pub(crate) struct Comparison<'a> {
    frame: &'a Frame<'a>,
    states: (StateId, StateId),
    /// What those who cannot tell see, as they do.
    who: String,
    sees: Vec<VarId>,
    /// Differences in variables of which the operand speaks.
    decisive: Vec<VarId>,
    /// The other differences.
    different: Vec<VarId>,
    /// How many variables are equal and unseen.
    n_equal: usize,
}

impl<'a> Comparison<'a> {
    /// `view` cannot tell `states` apart, and `operand` is false in the second.
    pub(crate) fn new(
        frame: &'a Frame<'a>,
        states: (StateId, StateId),
        view: &[AgentId],
        operand: FormulaId,
    ) -> Self {
        let sees = frame.seen_by(view);
        let speaks_of = formula_variables(frame.system, operand);
        let differing = frame.differing(states.0, states.1);
        let n_equal = frame.system.variables.len() - differing.len() - sees.len();
        let (decisive, different) = differing.into_iter().partition(|v| speaks_of[v.index()]);
        Comparison { frame, states, who: frame.agents(view), sees, decisive, different, n_equal }
    }

    /// The rows, as many of each kind as allowed.
    pub(crate) fn write(&self, lines: &mut Lines<'_>, limits: Limits) -> io::Result<()> {
        let abridge = |variables: &Vec<VarId>| self.frame.abridge(variables.clone(), limits.rows);
        let [sees, decisive, different] = [&self.sees, &self.decisive, &self.different].map(abridge);
        let table = Table::new(self, [&sees, &decisive, &different], lines.width);
        table.row(lines, ("", PLAIN), "", &[number(self.states.0), number(self.states.1)], STATE)?;
        let is_same = format!("{} cannot see a difference", self.who);
        table.rows(lines, ("=", EQUAL), &sees, if sees.n_left_out > 0 { &is_same } else { "" })?;
        table.rows(lines, ("!", DIFFERENCE), &decisive, "are different, too")?;
        table.rows(lines, ("", PLAIN), &different, "are different, too")?;
        let mut key = match self.sees.is_empty() {
            true => format!("{} sees nothing", self.who),
            false => format!("= seen by {}", self.who),
        };
        if !self.decisive.is_empty() {
            key += "   ! what the formula speaks of";
        }
        match self.n_equal {
            0 => {}
            1 => key += "   (the one other variable is equal)",
            n => key += &format!("   (the {n} other variables are equal)"),
        }
        lines.sentence(PLAIN, "  ", &key)
    }
}

/// The columns of a comparison.
struct Table<'a> {
    of: &'a Comparison<'a>,
    name_width: usize,
    value_width: usize,
    /// Whether a row has room on one line.
    fits: bool,
}

impl<'a> Table<'a> {
    fn new(of: &'a Comparison<'a>, groups: [&Abridged<VarId>; 3], width: usize) -> Self {
        let variables = || groups.iter().flat_map(|group| &group.shown);
        let name_width = variables().map(|v| columns(&of.frame.system.full_name(*v))).max().unwrap_or(0);
        let left = variables().map(|v| columns(&of.frame.value(*v, of.states.0)));
        let value_width = left.chain([columns(&number(of.states.0))]).max().unwrap_or(0);
        let right = variables().map(|v| columns(&of.frame.value(*v, of.states.1))).max().unwrap_or(0);
        Table { of, name_width, value_width, fits: 4 + name_width + 4 + value_width + 3 + right <= width }
    }

    fn rows(
        &self,
        lines: &mut Lines<'_>,
        mark: (&str, anstyle::Style),
        group: &Abridged<VarId>,
        rest: &str,
    ) -> io::Result<()> {
        for &variable in &group.shown {
            let name = self.of.frame.system.full_name(variable);
            let (one, other) = self.of.states;
            let values = [one, other].map(|state| self.of.frame.value(variable, state));
            self.row(lines, mark, &name, &values, mark.1)?;
        }
        match group.n_left_out {
            0 => Ok(()),
            n => {
                let text = format!("  {:1} and {n} more, {rest} (-v shows them)", mark.0);
                lines.line(&[(mark.1, text)])
            }
        }
    }

    fn row(
        &self,
        lines: &mut Lines<'_>,
        (mark, mark_style): (&str, anstyle::Style),
        name: &str,
        [one, other]: &[String; 2],
        style: anstyle::Style,
    ) -> io::Result<()> {
        let (name_width, value_width) = (self.name_width, self.value_width);
        let head: Piece = (mark_style, format!("  {mark:1} "));
        if self.fits {
            let name = (PLAIN, format!("{name:name_width$}    "));
            return lines.line(&[head, name, (style, format!("{one:value_width$}   {other}"))]);
        }
        if !name.is_empty() {
            lines.line(&[head, (PLAIN, name.to_string())])?;
        }
        lines.line(&[(style, format!("      {one:value_width$}   {other}"))])
    }
}
