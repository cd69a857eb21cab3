//! Pipelines inside an action: commands, operands, literals.

use super::{Base, Literal, Operand, Pipe};

/// Parentheses in parentheses at most.
const DEPTH: usize = 50;

pub(super) struct Words<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    depth: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str, line: usize) -> Self {
        Self { text, at: 0, line, depth: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// All of it was read.
    pub(super) fn finish(&mut self) -> Result<(), String> {
        self.spaces();
        match self.rest().chars().next() {
            None => Ok(()),
            Some(c) => Err(format!("unexpected {c:?} in command")),
        }
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    pub(super) fn pipe(&mut self) -> Result<Pipe, String> {
        let mut pipe = Pipe { line: self.line, ..Pipe::default() };
        self.spaces();
        self.declaration(&mut pipe);
        loop {
            let mut command = Vec::new();
            self.spaces();
            while !self.rest().is_empty() && !self.rest().starts_with(['|', ')']) {
                command.push(self.operand()?);
                self.spaces();
            }
            if command.is_empty() {
                return Err("missing value for command".into());
            }
            if !pipe.commands.is_empty()
                && let Some(Operand { base, fields }) = command.first()
                && !matches!(base, Base::Function(_))
                && fields.is_empty()
            {
                let stage = pipe.commands.len() + 1;
                return Err(format!("non executable command in pipeline stage {stage}"));
            }
            pipe.commands.push(command);
            if !self.rest().starts_with('|') {
                return Ok(pipe);
            }
            self.at += 1;
        }
    }

    /// `$x :=`, `$i, $x :=`, `$x =`
    fn declaration(&mut self, pipe: &mut Pipe) {
        let before = self.at;
        let mut names = Vec::new();
        while self.rest().starts_with('$') {
            self.at += 1;
            names.push(format!("${}", self.word()));
            self.spaces();
            if names.len() == 1 && self.rest().starts_with(',') {
                self.at += 1;
                self.spaces();
                continue;
            }
            let length = match self.rest() {
                it if it.starts_with(":=") => 2,
                it if it.starts_with('=') => 1,
                _ => break,
            };
            self.at += length;
            pipe.assigns = length == 1;
            pipe.names = names;
            return;
        }
        self.at = before;
    }

    fn operand(&mut self) -> Result<Operand, String> {
        let rest = self.rest();
        let first = rest.chars().next().unwrap_or(' ');
        let second = rest[first.len_utf8()..].chars().next().unwrap_or(' ');
        let mut fields = Vec::new();
        let base = match first {
            '.' if second.is_ascii_digit() => self.number()?,
            '.' => {
                self.at += 1;
                let field = self.word();
                if !field.is_empty() {
                    fields.push(field.to_owned());
                }
                Base::Dot
            }
            '$' => {
                self.at += 1;
                Base::Variable(format!("${}", self.word()))
            }
            '(' => {
                self.depth += 1;
                if self.depth > DEPTH {
                    return Err("parentheses nest too deeply".into());
                }
                self.at += 1;
                let inner = self.pipe()?;
                if !self.rest().starts_with(')') {
                    return Err("unclosed left paren".into());
                }
                self.at += 1;
                self.depth -= 1;
                Base::Pipe(inner)
            }
            '"' => Base::Literal(Literal::Text(self.quoted()?)),
            '`' => {
                let end = rest[1..].find('`').ok_or("unterminated raw quoted string")?;
                self.at += end + 2;
                Base::Literal(Literal::Text(rest[1..=end].to_owned()))
            }
            '\'' => {
                let end = rest[1..].find('\'').ok_or("unterminated character constant")?;
                self.at += end + 2;
                let inner = &rest[1..=end];
                let c = match inner.strip_prefix('\\') {
                    Some("n") => '\n',
                    Some("t") => '\t',
                    Some("r") => '\r',
                    Some(other) => other.chars().next().unwrap_or('\''),
                    None => inner.chars().next().unwrap_or('\0'),
                };
                Base::Literal(Literal::Int(i64::from(u32::from(c))))
            }
            c if c.is_ascii_digit() => self.number()?,
            '-' | '+' if second.is_ascii_digit() || second == '.' => self.number()?,
            c if c.is_alphabetic() || c == '_' => match self.word() {
                "true" => Base::Literal(Literal::Bool(true)),
                "false" => Base::Literal(Literal::Bool(false)),
                "nil" => Base::Nil,
                word => Base::Function(word.to_owned()),
            },
            c => return Err(format!("unexpected {c:?} in command")),
        };
        while self.rest().starts_with('.') {
            self.at += 1;
            let field = self.word();
            if field.is_empty() {
                return Err("unexpected <.> in operand".into());
            }
            fields.push(field.to_owned());
        }
        match self.rest().chars().next() {
            Some(c) if !c.is_whitespace() && !matches!(c, '|' | ')' | ',') => {
                Err(format!("unexpected {c:?} in operand"))
            }
            _ => Ok(Operand { base, fields }),
        }
    }

    fn quoted(&mut self) -> Result<String, String> {
        let rest = self.rest();
        let mut out = String::new();
        let mut chars = rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += at + 1;
                    return Ok(out);
                }
                '\\' => {
                    let (_, c) = chars.next().ok_or("unterminated quoted string")?;
                    match c {
                        'n' => out.push('\n'),
                        't' => out.push('\t'),
                        'r' => out.push('\r'),
                        'x' | 'u' | 'U' => {
                            let count = match c {
                                'x' => 2,
                                'u' => 4,
                                _ => 8,
                            };
                            let digits: String =
                                chars.by_ref().take(count).map(|it| it.1).collect();
                            let code =
                                u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                            out.push(code.ok_or("invalid escape in string")?);
                        }
                        '\\' | '"' | '\'' => out.push(c),
                        '0'..='7' => {
                            let more: String = chars.by_ref().take(2).map(|it| it.1).collect();
                            let code = u32::from_str_radix(&format!("{c}{more}"), 8).ok();
                            out.push(
                                code.and_then(char::from_u32).ok_or("invalid escape in string")?,
                            );
                        }
                        _ => return Err("invalid escape in string".into()),
                    }
                }
                c => out.push(c),
            }
        }
        Err("unterminated quoted string".into())
    }

    fn number(&mut self) -> Result<Base, String> {
        let rest = self.rest();
        let ends = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-'));
        let text = &rest[..rest.find(ends).unwrap_or(rest.len())];
        self.at += text.len();
        let plain = text.replace('_', "");
        let (minus, digits) = match plain.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, plain.strip_prefix('+').unwrap_or(&plain)),
        };
        let radix = |prefix: &str, radix| {
            digits.strip_prefix(prefix).and_then(|it| i64::from_str_radix(it, radix).ok())
        };
        let octal = || {
            let old = digits.len() > 1 && digits.bytes().all(|it| it.is_ascii_digit());
            radix("0", 8).filter(|_| old)
        };
        let whole = radix("0x", 16).or_else(|| radix("0b", 2)).or_else(|| radix("0o", 8));
        let whole = whole.or_else(octal).or_else(|| digits.parse::<i64>().ok());
        match (whole, digits.parse::<f64>()) {
            (Some(whole), _) => {
                Ok(Base::Literal(Literal::Int(if minus { whole.wrapping_neg() } else { whole })))
            }
            (None, Ok(it)) if it.is_finite() => {
                Ok(Base::Literal(Literal::Float(if minus { -it } else { it })))
            }
            _ => Err(format!("bad number syntax: {text:?}")),
        }
    }
}
