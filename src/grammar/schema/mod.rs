//! JSON Schema → GBNF, exactly or not at all.
//!
//! The grammar's sentences are JSON texts that are valid against the schema. A keyword that cannot be kept exactly is
//! refused with its path; nothing is ever loosened. What is narrowed, so that a small model comes to an end and every
//! object reads the same:
//!
//! - Properties come in the order of `properties`; additional ones come last. As in llama.cpp, an object with
//!   `properties` has additional ones only if `additionalProperties` says so.
//! - Blanks are bounded: at most one space, or a line break and indentation.
//! - A number without bounds has at most 18 digits before the point and 16 after it; one with bounds or a `multipleOf`
//!   has no exponent.
//! - Characters that a `pattern`, an `enum`, a `const` or a property's name fixes are written in one way only.
//!
//! `$ref` becomes a rule, so schemas may refer to themselves. Drafts: 2020-12, and what older ones have in common with it.

mod merge;
mod number;
mod text;

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::expr::Expr;
use crate::error::{Detail, Error, ErrorKind, Result};
use merge::{ANNOTATIONS, Keywords, both, types};
use number::{Bound, Decimal, between};

/// How deep a schema may nest.
const MAX_DEPTH: usize = 100;

/// The most values that an `enum` or a `multipleOf` within bounds may stand for.
const MAX_VALUES: usize = 10_000;

/// The largest `multipleOf` without bounds that is not a power of ten: each remainder becomes a rule.
const MAX_STEP: u32 = 100;

/// The most distinct values of an array with `uniqueItems`: each subset becomes a rule.
const MAX_UNIQUE: usize = 8;

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
    let mut converter = Converter { root: schema, rules: Vec::new(), references: HashMap::new() };
    let root = converter.schema(schema, &Path::default())?;
    if root.is_never() {
        return refuse(&Path::default(), "no value is valid");
    }
    let mut text = format!("root ::= {root}\n");
    for (name, rule) in &converter.rules {
        writeln!(text, "{name} ::= {rule}").expect("writing to a string cannot fail");
    }
    text.push_str(include_str!("values.gbnf"));
    text.push_str(include_str!("formats.gbnf"));
    Ok(text)
}

/// A place in a schema, as a JSON pointer.
#[derive(Clone, Default)]
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

struct Converter<'s> {
    root: &'s Value,
    rules: Vec<(String, Expr)>,
    /// By pointer, the rule of what `$ref` refers to.
    references: HashMap<String, String>,
}

/// Keywords with a meaning here. An unknown one might forbid what we would allow.
const KNOWN: [&str; 27] = [
    "type",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
    "properties",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "contentMediaType",
];

