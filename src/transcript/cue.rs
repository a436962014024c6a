//! What SubRip and WebVTT share: times, mark-up, speakers, rolling captions.

use super::NoticeKind;
use super::builder::{Builder, Piece, PieceWord};

/// A cue as it stands in the file.
#[derive(Debug, Default)]
pub(super) struct Cue<'a> {
    /// The line of its times, from 1; of a text that belongs to no cue its first line.
    pub line: usize,
    /// None where the file has a time that cannot be read, or no time at all.
    pub start_time: Option<f64>,
    pub end_time: Option<f64>,
    /// Its lines of text, with their numbers.
    pub text: Vec<(usize, &'a str)>,
}

impl Cue<'_> {
    /// The cue that a line of times such as `00:01:02,500 --> 00:01:04,000 align:start` begins, at line `line`; none for
    /// another line. A time that cannot be read is noticed and left open: the words count more.
    pub fn begin(text: &str, line: usize, builder: &mut Builder) -> Option<Self> {
        let (start, rest) = sides(text)?;
        let (start_time, end_time) = (seconds(start), seconds(rest.split_whitespace().next().unwrap_or_default()));
        if start_time.is_none() || end_time.is_none() {
            builder.notice(Some(line), NoticeKind::UnreadableTime);
        }
        Some(Self { line, start_time, end_time, text: vec![] })
    }
}

/// The arrows between two times: the right one, and what people and word processors make of it.
const ARROWS: [&str; 8] = ["-->", "--&gt;", "- ->", "->", "–>", "—>", "=>", "→"];

/// What stands before and after the arrow of a line of times.
fn sides(text: &str) -> Option<(&str, &str)> {
    let (start, end) = ARROWS.iter().find_map(|arrow| text.split_once(arrow))?;
    let (start, end) = (start.trim(), end.trim());
    // Words may have an arrow between them too.
    let is_clock = |side: &str| side.starts_with(|c: char| c.is_ascii_digit() || c == '-') && side.contains(':');
    (is_clock(start) || is_clock(end)).then_some((start, end))
}

/// Whether a line is one of times, readable or not.
pub(super) fn is_times(line: &str) -> bool {
    sides(line).is_some()
}

/// Seconds of `MM:SS.mmm` or `HH:MM:SS,mmm`.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let (clock, fraction) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    let number = |digits: &str, most: usize| {
        let sound = (1..=most).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        sound.then(|| digits.parse::<u32>().ok()).flatten()
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let (hours, minutes, seconds) = match parts[..] {
        [minutes, seconds] => (0, number(minutes, 2)?, number(seconds, 2)?),
        [hours, minutes, seconds] => (number(hours, 6)?, number(minutes, 2)?, number(seconds, 2)?),
        _ => return None,
    };
    let thousandths = f64::from(number(fraction, 9)?) / 10_f64.powi(i32::try_from(fraction.len()).ok()?);
    (minutes < 60 && seconds < 60)
        .then(|| f64::from(hours) * 3600.0 + f64::from(minutes) * 60.0 + f64::from(seconds) + thousandths)
}

/// Adds `cues` to `builder`, without the lines that rolling captions show again.
pub(super) fn push_all(builder: &mut Builder, cues: &[Cue]) {
    let rolling = is_rolling(cues);
    let mut shown: Vec<String> = vec![];
    for cue in cues {
        let lines: Vec<(usize, &str, String)> =
            cue.text.iter().map(|&(n, line)| (n, line, plain(line))).filter(|(.., plain)| !plain.is_empty()).collect();
        let repeated = if rolling { overlap(&shown, &lines) } else { 0 };
        for (number, ..) in &lines[..repeated] {
            builder.notice(Some(*number), NoticeKind::RepeatedLine);
        }
        if repeated == 0 || repeated < lines.len() {
            let text: Vec<&str> = lines[repeated..].iter().map(|(_, line, _)| *line).collect();
            push(builder, cue, &text.join("\n"));
        }
        if !lines.is_empty() {
            shown = lines.into_iter().map(|(.., plain)| plain).collect();
        }
    }
}

/// Adds one cue: a segment for each voice in it.
fn push(builder: &mut Builder, cue: &Cue, markup: &str) {
    let mut pieces = read_markup(markup, cue);
    for piece in &mut pieces {
        if piece.speaker.is_none()
            && let Some((speaker, rest)) = labelled(&piece.text)
        {
            (piece.speaker, piece.text) = (Some(speaker), rest);
        }
    }
    for piece in pieces {
        builder.push(Some(cue.line), piece);
    }
}

/// How many lines at the head of `lines` were shown at the tail of the cue before.
fn overlap(shown: &[String], lines: &[(usize, &str, String)]) -> usize {
    let most = shown.len().min(lines.len());
    (1..=most).rev().find(|&n| shown[shown.len() - n..].iter().zip(lines).all(|(a, (.., b))| a == b)).unwrap_or(0)
}

