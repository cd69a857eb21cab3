//! Interpolations: texts with values in them (S-51).

use std::sync::Arc;

use smallvec::SmallVec;

use crate::builtin::{Datum, Text};
use crate::demand::{Concrete, Operand, Unmet};
use crate::error::{Fault, Kind, LITERAL};
use crate::evaluator::{Evaluator, Value};
use crate::heap::{EnvId, FaultId, VertexId};
use crate::program::{At, Code, ExprId, Interpolated, PartCode, Quotes};

/// How the error of a text begins that something is wrong in.
pub(crate) const INVALID: &str = "invalid interpolation: ";

/// A text of as many bytes is not put together before it is read: a chain in which each has the one before in it
/// takes as much as its links, not as all their texts.
pub(crate) const JOINED_FROM: usize = 4096;

/// What a part of such a text counts for, in the sandbox too, where it takes less.
const TEXT_BYTES: usize = 16;

/// What such a text counts for without its parts.
const JOINED_BYTES: usize = 80;

/// Bytes of the room for texts that is kept for the next one.
const MOST_KEPT: usize = 1 << 20;

/// What can be put into a text.
const TEXTS: &str = "(bool|string|bytes|number)";

/// A part of a text that is made, shared until all are known.
enum Piece<'a> {
    Written(&'a [u8]),
    Text(Text),
    Bytes(Arc<[u8]>),
    Said(String),
}

impl Piece<'_> {
    fn len(&self) -> usize {
        match self {
            Piece::Text(text) => text.len(),
            _ => self.bytes().len(),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Piece::Written(bytes) => bytes,
            Piece::Text(text) => text.as_bytes(),
            Piece::Bytes(bytes) => bytes,
            Piece::Said(text) => text.as_bytes(),
        }
    }

    /// As a text; `None` if it may be none.
    fn text(&self) -> Option<Text> {
        match self {
            Piece::Written(bytes) => std::str::from_utf8(bytes).ok().map(Text::from),
            Piece::Text(text) => Some(text.clone()),
            Piece::Bytes(_) => None,
            Piece::Said(text) => Some(text.as_str().into()),
        }
    }
}

impl Evaluator {
    /// A long text, put together when it is read.
    pub(crate) fn joined(&mut self, parts: Vec<Text>) -> Value {
        let short = parts.iter().map(Text::len).filter(|it| *it < JOINED_FROM);
        let kept = JOINED_BYTES + parts.len() * 2 * TEXT_BYTES + short.sum::<usize>();
        let text = Text::joined(parts, &self.allowance);
        match self.charge(kept).and_then(|()| self.allow_text(text.len())) {
            Ok(()) => Value::Datum(Datum::String(text)),
            Err(spent) => Value::Fault(spent),
        }
    }

    /// The error in the words of a user (cue-errors 1.12). What an interpolation cannot put into a text is said
    /// in few words, and as written if it fails; other words that are none fail beside it.
    pub(crate) fn worded(&mut self, expr: ExprId, env: EnvId, at: At) -> FaultId {
        let program = self.program.clone();
        let (mut text, mut places) = (String::new(), Vec::new());
        let Code::Interpolation(said) = program.code(expr) else {
            let value = self.eval(expr, env);
            let vertex = value.vertex();
            let why = match self.demand_in(value, self.program.at(expr), at) {
                Ok(Concrete::Datum(Datum::String(text))) => {
                    return self.fail(Kind::User, text.to_string(), at);
                }
                Ok(Concrete::Datum(Datum::Bytes(it))) => {
                    return self.fail(Kind::User, crate::builtin::valid_text(&it), at);
                }
                Ok(Concrete::Datum(it)) if it != Datum::Null => {
                    return self.fail(Kind::User, it.cue_text(), at);
                }
                Ok(value) => {
                    let operand = Operand { value, vertex, at: self.program.at(expr) };
                    Some(self.misfit(&operand, TEXTS, at))
                }
                Err(Unmet::Fault(fault)) => Some(fault),
                Err(Unmet::Open(_)) => None,
            };
            let own = self.fail(Kind::User, "", at);
            return why.map_or(own, |why| self.both_faults(own, why));
        };
        for part in &said.parts {
            match part {
                PartCode::Text(it) => text.push_str(&crate::builtin::valid_text(it)),
                PartCode::Value(it) => self.say_part(*it, env, &mut text, &mut places),
            }
        }
        self.fail_at(Kind::User, text, at, places)
    }

