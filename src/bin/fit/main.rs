//! Fits what cleanup has learnt from data.
//!
//! ```text
//! npm run fit -- marks   [FOLDER] --texts FOLDER [--words N] [--base FILE]
//! npm run fit -- repairs [FOLDER]
//! npm run fit -- judge   [FOLDER] --model FILE [--every N]
//! npm run fit -- witness [FOLDER] --base FILE --model FILE [--every N]
//! ```
//!
//! `marks`: the network that sets marks and tells names, into `src/tasks/cleanup/tagger/weights.bin`. It reads the
//! transcripts under `--texts` (see `corpus`), `N` words of them, then goes on with the rows of
//! `FOLDER/third-party/punctuation` and `FOLDER/own` and the notes of `dictated.txt`, whose style is the one wanted.
//! Before it does so with all of these, it prints what each fifth of them gets from the other four. `--base` names a file
//! for the network as the transcripts leave it: written when it is not there, and read instead of the transcripts when
//! it is.
//!
//! `repairs`: the weights of the evidence about what a speaker took back, into `src/tasks/cleanup/repairs/weights.txt`.
//!
//! `judge`: how much the word of the language model in the GGUF file `--model` weighs when it judges what was taken back.
//! It asks the model about every `N`th row of Disfl-QA and prints the numbers for `src/tasks/cleanup/repairs/mod.rs`.
//!
//! `witness`: how much the word of the language model in the GGUF file `--model` weighs beside the network's. It asks the
//! model about every `N`th row of `FOLDER/third-party/punctuation` and prints the numbers for
//! `src/tasks/cleanup/witness.rs`.
//!
//! The same texts give the same bytes.

mod asked;
mod corpus;
#[path = "../eval/distance.rs"]
pub mod distance;
mod judge;
#[path = "../../tasks/cleanup/tagger/matrix.rs"]
mod matrix;
mod network;
mod repairs;
#[path = "../../tasks/cleanup/tagger/shape.rs"]
mod shape;
mod store;
mod train;
mod witness;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use corpus::{Random, Row, Turn};
use shape::Layout;
use train::{Schedule, train};
use witness::{Known, Turns};

const WEIGHTS: &str = "src/tasks/cleanup/tagger/weights.bin";
/// Turns of speech that nothing was fitted to.
const FRESH: &str = include_str!("../../../tests/data/turns.txt");
const FOLDS: usize = 5;
/// Transcripts: one pass.
const READING: Schedule = Schedule { rate: 0.005, turns_per_step: 32, passes: 1 };
/// Rows: a few slow passes, so that the style changes and what was learnt stays.
const STYLE: Schedule = Schedule { rate: 0.0012, turns_per_step: 16, passes: 8 };

#[derive(Default)]
struct Arguments {
    what: String,
    folder: Option<PathBuf>,
    texts: Option<PathBuf>,
    words: Option<usize>,
    base: Option<PathBuf>,
    model: Option<PathBuf>,
    every: Option<usize>,
}

