//! A choice among candidates as a grammar, and the reading of the answer.

use std::fmt::Write;

use super::super::reader;
use super::Candidate;
use crate::Result;

/// The most characters in a task: what does not fit is no short item.
pub(super) const MAX_TASK_CHARS: usize = 200;
/// The most candidates that are left to choice: the surest ones; the others are not offered.
const MAX_MAYBES: usize = 64;

/// The GBNF text of the answers that keep to `candidates`: a JSON array of their tasks in their order. Sure ones must
/// be there, the others may be; without candidates the answer is `[]`. `", "` joins items, so that an answer without a
/// choice is a single text.
///
/// ```text
/// root ::= "[" "\"Sure\"" (", \"Maybe\"")? ", \"Sure too\"" "]"
/// ```
pub fn grammar_of(candidates: &[Candidate]) -> String {
    let offered = offered(candidates);
    let item = |k: usize| string(offered[k]);
    let mut root = String::from(r#"root ::= "[""#);
    let mut rules = String::new();
    match offered.iter().position(|candidate| candidate.is_sure()) {
        Some(first) => {
            // Before the first sure item every other brings its comma along; after it, every item brings one before it.
            for k in 0..first {
                let _ = write!(root, " ({} \", \")?", item(k));
            }
            let _ = write!(root, " {}", item(first));
            for (k, candidate) in offered.iter().enumerate().skip(first + 1) {
                let _ = match candidate.is_sure() {
                    true => write!(root, " \", \" {}", item(k)),
                    false => write!(root, " (\", \" {})?", item(k)),
                };
            }
        }
        None if offered.is_empty() => {}
        None => {
            // Any of them may come first; `rest-k` is what may follow item k.
            let first = |k: usize| if k + 1 < offered.len() { format!("{} rest-{k}", item(k)) } else { item(k) };
            let _ = write!(root, " ({})?", (0..offered.len()).map(first).collect::<Vec<_>>().join(" | "));
            for k in 0..offered.len().saturating_sub(1) {
                let tail = if k + 2 < offered.len() { format!(" rest-{}", k + 1) } else { String::new() };
                let _ = writeln!(rules, "rest-{k} ::= (\", \" {})?{tail}", item(k + 1));
            }
        }
    }
    root.push_str(" \"]\"\n");
    root + &rules
}

/// The candidates that an answer under [`grammar_of`] chose.
///
/// # Errors
/// [`ErrorKind::InvalidStructuredOutput`](crate::ErrorKind::InvalidStructuredOutput) with the raw answer when it is not
/// a JSON array of candidates' tasks in their order, or leaves out a sure one.
pub fn read_chosen(raw: &str, candidates: &[Candidate]) -> Result<Vec<Candidate>> {
    let answer: Vec<String> = reader::json(raw)?;
    let mut chosen = vec![];
    let mut answer = answer.into_iter().peekable();
    for candidate in candidates {
        if answer.peek().is_some_and(|task| *task == candidate.task) {
            answer.next();
            chosen.push(candidate.clone());
        } else if candidate.is_sure() {
            return Err(reader::unreadable(raw, "the answer leaves out a task that is certain"));
        }
    }
    match answer.next() {
        None => Ok(chosen),
        Some(_) => Err(reader::unreadable(raw, "the answer holds a task that was not offered, or not in that place")),
    }
}

/// The sure candidates and the surest of the others.
fn offered(candidates: &[Candidate]) -> Vec<&Candidate> {
    let mut maybes: Vec<f32> = candidates.iter().filter(|c| !c.is_sure()).map(|c| c.confidence).collect();
    maybes.sort_by(|a, b| b.total_cmp(a));
    let least = maybes.get(MAX_MAYBES).copied();
    // Of equals at the limit none is offered: there is no reason to prefer one.
    candidates.iter().filter(|c| c.is_sure() || least.is_none_or(|least| c.confidence > least)).collect()
}

/// The JSON string of a task, as a GBNF literal.
fn string(candidate: &Candidate) -> String {
    reader::literal(&serde_json::Value::from(candidate.task.as_str()).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::Grammar;

    fn candidate(task: &str, confidence: f32) -> Candidate {
        Candidate { task: task.to_owned(), start: 0, end: 0, confidence }
    }

    #[track_caller]
    fn language(candidates: &[Candidate], inside: &[&str], outside: &[&str]) {
        let text = grammar_of(candidates);
        let grammar = Grammar::parse(&text).unwrap();
        for answer in inside {
            assert!(grammar.matches(answer.as_bytes()), "{answer} in {text}");
            read_chosen(answer, candidates).unwrap();
        }
        for answer in outside {
            assert!(!grammar.matches(answer.as_bytes()), "{answer} not in {text}");
        }
    }

    #[test]
    fn without_candidates_the_answer_is_an_empty_array() {
        language(&[], &["[]"], &["[ ]", "", r#"["A"]"#]);
    }

    #[test]
    fn sure_tasks_leave_no_choice() {
        let sure = [candidate("Buy \"Emma\" at C\\D", 0.9), candidate("Ring Zoë", 0.8)];
        let answer = r#"["Buy \"Emma\" at C\\D", "Ring Zoë"]"#;
        language(&sure, &[answer], &["[]", r#"["Ring Zoë"]"#, r#"["Ring Zoë", "Buy \"Emma\" at C\\D"]"#]);
        assert_eq!(read_chosen(answer, &sure).unwrap(), sure);
    }

    #[test]
    fn other_tasks_may_be_there() {
        let mixed = [candidate("A", 0.5), candidate("B", 0.9), candidate("C", 0.6)];
        language(
            &mixed,
            &[r#"["A", "B", "C"]"#, r#"["B"]"#, r#"["A", "B"]"#, r#"["B", "C"]"#],
            &["[]", r#"["A"]"#, r#"["A", "C"]"#, r#"["B",]"#, r#"["C", "B"]"#],
        );
        let maybes = [candidate("A", 0.5), candidate("B", 0.5), candidate("C", 0.6)];
        language(
            &maybes,
            &["[]", r#"["A"]"#, r#"["B"]"#, r#"["C"]"#, r#"["A", "C"]"#, r#"["A", "B", "C"]"#, r#"["B", "C"]"#],
            &[r#"["C", "A"]"#, r#"["A", "A"]"#, r#"[, "B"]"#],
        );
    }

    #[test]
    fn choices_are_bounded() {
        let many: Vec<_> = (0..1000).map(|k| candidate(&format!("Task {k}"), 0.5 + k as f32 / 10_000.0)).collect();
        let text = grammar_of(&many);
        assert!(text.contains("Task 999\\\"") && !text.contains("Task 900\\\""));
        Grammar::parse(&text).unwrap();
    }

    #[test]
    fn an_answer_that_was_not_offered_is_refused() {
        let candidates = [candidate("A", 0.5), candidate("B", 0.9)];
        for raw in ["", "[]", r#"["C", "B"]"#, r#"["B", "A"]"#, r#"{"a":1}"#, r#"["A"]"#] {
            let error = read_chosen(raw, &candidates).unwrap_err();
            assert_eq!(error.code(), "invalid-structured-output", "{raw}");
        }
    }
}
