//! Texts that a configuration does not tell apart: inside a string, every letter leads to where the last one did.

use std::ops::RangeInclusive;

use super::matcher::{DEAD, Matcher, SetId, Step, Told};
use super::program::Classes;
use super::rounds::Rounds;
use crate::tokenizer::trie::{BUCKETS, Summary, char_len, second_byte};

/// What may follow a configuration without asking it again: every text of at most `chars` characters, all of `buckets`
/// and the last one possibly cut short, can be gone on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Kinds of characters, as in [`BUCKETS`].
    pub buckets: u64,
    pub chars: u32,
    /// The most bytes that are needed to a sentence after any such text.
    pub need: u32,
    /// What each character tells of counts that are forgotten in the configuration; ambiguous if not all tell the same.
    pub told: Told,
}

impl Run {
    pub const NONE: Self = Self { buckets: 0, chars: 0, need: 0, told: Told::NOTHING };

    /// Whether all strings of a subtree are in the run.
    #[inline]
    pub fn takes(&self, subtree: Summary) -> bool {
        subtree.buckets & !self.buckets == 0 && subtree.chars <= self.chars
    }

    /// The run if there are enough tokens left to finish after it.
    pub fn if_left(self, left: u64) -> Self {
        if u64::from(self.need) + 2 <= left { self } else { Self::NONE }
    }

    /// The run of characters that this one or the other holds for.
    fn or(self, other: Self) -> Self {
        Self {
            buckets: self.buckets | other.buckets,
            need: self.need.max(other.need),
            told: self.told.or(other.told),
            ..self
        }
    }

    /// The run where so many rounds are left.
    fn within(self, room: Rounds) -> Self {
        let chars = match room.least_in(self.told.lanes) {
            Rounds::MANY => self.chars,
            rounds => self.chars.min(rounds),
        };
        Self { chars, ..self }
    }
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

/// How many characters are tried one by one before a configuration that comes back to itself. A run of more than one
/// more has come back.
pub(super) const MAX_LEAD_IN: u32 = 4;

/// The run of a configuration.
pub(super) fn find(matcher: &mut Matcher, config: SetId) -> Run {
    let (freed, room) = matcher.freed(config);
    if freed != config {
        let run = matcher.run(freed).within(room);
        let told = Told { lanes: run.told.lanes & matcher.free_lanes(config), ..run.told };
        return Run { told, ..run };
    }
    find_through(matcher, config, MAX_LEAD_IN)
}

fn find_through(matcher: &mut Matcher, config: SetId, lead_in: u32) -> Run {
    let mut targets: Vec<(SetId, Run)> = Vec::new();
    for bucket in 0..BUCKETS.len() {
        let Some((target, own)) = after_bucket(matcher, config, bucket) else { continue };
        match targets.iter_mut().find(|(other, _)| *other == target) {
            Some((_, run)) => *run = run.or(own),
            None => targets.push((target, own)),
        }
    }
    // Back at the same configuration, or at one that only counts anew what these characters do not add to.
    if let Some((target, run)) = targets.iter().find(|(target, _)| matcher.freed(*target).0 == config) {
        let again = Run { chars: u32::MAX, ..*run }.within(matcher.freed(*target).1);
        return Run { chars: again.chars.saturating_add(1), ..again };
    }
    let Some((next, run)) = targets.into_iter().max_by_key(|(_, run)| run.buckets.count_ones()) else {
        return Run::NONE;
    };
    if lead_in == 0 {
        return run;
    }
    let (freed, room) = matcher.freed(next);
    let rest = find_through(matcher, freed, lead_in - 1).within(room);
    match run.buckets & rest.buckets {
        0 => run,
        buckets => {
            let told = Told { lanes: rest.told.lanes & matcher.free_lanes(next), ..rest.told };
            Run { buckets, chars: rest.chars.saturating_add(1), ..run.or(Run { told, ..rest }) }
        }
    }
}

/// The configurations along a run that comes back to itself, counts forgotten. Each byte that can be read somewhere
/// after characters of the run can be read in one of these.
pub(super) fn leads(matcher: &mut Matcher, config: SetId, run: Run) -> Vec<SetId> {
    let mut leads = vec![matcher.freed(config).0];
    let bucket = run.buckets.trailing_zeros() as usize;
    while leads.len() <= MAX_LEAD_IN as usize + 1 {
        let last = leads[leads.len() - 1];
        let Some((next, ..)) = after_bucket(matcher, last, bucket) else { break };
        leads.push(matcher.freed(next).0);
    }
    leads.dedup();
    leads
}

/// Whether each of these buckets may be read: most configurations in a grammar read next to nothing.
pub(super) fn takes_all(matcher: &mut Matcher, config: SetId, buckets: u64) -> bool {
    (0..u64::BITS as usize).filter(|bucket| buckets >> bucket & 1 == 1).all(|bucket| {
        let spelling = matcher.program().spellings.get(bucket).and_then(|spellings| spellings.first());
        let class = spelling.map(|spelling| usize::from(spelling.0[0][0]));
        class.is_some_and(|class| matcher.step_class(config, class).to != DEAD)
    })
}

/// Where all characters of a bucket lead, if they all lead to one configuration, and the run of one of them. A
/// character in which two rounds may begin in one lane leads nowhere.
fn after_bucket(matcher: &mut Matcher, config: SetId, bucket: usize) -> Option<(SetId, Run)> {
    let mut common: Option<(SetId, Run)> = None;
    for spelling in 0..matcher.program().spellings[bucket].len() {
        let mut at = config;
        let mut own = Run { buckets: 1 << bucket, chars: 1, ..Run::NONE };
        for place in 0..matcher.program().spellings[bucket][spelling].0.len() {
            let mut here: Option<Step> = None;
            for class in 0..matcher.program().spellings[bucket][spelling].0[place].len() {
                let class = usize::from(matcher.program().spellings[bucket][spelling].0[place][class]);
                let next = matcher.step_class(at, class);
                let step = *here.get_or_insert(next);
                if next.to == DEAD || step.to != next.to {
                    return None;
                }
                here = Some(Step { told: step.told.or(next.told), ..next });
            }
            let Step { to, told } = here?;
            if told.crowded || own.told.lanes & told.lanes != 0 {
                return None;
            }
            at = to;
            own.told = own.told.and(told);
            own.need = own.need.max(matcher.need(at));
        }
        match &mut common {
            Some((target, _)) if *target != at => return None,
            Some((_, run)) => *run = run.or(own),
            None => common = Some((at, own)),
        }
    }
    common
}
