//! Every file of `tests/data/transcript` against the golden file beside it. A name that begins with `err_` is the
//! verdict: the file is refused, and the golden file holds the error's code and detail.
//!
//! After a change that is meant, `FAIRHAND_BLESS=1 cargo test --test transcript` writes the golden files anew: look at
//! the difference.

use std::fs;
use std::path::{Path, PathBuf};

use fairhand::ErrorKind;
use fairhand::transcript::Transcript;
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn files_read_as_their_golden_files_say() {
    let mut files: Vec<PathBuf> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| !path.to_string_lossy().ends_with(".golden.json"));
    files.sort();
    assert!(files.len() > 30, "the fixtures are missing");
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let read = Transcript::read(&fs::read(&path).unwrap(), Some(name));
        assert_eq!(read.is_err(), name.starts_with("err_"), "{name}: {read:?}");
        let value = match &read {
            Ok(transcript) => {
                assert_sound(transcript);
                serde_json::to_value(transcript).unwrap()
            }
            Err(error) => json!({ "code": error.code(), "detail": error.detail() }),
        };
        check_golden(&path.with_file_name(format!("{name}.golden.json")), &value);
    }
}

#[test]
fn the_name_is_only_a_hint() {
    for name in ["rolling.vtt", "basic.srt", "whisperx.json"] {
        let bytes = fs::read(folder().join(name)).unwrap();
        assert_eq!(Transcript::read(&bytes, None), Transcript::read(&bytes, Some(name)), "{name}");
    }
}

#[test]
fn errors_hold_nothing_of_the_file() {
    for (file, name) in [
        ("secret\0words\n", "a.srt"),
        ("{\"secret\": \"secret\"", "a.json"),
        ("{\"text\": {\"secret\": 1}}", "a.json"),
        ("{\"a\": 1}\nsecret", "a.ndjson"),
    ] {
        let error = Transcript::read(file.as_bytes(), Some(name)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bytes under any name are read or refused, and what is read is sound.
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), name in "[a-z]{0,3}(\\.(srt|vtt|json|ndjson|txt))?") {
        if let Ok(transcript) = Transcript::read(&bytes, Some(&name)) {
            assert_sound(&transcript);
        }
    }

    /// SubRip whose lines are sound or not: every word of them is in the text.
    #[test]
    fn captions_lose_no_word(lines in prop::collection::vec("(word[0-9]{3}|00:0[0-9],000 --> 00:[0-9]{2},5|00:0x,1 -> 00:02,000|[0-9]|)", 0..20)) {
        let said: Vec<&str> = lines.iter().map(String::as_str).filter(|line| line.starts_with("word")).collect();
        let transcript = Transcript::read(lines.join("\n").as_bytes(), Some("a.srt")).unwrap();
        let found: Vec<&str> = transcript.text.split_whitespace().filter(|word| word.starts_with("word")).collect();
        prop_assert_eq!(&said, &found);
    }

    /// Text of captions' own characters is read or refused, and what is read is sound.
    #[test]
    fn any_captions(lines in prop::collection::vec("(WEBVTT|NOTE|[0-9]|00:0[0-9]\\.000 --> 00:0[0-9]\\.500|<v [a-z]>|</v>|<00:00:01\\.000>|&amp;|é|[a-z<>&{\\\\} ]{0,9}|){1,3}", 0..20)) {
        for name in ["a.srt", "a.vtt"] {
            let file = if name == "a.vtt" { format!("WEBVTT\n\n{}", lines.join("\n")) } else { lines.join("\n") };
            if let Ok(transcript) = Transcript::read(file.as_bytes(), Some(name)) {
                assert_sound(&transcript);
            }
        }
    }
}

/// Segments and words are stretches of the text, in order and apart.
#[track_caller]
fn assert_sound(transcript: &Transcript) {
    let mut at = 0;
    for segment in &transcript.segments {
        assert!(segment.start >= at && segment.start < segment.end);
        assert!(transcript.text.get(segment.start..segment.end).is_some());
        at = segment.start;
        for word in &segment.words {
            assert!(word.start >= at && word.start < word.end && word.end <= segment.end);
            assert!(transcript.text.get(word.start..word.end).is_some());
            at = word.end;
        }
        at = segment.end;
    }
}

#[track_caller]
fn check_golden(path: &Path, value: &Value) {
    if std::env::var_os("FAIRHAND_BLESS").is_some() {
        fs::write(path, serde_json::to_string_pretty(value).unwrap() + "\n").unwrap();
    }
    let golden: Value = serde_json::from_str(&fs::read_to_string(path).unwrap_or_default()).unwrap_or_default();
    assert_eq!(value, &golden, "{}", path.display());
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/transcript")
}
