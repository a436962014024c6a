//! Prompts that requests name by id and version: the crate's own, and a caller's.
//!
//! A prompt declares what it takes. *Inputs* are the request's material; *variables* are settings of a few words. Both are
//! put where its messages say `{{name}}`, in one pass, so that nothing in them is ever read as a placeholder. What stands
//! before the first input is the same in every call, and its keys and values are kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::completion::outcome::PromptIdentity;
use crate::completion::provider::CompiledForm;
use crate::error::{Error, ErrorKind, Result};
use crate::grammar::{json_schema_to_gbnf, regex_to_gbnf};
use crate::tasks::prompt::digest;
use crate::tokenizer::Message;

/// The most prompts in a registry.
const MAX_PROMPTS: usize = 1024;
/// The most characters of an id or of the name of an input or a variable.
const MAX_NAME: usize = 100;

/// A prompt as a caller writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromptDefinition {
    pub id: String,
    /// From 1 on.
    pub version: u32,
    /// Shared context first, then the material, then what follows it.
    pub messages: Vec<Message>,
    #[serde(default)]
    pub inputs: Vec<InputDefinition>,
    #[serde(default)]
    pub variables: Vec<String>,
    /// The form that answers have; without one they are free text.
    #[serde(default)]
    pub output: Option<Form>,
    /// The profile of requests that name none.
    #[serde(default)]
    pub profile: Option<String>,
}

/// Material that a prompt takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InputDefinition {
    pub name: String,
    /// Whether a request may leave it out; a blank then stands in its place.
    #[serde(default)]
    pub optional: bool,
}

/// The form of an answer, as a grammar, a JSON Schema or a regular expression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Form {
    Grammar(String),
    Schema(Value),
    Regex(String),
}

impl Form {
    /// The form as GBNF.
    ///
    /// # Errors
    /// `invalid-schema`, `invalid-grammar`.
    pub fn gbnf(&self) -> Result<String> {
        match self {
            Self::Grammar(text) => Ok(text.clone()),
            Self::Schema(schema) => json_schema_to_gbnf(schema),
            Self::Regex(pattern) => regex_to_gbnf(pattern),
        }
    }

    /// The form ready for use.
    ///
    /// # Errors
    /// `invalid-schema`, `invalid-grammar`.
    pub fn compile(&self) -> Result<CompiledForm> {
        CompiledForm::of(&self.gbnf()?)
    }
}

/// Material of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    pub name: String,
    #[serde(default)]
    pub text: String,
    /// Where the material is from, in the caller's terms. It comes back in the provenance and goes nowhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// A prompt that has been checked, with its grammar compiled.
#[derive(Debug)]
pub struct Registered {
    definition: PromptDefinition,
    digest: String,
    form: Option<CompiledForm>,
}

/// A prompt with a request's inputs and variables in their places.
#[derive(Debug, PartialEq)]
pub struct Filled {
    pub messages: Vec<Message>,
    /// The same without the inputs' texts: what a call with other material has in common with this one.
    pub blank: Vec<Message>,
}

/// Prompts by id and version.
#[derive(Debug, Default)]
pub struct Registry {
    prompts: BTreeMap<(String, u32), Arc<Registered>>,
}

impl Registry {
    /// Checks a prompt, compiles its form, and adds it.
    ///
    /// # Errors
    /// - `invalid-argument`: an id and version that are there already, a version of 0, names that are empty, alike or too
    ///   long, placeholders that are not declared, inputs and variables without a placeholder, no messages.
    /// - `invalid-grammar`, `invalid-schema`: a form that does not compile.
    pub fn register(&mut self, definition: PromptDefinition) -> Result<PromptIdentity> {
        check(&definition)?;
        let key = (definition.id.clone(), definition.version);
        if self.prompts.contains_key(&key) {
            return refuse(format!("the prompt `{}` has a version {} already", definition.id, definition.version));
        }
        if self.prompts.len() == MAX_PROMPTS {
            return refuse(format!("there are {MAX_PROMPTS} prompts already, which is the most"));
        }
        let form = definition.output.as_ref().map(Form::compile).transpose()?;
        let whole = serde_json::to_string(&definition)
            .map_err(|_| Error::new(ErrorKind::Internal, "a prompt could not be written as JSON"))?;
        let registered = Registered { digest: digest(&whole), definition, form };
        let identity = registered.identity();
        self.prompts.insert(key, Arc::new(registered));
        Ok(identity)
    }

    /// The prompt of that id, in its newest version unless one is named.
    ///
    /// # Errors
    /// `invalid-argument` for an id or version that is not there.
    pub fn get(&self, id: &str, version: Option<u32>) -> Result<Arc<Registered>> {
        let mut versions = self.prompts.range((id.to_owned(), 0)..=(id.to_owned(), u32::MAX));
        let found = match version {
            Some(version) => self.prompts.get(&(id.to_owned(), version)),
            None => versions.next_back().map(|(_, prompt)| prompt),
        };
        let missing = || match version {
            Some(version) => format!("there is no prompt of that id with version {version}"),
            None => "there is no prompt of that id".to_owned(),
        };
        found.cloned().ok_or_else(|| Error::new(ErrorKind::InvalidArgument, missing()))
    }