impl Converter<'_> {
    fn new_rule(&mut self, kind: &str, rule: Expr) -> Expr {
        if rule.is_never() {
            return rule;
        }
        let name = format!("{kind}-{}", self.rules.len());
        self.rules.push((name.clone(), rule));
        Expr::rule(name)
    }

    fn schema(&mut self, schema: &Value, path: &Path) -> Result<Expr> {
        if path.1 > MAX_DEPTH {
            return refuse(path, "the schema nests too deep");
        }
        match schema {
            Value::Bool(true) => Ok(Expr::rule("any")),
            Value::Bool(false) => Ok(Expr::never()),
            Value::Object(keywords) => self.keywords(keywords, path),
            _ => refuse(path, "a schema is an object, true or false"),
        }
    }

    fn keywords(&mut self, keywords: &Keywords, path: &Path) -> Result<Expr> {
        let meaningful = |key: &str| !ANNOTATIONS.contains(&key) && !key.starts_with("x-");
        for key in keywords.keys().filter(|key| meaningful(key)) {
            if !KNOWN.contains(&key.as_str()) {
                return refuse(&path.key(key), "this keyword cannot be kept exactly");
            }
        }
        let others = |wanted: &[&str]| keywords.keys().any(|key| meaningful(key) && !wanted.contains(&key.as_str()));
        if let Some(pointer) = keywords.get("$ref") {
            let path = path.key("$ref");
            let Some(pointer) = pointer.as_str() else { return refuse(&path, "a reference is a text") };
            if !others(&["$ref"]) {
                return self.reference(pointer, &path);
            }
            let Value::Object(target) = self.resolve(pointer, &path)? else {
                return refuse(&path, "a reference beside other keywords must lead to an object");
            };
            let rest = without(keywords, "$ref");
            return self.keywords(&both(&rest, &target, &path)?, &path);
        }
        if let Some(all) = keywords.get("allOf") {
            let mut merged = without(keywords, "allOf");
            for (i, part) in list(all, &path.key("allOf"))?.iter().enumerate() {
                let path = path.key("allOf").index(i);
                match part {
                    Value::Bool(true) => {}
                    Value::Bool(false) => return Ok(Expr::never()),
                    Value::Object(part) => merged = both(&merged, &self.without_references(part, &path)?, &path)?,
                    _ => return refuse(&path, "a schema is an object, true or false"),
                }
            }
            return self.keywords(&merged, &path.key("allOf"));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(branches) = keywords.get(key) {
                return self.branches(keywords, key, list(branches, &path.key(key))?, path);
            }
        }
        if let Some(values) = keywords.get("enum") {
            let values = list(values, &path.key("enum"))?;
            let rest = without(keywords, "enum");
            return self.values(values, &rest, &path.key("enum"));
        }
        if let Some(value) = keywords.get("const") {
            return self.values(std::slice::from_ref(value), &without(keywords, "const"), &path.key("const"));
        }
        self.by_type(keywords, path)
    }

    /// The rule of what a reference leads to.
    fn reference(&mut self, pointer: &str, path: &Path) -> Result<Expr> {
        if let Some(name) = self.references.get(pointer) {
            return Ok(Expr::rule(name));
        }
        let target = self.resolve(pointer, path)?;
        let name = format!("ref-{}", self.references.len());
        self.references.insert(pointer.to_owned(), name.clone());
        // Pointers are paths of their own, and there are finitely many: the depth starts anew.
        let rule = self.schema(&target, &Path(pointer.trim_start_matches('#').to_owned(), 0))?;
        self.rules.push((name.clone(), rule));
        Ok(Expr::rule(name))
    }

    fn resolve(&self, pointer: &str, path: &Path) -> Result<Value> {
        let Some(local) = pointer.strip_prefix('#') else { return refuse(path, "only references within the schema") };
        match self.root.pointer(&percent_decoded(local)) {
            Some(target) => Ok(target.clone()),
            None => refuse(path, "the reference leads nowhere"),
        }
    }

    /// A part of `allOf` with its own references and parts put in.
    fn without_references(&self, part: &Keywords, path: &Path) -> Result<Keywords> {
        if path.1 > MAX_DEPTH {
            return refuse(path, "the schema refers to itself before it reaches a value");
        }
        let mut flat = part.clone();
        if let Some(pointer) = flat.shift_remove("$ref") {
            let path = path.key("$ref");
            match self.resolve(pointer.as_str().unwrap_or_default(), &path)? {
                Value::Object(target) => flat = both(&flat, &self.without_references(&target, &path)?, &path)?,
                Value::Bool(true) => {}
                _ => return refuse(&path, "the reference leads to a schema that cannot be merged"),
            }
        }
        if let Some(parts) = flat.shift_remove("allOf") {
            for (i, part) in list(&parts, path)?.iter().enumerate() {
                let path = path.key("allOf").index(i);
                let Value::Object(part) = part else { return refuse(&path, "a part that cannot be merged") };
                flat = both(&flat, &self.without_references(part, &path)?, &path)?;
            }
        }
        Ok(flat)
    }

    fn branches(&mut self, keywords: &Keywords, key: &str, branches: &[Value], path: &Path) -> Result<Expr> {
        let rest = without(keywords, key);
        let path = path.key(key);
        let mut merged = Vec::new();
        for (i, branch) in branches.iter().enumerate() {
            let path = path.index(i);
            merged.push(match branch {
                Value::Bool(false) => continue,
                Value::Bool(true) => rest.clone(),
                Value::Object(branch) if rest.keys().all(|key| ANNOTATIONS.contains(&key.as_str())) => branch.clone(),
                Value::Object(branch) => both(&rest, &self.without_references(branch, &path)?, &path)?,
                _ => return refuse(&path, "a schema is an object, true or false"),
            });
        }
        if key == "oneOf" {
            for (i, branch) in merged.iter().enumerate() {
                for other in &merged[..i] {
                    let (a, b) = (self.without_references(branch, &path)?, self.without_references(other, &path)?);
                    if !disjoint(&a, &b) {
                        return refuse(&path.index(i), "a value might be valid against more than one of these");
                    }
                }
            }
        }
        let branches: Result<Vec<Expr>> =
            merged.iter().enumerate().map(|(i, branch)| self.keywords(branch, &path.index(i))).collect();
        Ok(Expr::alt(branches?))
    }

    /// Values that are listed. Beside them, only `type` is understood.
    fn values(&mut self, values: &[Value], rest: &Keywords, path: &Path) -> Result<Expr> {
        if values.len() > MAX_VALUES {
            return refuse(path, "too many values");
        }
        let is_restricting = |key: &&String| *key != "type" && !ANNOTATIONS.contains(&key.as_str());
        if let Some(key) = rest.keys().find(is_restricting) {
            return refuse(path, &format!("listed values beside {}", shown(key)));
        }
        let allowed = rest.get("type").map(types);
        let fits = |value: &&Value| allowed.as_ref().is_none_or(|types| types.iter().any(|name| has_type(value, name)));
        let texts: Vec<Expr> = values.iter().filter(fits).map(literal).collect();
        Ok(Expr::alt(texts))
    }

    fn by_type(&mut self, keywords: &Keywords, path: &Path) -> Result<Expr> {
        const ALL: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];
        let restricting = |key: &&String| !ANNOTATIONS.contains(&key.as_str()) && !key.starts_with("x-");
        let named = match keywords.get("type") {
            Some(value) => types(value),
            None if !keywords.keys().any(|key| restricting(&key)) => return Ok(Expr::rule("any")),
            None => ALL.to_vec(),
        };
        let mut alternatives = Vec::new();
        for name in &named {
            alternatives.push(match *name {
                "object" => self.object(keywords, path)?,
                "array" => self.array(keywords, path)?,
                "string" => self.string(keywords, path)?,
                "number" => self.number(keywords, path, false)?,
                "integer" if named.contains(&"number") => Expr::never(),
                "integer" => self.number(keywords, path, true)?,
                "boolean" => Expr::rule("boolean"),
                "null" => Expr::text("null"),
                _ => return refuse(&path.key("type"), "an unknown type"),
            });
        }
        if alternatives.is_empty() {
            return Ok(Expr::never());
        }
        Ok(Expr::alt(alternatives))
    }

    fn number(&mut self, keywords: &Keywords, path: &Path, integers: bool) -> Result<Expr> {
        let bound = |key: &str, exclusive: bool| -> Result<Option<Bound>> {
            match keywords.get(key) {
                None => Ok(None),
                Some(value) => match Decimal::parse(&value.to_string()) {
                    Some(at) => Ok(Some(Bound { at, exclusive })),
                    None => refuse(&path.key(key), "a bound is a number of at most 400 digits"),
                },
            }
        };
        // Of two bounds on a side, the stricter.
        let stricter = |a: Option<Bound>, b: Option<Bound>, wanted: std::cmp::Ordering| match (a, b) {
            (Some(a), Some(b)) => Some(match a.at.cmp(&b.at) {
                std::cmp::Ordering::Equal => Bound { exclusive: a.exclusive || b.exclusive, ..a },
                order if order == wanted => a,
                _ => b,
            }),
            (a, b) => a.or(b),
        };
        let low = stricter(bound("minimum", false)?, bound("exclusiveMinimum", true)?, std::cmp::Ordering::Greater);
        let high = stricter(bound("maximum", false)?, bound("exclusiveMaximum", true)?, std::cmp::Ordering::Less);
        if let Some(step) = keywords.get("multipleOf") {
            return self.multiples(step, low.as_ref(), high.as_ref(), integers, &path.key("multipleOf"));
        }
        if low.is_none() && high.is_none() {
            return Ok(Expr::rule(if integers { "integer" } else { "number" }));
        }
        let numbers = between(low.as_ref(), high.as_ref(), integers);
        Ok(self.new_rule("number", numbers))
    }

    /// Multiples of a step: listed between bounds; without bounds by the remainders that their digits leave.
    fn multiples(
        &mut self,
        step: &Value,
        low: Option<&Bound>,
        high: Option<&Bound>,
        integers: bool,
        path: &Path,
    ) -> Result<Expr> {
        let Some(step) = Decimal::parse(&step.to_string()) else { return refuse(path, "a step is a number") };
        if let (Some(places), false, None, None) = (step.decimal_places_of_one(), integers, low, high) {
            return Ok(number::with_places(places));
        }
        let Some(step) = step.to_i64().filter(|step| *step > 0) else {
            return refuse(path, "of steps, only positive integers, and 0.1, 0.01, … without bounds");
        };
        if step == 1 && (integers || (low.is_none() && high.is_none())) {
            return Ok(between(low, high, true));
        }
        if low.is_none() && high.is_none() {
            let zeros = step.ilog10();
            return match (10i64.pow(zeros) == step, u32::try_from(step)) {
                (true, _) => Ok(number::ending_with_zeros(zeros)),
                (false, Ok(step @ ..=MAX_STEP)) => Ok(self.remainders(step)),
                _ => refuse(path, &format!("of steps without bounds, only powers of ten and those up to {MAX_STEP}")),
            };
        }
        let whole = |bound: Option<&Bound>| bound.and_then(|bound| Some((bound.at.to_i64()?, bound.exclusive)));
        let (Some((low, above)), Some((high, below))) = (whole(low), whole(high)) else {
            return refuse(path, "of steps, only between two integers or without any bound");
        };
        let (first, last) = (low + i64::from(above), high - i64::from(below));
        let first = first.div_euclid(step) + i64::from(first.rem_euclid(step) > 0);
        let last = last.div_euclid(step);
        if last - first >= MAX_VALUES as i64 {
            return refuse(path, "too many multiples between the bounds");
        }
        Ok(Expr::alt((first..=last).map(|n| Expr::text((n * step).to_string()))))
    }

    /// Integers that a step divides: a rule for each remainder that the digits so far can leave.
    fn remainders(&mut self, step: u32) -> Expr {
        let kind = format!("multiple-{}", self.rules.len());
        let next = |from: u32, digits: std::ops::RangeInclusive<u32>| {
            let digit = |digit: u32| {
                let rest = Expr::rule(format!("{kind}-{}", (10 * from + digit) % step));
                Expr::seq([Expr::text(digit.to_string()), rest])
            };
            Expr::alt(digits.map(digit))
        };
        for remainder in 0..step {
            let end = if remainder == 0 { Expr::empty() } else { Expr::never() };
            self.rules.push((format!("{kind}-{remainder}"), Expr::alt([end, next(remainder, 0..=9)])));
        }
        Expr::alt([Expr::text("0"), Expr::seq([Expr::text("-").optional(), next(0, 1..=9)])])
    }

    fn string(&mut self, keywords: &Keywords, path: &Path) -> Result<Expr> {
        let (min, max) = counts(keywords, "minLength", "maxLength", path)?;
        let has_length = min > 0 || max.is_some();
        let quoted = |content: Expr| Expr::seq([Expr::text("\""), content, Expr::text("\"")]);
        match (keywords.get("pattern"), keywords.get("format")) {
            (Some(_), _) | (_, Some(_)) if has_length => refuse(path, "a length beside a pattern or a format"),
            (Some(_), Some(_)) => refuse(path, "a pattern beside a format"),
            (Some(pattern), None) => {
                let path = path.key("pattern");
                let Some(pattern) = pattern.as_str() else { return refuse(&path, "a pattern is a text") };
                let content = text::pattern(pattern, &path)?;
                Ok(self.new_rule("pattern", quoted(content)))
            }
            (None, Some(format)) => match format.as_str() {
                Some(name @ ("date" | "time" | "date-time" | "uuid" | "email")) => Ok(quoted(Expr::rule(name))),
                _ => refuse(&path.key("format"), "of formats, only date, time, date-time, uuid and email"),
            },
            (None, None) if has_length => Ok(quoted(Expr::rule("char").rep(min, max))),
            (None, None) => Ok(Expr::rule("string")),
        }
    }

    fn array(&mut self, keywords: &Keywords, path: &Path) -> Result<Expr> {
        let (min, max) = counts(keywords, "minItems", "maxItems", path)?;
        let mut prefix = Vec::new();
        if let Some(items) = keywords.get("prefixItems") {
            for (i, item) in list(items, &path.key("prefixItems"))?.iter().enumerate() {
                let item = self.schema(item, &path.key("prefixItems").index(i))?;
                prefix.push(self.named("item", item));
            }
        }
        let rest = match keywords.get("items") {
            Some(_) if keywords.get("uniqueItems") == Some(&Value::Bool(true)) && max.is_none_or(|max| max > 1) => {
                return self.unique(keywords, &prefix, (min, max), path);
            }
            Some(items) => self.schema(items, &path.key("items"))?,
            None => Expr::rule("any"),
        };
        if keywords.get("uniqueItems") == Some(&Value::Bool(true)) && max.is_none_or(|max| max > 1) {
            return refuse(
                &path.key("uniqueItems"),
                "only of items that are listed can it be told that none comes twice",
            );
        }
        let rest = self.named("item", rest);
        let items = self.items(&prefix, &rest, min, max);
        Ok(in_brackets(items))
    }

    /// The items of an array: those of the prefix in their places, then any number of the rest.
    fn items(&mut self, prefix: &[Expr], rest: &Expr, min: u32, max: Option<u32>) -> Expr {
        let length = prefix.len() as u32;
        let left = |of: Option<u32>| of.map(|max| max.saturating_sub(length));
        let comma = || Expr::seq([Expr::text(","), Expr::rule("ws")]);
        if prefix.is_empty() {
            let more =
                Expr::seq([comma(), rest.clone()]).rep(min.saturating_sub(1), max.map(|max| max.saturating_sub(1)));
            let some = Expr::seq([rest.clone(), more]);
            return match (min, max) {
                (_, Some(0)) => Expr::rep(Expr::never(), min, None),
                (0, _) => some.optional(),
                _ => some,
            };
        }
        let mut tail = Expr::seq([comma(), rest.clone()]).rep(min.saturating_sub(length), left(max));
        for (i, item) in prefix.iter().enumerate().rev() {
            let here = if i == 0 { item.clone() } else { Expr::seq([comma(), item.clone()]) };
            let all = Expr::seq([here, tail]);
            tail = match (i as u32) < min {
                _ if max.is_some_and(|max| max <= i as u32) => {
                    if min > i as u32 {
                        Expr::never()
                    } else {
                        Expr::empty()
                    }
                }
                true => all,
                false => all.optional(),
            };
            tail = self.named("items", tail);
        }
        tail
    }

    /// A rule for it, unless it is as short as the rule's name.
    fn named(&mut self, kind: &str, expr: Expr) -> Expr {
        match expr {
            Expr::Rule(_) | Expr::Text(_) => expr,
            expr if expr == Expr::empty() => expr,
            expr => self.new_rule(kind, expr),
        }
    }

    /// Arrays of listed values, each at most once: a rule for each set of values that are still to be had.
    fn unique(
        &mut self,
        keywords: &Keywords,
        prefix: &[Expr],
        (min, max): (u32, Option<u32>),
        path: &Path,
    ) -> Result<Expr> {
        let refused = "only of a few items that are listed can it be told that none comes twice";
        let path = path.key("uniqueItems");
        let items = keywords.get("items").and_then(Value::as_object);
        let values = match items.and_then(|items| items.get("enum")).and_then(Value::as_array) {
            Some(values) if prefix.is_empty() && values.len() <= MAX_UNIQUE => values,
            _ => return refuse(&path, refused),
        };
        let mut distinct: Vec<&Value> = Vec::new();
        let allowed = items.and_then(|items| items.get("type")).map(types);
        for value in values.iter().filter(|value| allowed.as_ref().is_none_or(|t| t.iter().any(|t| has_type(value, t))))
        {
            if !distinct.contains(&value) {
                distinct.push(value);
            }
        }
        if items.is_some_and(|items| {
            items.keys().any(|key| key != "enum" && key != "type" && !ANNOTATIONS.contains(&key.as_str()))
        }) {
            return refuse(&path, refused);
        }
        // rest[used]: what may follow when the values in the bit set `used` are there.
        let mut rest: Vec<Expr> = vec![Expr::empty(); 1 << distinct.len()];
        for used in (0..rest.len()).rev() {
            let count = used.count_ones();
            let next =
                (0..distinct.len()).filter(|i| used >> i & 1 == 0 && max.is_none_or(|max| count < max)).map(|i| {
                    let comma = if count == 0 { Expr::empty() } else { Expr::seq([Expr::text(","), Expr::rule("ws")]) };
                    Expr::seq([comma, literal(distinct[i]), rest[used | 1 << i].clone()])
                });
            let stop = if count >= min { Expr::empty() } else { Expr::never() };
            let rule = Expr::alt(std::iter::once(stop).chain(next));
            rest[used] = self.new_rule("unique", rule);
        }
        Ok(in_brackets(rest[0].clone()))
    }

    fn object(&mut self, keywords: &Keywords, path: &Path) -> Result<Expr> {
        let empty = Keywords::new();
        let properties = match keywords.get("properties") {
            None => &empty,
            Some(Value::Object(properties)) => properties,
            Some(_) => return refuse(&path.key("properties"), "properties are an object"),
        };
        let required = match keywords.get("required") {
            None => &[][..],
            Some(names) => list(names, &path.key("required"))?,
        };
        let additional = match keywords.get("additionalProperties") {
            None if properties.is_empty() && required.is_empty() => Expr::rule("any"),
            None => Expr::never(),
            Some(schema) => self.schema(schema, &path.key("additionalProperties"))?,
        };
        // Each property: how it is written, and whether it must be there.
        let mut members: Vec<(Expr, bool)> = Vec::new();
        let pair = |name: &str, value: Expr| Expr::seq([literal(&Value::from(name)), Expr::rule("colon"), value]);
        for (name, schema) in properties {
            let value = self.schema(schema, &path.key("properties").key(name))?;
            let value = self.named("value", value);
            members.push((pair(name, value), required.iter().any(|required| required == name)));
        }
        let additional = self.named("additional", additional);
        let mut names: Vec<&str> = properties.keys().map(String::as_str).collect();
        for name in required {
            let Some(name) = name.as_str() else { return refuse(&path.key("required"), "names are texts") };
            if !names.contains(&name) {
                members.push((pair(name, additional.clone()), true));
                names.push(name);
            }
        }
        let (min, max) = counts(keywords, "minProperties", "maxProperties", path)?;
        let must = members.iter().filter(|(_, required)| *required).count() as u32;
        let extra = if additional.is_never() {
            Expr::never()
        } else {
            let name =
                if names.is_empty() { Expr::rule("string") } else { self.new_rule("name", text::other_names(&names)) };
            Expr::seq([name, Expr::rule("colon"), additional])
        };
        if !members.is_empty()
            && (min > must || max.is_some_and(|max| (max as usize) < members.len() || !extra.is_never()))
        {
            return refuse(path, "a number of properties beside properties with names");
        }
        // A name can come twice, and then counts once.
        if members.is_empty() && min > 1 {
            return refuse(&path.key("minProperties"), "more than one property without names");
        }
        let comma = || Expr::seq([Expr::text(","), Expr::rule("ws")]);
        let extra = self.named("extra", extra);
        if members.is_empty() {
            let more = Expr::seq([comma(), extra.clone()]).rep(0, max.map(|max| max.saturating_sub(1)));
            let some = if max == Some(0) { Expr::never() } else { Expr::seq([extra, more, Expr::rule("ws")]) };
            let body = if min == 0 { Expr::alt([some, Expr::empty()]) } else { some };
            return Ok(in_braces(body));
        }
        // From the last property to the first: what may follow when something is there already, and when nothing is.
        let mut after_some = Expr::seq([comma(), extra.clone()]).rep(0, None);
        let mut after_none = match extra.is_never() {
            true => Expr::empty(),
            false => Expr::seq([extra, after_some.clone(), Expr::rule("ws")]).optional(),
        };
        for (member, required) in members.into_iter().rev() {
            let tail = self.named("rest", after_some);
            let first = Expr::seq([member.clone(), tail.clone(), Expr::rule("ws")]);
            let next = Expr::seq([comma(), member, tail.clone()]);
            (after_some, after_none) = if required {
                (next, first)
            } else {
                let without = self.named("first", after_none);
                let skipped = if next.is_never() { tail } else { Expr::alt([next, tail]) };
                (skipped, Expr::alt([first, without]))
            };
        }
        Ok(in_braces(after_none))
    }
}

