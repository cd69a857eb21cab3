//! YAML tokens as events: the grammar of nodes, with an explicit stack of states.

use super::scanner::{Kind, Mark, Problem, Scanner, Style, Token};

/// A piece of a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Event {
    DocumentStart,
    DocumentEnd,
    StreamEnd,
    Alias(String),
    Scalar { node: Node, text: String, style: Style },
    SequenceStart(Node),
    SequenceEnd,
    MappingStart(Node),
    MappingEnd,
}

/// What stands before a node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Node {
    pub(super) anchor: Option<String>,
    /// With its prefix put in.
    pub(super) tag: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    ImplicitDocument,
    Document,
    Content,
    DocumentEnd,
    BlockNode,
    BlockSequence,
    Indentless,
    BlockKey,
    BlockValue,
    FlowFirstItem,
    FlowItem,
    PairKey,
    PairValue,
    PairEnd,
    FlowFirstKey,
    FlowKey,
    FlowValue,
    FlowEmptyValue,
    End,
}

/// Whether a document may begin without `---`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Implicit,
    Explicit,
}

/// Whether a comma must come before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    First,
    Later,
}

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Flow,
    Block,
    /// Key or value of a block mapping: a sequence need not be indented.
    Value,
}

pub(super) struct Parser<'a> {
    scanner: Scanner<'a>,
    state: State,
    states: Vec<State>,
    marks: Vec<Mark>,
    handles: Vec<(String, String)>,
    versioned: bool,
}

