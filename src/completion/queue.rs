//! Who may work now: a fixed number of permits, given out in order.
//!
//! A value without threads or a clock: the host says what happened and when, and is told who may begin. Entries of one
//! [`Priority`] are served first come, first served; a person who waits goes before background work, and background work
//! that has waited [`PATIENCE_MS`] counts as a person, so that nothing waits for ever.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};

/// Background work that has waited so long, in milliseconds, goes as if a person had asked for it at that moment.
pub const PATIENCE_MS: f64 = 10_000.0;

/// Who waits for an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// A person, now.
    #[default]
    Interactive,
    /// Nobody in particular.
    Background,
}

/// A place in the queue, and later the permit. It means nothing to another queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

/// The order of service.
#[derive(Debug)]
pub struct Queue {
    limit: usize,
    next: u64,
    /// Waiting entries in the order of arrival, by priority.
    interactive: BTreeMap<Ticket, f64>,
    background: BTreeMap<Ticket, f64>,
    working: BTreeSet<Ticket>,
}

impl Queue {
    /// A queue that lets `limit` work at a time.
    ///
    /// # Errors
    /// `invalid-argument` for a limit of zero: nothing could ever begin.
    pub fn new(limit: usize) -> Result<Self> {
        if limit == 0 {
            return Err(Error::new(ErrorKind::InvalidArgument, "the queue's limit must be at least 1"));
        }
        Ok(Self { limit, next: 0, interactive: BTreeMap::new(), background: BTreeMap::new(), working: BTreeSet::new() })
    }

