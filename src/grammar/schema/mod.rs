//! JSON Schema → GBNF, exactly or not at all.
//!
//! The grammar's sentences are JSON texts that are valid against the schema. A keyword that cannot be kept exactly is
//! refused with its path; nothing is ever loosened. What is narrowed, so that a small model comes to an end and every
//! object reads the same:
//!
//! - Properties come in the order of `properties`; additional ones come last. As in llama.cpp, an object with
//!   `properties` has additional ones only if some keyword speaks of them.
//! - Blanks are bounded: at most one space, or a line break and indentation.
//! - A number without bounds has at most 18 digits before the point and 16 after it; one with bounds or a `multipleOf`
//!   has no exponent. An integer is written without a point, although 1.0 is one.
//! - Characters that a `pattern`, a `format`, an `enum`, a `const` or a property's name fixes are written in one way only.
//!
//! Drafts: 2020-12, and what older ones say differently where that cannot be mistaken.
//!
//! | file | holds |
//! |---|---|
//! | `shape` | schemas → shapes: what must hold together, one shape for each choice |
//! | `objects`, `arrays`, `strings`, `numbers` | shapes → expressions, kind by kind |
//! | `values` | listed values: how they are written, and whether they are valid |
//! | `automaton`, `steps` | what several patterns and lengths, or steps and bounds, say together |
//! | `formats`, `text`, `number` | formats, characters of strings, numbers between bounds |

mod arrays;
mod automaton;
mod formats;
mod number;
mod numbers;
mod objects;
mod shape;
mod steps;
mod strings;
mod text;
mod values;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::Value;

use super::expr::Expr;
use crate::error::{Detail, Error, ErrorKind, Result};
use shape::{KINDS, Shape, is_annotation};
use values::literal;

/// How deep a schema may nest.
const MAX_DEPTH: usize = 100;

/// The most values of an `enum`.
const MAX_VALUES: usize = 10_000;

/// How deep it is looked whether two schemas have a value in common.
const MAX_TRIAL_DEPTH: usize = 4;

/// The most items, characters or properties that a schema can require.
const MAX_REQUIRED: u32 = super::MAX_REPETITIONS;

/// The largest upper bound on them.
const MAX_COUNT: u32 = super::MAX_UPPER_BOUND;

/// The text of a grammar whose sentences are the JSON texts that are valid against a schema.
///
/// # Errors
///
/// [`ErrorKind::InvalidSchema`] with the path of the keyword that is wrong, unknown, or cannot be kept exactly
/// ([`Detail::Path`]).
///
/// # Example
///
/// ```
/// use fairhand::grammar::{Grammar, json_schema_to_gbnf};
///
/// let schema = serde_json::json!({ "type": "array", "items": { "enum": ["work", "home"] }, "maxItems": 2 });
/// let grammar = Grammar::parse(&json_schema_to_gbnf(&schema)?)?;
/// assert!(grammar.matches(br#"["home", "work"]"#) && !grammar.matches(br#"["play"]"#));
/// # Ok::<(), fairhand::Error>(())
/// ```
pub fn json_schema_to_gbnf(schema: &Value) -> Result<String> {
    let mut converter = Converter::new(schema, false);
    let root = converter.all(vec![Place::root(schema)])?;
    if root.is_never() {
        return refuse(&Path::default(), "no value is valid");
    }
    let mut text = format!("root ::= {root}\n");
    for (name, rule) in converter.reached(&root) {
        writeln!(text, "{name} ::= {rule}").expect("writing to a string cannot fail");
    }
    text.push_str(include_str!("values.gbnf"));
    Ok(text)
}

/// A place in a schema, as a JSON pointer, and how deep it is.
#[derive(Clone, Debug, Default)]
struct Path(String, usize);

impl Path {
    fn key(&self, key: &str) -> Self {
        Self(format!("{}/{}", self.0, key.replace('~', "~0").replace('/', "~1")), self.1 + 1)
    }

    fn index(&self, index: usize) -> Self {
        self.key(&index.to_string())
    }
}

fn refuse<T>(path: &Path, why: &str) -> Result<T> {
    let error = Error::new(ErrorKind::InvalidSchema, why);
    Err(error.with_detail(Detail::Path { path: path.0.clone() }))
}

fn list<'v>(value: &'v Value, path: &Path) -> Result<&'v [Value]> {
    match value {
        Value::Array(values) => Ok(values),
        _ => refuse(path, "this keyword has a list"),
    }
}

/// A schema that must hold, or if negated must not.
#[derive(Clone, Debug)]
struct Place<'s> {
    schema: &'s Value,
    path: Path,
    negated: bool,
    /// Objects may have properties that the schema does not mention, as the specification says: it is a condition on
    /// texts, and writes none.
    open: bool,
}

