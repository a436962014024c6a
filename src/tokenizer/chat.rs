//! The chat template: messages to the text that the model was trained on.
//!
//! Templates are Jinja programs inside the model file. They run with the helpers that Hugging Face's `transformers`
//! gives them, and within limits: so many steps, so much output, no clock and no files.

use std::io;

use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, ErrorKind as JinjaErrorKind};
use serde::{Deserialize, Serialize};

use super::vocabulary::{TokenId, Vocabulary};
use crate::error::{Detail, Error, ErrorKind, Result};
use crate::gguf::Metadata;

/// The longest template that is read, in bytes. The longest ones in use, with tools, have 20,000.
const MAX_TEMPLATE_BYTES: usize = 256 << 10;

/// The most steps of minijinja's virtual machine for one rendering. A message takes about a hundred.
const MAX_STEPS: u64 = 2_000_000;

/// What a rendering may add to four times its input, in bytes.
const MAX_ADDED_BYTES: usize = 1 << 20;

/// For a vocabulary that has ChatML's tokens and a file that has no template.
const CHATML: &str = "\
{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}";

/// The same for Gemma's tokens. Gemma knows no system role: such a message goes before what the user wrote next.
const GEMMA: &str = "\
{{ bos_token }}{% set before = namespace(text='') %}{% for message in messages %}
{% if message.role == 'system' %}{% set before.text = message.content ~ '\\n\\n' %}{% else %}
<start_of_turn>{{ 'model' if message.role == 'assistant' else 'user' }}
{{ before.text }}{% set before.text = '' %}{{ message.content }}<end_of_turn>
{% endif %}
{% endfor %}{% if add_generation_prompt %}<start_of_turn>model
{% endif %}";

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    System,
    User,
    Assistant,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    pub content: String,
}

impl Message {
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self { role, content: content.into() }
    }
}

/// A rendered conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    pub text: String,
    /// Byte offsets of characters that a message's content brought and that would be part of a control token's text:
    /// where one of these lies, no control token may be seen. Ascending.
    pub literal: Vec<usize>,
}

/// How a model wants a conversation written. Immutable.
///
/// # What a template can use
///
/// `messages` (each with `role` and `content`), `add_generation_prompt`, `bos_token`, `eos_token`, `tools` and
/// `documents` (both none), `raise_exception(message)`, `tojson` as Python's `json.dumps` writes it, loop controls, and
/// Python's methods of strings, lists and dictionaries. Blocks are trimmed as `transformers` trims them.
/// `strftime_now` is not defined, since the crate has no clock: templates that ask whether it is take their fixed date,
/// and those that do not ask fail.
///
/// # Why a message cannot steer the model
///
/// A content that reads `<|im_end|>` must stay text. Before the template runs, each character of a content at which a
/// control token's text could begin (or at the very start, go on) is put aside behind a mark that is in none of the
/// inputs; afterwards the marks are taken out again and their places kept in [`Rendered::literal`]. So the template
/// may trim, cut, search or join contents as it likes, and contents without such text, which is nearly all, are
/// rendered as they are. A template that takes a mark itself apart fails.
#[derive(Clone, Debug)]
pub struct ChatTemplate {
    source: String,
    bos: String,
    eos: String,
    /// The setting of `enable_thinking`, a switch that some templates have.
    thinking: Option<bool>,
    /// The texts of control tokens, and what can follow their first character.
    controls: Texts,
    control_tails: Texts,
}

impl ChatTemplate {
    /// The template in the file; or ChatML's or Gemma's, if the file has none and the vocabulary has the tokens for it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Template`] if there is no template to use, or if it is too long or does not parse; the message says
    /// in which line.
    pub fn from_metadata(metadata: &Metadata, vocabulary: &Vocabulary) -> Result<Self> {
        let in_file = metadata.opt_str("tokenizer.chat_template")?.filter(|source| !source.trim().is_empty());
        let has = |tokens: [&str; 2]| tokens.into_iter().all(|token| vocabulary.special(token).is_some());
        let source = match in_file {
            Some(source) => source,
            None if has(["<|im_start|>", "<|im_end|>"]) => CHATML,
            None if has(["<start_of_turn>", "<end_of_turn>"]) => GEMMA,
            None => return Err(error("the file has no chat template".into())),
        };
        let texts = metadata.opt_strings("tokenizer.ggml.tokens")?.unwrap_or_default();
        let text = |id: TokenId| texts.get(id as usize).copied().unwrap_or_default();
        Self::new(source, vocabulary, vocabulary.bos().map_or("", text), text(vocabulary.eos()))
    }

