//! What must hold of a value: the keywords of all schemas that it must be valid against, together.
//!
//! A schema's choices (`anyOf`, `oneOf`, `if`, `not` of several keywords, `dependentRequired`, …) become several shapes,
//! one of which must hold: the disjunctive normal form of the schema.

use serde_json::{Map, Value};

use super::automaton::Texts;
use super::number::{Bound, Decimal};
use super::{Converter, MAX_COUNT, MAX_DEPTH, MAX_REQUIRED, Path, Place, formats, list, refuse, text};
use crate::error::Result;
use crate::grammar::expr::Expr;

/// The most shapes that a schema may come to.
const MAX_SHAPES: usize = 1_000;

const TOO_MANY: &str = "too many choices in one another";

/// Kinds of JSON values, as `type` names them.
pub(super) const KINDS: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];

/// The place of a name in [`KINDS`].
pub(super) fn kind_index(name: &str) -> Option<usize> {
    KINDS.iter().position(|kind| *kind == name)
}

/// Bounds on a number of things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub min: u32,
    pub max: Option<u32>,
}

impl Counts {
    /// Whether no number is within the bounds.
    pub fn is_empty(self) -> bool {
        self.max.is_some_and(|max| max < self.min)
    }

    pub fn contains(self, count: usize) -> bool {
        count >= self.min as usize && self.max.is_none_or(|max| count <= max as usize)
    }

    fn at_least(&mut self, min: u32) {
        self.min = self.min.max(min);
    }

    fn at_most(&mut self, max: u32) {
        self.max = Some(self.max.map_or(max, |old| old.min(max)));
    }
}

/// What one schema says about the items of an array.
#[derive(Clone)]
pub(super) struct Items<'s> {
    pub prefix: Vec<Place<'s>>,
    /// All further ones.
    pub rest: Option<Place<'s>>,
}

/// What one schema says about the properties of an object.
#[derive(Clone)]
pub(super) struct Properties<'s> {
    pub named: Vec<(&'s str, Place<'s>)>,
    pub patterns: Vec<(Expr, Place<'s>)>,
    /// All others; `None` if the schema does not say.
    pub additional: Option<Place<'s>>,
    /// Whether an object may have properties that this schema does not mention, as the specification says.
    pub open: bool,
}

/// A conjunction of keywords.
#[derive(Clone)]
pub(super) struct Shape<'s> {
    pub path: Path,
    /// By [`KINDS`].
    pub kinds: [bool; 6],
    /// Numbers must be integers.
    pub integers: bool,
    /// Numbers must not be integers: the place that says so.
    pub fractions: Option<Path>,
    pub values: Option<Vec<&'s Value>>,
    pub excluded: Vec<&'s Value>,
    pub low: Option<Bound>,
    pub high: Option<Bound>,
    pub steps: Vec<(Decimal, Path)>,
    pub length: Counts,
    pub texts: Vec<Texts>,
    /// A format that is not known here.
    pub unknown_format: Option<Path>,
    pub size: Counts,
    pub items: Vec<Items<'s>>,
    pub unique: Option<Path>,
    pub contains: Vec<(Place<'s>, Path)>,
    pub members: Counts,
    pub properties: Vec<Properties<'s>>,
    /// Names that must be there, and whether a schema that is `open` says so.
    pub required: Vec<(&'s str, bool)>,
    pub forbidden: Vec<&'s str>,
    pub names: Vec<Place<'s>>,
}

impl Shape<'_> {
    fn anything(path: Path) -> Self {
        Self {
            path,
            kinds: [true; 6],
            integers: false,
            fractions: None,
            values: None,
            excluded: Vec::new(),
            low: None,
            high: None,
            steps: Vec::new(),
            length: Counts::default(),
            texts: Vec::new(),
            unknown_format: None,
            size: Counts::default(),
            items: Vec::new(),
            unique: None,
            contains: Vec::new(),
            members: Counts::default(),
            properties: Vec::new(),
            required: Vec::new(),
            forbidden: Vec::new(),
            names: Vec::new(),
        }
    }

    pub fn has(&self, kind: &str) -> bool {
        kind_index(kind).is_some_and(|index| self.kinds[index])
    }

    /// Values of other kinds are out.
    fn restrict_to(&mut self, kind: &str) {
        for (name, allowed) in KINDS.iter().zip(&mut self.kinds) {
            *allowed &= *name == kind;
        }
    }

    /// Of two bounds on a side, the stricter.
    fn above(&mut self, bound: Bound) {
        self.low = stricter(self.low.take(), bound, std::cmp::Ordering::Greater);
    }

    fn below(&mut self, bound: Bound) {
        self.high = stricter(self.high.take(), bound, std::cmp::Ordering::Less);
    }
}

