//! What the rules propose for tasks and tags, measured on rows of data.

#[path = "proposals/extract.rs"]
mod extract;
#[path = "proposals/tag.rs"]
mod tag;
