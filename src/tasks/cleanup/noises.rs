//! Sounds that the recogniser describes in brackets: `[MUSIC]`, `(coughs)`, `*laughs*`, `♪`.

use super::draft::{Action, Draft, Proposal};
use super::edit::EditKind;
use super::lexicon::words;

/// The most words between two brackets.
const MAX_WORDS: usize = 4;

/// Proposes to delete descriptions of sounds. What was said and not understood, such as `[inaudible]`, stays.
pub(super) fn propose(draft: &Draft) -> Vec<Proposal> {
    let mut proposals = vec![];
    let mut i = 0;
    while i < draft.len() {
        let last = described(draft, i);
        if let Some(last) = last {
            proposals.push(Proposal {
                first: draft.at(i),
                last: draft.at(last),
                action: Action::Delete,
                kind: EditKind::Noise,
                confidence: 0.95,
            });
        }
        i = last.unwrap_or(i) + 1;
    }
    proposals
}

/// The last live word of the description that begins at live word `i`.
fn described(draft: &Draft, i: usize) -> Option<usize> {
    let word = draft.word(i);
    let chunk = |k: usize| &draft.raw[draft.word(k).lead..draft.word(k).tail];
    let is_note = |k: usize| !chunk(k).is_empty() && chunk(k).chars().all(|c| matches!(c, '♪' | '♫' | '♬'));
    if is_note(i) {
        // "♪ music ♪"; what is sung between the notes stays.
        let closing = (i + 1..draft.len().min(i + 2 + MAX_WORDS)).find(|&k| is_note(k));
        let described = |k: &usize| (i + 1..*k).all(|between| is_of_a_sound(draft.key(between)));
        let together = |k: &usize| draft.at(*k) - draft.at(i) == k - i;
        return Some(closing.filter(described).filter(together).unwrap_or(i));
    }
    let close = match chunk(i).chars().next()? {
        '[' => ']',
        '(' => ')',
        '*' => '*',
        _ => return None,
    };
    let ends = |k: usize| {
        let text = chunk(k).trim_end_matches(['.', ',', '?', '!']);
        text.ends_with(close) && (k > i || text.len() > 1)
    };
    let last = (i..draft.len().min(i + MAX_WORDS)).find(|&k| ends(k))?;
    let together = draft.at(last) - draft.at(i) == last - i;
    let inside = draft.raw[word.lead..draft.word(last).tail].to_lowercase();
    let mut parts = inside.split(|c: char| !c.is_alphabetic()).filter(|part| !part.is_empty()).peekable();
    let sounds = parts.peek().is_some() && parts.all(is_of_a_sound);
    (together && sounds).then_some(last)
}

/// Words that describe sounds, and little ones between them.
fn is_of_a_sound(word: &str) -> bool {
    words!(
        "music musical applause applauds laughter laughs laughing laugh chuckles chuckle giggles cough coughs coughing sneeze \
        sneezes sigh sighs sighing gasp gasps groans sniffs sniffles breath breathing breathes inhales exhales yawns \
        clears clearing throat silence noise noises blank audio beep beeps beeping static cheering cheers clapping claps \
        typing keyboard clicking click clicks ringing rings phone bell knocking footsteps wind rustling humming hums \
        whistling whistles playing plays sound sounds background soft loud upbeat dramatic no speech pause door closes \
        opens barking dog crying"
    )
    .contains(word)
}

#[cfg(test)]
mod tests {
    use crate::tasks::cleanup::{CleanupOptions, clean};

    #[test]
    fn noises_go_and_brackets_of_other_things_stay() {
        let table = [
            ("[MUSIC] so we start (coughs) at nine [BLANK_AUDIO]", "So we start at nine."),
            ("♪ ♪ Hello there.", "Hello there."),
            ("♪ Upbeat music ♪ hello there", "Hello there."),
            ("♪ row the boat ♪", "Row the boat."),
            ("We agreed. *clears throat* Then we left.", "We agreed. Then we left."),
            ("[Applause]", ""),
            ("the [inaudible] part (see below) stays", "The [inaudible] part (see below) stays."),
            ("use arr[sound] here", "Use arr[sound] here."),
        ];
        for (raw, text) in table {
            assert_eq!(clean(raw, &CleanupOptions::default()).unwrap().text, text, "{raw}");
        }
    }
}
