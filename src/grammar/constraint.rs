//! A grammar over one output.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::Grammar;
use super::learnt::Learnt;
use super::mask::TokenMask;
use super::matcher::{DEAD, SetId};
use crate::error::{Error, ErrorKind, Result};
use crate::tokenizer::trie::is_continuation;
use crate::tokenizer::{TokenId, TokenTrie};

/// The longest text that [`Constraint::forced`] returns, in bytes.
const MAX_FORCED_BYTES: usize = 4096;

/// A grammar over one output: says before each token which tokens may come, and takes the one that was chosen.
///
/// The promise: as long as every token pushed was allowed by the mask before it, there is a way to a sentence of the
/// grammar. With a budget of tokens, there is a way within the budget: if at the start `tokens_left >= min_tokens()`,
/// and each further mask is asked for with one token less, then every mask has a token and the last one ends. What
/// can be read in so many ways that a limit is reached ends with an error, never in a text that is no sentence.
///
/// What a constraint learns about its grammar it leaves to the next one over the same grammar and vocabulary.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
///
/// use fairhand::grammar::{Constraint, Grammar};
/// use fairhand::tokenizer::{SpecialTokens, TokenTrie, Vocabulary};
///
/// let pieces = ["a", "b", "ab", ""].map(|piece| piece.as_bytes().to_vec());
/// let special = SpecialTokens { control: vec![("<eos>".into(), 3)], eos: 3, ..SpecialTokens::default() };
/// let trie = Arc::new(TokenTrie::new(&Vocabulary::new(pieces.into(), special)?));
///
/// let grammar = Arc::new(Grammar::parse(r#"root ::= "a" "b"+"#)?);
/// let mut constraint = Constraint::new(grammar, trie)?;
/// assert_eq!(constraint.mask(None)?.iter().collect::<Vec<_>>(), [0, 2]);
/// constraint.push(2)?;
/// assert_eq!(constraint.mask(None)?.iter().collect::<Vec<_>>(), [1, 3]);
/// constraint.push(3)?;
/// assert!(constraint.is_finished());
/// # Ok::<(), fairhand::Error>(())
/// ```
pub struct Constraint {
    learnt: Borrowed,
    /// The configuration before the first token and after each.
    history: Vec<SetId>,
    finished: bool,
    /// The mask that was last asked for with a pressing budget, or after the end.
    scratch: TokenMask,
    pressed: bool,
}

impl Constraint {
    /// # Errors
    ///
    /// [`ErrorKind::InvalidGrammar`] with [`Detail::MissingBytes`] if some text of the grammar can only be finished
    /// with bytes that no token spells alone, or with [`Detail::Limit`] if a token item names an id that the
    /// vocabulary does not have.
    pub fn new(grammar: Arc<Grammar>, trie: Arc<TokenTrie>) -> Result<Self> {
        let scratch = TokenMask::new(&trie);
        let mut learnt = Borrowed::new(grammar, trie)?;
        let start = learnt.matcher.start();
        Ok(Self { learnt, history: vec![start], finished: false, scratch, pressed: false })
    }

    fn config(&self) -> SetId {
        self.history[self.history.len() - 1] // never empty: rollback leaves the first
    }

    /// The exact set of tokens that may come next: those after which some sentence of the grammar can still be
    /// reached, and the ends of generation if the output is a sentence. Empty once finished.
    ///
    /// With `tokens_left`, the number of tokens that may still be pushed (the end included): only those after which a
    /// sentence and an end fit into what is left then. Can be empty only if `tokens_left < min_tokens()`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidGrammar`] with [`Detail::Limit`] if the texts can be read in so many ways that the mask would
    /// take more than [`MAX_WORK`](super::MAX_WORK). Nothing has changed then.
    pub fn mask(&mut self, tokens_left: Option<usize>) -> Result<&TokenMask> {
        self.learnt.begin(&mut self.history)?;
        if self.finished {
            self.scratch = TokenMask::new(&self.learnt.trie);
            return Ok(&self.scratch);
        }
        let config = self.config();
        let memo = self.learnt.memo(config);
        let left = tokens_left.map_or(u64::MAX, |left| left as u64);
        let within = match u64::from(self.learnt.need_after(memo)) + 2 <= left {
            true => None,
            false => Some(self.learnt.mask_within(config, left)),
        };
        self.learnt.end(&mut self.history)?;
        let mask = self.learnt.mask(memo);
        let Some(within) = within else { return Ok(mask) };
        self.pressed |= within != *mask;
        self.scratch = within;
        Ok(&self.scratch)
    }

    /// Whether a budget has kept any token out of a mask of this output.
    pub fn budget_pressed(&self) -> bool {
        self.pressed
    }

