//! Interned names.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

/// A name: a constant, a functor, or a constructor of processes and constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(pub(crate) u32);

/// Declares the symbols that differ from all names in files, each with the text that reports use.
macro_rules! built_in {
    ($($name:ident = $text:expr;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Index { $($name),* }
        impl Symbol {
            $(pub(crate) const $name: Symbol = Symbol(Index::$name as u32);)*
        }
        const BUILT_IN: &[&str] = &[$($text),*];
    };
}

built_in! {
    // Lists.
    EMPTY = "[]";
    CONS = "[|]";
    // Processes.
    NIL = "nil";
    NULL = "null";
    CALL = "a";
    SEND = "=>";
    RECEIVE = "<=";
    GUARD = "<-";
    THEN = "then";
    PAR = "par";
    EITHER = "or";
    FRAME = "::";
    // Constraints.
    AND = "and";
    OR = "or";
    NOT = "not";
    PERMIT = "+";
    FORBID = "-";
    UNIFY = "=";
    DIFFER = "\\=";
    SAME = "==";
    NOT_SAME = "\\==";
    LESS = "<";
    GREATER = ">";
    AT_MOST = "=<";
    AT_LEAST = ">=";
    IS = "is";
    // Arithmetic.
    PLUS = "+";
    MINUS = "-";
    TIMES = "*";
    DIVIDE = "/";
    MOD = "mod";
    NEGATIVE = "-";
    // Messages and labels.
    MESSAGE = "message";
    SENT = "out";
    TAKEN = "in";
    INTERNAL = "#";
    SET = "{}";
}

/// All names of an instance.
#[derive(Clone, Debug)]
pub(crate) struct Symbols {
    names: Vec<Box<str>>,
    by_name: FxHashMap<Box<str>, Symbol>,
    /// Estimated size of the texts in bytes.
    name_bytes: u64,
}

impl Default for Symbols {
    fn default() -> Self {
        // Built-in symbols have no entry in `by_name`, because the constant 'then' is a different symbol.
        let names = BUILT_IN.iter().map(|name| (*name).into()).collect();
        Symbols { names, by_name: FxHashMap::default(), name_bytes: 0 }
    }
}

impl Symbols {
    /// Number of names.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Removes all names but the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        for name in self.names.drain(len.min(self.names.len())..) {
            self.name_bytes -= 2 * (name.len() as u64 + 16);
            self.by_name.remove(&name);
        }
        if self.names.capacity() / 4 > self.names.len() {
            self.names.shrink_to(self.names.len() * 2);
            self.by_name.shrink_to(self.by_name.len() * 2);
        }
    }

    /// Estimated size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.names.capacity() * 16 + self.by_name.capacity() * 25) as u64 + self.name_bytes
    }

    /// Returns the symbol of a name, which is added if it is new.
    pub(crate) fn intern(&mut self, name: &str) -> Symbol {
        if let Some(symbol) = self.by_name.get(name) {
            return *symbol;
        }
        let symbol = Symbol(self.names.len() as u32);
        // Each name is stored twice; an allocation has at least 16 bytes.
        self.name_bytes += 2 * (name.len() as u64 + 16);
        self.names.push(name.into());
        self.by_name.insert(name.into(), symbol);
        symbol
    }

    /// Returns the symbol of a name, if it is interned.
    pub(crate) fn find(&self, name: &str) -> Option<Symbol> {
        self.by_name.get(name).copied()
    }

    /// Compares symbols: first the built-in ones, in the order above, then names by their text.
    pub(crate) fn compare(&self, left: Symbol, right: Symbol) -> Ordering {
        if left.is_built_in() || right.is_built_in() || left == right {
            left.cmp(&right)
        } else {
            self.name(left).cmp(self.name(right))
        }
    }

    pub(crate) fn name(&self, symbol: Symbol) -> &str {
        &self.names[symbol.0 as usize]
    }
}

impl Symbol {
    /// Whether the symbol is built in and cannot occur in files.
    pub(crate) fn is_built_in(self) -> bool {
        (self.0 as usize) < BUILT_IN.len()
    }
}