fn stricter(old: Option<Bound>, new: Bound, wanted: std::cmp::Ordering) -> Option<Bound> {
    let Some(old) = old else { return Some(new) };
    Some(match old.at.cmp(&new.at) {
        std::cmp::Ordering::Equal => Bound { exclusive: old.exclusive || new.exclusive, ..old },
        order if order == wanted => old,
        _ => new,
    })
}

/// Keywords that say nothing about which values are valid.
pub(super) fn is_annotation(key: &str) -> bool {
    const ANNOTATIONS: [&str; 20] = [
        "title",
        "description",
        "default",
        "example",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$schema",
        "$id",
        "id",
        "$comment",
        "$anchor",
        "$dynamicAnchor",
        "$defs",
        "definitions",
        "$vocabulary",
        "contentMediaType",
        "contentEncoding",
        "contentSchema",
    ];
    key.starts_with("x-") || ANNOTATIONS.contains(&key)
}

type Keywords = Map<String, Value>;
type Shapes<'s> = Vec<Shape<'s>>;

/// The schemas on the way to the present one.
type Trail<'s> = Vec<&'s Value>;

/// The shapes, unless there are too many.
fn few<'s>(shapes: Shapes<'s>, path: &Path) -> Result<Shapes<'s>> {
    match shapes.len() {
        ..=MAX_SHAPES => Ok(shapes),
        _ => refuse(path, TOO_MANY),
    }
}