/// Whether the captions roll: time and again a cue of two or more lines begins with the last line of the one before.
fn is_rolling(cues: &[Cue]) -> bool {
    let ends = |cue: &Cue| {
        let lines: Vec<String> = cue.text.iter().map(|(_, line)| plain(line)).filter(|line| !line.is_empty()).collect();
        (lines.len(), lines.first().cloned(), lines.last().cloned())
    };
    let ends: Vec<_> = cues.iter().map(ends).collect();
    let rolled = ends.windows(2).filter(|pair| pair[1].0 > 1 && pair[1].1.is_some() && pair[1].1 == pair[0].2).count();
    rolled >= 2 && rolled * 4 >= cues.len()
}

/// A line without mark-up, for comparing.
fn plain(line: &str) -> String {
    let parts: String =
        tokens(line).filter_map(|token| if let Token::Text(text) = token { Some(text) } else { None }).collect();
    parts.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of a cue, cut where another voice begins, with the words that time stamps set off.
fn read_markup(markup: &str, cue: &Cue) -> Vec<Piece> {
    let fresh = |speaker: Option<String>| Piece {
        start_time: cue.start_time,
        end_time: cue.end_time,
        speaker,
        ..Piece::default()
    };
    let mut pieces = vec![fresh(None)];
    let mut stamp: Option<f64> = None;
    for token in tokens(markup) {
        let Some(piece) = pieces.last_mut() else { break };
        match token {
            Token::Text(text) => {
                if let Some(start) = stamp.filter(|_| !text.trim().is_empty()) {
                    piece.words.push(PieceWord {
                        text: text.trim().to_owned(),
                        start_time: Some(start),
                        end_time: cue.end_time,
                    });
                }
                piece.text.push_str(&text);
            }
            Token::Stamp(at) => {
                if let Some(word) = piece.words.last_mut() {
                    word.end_time = Some(at);
                } else if !piece.text.trim().is_empty() {
                    // What stands before the first stamp begins with the cue.
                    let text = piece.text.trim().to_owned();
                    piece.words.push(PieceWord { text, start_time: cue.start_time, end_time: Some(at) });
                }
                stamp = Some(at);
            }
            Token::Voice(name) if piece.text.trim().is_empty() => *piece = fresh(Some(name)),
            Token::Voice(name) => pieces.push(fresh(Some(name))),
            Token::VoiceEnd if !piece.text.trim().is_empty() => pieces.push(fresh(None)),
            Token::VoiceEnd => {}
        }
    }
    if pieces.len() > 1 {
        pieces.retain(|piece| !piece.text.trim().is_empty());
    }
    pieces
}

enum Token {
    Text(String),
    /// `<00:00:01.000>`
    Stamp(f64),
    /// `<v Name>`
    Voice(String),
    /// `</v>`
    VoiceEnd,
}

/// A line's text and the mark-up that says something; the rest of the mark-up is passed over. What only looks like
/// mark-up ("a < b") is text.
fn tokens(text: &str) -> impl Iterator<Item = Token> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            if rest.is_empty() {
                return None;
            }
            if let Some((tag, after)) = leading_tag(rest) {
                rest = after;
                if let Some(at) = seconds(tag) {
                    return Some(Token::Stamp(at));
                }
                if tag == "/v" {
                    return Some(Token::VoiceEnd);
                }
                if let Some(name) = voice(tag) {
                    return Some(Token::Voice(name));
                }
                continue;
            }
            // At least one character is text, whatever it is.
            let first = rest.chars().next().map_or(0, char::len_utf8);
            let end = rest[first..]
                .char_indices()
                .map(|(i, _)| first + i)
                .find(|&i| leading_tag(&rest[i..]).is_some())
                .unwrap_or(rest.len());
            let (text, after) = rest.split_at(end);
            rest = after;
            return Some(Token::Text(unescape(text)));
        }
    })
}

/// The longest tag that is read as one.
const MAX_TAG_BYTES: usize = 300;

/// The inside of the tag that `text` begins with, and what follows: `<…>`, or `{\…}` of styled SubRip.
fn leading_tag(text: &str) -> Option<(&str, &str)> {
    let (inside, close) = if let Some(inside) = text.strip_prefix('<') {
        let named = inside.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/');
        (Some(inside).filter(|_| named)?, '>')
    } else {
        (text.strip_prefix('{').filter(|inside| inside.starts_with('\\'))?, '}')
    };
    let end = inside.bytes().take(MAX_TAG_BYTES).position(|b| b == close as u8)?;
    let (tag, after) = (&inside[..end], &inside[end + 1..]);
    is_tag(tag).then_some((tag, after))
}