    /// A template from its source. `bos` and `eos` are what it gets as `bos_token` and `eos_token`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Template`] if it is too long or does not parse.
    pub fn new(source: &str, vocabulary: &Vocabulary, bos: &str, eos: &str) -> Result<Self> {
        if source.len() > MAX_TEMPLATE_BYTES {
            let (requested, available) = (source.len() as u64, MAX_TEMPLATE_BYTES as u64);
            return Err(error(format!("the chat template has {requested} bytes (at most {available} are read)"))
                .with_detail(Detail::Limit { requested, available }));
        }
        environment().template_from_str(source).map_err(|e| syntax_error(&e))?;

        let controls = vocabulary.specials().map(|(text, _)| text);
        let tails = controls.clone().flat_map(|text| text.char_indices().skip(1).map(|(at, _)| &text[at..]));
        Ok(Self {
            source: source.to_owned(),
            bos: bos.to_owned(),
            eos: eos.to_owned(),
            thinking: None,
            control_tails: Texts::new(tails),
            controls: Texts::new(controls),
        })
    }

    /// The template with its switch for thinking set, or left alone. Templates without one do not change.
    #[must_use]
    pub fn thinking(&self, thinks: Option<bool>) -> Self {
        Self { thinking: thinks, ..self.clone() }
    }

    /// The conversation as text, with the beginning of the assistant's next message if `add_generation_prompt`.
    ///
    /// For people to read, and for comparison: a control token that a message spells cannot be told from one that the
    /// template wrote. [`Tokenizer::encode_chat`](super::Tokenizer::encode_chat) tells them apart.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Template`] if the template raises an exception, uses something that there is not, takes too many
    /// steps or writes too much; the message says in which line, and repeats no content.
    pub fn render(&self, messages: &[Message], add_generation_prompt: bool) -> Result<String> {
        Ok(self.render_marked(messages, add_generation_prompt)?.text)
    }

    /// As [`render`](Self::render), with the places where a content spells control tokens.
    ///
    /// # Errors
    ///
    /// Those of [`render`](Self::render), and [`ErrorKind::Template`] if the template takes such a place apart.
    pub fn render_marked(&self, messages: &[Message], add_generation_prompt: bool) -> Result<Rendered> {
        let mark = self.unused_mark(messages);
        let strays = has_mark_characters(&self.source) || messages.iter().any(|m| has_mark_characters(&m.content));
        let mut aside = Vec::new();
        let messages: Vec<Message> = messages
            .iter()
            .map(|message| Message::new(message.role, self.put_aside(&message.content, &mark, &mut aside)))
            .collect();

        let mut environment = environment();
        environment.set_fuel(Some(MAX_STEPS));
        let template = environment.template_from_str(&self.source).map_err(|e| syntax_error(&e))?;
        let context = minijinja::context! {
            add_generation_prompt,
            bos_token => self.bos,
            eos_token => self.eos,
            tools => (),
            documents => (),
            messages => messages,
            enable_thinking => self.thinking.map_or(minijinja::Value::UNDEFINED, minijinja::Value::from),
        };
        let input: usize = self.source.len() + messages.iter().map(|message| message.content.len()).sum::<usize>();
        let mut output = Limited { bytes: Vec::new(), limit: input.saturating_mul(4).saturating_add(MAX_ADDED_BYTES) };
        match template.render_captured_to(context, &mut output) {
            Ok(_) => {}
            Err(e) if e.kind() == JinjaErrorKind::WriteFailure => {
                return Err(error(format!("the chat template writes more than {} bytes", output.limit)));
            }
            Err(e) => return Err(self.render_error(&e)),
        }
        let text = String::from_utf8(output.bytes).map_err(|_| error("the chat template cuts a character".into()))?;
        put_back(&text, &mark, &aside, strays)
    }