impl<'s> Converter<'s> {
    /// The shapes of the values that are valid at all places.
    ///
    /// # Errors
    ///
    /// `invalid-schema` with the path of a keyword that is wrong, unknown, or cannot be kept exactly.
    pub(super) fn shapes(&self, places: &[Place<'s>]) -> Result<Shapes<'s>> {
        let path = places.first().map_or_else(Path::default, |place| place.path.clone());
        let mut shapes = vec![Shape::anything(path)];
        for place in places {
            shapes = self.hold(shapes, place, &mut Vec::new())?;
        }
        Ok(shapes)
    }

    fn hold(&self, shapes: Shapes<'s>, place: &Place<'s>, trail: &mut Trail<'s>) -> Result<Shapes<'s>> {
        if place.path.1 > MAX_DEPTH || trail.len() > MAX_DEPTH {
            return refuse(&place.path, "the schema nests too deep");
        }
        place.check_base()?;
        if trail.iter().any(|passed| std::ptr::eq(*passed, place.schema)) {
            return refuse(&place.path, "the schema refers to itself before it reaches a value");
        }
        trail.push(place.schema);
        let held = match place.schema {
            Value::Bool(valid) => Ok(if *valid != place.negated { shapes } else { Vec::new() }),
            Value::Object(keywords) if place.negated => self.forbid(&shapes, keywords, place, trail),
            Value::Object(keywords) => self.require(shapes, keywords, place, trail),
            _ => refuse(&place.path, "a schema is an object, true or false"),
        };
        trail.pop();
        held.and_then(|held| few(held, &place.path))
    }

    fn require(
        &self,
        mut shapes: Shapes<'s>,
        keywords: &'s Keywords,
        place: &Place<'s>,
        trail: &mut Trail<'s>,
    ) -> Result<Shapes<'s>> {
        let mut before: Vec<usize> = shapes.iter().map(|shape| shape.properties.len()).collect();
        before.dedup();
        for (key, value) in keywords.iter().filter(|(key, _)| !is_annotation(key)) {
            self.require_keyword(&mut shapes, keywords, key, value, place)?;
        }
        check_counts(keywords, &place.path)?;
        self.properties(&mut shapes, keywords, place)?;
        self.items(&mut shapes, keywords, place)?;
        for (key, value) in keywords {
            let here = place.at(value, place.path.key(key));
            shapes = match key.as_str() {
                "$ref" => self.hold(shapes, &self.target(value, &here)?, trail)?,
                "allOf" => here.parts()?.iter().try_fold(shapes, |shapes, part| self.hold(shapes, part, trail))?,
                "anyOf" => self.any_of(&shapes, &here.parts()?, trail)?,
                "oneOf" => self.one_of(&shapes, &here.parts()?, trail)?,
                "not" => self.hold(shapes, &here.not(), trail)?,
                "if" => {
                    let branch = |name: &str| keywords.get(name).map(|value| place.at(value, place.path.key(name)));
                    let mut both = Vec::new();
                    for (condition, then) in [(here.clone(), branch("then")), (here.not(), branch("else"))] {
                        let shapes = match then {
                            Some(Place { schema: Value::Bool(false), .. }) => continue,
                            Some(then) => self.hold(shapes.clone(), &then, trail)?,
                            None => shapes.clone(),
                        };
                        both.extend(self.hold(shapes, &condition, trail)?);
                    }
                    both
                }
                "dependentRequired" | "dependentSchemas" | "dependencies" => self.dependent(shapes, &here, trail)?,
                _ => shapes,
            };
        }
        match (keywords.get("unevaluatedProperties"), &before[..]) {
            (None | Some(Value::Bool(true)), _) => {}
            (Some(Value::Bool(false)), [before]) => shapes.iter_mut().for_each(|shape| close(shape, *before, place)),
            (Some(_), _) => {
                let path = place.path.key("unevaluatedProperties");
                return refuse(
                    &path,
                    "this keyword cannot be kept exactly unless it is true or false, beside no choice",
                );
            }
        }
        Ok(shapes)
    }

    /// A keyword that is neither a choice nor about parts of the value.
    fn require_keyword(
        &self,
        shapes: &mut Shapes<'s>,
        keywords: &'s Keywords,
        key: &'s str,
        value: &'s Value,
        place: &Place<'s>,
    ) -> Result<()> {
        let path = place.path.key(key);
        match key {
            "type" => {
                let types = types(value, &path)?;
                for shape in shapes.iter_mut() {
                    for (name, allowed) in KINDS.iter().zip(&mut shape.kinds) {
                        *allowed &= types.contains(name) || (*name == "number" && types.contains(&"integer"));
                    }
                    shape.integers |= types.contains(&"integer") && !types.contains(&"number");
                }
            }
            "enum" | "const" => {
                let values = values(key, value, &path)?;
                for shape in shapes.iter_mut() {
                    let kept = |value: &&Value| match &shape.values {
                        Some(old) => old.iter().any(|old| same_value(old, value)),
                        None => true,
                    };
                    shape.values = Some(values.iter().copied().filter(kept).collect());
                }
            }
            "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum" => {
                if let Some(bound) = bound(keywords, key, &path)? {
                    for shape in shapes.iter_mut() {
                        if key.ends_with("inimum") { shape.above(bound.clone()) } else { shape.below(bound.clone()) }
                    }
                }
            }
            "multipleOf" => match Decimal::parse(&value.to_string()).filter(Decimal::is_positive) {
                Some(step) => shapes.iter_mut().for_each(|shape| shape.steps.push((step.clone(), path.clone()))),
                None => return refuse(&path, "a step is a number above zero"),
            },
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                let count = count(key, value, &path)?;
                for shape in shapes.iter_mut() {
                    let counts = counts_of(shape, key);
                    if key.starts_with("min") { counts.at_least(count) } else { counts.at_most(count) }
                }
            }
            "pattern" => {
                let texts = Texts { content: text::pattern(value, &path)?, negated: false };
                shapes.iter_mut().for_each(|shape| shape.texts.push(texts.clone()));
            }
            "format" => match format_of(value, &path)? {
                Format::Texts(content) => shapes
                    .iter_mut()
                    .for_each(|shape| shape.texts.push(Texts { content: content.clone(), negated: false })),
                Format::Unknown => shapes.iter_mut().for_each(|shape| shape.unknown_format = Some(path.clone())),
                Format::OfNumbers => {}
            },
            "uniqueItems" => match value {
                Value::Bool(true) => shapes.iter_mut().for_each(|shape| shape.unique = Some(path.clone())),
                Value::Bool(false) => {}
                _ => return refuse(&path, "true or false"),
            },
            "contains" => match keywords.get("minContains").map(|least| least.as_f64()) {
                Some(Some(0.0)) => {}
                None | Some(Some(1.0)) => shapes
                    .iter_mut()
                    .for_each(|shape| shape.contains.push((place.at(value, path.clone()), path.clone()))),
                Some(_) => return refuse(&place.path.key("minContains"), "at most one item can be asked for"),
            },
            "required" => {
                for name in names(value, &path)? {
                    for shape in shapes.iter_mut() {
                        if !shape.required.iter().any(|(known, _)| *known == name) {
                            shape.required.push((name, place.open));
                        }
                    }
                }
            }
            "propertyNames" => {
                let names = place.at(value, path);
                shapes.iter_mut().for_each(|shape| shape.names.push(names.clone()));
            }
            "minContains"
            | "then"
            | "else"
            | "additionalItems"
            | "$ref"
            | "allOf"
            | "anyOf"
            | "oneOf"
            | "not"
            | "if"
            | "dependentRequired"
            | "dependentSchemas"
            | "dependencies"
            | "properties"
            | "patternProperties"
            | "additionalProperties"
            | "items"
            | "prefixItems"
            | "unevaluatedProperties" => {}
            _ => return refuse(&path, "this keyword cannot be kept exactly"),
        }
        Ok(())
    }

    fn properties(&self, shapes: &mut Shapes<'s>, keywords: &'s Keywords, place: &Place<'s>) -> Result<()> {
        let open = place.open;
        let mut group = Properties { named: Vec::new(), patterns: Vec::new(), additional: None, open };
        if let Some(value) = keywords.get("properties") {
            let path = place.path.key("properties");
            let named = members(value, &path)?;
            group.named = named.iter().map(|(name, of)| (name.as_str(), place.at(of, path.key(name)))).collect();
        }
        if let Some(value) = keywords.get("patternProperties") {
            let path = place.path.key("patternProperties");
            for (pattern, of) in members(value, &path)? {
                let path = path.key(pattern);
                group.patterns.push((text::pattern_text(pattern, &path)?, place.at(of, path)));
            }
        }
        group.additional =
            keywords.get("additionalProperties").map(|value| place.at(value, place.path.key("additionalProperties")));
        let says = ["properties", "patternProperties", "additionalProperties"];
        if says.iter().any(|key| keywords.contains_key(*key)) {
            shapes.iter_mut().for_each(|shape| shape.properties.push(group.clone()));
        }
        Ok(())
    }

    fn items(&self, shapes: &mut Shapes<'s>, keywords: &'s Keywords, place: &Place<'s>) -> Result<()> {
        let at = |key: &str| keywords.get(key).map(|value| place.at(value, place.path.key(key)));
        // Up to draft 2019-09 a list in `items` is what `prefixItems` is now.
        let (prefix, rest) = match (at("prefixItems"), at("items")) {
            (None, Some(items)) if items.schema.is_array() => (Some(items), at("additionalItems")),
            (prefix, rest) => (prefix, rest),
        };
        if prefix.is_some() || rest.is_some() {
            let prefix = prefix.map_or_else(|| Ok(Vec::new()), |prefix| prefix.parts())?;
            shapes.iter_mut().for_each(|shape| {
                shape.items.push(Items { prefix: prefix.clone(), rest: rest.clone() });
            });
        }
        Ok(())
    }

    fn any_of(&self, shapes: &Shapes<'s>, branches: &[Place<'s>], trail: &mut Trail<'s>) -> Result<Shapes<'s>> {
        let mut all = Vec::new();
        for branch in branches {
            all.extend(self.hold(shapes.clone(), branch, trail)?);
            all = few(all, &branch.path)?;
        }
        Ok(all)
    }

    /// One branch and none of the others, unless it is plain that no value is valid against both.
    fn one_of(&self, shapes: &Shapes<'s>, branches: &[Place<'s>], trail: &mut Trail<'s>) -> Result<Shapes<'s>> {
        if self.is_trial {
            return self.any_of(shapes, branches, trail); // no fewer values
        }
        if let Some(branch) = branches.get(MAX_SHAPES) {
            return refuse(&branch.path, TOO_MANY); // each is held against every other
        }
        let mut all = Vec::new();
        for (i, branch) in branches.iter().enumerate() {
            let mut of_branch = self.hold(shapes.clone(), branch, trail)?;
            for (j, other) in branches.iter().enumerate().filter(|(j, _)| *j != i) {
                let other = other.opened();
                let both = self.hold(of_branch.clone(), &other, trail)?;
                if both.into_iter().all(|shape| self.is_empty(shape)) {
                    continue;
                }
                of_branch = match self.hold(of_branch, &other.not(), trail) {
                    Ok(shapes) => shapes,
                    Err(_) => {
                        let path = &branches[i.max(j)].path;
                        return refuse(path, "a value might be valid against more than one of these");
                    }
                };
            }
            all.extend(of_branch);
            all = few(all, &branch.path)?;
        }
        Ok(all)
    }

    /// Whether it can be told that no value has the shape.
    fn is_empty(&self, shape: Shape<'s>) -> bool {
        let mut trial = self.trial();
        trial.shape(&shape).is_ok_and(|expr| expr.is_never())
    }

    /// For each name: it is absent, or what depends on it holds.
    fn dependent(&self, shapes: Shapes<'s>, here: &Place<'s>, trail: &mut Trail<'s>) -> Result<Shapes<'s>> {
        members(here.schema, &here.path)?.iter().try_fold(shapes, |shapes, (name, of)| {
            let mut absent = shapes.clone();
            absent.iter_mut().for_each(|shape| shape.forbidden.push(name));
            let path = here.path.key(name);
            let mut present = match of {
                Value::Array(_) => {
                    let mut present = shapes;
                    for name in names(of, &path)? {
                        present.iter_mut().for_each(|shape| shape.required.push((name, here.open)));
                    }
                    present
                }
                _ => self.hold(shapes, &here.at(of, path.clone()), trail)?,
            };
            present.iter_mut().for_each(|shape| shape.required.push((name, here.open)));
            // What is no object has no properties: it stays in `absent`.
            present.iter_mut().for_each(|shape| shape.restrict_to("object"));
            absent.extend(present);
            few(absent, &path)
        })
    }

    /// The shapes of values that some keyword forbids.
    fn forbid(
        &self,
        shapes: &Shapes<'s>,
        keywords: &'s Keywords,
        place: &Place<'s>,
        trail: &mut Trail<'s>,
    ) -> Result<Shapes<'s>> {
        let mut all = Vec::new();
        for (key, value) in keywords.iter().filter(|(key, _)| !is_annotation(key)) {
            let path = place.path.key(key);
            let here = place.at(value, path.clone());
            let positive = |place: &Place<'s>| Place { negated: false, open: true, ..place.clone() };
            let mut each = |change: &dyn Fn(&mut Shape<'s>)| {
                if all.len() > MAX_SHAPES {
                    return; // refused below
                }
                let mut shapes = shapes.clone();
                shapes.iter_mut().for_each(change);
                all.extend(shapes);
            };
            match key.as_str() {
                "type" => {
                    let types = types(value, &path)?;
                    each(&|shape| {
                        for (name, allowed) in KINDS.iter().zip(&mut shape.kinds) {
                            *allowed &= !types.contains(name);
                        }
                        if types.contains(&"integer") {
                            shape.fractions = Some(path.clone());
                        }
                    });
                }
                "enum" | "const" => {
                    let values = values(key, value, &path)?;
                    each(&|shape| shape.excluded.extend(&values));
                }
                "pattern" | "format" => {
                    let content = match (key.as_str(), value) {
                        ("pattern", value) => text::pattern(value, &path)?,
                        (_, value) => match format_of(value, &path)? {
                            Format::Texts(content) => content,
                            _ => return refuse(&path, "a format that cannot be negated"),
                        },
                    };
                    each(&|shape| {
                        shape.restrict_to("string");
                        shape.texts.push(Texts { content: content.clone(), negated: true });
                    });
                }
                "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum" => {
                    let Some(Bound { at, exclusive }) = bound(keywords, key, &path)? else { continue };
                    let bound = Bound { at, exclusive: !exclusive };
                    each(&|shape| {
                        shape.restrict_to("number");
                        if key.ends_with("inimum") { shape.below(bound.clone()) } else { shape.above(bound.clone()) }
                    });
                }
                "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                    let count = count(key, value, &path)?;
                    if (key.starts_with("min") && count == 0) || count == MAX_COUNT {
                        continue;
                    }
                    each(&|shape| {
                        shape.restrict_to(match () {
                            () if key.ends_with("Length") => "string",
                            () if key.ends_with("Items") => "array",
                            () => "object",
                        });
                        let counts = counts_of(shape, key);
                        if key.starts_with("min") { counts.at_most(count - 1) } else { counts.at_least(count + 1) }
                    });
                }
                "required" => {
                    for name in names(value, &path)? {
                        each(&|shape| {
                            shape.restrict_to("object");
                            shape.forbidden.push(name);
                        });
                    }
                }
                "properties" => {
                    for (name, of) in members(value, &path)? {
                        let named = vec![(name.as_str(), Place { open: true, ..here.at(of, path.key(name)) })];
                        let group = Properties { named, patterns: Vec::new(), additional: None, open: true };
                        each(&|shape| {
                            shape.restrict_to("object");
                            shape.properties.push(group.clone());
                            shape.required.push((name, true));
                        });
                    }
                }
                "$ref" => {
                    let target = self.target(value, &here)?;
                    all.extend(self.hold(shapes.clone(), &target, trail)?);
                }
                "not" => all.extend(self.hold(shapes.clone(), &positive(&here), trail)?),
                "allOf" => all.extend(self.any_of(shapes, &here.parts()?, trail)?),
                "anyOf" => {
                    let parts = here.parts()?;
                    let none = parts.iter().try_fold(shapes.clone(), |shapes, part| self.hold(shapes, part, trail))?;
                    all.extend(none);
                }
                _ => return refuse(&path, "this keyword cannot be negated exactly"),
            }
            all = few(all, &path)?;
        }
        Ok(all)
    }
}

