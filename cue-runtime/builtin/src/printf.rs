//! Values as Go's `fmt` prints them: directives with flags, width, precision and the number of an argument, each
//! element of what has some.

use std::iter::Peekable;
use std::str::Chars;

use super::call::{CallContext, CallError};
use super::datum::{Datum, valid_text};
use super::floats::{Width, format_float};
use super::go_value::{BIG, Form, Value, beyond, is_nil, show, sorted, type_name};
use super::hex;
use super::number::Number;
use super::quoting::{Plain, go_quote, is_print};
use super::template::literal::complex_sign;

/// Go reads a digit of a number in a directive up to this one; more than ten times as much it never is.
const LARGEST: usize = 1_000_000;

/// What stands between `%` and the verb.
#[derive(Clone, Copy, Default)]
struct Directive {
    plus: bool,
    minus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    /// `%#v`: as Go writes it.
    go: bool,
    /// `%+v`: numbers of any size have a sign, others do not.
    signed: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// Go's `Sprintf` for what a template can hold.
///
/// # Errors
/// The budget does not do for it.
pub(super) fn printf(
    cx: &mut CallContext,
    format: &str,
    arguments: &[Value],
) -> Result<String, CallError> {
    let rest = format.chars().peekable();
    let mut it = Reader { rest, arguments, next: 0, is_ordered: true, out: String::new() };
    while let Some(c) = it.rest.next() {
        if c == '%' {
            it.directive(cx)?;
        } else {
            it.out.push(c);
        }
    }
    let Reader { next, is_ordered, mut out, .. } = it;
    if is_ordered && next < arguments.len() {
        for (at, extra) in arguments[next..].iter().enumerate() {
            out.push_str(if at == 0 { "%!(EXTRA " } else { ", " });
            out.push_str(extra.type_name());
            if !extra.is_nil() {
                out.push('=');
                let before = out.len();
                show(&extra.datum, &mut out);
                cx.spend(out.len() - before)?;
            }
        }
        out.push(')');
    }
    Ok(out)
}

/// A format, read from left to right.
struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    arguments: &'a [Value],
    /// The argument that comes next.
    next: usize,
    /// No directive said which argument it prints.
    is_ordered: bool,
    out: String,
}

