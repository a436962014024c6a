//! Grammars written by programs: expressions that print themselves as GBNF.

use std::fmt;

use super::charset::CharSet;

/// What a rule of GBNF can say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expr {
    /// These characters.
    Text(String),
    /// One character of the set.
    Set(CharSet),
    /// All, one after the other; of none, the empty text.
    Seq(Vec<Expr>),
    /// One of them; of none, nothing at all.
    Alt(Vec<Expr>),
    /// At least so many, and at most so many if there is a bound.
    Rep(Box<Expr>, u32, Option<u32>),
    /// What the rule of that name says.
    Rule(String),
}

impl Expr {
    pub fn empty() -> Self {
        Self::Seq(Vec::new())
    }

    pub fn never() -> Self {
        Self::Alt(Vec::new())
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub fn rule(name: impl Into<String>) -> Self {
        Self::Rule(name.into())
    }

    /// All in sequence; nothing at all if one of them is.
    pub fn seq(items: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for item in items {
            match item {
                Self::Seq(inner) => all.extend(inner),
                item if item.is_never() => return Self::never(),
                item => all.push(item),
            }
        }
        if all.len() == 1 { all.remove(0) } else { Self::Seq(all) }
    }

    /// One of those that match anything.
    pub fn alt(items: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for item in items {
            match item {
                Self::Alt(inner) => all.extend(inner),
                item if item.is_never() => {}
                item => all.push(item),
            }
        }
        if all.len() == 1 { all.remove(0) } else { Self::Alt(all) }
    }

    pub fn rep(self, min: u32, max: Option<u32>) -> Self {
        match (self, min, max) {
            (item, 0, _) if item.is_never() => Self::empty(),
            (item, ..) if item.is_never() => Self::never(),
            (_, _, Some(0)) => Self::empty(),
            (item, 1, Some(1)) => item,
            (item, ..) if item == Self::empty() => item,
            (item, min, max) => Self::Rep(Box::new(item), min, max),
        }
    }

    pub fn optional(self) -> Self {
        self.rep(0, Some(1))
    }

    pub fn is_never(&self) -> bool {
        match self {
            Self::Alt(items) => items.is_empty(),
            Self::Set(set) => set.is_empty(),
            _ => false,
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, items: &[Self], separator: &str| {
            f.write_str("(")?;
            for (i, item) in items.iter().enumerate() {
                f.write_str(if i == 0 { "" } else { separator })?;
                write!(f, "{item}")?;
            }
            f.write_str(")")
        };
        match self {
            Self::Text(text) => write_literal(f, text),
            Self::Set(set) => write!(f, "{set}"),
            Self::Seq(items) => list(f, items, " "),
            Self::Alt(items) if items.is_empty() => write!(f, "{}", CharSet::default()),
            Self::Alt(items) => list(f, items, " | "),
            Self::Rep(item, min, max) => {
                match **item {
                    Self::Rep(..) => write!(f, "({item})")?,
                    _ => write!(f, "{item}")?,
                }
                match (min, max) {
                    (0, None) => f.write_str("*"),
                    (1, None) => f.write_str("+"),
                    (0, Some(1)) => f.write_str("?"),
                    (min, None) => write!(f, "{{{min},}}"),
                    (min, Some(max)) if min == max => write!(f, "{{{min}}}"),
                    (min, Some(max)) => write!(f, "{{{min},{max}}}"),
                }
            }
            Self::Rule(name) => f.write_str(name),
        }
    }
}

fn write_literal(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    if text.is_empty() {
        return f.write_str("()"); // an empty literal cannot be repeated
    }
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c.is_control() => write!(f, "\\U{:08X}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}
