//! A value as one of the host's scalars, and its length.

use crate::builtin::{Datum, Kinds};
use crate::error::{Fault, Kind};
use crate::evaluation::{Diagnostic, Evaluation};
use crate::heap::VertexId;
use crate::program::At;

/// As what a scalar is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accessor {
    /// Text.
    String,
    /// Bytes or text.
    Bytes,
    /// A whole number that fits 64 bits.
    Int,
    /// Any number.
    Float,
    /// `true`, `false`.
    Bool,
    /// `null`.
    Null,
}

impl Accessor {
    fn kinds(self) -> (Kinds, &'static str) {
        match self {
            Accessor::String => (Kinds::STRING, "string"),
            Accessor::Bytes => (Kinds::STRING.or(Kinds::BYTES), "bytes"),
            Accessor::Int => (Kinds::INT, "int"),
            Accessor::Float => (Kinds::NUMBER, "number"),
            Accessor::Bool => (Kinds::BOOL, "bool"),
            Accessor::Null => (Kinds::NULL, "null"),
        }
    }
}

impl Evaluation {
    /// The scalar at a place, its default taken.
    ///
    /// # Errors
    /// It is no such scalar, not concrete, an error, or does not fit.
    pub fn scalar(&mut self, id: VertexId, wanted: Accessor) -> Result<Datum, Diagnostic> {
        if let Some(wrong) = self.error(id) {
            return Err(wrong);
        }
        let (kinds, name) = wanted.kinds();
        let it = &mut self.evaluator;
        let real = it.unify(id);
        let default = it.default_of(real);
        let value = default.and_then(|at| it.scalar_at(at)).map(|(datum, at)| (datum.clone(), at));
        let Some((datum, at)) = value else {
            let found = self.evaluator.kinds_of(real);
            let at = match self.evaluator.heap.get(real).choice {
                Some(_) => At::default(),
                None => self.evaluator.first_position(real),
            };
            if found.meets(kinds) {
                return Err(self.wrong(id, format!("non-concrete value {found}"), at));
            }
            let text = self.evaluator.short(real);
            let message = format!("cannot use value {text} (type {found}) as {name}");
            return Err(self.wrong(id, message, at));
        };
        let found = crate::compare::kinds(&datum);
        if !found.meets(kinds) {
            let message = format!("cannot use value {} (type {found}) as {name}", datum.cue_text());
            return Err(self.wrong(id, message, at));
        }
        if wanted == Accessor::Int && datum.cue_text().parse::<i64>().is_err() {
            let below = datum.cue_text().starts_with('-');
            let message = format!("value was rounded {}", if below { "up" } else { "down" });
            let positions = Vec::new();
            return Err(Diagnostic {
                kind: Kind::Permanent,
                message,
                path: String::new(),
                positions,
                placed: false,
            });
        }
        Ok(datum)
    }

    /// How many elements, characters or bytes.
    ///
    /// # Errors
    /// It has no length.
    pub fn length(&mut self, id: VertexId) -> Result<usize, Diagnostic> {
        let it = &mut self.evaluator;
        let real = it.unify(id);
        let real = it.default_of(real).unwrap_or(real);
        let vertex = it.heap.get(real);
        match it.scalar_of(vertex) {
            Some((Datum::String(text), _)) => return Ok(text.len()),
            Some((Datum::Bytes(bytes), _)) => return Ok(bytes.len()),
            _ if vertex.is_list => return Ok(it.elements(real).len()),
            _ => {}
        }
        let kinds = it.kinds_of(real);
        Err(self.wrong(id, format!("len not supported for type {kinds}"), At::default()))
    }

    fn wrong(&mut self, id: VertexId, message: String, at: At) -> Diagnostic {
        let path = self.evaluator.path(id);
        let fault = Fault::new(Kind::Permanent, message, at);
        self.describe(&fault, &path)
    }
}