/// Whether the inside of `<…>` or `{…}` is mark-up that captions use.
fn is_tag(tag: &str) -> bool {
    let name = tag.trim_start_matches('/').split([' ', '.', '\t', '\n']).next().unwrap_or_default();
    tag.starts_with('\\')
        || seconds(tag).is_some()
        || matches!(
            name.to_ascii_lowercase().as_str(),
            "v" | "c" | "i" | "b" | "u" | "s" | "font" | "ruby" | "rt" | "lang" | "span" | "br" | "br/"
        )
}

fn voice(tag: &str) -> Option<String> {
    let rest = tag.strip_prefix('v')?;
    let (classes, name) = rest.split_once([' ', '\t'])?;
    let name = unescape(name.trim());
    ((classes.is_empty() || classes.starts_with('.')) && !name.is_empty()).then_some(name)
}

/// A speaker's label before the text: `[SPEAKER_00]: …`, `Speaker 1: …`, `(speaker 0) …`.
pub(super) fn labelled(text: &str) -> Option<(String, String)> {
    let text = text.trim_start();
    let (label, rest) = if let Some(inside) = text.strip_prefix('[') {
        inside.split_once("]:")?
    } else if let Some(inside) = text.strip_prefix("(speaker ") {
        let (number, rest) = inside.split_once(')')?;
        let known = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'?');
        return known.then(|| (format!("speaker {number}"), rest.trim_start().to_owned()));
    } else {
        text.split_once(':').filter(|(label, _)| is_numbered_speaker(label))?
    };
    let label = label.trim();
    let sound = !label.is_empty() && label.len() <= 60 && !label.contains(['\n', '[', ']']);
    sound.then(|| (label.to_owned(), rest.trim_start().to_owned()))
}

fn is_numbered_speaker(label: &str) -> bool {
    let lower = label.to_ascii_lowercase();
    let number = lower.strip_prefix("speaker").map(|rest| rest.trim_start_matches(['_', ' ']));
    number.is_some_and(|number| (1..=3).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// `text` with the character references of HTML that captions use in their place.
fn unescape(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let inside = &rest[at + 1..];
        let reference = inside
            .bytes()
            .take(10)
            .position(|b| b == b';')
            .and_then(|end| Some((character(&inside[..end])?, &inside[end + 1..])));
        let (c, after) = reference.unwrap_or(('&', inside));
        out.push(c);
        rest = after;
    }
    out.push_str(rest);
    out
}

fn character(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        "lrm" => '\u{200e}',
        "rlm" => '\u{200f}',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_times() {
        let table = [
            ("00:01.500", Some(1.5)),
            ("01:02:03,250", Some(3723.25)),
            ("100:00:00.000", Some(360_000.0)),
            ("00:61.000", None),
            ("1:2", Some(62.0)),
            ("00:00:00,", None),
            ("-1:00", None),
            ("00:00:0x", None),
        ];
        for (text, expected) in table {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }

    #[test]
    fn lines_of_times() {
        let table = [
            ("00:00:01,000 --> 00:00:02,000", Some((Some(1.0), Some(2.0)))),
            ("00:01.000 -> 00:02.000 align:start", Some((Some(1.0), Some(2.0)))),
            ("00:00:01,000 → 00:00:02,000", Some((Some(1.0), Some(2.0)))),
            ("00:00:99,000 --> 00:00:04,000", Some((None, Some(4.0)))),
            ("00:01.000 --> soon", Some((Some(1.0), None))),
            ("00:01.000 -->", Some((Some(1.0), None))),
            ("-00:01.000 --> 00:01.000", Some((None, Some(1.0)))),
            ("from here --> to there", None),
            ("10 --> 20", None),
            ("00:01.000", None),
        ];
        for (line, expected) in table {
            let cue = Cue::begin(line, 1, &mut Builder::default());
            assert_eq!(cue.map(|cue| (cue.start_time, cue.end_time)), expected, "{line}");
        }
    }

    #[test]
    fn markup_goes_and_what_only_looks_like_it_stays() {
        let table = [
            ("<i>so</i> we <b>go</b>", "so we go"),
            ("a < b and c > d", "a < b and c > d"),
            ("tom &amp; jo &lt;3 &#233; &bogus; &", "tom & jo <3 é &bogus; &"),
            ("{\\an8}up here {really}", "up here {really}"),
            ("<c.yellow>bright</c> <font color=\"red\">red</font>", "bright red"),
            ("vec<int> x", "vec<int> x"),
        ];
        for (markup, expected) in table {
            assert_eq!(plain(markup), expected);
        }
    }

    #[test]
    fn labels_of_speakers() {
        assert_eq!(labelled("[SPEAKER_01]: hello"), Some(("SPEAKER_01".into(), "hello".into())));
        assert_eq!(labelled("Speaker 2: hello"), Some(("Speaker 2".into(), "hello".into())));
        assert_eq!(labelled("(speaker 0) hello"), Some(("speaker 0".into(), "hello".into())));
        assert_eq!(labelled("system: you are"), None);
        assert_eq!(labelled("[music] hello"), None);
    }
}