fn in_brackets(items: Expr) -> Expr {
    let ws = || Expr::rule("ws");
    let body = if items == Expr::empty() { ws() } else { Expr::seq([ws(), items, ws()]) };
    Expr::seq([Expr::text("["), body, Expr::text("]")])
}

fn in_braces(members: Expr) -> Expr {
    Expr::seq([Expr::text("{"), Expr::rule("ws"), members, Expr::text("}")])
}

fn without(keywords: &Keywords, key: &str) -> Keywords {
    let mut rest = keywords.clone();
    rest.shift_remove(key);
    rest
}

fn list<'v>(value: &'v Value, path: &Path) -> Result<&'v [Value]> {
    match value {
        Value::Array(values) => Ok(values),
        _ => refuse(path, "this keyword has a list"),
    }
}

/// Bounds on a number of things.
fn counts(keywords: &Keywords, least: &str, most: &str, path: &Path) -> Result<(u32, Option<u32>)> {
    let count = |key: &str, limit: u32| -> Result<Option<u32>> {
        let Some(value) = keywords.get(key) else { return Ok(None) };
        match Decimal::parse(&value.to_string()).and_then(|number| number.to_i64()) {
            Some(count) if (0..=i64::from(limit)).contains(&count) => Ok(Some(count as u32)),
            _ => refuse(&path.key(key), &format!("a number of things is an integer from 0 to {limit}")),
        }
    };
    let (min, max) = (count(least, MAX_REQUIRED)?.unwrap_or(0), count(most, MAX_COUNT)?);
    if max.is_some_and(|max| max < min) {
        return refuse(&path.key(most), "the most is below the least");
    }
    Ok((min, max))
}