fn main() -> ExitCode {
    let done = arguments().and_then(|arguments| match arguments.what.as_str() {
        "marks" => fit_marks(&arguments),
        "repairs" => repairs::fit(arguments.folder.as_deref().unwrap_or(Path::new("../shared/data"))),
        "judge" => fit_judge(&arguments),
        "witness" => fit_witness(&arguments),
        _ => Err("say what to fit: marks, repairs, judge or witness".into()),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("fit: {why}");
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Result<Arguments, String> {
    let mut given = std::env::args().skip(1);
    let mut arguments = Arguments { what: given.next().unwrap_or_default(), ..Default::default() };
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{argument} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("{text} is no number"));
        match argument.as_str() {
            "--texts" => arguments.texts = Some(value()?.into()),
            "--base" => arguments.base = Some(value()?.into()),
            "--model" => arguments.model = Some(value()?.into()),
            "--words" => arguments.words = Some(number(value()?)?),
            "--every" => arguments.every = Some(number(value()?)?),
            folder => arguments.folder = Some(folder.into()),
        }
    }
    Ok(arguments)
}

/// The rows of real speech, and all turns whose style is wanted; the rows' come first.
fn wanted(folder: Option<&Path>) -> Result<(Vec<Row>, Vec<Turn>), String> {
    let folder = folder.unwrap_or(Path::new("../shared/data"));
    let real = corpus::rows(&folder.join("third-party/punctuation"))?;
    let own = corpus::rows(&folder.join("own"))?;
    let mut turns: Vec<Turn> = real.iter().chain(&own).map(Row::turn).collect();
    turns.extend(corpus::lines("dictated", include_str!("dictated.txt")));
    Ok((real, turns))
}

fn fit_marks(arguments: &Arguments) -> Result<(), String> {
    let (_, turns) = wanted(arguments.folder.as_deref())?;
    let layout = Layout::new();
    let base = match &arguments.base {
        Some(path) if path.exists() => store::read_exact(path, &layout)?,
        _ => {
            let texts = arguments.texts.as_ref().ok_or("--texts FOLDER is needed where there is no --base FILE")?;
            let turns = corpus::transcripts(texts, arguments.words.unwrap_or(8_000_000))?;
            let count: usize = turns.iter().map(|turn| turn.rows.len()).sum();
            println!("{} turns of transcripts, {count} words", turns.len());
            let mut parameters = network::random(&layout, &mut Random::new(1));
            train(&mut parameters, &layout, &turns, &READING);
            if let Some(path) = &arguments.base {
                store::write_exact(path, &parameters)?;
            }
            parameters
        }
    };
    report("transcripts alone", &base, &layout, &turns);

    let mut found = vec![];
    for (held, parameters) in folds(&base, &layout, &turns) {
        found.extend(held.iter().map(|&i| (turns[i].clone(), network::best(&parameters, &layout, &turns[i]))));
    }
    println!("cross-validation{}", corpus::scores(&found));

    let mut parameters = base;
    train(&mut parameters, &layout, &turns, &STYLE);
    report("turns that it has seen", &parameters, &layout, &turns);
    let bytes = store::quantise(&parameters, &layout);
    report("the same as bytes", &store::restore(&bytes, &layout), &layout, &turns);
    fs::write(WEIGHTS, &bytes).map_err(|why| format!("{WEIGHTS}: {why}"))?;
    println!("{WEIGHTS}: {} bytes", bytes.len());
    Ok(())
}

fn fit_judge(arguments: &Arguments) -> Result<(), String> {
    let model = arguments.model.as_deref().ok_or("judge needs --model FILE")?;
    let folder = arguments.folder.as_deref().unwrap_or(Path::new("../shared/data"));
    judge::fit(folder, model, arguments.every.unwrap_or(1))
}

fn fit_witness(arguments: &Arguments) -> Result<(), String> {
    let (Some(base), Some(model)) = (&arguments.base, &arguments.model) else {
        return Err("witness needs --base FILE and --model FILE".into());
    };
    let (rows, turns) = wanted(arguments.folder.as_deref())?;
    let layout = Layout::new();
    let base = store::read_exact(base, &layout)?;
    // What the network says of turns that it has not seen.
    let unknown = |turn: &Turn| Known { scores: vec![], marks: turn.marks.clone() };
    let mut known: Vec<Known> = turns.iter().map(unknown).collect();
    for (held, parameters) in folds(&base, &layout, &turns) {
        for i in held {
            known[i].scores = network::mark_scores(&parameters, &layout, &turns[i]);
        }
    }
    known.truncate(rows.len());
    let fitted = fs::read(WEIGHTS).map_err(|why| format!("{WEIGHTS}: {why}"))?;
    let fitted = store::restore(&fitted, &layout);
    let fresh = corpus::said("fresh", FRESH);
    let of_fresh = fresh.iter().map(|row| {
        let turn = row.turn();
        Known { scores: network::mark_scores(&fitted, &layout, &turn), marks: turn.marks }
    });
    let fresh = Turns { known: of_fresh.collect(), rows: fresh };
    witness::fit(&Turns { rows, known }, &fresh, model, arguments.every.unwrap_or(1))
}

/// For each fifth of `turns` its indices, and `base` fitted to the other four.
fn folds(base: &[f32], layout: &Layout, turns: &[Turn]) -> impl Iterator<Item = (Vec<usize>, Vec<f32>)> {
    (0..FOLDS).map(|fold| {
        let (held, given): (Vec<usize>, Vec<usize>) = (0..turns.len()).partition(|i| i % FOLDS == fold);
        let given: Vec<Turn> = given.into_iter().map(|i| turns[i].clone()).collect();
        let mut parameters = base.to_vec();
        train(&mut parameters, layout, &given, &STYLE);
        (held, parameters)
    })
}

fn report(title: &str, parameters: &[f32], layout: &Layout, turns: &[Turn]) {
    let found: Vec<_> = turns.iter().map(|turn| (turn.clone(), network::best(parameters, layout, turn))).collect();
    println!("{title}{}", corpus::scores(&found));
}
