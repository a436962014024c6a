//! Tasks, tags and steps: how good the answers are by rules alone, by rules and model together, and by one free call.

use std::fs;
use std::path::Path;

use fairhand::completion::{Engine, Job, Outcome, start_without_model};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::score::words;

/// Who answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Rules,
    Grounded,
    Free,
}

impl Way {
    const ALL: [Self; 3] = [Self::Rules, Self::Grounded, Self::Free];

    fn name(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Grounded => "model",
            Self::Free => "free",
        }
    }

    /// What goes before a metric's name in the JSON: the package's own way has the plain names.
    fn prefix(self) -> &'static str {
        match self {
            Self::Rules => "rules_",
            Self::Grounded => "",
            Self::Free => "free_",
        }
    }
}

#[derive(Deserialize)]
struct TaskRow {
    input: String,
    /// For each task, groups of which each must have a word in the task.
    #[serde(rename = "match")]
    tasks: Vec<Vec<Vec<String>>>,
    #[serde(default)]
    must_not_contain: Vec<String>,
}

#[derive(Deserialize)]
struct TagRow {
    input: String,
    expected: Tags,
    #[serde(default)]
    accept_intents: Vec<String>,
}

#[derive(Deserialize)]
struct Tags {
    intent: String,
    topics: Vec<String>,
}

#[derive(Deserialize)]
struct StepsRow {
    input: String,
    expected: Steps,
}

#[derive(Deserialize)]
struct Steps {
    min_steps: usize,
    max_steps: usize,
    related_words: Vec<String>,
}

/// The sets of one folder that ask for something else than cleanup, and who answers.
pub struct Powers {
    engine: Option<Engine>,
    diff: Option<String>,
}