/// A value as the only text that stands for it: JSON with bounded blanks.
fn literal(value: &Value) -> Expr {
    let comma = || Expr::seq([Expr::text(","), Expr::rule("ws")]);
    let separated = |items: Vec<Expr>| {
        Expr::seq(items.into_iter().enumerate().map(|(i, item)| if i == 0 { item } else { Expr::seq([comma(), item]) }))
    };
    match value {
        Value::Array(items) => in_brackets(separated(items.iter().map(literal).collect())),
        Value::Object(members) if members.is_empty() => in_braces(Expr::empty()),
        Value::Object(members) => {
            let pair = |(name, value): (&String, &Value)| {
                Expr::seq([literal(&Value::from(name.as_str())), Expr::rule("colon"), literal(value)])
            };
            in_braces(Expr::seq([separated(members.iter().map(pair).collect()), Expr::rule("ws")]))
        }
        scalar => Expr::text(scalar.to_string()),
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
        Value::Number(number) => {
            let is_integer = || Decimal::parse(&number.to_string()).is_some_and(|number| number.is_integer());
            name == "number" || (name == "integer" && is_integer())
        }
    }
}

/// Whether it is plain that no value is valid against both.
fn disjoint(a: &Keywords, b: &Keywords) -> bool {
    if let (Some(a), Some(b)) = (values_of(a), values_of(b)) {
        return !a.iter().any(|value| b.iter().any(|other| same_value(value, other)));
    }
    let (Some(of_a), Some(of_b)) = (kinds(a), kinds(b)) else { return false };
    if !of_a.iter().any(|kind| of_b.contains(kind)) {
        return true;
    }
    let only_objects = |kinds: &[String]| kinds.iter().all(|kind| kind == "object");
    only_objects(&of_a) && only_objects(&of_b) && (told_apart(a, b) || told_apart(b, a))
}

