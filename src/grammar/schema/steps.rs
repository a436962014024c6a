//! Numbers that a step divides (`multipleOf`): an automaton that knows the remainder of the digits so far.

use std::collections::HashMap;

use super::automaton::{Automaton, State};
use crate::grammar::charset::CharSet;

/// The most states, before those that make no difference are made one.
const MAX_STATES: u64 = 100_000;

/// The characters of a number without an exponent.
const CHARACTERS: [char; 12] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.', '-'];
const POINT: usize = 10;
const MINUS: usize = 11;

/// For each character the state that it leads to, and whether a number may end here.
#[derive(Clone, Default)]
struct Row {
    next: [Option<u32>; 12],
    ends: bool,
}

/// The multiples of `units / 10^places`, written with at most so many places; `None` if the automaton is too large.
pub(super) fn multiples(units: u64, places: u32) -> Option<Automaton> {
    let count = units.checked_mul(u64::from(places) + 2)?.checked_add(4)?;
    if units == 0 || count > MAX_STATES {
        return None;
    }
    // The start, after a minus, after a zero, after both; then the integers by remainder, then the fractions by place.
    let [minus, zero, minus_zero] = [1, 2, 3];
    let remaining = |remainder: u64, places: u32| (0..places).fold(remainder, |rest, _| rest * 10 % units);
    let integer = |remainder: u64| 4 + remainder as u32;
    let fraction = |place: u32, remainder: u64| 4 + units as u32 * (place + 1) + remainder as u32;
    let mut rows = vec![Row::default(); count as usize];
    for digit in 1..=9 {
        rows[0].next[digit] = Some(integer(digit as u64 % units));
        rows[minus].next[digit] = rows[0].next[digit];
    }
    rows[0].next[0] = Some(zero as u32);
    rows[0].next[MINUS] = Some(minus as u32);
    rows[zero].ends = true;
    if places > 0 {
        rows[minus].next[0] = Some(minus_zero as u32);
        rows[zero].next[POINT] = Some(fraction(0, 0));
        rows[minus_zero].next[POINT] = Some(fraction(0, 0));
    }
    for remainder in 0..units {
        let after = |digit: usize| (remainder * 10 + digit as u64) % units;
        let row = &mut rows[integer(remainder) as usize];
        row.ends = remaining(remainder, places) == 0;
        row.next[POINT] = (places > 0).then(|| fraction(0, remainder));
        (0..10).for_each(|digit| row.next[digit] = Some(integer(after(digit))));
        for place in 0..=places {
            let row = &mut rows[fraction(place, remainder) as usize];
            row.ends = place > 0 && remaining(remainder, places - place) == 0;
            if place < places {
                (0..10).for_each(|digit| row.next[digit] = Some(fraction(place + 1, after(digit))));
            }
        }
    }
    Some(smallest(&rows))
}

/// States that make no difference become one (Moore's algorithm).
fn smallest(rows: &[Row]) -> Automaton {
    let mut class: Vec<u32> = rows.iter().map(|row| u32::from(row.ends)).collect();
    let mut count = 0;
    loop {
        let mut ids = HashMap::new();
        let signature = |(row, class_of): (&Row, &u32)| {
            let next = row.next.map(|target| target.map(|target| class[target as usize]));
            let id = ids.len() as u32;
            *ids.entry((*class_of, next)).or_insert(id)
        };
        let finer: Vec<u32> = rows.iter().zip(&class).map(signature).collect();
        let size = ids.len();
        class = finer;
        if size == count {
            break;
        }
        count = size;
    }
    // The start comes first, so its class is 0.
    let mut states: Vec<State> = (0..count).map(|_| State::default()).collect();
    for (row, id) in rows.iter().zip(&class) {
        let state = &mut states[*id as usize];
        if !state.edges.is_empty() {
            continue;
        }
        state.accepts = row.ends;
        let mut by_target: Vec<(u32, Vec<char>)> = Vec::new();
        for (target, c) in row.next.iter().zip(CHARACTERS) {
            let Some(target) = target.map(|target| class[target as usize]) else { continue };
            match by_target.iter_mut().find(|(known, _)| *known == target) {
                Some((_, characters)) => characters.push(c),
                None => by_target.push((target, vec![c])),
            }
        }
        state.edges = by_target.into_iter().map(|(target, characters)| (CharSet::of(characters), target)).collect();
    }
    Automaton::new(states)
}