    /// Whether nothing is there of a vertex, whatever it may be.
    fn has_nothing(&self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        let bare = !vertex.is_struct && !vertex.is_list && vertex.arcs.is_empty();
        bare && vertex.scalar.is_none() && vertex.choice.is_none()
    }

    fn say_part(&mut self, expr: ExprId, env: EnvId, text: &mut String, places: &mut Vec<At>) {
        let place = self.program.at(expr);
        let value = match self.key_of(expr, env) {
            Some(key) => Value::Datum(key),
            None => self.eval(expr, env),
        };
        let vertex = value.vertex();
        // What the error is of has no value by then.
        let own = vertex.map(|it| self.follow(it)).filter(|it| *it == self.current);
        if own.is_some_and(|it| self.has_nothing(it)) {
            return text.push('_');
        }
        let choice = vertex.map(|it| self.unify(it));
        let choice = choice.filter(|it| self.heap.get(*it).choice.is_some());
        let value = match (choice, self.demand(value, place)) {
            (Some(id), _) => Concrete::Vertex(id),
            (None, Ok(Concrete::Datum(Datum::String(it)))) => return text.push_str(&it),
            (None, Ok(Concrete::Datum(Datum::Bytes(it)))) => {
                return text.push_str(&crate::builtin::valid_text(&it));
            }
            (None, Ok(Concrete::Datum(it))) if it != Datum::Null => {
                return text.push_str(&it.cue_text());
            }
            (None, Ok(value)) => value,
            (None, Err(Unmet::Open(id))) => {
                text.push_str(&self.short(id));
                return places.push(self.written_at(id));
            }
            (None, Err(Unmet::Fault(_))) => {
                text.push_str(&self.literal_text(expr));
                return places.push(place);
            }
        };
        let said = self.about_given(&value, text, str::to_owned);
        text.push_str(&said);
        places.extend(self.origin_of(&Operand { value, vertex, at: place }));
    }