impl Reader<'_> {
    fn directive(&mut self, cx: &mut CallContext) -> Result<(), CallError> {
        let mut it = Directive::default();
        while let Some(flag) = self.rest.next_if(|c| "+-# 0".contains(*c)) {
            match flag {
                '+' => it.plus = true,
                '-' => it.minus = true,
                '#' => it.sharp = true,
                ' ' => it.space = true,
                _ => it.zero = true,
            }
        }
        // Whether all numbers of arguments are right, and whether one stands right before.
        let mut right = true;
        let mut named = self.index(&mut right);
        if self.rest.next_if_eq(&'*').is_some() {
            match self.given() {
                Some(width) => {
                    it.minus |= width < 0;
                    it.width = usize::try_from(width.unsigned_abs()).ok();
                }
                None => self.out.push_str("%!(BADWIDTH)"),
            }
            named = None;
        } else {
            it.width = self.number();
            right &= it.width.is_none() || named != Some(true);
        }
        if self.rest.next_if_eq(&'.').is_some() {
            right &= named != Some(true);
            named = self.index(&mut right);
            if self.rest.next_if_eq(&'*').is_some() {
                match self.given() {
                    Some(precision) => it.precision = usize::try_from(precision).ok(),
                    None => self.out.push_str("%!(BADPREC)"),
                }
                named = None;
            } else {
                it.precision = Some(self.number().unwrap_or(0));
            }
        }
        if named != Some(true) {
            self.index(&mut right);
        }
        let Some(verb) = self.rest.next() else {
            self.out.push_str("%!(NOVERB)");
            return Ok(());
        };
        if verb == '%' {
            self.out.push('%');
            return Ok(());
        }
        let why = match self.arguments.get(self.next) {
            _ if !right => "(BADINDEX)",
            None => "(MISSING)",
            Some(argument) => {
                self.next += 1;
                if verb == 'v' {
                    (it.go, it.sharp) = (it.sharp, false);
                    (it.signed, it.plus) = (it.plus, false);
                }
                return Printer { directive: it, form: argument.form, cx, out: &mut self.out }
                    .argument(verb, argument);
            }
        };
        self.out.extend(["%!", verb.encode_utf8(&mut [0; 4]), why]);
        Ok(())
    }

    /// `[2]`: which argument comes next. Whether there is such a one; nothing where none is named.
    fn index(&mut self, right: &mut bool) -> Option<bool> {
        self.rest.next_if_eq(&'[')?;
        self.is_ordered = false;
        let mut ahead = self.rest.clone();
        let text: String = ahead.by_ref().take_while(|c| *c != ']').collect();
        if !self.rest.clone().any(|c| c == ']') {
            *right = false;
            return Some(false);
        }
        self.rest = ahead;
        let number = text.parse::<usize>().ok().filter(|_| !text.starts_with('+'));
        let index = number.and_then(|it| it.checked_sub(1));
        match index.filter(|it| *it < self.arguments.len()) {
            Some(index) => self.next = index,
            None => *right = false,
        }
        Some(number.is_some())
    }

    /// `*`: a number that is an argument.
    fn given(&mut self) -> Option<i64> {
        let datum = &self.arguments.get(self.next)?.datum;
        self.next += 1;
        let Datum::Number(number) = datum else { return None };
        let number = number.to_i64().filter(|_| number.is_int())?;
        (number.unsigned_abs() <= LARGEST as u64).then_some(number)
    }

    /// The digits that come next. Where there are too many, nothing that follows counts.
    fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while let Some(digit) = self.rest.peek().and_then(|c| c.to_digit(10)) {
            let known = number.unwrap_or(0);
            if known > LARGEST {
                self.rest.by_ref().for_each(drop);
                return None;
            }
            number = Some(known * 10 + digit as usize);
            self.rest.next();
        }
        number
    }
}

/// Prints a value by one directive.
struct Printer<'a> {
    directive: Directive,
    form: Form,
    cx: &'a mut CallContext,
    out: &'a mut String,
}