/// Forbids the properties that no schema from the group on mentions.
fn close<'s>(shape: &mut Shape<'s>, groups: usize, place: &Place<'s>) {
    static TRUE: Value = Value::Bool(true);
    static FALSE: Value = Value::Bool(false);
    let evaluated: Vec<&Properties<'s>> = shape.properties[groups..].iter().filter(|group| !group.open).collect();
    if evaluated.iter().any(|group| group.additional.is_some()) {
        return;
    }
    let path = place.path.key("unevaluatedProperties");
    let any = || place.at(&TRUE, path.clone());
    let named = evaluated.iter().flat_map(|group| &group.named).map(|(name, _)| (*name, any())).collect();
    let patterns =
        evaluated.iter().flat_map(|group| &group.patterns).map(|(pattern, _)| (pattern.clone(), any())).collect();
    let additional = Some(place.at(&FALSE, path.clone()));
    shape.properties.push(Properties { named, patterns, additional, open: place.open });
}

/// What a `format` comes to.
enum Format {
    Texts(Expr),
    /// It says how a number is stored (OpenAPI 3.1, 4.4).
    OfNumbers,
    Unknown,
}

fn format_of(value: &Value, path: &Path) -> Result<Format> {
    let Some(name) = value.as_str() else { return refuse(path, "a format is a text") };
    Ok(match (formats::format(name), name) {
        (Some(content), _) => Format::Texts(content),
        (None, "int32" | "int64" | "float" | "double") => Format::OfNumbers,
        _ => Format::Unknown,
    })
}