type Parse = Result<(Event, Mark), Problem>;

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Parser<'a> {
        Parser {
            scanner: Scanner::new(text),
            state: State::ImplicitDocument,
            states: Vec::new(),
            marks: Vec::new(),
            handles: Vec::new(),
            versioned: false,
        }
    }

    fn peek(&mut self) -> Result<Token, Problem> {
        // Scalars are taken out by `skip`; here only the kind matters.
        let token = self.scanner.peek()?;
        let kind = match &token.kind {
            Kind::Scalar { style, .. } => Kind::Scalar { text: String::new(), style: *style },
            other => other.clone(),
        };
        Ok(Token { kind, start: token.start, end: token.end })
    }

    fn pop(&mut self) -> State {
        self.states.pop().unwrap_or(State::End)
    }

    fn empty(mark: Mark) -> Parse {
        Ok((
            Event::Scalar { node: Node::default(), text: String::new(), style: Style::Plain },
            mark,
        ))
    }

    /// The next event.
    pub(super) fn next(&mut self) -> Parse {
        match self.state {
            State::ImplicitDocument => self.document_start(Start::Implicit),
            State::Document => self.document_start(Start::Explicit),
            State::Content => {
                let token = self.peek()?;
                let ends = matches!(
                    token.kind,
                    Kind::Version(..)
                        | Kind::TagDirective(..)
                        | Kind::DocumentStart
                        | Kind::DocumentEnd
                        | Kind::StreamEnd
                );
                if ends {
                    self.state = self.pop();
                    return Self::empty(token.start);
                }
                self.node(Context::Block)
            }
            State::DocumentEnd => {
                let token = self.peek()?;
                // What follows begins with `---`, whatever ends this.
                if token.kind == Kind::DocumentEnd {
                    self.scanner.skip();
                }
                self.state = State::Document;
                self.handles.clear();
                self.versioned = false;
                Ok((Event::DocumentEnd, token.start))
            }
            State::BlockNode => self.node(Context::Block),
            State::BlockSequence => {
                let token = self.peek()?;
                match token.kind {
                    Kind::BlockEntry => {
                        self.scanner.skip();
                        self.entry(
                            State::BlockSequence,
                            token.end,
                            &[Kind::BlockEntry, Kind::BlockEnd],
                        )
                    }
                    Kind::BlockEnd => self.finish(Event::SequenceEnd, token),
                    _ => Err(self.misplaced("did not find expected '-' indicator", &token)),
                }
            }
            State::Indentless => {
                let token = self.peek()?;
                if token.kind == Kind::BlockEntry {
                    self.scanner.skip();
                    let ends = [Kind::BlockEntry, Kind::Key, Kind::Value, Kind::BlockEnd];
                    return self.entry(State::Indentless, token.end, &ends);
                }
                self.state = self.pop();
                Ok((Event::SequenceEnd, token.start))
            }
            State::BlockKey => {
                let token = self.peek()?;
                match token.kind {
                    Kind::Key => {
                        self.scanner.skip();
                        let next = self.peek()?;
                        if matches!(next.kind, Kind::Key | Kind::Value | Kind::BlockEnd) {
                            self.state = State::BlockValue;
                            return Self::empty(token.end);
                        }
                        self.states.push(State::BlockValue);
                        self.node(Context::Value)
                    }
                    Kind::BlockEnd => self.finish(Event::MappingEnd, token),
                    _ => Err(self.misplaced("did not find expected key", &token)),
                }
            }
            State::BlockValue => {
                let token = self.peek()?;
                if token.kind != Kind::Value {
                    self.state = State::BlockKey;
                    return Self::empty(token.start);
                }
                self.scanner.skip();
                let next = self.peek()?;
                if matches!(next.kind, Kind::Key | Kind::Value | Kind::BlockEnd) {
                    self.state = State::BlockKey;
                    return Self::empty(token.end);
                }
                self.states.push(State::BlockKey);
                self.node(Context::Value)
            }
            State::FlowFirstItem => self.flow_item(Turn::First),
            State::FlowItem => self.flow_item(Turn::Later),
            State::PairKey => {
                let token = self.peek()?;
                if matches!(token.kind, Kind::Value | Kind::FlowEntry | Kind::FlowSequenceEnd) {
                    self.state = State::PairValue;
                    return Self::empty(token.start);
                }
                self.states.push(State::PairValue);
                self.node(Context::Flow)
            }
            State::PairValue => {
                let token = self.peek()?;
                if token.kind == Kind::Value {
                    self.scanner.skip();
                    let next = self.peek()?;
                    if !matches!(next.kind, Kind::FlowEntry | Kind::FlowSequenceEnd) {
                        self.states.push(State::PairEnd);
                        return self.node(Context::Flow);
                    }
                }
                self.state = State::PairEnd;
                Self::empty(token.start)
            }
            State::PairEnd => {
                let token = self.peek()?;
                self.state = State::FlowItem;
                Ok((Event::MappingEnd, token.start))
            }
            State::FlowFirstKey => self.flow_key(Turn::First),
            State::FlowKey => self.flow_key(Turn::Later),
            State::FlowValue | State::FlowEmptyValue => {
                let token = self.peek()?;
                if self.state == State::FlowValue && token.kind == Kind::Value {
                    self.scanner.skip();
                    let next = self.peek()?;
                    if !matches!(next.kind, Kind::FlowEntry | Kind::FlowMappingEnd) {
                        self.states.push(State::FlowKey);
                        return self.node(Context::Flow);
                    }
                }
                self.state = State::FlowKey;
                Self::empty(token.start)
            }
            State::End => Ok((Event::StreamEnd, Mark::default())),
        }
    }

    fn document_start(&mut self, start: Start) -> Parse {
        let mut token = self.peek()?;
        while start == Start::Explicit && token.kind == Kind::DocumentEnd {
            self.scanner.skip();
            token = self.peek()?;
        }
        let directive = matches!(token.kind, Kind::Version(..) | Kind::TagDirective(..));
        if token.kind == Kind::StreamEnd {
            self.state = State::End;
            return Ok((Event::StreamEnd, token.start));
        }
        if start == Start::Implicit && !directive && token.kind != Kind::DocumentStart {
            self.states.push(State::DocumentEnd);
            self.state = State::BlockNode;
            return Ok((Event::DocumentStart, token.start));
        }
        let start = token.start;
        while let Kind::Version(..) | Kind::TagDirective(..) = token.kind {
            let problem = |message| Problem {
                message,
                context: Mark::default(),
                mark: token.start,
                scanner: false,
            };
            match &token.kind {
                Kind::Version(..) if self.versioned => {
                    return Err(problem("found duplicate %YAML directive"));
                }
                Kind::Version(1, 1) => self.versioned = true,
                Kind::Version(..) => return Err(problem("found incompatible YAML document")),
                Kind::TagDirective(handle, prefix) => {
                    if self.handles.iter().any(|it| it.0 == *handle) {
                        return Err(problem("found duplicate %TAG directive"));
                    }
                    self.handles.push((handle.clone(), prefix.clone()));
                }
                _ => {}
            }
            self.scanner.skip();
            token = self.peek()?;
        }
        if token.kind != Kind::DocumentStart {
            return Err(Problem {
                message: "did not find expected <document start>",
                context: Mark::default(),
                mark: token.start,
                scanner: false,
            });
        }
        self.scanner.skip();
        self.states.push(State::DocumentEnd);
        self.state = State::Content;
        Ok((Event::DocumentStart, start))
    }

    /// An element of a block sequence, empty if one of `ends` follows.
    fn entry(&mut self, state: State, after: Mark, ends: &[Kind]) -> Parse {
        let next = self.peek()?;
        if ends.contains(&next.kind) {
            self.state = state;
            return Self::empty(after);
        }
        self.states.push(state);
        self.node(Context::Block)
    }

    fn finish(&mut self, event: Event, token: Token) -> Parse {
        self.scanner.skip();
        self.marks.pop();
        self.state = self.pop();
        Ok((event, token.start))
    }

    /// An error within the collection that began at the last mark.
    fn misplaced(&mut self, message: &'static str, token: &Token) -> Problem {
        let context = self.marks.pop().unwrap_or_default();
        Problem { message, context, mark: token.start, scanner: false }
    }

    fn flow_item(&mut self, turn: Turn) -> Parse {
        let mut token = self.peek()?;
        if token.kind != Kind::FlowSequenceEnd {
            if turn == Turn::Later {
                if token.kind != Kind::FlowEntry {
                    return Err(self.misplaced("did not find expected ',' or ']'", &token));
                }
                self.scanner.skip();
                token = self.peek()?;
            }
            if token.kind == Kind::Key {
                self.scanner.skip();
                self.state = State::PairKey;
                return Ok((Event::MappingStart(Node::default()), token.start));
            }
            if token.kind != Kind::FlowSequenceEnd {
                self.states.push(State::FlowItem);
                return self.node(Context::Flow);
            }
        }
        self.finish(Event::SequenceEnd, token)
    }

    fn flow_key(&mut self, turn: Turn) -> Parse {
        let mut token = self.peek()?;
        if token.kind != Kind::FlowMappingEnd {
            if turn == Turn::Later {
                if token.kind != Kind::FlowEntry {
                    return Err(self.misplaced("did not find expected ',' or '}'", &token));
                }
                self.scanner.skip();
                token = self.peek()?;
            }
            if token.kind == Kind::Key {
                self.scanner.skip();
                let next = self.peek()?;
                if !matches!(next.kind, Kind::Value | Kind::FlowEntry | Kind::FlowMappingEnd) {
                    self.states.push(State::FlowValue);
                    return self.node(Context::Flow);
                }
                self.state = State::FlowValue;
                return Self::empty(next.start);
            }
            if token.kind == Kind::Value {
                self.state = State::FlowValue;
                return Self::empty(token.start);
            }
            if token.kind != Kind::FlowMappingEnd {
                self.states.push(State::FlowEmptyValue);
                return self.node(Context::Flow);
            }
        }
        self.finish(Event::MappingEnd, token)
    }

    fn node(&mut self, context: Context) -> Parse {
        let block = context != Context::Flow;
        let mut token = self.peek()?;
        if let Kind::Alias(name) = token.kind {
            self.scanner.skip();
            self.state = self.pop();
            return Ok((Event::Alias(name), token.start));
        }
        let start = token.start;
        let mut node = Node::default();
        loop {
            match token.kind {
                Kind::Anchor(name) if node.anchor.is_none() => node.anchor = Some(name),
                Kind::Tag(handle, suffix) if node.tag.is_none() => {
                    node.tag = Some(self.resolve(&handle, suffix, start, token.start)?);
                }
                _ => break,
            }
            self.scanner.skip();
            token = self.peek()?;
        }
        match token.kind {
            Kind::BlockEntry if context == Context::Value => {
                self.state = State::Indentless;
                Ok((Event::SequenceStart(node), start))
            }
            Kind::Scalar { style, .. } => {
                let text = match self.scanner.skip() {
                    Some(Token { kind: Kind::Scalar { text, .. }, .. }) => text,
                    _ => String::new(),
                };
                self.state = self.pop();
                Ok((Event::Scalar { node, text, style }, start))
            }
            Kind::FlowSequenceStart => {
                self.begin(State::FlowFirstItem, Event::SequenceStart(node), start)
            }
            Kind::FlowMappingStart => {
                self.begin(State::FlowFirstKey, Event::MappingStart(node), start)
            }
            Kind::BlockSequenceStart if block => {
                self.begin(State::BlockSequence, Event::SequenceStart(node), start)
            }
            Kind::BlockMappingStart if block => {
                self.begin(State::BlockKey, Event::MappingStart(node), start)
            }
            _ if node != Node::default() => {
                self.state = self.pop();
                Ok((Event::Scalar { node, text: String::new(), style: Style::Plain }, start))
            }
            _ => Err(Problem {
                message: "did not find expected node content",
                context: start,
                mark: token.start,
                scanner: false,
            }),
        }
    }

    /// Enters a collection, past the token that opens it.
    fn begin(&mut self, state: State, event: Event, start: Mark) -> Parse {
        if let Some(token) = self.scanner.skip() {
            self.marks.push(token.start);
        }
        self.state = state;
        Ok((event, start))
    }

    fn resolve(
        &self,
        handle: &str,
        suffix: String,
        start: Mark,
        mark: Mark,
    ) -> Result<String, Problem> {
        if handle.is_empty() {
            return Ok(suffix);
        }
        let known = self.handles.iter().find(|it| it.0 == handle).map(|it| it.1.as_str());
        let prefix = match (known, handle) {
            (Some(prefix), _) => prefix,
            (None, "!") => "!",
            (None, "!!") => "tag:yaml.org,2002:",
            (None, _) => {
                let message = "found undefined tag handle";
                return Err(Problem { message, context: start, mark, scanner: false });
            }
        };
        Ok(format!("{prefix}{suffix}"))
    }
}