impl<'s> Place<'s> {
    fn root(schema: &'s Value) -> Self {
        Self { schema, path: Path::default(), negated: false, open: false }
    }

    /// A schema inside of this one.
    fn at(&self, schema: &'s Value, path: Path) -> Self {
        Self { schema, path, ..*self }
    }

    fn not(&self) -> Self {
        Self { negated: !self.negated, open: true, ..self.clone() }
    }

    fn opened(&self) -> Self {
        Self { open: true, ..self.clone() }
    }

    /// Only the whole schema may have an identifier: inside it would be another base, and references lead elsewhere.
    fn check_base(&self) -> Result<()> {
        match ["$id", "id"].iter().find(|key| self.schema.get(**key).is_some_and(Value::is_string)) {
            Some(key) if !self.path.0.is_empty() => {
                refuse(&self.path.key(key), "only a whole schema has an identifier")
            }
            _ => Ok(()),
        }
    }

    /// The schemas of a list.
    fn parts(&self) -> Result<Vec<Self>> {
        let parts = list(self.schema, &self.path)?.iter().enumerate();
        Ok(parts.map(|(i, part)| self.at(part, self.path.index(i))).collect())
    }
}

struct Converter<'s> {
    root: &'s Value,
    rules: Vec<(String, Expr)>,
    names: usize,
    /// By the places that must hold together, what their values are; while that is being found, the name of its rule.
    known: HashMap<String, Expr>,
    /// Rules that something refers to already.
    used: HashSet<String>,
    depth: usize,
    /// It is only asked whether there is a value: what is deep inside, or a choice, may be taken for wider than it is.
    is_trial: bool,
}

impl<'s> Converter<'s> {
    fn new(root: &'s Value, is_trial: bool) -> Self {
        let (rules, known, used) = (Vec::new(), HashMap::new(), HashSet::new());
        Self { root, rules, names: 0, known, used, depth: 0, is_trial }
    }

    /// A converter that finds out whether there is a value.
    fn trial(&self) -> Self {
        Self::new(self.root, true)
    }

    fn new_name(&mut self, kind: &str) -> String {
        self.names += 1;
        format!("{kind}-{}", self.names)
    }

    /// A rule for it, unless it is as short as the rule's name.
    fn named(&mut self, kind: &str, expr: Expr) -> Expr {
        match expr {
            Expr::Rule(_) | Expr::Text(_) => expr,
            expr if expr == Expr::empty() || expr.is_never() => expr,
            expr => {
                let name = self.new_name(kind);
                self.rules.push((name.clone(), expr));
                Expr::rule(name)
            }
        }
    }

    /// The values that are valid at all places.
    fn all(&mut self, places: Vec<Place<'s>>) -> Result<Expr> {
        let mut keys = Vec::new();
        let mut distinct = Vec::new();
        for place in places {
            let place = self.followed(place)?;
            if let Value::Bool(valid) = place.schema {
                if *valid == place.negated {
                    return Ok(Expr::never());
                }
                continue;
            }
            let key = format!("{}{}{}", u8::from(place.negated), u8::from(place.open), place.path.0);
            if !keys.contains(&key) {
                keys.push(key);
                distinct.push(place);
            }
        }
        let Some(first) = distinct.first() else { return Ok(Expr::rule("any")) };
        keys.sort_unstable();
        let key = keys.join("\n");
        if let Some(known) = self.known.get(&key) {
            if let Expr::Rule(name) = known {
                self.used.insert(name.clone());
            }
            return Ok(known.clone());
        }
        if self.is_trial && self.depth > MAX_TRIAL_DEPTH {
            return Ok(Expr::rule("any"));
        }
        if self.depth > MAX_DEPTH {
            return refuse(&first.path, "the schema nests too deep");
        }
        let name = self.new_name("value");
        self.known.insert(key.clone(), Expr::rule(&name));
        self.depth += 1;
        let shapes = self.shapes(&distinct)?;
        let alternatives: Result<Vec<Expr>> = shapes.iter().map(|shape| self.shape(shape)).collect();
        self.depth -= 1;
        let mut expr = Expr::alt(alternatives?);
        if self.used.contains(&name) {
            self.rules.push((name.clone(), expr.clone()));
            if !expr.is_never() {
                expr = Expr::rule(name);
            }
        } else {
            expr = self.named("value", expr);
        }
        self.known.insert(key, expr.clone());
        Ok(expr)
    }

