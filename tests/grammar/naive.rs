//! The slow, obvious recogniser that the engine is held against. It shares no code with the engine: it reads GBNF by
//! recursive descent and matches by sets of positions, straight from the definition of each construct.

use std::collections::{BTreeSet, HashMap};

pub type Position = usize;

#[derive(Debug)]
enum Expr {
    /// One character, by ranges of code points; of a negated class, any other.
    Class {
        ranges: Vec<(u32, u32)>,
        negated: bool,
    },
    Token {
        id: u32,
        negated: bool,
    },
    Seq(Vec<Expr>),
    Alt(Vec<Expr>),
    Rep(Box<Expr>, u32, Option<u32>),
    Rule(String),
}

/// A grammar as it is written.
#[derive(Debug)]
pub struct Naive {
    rules: HashMap<String, Expr>,
}

/// What is to be recognised: tokens, each with the characters it adds. A plain text is tokens of one character.
pub struct Input {
    chars: Vec<Option<char>>,
    /// Where a token starts: its id and where it ends.
    tokens: HashMap<Position, (u32, Position)>,
}

impl Input {
    pub fn text(text: &str) -> Self {
        Self { chars: text.chars().map(Some).collect(), tokens: HashMap::new() }
    }

    /// A token without text takes the place of one character that no class has.
    pub fn tokens<'a>(tokens: impl IntoIterator<Item = (u32, &'a str)>) -> Self {
        let mut input = Self { chars: Vec::new(), tokens: HashMap::new() };
        for (id, text) in tokens {
            let start = input.chars.len();
            if text.is_empty() {
                input.chars.push(None);
            }
            input.chars.extend(text.chars().map(Some));
            input.tokens.insert(start, (id, input.chars.len()));
        }
        input
    }
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct Verdict {
    /// The whole input is a sentence.
    pub accepted: bool,
    /// The input is all read at a place where the grammar asks for more, or it is a sentence. In a grammar all of
    /// whose parts can end, that means that some sentence begins with it.
    pub viable: bool,
}

impl Naive {
    /// Reads a grammar that is known to be well-formed; `None` if it is not.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parser = Parser { chars: text.trim_start_matches('\u{FEFF}').chars().collect(), at: 0 };
        let mut rules = HashMap::new();
        parser.blank();
        while parser.peek().is_some() {
            let name = parser.name()?;
            parser.blank();
            parser.expect("::=")?;
            let body = parser.alternatives(0)?;
            rules.insert(name, body);
        }
        Some(Self { rules })
    }

    pub fn judge(&self, input: &Input) -> Verdict {
        let mut run = Run { grammar: self, input, known: HashMap::new(), asked_at_end: false };
        let ends = run.rule("root", 0);
        let accepted = ends.contains(&input.chars.len());
        Verdict { accepted, viable: accepted || run.asked_at_end }
    }
}

struct Run<'a> {
    grammar: &'a Naive,
    input: &'a Input,
    known: HashMap<(*const Expr, Position), BTreeSet<Position>>,
    asked_at_end: bool,
}

impl Run<'_> {
    fn rule(&mut self, name: &str, at: Position) -> BTreeSet<Position> {
        let rule = self.grammar.rules.get(name).expect("every rule is defined");
        self.ends(rule, at)
    }

    /// Where the expression can end if it begins at `at`.
    fn ends(&mut self, expr: &Expr, at: Position) -> BTreeSet<Position> {
        if let Some(known) = self.known.get(&(expr as *const Expr, at)) {
            return known.clone();
        }
        let ends = match expr {
            Expr::Class { ranges, negated } => {
                let code = self.input.chars.get(at);
                self.asked_at_end |= code.is_none();
                let inside = |c: char| ranges.iter().any(|(low, high)| (*low..=*high).contains(&u32::from(c)));
                let matches = code.copied().flatten().is_some_and(|c| inside(c) != *negated);
                matches.then_some(at + 1).into_iter().collect()
            }
            Expr::Token { id, negated } => {
                self.asked_at_end |= at == self.input.chars.len();
                let token = self.input.tokens.get(&at).filter(|(other, _)| (other == id) != *negated);
                token.map(|(_, end)| *end).into_iter().collect()
            }
            Expr::Seq(items) => items.iter().fold(BTreeSet::from([at]), |ends, item| self.after_all(item, &ends)),
            Expr::Alt(items) => items.iter().flat_map(|item| self.ends(item, at)).collect(),
            Expr::Rep(item, min, max) => {
                let mut ends = BTreeSet::new();
                let mut reached = BTreeSet::from([at]);
                let mut seen = BTreeSet::new();
                for round in 0.. {
                    if round >= *min {
                        ends.extend(&reached);
                    }
                    // Once nothing new is reached beyond the minimum, nothing new ever will be.
                    let nothing_new = round >= *min && !seen.insert(reached.clone());
                    if Some(round) == *max || reached.is_empty() || nothing_new {
                        break;
                    }
                    reached = self.after_all(item, &reached);
                }
                ends
            }
            Expr::Rule(name) => self.rule(name, at),
        };
        self.known.insert((expr, at), ends.clone());
        ends
    }

    fn after_all(&mut self, expr: &Expr, starts: &BTreeSet<Position>) -> BTreeSet<Position> {
        starts.iter().flat_map(|start| self.ends(expr, *start)).collect()
    }
}