fn counts_of<'a>(shape: &'a mut Shape<'_>, key: &str) -> &'a mut Counts {
    match key {
        "minLength" | "maxLength" => &mut shape.length,
        "minItems" | "maxItems" => &mut shape.size,
        _ => &mut shape.members,
    }
}

fn count(key: &str, value: &Value, path: &Path) -> Result<u32> {
    let limit = if key.starts_with("min") { MAX_REQUIRED } else { MAX_COUNT };
    match Decimal::parse(&value.to_string()).and_then(|number| number.to_i64()) {
        Some(count) if (0..=i64::from(limit)).contains(&count) => Ok(count as u32),
        _ => refuse(path, &format!("a number of things is an integer from 0 to {limit}")),
    }
}

/// Bounds of one schema that exclude each other are a mistake.
fn check_counts(keywords: &Keywords, path: &Path) -> Result<()> {
    for things in ["Length", "Items", "Properties"] {
        let number = |side: &str| keywords.get(&format!("{side}{things}")).and_then(Value::as_f64);
        if let (Some(least), Some(most)) = (number("min"), number("max"))
            && most < least
        {
            return refuse(&path.key(&format!("max{things}")), "the most is below the least");
        }
    }
    Ok(())
}

/// A bound on numbers. In draft 4, `exclusiveMinimum` is a flag beside `minimum`: then `None` where it is the flag.
fn bound(keywords: &Keywords, key: &str, path: &Path) -> Result<Option<Bound>> {
    let value = &keywords[key];
    if key.starts_with("exclusive") && value.is_boolean() {
        return Ok(None);
    }
    let flag = match key {
        "minimum" => Some("exclusiveMinimum"),
        "maximum" => Some("exclusiveMaximum"),
        _ => None,
    };
    let exclusive = flag.is_none_or(|flag| keywords.get(flag) == Some(&Value::Bool(true)));
    match (value.is_number(), Decimal::parse(&value.to_string())) {
        (true, Some(at)) => Ok(Some(Bound { at, exclusive })),
        _ => refuse(path, "a bound is a number of at most 400 digits"),
    }
}

