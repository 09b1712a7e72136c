//! HTML → the robots meta elements that the standard puts in `head` (TAG-7, TAG-8).
//!
//! The tokenizer is a library. This file has the standard's insertion modes up to the end of the head,
//! with scripting on, so that no tree has to be built. Reading stops at the first token that opens the
//! body.

use std::borrow::Cow;
use std::convert::Infallible;

use encoding_rs::{Encoding, UTF_8};
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, State, Tokenizer};

use super::html_text::{charset_of, encoding_of};
use super::x_robots_tag::{MOST_UNKNOWN, read_content};
use super::{FoundAt, Grammar, Loss, LossKind, PageOptions, Statement};
use crate::span::{LineCounter, Position};

/// Reads the head of a document that comes in chunks.
///
/// ```
/// use mayi::{Crawler, page::{HeadReader, PageControls, PageOptions, Progress}};
///
/// let options = PageOptions::default();
/// let mut head = HeadReader::new(&[("Content-Type", "text/html; charset=utf-8")], options);
/// assert_eq!(head.push(b"<!doctype html><meta name=rob"), Progress::More);
/// assert_eq!(head.push(b"ots content=noindex><body><p>"), Progress::Over);
/// let controls = PageControls::of_head(&[], head, options);
/// assert!(!controls.for_crawler(&Crawler::new("ExampleBot")?).may_index());
/// # Ok::<(), mayi::InvalidProductToken>(())
/// ```
#[derive(Clone, Debug)]
pub struct HeadReader {
    limit: usize,
    header: Option<&'static Encoding>,
    is_text: bool,
    octets: Vec<u8>,
    /// How many octets there must be before the head is read again. After the first few times it doubles, so
    /// that all attempts together take time linear in the input.
    look_at: usize,
    is_over: bool,
    /// What the head has, once it has been read to its end.
    found: Option<Vec<Statement>>,
}

/// How much of a document is looked at first, where there is so much of it.
const FIRST_LOOK: usize = 8 * 1024;

/// Up to this many octets, the head is read again after every chunk that ends a tag.
const EAGER: usize = 4096;

/// Whether more of a document is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Progress {
    /// The head may go on.
    More,
    /// The head has ended, or the limit is reached: nothing that follows counts.
    Over,
}

impl HeadReader {
    /// A reader of a document that came with these header fields.
    pub fn new(fields: &[(&str, &str)], options: PageOptions) -> Self {
        let (limit, header) = (options.html_octets, charset_of(fields));
        Self {
            limit,
            header,
            is_text: false,
            octets: Vec::new(),
            look_at: 0,
            is_over: false,
            found: None,
        }
    }

    /// A reader of a document that is UTF-8 text already.
    pub(super) fn of_text(options: PageOptions) -> Self {
        Self { is_text: true, ..Self::new(&[], options) }
    }

    /// Takes the next chunk, or as much of it as is needed.
    pub fn push(&mut self, chunk: &[u8]) -> Progress {
        self.take(chunk, false);
        if self.is_over { Progress::Over } else { Progress::More }
    }

    /// Takes the last chunk. What there is at the end is read once, by [`finish`](Self::finish).
    pub(super) fn push_last(&mut self, chunk: &[u8]) {
        self.take(chunk, true);
    }

    fn take(&mut self, chunk: &[u8], is_last: bool) {
        let mut rest = chunk;
        while !rest.is_empty() && !self.is_over {
            // A whole page is read piece by piece too, because most of it is not the head.
            let step = self.octets.len().max(FIRST_LOOK).min(self.limit - self.octets.len());
            let (piece, later) = rest.split_at(rest.len().min(step));
            rest = later;
            self.octets.extend_from_slice(piece);
            if self.octets.len() == self.limit {
                self.is_over = true;
            } else if is_last && rest.is_empty() {
                break;
            } else if self.octets.len() >= self.look_at && piece.contains(&b'>') {
                self.look_at = if self.octets.len() < EAGER { 0 } else { self.octets.len() * 2 };
                self.look();
            }
        }
    }

    /// Reads what there is, and keeps what was found if the head has ended in there.
    fn look(&mut self) {
        // Up to the last complete tag: a tag that is cut could be read as text.
        let whole = memchr::memrchr(b'>', &self.octets).map_or(0, |at| at + 1);
        let (is_over, statements) = read_statements(&self.decoded(whole));
        if is_over {
            self.is_over = true;
            self.found = Some(statements);
        }
    }