/// The types that a schema's values have, integers as numbers; `None` if it does not say.
fn kinds(of: &Keywords) -> Option<Vec<String>> {
    if let Some(values) = values_of(of) {
        return Some(values.iter().map(kind).collect());
    }
    let name = |name: &str| if name == "integer" { "number" } else { name }.to_owned();
    Some(types(of.get("type")?).into_iter().map(name).collect())
}

/// Whether a property that `a` requires is not allowed in `b`, or never has a value that both allow.
fn told_apart(a: &Keywords, b: &Keywords) -> bool {
    let property = |of: &Keywords, name: &str| of.get("properties").and_then(|all| all.get(name)).cloned();
    let closed = |of: &Keywords| match of.get("additionalProperties") {
        None => of.contains_key("properties"),
        Some(additional) => *additional == Value::Bool(false),
    };
    a.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).any(|name| {
        match (property(a, name), property(b, name)) {
            (_, None) => closed(b),
            (Some(Value::Object(a)), Some(Value::Object(b))) => disjoint(&a, &b),
            _ => false,
        }
    })
}

fn values_of(keywords: &Keywords) -> Option<Vec<Value>> {
    match (keywords.get("const"), keywords.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

/// JSON Schema compares numbers by their value: 1 and 1.0 are the same.
fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Decimal::parse(&a.to_string()) == Decimal::parse(&b.to_string()),
        _ => a == b,
    }
}

fn kind(value: &Value) -> String {
    let kinds = ["null", "boolean", "string", "array", "object", "number"];
    kinds.into_iter().find(|name| has_type(value, name)).unwrap_or_default().to_owned()
}

/// A keyword as it may stand in a message: schemas are written by developers, but keep messages short.
fn shown(key: &str) -> &str {
    KNOWN.iter().find(|known| **known == key).copied().unwrap_or("another keyword")
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
