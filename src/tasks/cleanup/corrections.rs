//! What a speaker takes back, where a marker says so.

use super::draft::{Draft, Proposal};

/// Proposes to delete what was taken back, with the marker.
pub(super) fn propose(_draft: &Draft) -> Vec<Proposal> {
    vec![]
}
