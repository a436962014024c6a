//! The grammar engine from outside: data-driven cases, oracles, a naive judge, random grammars and bad input.

mod cases;
mod judge;
mod naive;
mod random;