    pub(crate) fn interpolate(
        &mut self,
        Interpolated { parts, quotes }: &Interpolated,
        env: EnvId,
        at: At,
    ) -> Value {
        let mut pieces: SmallVec<[Piece<'_>; 4]> = SmallVec::new();
        let mut wrong: Option<FaultId> = None;
        for part in parts {
            let expr = match part {
                PartCode::Text(text) => {
                    pieces.push(Piece::Written(text));
                    continue;
                }
                PartCode::Value(expr) => *expr,
            };
            let place = self.program.at(expr);
            let value = match self.key_of(expr, env) {
                Some(key) => Value::Datum(key),
                None => self.eval(expr, env),
            };
            let vertex = value.vertex();
            let fault = match self.demand_in(value, place, at) {
                Ok(Concrete::Datum(datum)) => match datum {
                    Datum::String(text) => {
                        pieces.push(Piece::Text(text));
                        continue;
                    }
                    Datum::Bytes(bytes) => {
                        pieces.push(Piece::Bytes(bytes));
                        continue;
                    }
                    Datum::Number(number) => {
                        pieces.push(Piece::Said(number.to_string()));
                        continue;
                    }
                    Datum::Bool(it) => {
                        pieces.push(Piece::Written(if it { b"true" } else { b"false" }));
                        continue;
                    }
                    // What is no text is told where nothing before it has failed.
                    _ if wrong.is_some() => continue,
                    other => {
                        let value = Concrete::Datum(other);
                        self.misfit(&Operand { value, vertex, at: place }, TEXTS, at)
                    }
                },
                Ok(Concrete::Vertex(_)) if wrong.is_some() => continue,
                Ok(Concrete::Vertex(id)) => {
                    let kind = if self.heap.get(id).is_list { "list" } else { "struct" };
                    let given = Concrete::Vertex(id);
                    let message = self.about_given(&given, INVALID, |text| {
                        format!("cannot use {text} (type {kind}) as type {TEXTS}")
                    });
                    self.fail_of(Kind::Permanent, message, at, id)
                }
                Err(Unmet::Fault(fault)) => match self.known_in_part(fault) {
                    Some(id) => {
                        let open = self.open_part(id, expr, at);
                        self.awaiting_as(fault, open)
                    }
                    None => fault,
                },
                Err(Unmet::Open(_)) if wrong.is_some() => continue,
                Err(Unmet::Open(id)) => self.open_part(id, expr, at),
            };
            wrong = Some(match wrong {
                Some(before) => self.both_faults(before, fault),
                None => fault,
            });
        }
        if let Some(fault) = wrong {
            return Value::Fault(self.wrapped(fault, "invalid interpolation", at));
        }
        let length = pieces.iter().fold(0, |all: usize, it| all.saturating_add(it.len()));
        if length >= JOINED_FROM
            && *quotes != Quotes::Single
            && let Some(parts) = pieces.iter().map(Piece::text).collect()
        {
            return self.joined(parts);
        }
        if let Err(spent) = self.charge_made(length) {
            return Value::Fault(spent);
        }
        // Put together in an allocation of its own each would leave a gap before its text.
        let mut out = std::mem::take(&mut self.put_together);
        out.clear();
        for piece in &pieces {
            out.extend_from_slice(piece.bytes());
        }
        let datum = match std::str::from_utf8(&out) {
            _ if *quotes == Quotes::Single => Datum::bytes(out.as_slice()),
            Ok(text) => Datum::String(text.into()),
            // Up to v0.14 bytes that belong together are one character, not all in a row.
            Err(_) if self.program.lenient => {
                Datum::String(String::from_utf8_lossy(&out).into_owned().into())
            }
            Err(_) => Datum::lossy(&out),
        };
        if out.capacity() <= MOST_KEPT {
            self.put_together = out;
        }
        Value::Datum(datum)
    }

    /// The error of a part of a text that is a type, a bound or the like.
    fn open_part(&mut self, id: VertexId, expr: ExprId, at: At) -> FaultId {
        let (text, kinds) = (self.short_as_known(id), self.kinds_of(id));
        // A validator of lists or structs may be met by one, but that is no text either.
        if let Some(kind) = self.container(id) {
            let message = format!("cannot use {text} (type {kind}) as type {TEXTS}");
            return self.fail_at(Kind::Permanent, message, at, vec![self.written_at(id)]);
        }
        let message = format!("non-concrete value {text} (type {kinds})");
        let literal = matches!(self.program.code(expr), Code::Top);
        let positions = vec![if literal { self.program.at(expr) } else { self.written_at(id) }];
        self.fail_at(Kind::Incomplete, message, at, positions)
    }

    /// Each error of a list in other words around it; all its positions stay.
    pub(crate) fn wrapped(&mut self, fault: FaultId, outer: &str, at: At) -> FaultId {
        let inner = self.heap.faults[fault].clone();
        if inner.kind == Kind::Budget {
            return fault;
        }
        let (kind, closed_by) = (inner.kind, inner.closed_by);
        let (closes_at, awaits) = (inner.closes_at, inner.awaits);
        let all = inner.each().map(|mut it| {
            let message = format!("{outer}: {}", it.message);
            it.positions.push(it.at);
            let inner = it.inner.or(it.place).filter(|_| it.message != LITERAL);
            Fault { message, at, inner, ..it }
        });
        let Some(mut first) = Fault::listed(all) else { return fault };
        (first.kind, first.closed_by) = (kind, closed_by);
        (first.closes_at, first.awaits) = (closes_at, awaits);
        self.heap.fault(first)
    }
}
