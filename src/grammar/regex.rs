//! Regular expressions → expressions: the part of ECMA-262's that describes regular languages, as JSON Schema asks for.
//!
//! ```text
//! alternatives = branch { "|" branch }
//! branch       = { atom [ quantifier [ "?" ] ] }        lazy or greedy: the same texts match
//! atom         = character | "." | class | escape | "(" [ "?:" | "?<" name ">" ] alternatives ")" | "^" | "$"
//! ```
//!
//! `^` and `$` are understood where they can only mean the ends of the text: first and last in a branch that is not in
//! a group. Look-around, back references, `\b` and `\p{…}` are refused, never approximated.

use super::charset::CharSet;
use super::expr::Expr;

/// How deep groups may nest.
const MAX_DEPTH: usize = 100;

/// A fault of a pattern: where, in characters from 1, and what would have been understood there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RegexFault {
    pub column: u32,
    pub expected: &'static str,
}

/// What the text beside a pattern may be, on a side without an anchor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// Nothing: the pattern describes the whole text.
    Nothing,
    /// Anything: the pattern describes a part of the text.
    Anything,
}

/// Reads a pattern.
pub(super) fn read(pattern: &str, beside: Beside) -> Result<Expr, RegexFault> {
    let mut reader = Reader { chars: pattern.chars().collect(), at: 0 };
    let mut branches = Vec::new();
    loop {
        let starts = reader.eat('^');
        let body = reader.branch(0)?;
        let ends = reader.eat('$');
        let padding = |anchored: bool| match beside {
            Beside::Anything if !anchored => Expr::Set(CharSet::any()).rep(0, None),
            _ => Expr::empty(),
        };
        branches.push(Expr::seq([padding(starts), body, padding(ends)]));
        match reader.next() {
            None => return Ok(Expr::alt(branches)),
            Some('|') => {}
            Some(')') => return Err(reader.fault_before("a parenthesis only where one is open, or '\\)'")),
            Some(_) => return Err(reader.fault_before("an anchor only at the end of a branch outside of groups")),
        }
    }
}

struct Reader {
    chars: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    fn eat(&mut self, expected: char) -> bool {
        let found = self.peek() == Some(expected);
        self.at += usize::from(found);
        found
    }

    fn fault(&self, expected: &'static str) -> RegexFault {
        RegexFault { column: self.at as u32 + 1, expected }
    }

    fn fault_before(&self, expected: &'static str) -> RegexFault {
        RegexFault { column: self.at as u32, expected }
    }

    /// Reads up to `|`, `)`, `$` or the end.
    fn branch(&mut self, depth: usize) -> Result<Expr, RegexFault> {
        let mut items = Vec::new();
        while let Some(c) = self.peek() {
            let atom = match c {
                '|' | ')' => break,
                '$' if depth == 0 => break,
                '^' | '$' => return Err(self.fault("no anchor inside of a group")),
                '*' | '+' | '?' => return Err(self.fault("something to repeat")),
                '{' | '}' | ']' => return Err(self.fault("a backslash before this character")),
                '(' => self.group(depth)?,
                '[' => Expr::Set(self.class()?),
                '.' => {
                    self.at += 1;
                    Expr::Set(line_ends().complement())
                }
                '\\' => Expr::Set(self.escape()?),
                c => {
                    self.at += 1;
                    Expr::text(c)
                }
            };
            items.push(self.quantified(atom)?);
        }
        Ok(Expr::seq(items))
    }

    fn group(&mut self, depth: usize) -> Result<Expr, RegexFault> {
        if depth == MAX_DEPTH {
            return Err(self.fault("at most 100 groups in one another"));
        }
        self.at += 1;
        if self.eat('?') {
            match (self.next(), self.peek()) {
                (Some(':'), _) => {}
                (Some('<'), Some(c)) if c != '=' && c != '!' => while self.next().is_some_and(|c| c != '>') {},
                _ => return Err(self.fault_before("a group without look-around")),
            }
        }
        let mut branches = vec![self.branch(depth + 1)?];
        while self.eat('|') {
            branches.push(self.branch(depth + 1)?);
        }
        if !self.eat(')') {
            return Err(self.fault("')'"));
        }
        Ok(Expr::alt(branches))
    }

