//! The syntax of Go templates: from tokens to trees.

use super::lexer::{Kind, Lexer, Token};
use super::literal;
use super::tree::{Base, Command, Node, Pipeline, Template, Templates, Term};
use crate::datum::Datum;
use crate::go_value::Value;
use crate::quoting::{Plain, go_quote};

/// Blocks and parentheses nested deeper than this are refused.
const DEPTH: usize = 100;

const FUNCTIONS: &[&str] = &[
    "and", "or", "not", "len", "index", "slice", "eq", "ne", "lt", "le", "gt", "ge", "print",
    "printf", "println", "html", "js", "urlquery", "call",
];

/// What an action is.
enum Item {
    Node(Node),
    Stop(Stop),
}

/// What ends a list of nodes.
enum Stop {
    End,
    Else,
}

impl Stop {
    fn shown(&self) -> &'static str {
        match self {
            Stop::End => "{{end}}",
            Stop::Else => "{{else}}",
        }
    }
}

type Parse<T> = Result<T, String>;

pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    /// Tokens that come again, the next one last.
    again: Vec<Token<'a>>,
    /// The line of the last token that was read.
    line: usize,
    /// The line that the action began in, 0 outside of one.
    action: usize,
    variables: Vec<&'a str>,
    loops: usize,
    depth: usize,
    parens: usize,
    defined: Templates,
}

impl<'a> Parser<'a> {
    /// The trees of a template and of those that it defines.
    pub(super) fn parse(text: &'a str) -> Parse<Templates> {
        let mut parser = Parser {
            lexer: Lexer::new(text),
            again: Vec::new(),
            line: 1,
            action: 0,
            variables: vec!["$"],
            loops: 0,
            depth: 0,
            parens: 0,
            defined: Vec::new(),
        };
        let mut nodes = Vec::new();
        loop {
            let open = parser.next();
            if open.kind == Kind::End {
                break;
            }
            if open.kind == Kind::Open {
                let token = parser.past_spaces();
                if token.text == "define" && token.kind == Kind::Keyword {
                    parser.define()?;
                    continue;
                }
                parser.again.push(token);
            }
            parser.again.push(open);
            match parser.item()? {
                Item::Node(node) => nodes.push(node),
                Item::Stop(stop) => {
                    return Err(parser.error(&format!("unexpected {}", stop.shown())));
                }
            }
        }
        parser.add(String::new(), nodes)?;
        Ok(parser.defined)
    }

