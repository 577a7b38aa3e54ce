//! The JSON schema of the protocol, generated from its types.

use masque_report::CheckReport;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::fault::Fault;
use crate::protocol::{
    Advance, Advanced, BROKER_SCHEMA, Cancel, Cancelled, Check, CheckModel, Checked, Closed, Explain,
    Explained, GetState, Method, Moves, NoParams, Observe, Observed, Open, Opened, Owed, Place,
    SessionParams, State, Stopping, Update, Updated,
};
use crate::team::{Found, Teams};

/// The schema, as JSON text with a newline at its end: for each method a schema of its parameters and
/// one of its result, and one for errors.
///
/// ```
/// assert!(masque_broker::schema().contains("masque.broker/1"));
/// ```
pub fn schema() -> String {
    // Parameters have optional members; results have all their members.
    let mut read = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    let mut written = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let methods: Map<String, Value> = (Method::ALL.iter())
        .map(|method| (method.name().to_string(), pair(*method, &mut read, &mut written)))
        .collect();
    let error = written.subschema_for::<Fault>();
    let mut definitions = read.take_definitions(true);
    definitions.extend(written.take_definitions(true));
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": BROKER_SCHEMA,
        "description": "JSON-RPC 2.0: `methods` has a schema of the `params` and of the `result` of each \
            method, `error` is the schema of the `error` member of an answer.",
        "methods": methods,
        "error": error,
        "$defs": definitions,
    });
    format!("{schema:#}\n")
}

fn pair(method: Method, read: &mut SchemaGenerator, written: &mut SchemaGenerator) -> Value {
    match method {
        Method::Open => of::<Open, Opened>(read, written),
        Method::Check => of::<Check, Checked>(read, written),
        Method::Update => of::<Update, Updated>(read, written),
        Method::Moves => of::<SessionParams, Moves>(read, written),
        Method::Advance => of::<Advance, Advanced>(read, written),
        Method::Place => of::<Place, State>(read, written),
        Method::State => of::<GetState, State>(read, written),
        Method::Teams => of::<Teams, Found>(read, written),
        Method::Explain => of::<Explain, Explained>(read, written),
        Method::Observe | Method::May => of::<Observe, Observed>(read, written),
        Method::Obligations => of::<SessionParams, Owed>(read, written),
        Method::Close => of::<SessionParams, Closed>(read, written),
        Method::Cancel => of::<Cancel, Cancelled>(read, written),
        Method::CheckModel => of::<CheckModel, CheckReport>(read, written),
        Method::Shutdown => of::<NoParams, Stopping>(read, written),
    }
}

fn of<P: JsonSchema, R: JsonSchema>(read: &mut SchemaGenerator, written: &mut SchemaGenerator) -> Value {
    json!({ "params": read.subschema_for::<P>(), "result": written.subschema_for::<R>() })
}