    /// Takes a place at the end, at the time `now` in milliseconds.
    pub fn enter(&mut self, priority: Priority, now: f64) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        match priority {
            Priority::Interactive => self.interactive.insert(ticket, now),
            Priority::Background => self.background.insert(ticket, now),
        };
        ticket
    }

    /// Gives out one permit, if one is free and somebody waits. Ask until the answer is `None`.
    pub fn admit(&mut self, now: f64) -> Option<Ticket> {
        if self.working.len() >= self.limit {
            return None;
        }
        let person = self.interactive.first_key_value().map(|(&ticket, &since)| (ticket, since));
        // Promoted background work stands where a person would who came when its patience ended.
        let patient = self.background.first_key_value().map(|(&ticket, &since)| (ticket, since + PATIENCE_MS));
        let background = match (person, patient) {
            (Some((_, since)), Some((_, promoted))) => promoted <= now && promoted <= since,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        let (ticket, _) = if background { self.background.pop_first() } else { self.interactive.pop_first() }?;
        self.working.insert(ticket);
        Some(ticket)
    }

    /// Ends a place, waiting or working: the call is done, has failed, or was cancelled. Returns whether the ticket held
    /// one; the second time it does not, so a permit comes back exactly once.
    pub fn leave(&mut self, ticket: Ticket) -> bool {
        self.working.remove(&ticket)
            || self.interactive.remove(&ticket).is_some()
            || self.background.remove(&ticket).is_some()
    }

    /// How many hold a permit.
    pub fn working(&self) -> usize {
        self.working.len()
    }

    /// How many wait for one.
    pub fn waiting(&self) -> usize {
        self.interactive.len() + self.background.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_limit_of_zero_is_refused() {
        assert_eq!(Queue::new(0).expect_err("refused").kind(), ErrorKind::InvalidArgument);
    }

    #[test]
    fn a_person_goes_before_background_work_until_its_patience_ends() {
        let mut queue = Queue::new(1).expect("a limit");
        let first = queue.enter(Priority::Background, 0.0);
        let person = queue.enter(Priority::Interactive, 1.0);
        assert_eq!(queue.admit(2.0), Some(person));
        assert_eq!(queue.admit(2.0), None, "the permit is out");
        let late = queue.enter(Priority::Interactive, PATIENCE_MS + 1.0);
        assert!(queue.leave(person) && !queue.leave(person));
        assert_eq!(queue.admit(PATIENCE_MS + 2.0), Some(first), "it waited long enough");
        assert!(queue.leave(first));
        assert_eq!(queue.admit(PATIENCE_MS + 2.0), Some(late));
    }

    #[derive(Clone, Copy, Debug)]
    enum Act {
        Enter(Priority),
        Admit,
        /// Cancels or finishes the n-th place that was ever taken, whatever has become of it.
        Leave(usize),
        Wait(u32),
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let act = prop_oneof![
            3 => any::<bool>().prop_map(|person| {
                Act::Enter(if person { Priority::Interactive } else { Priority::Background })
            }),
            4 => Just(Act::Admit),
            3 => any::<prop::sample::Index>().prop_map(|n| Act::Leave(n.index(64))),
            1 => (0u32..15_000).prop_map(Act::Wait),
        ];
        prop::collection::vec(act, 1..80)
    }

    /// The slow, obvious queue: a list that is searched by the rule as it is told.
    #[derive(Default)]
    struct Plain {
        waiting: Vec<(Ticket, Priority, f64)>,
        working: Vec<Ticket>,
    }

    impl Plain {
        fn admit(&mut self, limit: usize, now: f64) -> Option<Ticket> {
            if self.working.len() >= limit {
                return None;
            }
            let turn = |&(ticket, priority, since): &(Ticket, Priority, f64)| match priority {
                Priority::Interactive => (0, since, 1, ticket),
                Priority::Background if since + PATIENCE_MS <= now => (0, since + PATIENCE_MS, 0, ticket),
                Priority::Background => (1, since, 0, ticket),
            };
            let order = |a: &(i32, f64, i32, Ticket), b: &(i32, f64, i32, Ticket)| {
                a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)).then(a.3.cmp(&b.3))
            };
            let at =
                (0..self.waiting.len()).min_by(|&a, &b| order(&turn(&self.waiting[a]), &turn(&self.waiting[b])))?;
            let (ticket, ..) = self.waiting.remove(at);
            self.working.push(ticket);
            Some(ticket)
        }

        fn leave(&mut self, ticket: Ticket) -> bool {
            let before = self.waiting.len() + self.working.len();
            self.waiting.retain(|(other, ..)| *other != ticket);
            self.working.retain(|other| *other != ticket);
            before > self.waiting.len() + self.working.len()
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        /// Order kept, at most the limit at work, every permit released once, and in the end nobody is left waiting.
        #[test]
        fn any_schedule_is_served_in_order(limit in 1usize..4, acts in acts()) {
            let mut queue = Queue::new(limit).expect("a limit");
            let (mut plain, mut now, mut tickets) = (Plain::default(), 0.0, Vec::new());
            for act in acts {
                match act {
                    Act::Enter(priority) => {
                        let ticket = queue.enter(priority, now);
                        plain.waiting.push((ticket, priority, now));
                        tickets.push(ticket);
                    }
                    Act::Admit => prop_assert_eq!(queue.admit(now), plain.admit(limit, now)),
                    Act::Leave(n) if n < tickets.len() => {
                        prop_assert_eq!(queue.leave(tickets[n]), plain.leave(tickets[n]));
                        prop_assert!(!queue.leave(tickets[n]), "a place ends once");
                    }
                    Act::Leave(_) => {}
                    Act::Wait(ms) => now += f64::from(ms),
                }
                prop_assert!(queue.working() <= limit);
                prop_assert_eq!((queue.working(), queue.waiting()), (plain.working.len(), plain.waiting.len()));
            }
            let mut rounds = 0;
            while queue.waiting() + queue.working() > 0 {
                let mut served = plain.working.clone();
                while let Some(ticket) = queue.admit(now) {
                    prop_assert_eq!(plain.admit(limit, now), Some(ticket));
                    served.push(ticket);
                }
                for ticket in served {
                    prop_assert!(queue.leave(ticket) && plain.leave(ticket));
                }
                rounds += 1;
                prop_assert!(rounds <= tickets.len() + 1, "somebody waits for ever");
            }
        }

        /// However many people keep coming, background work is served.
        #[test]
        fn background_work_does_not_starve(every in 1u32..2_000) {
            let mut queue = Queue::new(1).expect("a limit");
            let patient = queue.enter(Priority::Background, 0.0);
            let mut now = 0.0;
            let served = (0..40_000).any(|_| {
                queue.enter(Priority::Interactive, now);
                let ticket = queue.admit(now).expect("somebody waits");
                queue.leave(ticket);
                now += f64::from(every);
                // People come faster than they are served.
                queue.enter(Priority::Interactive, now);
                ticket == patient
            });
            prop_assert!(served);
        }
    }
}