fn types<'v>(value: &'v Value, path: &Path) -> Result<Vec<&'v str>> {
    let named = match value {
        Value::String(name) => vec![name.as_str()],
        Value::Array(several) => several.iter().map(|name| name.as_str().unwrap_or_default()).collect(),
        _ => return refuse(path, "a type is a text, or a list of them"),
    };
    match named.iter().all(|name| *name == "integer" || KINDS.contains(name)) {
        true => Ok(named),
        false => refuse(path, "an unknown type"),
    }
}

fn values<'v>(key: &str, value: &'v Value, path: &Path) -> Result<Vec<&'v Value>> {
    match key {
        "const" => Ok(vec![value]),
        _ => match list(value, path)? {
            many if many.len() > super::MAX_VALUES => refuse(path, "too many values"),
            values => Ok(values.iter().collect()),
        },
    }
}

fn names<'v>(value: &'v Value, path: &Path) -> Result<Vec<&'v str>> {
    let name = |name: &'v Value| match name.as_str() {
        Some(name) => Ok(name),
        None => refuse(path, "names are texts"),
    };
    list(value, path)?.iter().map(name).collect()
}

fn members<'v>(value: &'v Value, path: &Path) -> Result<&'v Keywords> {
    match value {
        Value::Object(members) => Ok(members),
        _ => refuse(path, "this keyword has an object"),
    }
}

/// JSON Schema compares numbers by their value, and objects without regard to order: 1 and 1.0 are the same.
pub(super) fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            match (Decimal::parse(&a.to_string()), Decimal::parse(&b.to_string())) {
                (Some(a), Some(b)) => a == b,
                _ => a == b,
            }
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same_value(a, b)))
        }
        _ => a == b,
    }
}
