//! Expressions that are not evaluated, as messages show them: compact, on one line
//! (cue-errors 0.3).

use std::fmt::Write as _;
use std::iter::Peekable;

use crate::builtin::{Datum, Function, FunctionName, Pass};
use crate::calls::has_handles;
use crate::evaluator::Evaluator;
use crate::export::marker;
use crate::heap::{EnvId, Test};
use crate::program::{
    Arithmetic, At, Callee, ClauseCode, Code, DeclLabel, Declaration, ExprId, Label, LetCode,
    ListElement, PartCode, Plain, Quotes,
};
use crate::spots;

/// Longer texts end there.
const LONGEST: usize = 4_000;

impl Evaluator {
    /// The text of an expression.
    pub(crate) fn literal_text(&self, expr: ExprId) -> String {
        let mut out = String::new();
        self.write_code(expr, &mut out, 0);
        out
    }

    /// The text of an expression that is a value: of a package, what it has.
    pub(crate) fn value_text(&self, expr: ExprId) -> String {
        match self.program.code(expr) {
            Code::Struct(literal) if self.program.named_packages.contains_key(&expr) => {
                let mut out = String::new();
                self.write_struct(*literal, &mut out, 1);
                out
            }
            _ => self.literal_text(expr),
        }
    }

    /// The text of a bound or a validator.
    pub(crate) fn test_text(&mut self, test: &Test) -> String {
        match test {
            Test::Bound(operator, limit) => {
                format!("{}{}", operator.symbol(), limit.cue_text())
            }
            Test::Range(name) => (*name).to_owned(),
            Test::Call(package, function, rest, written) => {
                self.unasked_text((package, function), rest, *written)
            }
            Test::Match(expr, _) => self.literal_text(*expr),
        }
    }

    /// Data, in which handles may stand for values.
    pub(crate) fn datum_text(&mut self, datum: &Datum) -> String {
        match datum {
            Datum::Live(_) => {
                let id = self.live(datum.clone());
                self.short(id)
            }
            Datum::List(items) if has_handles(datum) => {
                let items: Vec<Datum> = items.iter().cloned().collect();
                let texts: Vec<String> = items.iter().map(|it| self.datum_text(it)).collect();
                format!("[{}]", texts.join(","))
            }
            other => other.cue_text(),
        }
    }

    /// A validator that has not been asked yet: of lists and structs it has the names, or what is written.
    pub(crate) fn unasked_text(
        &mut self,
        (package, function): (&'static str, &'static Function),
        arguments: &[Datum],
        (call, env): (ExprId, EnvId),
    ) -> String {
        let program = self.program.clone();
        // The first is the value that is to be asked about, unless the call leaves it out.
        let written: &[ExprId] = match program.code(call) {
            Code::Call(_, all) | Code::CallOf(_, all) => {
                &all[all.len().saturating_sub(arguments.len())..]
            }
            _ => &[],
        };
        let mut texts = Vec::with_capacity(arguments.len());
        for (place, argument) in arguments.iter().enumerate() {
            // The one before them is the value.
            let pass = function.parameters.get(place + 1).map(|it| it.pass);
            let composite = matches!(argument, Datum::Live(_) | Datum::List(_) | Datum::Struct(_));
            let expr = written.get(place).filter(|_| composite && pass != Some(Pass::Scalar));
            let value = expr.and_then(|it| self.eval(*it, env).vertex());
            let value = value.map(|it| self.unify(it)).filter(|it| {
                let vertex = self.heap.get(*it);
                pass != Some(Pass::Whole) || vertex.is_struct || vertex.is_list
            });
            let path = value.map(|it| self.path(self.follow(it))).unwrap_or_default();
            texts.push(match value {
                Some(id) if self.stands_alone(id) => self.as_given(id),
                Some(_) if !path.is_empty() => path,
                _ => self.datum_text(argument),
            });
        }
        let name = FunctionName { package, name: function.name };
        format!("{}({})", name.value_text(), texts.join(", "))
    }

