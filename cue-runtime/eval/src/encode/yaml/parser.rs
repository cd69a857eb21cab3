//! YAML tokens as events: the grammar of nodes, with an explicit stack of states.

use super::scanner::{Kind, Mark, Problem, Scanner, Token};

/// A piece of a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Event {
    DocumentStart,
    DocumentEnd,
    StreamEnd,
    Alias(String),
    Scalar { node: Node, text: String, plain: bool },
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
            Kind::Scalar { plain, .. } => Kind::Scalar { text: String::new(), plain: *plain },
            other => other.clone(),
        };
        Ok(Token { kind, start: token.start, end: token.end })
    }

    fn pop(&mut self) -> State {
        self.states.pop().unwrap_or(State::End)
    }

    fn empty(mark: Mark) -> Parse {
        Ok((Event::Scalar { node: Node::default(), text: String::new(), plain: true }, mark))
    }

    /// The next event.
    pub(super) fn next(&mut self) -> Parse {
        match self.state {
            State::ImplicitDocument => self.document_start(true),
            State::Document => self.document_start(false),
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
                self.node(true, false)
            }
            State::DocumentEnd => {
                let token = self.peek()?;
                if token.kind == Kind::DocumentEnd {
                    self.scanner.skip();
                    self.state = State::ImplicitDocument;
                } else {
                    self.state = State::Document;
                }
                self.handles.clear();
                self.versioned = false;
                Ok((Event::DocumentEnd, token.start))
            }
            State::BlockNode => self.node(true, false),
            State::BlockSequence => {
                let token = self.peek()?;
                match token.kind {
                    Kind::BlockEntry => {
                        self.scanner.skip();
                        self.entry(State::BlockSequence, token.end, &[Kind::BlockEntry, Kind::BlockEnd])
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
                        self.node(true, true)
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
                self.node(true, true)
            }
            State::FlowFirstItem => self.flow_item(true),
            State::FlowItem => self.flow_item(false),
            State::PairKey => {
                let token = self.peek()?;
                if matches!(token.kind, Kind::Value | Kind::FlowEntry | Kind::FlowSequenceEnd) {
                    self.state = State::PairValue;
                    return Self::empty(token.start);
                }
                self.states.push(State::PairValue);
                self.node(false, false)
            }
            State::PairValue => {
                let token = self.peek()?;
                if token.kind == Kind::Value {
                    self.scanner.skip();
                    let next = self.peek()?;
                    if !matches!(next.kind, Kind::FlowEntry | Kind::FlowSequenceEnd) {
                        self.states.push(State::PairEnd);
                        return self.node(false, false);
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
            State::FlowFirstKey => self.flow_key(true),
            State::FlowKey => self.flow_key(false),
            State::FlowValue | State::FlowEmptyValue => {
                let token = self.peek()?;
                if self.state == State::FlowValue && token.kind == Kind::Value {
                    self.scanner.skip();
                    let next = self.peek()?;
                    if !matches!(next.kind, Kind::FlowEntry | Kind::FlowMappingEnd) {
                        self.states.push(State::FlowKey);
                        return self.node(false, false);
                    }
                }
                self.state = State::FlowKey;
                Self::empty(token.start)
            }
            State::End => Ok((Event::StreamEnd, Mark::default())),
        }
    }

    fn document_start(&mut self, implicit: bool) -> Parse {
        let mut token = self.peek()?;
        while token.kind == Kind::DocumentEnd {
            self.scanner.skip();
            token = self.peek()?;
        }
        let directive = matches!(token.kind, Kind::Version(..) | Kind::TagDirective(..));
        if token.kind == Kind::StreamEnd {
            self.state = State::End;
            return Ok((Event::StreamEnd, token.start));
        }
        if implicit && !directive && token.kind != Kind::DocumentStart {
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
        self.node(true, false)
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

    fn flow_item(&mut self, first: bool) -> Parse {
        let mut token = self.peek()?;
        if token.kind != Kind::FlowSequenceEnd {
            if !first {
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
                return self.node(false, false);
            }
        }
        self.finish(Event::SequenceEnd, token)
    }

    fn flow_key(&mut self, first: bool) -> Parse {
        let mut token = self.peek()?;
        if token.kind != Kind::FlowMappingEnd {
            if !first {
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
                    return self.node(false, false);
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
                return self.node(false, false);
            }
        }
        self.finish(Event::MappingEnd, token)
    }

    fn node(&mut self, block: bool, indentless: bool) -> Parse {
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
            Kind::BlockEntry if indentless => {
                self.state = State::Indentless;
                Ok((Event::SequenceStart(node), start))
            }
            Kind::Scalar { plain, .. } => {
                let text = match self.scanner.skip() {
                    Some(Token { kind: Kind::Scalar { text, .. }, .. }) => text,
                    _ => String::new(),
                };
                self.state = self.pop();
                Ok((Event::Scalar { node, text, plain }, start))
            }
            Kind::FlowSequenceStart => self.begin(State::FlowFirstItem, Event::SequenceStart(node), start),
            Kind::FlowMappingStart => self.begin(State::FlowFirstKey, Event::MappingStart(node), start),
            Kind::BlockSequenceStart if block => {
                self.begin(State::BlockSequence, Event::SequenceStart(node), start)
            }
            Kind::BlockMappingStart if block => {
                self.begin(State::BlockKey, Event::MappingStart(node), start)
            }
            _ if node != Node::default() => {
                self.state = self.pop();
                Ok((Event::Scalar { node, text: String::new(), plain: true }, start))
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
