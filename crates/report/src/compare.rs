//! Two indistinguishable states side by side: the equal values that the agents see, and the differences.

use std::io;

use masque_driver::{AgentId, FormulaId, StateId, VarId};

use crate::evidence_context::{Abridged, EvidenceContext, formula_variables};
use crate::evidence_text::number;
use crate::limits::Limits;
use crate::lines::{DIFFERENCE, EQUAL, Lines, PLAIN, Piece, STATE, columns};

/// Two states that agents cannot distinguish.
pub(crate) struct Comparison<'a> {
    context: &'a EvidenceContext<'a>,
    states: (StateId, StateId),
    /// Names of the agents that cannot distinguish them.
    who: String,
    /// Variables that these agents see.
    sees: Vec<VarId>,
    /// Differing variables that occur in the operand.
    decisive: Vec<VarId>,
    /// Other differing variables.
    different: Vec<VarId>,
    /// Number of variables that are equal and unseen.
    n_equal: usize,
}

impl<'a> Comparison<'a> {
    /// Compares two `states` that `view` cannot distinguish; `operand` is false at the second.
    pub(crate) fn new(
        context: &'a EvidenceContext<'a>,
        states: (StateId, StateId),
        view: &[AgentId],
        operand: FormulaId,
    ) -> Self {
        let sees = context.seen_by(view);
        let in_operand = formula_variables(context.system, operand);
        let differing = context.differing(states.0, states.1);
        let n_equal = context.system.variables.len() - differing.len() - sees.len();
        let (decisive, different) = differing.into_iter().partition(|v| in_operand[v.index()]);
        Comparison { context, states, who: context.agents(view), sees, decisive, different, n_equal }
    }

    /// Writes the rows, as many of each kind as allowed.
    pub(crate) fn write(&self, lines: &mut Lines<'_>, limits: Limits) -> io::Result<()> {
        let abridge = |variables: &Vec<VarId>| self.context.abridge(variables.clone(), limits.rows);
        let [sees, decisive, different] = [&self.sees, &self.decisive, &self.different].map(abridge);
        let table = Table::new(self, [&sees, &decisive, &different], lines.width);
        table.row(lines, ("", PLAIN), "", &[number(self.states.0), number(self.states.1)], STATE)?;
        table.rows(lines, ("=", EQUAL), &sees, "are equal")?;
        table.rows(lines, ("!", DIFFERENCE), &decisive, "differ")?;
        table.rows(lines, ("", PLAIN), &different, "differ")?;
        let mut key = if self.sees.is_empty() {
            format!("no variable is seen by {}", self.who)
        } else {
            format!("= seen by {}", self.who)
        };
        if !self.decisive.is_empty() {
            key += "   ! occurs in the formula";
        }
        match self.n_equal {
            0 => {}
            1 => key += "   (the other variable is equal)",
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
    /// Whether a row fits on one line.
    fits: bool,
}

impl<'a> Table<'a> {
    fn new(of: &'a Comparison<'a>, groups: [&Abridged<VarId>; 3], width: usize) -> Self {
        let variables = || groups.iter().flat_map(|group| &group.shown);
        let name_width = variables().map(|v| columns(&of.context.system.full_name(*v))).max().unwrap_or(0);
        let left = variables().map(|v| columns(&of.context.value(*v, of.states.0)));
        let value_width = left.chain([columns(&number(of.states.0))]).max().unwrap_or(0);
        let right = variables().map(|v| columns(&of.context.value(*v, of.states.1))).max().unwrap_or(0);
        Table { of, name_width, value_width, fits: 4 + name_width + 4 + value_width + 3 + right <= width }
    }

    fn rows(
        &self,
        lines: &mut Lines<'_>,
        mark: (&str, anstyle::Style),
        group: &Abridged<VarId>,
        verb: &str,
    ) -> io::Result<()> {
        for &variable in &group.shown {
            let name = self.of.context.system.full_name(variable);
            let (one, other) = self.of.states;
            let values = [one, other].map(|state| self.of.context.value(variable, state));
            self.row(lines, mark, &name, &values, mark.1)?;
        }
        match group.n_left_out {
            0 => Ok(()),
            n => {
                let text = format!("  {:1} and {n} more {verb} (--full shows them)", mark.0);
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