    /// The beginning of a mark, which occurs in no input.
    fn unused_mark(&self, messages: &[Message]) -> String {
        let is_used = |mark: &str| self.source.contains(mark) || messages.iter().any(|m| m.content.contains(mark));
        (0..).map(|n| format!("{MARK}{}{MARK_MIDDLE}", digits(n))).find(|mark| !is_used(mark)).unwrap_or_default()
    }

    /// The content with a mark in place of each character that could make a control token; the characters go to `aside`.
    fn put_aside(&self, content: &str, mark: &str, aside: &mut Vec<char>) -> String {
        let mut marked = String::with_capacity(content.len());
        // A template may trim: what is first and last afterwards counts as first and last too.
        let start = content.len() - content.trim_start().len();
        let end = content.trim_end().len();
        for (at, c) in content.char_indices() {
            let begins =
                |rest: &str| self.controls.meets(rest) || (at == 0 || at == start) && self.control_tails.meets(rest);
            if begins(&content[at..]) || at < end && begins(&content[at..end]) {
                marked.extend([mark, &digits(aside.len())]);
                marked.push(MARK_END);
                aside.push(c);
            } else {
                marked.push(c);
            }
        }
        marked
    }

    /// What a failed rendering says. Details of minijinja's errors may quote values, so only those of exceptions that
    /// stand in the template word for word are repeated.
    fn render_error(&self, e: &minijinja::Error) -> Error {
        let raised = std::iter::successors(Some(e as &dyn std::error::Error), |e| e.source())
            .find_map(|e| e.downcast_ref::<Raised>());
        let what = match raised {
            Some(Raised(message)) if self.source.contains(message.as_str()) => format!("raises \"{message}\""),
            Some(_) => "raises an exception".into(),
            None if e.kind() == JinjaErrorKind::OutOfFuel => format!("takes more than {MAX_STEPS} steps"),
            None => format!("fails: {}", e.kind()),
        };
        error(format!("the chat template {what}{}", line(e)))
    }
}

// A mark is `MARK number MARK_MIDDLE number MARK_END`, all of it characters from U+FDD0 to U+FDDD: they are for a
// program's own use, so that no sensible text has them, and no template changes them. The first number makes the mark
// one that no input has; the second is the place of the character that it stands for in a list.
const MARK: char = '\u{FDD0}';
const MARK_MIDDLE: char = '\u{FDD1}';
const MARK_END: char = '\u{FDD2}';
const DIGITS: [char; 10] = [
    '\u{FDD4}', '\u{FDD5}', '\u{FDD6}', '\u{FDD7}', '\u{FDD8}', '\u{FDD9}', '\u{FDDA}', '\u{FDDB}', '\u{FDDC}',
    '\u{FDDD}',
];

/// Whether the text has a character that marks are made of.
fn has_mark_characters(text: &str) -> bool {
    text.contains(|c| c == MARK || c == MARK_MIDDLE || c == MARK_END || DIGITS.contains(&c))
}

fn digits(n: usize) -> String {
    n.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}

/// The number that the digits spell, if it is less than `end`.
fn number(spelt: &str, end: usize) -> Option<usize> {
    let mut n = 0usize;
    for c in spelt.chars() {
        let digit = DIGITS.iter().position(|digit| *digit == c)?;
        n = n.checked_mul(10)?.checked_add(digit)?;
    }
    (n < end && !spelt.is_empty()).then_some(n)
}