    /// Takes the next token. An end of generation finishes the output.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] if the token does not fit, or the output is finished; a limit as in
    /// [`mask`](Self::mask). Nothing has changed then.
    pub fn push(&mut self, id: TokenId) -> Result<()> {
        self.learnt.begin(&mut self.history)?;
        if self.finished {
            return Err(Error::new(ErrorKind::InvalidArgument, format!("token {id} after the end of the output")));
        }
        let config = self.config();
        let next = match self.learnt.trie.end_of_generation().binary_search(&id) {
            Ok(_) if self.learnt.matcher.is_complete(config) => {
                self.finished = true;
                config
            }
            Ok(_) => DEAD,
            Err(_) => self.learnt.after(config, id),
        };
        self.learnt.end(&mut self.history)?;
        if next == DEAD {
            return Err(Error::new(ErrorKind::InvalidArgument, format!("token {id} does not fit the grammar here")));
        }
        self.history.push(next);
        Ok(())
    }

    /// Takes back the last `tokens` tokens, an end included. Taking back more than were pushed takes back all.
    pub fn rollback(&mut self, tokens: usize) {
        if tokens > 0 {
            self.finished = false;
        }
        self.history.truncate(self.history.len().saturating_sub(tokens).max(1));
    }

    /// Begins a new output. What has been learnt about the grammar is kept.
    pub fn reset(&mut self) {
        self.history.truncate(1);
        self.finished = false;
        self.pressed = false;
    }

    /// Whether the output so far is a sentence of the grammar.
    pub fn is_complete(&self) -> bool {
        self.learnt.matcher.is_complete(self.config())
    }

    /// Whether an end of generation has been pushed.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// The number of tokens, the end included, in which the output can be finished from here: 0 once finished. The
    /// smallest budget that [`mask`](Self::mask) can keep; some other text may be shorter in tokens, but not in bytes.
    ///
    /// # Errors
    ///
    /// A limit as in [`mask`](Self::mask).
    pub fn min_tokens(&mut self) -> Result<usize> {
        if self.finished {
            return Ok(0);
        }
        self.learnt.begin(&mut self.history)?;
        let config = self.config();
        let closing = self.learnt.closing(config);
        self.learnt.end(&mut self.history)?;
        Ok(closing as usize + 1)
    }

    /// The text that every continuation from here begins with. Whole characters: a common beginning of several
    /// characters is not text yet. Empty where the output may end. At most 4,096 bytes.
    ///
    /// # Errors
    ///
    /// A limit as in [`mask`](Self::mask).
    pub fn forced(&mut self) -> Result<Vec<u8>> {
        let mut forced = Vec::new();
        if self.finished {
            return Ok(forced);
        }
        self.learnt.begin(&mut self.history)?;
        let mut config = self.config();
        while forced.len() < MAX_FORCED_BYTES {
            let Some(byte) = self.learnt.matcher.only_byte(config) else { break };
            forced.push(byte);
            config = self.learnt.matcher.step(config, byte);
        }
        self.learnt.end(&mut self.history)?;
        let whole = std::str::from_utf8(&forced).map_or_else(|fault| fault.valid_up_to(), str::len);
        // An output that was cut inside a character is forced to finish it first.
        let rest_of_character = forced.iter().take_while(|byte| is_continuation(**byte)).count();
        if rest_of_character == 0 {
            forced.truncate(whole);
        }
        Ok(forced)
    }
}

impl fmt::Debug for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tokens = self.history.len() - 1;
        f.debug_struct("Constraint").field("tokens", &tokens).field("finished", &self.finished).finish_non_exhaustive()
    }
}

/// What is known about the grammar. A constraint has it to itself, and gives it back to the grammar at its own end.
struct Borrowed {
    grammar: Arc<Grammar>,
    /// `None` only at the end.
    learnt: Option<Box<Learnt>>,
}

impl Borrowed {
    fn new(grammar: Arc<Grammar>, trie: Arc<TokenTrie>) -> Result<Self> {
        let known = grammar.learnt().take().filter(|learnt| Arc::ptr_eq(&learnt.trie, &trie));
        let learnt = match known {
            Some(learnt) => learnt,
            None => Box::new(Learnt::new(grammar.program(), trie)?),
        };
        Ok(Self { grammar, learnt: Some(learnt) })
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        *self.grammar.learnt() = self.learnt.take();
    }
}

impl Deref for Borrowed {
    type Target = Learnt;

    fn deref(&self) -> &Learnt {
        self.learnt.as_deref().expect("given back only at the end")
    }
}

impl DerefMut for Borrowed {
    fn deref_mut(&mut self) -> &mut Learnt {
        self.learnt.as_deref_mut().expect("given back only at the end")
    }
}