struct Parser {
    chars: Vec<char>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = text.chars().enumerate().all(|(i, c)| self.chars.get(self.at + i) == Some(&c));
        self.at += if found { text.chars().count() } else { 0 };
        found
    }

    fn expect(&mut self, text: &str) -> Option<()> {
        self.eat(text).then_some(())
    }

    fn blank(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | '\r' => self.at += 1,
                '#' => {
                    while self.peek().is_some_and(|c| c != '\n' && c != '\r') {
                        self.at += 1;
                    }
                }
                _ => break,
            }
        }
    }

    fn name(&mut self) -> Option<String> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
            self.at += 1;
        }
        (self.at > start).then(|| self.chars[start..self.at].iter().collect())
    }

    fn alternatives(&mut self, depth: usize) -> Option<Expr> {
        let mut alternatives = Vec::new();
        loop {
            alternatives.push(self.sequence(depth)?);
            if !self.eat("|") {
                return Some(Expr::Alt(alternatives));
            }
        }
    }

    fn sequence(&mut self, depth: usize) -> Option<Expr> {
        let mut items: Vec<Expr> = Vec::new();
        loop {
            self.blank();
            let start = self.at;
            match self.peek() {
                None | Some('|' | ')') => return Some(Expr::Seq(items)),
                Some('"') => items.push(self.literal()?),
                Some('[') => items.push(self.class()?),
                Some('.') => {
                    self.at += 1;
                    items.push(Expr::Class { ranges: Vec::new(), negated: true });
                }
                Some('(') => {
                    self.at += 1;
                    items.push(self.alternatives(depth + 1)?);
                    self.expect(")")?;
                }
                Some('!' | '<') => items.push(self.token()?),
                Some('*' | '+' | '?' | '{') => {
                    let (min, max) = self.repetition()?;
                    let item = items.pop()?;
                    items.push(Expr::Rep(Box::new(item), min, max));
                }
                Some(_) => {
                    let name = self.name()?;
                    let after = self.at;
                    self.blank();
                    if depth == 0 && self.eat("::=") {
                        self.at = start;
                        return Some(Expr::Seq(items));
                    }
                    self.at = after;
                    items.push(Expr::Rule(name));
                }
            }
        }
    }

    fn repetition(&mut self) -> Option<(u32, Option<u32>)> {
        match self.next()? {
            '*' => return Some((0, None)),
            '+' => return Some((1, None)),
            '?' => return Some((0, Some(1))),
            _ => {}
        }
        let min = self.number()?;
        if self.eat(",") {
            self.blank();
            let max = if self.peek() == Some('}') { None } else { Some(self.number()?) };
            self.expect("}")?;
            return Some((min, max));
        }
        self.expect("}")?;
        Some((min, Some(min)))
    }

    fn number(&mut self) -> Option<u32> {
        self.blank();
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let number = self.chars[start..self.at].iter().collect::<String>().parse().ok();
        self.blank();
        number
    }

    fn literal(&mut self) -> Option<Expr> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.eat("\"") {
            let code = self.character()?;
            items.push(Expr::Class { ranges: vec![(code, code)], negated: false });
        }
        Some(Expr::Seq(items))
    }

    fn class(&mut self) -> Option<Expr> {
        self.at += 1;
        let negated = self.eat("^");
        let mut ranges = Vec::new();
        while !self.eat("]") {
            let low = self.character()?;
            let is_range = self.peek() == Some('-') && self.chars.get(self.at + 1) != Some(&']');
            let high = if is_range && self.eat("-") { self.character()? } else { low };
            ranges.push((low, high));
        }
        let empty = ranges.is_empty();
        Some(if empty { Expr::Seq(Vec::new()) } else { Expr::Class { ranges, negated } })
    }

    fn character(&mut self) -> Option<u32> {
        let digits = match self.next()? {
            '\\' => match self.next()? {
                't' => return Some(9),
                'n' => return Some(10),
                'r' => return Some(13),
                'x' => 2,
                'u' => 4,
                'U' => 8,
                c => return Some(u32::from(c)),
            },
            c => return Some(u32::from(c)),
        };
        let hex: String = self.chars.get(self.at..self.at + digits)?.iter().collect();
        self.at += digits;
        u32::from_str_radix(&hex, 16).ok()
    }

    fn token(&mut self) -> Option<Expr> {
        let negated = self.eat("!");
        self.expect("<[")?;
        let id = self.number()?;
        self.expect("]>")?;
        Some(Expr::Token { id, negated })
    }
}