/// Shares of 1 by name, of one way on one set; and of a tag the mean of the tokens that the model had to read.
type Metrics = Vec<(&'static str, f64)>;

impl Powers {
    pub fn new(engine: Option<Engine>, diff: Option<String>) -> Self {
        Self { engine, diff }
    }

    /// Prints what `path` holds of tasks, tags and steps, and adds the metrics to `all`. Returns whether it held any.
    pub fn report(&self, name: &str, path: &Path, all: &mut Map<String, Value>) -> Result<bool, String> {
        let file = fs::read_to_string(path).map_err(|why| why.to_string())?;
        let rows: Vec<Value> = file.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let (tasks, tags, steps) = (of(&rows), of(&rows), of(&rows));
        let diff = self.diff.as_deref() == Some(name);
        let mut metrics = Map::new();
        for way in Way::ALL.into_iter().filter(|way| *way == Way::Rules || self.engine.is_some()) {
            let mut found = vec![];
            if !tasks.is_empty() {
                found = self.tasks(&tasks, way, diff);
            } else if !tags.is_empty() {
                found = self.tags(&tags, way, diff);
            } else if !steps.is_empty() && way != Way::Rules {
                found = self.steps(&steps, way, diff);
            }
            if found.is_empty() {
                continue;
            }
            let line: Vec<_> = found.iter().map(|(metric, value)| format!("{metric} {value:.3}")).collect();
            println!("{name:34} {:7} {:5} | {}", way.name(), rows.len(), line.join("  "));
            for (metric, value) in found {
                metrics.insert(format!("{}{metric}", way.prefix()), json!((value * 10_000.0).round() / 10_000.0));
            }
        }
        let some = !metrics.is_empty();
        if some {
            metrics.insert("n".to_owned(), rows.len().into());
            all.insert(name.to_owned(), Value::Object(metrics));
        }
        Ok(some || !steps.is_empty())
    }

    /// The outcome of a request as JavaScript sees it; nothing where it ends in an error. And the tokens that a model had
    /// to read for it.
    fn ask_counting(&self, request: Value, way: Way) -> (Option<Value>, usize) {
        let request = serde_json::from_value(request).unwrap_or_else(|why| panic!("a request: {why}"));
        let job = match (&self.engine, way) {
            (Some(engine), Way::Grounded | Way::Free) => engine.start(request),
            _ => start_without_model(request),
        };
        let Ok(mut job) = job else { return (None, 0) };
        let outcome = finish(&mut job).ok().and_then(|outcome| serde_json::to_value(outcome).ok());
        let usage = job.usage();
        (outcome, usage.prompt_tokens - usage.cached_tokens)
    }

    fn ask(&self, request: Value, way: Way) -> Option<Value> {
        self.ask_counting(request, way).0
    }

    /// Each expected task counts once, and each answered one can meet one.
    fn tasks(&self, rows: &[TaskRow], way: Way, diff: bool) -> Metrics {
        let [mut expected, mut met, mut answered, mut right, mut quiet, mut noisy, mut grounded] = [0; 7];
        for row in rows {
            let answer = self.ask(json!({ "task": "extractTasks", "text": row.input, "strategy": strategy(way) }), way);
            let tasks: Vec<String> = texts(answer.as_ref().map(|a| &a["tasks"]), "text");
            let lower: Vec<String> = tasks.iter().map(|task| task.to_lowercase()).collect();
            let mut open: Vec<&String> = lower.iter().collect();
            let before = met;
            for groups in &row.tasks {
                let meets = |task: &&String| groups.iter().all(|any| any.iter().any(|word| task.contains(&**word)));
                if let Some(at) = open.iter().position(meets) {
                    open.remove(at);
                    met += 1;
                }
            }
            let recalled = met - before;
            let bad = row.must_not_contain.iter().filter(|bad| lower.iter().any(|task| task.contains(*bad))).count();
            let said = words(&row.input);
            grounded += tasks.iter().filter(|task| words(task).iter().all(|word| said.contains(word))).count();
            expected += row.tasks.len();
            answered += tasks.len();
            right += recalled.saturating_sub(bad);
            quiet += usize::from(row.tasks.is_empty());
            noisy += usize::from(row.tasks.is_empty() && !tasks.is_empty());
            if diff && (recalled < row.tasks.len() || tasks.len() > recalled || bad > 0) {
                println!("  {:6} {}\n       → {tasks:?}", way.name(), row.input);
            }
        }
        vec![
            ("recall", share(met, expected)),
            ("precision", share(right, answered)),
            ("junk", if quiet == 0 { 0.0 } else { share(noisy, quiet) }),
            ("grounded", share(grounded, answered)),
        ]
    }

    fn tags(&self, rows: &[TagRow], way: Way, diff: bool) -> Metrics {
        let [mut intents, mut topics, mut near, mut tokens] = [0; 4];
        for row in rows {
            let request = json!({ "task": "tagContent", "text": row.input, "strategy": strategy(way) });
            let (answer, read) = self.ask_counting(request, way);
            tokens += read;
            let text = |name: &str| answer.as_ref().and_then(|a| a[name].as_str()).unwrap_or_default().to_owned();
            let (intent, topic) = (text("intent"), text("topic"));
            let right = intent == row.expected.intent || row.accept_intents.contains(&intent);
            let named = row.expected.topics.contains(&topic);
            intents += usize::from(right);
            topics += usize::from(named);
            let shares = |other: &String| other.split('-').any(|word| topic.split('-').any(|own| is_one(own, word)));
            near += usize::from(row.expected.topics.iter().any(shares));
            if diff && !(right && named) {
                println!(
                    "  {:6} {}\n       → {intent} {topic} ≠ {} {:?}",
                    way.name(),
                    row.input,
                    row.expected.intent,
                    row.expected.topics
                );
            }
        }
        vec![
            ("intent", share(intents, rows.len())),
            ("topic", share(topics, rows.len())),
            ("topic_word", share(near, rows.len())),
            ("tokens_read", share(tokens, rows.len())),
        ]
    }

    fn steps(&self, rows: &[StepsRow], way: Way, diff: bool) -> Metrics {
        let mut passed = 0;
        for row in rows {
            let mut request = json!({ "task": "decomposeTask", "text": row.input, "strategy": strategy(way) });
            if way == Way::Free {
                // One call: greedy, and not asked again.
                request["retries"] = json!(0);
                request["sampling"] = json!({ "temperature": 0.0 });
            }
            let answer = self.ask(request, way);
            let steps = texts(answer.as_ref().map(|a| &a["steps"]), "");
            let fault = fault(&steps, &row.expected);
            passed += usize::from(fault.is_none());
            if diff && let Some(fault) = fault {
                println!("  {:6} {}: {fault}\n       → {steps:?}", way.name(), row.input);
            }
        }
        vec![("pass", share(passed, rows.len()))]
    }
}

/// The rows of one kind; the others do not have its fields.
fn of<T: for<'a> Deserialize<'a>>(rows: &[Value]) -> Vec<T> {
    rows.iter().filter_map(|row| T::deserialize(row).ok()).collect()
}

fn strategy(way: Way) -> &'static str {
    if way == Way::Free { "free" } else { "grounded" }
}

