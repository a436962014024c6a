//! Threads that share a product.
//!
//! ```text
//! share(items, work):   publish the work ─▶ take pieces until none is left ─▶ close ─▶ wait for who is inside
//! serve():              wait for work    ─▶ enter ─▶ take pieces until none is left ─▶ leave ─▶ …
//! ```
//!
//! A token takes hundreds of small products, so a hand-over must cost less than a microsecond: a thread that serves spins
//! for a while before it sleeps, and one that comes late finds the work closed and is not waited for. Who takes a piece
//! does not matter to the result, since every output is computed alone.
//!
//! There is one pool a process, as there is one memory. Natively its threads are the standard library's
//! ([`start`]); in a browser they are workers that have entered [`serve`] over shared memory.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Looks at the state before a thread that serves goes to sleep: about a millisecond, more than what lies between two
/// products of an answer. Waking takes as long as several of them. Natively a look comes with a pause of the processor's.
const SPINS: u32 = if cfg!(target_arch = "wasm32") { 500_000 } else { 20_000 };

/// Milliseconds to wait for a thread that is inside. A piece takes less than one; a suspended page suspends all threads.
const PATIENCE: u32 = 20_000;

/// The smallest piece is this part of the work. Pieces shrink towards it, so that all threads end about together while
/// they meet at the counter a few times only: guided self-scheduling, <https://doi.org/10.1109/TC.1987.5009495>.
const SMALLEST: usize = 64;

// The state: a generation that counts the jobs, whether the job is open, and how many threads are inside it.
const INSIDE: u32 = 0x7f;
const OPEN: u32 = 0x80;
const GENERATION: u32 = 0x100;

type Work<'a> = &'a (dyn Fn(Range<usize>) + Sync);

#[derive(Clone, Copy)]
struct Job {
    /// Valid as long as the job is open or somebody is inside it.
    work: *const (dyn Fn(Range<usize>) + Sync),
    items: usize,
    /// Twice the threads: a piece is this part of what is left.
    parts: usize,
}

struct Pool {
    state: AtomicU32,
    /// Written by the leader while the job is closed and nobody is inside; read by who is inside.
    job: UnsafeCell<Option<Job>>,
    /// The first item that nobody has taken.
    next: AtomicUsize,
    /// Threads that serve.
    helpers: AtomicUsize,
    /// Held by the thread that shares its work.
    leader: Mutex<()>,
    sleepers: AtomicU32,
    sleep: Mutex<()>,
    wake: Condvar,
    /// A thread that served has panicked inside a job.
    failed: AtomicBool,
    closed: AtomicBool,
}

// SAFETY: `job` is the one field that is not Sync. It is written under `leader` while `state` says that the job is
// closed and nobody is inside, and is read only by threads that have entered by an acquiring exchange of `state`.
unsafe impl Sync for Pool {}

static POOL: Pool = Pool {
    state: AtomicU32::new(0),
    job: UnsafeCell::new(None),
    next: AtomicUsize::new(0),
    helpers: AtomicUsize::new(0),
    leader: Mutex::new(()),
    sleepers: AtomicU32::new(0),
    sleep: Mutex::new(()),
    wake: Condvar::new(),
    failed: AtomicBool::new(false),
    closed: AtomicBool::new(false),
};

/// Threads that products are shared by, this one included.
pub fn threads() -> usize {
    POOL.helpers.load(Ordering::Relaxed) + 1
}

/// Makes this thread one that serves, until [`close`]. Returns at once when the pool is closed.
pub fn serve() {
    POOL.helpers.fetch_add(1, Ordering::SeqCst);
    let mut seen = POOL.state.load(Ordering::Relaxed) / GENERATION;
    while let Some(state) = POOL.wait(seen) {
        if POOL.enter(state) {
            seen = state / GENERATION;
            let _inside = Inside;
            // SAFETY: this thread is inside, so the job is whole and its work is alive.
            let (job, work) = unsafe {
                let job = (*POOL.job.get()).expect("an open job has been published");
                (job, &*job.work)
            };
            POOL.take_pieces(&job, work);
        }
    }
    POOL.helpers.fetch_sub(1, Ordering::SeqCst);
}

