//! Maps that keep the order of insertion.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

/// Names and values in a fixed order, serialized as a JSON object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries<V>(pub Vec<(String, V)>);

impl<V> Entries<V> {
    /// Whether there is no entry.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<V> Default for Entries<V> {
    fn default() -> Self {
        Entries(Vec::new())
    }
}

impl<K: Into<String>, V> FromIterator<(K, V)> for Entries<V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Entries(entries.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl<V: Serialize> Serialize for Entries<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<V: JsonSchema> JsonSchema for Entries<V> {
    fn schema_name() -> Cow<'static, str> {
        BTreeMap::<String, V>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, V>::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}