    /// The values of a shape.
    fn shape(&mut self, shape: &Shape<'s>) -> Result<Expr> {
        if let Some(values) = &shape.values {
            let mut literals = Vec::new();
            for value in values {
                if self.holds(shape, value)? {
                    literals.push(literal(value));
                }
            }
            return Ok(Expr::alt(literals));
        }
        let mut kinds = Vec::new();
        for (name, _) in KINDS.iter().zip(shape.kinds).filter(|(_, allowed)| *allowed) {
            kinds.push(match *name {
                "object" => self.object(shape)?,
                "array" => self.array(shape)?,
                "string" => self.string(shape)?,
                "number" => self.number(shape)?,
                "boolean" => {
                    let booleans = [true, false].map(Value::Bool);
                    let left = booleans.iter().filter(|value| !shape.excluded.contains(value)).map(literal);
                    let left = Expr::alt(left);
                    if matches!(left, Expr::Alt(ref both) if both.len() == 2) { Expr::rule("boolean") } else { left }
                }
                _ if shape.excluded.contains(&&Value::Null) => Expr::never(),
                _ => Expr::text("null"),
            });
        }
        let plain = ["object", "array", "string", "number", "boolean"].map(Expr::rule);
        if kinds.len() == KINDS.len() && kinds[..5] == plain && kinds[5] == Expr::text("null") {
            return Ok(Expr::rule("any"));
        }
        Ok(Expr::alt(kinds))
    }

    /// The schema that a place leads to, if it is nothing but a reference.
    fn followed(&self, mut place: Place<'s>) -> Result<Place<'s>> {
        for _ in 0..MAX_DEPTH {
            place.check_base()?;
            let Value::Object(keywords) = place.schema else { return Ok(place) };
            match keywords.get("$ref") {
                Some(value) if keywords.keys().all(|key| key == "$ref" || is_annotation(key)) => {
                    place = self.target(value, &place.at(value, place.path.key("$ref")))?;
                }
                _ => return Ok(place),
            }
        }
        refuse(&place.path, "the schema refers to itself before it reaches a value")
    }

    /// What a reference leads to: a JSON pointer into the schema, or an anchor in it.
    fn target(&self, reference: &Value, here: &Place<'s>) -> Result<Place<'s>> {
        let Some(reference) = reference.as_str() else { return refuse(&here.path, "a reference is a text") };
        let own = self.root.get("$id").and_then(Value::as_str).unwrap_or_default();
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if !base.is_empty() && base != own.trim_end_matches('#') {
            return refuse(&here.path, "only references into this schema (#…) are understood");
        }
        let fragment = percent_decoded(fragment);
        let found = match fragment.is_empty() || fragment.starts_with('/') {
            true => self.root.pointer(&fragment).map(|schema| (schema, fragment)),
            false => anchored(self.root, &fragment, &Path::default()).map(|(schema, path)| (schema, path.0)),
        };
        match found {
            // Pointers are paths of their own, and there are finitely many: the depth starts anew.
            Some((schema, pointer)) => Ok(here.at(schema, Path(pointer, 1))),
            None => refuse(&here.path, "the reference leads nowhere"),
        }
    }

    /// The rules that can be reached from an expression, in the order in which they were made.
    fn reached<'c>(&'c self, root: &'c Expr) -> impl Iterator<Item = &'c (String, Expr)> {
        let by_name: HashMap<&str, &Expr> = self.rules.iter().map(|(name, rule)| (name.as_str(), rule)).collect();
        let mut reached = HashSet::new();
        let mut open = vec![root];
        while let Some(expr) = open.pop() {
            match expr {
                Expr::Seq(items) | Expr::Alt(items) => open.extend(items),
                Expr::Rep(item, ..) => open.push(item),
                Expr::Rule(name) if reached.insert(name.as_str()) => open.extend(by_name.get(name.as_str())),
                _ => {}
            }
        }
        self.rules.iter().filter(move |(name, _)| reached.contains(name.as_str()))
    }
}

/// The schema with that `$anchor`.
fn anchored<'s>(schema: &'s Value, name: &str, path: &Path) -> Option<(&'s Value, Path)> {
    match schema {
        Value::Object(members) if members.get("$anchor").and_then(Value::as_str) == Some(name) => {
            Some((schema, path.clone()))
        }
        Value::Object(members) => {
            let schemas = members.iter().filter(|(key, _)| !matches!(key.as_str(), "enum" | "const"));
            schemas.filter_map(|(key, value)| anchored(value, name, &path.key(key))).next()
        }
        Value::Array(items) => {
            items.iter().enumerate().filter_map(|(i, item)| anchored(item, name, &path.index(i))).next()
        }
        _ => None,
    }
}

/// Undoes the percent-encoding of a reference's fragment (RFC 6901, 6).
fn percent_decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        match tail.get(..2).and_then(hex).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
