//! Values that keywords have: as CUE, or as what they are, or why they are not.

use cue_session::{Kind, SyntaxStyle};

use crate::generate::Error;
use crate::generate::numbers::float;
use crate::generate::values::{Walk, is_struct};

impl Walk<'_> {
    /// A value as CUE.
    pub(super) fn text(&mut self, path: &str) -> Result<String, Error> {
        let value = self.composition(path)?;
        let scalar = value.operator.is_empty() && value.kinds.concrete;
        // What has several lines is indented anew.
        if scalar && !value.name.is_empty() && !value.name.contains('\n') {
            return Ok(value.name.clone());
        }
        let text = self.session.syntax(path, SyntaxStyle::Final)?.unwrap_or_default();
        let text = text.trim();
        Ok(if is_struct(&value.kinds) { format!("{{{text}}}") } else { text.to_owned() })
    }

    /// A concrete value as JSON, or why it is none.
    fn json(&mut self, path: &str) -> Result<Result<String, String>, Error> {
        match self.session.json(path) {
            Ok(text) => Ok(text.ok_or_else(|| "value not found".into())),
            Err(cue_session::Error::Diagnostics(all)) => {
                let first = all.into_iter().next();
                Ok(Err(first.map_or_else(String::new, |it| match it.path.as_str() {
                    "" => it.message,
                    path => format!("{path}: {}", it.message),
                })))
            }
            Err(fault) => Err(fault.into()),
        }
    }

    /// A string, or why it is none.
    pub(super) fn string(&mut self, path: &str) -> Result<Result<String, String>, Error> {
        let value = self.session.value(path);
        match value {
            Ok(Some(value)) if value.is_string() => {
                Ok(Ok(value.as_str().unwrap_or_default().to_owned()))
            }
            _ => Ok(match self.json(path)? {
                Ok(text) => Err(self.unfit(path, &text, "string")?),
                Err(message) => Err(message),
            }),
        }
    }

    /// An integer, or why it is none.
    pub(super) fn int(&mut self, path: &str) -> Result<Result<i64, String>, Error> {
        let text = match self.json(path)? {
            Ok(text) => text,
            Err(message) => return Ok(Err(message)),
        };
        match text.parse() {
            Ok(number) => Ok(Ok(number)),
            Err(_) => Ok(Err(self.unfit(path, &text, "int")?)),
        }
    }

    /// That a value is of another type.
    pub(super) fn unfit(&mut self, path: &str, text: &str, wanted: &str) -> Result<String, Error> {
        let name = match self.composition(path)?.kinds.any_of.first() {
            Some(Kind::Null) => "null",
            Some(Kind::Bool) => "bool",
            Some(Kind::Int) => "int",
            Some(Kind::Float) => "float",
            Some(Kind::String) => "string",
            Some(Kind::Bytes) => "bytes",
            Some(Kind::List) => "list",
            Some(Kind::Struct) | None => "struct",
        };
        Ok(format!("cannot use value {text} (type {name}) as {wanted}"))
    }

    /// A number as keywords have it.
    pub(super) fn float(&mut self, path: &str) -> Result<Option<String>, Error> {
        Ok(self.json(path)?.ok().and_then(|it| float(&it)))
    }
}