    /// The statements of the robots meta elements, and what was lost of the head because of the limit, if
    /// anything.
    pub(super) fn finish(self) -> (Vec<Statement>, Option<Loss>) {
        if let Some(statements) = self.found {
            return (statements, None);
        }
        let text = self.decoded(self.octets.len());
        let (is_over, statements) = read_statements(&text);
        let is_cut = !is_over && self.octets.len() == self.limit;
        let cut = is_cut.then(|| {
            let Position { line, column, .. } = LineCounter::new(&text).position_at(text.len() as u32);
            Loss { kind: LossKind::HtmlCut, found: FoundAt::Meta { line: line.number(), column } }
        });
        (statements, cut)
    }

    fn decoded(&self, length: usize) -> Cow<'_, [u8]> {
        let octets = &self.octets[..length];
        let encoding = if self.is_text { UTF_8 } else { encoding_of(octets, self.header) };
        if encoding == UTF_8 {
            // The tokenizer takes octets; what is not UTF-8 stands for itself.
            return Cow::Borrowed(octets.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(octets));
        }
        match encoding.decode_with_bom_removal(octets).0 {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }
    }
}

/// Whether the head of a text has ended, and the statements of its robots meta elements.
fn read_statements(text: &[u8]) -> (bool, Vec<Statement>) {
    let mut metas = Vec::new();
    let is_over = read_head(text, &mut metas);
    let mut counter = LineCounter::new(text);
    // Statements for all crawlers have a limit of their own: the names of other metadata can be names of
    // crawlers too.
    let mut rooms = [MOST_UNKNOWN; 2];
    let statements = metas.into_iter().filter_map(|meta| meta.statement(&mut counter, &mut rooms));
    (is_over, statements.collect())
}

/// A meta element in the head.
struct Meta {
    at: usize,
    name: Option<Vec<u8>>,
    content: Option<Vec<u8>>,
}

impl Meta {
    fn statement(self, counter: &mut LineCounter<'_>, rooms: &mut [usize; 2]) -> Option<Statement> {
        let name = String::from_utf8_lossy(self.name.as_deref()?.trim_ascii()).into_owned();
        let content = String::from_utf8_lossy(self.content.as_deref()?).into_owned();
        // Other metadata has names that no crawler has; its content is ignored.
        crate::ProductToken::new(&name).ok()?;
        let token = (!name.eq_ignore_ascii_case("robots")).then_some(name);
        let Position { line, column, .. } = counter.position_at(self.at as u32);
        let found = FoundAt::Meta { line: line.number(), column };
        let room = &mut rooms[usize::from(token.is_some())];
        Some(Statement {
            token: token.map(Into::into),
            grammar: Grammar::United,
            rules: read_content(&content, room),
            found,
        })
    }
}

/// What the tokenizer tells the insertion modes.
enum Event {
    Start { name: Vec<u8>, meta: Option<Meta>, is_self_closing: bool },
    End { name: Vec<u8> },
    Text { is_blank: bool },
}

/// Collects the metas of the head; says whether the head has ended.
fn read_head(text: &[u8], metas: &mut Vec<Meta>) -> bool {
    let mut tag = OpenTag::default();
    let emitter =
        CallbackEmitter::new(move |event: CallbackEvent<'_>, span: Span<usize>| tag.take(&event, span));
    let mut tokenizer = Tokenizer::new_with_emitter(text, emitter);
    let mut builder = Builder::default();
    while let Some(event) = tokenizer.next() {
        let Ok(event): Result<Event, Infallible> = event;
        match builder.take(event) {
            Next::GoOn => {}
            Next::Keep(meta) => metas.push(meta),
            Next::Switch(state) => tokenizer.set_state(state),
            Next::Over => return true,
        }
    }
    false
}

/// The start tag that is being read, of which only a meta's attributes matter.
#[derive(Default)]
struct OpenTag {
    name: Vec<u8>,
    meta: Option<Meta>,
    attribute: Attribute,
}

#[derive(Clone, Copy, Default)]
enum Attribute {
    Name,
    Content,
    #[default]
    Other,
}

impl OpenTag {
    fn take(&mut self, event: &CallbackEvent<'_>, span: Span<usize>) -> Option<Event> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.name = name.to_vec();
                let meta = || Meta { at: span.start, name: None, content: None };
                self.meta = (*name == b"meta").then(meta);
                self.attribute = Attribute::Other;
            }
            CallbackEvent::AttributeName { name } => {
                // The first attribute of a name counts, also where it has no value.
                let Some(meta) = &mut self.meta else { return None };
                self.attribute = match *name {
                    b"name" if meta.name.is_none() => {
                        meta.name = Some(Vec::new());
                        Attribute::Name
                    }
                    b"content" if meta.content.is_none() => {
                        meta.content = Some(Vec::new());
                        Attribute::Content
                    }
                    _ => Attribute::Other,
                };
            }
            CallbackEvent::AttributeValue { value } => {
                let meta = self.meta.as_mut()?;
                match self.attribute {
                    Attribute::Name => meta.name = Some(value.to_vec()),
                    Attribute::Content => meta.content = Some(value.to_vec()),
                    Attribute::Other => {}
                }
            }
            CallbackEvent::CloseStartTag { self_closing } => {
                let (name, meta) = (std::mem::take(&mut self.name), self.meta.take());
                return Some(Event::Start { name, meta, is_self_closing: *self_closing });
            }
            CallbackEvent::EndTag { name } => {
                self.meta = None;
                return Some(Event::End { name: name.to_vec() });
            }
            CallbackEvent::String { value } => {
                return Some(Event::Text { is_blank: value.iter().all(|&octet| is_blank(octet)) });
            }
            CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {
            }
        }
        None
    }
}

