//! Interpolations: texts with values in them (S-51).

use crate::builtin::Datum;
use crate::demand::{Concrete, Unmet};
use crate::error::{Fault, Kind};
use crate::evaluator::{Evaluator, Value};
use crate::heap::{EnvId, FaultId};
use crate::program::{At, Code, PartCode, Quotes};

impl Evaluator {
    pub(crate) fn interpolate(
        &mut self,
        parts: &[PartCode],
        quotes: Quotes,
        env: EnvId,
        at: At,
    ) -> Value {
        let mut out: Vec<u8> = Vec::new();
        let mut wrong: Option<FaultId> = None;
        for part in parts {
            let expr = match part {
                PartCode::Text(text) => {
                    out.extend_from_slice(text);
                    continue;
                }
                PartCode::Value(expr) => *expr,
            };
            let place = self.program.at(expr);
            let value = self.eval(expr, env);
            let fault = match self.demand_in(value, place, at) {
                Ok(Concrete::Datum(datum)) => match datum {
                    Datum::String(text) => {
                        out.extend_from_slice(text.as_bytes());
                        continue;
                    }
                    Datum::Bytes(text) => {
                        out.extend_from_slice(&text);
                        continue;
                    }
                    Datum::Number(number) => {
                        out.extend_from_slice(number.to_string().as_bytes());
                        continue;
                    }
                    Datum::Bool(it) => {
                        out.extend_from_slice(if it { b"true" } else { b"false" });
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
        if let Err(spent) = self.charge(out.len()) {
            return Value::Fault(spent);
        }
        if quotes == Quotes::Single {
            return Value::Datum(Datum::Bytes(out.into()));
        }
        if self.program.lenient {
            return Value::Datum(Datum::lossy(&out));
        }
        let text = String::from_utf8(out).unwrap_or_else(|it| readable(it.as_bytes()));
        Value::Datum(Datum::String(text.into()))
    }

    /// Each error of a list in other words around it; all its positions stay.
    pub(crate) fn wrapped(&mut self, fault: FaultId, outer: &str, at: At) -> FaultId {
        let inner = self.heap.faults[fault.0 as usize].clone();
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