impl Printer<'_> {
    /// An argument itself.
    fn argument(&mut self, verb: char, it: &Value) -> Result<(), CallError> {
        match (verb, &it.datum) {
            ('T', _) => self.text(it.type_name()),
            ('v', datum) if is_nil(datum) => self.padded("<nil>"),
            (_, datum) if is_nil(datum) => {
                self.out.extend(["%!", verb.encode_utf8(&mut [0; 4]), "(<nil>)"]);
                Ok(())
            }
            (_, Datum::String(text)) if it.form == Form::Complex => self.complex(verb, text),
            ('v', datum) if it.form == Form::Byte && self.directive.go => {
                self.directive.sharp = true;
                self.value('x', datum)
            }
            // Of errors only, which no template has.
            ('w', datum) => self.wrong(verb, datum),
            (_, datum) => self.value(verb, datum),
        }
    }

    /// An argument, or what is in one.
    fn value(&mut self, verb: char, datum: &Datum) -> Result<(), CallError> {
        self.cx.spend(16)?;
        match datum {
            Datum::Null | Datum::Function(_) | Datum::Live(_) => {
                self.out.push_str(if self.directive.go { "interface {}(nil)" } else { "<nil>" });
                Ok(())
            }
            Datum::Bool(value) if matches!(verb, 'v' | 't') => {
                self.padded(if *value { "true" } else { "false" })
            }
            Datum::Number(number) if number.is_int() => self.whole(verb, number, datum),
            Datum::Number(number) => self.float(verb, number, datum),
            Datum::String(text) => self.string(verb, text, datum),
            Datum::Bytes(bytes) => self.bytes(verb, bytes),
            Datum::List(items) => {
                let (open, between, close) = self.brackets(datum, "[", "]");
                self.out.push_str(&open);
                for (at, item) in items.iter().enumerate() {
                    self.out.push_str(if at > 0 { between } else { "" });
                    self.value(verb, item)?;
                }
                self.out.push_str(close);
                Ok(())
            }
            Datum::Struct(_) => {
                let (open, between, close) = self.brackets(datum, "map[", "]");
                self.out.push_str(&open);
                for (at, (label, value)) in sorted(datum).into_iter().enumerate() {
                    self.out.push_str(if at > 0 { between } else { "" });
                    self.value(verb, &Datum::text(label))?;
                    self.out.push(':');
                    self.value(verb, value)?;
                }
                self.out.push_str(close);
                Ok(())
            }
            Datum::Bool(_) => self.wrong(verb, datum),
        }
    }

    /// What stands around and between elements.
    fn brackets(
        &self,
        datum: &Datum,
        open: &'static str,
        close: &'static str,
    ) -> (String, &'static str, &'static str) {
        if self.directive.go {
            (format!("{}{{", type_name(datum)), ", ", "}")
        } else {
            (open.to_owned(), " ", close)
        }
    }

    /// A verb that the value does not have: its type and the value.
    fn wrong(&mut self, verb: char, datum: &Datum) -> Result<(), CallError> {
        let value = Value { datum: datum.clone(), form: self.form };
        let name = match value.type_name() {
            BIG => "big.Int",
            name => name,
        };
        self.out.extend(["%!", verb.encode_utf8(&mut [0; 4]), "(", name, "="]);
        self.value('v', datum)?;
        self.out.push(')');
        Ok(())
    }

    fn blank(&mut self, fill: char, count: usize) -> Result<(), CallError> {
        self.cx.spend(count)?;
        self.out.extend(std::iter::repeat_n(fill, count));
        Ok(())
    }

    /// A text in the width that was asked for; zeros stand on its left only.
    fn padded(&mut self, text: &str) -> Result<(), CallError> {
        let Directive { minus, zero, width, .. } = self.directive;
        self.cx.spend(text.len())?;
        let missing = width.unwrap_or(0).saturating_sub(text.chars().count());
        if minus {
            self.out.push_str(text);
            self.blank(' ', missing)
        } else {
            self.blank(if zero { '0' } else { ' ' }, missing)?;
            self.out.push_str(text);
            Ok(())
        }
    }

    /// The same without zeros.
    fn spaced(&mut self, text: &str) -> Result<(), CallError> {
        let zero = std::mem::take(&mut self.directive.zero);
        let padded = self.padded(text);
        self.directive.zero = zero;
        padded
    }

    /// As much of a text as the precision lets through.
    fn cut<'t>(&self, text: &'t str) -> &'t str {
        let end = self.directive.precision.and_then(|it| text.char_indices().nth(it));
        end.map_or(text, |(at, _)| &text[..at])
    }

    fn text(&mut self, text: &str) -> Result<(), CallError> {
        self.padded(self.cut(text))
    }

    fn quoted(&mut self, text: &str) -> Result<(), CallError> {
        let text = self.cut(text);
        let plain = |c: char| (c >= ' ' || c == '\t') && !matches!(c, '`' | '\x7f' | '\u{feff}');
        if self.directive.sharp && text.chars().all(plain) {
            return self.padded(&format!("`{text}`"));
        }
        self.padded(&go_quote(text, '"', self.plain()))
    }

    /// What is not escaped in quotes.
    fn plain(&self) -> Plain {
        if self.directive.plus { Plain::Ascii } else { Plain::Print }
    }

    fn string(&mut self, verb: char, text: &str, datum: &Datum) -> Result<(), CallError> {
        match verb {
            'v' if self.directive.go => self.quoted(text),
            'v' | 's' => self.text(text),
            'q' => self.quoted(text),
            'x' | 'X' => self.hexadecimal(text.as_bytes(), verb),
            _ => self.wrong(verb, datum),
        }
    }

    fn bytes(&mut self, verb: char, bytes: &[u8]) -> Result<(), CallError> {
        match verb {
            's' => self.text(&valid_text(bytes)),
            'q' => self.quoted(&valid_text(bytes)),
            'x' | 'X' => self.hexadecimal(bytes, verb),
            'v' if self.directive.go => {
                let all: Vec<String> = bytes.iter().map(|it| format!("0x{it:x}")).collect();
                self.cx.spend(8 * all.len())?;
                self.out.extend(["[]byte{", &all.join(", "), "}"]);
                Ok(())
            }
            _ => {
                self.out.push('[');
                for (at, byte) in bytes.iter().enumerate() {
                    self.out.push_str(if at > 0 { " " } else { "" });
                    self.cx.spend(16)?;
                    let byte = Datum::int(i64::from(*byte));
                    match verb {
                        'v' | 'd' | 'b' | 'o' | 'O' | 'c' | 'q' | 'U' => self.value(verb, &byte)?,
                        _ => {
                            let name = ["%!", verb.encode_utf8(&mut [0; 4]), "(uint8="].concat();
                            self.out.push_str(&name);
                            self.value('v', &byte)?;
                            self.out.push(')');
                        }
                    }
                }
                self.out.push(']');
                Ok(())
            }
        }
    }

    /// `68 65 6a`, `0x68656a`: two digits for each byte.
    fn hexadecimal(&mut self, bytes: &[u8], verb: char) -> Result<(), CallError> {
        let Directive { sharp, space, precision, .. } = self.directive;
        let bytes = &bytes[..bytes.len().min(precision.unwrap_or(usize::MAX))];
        self.cx.spend(5 * bytes.len())?;
        let mark = if verb == 'x' { "0x" } else { "0X" };
        let digits = |it: &[u8]| match verb {
            'x' => hex::encode(it),
            _ => hex::encode(it).to_uppercase(),
        };
        let all: Vec<String> = match space {
            true => bytes.chunks(1).map(digits).collect(),
            false => Some(bytes).filter(|it| !it.is_empty()).map(digits).into_iter().collect(),
        };
        let mark = if sharp { mark } else { "" };
        let all: Vec<String> = all.into_iter().map(|it| [mark, &it].concat()).collect();
        self.padded(&all.join(" "))
    }

    /// A whole number: in a base, or as the character that has it.
    fn whole(&mut self, verb: char, number: &Number, datum: &Datum) -> Result<(), CallError> {
        let is_large = number.to_i64().is_none();
        let base = match verb {
            'v' | 'd' => 10,
            'b' => 2,
            'o' | 'O' => 8,
            'x' | 'X' => 16,
            's' if is_large => 10,
            'c' | 'q' | 'U' if !is_large => return self.character(verb, number),
            _ => return self.wrong(verb, datum),
        };
        let Some(whole) = number.to_bigint() else { return self.wrong(verb, datum) };
        let text = whole.to_str_radix(base);
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, &*text),
        };
        let Directive { minus, sharp, space, zero, width, precision, .. } = self.directive;
        let plus = self.directive.plus || (is_large && self.directive.signed);
        let signed = usize::from(negative || plus || space);
        let least = match (precision, width) {
            (Some(0), _) if digits == "0" => return self.spaced(""),
            (Some(precision), _) => precision,
            // Zeros stand in the place of blanks before it.
            (None, Some(width)) if zero && !minus => width.saturating_sub(signed),
            _ => 0,
        };
        let missing = least.saturating_sub(digits.len());
        self.cx.spend(missing + digits.len())?;
        let mut text = "0".repeat(missing) + digits;
        let mark = match verb {
            'O' => "0o",
            'b' if sharp => "0b",
            'x' if sharp => "0x",
            'X' if sharp => "0X",
            'o' if sharp && !text.starts_with('0') => "0",
            _ => "",
        };
        if verb == 'X' {
            text.make_ascii_uppercase();
        }
        let sign = match (negative, plus, space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (.., true) => " ",
            _ => "",
        };
        self.spaced(&[sign, mark, &text].concat())
    }

    /// A number as a character.
    fn character(&mut self, verb: char, number: &Number) -> Result<(), CallError> {
        let code = number.to_i64().unwrap_or(-1);
        let known = u32::try_from(code).ok().and_then(char::from_u32);
        let c = known.unwrap_or(char::REPLACEMENT_CHARACTER);
        let mut bytes = [0; 4];
        match verb {
            'c' => self.padded(c.encode_utf8(&mut bytes)),
            'q' => self.padded(&go_quote(c.encode_utf8(&mut bytes), '\'', self.plain())),
            _ => {
                let digits = self.directive.precision.unwrap_or(0).max(4);
                self.cx.spend(digits)?;
                let mut text = format!("U+{code:0digits$X}");
                if let Some(c) = known.filter(|it| self.directive.sharp && is_print(*it as u32)) {
                    text.extend([" '", c.encode_utf8(&mut bytes), "'"]);
                }
                self.spaced(&text)
            }
        }
    }

    /// Both parts of a complex number, from its text.
    fn complex(&mut self, verb: char, text: &str) -> Result<(), CallError> {
        if !"vbeEfFgGxX".contains(verb) {
            self.directive = Directive::default();
            return self.wrong(verb, &Datum::text(text.to_owned()));
        }
        let parts = text.trim_matches(['(', 'i', ')']);
        let (real, imaginary) = parts.split_at(complex_sign(parts));
        self.out.push('(');
        for part in [real, imaginary] {
            let number = Number::float(part.parse().unwrap_or_default());
            self.float(verb, &number, &Datum::Null)?;
            self.directive.plus = true;
        }
        self.out.push_str("i)");
        Ok(())
    }

    fn float(&mut self, verb: char, number: &Number, datum: &Datum) -> Result<(), CallError> {
        let Directive { plus, minus, sharp, space, zero, width, precision, .. } = self.directive;
        let (format, usual) = match verb {
            'v' => ('g', None),
            'g' | 'G' | 'x' | 'X' | 'b' => (verb, None),
            'e' | 'E' | 'f' => (verb, Some(6)),
            'F' => ('f', Some(6)),
            _ => return self.wrong(verb, datum),
        };
        if let (Some(text), 'v' | 'g') = (beyond(number), verb) {
            let sign = match plus || self.directive.signed {
                _ if text.starts_with('-') => "",
                true => "+",
                false if space => " ",
                false => "",
            };
            return self.padded(&[sign, &text].concat());
        }
        let precision = precision.or(usual);
        self.cx.spend(precision.unwrap_or(0))?;
        let text = format_float(number.to_f64(), format as u8, precision, Width::Double);
        let (sign, size) = match text.strip_prefix(['-', '+']) {
            Some(size) => (&text[..1], size),
            None => ("+", &*text),
        };
        let shown = match sign {
            "+" if plus => "+",
            "+" if space => " ",
            "+" => "",
            sign => sign,
        };
        let is_number = size.starts_with(|c: char| c.is_ascii_digit());
        let size = if sharp && is_number && verb != 'b' {
            with_point(size, verb, precision)
        } else {
            size.to_owned()
        };
        if !is_number {
            return self.spaced(&[shown, &size].concat());
        }
        if zero && !minus && !shown.is_empty() {
            let missing = width.unwrap_or(0).saturating_sub(size.len() + 1);
            self.out.push_str(shown);
            self.blank('0', missing)?;
            self.out.push_str(&size);
            return Ok(());
        }
        self.padded(&[shown, &size].concat())
    }
}

/// `%#g`: a point always, and with `%g` all digits that the precision asks for.
fn with_point(size: &str, verb: char, precision: Option<usize>) -> String {
    let marks: &[char] = if matches!(verb, 'x' | 'X') { &['p', 'P'] } else { &['e', 'E'] };
    let (digits, exponent) = size.split_at(size.find(marks).unwrap_or(size.len()));
    let mut out = digits.to_owned();
    if !out.contains('.') {
        out.push('.');
    }
    if matches!(verb, 'g' | 'G' | 'x') {
        let counted = digits.trim_start_matches(['0', '.', 'x']);
        let known = match counted.chars().filter(|it| *it != '.').count() {
            0 => usize::from(digits == "0"),
            known => known,
        };
        let missing = precision.unwrap_or(6).saturating_sub(known);
        out.extend(std::iter::repeat_n('0', missing));
    }
    out + exponent
}
