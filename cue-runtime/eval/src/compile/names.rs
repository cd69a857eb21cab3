//! What names stand for: members of scopes, imports, what is predeclared.

use std::sync::Arc;

use cue_syntax::Experiment;
use cue_syntax::ast::{Label as AstLabel, Span};

use super::Compiler;
use super::scopes::{Imported, Meaning, Named, Opener};
use crate::builtin::{Datum, Kinds};
use crate::program::{Callee, Code, ExprId, LabelKind, Plain, TypeName};

/// Functions without a package that came later than the others, and with which version.
const LATER: &[(&str, [u64; 3])] = &[("error", [0, 14, 0])];

impl Compiler<'_> {
    pub(super) fn imported(&mut self, name: &Arc<str>) -> Option<Imported> {
        match self.scopes.find(name)? {
            (Meaning::Imported(it), _) => Some(it),
            (Meaning::Named(_), _) => None,
        }
    }

    pub(super) fn identifier(&mut self, name: &Arc<str>, span: Span) -> ExprId {
        let Some((meaning, up)) = self.scopes.find(name) else {
            return self.predeclared(name, span);
        };
        let code = match meaning {
            Meaning::Imported(Imported::Builtin(package)) => return self.whole(package, span),
            Meaning::Imported(Imported::Package(index)) => Code::Import(index),
            Meaning::Imported(Imported::Missing) => Code::Bottom,
            Meaning::Named(named) => self.named(named, up, span),
        };
        if !matches!(code, Code::Import(_)) {
            self.reach(up, &code);
        }
        self.push(code, span)
    }

    fn named(&mut self, named: Named, up: u32, span: Span) -> Code {
        match named {
            Named::Field(label) => Code::Field { up, label },
            Named::Computed(label) => Code::ComputedField { up, label },
            Named::Key(label) => Code::Scalar(Datum::text(self.program.labels.name(label))),
            Named::ComputedKey(expr) => Code::Outer { up, expr },
            Named::Let(index, number) => {
                self.refers_to_let(number, span);
                Code::Let { up, index }
            }
            Named::Pending => {
                self.error(span, "cyclic reference in field alias");
                Code::Bottom
            }
            Named::Variable(index) => Code::Variable { up, index },
            Named::PatternName => Code::PatternName { up },
        }
    }

    /// What nothing around declares: `self`, or what the language has.
    fn predeclared(&mut self, name: &str, span: Span) -> ExprId {
        if let ("self", Some((opener, up))) = (name, self.scopes.enclosing()) {
            let code = match opener {
                Opener::List => Code::Variable { up, index: 0 },
                _ => Code::Enclosing { up },
            };
            self.reach(up, &code);
            if !self.experiments.has(Experiment::AliasV2) {
                let message = "predeclared identifier \"self\" requires @experiment(aliasv2)";
                self.error(span, message);
            }
            return self.push(code, span);
        }
        let code = match predeclared(name) {
            Some(code) => {
                self.is_spoken(name, span);
                code
            }
            None => {
                self.error(span, format!("reference \"{name}\" not found"));
                Code::Bottom
            }
        };
        self.push(code, span)
    }

    /// Whether the file's version of the language has a function already.
    fn is_spoken(&mut self, name: &str, span: Span) {
        let Some(source) = self.program.sources.get(self.source as usize) else { return };
        let later = LATER.iter().find(|it| name.strip_prefix("__").unwrap_or(name) == it.0);
        let Some((own, [major, minor, patch])) = later else { return };
        if source.language.is_before([*major, *minor, *patch]) {
            let language = &source.language;
            let message = format!(
                "builtin {own:?} is not available in version {language}; it was added in version \
                 \"v{major}.{minor}.{patch}\""
            );
            self.error(span, message);
        }
    }

    /// The environment that many out is referred to by a name.
    fn reach(&mut self, up: u32, name: &Code) {
        let at = self.scopes.environments().saturating_sub(1 + up);
        self.reached.environments |= 1 << at.min(127);
        self.reached.others |= !matches!(name, Code::Field { .. });
    }
}

/// Types and functions without a package.
pub(crate) fn predeclared(name: &str) -> Option<Code> {
    let plain = |it| Some(Code::Function(Callee::Plain(it)));
    let twin = name.strip_prefix("__");
    match twin.unwrap_or(name) {
        "no_sharing" => Some(Code::Top),
        "string" => Some(Code::Type(Kinds::STRING, TypeName::of("string"))),
        "bytes" => Some(Code::Type(Kinds::BYTES, TypeName::of("bytes"))),
        "bool" => Some(Code::Type(Kinds::BOOL, TypeName::of("bool"))),
        "int" => Some(Code::Type(Kinds::INT, TypeName::of("int"))),
        "float" => Some(Code::Type(Kinds::FLOAT, TypeName::of("float"))),
        "number" => Some(Code::Type(Kinds::NUMBER, TypeName::of("number"))),
        "uint" | "uint8" | "uint16" | "uint32" | "uint64" | "uint128" | "int8" | "int16"
        | "int32" | "int64" | "int128" | "rune" | "float32" | "float64" => Some(Code::Type(
            if twin.unwrap_or(name).starts_with("float") {
                Kinds::FLOAT.or(Kinds::INT)
            } else {
                Kinds::INT
            },
            TypeName::of(twin.unwrap_or(name)),
        )),
        "len" => plain(Plain::Len),
        "close" => plain(Plain::Close),
        "and" => plain(Plain::And),
        "or" => plain(Plain::Or),
        "div" => plain(Plain::Div),
        "mod" => plain(Plain::Mod),
        "quo" => plain(Plain::Quo),
        "rem" => plain(Plain::Rem),
        "error" => plain(Plain::Error),
        "matchN" => plain(Plain::MatchN),
        "matchIf" => plain(Plain::MatchIf),
        "closeAll" if twin.is_some() => plain(Plain::CloseAll),
        "reclose" if twin.is_some() => plain(Plain::Reclose),
        _ => None,
    }
}

/// The name a label can be referred to by.
pub(super) fn identifier(label: &AstLabel) -> Option<Arc<str>> {
    match label {
        AstLabel::Ident(ident) => Some(ident.name.clone()),
        AstLabel::String(..)
        | AstLabel::Interpolated(_)
        | AstLabel::Dynamic(_)
        | AstLabel::Pattern(..) => None,
    }
}

pub(super) fn fixed(label: &AstLabel) -> Option<(LabelKind, Arc<str>)> {
    match label {
        AstLabel::Ident(ident) => Some((LabelKind::of_identifier(&ident.name), ident.name.clone())),
        AstLabel::String(text, _) => Some((LabelKind::Regular, text.clone())),
        AstLabel::Interpolated(_) | AstLabel::Dynamic(_) | AstLabel::Pattern(..) => None,
    }
}
