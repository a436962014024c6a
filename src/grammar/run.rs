//! Texts that a configuration does not tell apart: inside a string, every letter leads to where the last one did.

use std::ops::RangeInclusive;

use super::matcher::{DEAD, Matcher, SetId};
use super::program::Classes;
use crate::tokenizer::trie::{BUCKETS, char_len, second_byte};

/// What may follow a configuration without asking it again: every text of at most `chars` characters, all of `buckets`
/// and the last one possibly cut short, can be gone on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Kinds of characters, as in [`BUCKETS`].
    pub buckets: u64,
    pub chars: u32,
    /// The most bytes that are needed to a sentence after any such text.
    pub need: u32,
}

/// Some characters, by the classes of their bytes: one class from each place, in every combination.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Spelling(Vec<Vec<u8>>);

/// The spellings of each bucket.
pub(super) fn spellings(classes: &Classes) -> Vec<Vec<Spelling>> {
    let of = |bytes: RangeInclusive<u8>| {
        let mut of: Vec<u8> = bytes.map(|byte| classes.class(byte) as u8).collect();
        of.sort_unstable();
        of.dedup();
        of
    };
    let later = of(0x80..=0xBF);
    let spelling = |lead: u8| {
        let mut places = vec![of(lead..=lead)];
        if char_len(lead) > 1 {
            places.push(of(second_byte(lead)));
            places.resize(char_len(lead), later.clone());
        }
        Spelling(places)
    };
    let bucket = |leads: &RangeInclusive<u8>| {
        let mut spellings: Vec<Spelling> = leads.clone().map(spelling).collect();
        spellings.dedup();
        spellings
    };
    BUCKETS.iter().map(bucket).collect()
}

/// How many characters are tried one by one before a configuration that comes back to itself.
const MAX_LEAD_IN: u32 = 2;

/// The run of a configuration.
pub(super) fn find(matcher: &mut Matcher, config: SetId) -> Run {
    let (freed, room) = matcher.freed(config);
    if freed != config {
        let run = matcher.run(freed);
        return Run { chars: run.chars.min(room), ..run };
    }
    find_through(matcher, config, MAX_LEAD_IN)
}

fn find_through(matcher: &mut Matcher, config: SetId, lead_in: u32) -> Run {
    let mut targets: Vec<(SetId, Run)> = Vec::new();
    for bucket in 0..BUCKETS.len() {
        let Some((target, need)) = after_bucket(matcher, config, bucket) else { continue };
        let run = match targets.iter_mut().find(|(other, _)| *other == target) {
            Some((_, run)) => run,
            None => {
                targets.push((target, Run { buckets: 0, chars: 1, need: 0 }));
                &mut targets.last_mut().expect("just pushed").1
            }
        };
        run.buckets |= 1 << bucket;
        run.need = run.need.max(need);
    }
    if let Some((_, run)) = targets.iter().find(|(target, _)| *target == config) {
        return Run { chars: u32::MAX, ..*run };
    }
    let Some((next, run)) = targets.into_iter().max_by_key(|(_, run)| run.buckets.count_ones()) else {
        return Run { buckets: 0, chars: 0, need: 0 };
    };
    if lead_in == 0 {
        return run;
    }
    let (freed, room) = matcher.freed(next);
    let rest = find_through(matcher, freed, lead_in - 1);
    match run.buckets & rest.buckets {
        0 => run,
        buckets => Run { buckets, chars: rest.chars.min(room).saturating_add(1), need: run.need.max(rest.need) },
    }
}

/// Where all characters of a bucket lead, if they all lead to one configuration; and the most bytes needed on the way.
fn after_bucket(matcher: &mut Matcher, config: SetId, bucket: usize) -> Option<(SetId, u32)> {
    let mut common = None;
    let mut need = 0;
    for spelling in 0..matcher.program().spellings[bucket].len() {
        let mut at = config;
        for place in 0..matcher.program().spellings[bucket][spelling].0.len() {
            let mut target = None;
            for class in 0..matcher.program().spellings[bucket][spelling].0[place].len() {
                let class = matcher.program().spellings[bucket][spelling].0[place][class];
                let next = matcher.step_class(at, usize::from(class));
                if next == DEAD || *target.get_or_insert(next) != next {
                    return None;
                }
            }
            at = target?;
            need = need.max(matcher.need(at));
        }
        if *common.get_or_insert(at) != at {
            return None;
        }
    }
    Some((common?, need))
}