/// Sends all threads that serve home, and lets none come.
pub fn close() {
    POOL.closed.store(true, Ordering::SeqCst);
    POOL.wake_all();
}

/// Starts threads of the standard library so that products are shared by `threads` in all, and waits until they serve.
/// Never fewer than before.
#[cfg(not(target_arch = "wasm32"))]
pub fn start(threads: usize) {
    let missing = threads.saturating_sub(self::threads());
    for _ in 0..missing {
        std::thread::spawn(serve);
    }
    while self::threads() < threads {
        std::thread::yield_now();
    }
}

/// Calls `work` with ranges that together are `0..items`, each item once, on this thread and on those that serve. The
/// items should be alike in cost.
///
/// # Panics
/// If `work` does, or if a thread dies inside it: then the result is incomplete and can never be completed.
pub(crate) fn share(items: usize, work: Work) {
    let threads = threads();
    if threads == 1 || items < 2 {
        return work(0..items);
    }
    // Somebody else is sharing (natively, another model's thread): then every thread has work already.
    let Ok(_leader) = POOL.leader.try_lock() else { return work(0..items) };
    // SAFETY: the lifetime is only forgotten. `Open` waits, before this function ends, until nobody can use `work`.
    let forgotten = unsafe { std::mem::transmute::<Work, Work<'static>>(work) };
    let job = Job { work: forgotten, items, parts: 2 * threads };
    let open = POOL.publish(job);
    POOL.take_pieces(&job, work);
    drop(open);
    assert!(!POOL.failed.load(Ordering::SeqCst), "a thread of the pool has failed");
}

/// As [`share`], for the rows (of `width` values) of a slice: calls `work(first, rows)` with stretches of them, of which the
/// first has that index. `cost` is what a value takes, in additions or so: little work is not worth a hand-over.
pub(crate) fn share_rows<T: Send>(
    values: &mut [T],
    width: usize,
    cost: usize,
    work: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    /// Some microseconds of arithmetic.
    const WORTH_IT: usize = 4096;
    if values.len() * cost < WORTH_IT || threads() == 1 {
        return work(0, values);
    }
    let rows = values.len() / width;
    let shared = Disjoint::new(values);
    share(rows, &|range| {
        // SAFETY: each row is in one piece, and pieces are disjoint.
        work(range.start, unsafe { shared.slice(range.start * width, range.len() * width) });
    });
}

/// Values that several threads write, each its own.
pub(crate) struct Disjoint<'a, T> {
    values: *mut T,
    len: usize,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: what the methods ask of their callers is what makes sharing sound.
unsafe impl<T: Send> Sync for Disjoint<'_, T> {}

impl<'a, T> Disjoint<'a, T> {
    pub(crate) fn new(values: &'a mut [T]) -> Self {
        Self { values: values.as_mut_ptr(), len: values.len(), borrow: PhantomData }
    }

    /// # Safety
    /// While the slice lives, nobody else may read or write these values.
    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    unsafe fn slice(&self, at: usize, len: usize) -> &mut [T] {
        assert!(at <= self.len && len <= self.len - at, "a place inside the values");
        // SAFETY: the place is inside the slice that `new` borrowed, and the caller keeps others away.
        unsafe { std::slice::from_raw_parts_mut(self.values.add(at), len) }
    }

    /// Writes `values` from index `at` on.
    ///
    /// # Safety
    /// No other thread may read or write these values at the same time.
    #[inline(always)]
    pub(crate) unsafe fn write(&self, at: usize, values: &[T])
    where
        T: Copy,
    {
        // SAFETY: as the caller promises.
        unsafe { self.slice(at, values.len()) }.copy_from_slice(values);
    }
}

impl Pool {
    /// Waits for a job of another generation than `seen`, and returns the state that says so; `None` once the pool is closed.
    fn wait(&self, seen: u32) -> Option<u32> {
        let is_new = |state: u32| state & OPEN != 0 && state / GENERATION != seen;
        loop {
            for _ in 0..SPINS {
                let state = self.state.load(Ordering::Acquire);
                if is_new(state) {
                    return Some(state);
                }
                std::hint::spin_loop();
            }
            let guard = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
            // Counted before the last look at the state, and the leader looks at the count after it has set the state: one
            // of the two sees the other.
            self.sleepers.fetch_add(1, Ordering::SeqCst);
            if !is_new(self.state.load(Ordering::SeqCst)) && !self.closed.load(Ordering::SeqCst) {
                drop(self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner));
            }
            self.sleepers.fetch_sub(1, Ordering::SeqCst);
            if self.closed.load(Ordering::SeqCst) {
                return None;
            }
        }
    }

    /// Enters the job of `state`, unless it has changed since.
    fn enter(&self, state: u32) -> bool {
        self.state.compare_exchange(state, state + 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn publish(&self, job: Job) -> Open<'_> {
        let state = self.state.load(Ordering::Acquire);
        debug_assert_eq!(state & (OPEN | INSIDE), 0, "one job at a time");
        self.next.store(0, Ordering::Relaxed);
        // SAFETY: the caller leads, the job is closed and nobody is inside.
        unsafe { *self.job.get() = Some(job) };
        self.state.store(state.wrapping_add(GENERATION) | OPEN, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            self.wake_all();
        }
        Open(self)
    }

    fn wake_all(&self) {
        drop(self.sleep.lock().unwrap_or_else(PoisonError::into_inner));
        self.wake.notify_all();
    }

    fn take_pieces(&self, job: &Job, work: Work) {
        let after = |first: usize| {
            let left = job.items - first;
            (left > 0).then(|| first + (left / job.parts).max(job.items.div_ceil(SMALLEST)).min(left))
        };
        while let Ok(first) = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after) {
            work(first..after(first).unwrap_or(job.items));
        }
    }

    fn wait_until_empty(&self) {
        for round in 0..PATIENCE {
            for _ in 0..SPINS {
                if self.state.load(Ordering::Acquire) & INSIDE == 0 {
                    return;
                }
                std::hint::spin_loop();
            }
            if round > 0 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
        // Its work may still be read from this thread's stack, so there is no going on.
        std::process::abort();
    }
}

/// A job that others may enter. Dropping it closes it, and waits for who is inside.
struct Open<'a>(&'a Pool);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.state.fetch_and(!OPEN, Ordering::AcqRel);
        self.0.wait_until_empty();
    }
}

