//! The grammar engine from outside: data-driven cases, oracles, a naive judge, random grammars and bad input.

mod bad_input;
mod budget;
mod cases;
mod counts;
mod judge;
mod library;
mod naive;
mod oracle;
mod random;
mod schema;
mod smollm2;