/// The white space of the standard's insertion modes.
fn is_blank(octet: u8) -> bool {
    matches!(octet, b' ' | b'\t' | b'\n' | 0x0C | b'\r')
}

/// What is to be done after an event.
enum Next {
    GoOn,
    Keep(Meta),
    Switch(State),
    Over,
}

/// The insertion modes from "initial" to "after head", as far as metas and the end of the head need
/// them. Before, in and after the head nearly the same elements belong to it, so these are one mode.
#[derive(Default)]
struct Builder {
    /// Whether `</head>` was there. A `noscript` then opens the body; all else is as before.
    is_after_head: bool,
    /// How many `template` elements are open.
    templates: usize,
    /// How many `svg` and `math` elements are open within them.
    foreign: usize,
    /// How many elements called `template` are open within those; they are not HTML's templates.
    foreign_templates: usize,
    /// Whether the content of an element without markup is being read.
    in_raw_text: bool,
}

impl Builder {
    fn take(&mut self, event: Event) -> Next {
        match event {
            Event::Text { .. } if self.in_raw_text || self.templates > 0 => Next::GoOn,
            Event::Text { is_blank: true } => Next::GoOn,
            Event::Text { is_blank: false } => Next::Over,
            Event::Start { name, meta, is_self_closing } => self.start(&name, meta, is_self_closing),
            Event::End { name } => self.end(&name),
        }
    }

    fn start(&mut self, name: &[u8], meta: Option<Meta>, is_self_closing: bool) -> Next {
        if self.foreign > 0 {
            if matches!(name, b"svg" | b"math") && !is_self_closing {
                self.foreign += 1;
            } else if name == b"template" && !is_self_closing {
                self.foreign_templates += 1;
            }
            return Next::GoOn;
        }
        match (name, self.templates) {
            (b"template", _) => {
                self.templates += 1;
                Next::GoOn
            }
            (b"title", _) => self.raw_text(State::RcData),
            (b"noscript", 0) if self.is_after_head => Next::Over,
            (b"style" | b"noframes" | b"noscript", _) => self.raw_text(State::RawText),
            (b"script", _) => self.raw_text(State::ScriptData),
            (b"meta", 0) => meta.map_or(Next::GoOn, Next::Keep),
            (b"html" | b"head" | b"base" | b"basefont" | b"bgsound" | b"link", 0) => Next::GoOn,
            (_, 0) => Next::Over,
            // Within a template everything is allowed, and only what changes the tokenizer matters.
            (b"textarea", _) => self.raw_text(State::RcData),
            (b"xmp" | b"iframe" | b"noembed", _) => self.raw_text(State::RawText),
            (b"plaintext", _) => self.raw_text(State::PlainText),
            (b"svg" | b"math", _) if !is_self_closing => {
                self.foreign += 1;
                Next::GoOn
            }
            _ => Next::GoOn,
        }
    }

    fn end(&mut self, name: &[u8]) -> Next {
        if self.in_raw_text {
            self.in_raw_text = false;
            return Next::GoOn;
        }
        match (name, self.templates) {
            (b"template", 1..) if self.foreign_templates > 0 => {
                self.foreign_templates -= 1;
                Next::GoOn
            }
            (b"template", 1..) => {
                self.templates -= 1;
                self.foreign = 0;
                Next::GoOn
            }
            (b"svg" | b"math", 1..) => {
                self.foreign = self.foreign.saturating_sub(1);
                self.foreign_templates = 0;
                Next::GoOn
            }
            (b"head", 0) => {
                self.is_after_head = true;
                Next::GoOn
            }
            // An end tag that opens the body it is said to end.
            (b"body" | b"html" | b"br", 0) => Next::Over,
            _ => Next::GoOn,
        }
    }

    fn raw_text(&mut self, state: State) -> Next {
        self.in_raw_text = true;
        Next::Switch(state)
    }
}