/// A thread's being inside a job.
struct Inside;

impl Drop for Inside {
    fn drop(&mut self) {
        if std::thread::panicking() {
            POOL.failed.store(true, Ordering::SeqCst);
        }
        POOL.state.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_once_whatever_the_threads() {
        start(3);
        for round in 0..20_000usize {
            let items = round % 97;
            let counts: Vec<AtomicU32> = (0..items).map(|_| AtomicU32::new(0)).collect();
            share(items, &|range| {
                for item in range {
                    counts[item].fetch_add(1, Ordering::Relaxed);
                }
            });
            assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1), "round {round}");
        }
    }

    #[test]
    fn threads_that_fell_asleep_come_back() {
        start(2);
        for _ in 0..20 {
            std::thread::sleep(std::time::Duration::from_millis(5));
            let total = AtomicUsize::new(0);
            share(1000, &|range| {
                total.fetch_add(range.len(), Ordering::Relaxed);
            });
            assert_eq!(total.into_inner(), 1000);
        }
    }

    #[test]
    fn several_leaders_at_once_all_get_their_work_done() {
        start(2);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for items in 0..500 {
                        let total = AtomicUsize::new(0);
                        share(items, &|range| {
                            total.fetch_add(range.len(), Ordering::Relaxed);
                        });
                        assert_eq!(total.into_inner(), items);
                    }
                });
            }
        });
    }
}
