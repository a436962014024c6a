//! The fitted table: a name and a weight a line.

use std::collections::HashMap;
use std::sync::LazyLock;

static WEIGHTS: LazyLock<HashMap<&'static str, f32>> = LazyLock::new(|| {
    let lines = include_str!("weights.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once('\t'))
        .filter_map(|(weight, name)| Some((name, weight.parse().ok()?)))
        .collect()
});

/// The weight of a piece of evidence; 0 where the table has none.
pub(super) fn of(name: &str) -> f32 {
    WEIGHTS.get(name).copied().unwrap_or(0.0)
}
