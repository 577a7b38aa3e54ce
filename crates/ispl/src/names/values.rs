//! Values of enumerations. Two enumerations share their values if variables of them are compared with each other or
//! assigned to each other; otherwise `none` of one is not `none` of the other.

use masque_text::{NameKind, Span};
use rustc_hash::FxHashMap;

use super::{Indexer, New};
use crate::tree::Symbol;

/// An enumeration as it is declared.
#[derive(Debug)]
struct Enumeration {
    /// Values in the order of the text; a value may be listed twice, which is an error.
    listed: Vec<(Symbol, Span)>,
    members: FxHashMap<Symbol, ()>,
    whole: Span,
    /// The variable, or the agent for local states.
    parent: Option<u32>,
}

/// All enumerations, those that share values united, and the uses of values.
#[derive(Debug, Default)]
pub(super) struct Enumerations {
    all: Vec<Enumeration>,
    /// For each enumeration another one that it is united with, or itself.
    united: Vec<u32>,
    /// Uses of values outside their declarations: enumeration, name and location.
    uses: Vec<(u32, Symbol, Span)>,
}

impl Enumerations {
    pub(super) fn add(&mut self, listed: Vec<(Symbol, Span)>, whole: Span, parent: Option<u32>) -> u32 {
        let members = listed.iter().map(|(name, _)| (*name, ())).collect();
        self.all.push(Enumeration { listed, members, whole, parent });
        let id = self.all.len() as u32 - 1;
        self.united.push(id);
        id
    }

    /// Adds values to an enumeration.
    pub(super) fn extend(&mut self, id: u32, name: Symbol, at: Span) {
        let enumeration = &mut self.all[id as usize];
        enumeration.listed.push((name, at));
        enumeration.members.insert(name, ());
    }

    fn root(&mut self, mut id: u32) -> u32 {
        while self.united[id as usize] != id {
            let above = self.united[self.united[id as usize] as usize];
            self.united[id as usize] = above;
            id = above;
        }
        id
    }

    /// Lets two enumerations share the values of the same name.
    pub(super) fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.united[a.max(b) as usize] = a.min(b);
    }

    /// Returns whether an enumeration has a value.
    pub(super) fn has(&self, id: u32, name: Symbol) -> bool {
        self.all[id as usize].members.contains_key(&name)
    }

    /// Adds the use of a value.
    pub(super) fn add_use(&mut self, id: u32, name: Symbol, at: Span) {
        self.uses.push((id, name, at));
    }
}

impl Indexer<'_> {
    /// Declares the values and adds their uses, after all enumerations that share values are known.
    pub(super) fn values(&mut self) {
        let mut all = std::mem::take(&mut self.enumerations);
        let mut declared: FxHashMap<(u32, Symbol), u32> = FxHashMap::default();
        for id in 0..all.all.len() as u32 {
            let root = all.root(id);
            let Enumeration { listed, whole, parent, .. } = &all.all[id as usize];
            for &(name, at) in listed {
                match declared.get(&(root, name)) {
                    Some(&known) => self.use_at(known, name, at),
                    None => {
                        let new = New { name, at, whole: at, parent: *parent };
                        let declaration = self.declare(NameKind::Value, new);
                        self.index.declarations[declaration as usize].details = vec![match parent {
                            Some(_) => format!("A value of `{}`.", self.one_line(*whole)),
                            None => "A value.".to_string(),
                        }];
                        declared.insert((root, name), declaration);
                    }
                }
            }
        }
        for (id, name, at) in std::mem::take(&mut all.uses) {
            let root = all.root(id);
            if let Some(&declaration) = declared.get(&(root, name)) {
                self.use_at(declaration, name, at);
            }
        }
        self.enumerations = all;
    }
}