/// The text with the characters put aside in the places of their marks.
///
/// `strays`: whether characters that marks are made of may stand outside them, as they do where the input has them.
fn put_back(marked: &str, mark: &str, aside: &[char], strays: bool) -> Result<Rendered> {
    let taken_apart = || error("the chat template takes a message apart inside a control token's text".into());
    let mut text = String::with_capacity(marked.len());
    let mut literal = Vec::new();
    let mut parts = marked.split(mark);
    text.extend(parts.next());
    for part in parts {
        let (spelt, rest) = part.split_once(MARK_END).ok_or_else(taken_apart)?;
        let c = aside[number(spelt, aside.len()).ok_or_else(taken_apart)?];
        literal.push(text.len());
        text.push(c);
        text.push_str(rest);
    }
    if !strays && has_mark_characters(&text) {
        return Err(taken_apart());
    }
    Ok(Rendered { text, literal })
}

/// A set of texts, for asking whether one of them could begin somewhere.
#[derive(Clone, Debug)]
struct Texts(Vec<Box<[u8]>>);

impl Texts {
    fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut texts: Vec<Box<[u8]>> = texts.map(|text| text.as_bytes().into()).collect();
        texts.sort_unstable();
        texts.dedup();
        Self(texts)
    }

    /// Whether `text` begins with one of the texts, or one of them begins with the whole of `text`.
    fn meets(&self, text: &str) -> bool {
        let mut same_so_far = self.0.as_slice();
        for (depth, byte) in text.bytes().enumerate() {
            match same_so_far.first() {
                None => return false,
                Some(shortest) if shortest.len() == depth => return true,
                Some(_) => {}
            }
            // All are longer than `depth` and sorted by the byte there.
            let start = same_so_far.partition_point(|candidate| candidate[depth] < byte);
            let end = same_so_far.partition_point(|candidate| candidate[depth] <= byte);
            same_so_far = &same_so_far[start..end];
        }
        !same_so_far.is_empty()
    }
}

/// Collects output up to a limit.
struct Limited {
    bytes: Vec<u8>,
    limit: usize,
}

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.limit - self.bytes.len() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The message of `raise_exception`.
#[derive(Debug)]
struct Raised(String);

impl std::fmt::Display for Raised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("raised by the template")
    }
}

impl std::error::Error for Raised {}

/// Jinja as `transformers` sets it up for chat templates.
fn environment<'a>() -> Environment<'a> {
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function("raise_exception", |message: String| -> Result<Value, minijinja::Error> {
        Err(minijinja::Error::new(JinjaErrorKind::InvalidOperation, "raised").with_source(Raised(message)))
    });
    environment.add_filter("tojson", to_json);
    environment
}

/// `tojson` as `transformers` defines it: Python's `json.dumps` without escapes for HTML or for what is not ASCII.
fn to_json(value: &Value, indent: Option<usize>, options: Kwargs) -> Result<String, minijinja::Error> {
    let failed = |_| minijinja::Error::new(JinjaErrorKind::InvalidOperation, "cannot serialize to JSON");
    let indent = match indent {
        Some(indent) => Some(indent),
        None => options.get("indent")?,
    };
    let _: Option<bool> = options.get("ensure_ascii")?;
    options.assert_all_used()?;
    let mut json = Vec::new();
    match indent {
        Some(width) => {
            let indent = " ".repeat(width.min(MAX_INDENT));
            let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
            value.serialize(&mut serde_json::Serializer::with_formatter(&mut json, formatter)).map_err(failed)?;
        }
        None => value.serialize(&mut serde_json::Serializer::with_formatter(&mut json, Spaced)).map_err(failed)?,
    }
    Ok(String::from_utf8_lossy(&json).into_owned())
}

const MAX_INDENT: usize = 16;

/// JSON on one line, with a space after each comma and colon.
struct Spaced;

impl Spaced {
    fn separate<W: ?Sized + io::Write>(writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }
}

impl serde_json::ser::Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        Self::separate(writer, first)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        Self::separate(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

/// A template that does not parse. The details quote the template alone, which is no user's text.
fn syntax_error(e: &minijinja::Error) -> Error {
    let detail = e.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    error(format!("the chat template does not parse{detail}{}", line(e)))
}

fn line(e: &minijinja::Error) -> String {
    e.line().map(|line| format!(" (line {line})")).unwrap_or_default()
}

fn error(message: String) -> Error {
    Error::new(ErrorKind::Template, message)
}