fn finish(job: &mut Job) -> fairhand::Result<Outcome> {
    while !job.step(0.0)?.done {}
    job.result()
}

/// The strings of an array, or those under `name` in its objects.
fn texts(array: Option<&Value>, name: &str) -> Vec<String> {
    let text = |item: &Value| if name.is_empty() { item.as_str() } else { item[name].as_str() }.map(str::to_owned);
    array.and_then(Value::as_array).into_iter().flatten().filter_map(text).collect()
}

/// Nothing of nothing is all of it.
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// Whether two words are one, singular and plural aside.
fn is_one(a: &str, b: &str) -> bool {
    a.trim_end_matches('s') == b.trim_end_matches('s')
}

/// The most words in a step that is short.
const SHORT: usize = 16;
/// Two steps that share more of their words say the same.
const ALIKE: f64 = 0.8;

/// What is wrong with a list of steps, if anything is: each must be a short imperative, no two alike, none numbered and
/// none a comment, and together they must speak of the task.
fn fault(steps: &[String], expected: &Steps) -> Option<&'static str> {
    const NO_VERBS: &str = "a an the i you we he she it they this that these those my your his her its our their there here \
                            is are was were will would can could should may might must if when while because and or but so \
                            to in on at for with of from as by not no yes first second third next then finally step some \
                            any all every each both another what who how why where sure okay note example";
    if !(expected.min_steps..=expected.max_steps).contains(&steps.len()) {
        return Some("too few or too many");
    }
    let words: Vec<Vec<String>> = steps.iter().map(|step| words(step)).collect();
    for (i, step) in words.iter().enumerate() {
        let Some(first) = step.first() else { return Some("an empty step") };
        if first.starts_with(|c: char| c.is_ascii_digit()) || steps[i].starts_with(['-', '*', '•']) {
            return Some("numbered");
        }
        let participle = ["ing", "ed"].iter().any(|end| first.ends_with(end)) && first.len() > 5;
        if participle && !matches!(&**first, "proceed" | "succeed") || NO_VERBS.split_whitespace().any(|w| w == first) {
            return Some("not an imperative");
        }
        if step.len() > SHORT {
            return Some("too long");
        }
        let alike = |other: &Vec<String>| {
            let shared = step.iter().filter(|word| other.contains(word)).count() as f64;
            shared / (step.len() + other.len()) as f64 * 2.0 > 2.0 * ALIKE / (1.0 + ALIKE)
        };
        if words[..i].iter().any(alike) {
            return Some("two alike");
        }
    }
    let all = words.concat().join(" ");
    let related = expected.related_words.is_empty() || expected.related_words.iter().any(|word| all.contains(&**word));
    (!related).then_some("about something else")
}
