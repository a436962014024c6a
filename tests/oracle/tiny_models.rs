//! Writes the tiny models of `tests/model_support/tiny.rs` as files, for `families.mjs` to run.
//!
//! `npm run cargo -- run --release --example tiny_models -- DIRECTORY`

#[path = "../model_support/tiny.rs"]
#[allow(dead_code)]
mod tiny;

use std::path::PathBuf;

fn main() {
    let directory = PathBuf::from(std::env::args().nth(1).expect("usage: tiny_models DIRECTORY"));
    for (name, model) in tiny::recorded() {
        std::fs::write(directory.join(format!("{name}.gguf")), model.whole_file())
            .expect("the directory can be written to");
    }
}
