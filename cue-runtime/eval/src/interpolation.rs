//! Interpolations: texts with values in them (S-51).

use std::sync::Arc;

use smallvec::SmallVec;

use crate::builtin::Datum;
use crate::demand::{Concrete, Unmet};
use crate::error::{Fault, Kind};
use crate::evaluator::{Evaluator, Value};
use crate::heap::{EnvId, FaultId};
use crate::program::{At, Code, ExprId, PartCode, Quotes};

/// Bytes of the room for texts that is kept for the next one.
const MOST_KEPT: usize = 1 << 20;

/// A part of a text that is made, shared until all are known.
enum Piece<'a> {
    Written(&'a [u8]),
    Text(Arc<str>),
    Bytes(Arc<[u8]>),
    Said(String),
}

impl Piece<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Piece::Written(bytes) => bytes,
            Piece::Text(text) => text.as_bytes(),
            Piece::Bytes(bytes) => bytes,
            Piece::Said(text) => text.as_bytes(),
        }
    }
}

impl Evaluator {
    /// The error in the words of a user that say more than can be put into a text: what fails or is none is
    /// said as written. `fault` is why they are no text; it stays where more may still come.
    pub(crate) fn worded(&mut self, expr: ExprId, env: EnvId, fault: FaultId, at: At) -> FaultId {
        let program = self.program.clone();
        let Code::Interpolation(parts, _) = program.code(expr) else { return fault };
        let (mut text, mut places) = (String::new(), Vec::new());
        for part in parts.iter() {
            match part {
                PartCode::Text(it) => text.push_str(&String::from_utf8_lossy(it)),
                PartCode::Value(it) => match self.scalar(*it, env) {
                    Ok(Datum::String(it)) => text.push_str(&it),
                    Ok(Datum::Bytes(it)) => text.push_str(&String::from_utf8_lossy(&it)),
                    Ok(it) => text.push_str(&it.cue_text()),
                    Err(wrong) if self.heap.faults[wrong].kind == Kind::Incomplete => {
                        return fault;
                    }
                    Err(_) => {
                        text.push_str(&self.literal_text(*it));
                        places.push(self.program.at(*it));
                    }
                },
            }
        }
        self.fail_at(Kind::User, text, at, places)
    }

    pub(crate) fn interpolate(
        &mut self,
        parts: &[PartCode],
        quotes: Quotes,
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
                    other => {
                        let message = format!(
                            "cannot use {} (type {}) as type (bool|string|bytes|number)",
                            other.cue_text(),
                            other.kind_name()
                        );
                        self.fail(Kind::Permanent, message, place)
                    }
                },
                Ok(Concrete::Vertex(id)) => {
                    let kind = if self.heap.get(id).is_list { "list" } else { "struct" };
                    let message = self.about(id, "invalid interpolation: ", |text| {
                        format!(
                            "cannot use {text} (type {kind}) as type (bool|string|bytes|number)"
                        )
                    });
                    self.fail_of(Kind::Permanent, message, at, id)
                }
                Err(Unmet::Fault(fault)) => fault,
                Err(Unmet::Open(id)) => {
                    let (text, kinds) = (self.short(id), self.kinds_of(id));
                    let message = format!("non-concrete value {text} (type {kinds})");
                    let literal = matches!(self.program.code(expr), Code::Top);
                    let positions = vec![if literal { place } else { self.written_at(id) }];
                    self.fail_at(Kind::Incomplete, message, at, positions)
                }
            };
            wrong = Some(match wrong {
                Some(before) => self.both_faults(before, fault),
                None => fault,
            });
        }
        if let Some(fault) = wrong {
            return Value::Fault(self.wrapped(fault, "invalid interpolation", at));
        }
        let length = pieces.iter().map(|it| it.bytes().len()).sum();
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
            _ if quotes == Quotes::Single => Datum::bytes(out.as_slice()),
            _ if self.program.lenient => Datum::lossy(&out),
            Ok(text) => Datum::String(text.into()),
            Err(_) => Datum::String(readable(&out).into()),
        };
        if out.capacity() <= MOST_KEPT {
            self.put_together = out;
        }
        Value::Datum(datum)
    }

    /// Each error of a list in other words around it; all its positions stay.
    pub(crate) fn wrapped(&mut self, fault: FaultId, outer: &str, at: At) -> FaultId {
        let inner = self.heap.faults[fault].clone();
        if inner.kind == Kind::Budget {
            return fault;
        }
        let (kind, closes_at, awaits) = (inner.kind, inner.closes_at, inner.awaits);
        let mut all = inner.each().map(|mut it| {
            let message = format!("{outer}: {}", it.message);
            it.positions.push(it.at);
            Fault { message, at, ..it }
        });
        let Some(mut first) = all.next() else { return fault };
        first.causes = all.collect();
        (first.kind, first.closes_at, first.awaits) = (kind, closes_at, awaits);
        self.heap.fault(first)
    }
}

/// Bytes as text: bytes in a row that are none are one replacement character.
fn readable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        if chunk.valid().is_empty() && text.ends_with(char::REPLACEMENT_CHARACTER) {
            continue;
        }
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}