    fn next(&mut self) -> Token<'a> {
        self.again.pop().unwrap_or_else(|| {
            let token = self.lexer.next();
            self.line = token.line;
            token
        })
    }

    fn past_spaces(&mut self) -> Token<'a> {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    /// The next token that is no space, which comes again.
    fn peek(&mut self) -> Token<'a> {
        let token = self.past_spaces();
        self.again.push(token);
        token
    }

    fn error(&self, reason: &str) -> String {
        format!("template: :{}: {reason}", self.line)
    }

    fn unexpected<T>(&self, token: Token<'a>, context: &str) -> Parse<T> {
        if token.kind != Kind::Error {
            return Err(self.error(&format!("unexpected {} in {context}", token.shown())));
        }
        let wrong = &self.lexer.wrong;
        let action = self.action;
        Err(self.error(&match action == 0 || action == token.line {
            true => wrong.clone(),
            false if wrong.ends_with(" action") => format!("{wrong} started at :{action}"),
            false => format!("{wrong} in action started at :{action}"),
        }))
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Parse<Token<'a>> {
        let token = self.past_spaces();
        if token.kind == kind { Ok(token) } else { self.unexpected(token, context) }
    }

    /// Keeps a template under its name. Of two one has to be blank.
    fn add(&mut self, name: String, nodes: Vec<Node>) -> Parse<()> {
        let blank = |nodes: &[Node]| {
            nodes.iter().all(|it| matches!(it, Node::Text(text) if text.trim().is_empty()))
        };
        match self.defined.binary_search_by(|it| it.0.cmp(&name)) {
            Err(at) => self.defined.insert(at, (name, nodes)),
            Ok(at) if blank(&self.defined[at].1) => self.defined[at].1 = nodes,
            Ok(_) if blank(&nodes) => {}
            Ok(_) => {
                let name = go_quote(&name, '"', Plain::Print);
                let reason = format!("template: multiple definition of template {name}");
                return Err(self.error(&reason));
            }
        }
        Ok(())
    }

    /// The name of a template.
    fn name(&mut self, context: &str) -> Parse<(Token<'a>, String)> {
        let token = self.past_spaces();
        match token.kind {
            Kind::Quoted | Kind::Raw => match literal::text(token.text) {
                Ok(name) => Ok((token, name)),
                Err(reason) => Err(self.error(&reason)),
            },
            _ => self.unexpected(token, context),
        }
    }

    fn define(&mut self) -> Parse<()> {
        const CONTEXT: &str = "define clause";
        let (_, name) = self.name(CONTEXT)?;
        self.expect(Kind::Close, CONTEXT)?;
        self.template(name, CONTEXT)
    }

    /// The inside of a template of its own, up to its end.
    fn template(&mut self, name: String, context: &str) -> Parse<()> {
        let variables = std::mem::replace(&mut self.variables, vec!["$"]);
        let loops = std::mem::take(&mut self.loops);
        let action = std::mem::take(&mut self.action);
        let (nodes, stop) = self.nodes()?;
        if let Stop::Else = stop {
            return Err(self.error(&format!("unexpected {} in {context}", stop.shown())));
        }
        self.add(name, nodes)?;
        (self.variables, self.loops, self.action) = (variables, loops, action);
        Ok(())
    }

    fn nodes(&mut self) -> Parse<(Vec<Node>, Stop)> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.error("blocks nest too deeply"));
        }
        let mut nodes = Vec::new();
        while self.peek().kind != Kind::End {
            match self.item()? {
                Item::Node(node) => nodes.push(node),
                Item::Stop(stop) => {
                    self.depth -= 1;
                    return Ok((nodes, stop));
                }
            }
        }
        Err(self.error("unexpected EOF"))
    }

    /// A text or an action.
    fn item(&mut self) -> Parse<Item> {
        let token = self.past_spaces();
        match token.kind {
            Kind::Text => Ok(Item::Node(Node::Text(token.text.to_owned()))),
            Kind::Open => {
                self.action = token.line;
                let item = self.action();
                self.action = 0;
                item
            }
            _ => self.unexpected(token, "input"),
        }
    }

    fn action(&mut self) -> Parse<Item> {
        let token = self.past_spaces();
        let word = if token.kind == Kind::Keyword { token.text } else { "" };
        Ok(Item::Node(match word {
            "end" => {
                self.expect(Kind::Close, "end")?;
                return Ok(Item::Stop(Stop::End));
            }
            "else" => {
                // What follows is read as if it began an action.
                if !is_word(self.peek(), &["if", "with"]) {
                    self.expect(Kind::Close, "else")?;
                }
                return Ok(Item::Stop(Stop::Else));
            }
            "if" | "with" | "range" => self.block(word)?,
            "block" => {
                const CONTEXT: &str = "block clause";
                let (token, name) = self.name(CONTEXT)?;
                let data = Some(self.pipeline(CONTEXT, Kind::Close)?);
                self.template(name.clone(), CONTEXT)?;
                Node::Template(Template { at: token.at, name, data })
            }
            "template" => {
                const CONTEXT: &str = "template clause";
                let (token, name) = self.name(CONTEXT)?;
                let next = self.past_spaces();
                let data = if next.kind == Kind::Close {
                    None
                } else {
                    self.again.push(next);
                    Some(self.pipeline(CONTEXT, Kind::Close)?)
                };
                Node::Template(Template { at: token.at, name, data })
            }
            "break" | "continue" => {
                let shown = format!("{{{{{word}}}}}");
                self.expect(Kind::Close, &shown)?;
                if self.loops == 0 {
                    return Err(self.error(&format!("{shown} outside {{{{range}}}}")));
                }
                if word == "break" { Node::Break } else { Node::Continue }
            }
            _ => {
                self.again.push(token);
                Node::Action(self.pipeline("command", Kind::Close)?)
            }
        }))
    }

    fn block(&mut self, word: &str) -> Parse<Node> {
        let known = self.variables.len();
        let pipeline = self.pipeline(word, Kind::Close)?;
        self.loops += usize::from(word == "range");
        let (body, stop) = self.nodes()?;
        self.loops -= usize::from(word == "range");
        let otherwise = match stop {
            Stop::End => Vec::new(),
            Stop::Else if word != "range" && is_word(self.peek(), &[word]) => {
                self.past_spaces();
                self.depth += 1;
                if self.depth > DEPTH {
                    return Err(self.error("blocks nest too deeply"));
                }
                let node = self.block(word)?;
                self.depth -= 1;
                vec![node]
            }
            Stop::Else => {
                let (nodes, stop) = self.nodes()?;
                if let Stop::Else = stop {
                    return Err(self.error("expected end; found {{else}}"));
                }
                nodes
            }
        };
        self.variables.truncate(known);
        Ok(match word {
            "if" => Node::If(pipeline, body, otherwise),
            "with" => Node::With(pipeline, body, otherwise),
            _ => Node::Range(pipeline, body, otherwise),
        })
    }

    fn pipeline(&mut self, context: &str, end: Kind) -> Parse<Pipeline> {
        let at = self.peek().at;
        let mut it = Pipeline { at, variables: Vec::new(), assigns: false, commands: Vec::new() };
        self.declaration(&mut it, context)?;
        loop {
            let token = self.past_spaces();
            match token.kind {
                kind if kind == end => break,
                Kind::Bool
                | Kind::Character
                | Kind::Dot
                | Kind::Field
                | Kind::Name
                | Kind::Number
                | Kind::Nil
                | Kind::Raw
                | Kind::Quoted
                | Kind::Variable
                | Kind::LeftParen => {
                    self.again.push(token);
                    it.commands.push(self.command()?);
                }
                _ => return self.unexpected(token, context),
            }
        }
        if it.commands.is_empty() {
            return Err(self.error(&format!("missing value for {context}")));
        }
        let inert = it.commands.iter().skip(1).position(|it| match it.words.first() {
            Some(Term { base: Base::Dot, fields, .. }) => fields.is_empty(),
            Some(Term { base: Base::Nil | Base::Literal(..), .. }) => true,
            _ => false,
        });
        if let Some(at) = inert {
            let reason = format!("non executable command in pipeline stage {}", at + 2);
            return Err(self.error(&reason));
        }
        Ok(it)
    }

    /// `$x :=`, `$i, $x :=`, `$x =`, or nothing.
    fn declaration(&mut self, it: &mut Pipeline, context: &str) -> Parse<()> {
        loop {
            let variable = self.peek();
            if variable.kind != Kind::Variable {
                return Ok(());
            }
            self.past_spaces();
            let after = self.next();
            self.again.push(after);
            let next = self.past_spaces();
            let comma = next.kind == Kind::Other && next.text == ",";
            if !comma && !matches!(next.kind, Kind::Assign | Kind::Declare) {
                self.again.push(next);
                if after.kind == Kind::Space {
                    self.again.push(after);
                }
                self.again.push(variable);
                return Ok(());
            }
            it.variables.push(variable.text.to_owned());
            self.variables.push(variable.text);
            if !comma {
                it.assigns = next.kind == Kind::Assign;
                return Ok(());
            }
            if context != "range" || it.variables.len() > 1 {
                return Err(self.error(&format!("too many declarations in {context}")));
            }
            if !matches!(self.peek().kind, Kind::Variable | Kind::Close | Kind::RightParen) {
                return Err(self.error("range can only initialize variables"));
            }
        }
    }

    fn command(&mut self) -> Parse<Command> {
        let at = self.peek().at;
        let mut words = Vec::new();
        loop {
            self.peek();
            words.extend(self.term()?);
            let token = self.next();
            match token.kind {
                Kind::Space => {}
                Kind::Pipe => break,
                Kind::Close | Kind::RightParen => {
                    self.again.push(token);
                    break;
                }
                _ => return self.unexpected(token, "operand"),
            }
        }
        if words.is_empty() {
            return Err(self.error("empty command"));
        }
        Ok(Command { at, words })
    }

    /// A word with its fields, if one comes.
    fn term(&mut self) -> Parse<Option<Term>> {
        let token = self.past_spaces();
        let mut fields = Vec::new();
        let text = token.text.to_owned();
        let base = match token.kind {
            Kind::Name if FUNCTIONS.contains(&token.text) => Base::Function(text),
            Kind::Name => {
                let name = go_quote(&text, '"', Plain::Print);
                return Err(self.error(&format!("function {name} not defined")));
            }
            Kind::Dot => Base::Dot,
            Kind::Nil => Base::Nil,
            Kind::Variable if self.variables.contains(&token.text) => Base::Variable(text),
            Kind::Variable => {
                let name = go_quote(&text, '"', Plain::Print);
                return Err(self.error(&format!("undefined variable {name}")));
            }
            Kind::Field => {
                fields.push(text[1..].to_owned());
                Base::Dot
            }
            Kind::Bool | Kind::Character | Kind::Number | Kind::Quoted | Kind::Raw => {
                let value = match token.kind {
                    Kind::Bool => Ok(Value::plain(Datum::Bool(text == "true"))),
                    Kind::Character => literal::character(&text),
                    Kind::Number => literal::number(&text),
                    _ => literal::text(&text).map(Value::text),
                };
                match value {
                    Ok(value) => Base::Literal(value, text),
                    Err(reason) => return Err(self.error(&reason)),
                }
            }
            Kind::LeftParen => {
                if self.parens >= DEPTH {
                    return Err(self.error("max expression depth exceeded"));
                }
                self.parens += 1;
                let inner = self.pipeline("parenthesized pipeline", Kind::RightParen)?;
                self.parens -= 1;
                Base::Pipeline(inner)
            }
            _ => {
                self.again.push(token);
                return Ok(None);
            }
        };
        let mut term = Term { at: token.at, base, fields };
        if let Base::Pipeline(inner) = &term.base {
            term.at = inner.at;
        }
        let mut next = self.next();
        if next.kind == Kind::Field {
            match &term.base {
                Base::Dot if !term.fields.is_empty() => {}
                Base::Variable(_) => {}
                Base::Function(_) | Base::Pipeline(_) | Base::Chain(_) => {
                    let base = Base::Chain(Box::new(term));
                    term = Term { at: next.at, base, fields: Vec::new() };
                }
                Base::Dot | Base::Nil | Base::Literal(..) => {
                    let shown = go_quote(&term.to_string(), '"', Plain::Print);
                    self.again.push(next);
                    return Err(self.error(&format!("unexpected . after term {shown}")));
                }
            }
            term.at = next.at;
        }
        while next.kind == Kind::Field {
            term.fields.push(next.text[1..].to_owned());
            next = self.next();
        }
        self.again.push(next);
        Ok(Some(term))
    }
}

fn is_word(token: Token<'_>, words: &[&str]) -> bool {
    token.kind == Kind::Keyword && words.contains(&token.text)
}