    /// What tells this set of prompts from any other.
    pub fn identities(&self) -> impl Iterator<Item = PromptIdentity> {
        self.prompts.values().map(|prompt| prompt.identity())
    }
}

impl Registered {
    pub fn identity(&self) -> PromptIdentity {
        let PromptDefinition { id, version, .. } = &self.definition;
        PromptIdentity { id: id.clone(), version: *version, digest: self.digest.clone() }
    }

    /// The profile of requests that name none.
    pub fn profile(&self) -> Option<&str> {
        self.definition.profile.as_deref()
    }

    /// The compiled form of answers.
    pub fn form(&self) -> Option<&CompiledForm> {
        self.form.as_ref()
    }

    /// The messages with a request's material in their places.
    ///
    /// # Errors
    /// `invalid-argument` for inputs and variables that are missing, not declared, or given twice; the message names
    /// those that the prompt declares and none that the request made up.
    pub fn fill(&self, inputs: &[Input], variables: &BTreeMap<String, String>) -> Result<Filled> {
        let PromptDefinition { inputs: declared, variables: settings, messages, .. } = &self.definition;
        for (i, input) in inputs.iter().enumerate() {
            if !declared.iter().any(|known| known.name == input.name) {
                return refuse(format!("input {i} is none that the prompt takes"));
            }
            if inputs[..i].iter().any(|other| other.name == input.name) {
                return refuse(format!("the input `{}` is given twice", input.name));
            }
        }
        if variables.keys().any(|name| !settings.contains(name)) {
            return refuse("a variable is none that the prompt takes");
        }
        if let Some(missing) = settings.iter().find(|name| !variables.contains_key(*name)) {
            return refuse(format!("the variable `{missing}` is missing"));
        }
        let mut texts = BTreeMap::new();
        for known in declared {
            let given = inputs.iter().find(|input| input.name == known.name).map(|input| input.text.as_str());
            let text = match given {
                None if !known.optional => return refuse(format!("the input `{}` is missing", known.name)),
                // It stays present, so that the model sees that there was nothing.
                None | Some("") => " ",
                Some(text) => text,
            };
            texts.insert(known.name.as_str(), text);
        }
        let fill = |blank: bool| {
            let value = |name: &str| match texts.get(name) {
                Some(_) if blank => "",
                Some(text) => text,
                None => variables.get(name).map_or("", String::as_str),
            };
            messages.iter().map(|message| Message::new(message.role, substitute(&message.content, value))).collect()
        };
        Ok(Filled { messages: fill(false), blank: fill(true) })
    }
}

fn refuse<T>(why: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::InvalidArgument, why))
}

/// A part of a text: as it stands, or the name in `{{name}}`.
enum Part<'a> {
    Text(&'a str),
    Name(&'a str),
}

/// The parts of `text`. Braces that hold no name are text.
fn parts(mut text: &str) -> Vec<Part<'_>> {
    let mut parts = vec![];
    let mut from = 0;
    while let Some(open) = text[from..].find("{{").map(|at| from + at) {
        let name = text[open + 2..].find("}}").map(|len| &text[open + 2..open + 2 + len]);
        match name.filter(|name| is_name(name.trim())) {
            Some(name) => {
                parts.push(Part::Text(&text[..open]));
                parts.push(Part::Name(name.trim()));
                text = &text[open + name.len() + 4..];
                from = 0;
            }
            None => from = open + 2,
        }
    }
    parts.push(Part::Text(text));
    parts
}

