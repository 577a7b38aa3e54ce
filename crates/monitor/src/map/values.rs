//! The values that paths of a map find: those that the map names, then those of the record.

use super::path::Path;
use crate::record::Json;

/// A value that a map names: the first of some paths at which a record has one. A null is no value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NamedValue {
    pub(super) name: String,
    pub(super) paths: Vec<Path>,
    /// The value of records that have none at these paths.
    pub(super) otherwise: Option<Json>,
}

impl NamedValue {
    fn find<'r>(&'r self, record: &'r Json) -> Option<&'r Json> {
        let found =
            self.paths.iter().find_map(|path| path.find(record).filter(|value| **value != Json::Null));
        found.or(self.otherwise.as_ref())
    }
}

/// The values of a record, for one observation.
pub(crate) struct Values<'r> {
    record: &'r Json,
    named: &'r [NamedValue],
    /// The item of a list that `each` names.
    item: Option<&'r Json>,
}

/// The name of the item that `each` repeats an event for.
pub(super) const ITEM: &str = "item";

impl<'r> Values<'r> {
    pub(super) fn of(record: &'r Json, named: &'r [NamedValue]) -> Values<'r> {
        Values { record, named, item: None }
    }

    /// The same values, and an item of a list.
    pub(super) fn with_item(&self, item: &'r Json) -> Values<'r> {
        Values { record: self.record, named: self.named, item: Some(item) }
    }

    /// The value at a path, unless it is null. A first key that the map names stands for the named value.
    pub(super) fn find(&self, path: &Path) -> Option<&'r Json> {
        let found = match self.base(path) {
            Base::Record => path.find(self.record),
            Base::Value(value) => path.find_after(1, value?),
        };
        found.filter(|value| **value != Json::Null)
    }

    /// All values at a path with `[*]`.
    pub(super) fn find_all(&self, path: &Path) -> Vec<&'r Json> {
        match self.base(path) {
            Base::Record => path.find_all(self.record),
            Base::Value(value) => value.map(|value| path.find_all_after(1, value)).unwrap_or_default(),
        }
    }

    fn base(&self, path: &Path) -> Base<'r> {
        let Some(key) = path.first_key() else { return Base::Record };
        if let (ITEM, Some(item)) = (key, self.item) {
            return Base::Value(Some(item));
        }
        match self.named.iter().find(|value| value.name == key) {
            Some(named) => Base::Value(named.find(self.record)),
            None => Base::Record,
        }
    }
}

/// Where a path begins.
enum Base<'r> {
    /// At the record.
    Record,
    /// Behind its first key, which names a value that the record may lack.
    Value(Option<&'r Json>),
}