    fn quantified(&mut self, atom: Expr) -> Result<Expr, RegexFault> {
        let (min, max) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.at += 1;
                let min = self.number()?;
                let max = match self.eat(',') {
                    false => Some(min),
                    true if self.peek() == Some('}') => None,
                    true => Some(self.number()?),
                };
                if max.is_some_and(|max| max < min) {
                    return Err(self.fault("a greatest number that is not below the least"));
                }
                if self.peek() != Some('}') {
                    return Err(self.fault("'}'"));
                }
                (min, max)
            }
            _ => return Ok(atom),
        };
        self.at += 1;
        self.eat('?');
        Ok(atom.rep(min, max))
    }

    fn number(&mut self) -> Result<u32, RegexFault> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let digits: String = self.chars[start..self.at].iter().collect();
        digits.parse().map_err(|_| RegexFault { column: start as u32 + 1, expected: "a number" })
    }

    fn class(&mut self) -> Result<CharSet, RegexFault> {
        self.at += 1;
        let negated = self.eat('^');
        let mut set = CharSet::default();
        while !self.eat(']') {
            let low = self.member()?;
            let is_range = self.peek() == Some('-') && self.chars.get(self.at + 1).is_some_and(|c| *c != ']');
            if !is_range {
                set = set.union(&low);
                continue;
            }
            self.at += 1;
            let high = self.member()?;
            match (single(&low), single(&high)) {
                (Some(low), Some(high)) if low <= high => set = set.union(&CharSet::range(low, high)),
                _ => return Err(self.fault_before("a range from a character to a later one")),
            }
        }
        Ok(if negated { set.complement() } else { set })
    }

    fn member(&mut self) -> Result<CharSet, RegexFault> {
        match self.peek() {
            None => Err(self.fault("']'")),
            Some('\\') if self.chars.get(self.at + 1) == Some(&'b') => {
                self.at += 2;
                Ok(CharSet::of(['\u{8}']))
            }
            Some('\\') => self.escape(),
            Some(c) => {
                self.at += 1;
                Ok(CharSet::of([c]))
            }
        }
    }

    fn escape(&mut self) -> Result<CharSet, RegexFault> {
        self.at += 1;
        let digits = || CharSet::range('0', '9');
        let words =
            || CharSet::new([('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')].map(|(l, h)| (l.into(), h.into())));
        let Some(c) = self.next() else { return Err(self.fault("an escape")) };
        Ok(match c {
            'd' => digits(),
            'D' => digits().complement(),
            'w' => words(),
            'W' => words().complement(),
            's' => white_space(),
            'S' => white_space().complement(),
            't' => CharSet::of(['\t']),
            'n' => CharSet::of(['\n']),
            'r' => CharSet::of(['\r']),
            'f' => CharSet::of(['\u{C}']),
            'v' => CharSet::of(['\u{B}']),
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => CharSet::of(['\0']),
            'x' => CharSet::of([self.hexadecimal(2)?]),
            'u' if self.eat('{') => {
                let digits = self.chars[self.at..].iter().position(|c| *c == '}').unwrap_or(0);
                let c = self.hexadecimal(digits)?;
                self.at += 1;
                CharSet::of([c])
            }
            'u' => CharSet::of([self.code_units()?]),
            'c' => match self.next().filter(char::is_ascii_alphabetic) {
                Some(letter) => CharSet::of([char::from(letter as u8 % 32)]),
                None => return Err(self.fault_before("the letter of a control character")),
            },
            c if c.is_ascii_punctuation() => CharSet::of([c]),
            _ => return Err(self.fault_before("an escape of a character or of a class of characters")),
        })
    }

    /// Reads four hexadecimal digits, or two surrogates as the one character that they stand for.
    fn code_units(&mut self) -> Result<char, RegexFault> {
        let fault = self.fault("the hexadecimal digits of a character");
        let unit = |at: usize| {
            let digits: String = self.chars.get(at..at + 4).unwrap_or_default().iter().collect();
            u16::from_str_radix(&digits, 16).ok().filter(|_| !digits.starts_with('+'))
        };
        let first = unit(self.at).ok_or(fault.clone())?;
        let escape: String = self.chars.get(self.at + 4..self.at + 6).unwrap_or_default().iter().collect();
        let second = if escape == "\\u" { unit(self.at + 6) } else { None };
        let mut characters = char::decode_utf16([first].into_iter().chain(second));
        let c = characters.next().and_then(Result::ok).ok_or(fault)?;
        self.at += if c.len_utf16() == 2 { 10 } else { 4 };
        Ok(c)
    }

    fn hexadecimal(&mut self, digits: usize) -> Result<char, RegexFault> {
        let fault = self.fault("the hexadecimal digits of a character");
        let text: String = self.chars.get(self.at..self.at + digits).unwrap_or_default().iter().collect();
        if !text.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(fault);
        }
        self.at += digits;
        u32::from_str_radix(&text, 16).ok().and_then(char::from_u32).ok_or(fault)
    }
}

fn single(set: &CharSet) -> Option<char> {
    match set.ranges() {
        [(low, high)] if low == high => char::from_u32(*low),
        _ => None,
    }
}

/// What `.` leaves out: ECMA-262, 12.3.
fn line_ends() -> CharSet {
    CharSet::of(['\n', '\r', '\u{2028}', '\u{2029}'])
}

/// What `\s` stands for: ECMA-262, 12.2 and 12.3.
fn white_space() -> CharSet {
    let single = ['\t', '\u{B}', '\u{C}', ' ', '\u{A0}', '\u{1680}', '\u{202F}', '\u{205F}', '\u{3000}', '\u{FEFF}'];
    CharSet::of(single).union(&CharSet::range('\u{2000}', '\u{200A}')).union(&line_ends())
}