    fn write_code(&self, expr: ExprId, out: &mut String, depth: u32) {
        if depth > 40 || out.len() > LONGEST {
            out.push_str("...");
            return;
        }
        let next = depth + 1;
        match self.program.code(expr) {
            Code::Scalar(Datum::Number(it)) => out.push_str(&it.to_string()),
            Code::Scalar(datum) => out.push_str(&datum.cue_text()),
            Code::Bottom => out.push_str("_|_(explicit error (_|_ literal) in source)"),
            Code::Top => out.push('_'),
            // Of all ranges it alone has no name of its own.
            Code::Type(_, name) if &**name == "rune" => out.push_str("int & >=0 & <=1114111"),
            Code::Type(_, name) => out.push_str(name),
            Code::Struct(literal) => match spots::package_at(self.program.at(expr)) {
                Some(package) => out.push_str(package),
                None => match self.program.named_packages.get(&expr) {
                    Some(name) => out.push_str(name),
                    None => self.write_struct(*literal, out, next),
                },
            },
            Code::List(elements) => self.write_elements(elements, out, next),
            Code::Not(it) => self.write_unary('!', *it, out, next),
            Code::Negative(it) => self.write_unary('-', *it, out, next),
            Code::Positive(it) => self.write_unary('+', *it, out, next),
            Code::Bound(operator, operand) => {
                out.push_str(operator.symbol());
                self.write_code(*operand, out, next);
            }
            Code::Unify(left, right) => self.write_binary("&", *left, *right, out, next),
            Code::And(left, right) => self.write_binary("&&", *left, *right, out, next),
            Code::Or(left, right) => self.write_binary("||", *left, *right, out, next),
            Code::Compare(operator, left, right) => {
                self.write_binary(operator.symbol(), *left, *right, out, next);
            }
            Code::Arithmetic(operator, left, right) => {
                let symbol = match operator {
                    Arithmetic::Add => "+",
                    Arithmetic::Subtract => "-",
                    Arithmetic::Multiply => "*",
                    Arithmetic::Divide => "/",
                };
                self.write_binary(symbol, *left, *right, out, next);
            }
            Code::Disjoin(alternatives) => {
                out.push('(');
                for (index, (alternative, mark)) in alternatives.iter().enumerate() {
                    if index > 0 {
                        out.push('|');
                    }
                    if *mark {
                        out.push('*');
                    }
                    self.write_code(*alternative, out, next);
                }
                out.push(')');
            }
            Code::Select(operand, label) => {
                self.write_code(*operand, out, next);
                out.push('.');
                out.push_str(&self.qualified(*label));
            }
            Code::Index(operand, index) => {
                self.write_code(*operand, out, next);
                out.push('[');
                self.write_code(*index, out, next);
                out.push(']');
            }
            Code::Slice(operand, low, high) => {
                self.write_code(*operand, out, next);
                out.push('[');
                if let Some(low) = low {
                    self.write_code(*low, out, next);
                }
                out.push(':');
                if let Some(high) = high {
                    self.write_code(*high, out, next);
                }
                out.push(']');
            }
            Code::Call(callee, arguments) => {
                out.push_str(&callee_text(*callee));
                out.push('(');
                for (index, argument) in arguments.iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    self.write_code(*argument, out, next);
                }
                out.push(')');
            }
            Code::Function(callee) => out.push_str(&callee_text(*callee)),
            Code::Aliased(inner) | Code::Opened(inner) | Code::Attempt(inner) => {
                self.write_code(*inner, out, next);
            }
            Code::Outer { expr, .. } => self.write_code(*expr, out, next),
            Code::Field { label, .. } => out.push_str(&self.qualified(*label)),
            Code::Interpolation(said) => {
                let quote = if said.quotes == Quotes::Double { '"' } else { '\'' };
                out.push(quote);
                for part in &said.parts {
                    match part {
                        PartCode::Text(text) => out.push_str(&String::from_utf8_lossy(text)),
                        PartCode::Value(value) => {
                            out.push_str("\\(");
                            self.write_code(*value, out, next);
                            out.push(')');
                        }
                    }
                }
                out.push(quote);
            }
            Code::Import(index) => {
                let path = &self.program.packages[*index as usize].path;
                out.push_str(&Datum::text(path.clone()).cue_text());
            }
            Code::Let { .. }
            | Code::Variable { .. }
            | Code::PatternName { .. }
            | Code::ComputedField { .. }
            | Code::Enclosing { .. }
            | Code::CallOf(..) => out.push_str(&self.source_at(self.program.at(expr))),
        }
    }

    fn write_unary(&self, operator: char, operand: ExprId, out: &mut String, depth: u32) {
        out.push(operator);
        self.write_code(operand, out, depth);
    }

    fn write_binary(
        &self,
        operator: &str,
        left: ExprId,
        right: ExprId,
        out: &mut String,
        depth: u32,
    ) {
        out.push('(');
        self.write_code(left, out, depth);
        let _ = write!(out, " {operator} ");
        self.write_code(right, out, depth);
        out.push(')');
    }

    fn write_elements(&self, elements: &[ListElement], out: &mut String, depth: u32) {
        out.push('[');
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            match element {
                ListElement::Value(expr) => self.write_code(*expr, out, depth),
                ListElement::Comprehension(index) => self.write_comprehension(*index, out, depth),
                ListElement::Rest(value) => {
                    out.push_str("...");
                    if let Some(value) = value {
                        self.write_code(*value, out, depth);
                    }
                }
            }
        }
        out.push(']');
    }

    fn write_struct(&self, literal: u32, out: &mut String, depth: u32) {
        let code = &self.program.structs[literal as usize];
        out.push('{');
        let mut lets = code.lets.iter().peekable();
        for (index, declaration) in code.declarations.iter().enumerate() {
            self.write_lets(&mut lets, index, out, depth);
            separate(out);
            match declaration {
                Declaration::Field { label, presence, value, .. } => {
                    match label {
                        DeclLabel::Fixed(label) => out.push_str(&self.qualified(*label)),
                        DeclLabel::Computed(expr) => self.write_code(*expr, out, depth),
                    }
                    out.push_str(marker(*presence));
                    out.push(':');
                    self.write_code(*value, out, depth);
                }
                Declaration::Pattern { label, value, .. } => {
                    out.push('[');
                    self.write_code(*label, out, depth);
                    out.push_str("]:");
                    self.write_code(*value, out, depth);
                }
                Declaration::Embed(expr) => self.write_code(*expr, out, depth),
                Declaration::Comprehension(index) => self.write_comprehension(*index, out, depth),
                Declaration::Open => out.push_str("..."),
            }
        }
        self.write_lets(&mut lets, code.declarations.len(), out, depth);
        out.push('}');
    }

    /// The next lets, as far as they stand before so many declarations.
    fn write_lets(
        &self,
        lets: &mut Peekable<std::slice::Iter<'_, LetCode>>,
        declarations: usize,
        out: &mut String,
        depth: u32,
    ) {
        while let Some(it) = lets.next_if(|it| it.place as usize <= declarations) {
            self.begin_let(it.name, it.number, out);
            self.write_code(it.value, out, depth);
        }
    }

    /// A `let` among the fields of a struct, up to its value.
    pub(crate) fn begin_let(&self, name: Label, number: u32, out: &mut String) {
        separate(out);
        let _ = write!(out, "let {}#{number:X}=", self.label_text(name));
    }

    fn write_comprehension(&self, index: u32, out: &mut String, depth: u32) {
        let code = &self.program.comprehensions[index as usize];
        let mut from = code.at;
        for clause in &code.clauses {
            match clause {
                ClauseCode::For { keyed, source } => {
                    let names = self.between(from, self.program.at(*source));
                    let names = names.rfind("for ").map_or("", |at| &names[at + 4..]);
                    let names = names.rsplit_once("in").map_or(names, |it| it.0).trim();
                    let key = if *keyed { "" } else { "_, " };
                    let _ = write!(out, "for {key}{names} in ");
                    self.write_code(*source, out, depth);
                    from = self.program.at(*source);
                }
                ClauseCode::If(condition) => {
                    out.push_str("if ");
                    self.write_code(*condition, out, depth);
                    from = self.program.at(*condition);
                }
                ClauseCode::Let(value) | ClauseCode::Try(value) => {
                    let text = self.between(from, self.program.at(*value));
                    let word = if matches!(clause, ClauseCode::Let(_)) { "let " } else { "try " };
                    let name = text.rfind(word).map_or("", |at| &text[at + 4..]);
                    let _ = write!(out, "{word}{} = ", name.trim_end_matches([' ', '=']));
                    self.write_code(*value, out, depth);
                    from = self.program.at(*value);
                }
            }
            out.push(' ');
        }
        self.write_code(code.body, out, depth);
    }

    /// The source between the beginnings of two positions.
    fn between(&self, from: At, to: At) -> &str {
        let source = self.program.sources.get(from.source as usize);
        source
            .and_then(|it| it.text.get(from.span.start as usize..to.span.start as usize))
            .unwrap_or_default()
    }
}

/// A comma before the next of what a struct has, but at the beginning.
pub(crate) fn separate(out: &mut String) {
    if !out.ends_with('{') {
        out.push(',');
    }
}

/// A function as messages name it.
pub(crate) fn callee_text(callee: Callee) -> String {
    match callee {
        Callee::Plain(plain) => plain_name(plain).to_owned(),
        Callee::Package(it) => {
            FunctionName { package: it.package(), name: it.function().name }.value_text()
        }
    }
}

/// The name of a function without a package.
pub(crate) fn plain_name(plain: Plain) -> &'static str {
    match plain {
        Plain::Len => "len",
        Plain::Close => "close",
        Plain::And => "and",
        Plain::Or => "or",
        Plain::Div => "div",
        Plain::Mod => "mod",
        Plain::Quo => "quo",
        Plain::Rem => "rem",
        Plain::Error => "error",
        Plain::MatchN => "matchN",
        Plain::MatchIf => "matchIf",
        Plain::CloseAll => "__closeAll",
        Plain::Reclose => "__reclose",
    }
}
