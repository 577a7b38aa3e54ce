//! Packing of states: each variable has a field of `⌈log2 |domain|⌉` bits in one 64-bit word.
//!
//! Fields are laid out from the high end of the first word on, in the order of the variables, and
//! each is within one word. So the lexicographic order of packed rows, as slices of words, is the
//! canonical order of states ([`masque_verdict::compare_states`]).
//!
//! After the words of the state a row has words for the joint action, one field per agent whose
//! action matters, so that conditions test variables and actions alike.

use masque_model::{AgentId, Domain, System, VarId};
use masque_verdict::State;
use rustc_hash::FxHashMap;

/// Some bits of one word of a row, which hold a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Field {
    pub(crate) word: u32,
    pub(crate) shift: u32,
    /// Greatest code that fits: one low bit per bit of the field.
    pub(crate) mask: u64,
}

impl Field {
    /// Returns the code in a row.
    #[inline]
    pub(crate) fn get(self, row: &[u64]) -> u64 {
        (row[self.word as usize] >> self.shift) & self.mask
    }

    /// Overwrites the code in a row.
    #[inline]
    pub(crate) fn set(self, row: &mut [u64], code: u64) {
        let word = &mut row[self.word as usize];
        *word = *word & !self.bits() | code << self.shift;
    }

    /// Returns the field's bits in its word.
    #[inline]
    pub(crate) fn bits(self) -> u64 {
        self.mask << self.shift
    }
}

/// Something that has a field: a variable, or an agent's action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Slot {
    Variable(VarId),
    Action(AgentId),
}

/// The fields of a row.
#[derive(Debug)]
pub(crate) struct Layout {
    variables: Vec<Field>,
    actions: Vec<Field>,
    /// Number of words of a state.
    pub(crate) n_words: usize,
    /// Number of words of a state and a joint action.
    pub(crate) n_row_words: usize,
    /// Codes by value, for enumerations with more than [`MAX_LINEAR_SEARCH`] values. Variables of the same
    /// enumeration share one table.
    codes: Vec<FxHashMap<i64, u64>>,
    /// Index in `codes` for each variable.
    codes_of: Vec<Option<usize>>,
}

/// Maximum number of values of an enumeration that is searched linearly.
const MAX_LINEAR_SEARCH: usize = 16;

impl Layout {
    /// Packs at most `word_bits` bits into a word: 64, or fewer in tests. A variable that needs more has
    /// a word of its own.
    pub(crate) fn new(system: &System, word_bits: u32) -> Layout {
        let mut packer = Packer { word: 0, used: 0, word_bits };
        let variables = system.variables.iter().map(|v| packer.allocate(v.domain.bits())).collect();
        let n_words = packer.n_words().max(1);
        packer.start_at(n_words);
        let bits = |n_actions: usize| Domain::Integers(1, n_actions.max(1) as i64).bits();
        let actions = system.agents.iter().map(|a| packer.allocate(bits(a.actions.len()))).collect();
        let n_row_words = packer.n_words().max(n_words);
        let mut layout =
            Layout { variables, actions, n_words, n_row_words, codes: Vec::new(), codes_of: Vec::new() };
        let mut known = FxHashMap::default();
        for variable in &system.variables {
            let table = match &variable.domain {
                Domain::Values(values) if values.len() > MAX_LINEAR_SEARCH => {
                    let key = values.as_ptr();
                    Some(*known.entry(key).or_insert_with(|| {
                        let codes = values.iter().zip(0..).map(|(v, code)| (i64::from(v.0), code));
                        layout.codes.push(codes.collect());
                        layout.codes.len() - 1
                    }))
                }
                _ => None,
            };
            layout.codes_of.push(table);
        }
        layout
    }

    pub(crate) fn variable(&self, variable: VarId) -> Field {
        self.variables[variable.index()]
    }

    pub(crate) fn action(&self, agent: AgentId) -> Field {
        self.actions[agent.index()]
    }

    pub(crate) fn field(&self, slot: Slot) -> Field {
        match slot {
            Slot::Variable(variable) => self.variable(variable),
            Slot::Action(agent) => self.action(agent),
        }
    }

    /// Returns the code of a value, if it belongs to the variable's domain.
    pub(crate) fn code(&self, system: &System, variable: VarId, value: i64) -> Option<u64> {
        match self.codes_of[variable.index()] {
            Some(table) => self.codes[table].get(&value).copied(),
            None => system.variable(variable).domain.code(value),
        }
    }

    /// Returns the value of a variable in a row.
    pub(crate) fn value(&self, system: &System, variable: VarId, row: &[u64]) -> i64 {
        system.variable(variable).domain.value(self.variable(variable).get(row))
    }

    /// Decodes a packed state.
    pub(crate) fn unpack(&self, system: &System, row: &[u64]) -> State {
        system.variable_ids().map(|v| self.value(system, v, row)).collect()
    }

    /// Packs a state; returns `None` if some value lies outside its variable's domain.
    pub(crate) fn pack(&self, system: &System, state: &State) -> Option<Vec<u64>> {
        let mut row = vec![0; self.n_words];
        for (variable, &value) in system.variable_ids().zip(state) {
            self.variable(variable).set(&mut row, self.code(system, variable, value)?);
        }
        Some(row)
    }

    /// Returns the bits that agents see together, word by word.
    pub(crate) fn seen_by(&self, system: &System, agents: &[AgentId]) -> Vec<u64> {
        self.mask(agents.iter().flat_map(|&agent| system.agent(agent).sees.iter().copied()))
    }

    /// Returns the bits of these variables, word by word.
    pub(crate) fn mask(&self, variables: impl IntoIterator<Item = VarId>) -> Vec<u64> {
        let mut mask = vec![0; self.n_words];
        for variable in variables {
            let field = self.variable(variable);
            mask[field.word as usize] |= field.bits();
        }
        mask
    }
}

/// Allocates fields from the high end of each word.
struct Packer {
    word: usize,
    used: u32,
    word_bits: u32,
}

impl Packer {
    fn allocate(&mut self, bits: u32) -> Field {
        if bits == 0 {
            return Field { word: 0, shift: 0, mask: 0 };
        }
        if self.used > 0 && self.used + bits > self.word_bits {
            self.start_at(self.word + 1);
        }
        self.used += bits;
        Field { word: self.word as u32, shift: u64::BITS - self.used, mask: u64::MAX >> (u64::BITS - bits) }
    }

    fn start_at(&mut self, word: usize) {
        (self.word, self.used) = (word, 0);
    }

    fn n_words(&self) -> usize {
        self.word + usize::from(self.used > 0)
    }
}
