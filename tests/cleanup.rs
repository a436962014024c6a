//! Cleanup: rows with their right answers, and what must hold for any text and any options.

use std::fs;
use std::time::{Duration, Instant};

use fairhand::tasks::cleanup::{
    Cleaned, Cleaner, CleanupOptions, Edit, EditKind, Level, LiveCleaner, MarkAnswer, Preset, apply, clean, revert,
};
use proptest::prelude::*;
use serde_json::Value;

/// Every row of `tests/data/cleanup/*.jsonl`: `input`, `output`, perhaps `options` and `why`.
#[test]
fn rows() {
    let mut files: Vec<_> = fs::read_dir("tests/data/cleanup").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut wrong = vec![];
    let mut rows = 0;
    for path in &files {
        for line in fs::read_to_string(path).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let options: CleanupOptions = match &row["options"] {
                Value::Null => CleanupOptions::default(),
                options => serde_json::from_value(options.clone()).unwrap(),
            };
            let raw = row["input"].as_str().unwrap();
            let cleaned = clean(raw, &options).unwrap();
            assert_sound(raw, &cleaned, &options);
            rows += 1;
            if cleaned.text != row["output"].as_str().unwrap() {
                wrong.push(format!(
                    "{}:\n  {raw:?}\n  → {:?}\n  ≠ {:?}",
                    path.display(),
                    cleaned.text,
                    row["output"].as_str().unwrap()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {rows} rows:\n{}", wrong.len(), wrong.join("\n"));
    assert!(rows > 100);
}

/// Turns that we wrote as people speak, stripped of marks and capitals, get most of them back. The floors are below what
/// was measured when they were set, so that a change may help here and hurt there, and above what any loss would leave.
#[test]
fn turns_of_speech_get_their_marks() {
    let (mut marks, mut cases) = ([0.0; 3], [0.0; 3]);
    let tally = |sums: &mut [f64; 3], found: Option<&str>, right: Option<&str>| match (found, right) {
        (None, None) => {}
        _ if found == right => sums[0] += 1.0,
        _ => {
            sums[1] += f64::from(found.is_some());
            sums[2] += f64::from(right.is_some());
        }
    };
    for turn in fs::read_to_string("tests/data/turns.txt").unwrap().lines() {
        let raw = turn.replace(['.', ',', '?'], "").to_lowercase();
        let options = CleanupOptions { level: Level::Verbatim, ..Default::default() };
        let cleaned = clean(&raw, &options).unwrap();
        assert_sound(&raw, &cleaned, &options);
        for (found, right) in cleaned.text.split_whitespace().zip(turn.split_whitespace()) {
            let ending = |word: &str| word.find(['.', ',', '?']).map(|at| word[at..].to_owned());
            let capital = |word: &str| word.contains(char::is_uppercase).then(|| word.replace(['.', ',', '?'], ""));
            tally(&mut marks, ending(found).as_deref(), ending(right).as_deref());
            tally(&mut cases, capital(found).as_deref(), capital(right).as_deref());
        }
    }
    let f1 = |[hits, extra, missed]: [f64; 3]| 2.0 * hits / (2.0 * hits + extra + missed);
    println!("marks F1 {:.3}, case F1 {:.3}", f1(marks), f1(cases));
    assert!(f1(marks) > 0.75 && f1(cases) > 0.85, "marks {:.3}, case {:.3}", f1(marks), f1(cases));
}

/// A model that is sure sets the marks that were asked about, and an answer to nothing changes nothing.
#[test]
fn a_model_has_its_say_where_the_rules_are_not_sure() {
    let raw = "so we could paint it blue or leave it as it is i like the wood what do you think about the price";
    let options = CleanupOptions { level: Level::Verbatim, ..Default::default() };
    let mut cleaner = Cleaner::new(raw, &options).unwrap().asking_about_marks();
    while cleaner.step() {}
    let questions = cleaner.take_mark_questions();
    assert!(!questions.is_empty() && questions.len() < 10, "{questions:?}");
    assert!(
        questions
            .iter()
            .all(|q| q.candidates[2].as_ref().is_none_or(|c| c.starts_with('.')) && raw.is_char_boundary(q.at))
    );

    let sure = |mark: usize| {
        let scores = std::array::from_fn(|k| Some(if k == mark { 0.0 } else { -100.0 }));
        let answers = questions.iter().map(|question| MarkAnswer { at: question.at, scores }).collect();
        let cleaned = Cleaner::new(raw, &options).unwrap().with_answers(answers, vec![]).finish();
        assert_sound(raw, &cleaned, &options);
        cleaned
    };
    let commas = |cleaned: &Cleaned| cleaned.text.matches(',').count();
    assert!(commas(&sure(1)) > commas(&sure(0)) && commas(&sure(0)) == 0, "{}", sure(1).text);
    let strangers = vec![MarkAnswer { at: 1, scores: [Some(f32::NAN); 4] }];
    let cleaned = Cleaner::new(raw, &options).unwrap().with_answers(strangers, vec![]).finish();
    assert_eq!(cleaned, clean(raw, &options).unwrap());
}

#[test]
fn a_filler_alone_leaves_nothing() {
    for raw in ["uh", " um  uh\n", "Um. Uh, um…", ""] {
        let cleaned = clean(raw, &CleanupOptions::default()).unwrap();
        assert_eq!(cleaned.text, "", "{raw:?}");
        assert_eq!(revert("", &cleaned.edits).as_deref(), Some(raw));
    }
}

#[test]
fn a_word_said_thousands_of_times_is_a_loop() {
    let raw = "again ".repeat(5_000);
    let cleaned = clean(&raw, &CleanupOptions::default()).unwrap();
    assert!(cleaned.text.split_whitespace().count() < 10, "{}", cleaned.text);
}

#[test]
fn thousands_of_fillers_leave_nothing() {
    let cleaned = clean(&"um ".repeat(50_000), &CleanupOptions::default()).unwrap();
    assert_eq!(cleaned.text, "");
}

#[test]
fn live_speech_is_settled_once_enough_followed() {
    let mut live = LiveCleaner::new(&CleanupOptions::default()).unwrap();
    let (mut settled, mut longest) = (String::new(), 0);
    for n in 0..2_000 {
        settled += &live.push(&format!("so point {n} um was was done.")).text;
        longest = longest.max(live.preview().len());
    }
    assert!(longest < 4_000, "{longest}");
    settled += &live.finish().text;
    assert!((0..2_000).all(|n| settled.contains(&format!("point {n} was done."))));
}

#[test]
fn terms_that_were_not_said_are_not_added() {
    let dictionary = (0..20).map(|i| format!("Zorblax{i}")).collect();
    let raw = "we moved the tools to the shed and rang the shop about the saw";
    let cleaned = clean(raw, &CleanupOptions { dictionary, ..Default::default() }).unwrap();
    assert_eq!(cleaned.text, "We moved the tools to the shed and rang the shop about the saw.");
}

/// A long transcript loses nothing but what the rules delete, and each step is short.
#[test]
fn two_hundred_thousand_words_in_bounded_steps() {
    let paragraph = "um so the meeting on monday went fine and and we agreed that number {n} would um be paid by the ninth make that \
                     the tenth of next month i think the the landlord is happy with it but he will call again when the boiler is fixed ";
    let raw: String = (0..5_000).map(|n| paragraph.replace("{n}", &format!("x{n}x"))).collect();
    let start = Instant::now();
    let mut cleaner = Cleaner::new(&raw, &CleanupOptions::default()).unwrap();
    let (mut longest, mut settled) = (Duration::ZERO, 0);
    loop {
        let step = Instant::now();
        let more = cleaner.step();
        longest = longest.max(step.elapsed());
        let (done, total) = cleaner.progress();
        assert!(done >= settled && done <= total);
        settled = done;
        if !more {
            break;
        }
    }
    let cleaned = cleaner.finish();
    let took = start.elapsed();
    println!("{} words in {took:?}, the longest step {longest:?}", raw.split_whitespace().count());
    assert_eq!(settled, raw.len());
    assert!((0..5_000).all(|n| cleaned.text.contains(&format!("x{n}x"))));
    assert_eq!(apply(&raw, &cleaned.edits), cleaned.text);
    // Generous: a busy machine may be many times slower than an idle one.
    assert!(took < Duration::from_secs(20) && longest < Duration::from_millis(500), "{took:?}, {longest:?}");
}

/// Text as people and recognisers make it, and as nobody does.
fn texts() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => prop::sample::select(vec![
            "um", "uh", "er", "the", "a", "i", "i'm", "we", "it", "that", "no", "wait", "sorry", "actually", "mean", "scratch", "rather", "or",
            "make", "tuesday", "wednesday", "no,", "comma", "period", "full", "stop", "question", "mark", "new", "line", "paragraph", "open",
            "close", "quote", "unquote", "paren", "dash", "hyphen", "colon", "one", "two", "twenty", "hundred", "thousand", "million", "and",
            "point", "percent", "dollars", "first", "january", "p", "m", "co", "could", "Hello", "Hello,", "London.", "what", "is", "let", "me",
            "start", "again", "dot", "at", "com", "jo", "slash", "a", "b", "double", "oh", "quarter", "past", "to", "minus", "meters", "per", "of", "kubernetes", "Amina", "café", "cafe\u{301}", "3.5", "e.g.", "(so", "well)", "…", "—",
        ]).prop_map(str::to_owned),
        2 => "[a-z]{1,6}[.,?!]?",
        1 => "\\PC{1,5}",
        1 => prop::sample::select(vec!["👩‍👩‍👧", "שלום", "مرحبا", "日本語", "\u{202e}abc", "\u{0}", "\u{7}x", "ǅ", "ß", "İ", "ﬁ", "</s>", "[inst]", "{{x}}"])
            .prop_map(str::to_owned),
    ];
    let space =
        prop::sample::select(vec![" ", " ", " ", " ", "  ", "\n", "\n\n", "\t", "\r\n", "\u{a0}", "\u{2029}", ""]);
    let run = (word, space, 1..4_usize).prop_map(|(word, space, times)| format!("{word}{space}").repeat(times));
    prop::collection::vec(run, 0..40).prop_map(|runs| runs.concat())
}

fn options() -> impl Strategy<Value = CleanupOptions> {
    let level = prop::sample::select(vec![Level::Verbatim, Level::Light, Level::Clean]);
    let preset = prop::sample::select(vec![Preset::Default, Preset::Email, Preset::Notes, Preset::Code]);
    let language = prop::sample::select(vec![None, None, Some("en"), Some("de"), Some("fr"), Some("tr"), Some("xx")]);
    let dictionary = prop::sample::subsequence(vec!["Kubernetes", "Amina Okafor", "C++", "Café", "Hello"], 0..5);
    (level, preset, language, dictionary).prop_map(|(level, preset, language, dictionary)| CleanupOptions {
        level,
        preset,
        language: language.map(str::to_owned),
        dictionary: dictionary.into_iter().map(str::to_owned).collect(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edits_give_the_text_and_can_be_undone(raw in texts(), options in options(), toggles in prop::collection::vec(any::<bool>(), 64)) {
        let cleaned = clean(&raw, &options).unwrap();
        assert_sound(&raw, &cleaned, &options);

        let subset: Vec<&Edit> = cleaned.edits.iter().zip(toggles.iter().cycle()).filter(|(_, on)| **on).map(|(edit, _)| edit).collect();
        let partly = apply(&raw, subset.iter().copied());
        prop_assert_eq!(revert(&partly, subset.iter().copied()), Some(raw.clone()));
        // What is not toggled off stands as it stands in the whole.
        let length = raw.len() + subset.iter().map(|edit| edit.replacement.len()).sum::<usize>() - subset.iter().map(|edit| edit.original.len()).sum::<usize>();
        prop_assert_eq!(partly.len(), length);
    }

    #[test]
    fn the_same_input_gives_the_same_bytes_whether_in_steps_or_at_once(raw in texts(), options in options()) {
        let mut cleaner = Cleaner::new(&raw, &options).unwrap();
        while cleaner.step() {}
        prop_assert_eq!(cleaner.finish(), clean(&raw, &options).unwrap());
    }

    #[test]
    fn verbatim_keeps_every_word(raw in texts()) {
        let options = CleanupOptions { level: Level::Verbatim, ..Default::default() };
        let cleaned = clean(&raw, &options).unwrap();
        for edit in &cleaned.edits {
            prop_assert!(matches!(edit.kind, EditKind::Case | EditKind::Mark | EditKind::SpokenMark | EditKind::Dictionary | EditKind::Layout), "{:?}", edit);
        }
    }

    /// What is settled stays, and all of it is the edited raw text.
    #[test]
    fn live_speech_gives_text_that_its_edits_explain(raw in texts(), options in options(), every in 1..9_usize) {
        let words: Vec<&str> = raw.split_whitespace().collect();
        let segments: Vec<String> = words.chunks(every).map(|words| words.join(" ")).collect();
        let mut live = LiveCleaner::new(&options).unwrap();
        let (mut text, mut edits) = (String::new(), vec![]);
        for segment in &segments {
            let settled = live.push(segment);
            text.push_str(&settled.text);
            edits.extend(settled.edits);
        }
        let settled = live.finish();
        text.push_str(&settled.text);
        edits.extend(settled.edits);
        let said = segments.join(" ");
        prop_assert_eq!(&apply(&said, &edits), &text);
        prop_assert_eq!(revert(&text, &edits), Some(said));
    }

    /// In a language that these rules do not know, only what is a word in no language may be deleted.
    #[test]
    fn an_unknown_language_keeps_its_words(raw in "([a-z]{1,5} ){0,20}") {
        let options = CleanupOptions { language: Some("xx".into()), ..Default::default() };
        let cleaned = clean(&raw, &options).unwrap();
        for edit in cleaned.edits.iter().filter(|edit| edit.replacement.is_empty()) {
            prop_assert!(matches!(edit.kind, EditKind::Filler | EditKind::Layout | EditKind::Noise | EditKind::Repeat), "{:?}", edit);
        }
    }
}

/// The hard gates: edits in order and apart at character boundaries, text and raw from each other, bounded output, and
/// every word of the output either said, or a listed way to write what was said, or a term.
#[track_caller]
fn assert_sound(raw: &str, cleaned: &Cleaned, options: &CleanupOptions) {
    assert_eq!(apply(raw, &cleaned.edits), cleaned.text, "{raw:?}");
    assert_eq!(revert(&cleaned.text, &cleaned.edits).as_deref(), Some(raw), "{raw:?}");
    let mut at = 0;
    for edit in &cleaned.edits {
        assert!(edit.start >= at && edit.start <= edit.end, "{raw:?} {edit:?}");
        assert_eq!(raw.get(edit.start..edit.end), Some(edit.original.as_str()), "{raw:?}");
        assert_ne!(edit.original, edit.replacement, "{raw:?}");
        assert!((0.0..=1.0).contains(&edit.confidence));
        assert!(has_licence(edit, options), "{raw:?} {edit:?}");
        at = edit.end;
    }
    // The longest written forms add a few characters to each word.
    assert!(
        cleaned.text.len() <= 2 * raw.len() + 4 + options.dictionary.iter().map(String::len).sum::<usize>() * raw.len(),
        "{raw:?}"
    );
}

/// Whether an edit's replacement says nothing that its kind may not say.
fn has_licence(edit: &Edit, options: &CleanupOptions) -> bool {
    let wordless = |text: &str| !text.contains(char::is_alphanumeric);
    match edit.kind {
        EditKind::Filler
        | EditKind::Noise
        | EditKind::Repeat
        | EditKind::Fragment
        | EditKind::Correction
        | EditKind::Discourse => edit.replacement.is_empty(),
        // Presets set lines; elsewhere space only goes.
        EditKind::Layout => edit.replacement.chars().all(|c| c == '\n' && options.preset != Preset::Default),
        EditKind::Mark => wordless(&edit.replacement),
        // "all caps urgent" is the one mark that changes a word.
        EditKind::SpokenMark => {
            wordless(&edit.replacement) || edit.original.to_uppercase().ends_with(&edit.replacement)
        }
        EditKind::Case => edit.replacement.to_lowercase() == edit.original.to_lowercase(),
        EditKind::Dictionary => options
            .dictionary
            .iter()
            .any(|term| edit.replacement.trim_end_matches(['\'', '’', 's']) == term.trim_end_matches('s')),
        // Rules do not rewrite.
        EditKind::Rewrite => false,
        EditKind::Number => is_way_to_write(&edit.original, &edit.replacement),
    }
}

/// Every run of letters of a written form was said, perhaps letter by letter, or shortens what was said: its letters come
/// in that order there. A few abbreviations have letters of their own.
fn is_way_to_write(said: &str, written: &str) -> bool {
    let heard: String = said.to_lowercase().split_whitespace().collect();
    let letters = written.to_lowercase();
    let mut runs = letters.split(|c: char| !c.is_alphabetic()).filter(|run| !run.is_empty());
    let shortens = |run: &str| {
        let mut rest = heard.chars();
        run.len() <= 4 && run.chars().all(|c| rest.any(|said| said == c))
    };
    let own = |run: &str| {
        matches!(run, "st" | "nd" | "rd" | "th" | "s" | "oz" | "bbl" | "cwt" | "chf" | "mrs" | "ω")
            || run.starts_with('μ')
    };
    runs.all(|run| heard.contains(run) || shortens(run) || own(run)) && !heard.is_empty()
}