fn substitute<'a>(text: &'a str, value: impl Fn(&'a str) -> &'a str) -> String {
    let text_of = |part| match part {
        Part::Text(text) => text,
        Part::Name(name) => value(name),
    };
    parts(text).into_iter().map(text_of).collect()
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_NAME
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

fn check(definition: &PromptDefinition) -> Result<()> {
    let PromptDefinition { id, version, messages, inputs, variables, .. } = definition;
    if !is_name(id) {
        return refuse(format!("a prompt's id has 1 to {MAX_NAME} letters, digits, dots, hyphens and underscores"));
    }
    if *version == 0 {
        return refuse("a prompt's version is at least 1");
    }
    if messages.is_empty() {
        return refuse("a prompt needs a message");
    }
    let names: Vec<&str> =
        inputs.iter().map(|input| input.name.as_str()).chain(variables.iter().map(String::as_str)).collect();
    for (i, name) in names.iter().enumerate() {
        if !is_name(name) {
            return refuse(format!(
                "the name of input or variable {i} is empty, too long, or has other characters than letters, digits, dots, hyphens and underscores"
            ));
        }
        if names[..i].contains(name) {
            return refuse(format!("two inputs or variables are called `{name}`"));
        }
    }
    let used: Vec<&str> = messages
        .iter()
        .flat_map(|message| parts(&message.content))
        .filter_map(|part| match part {
            Part::Name(name) => Some(name),
            Part::Text(_) => None,
        })
        .collect();
    if let Some(stray) = used.iter().find(|name| !names.contains(name)) {
        return refuse(format!("the placeholder `{stray}` is neither an input nor a variable"));
    }
    if let Some(idle) = names.iter().find(|name| !used.contains(name)) {
        return refuse(format!("no message has a place for `{idle}`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tokenizer::Role;

    fn definition(value: Value) -> PromptDefinition {
        serde_json::from_value(value).expect("a definition")
    }

    fn summary(version: u32) -> Value {
        json!({
            "id": "summary", "version": version,
            "messages": [
                { "role": "system", "content": "Sum up in {{words}} words. {braces} {{ and {{}} stay." },
                { "role": "user", "content": "{{text}}\nContext:{{context}}\nNow sum up." },
            ],
            "inputs": [{ "name": "text" }, { "name": "context", "optional": true }],
            "variables": ["words"],
        })
    }

    fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn input(name: &str, text: &str) -> Input {
        Input { name: name.into(), text: text.into(), origin: None }
    }

    #[test]
    fn a_prompt_is_filled_in_one_pass_and_keeps_an_empty_input() {
        let mut registry = Registry::default();
        registry.register(definition(summary(1))).expect("registers");
        let prompt = registry.get("summary", None).expect("is there");
        let filled =
            prompt.fill(&[input("text", "{{words}} {{text}}")], &variables(&[("words", "ten")])).expect("fills");
        assert_eq!(filled.messages[0].content, "Sum up in ten words. {braces} {{ and {{}} stay.");
        assert_eq!(filled.messages[1].content, "{{words}} {{text}}\nContext: \nNow sum up.");
        assert_eq!(filled.messages[1].role, Role::User);
        assert_eq!(filled.blank[0], filled.messages[0]);
        assert_eq!(filled.blank[1].content, "\nContext:\nNow sum up.");
    }

    #[test]
    fn the_newest_version_answers_and_every_change_shows() {
        let mut registry = Registry::default();
        let first = registry.register(definition(summary(1))).expect("registers");
        let second = registry.register(definition(summary(2))).expect("registers");
        assert_eq!(registry.get("summary", None).expect("is there").identity(), second);
        assert_eq!(registry.get("summary", Some(1)).expect("is there").identity(), first);
        assert_ne!(first.digest, second.digest);
        assert_eq!(registry.identities().count(), 2);
        for (id, version) in [("summary", Some(3)), ("other", None), ("", None)] {
            assert_eq!(registry.get(id, version).expect_err("refused").kind(), ErrorKind::InvalidArgument);
        }
    }

    #[test]
    fn requests_that_do_not_fit_are_refused_without_their_text() {
        let mut registry = Registry::default();
        registry.register(definition(summary(1))).expect("registers");
        let prompt = registry.get("summary", None).expect("is there");
        let good = variables(&[("words", "ten")]);
        for (inputs, variables) in [
            (vec![], good.clone()),
            (vec![input("text", "x"), input("secret-name", "x")], good.clone()),
            (vec![input("text", "x"), input("text", "y")], good.clone()),
            (vec![input("text", "x")], variables(&[])),
            (vec![input("text", "x")], variables(&[("words", "ten"), ("secret-name", "1")])),
        ] {
            let error = prompt.fill(&inputs, &variables).expect_err("refused");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(!error.message().contains("secret"), "{error}");
        }
    }

    #[test]
    fn definitions_that_cannot_work_are_refused() {
        let mut registry = Registry::default();
        registry.register(definition(summary(1))).expect("registers");
        let with = |name: &str, value: Value| {
            let mut changed = summary(2);
            changed[name] = value;
            definition(changed)
        };
        for (bad, kind) in [
            (definition(summary(1)), ErrorKind::InvalidArgument),
            (with("version", json!(0)), ErrorKind::InvalidArgument),
            (with("id", json!("")), ErrorKind::InvalidArgument),
            (with("id", json!("a b")), ErrorKind::InvalidArgument),
            (with("messages", json!([])), ErrorKind::InvalidArgument),
            (with("variables", json!([])), ErrorKind::InvalidArgument),
            (with("variables", json!(["words", "idle"])), ErrorKind::InvalidArgument),
            (with("variables", json!(["words", "text"])), ErrorKind::InvalidArgument),
            (with("output", json!({ "schema": { "type": "nothing" } })), ErrorKind::InvalidSchema),
            (with("output", json!({ "grammar": "root ::= (" })), ErrorKind::InvalidGrammar),
            (with("output", json!({ "regex": "(" })), ErrorKind::InvalidGrammar),
        ] {
            let name = format!("{bad:?}");
            assert_eq!(registry.register(bad).expect_err(&name).kind(), kind, "{name}");
        }
        assert_eq!(registry.identities().count(), 1, "what is refused leaves nothing behind");
        registry.register(with("output", json!({ "schema": { "type": "boolean" } }))).expect("registers");
        let prompt = registry.get("summary", None).expect("is there");
        assert!(prompt.form().is_some_and(|form| form.grammar.matches(b"true") && !form.digest.is_empty()));
    }
}
