//! Parts of values: fields by name, elements by index, slices, and lists made of parts.

use crate::builtin::Datum;
use crate::error::Kind;
use crate::evaluator::{Concrete, Evaluator, Value};
use crate::heap::{ArcEntry, EnvId, State, VertexId};
use crate::program::{At, ExprId, Label, LabelKind, Presence};

impl Evaluator {
    pub(crate) fn select(&mut self, base: Value, label: Label, at: At) -> Value {
        let id = match base {
            Value::Vertex(id) => id,
            Value::Fault(fault) => return Value::Fault(fault),
            Value::Datum(datum) => {
                let name = self.labels.name(label).clone();
                let message = format!(
                    "invalid operand {} (found {}, want list or struct) for {name}",
                    datum.cue_text(),
                    datum.kind_name()
                );
                return Value::Fault(self.fail(Kind::Permanent, message, at));
            }
        };
        let id = self.unify(id);
        let id = match self.default_of(id) {
            Some(id) => id,
            None => {
                let name = self.labels.name(label).clone();
                let message = format!("undefined field: {name}: unresolved disjunction");
                return Value::Fault(self.fail(Kind::Incomplete, message, at));
            }
        };
        let arc = self.heap.arc(id, label).map(|it| (it.presence, it.vertex));
        if let Some((Presence::Member, found)) = arc {
            return Value::Vertex(found);
        }
        if let Some(fault) = self.heap.get(id).fault {
            return Value::Fault(fault);
        }
        let name = self.labels.name(label).clone();
        match arc {
            Some((Presence::Optional, _)) => {
                let message = format!("cannot reference optional field: {name}");
                return Value::Fault(self.fail(Kind::Incomplete, message, at));
            }
            Some((Presence::Required, _)) => {
                let message = format!("required field missing: {name}");
                return Value::Fault(self.fail(Kind::Incomplete, message, at));
            }
            Some((Presence::Member, _)) | None => {}
        }
        let vertex = self.heap.get(id);
        if let Some((datum, _)) = &vertex.scalar {
            if !vertex.is_struct {
                let message = format!(
                    "invalid operand {} (found {}, want list or struct)",
                    datum.cue_text(),
                    datum.kind_name()
                );
                return Value::Fault(self.fail(Kind::Permanent, message, at));
            }
        }
        let closed = vertex.closing.iter().any(|it| it.holds() && self.closing.contains(&it.group));
        let kind = if closed { Kind::Permanent } else { Kind::Incomplete };
        Value::Fault(self.fail(kind, format!("undefined field: {name}"), at))
    }

    pub(crate) fn index(&mut self, operand: ExprId, index: ExprId, env: EnvId, at: At) -> Value {
        let base = self.eval(operand, env);
        let key = match self.scalar(index, env) {
            Ok(key) => key,
            Err(fault) => return Value::Fault(fault),
        };
        match key {
            Datum::String(name) => {
                let label = self.labels.intern(LabelKind::Regular, &name);
                self.select(base, label, at)
            }
            Datum::Number(number) => {
                let list = match self.concrete(base, at) {
                    Ok(Concrete::Vertex(id)) if self.heap.get(id).is_list => id,
                    Ok(_) => {
                        let message = "invalid operand for index (want list or struct)";
                        return Value::Fault(self.fail(Kind::Permanent, message, at));
                    }
                    Err(fault) => return Value::Fault(fault),
                };
                let length = self.heap.get(list).arcs.len();
                let Some(position) = number.to_i64().filter(|_| number.is_int()) else {
                    let message = format!("invalid list index {} (type float)", number.cue_text());
                    return Value::Fault(self.fail(Kind::Permanent, message, at));
                };
                let found = usize::try_from(position)
                    .ok()
                    .and_then(|it| self.heap.get(list).arcs.get(it))
                    .map(|it| it.vertex);
                match found {
                    Some(found) => Value::Vertex(found),
                    None if position < 0 => {
                        let message =
                            format!("invalid index {position} (index must be non-negative)");
                        Value::Fault(self.fail(Kind::Permanent, message, at))
                    }
                    None => {
                        let open = !self.heap.get(list).rest.is_empty();
                        let kind = if open { Kind::Incomplete } else { Kind::Permanent };
                        let message =
                            format!("index out of range [{position}] with length {length}");
                        Value::Fault(self.fail(kind, message, at))
                    }
                }
            }
            other => {
                let message = format!(
                    "invalid index {} (invalid type {})",
                    other.cue_text(),
                    other.kind_name()
                );
                Value::Fault(self.fail(Kind::Permanent, message, at))
            }
        }
    }

    pub(crate) fn slice(
        &mut self,
        operand: ExprId,
        low: Option<ExprId>,
        high: Option<ExprId>,
        env: EnvId,
        at: At,
    ) -> Value {
        let base = self.eval(operand, env);
        let list = match self.concrete(base, at) {
            Ok(Concrete::Vertex(id)) if self.heap.get(id).is_list => id,
            Ok(_) => return Value::Fault(self.fail(Kind::Permanent, "cannot slice", at)),
            Err(fault) => return Value::Fault(fault),
        };
        let length = self.heap.get(list).arcs.len();
        let mut bound = |it: Option<ExprId>, default: usize| match it {
            None => Ok(default),
            Some(expr) => match self.scalar(expr, env)? {
                Datum::Number(number) => {
                    match number.to_i64().and_then(|it| usize::try_from(it).ok()) {
                        Some(it) if it <= length => Ok(it),
                        _ => Err(self.fail(Kind::Permanent, "index out of range", at)),
                    }
                }
                _ => Err(self.fail(Kind::Permanent, "slice index must be an integer", at)),
            },
        };
        let low = match bound(low, 0) {
            Ok(it) => it,
            Err(fault) => return Value::Fault(fault),
        };
        let high = match bound(high, length) {
            Ok(it) => it,
            Err(fault) => return Value::Fault(fault),
        };
        if low > high {
            return Value::Fault(self.fail(Kind::Permanent, "slice bounds out of order", at));
        }
        let elements: Vec<VertexId> =
            self.heap.get(list).arcs[low..high].iter().map(|it| it.vertex).collect();
        Value::Vertex(self.list_of(&elements))
    }

    /// A list whose elements are these vertices.
    pub(crate) fn list_of(&mut self, elements: &[VertexId]) -> VertexId {
        let id = self.heap.vertex(None, None);
        for (index, element) in elements.iter().enumerate() {
            let label = self.labels.index(index);
            let child = self.heap.vertex(Some(id), Some(label));
            self.heap.get_mut(child).forward = Some(*element);
            let vertex = self.heap.get_mut(id);
            vertex.arcs.push(ArcEntry::member(label, child, At::default()));
        }
        let vertex = self.heap.get_mut(id);
        vertex.is_list = true;
        vertex.closed_length = Some((elements.len(), At::default()));
        vertex.state = State::Done;
        id
    }
}
