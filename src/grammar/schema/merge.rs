//! Two schemas that both must hold, as one.

use serde_json::{Map, Value};

use super::number::Decimal;
use super::{Path, refuse};
use crate::error::Result;

/// A schema that is an object.
pub(super) type Keywords = Map<String, Value>;

/// Keywords that say nothing about which values are valid.
pub(super) const ANNOTATIONS: [&str; 14] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$schema",
    "$id",
    "$comment",
    "$anchor",
    "$defs",
    "definitions",
    "$vocabulary",
];

/// The schema of the values that are valid against both.
///
/// # Errors
///
/// `invalid-schema` where two keywords cannot be made one exactly.
pub(super) fn both(a: &Keywords, b: &Keywords, path: &Path) -> Result<Keywords> {
    let mut merged = a.clone();
    for (key, theirs) in b {
        let Some(ours) = merged.get(key) else {
            // Which properties count as additional depends on the other keyword.
            let splits = |key: &str, other: &str, of: &Keywords| key == other && of.contains_key("properties");
            if splits(key, "additionalProperties", a) || (key == "properties" && a.contains_key("additionalProperties"))
            {
                return refuse(
                    path,
                    "properties and additionalProperties of different schemas cannot both hold exactly",
                );
            }
            merged.insert(key.clone(), theirs.clone());
            continue;
        };
        if ours == theirs || ANNOTATIONS.contains(&key.as_str()) {
            continue;
        }
        let value = match key.as_str() {
            "type" => Value::Array(common_types(ours, theirs)),
            "enum" => {
                let theirs = theirs.as_array().map_or(&[][..], Vec::as_slice);
                let ours = ours.as_array().map_or(&[][..], Vec::as_slice);
                Value::Array(ours.iter().filter(|value| theirs.contains(value)).cloned().collect())
            }
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
                extreme(ours, theirs, std::cmp::Ordering::Greater, path)?
            }
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
                extreme(ours, theirs, std::cmp::Ordering::Less, path)?
            }
            "required" => {
                let mut all = ours.as_array().cloned().unwrap_or_default();
                all.extend(
                    theirs
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter(|name| !all.contains(name))
                        .cloned()
                        .collect::<Vec<_>>(),
                );
                Value::Array(all)
            }
            "properties" if a.contains_key("additionalProperties") || b.contains_key("additionalProperties") => {
                return refuse(
                    path,
                    "properties of different schemas and additionalProperties cannot all hold exactly",
                );
            }
            "properties" => properties(ours, theirs, path)?,
            "items" => schemas(ours, theirs, &path.key(key))?,
            _ => return refuse(&path.key(key), "two different values of this keyword cannot both hold exactly"),
        };
        merged.insert(key.clone(), value);
    }
    Ok(merged)
}

fn properties(ours: &Value, theirs: &Value, path: &Path) -> Result<Value> {
    let mut all = ours.as_object().cloned().unwrap_or_default();
    for (name, theirs) in theirs.as_object().into_iter().flatten() {
        let merged = match all.get(name) {
            Some(ours) => schemas(ours, theirs, &path.key("properties").key(name))?,
            None => theirs.clone(),
        };
        all.insert(name.clone(), merged);
    }
    Ok(Value::Object(all))
}

fn schemas(ours: &Value, theirs: &Value, path: &Path) -> Result<Value> {
    match (ours, theirs) {
        (Value::Bool(true), other) | (other, Value::Bool(true)) => Ok(other.clone()),
        (Value::Bool(false), _) | (_, Value::Bool(false)) => Ok(Value::Bool(false)),
        (Value::Object(ours), Value::Object(theirs)) => both(ours, theirs, path).map(Value::Object),
        _ => refuse(path, "a schema is an object, true or false"),
    }
}

/// The types that a `type` keyword names.
pub(super) fn types(value: &Value) -> Vec<&str> {
    match value {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn common_types(ours: &Value, theirs: &Value) -> Vec<Value> {
    let (ours, theirs) = (types(ours), types(theirs));
    let has =
        |types: &[&str], wanted: &str| types.contains(&wanted) || (wanted == "integer" && types.contains(&"number"));
    let mut common: Vec<&str> =
        ours.iter().chain(&theirs).copied().filter(|t| has(&ours, t) && has(&theirs, t)).collect();
    common.sort_unstable();
    common.dedup();
    common.into_iter().map(Value::from).collect()
}

fn extreme(ours: &Value, theirs: &Value, wanted: std::cmp::Ordering, path: &Path) -> Result<Value> {
    match (Decimal::parse(&ours.to_string()), Decimal::parse(&theirs.to_string())) {
        (Some(a), Some(b)) => Ok(if a.cmp(&b) == wanted { ours.clone() } else { theirs.clone() }),
        _ => refuse(path, "a bound is a number"),
    }
}
