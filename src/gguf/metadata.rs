//! Typed, checked access to the key-value pairs of a GGUF header.

use std::collections::HashMap;

use candle_core::quantized::gguf_file::Value;

use crate::error::{Error, ErrorKind, Result};

/// The key-value pairs of a GGUF file, as candle-core read them.
///
/// Every getter tells "absent" (`None`) from "of the wrong type" (`corrupt-model`), since a default is only right for
/// the first.
#[derive(Clone, Debug, Default)]
pub struct Metadata(HashMap<String, Value>);

impl Metadata {
    pub fn new(entries: HashMap<String, Value>) -> Self {
        Self(entries)
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Drops the pairs whose keys begin with `prefix`, and gives their memory back.
    pub fn forget(&mut self, prefix: &str) {
        self.0.retain(|key, _| !key.starts_with(prefix));
    }

    /// An unsigned integer of any width.
    pub fn opt_usize(&self, key: &str) -> Result<Option<usize>> {
        let Some(value) = self.0.get(key) else { return Ok(None) };
        as_usize(value).map(Some).ok_or_else(|| wrong_type(key, "an unsigned integer"))
    }

    pub fn usize(&self, key: &str) -> Result<usize> {
        self.opt_usize(key)?.ok_or_else(|| missing(key))
    }

    pub fn opt_f32(&self, key: &str) -> Result<Option<f32>> {
        match self.0.get(key) {
            None => Ok(None),
            Some(Value::F32(v)) => Ok(Some(*v)),
            Some(Value::F64(v)) => Ok(Some(*v as f32)),
            Some(_) => Err(wrong_type(key, "a float")),
        }
    }

    pub fn f32(&self, key: &str) -> Result<f32> {
        self.opt_f32(key)?.ok_or_else(|| missing(key))
    }

    pub fn opt_bool(&self, key: &str) -> Result<Option<bool>> {
        match self.0.get(key) {
            None => Ok(None),
            Some(Value::Bool(v)) => Ok(Some(*v)),
            Some(_) => Err(wrong_type(key, "a boolean")),
        }
    }

    pub fn opt_str(&self, key: &str) -> Result<Option<&str>> {
        match self.0.get(key) {
            None => Ok(None),
            Some(Value::String(v)) => Ok(Some(v)),
            Some(_) => Err(wrong_type(key, "a string")),
        }
    }

    pub fn str(&self, key: &str) -> Result<&str> {
        self.opt_str(key)?.ok_or_else(|| missing(key))
    }

    /// An array of strings.
    pub fn opt_strings(&self, key: &str) -> Result<Option<Vec<&str>>> {
        self.opt_array(key, "an array of strings", |v| match v {
            Value::String(s) => Some(s.as_str()),
            _ => None,
        })
    }

    /// An array of integers of any width and sign.
    pub fn opt_ints(&self, key: &str) -> Result<Option<Vec<i64>>> {
        self.opt_array(key, "an array of integers", |v| match v {
            Value::I8(v) => Some(i64::from(*v)),
            Value::I16(v) => Some(i64::from(*v)),
            Value::I32(v) => Some(i64::from(*v)),
            Value::I64(v) => Some(*v),
            other => as_usize(other).and_then(|v| i64::try_from(v).ok()),
        })
    }

    pub fn opt_f32s(&self, key: &str) -> Result<Option<Vec<f32>>> {
        self.opt_array(key, "an array of floats", |v| match v {
            Value::F32(v) => Some(*v),
            Value::F64(v) => Some(*v as f32),
            _ => None,
        })
    }

    fn opt_array<'a, T>(
        &'a self,
        key: &str,
        expected: &str,
        element: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<Vec<T>>> {
        match self.0.get(key) {
            None => Ok(None),
            Some(Value::Array(values)) => {
                let read: Option<Vec<T>> = values.iter().map(element).collect();
                read.map(Some).ok_or_else(|| wrong_type(key, expected))
            }
            Some(_) => Err(wrong_type(key, expected)),
        }
    }
}

fn as_usize(value: &Value) -> Option<usize> {
    match value {
        Value::U8(v) => Some(usize::from(*v)),
        Value::U16(v) => Some(usize::from(*v)),
        Value::U32(v) => usize::try_from(*v).ok(),
        Value::U64(v) => usize::try_from(*v).ok(),
        Value::I8(v) => usize::try_from(*v).ok(),
        Value::I16(v) => usize::try_from(*v).ok(),
        Value::I32(v) => usize::try_from(*v).ok(),
        Value::I64(v) => usize::try_from(*v).ok(),
        _ => None,
    }
}

fn missing(key: &str) -> Error {
    Error::new(ErrorKind::CorruptModel, format!("the GGUF metadata has no `{key}`"))
}

fn wrong_type(key: &str, expected: &str) -> Error {
    Error::new(ErrorKind::CorruptModel, format!("the GGUF metadata's `{key}` is not {expected}"))
}
