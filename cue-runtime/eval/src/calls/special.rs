//! Functions that look at values, not data.

use super::Called;
use crate::builtin::{CallError, Datum, Special, int_argument};
use crate::compare;
use crate::error::Kind;
use crate::evaluator::Evaluator;
use crate::heap::{Conjunct, FaultId, Source, VertexId};
use crate::program::{At, LabelKind, Presence};

impl Evaluator {
    /// Functions that look at values, not data.
    pub(crate) fn special(
        &mut self,
        special: Special,
        all: &[Datum],
        at: At,
    ) -> Result<Result<Datum, CallError>, FaultId> {
        let vertex = |this: &Self, index: usize| match all.get(index) {
            Some(Datum::Live(raw)) => this.handled(*raw),
            _ => None,
        };
        let data = |this: &mut Self, index: usize| match all.get(index) {
            Some(Datum::Live(raw)) => {
                let id = this.handled(*raw).unwrap_or(this.root);
                this.datum(id)
            }
            Some(other) => this.resolve(other),
            None => Ok(Datum::Null),
        };
        let answer = match special {
            Special::Contains => {
                let found = match (vertex(self, 0), all.get(1)) {
                    (Some(list), Some(wanted)) => self.is_in_list(list, wanted)?,
                    _ => {
                        let (list, wanted) = (data(self, 0)?, data(self, 1)?);
                        matches!(list, Datum::List(items) if items.iter().any(|it| compare::same(it, &wanted)))
                    }
                };
                Datum::Bool(found)
            }
            Special::MinItems | Special::MaxItems | Special::MinFields | Special::MaxFields => {
                let count = match vertex(self, 0) {
                    Some(id) => self.count(id),
                    None => match all.first() {
                        Some(Datum::List(items)) => items.len(),
                        _ => 0,
                    },
                };
                let limit = match int_argument(&[Datum::Null, data(self, 1)?], 1) {
                    Ok(limit) => limit,
                    Err(error) => return Ok(Err(error)),
                };
                let number = i64::try_from(count).unwrap_or(i64::MAX);
                let (fine, order) = match special {
                    Special::MinItems | Special::MinFields => (number >= limit, "<"),
                    _ => (number <= limit, ">"),
                };
                if fine {
                    return Ok(Ok(Datum::Bool(true)));
                }
                let text = match special {
                    Special::MinItems | Special::MaxItems => {
                        let (min, max) = ("MinItems", "MaxItems");
                        let name = if special == Special::MinItems { min } else { max };
                        format!("len(list) {order} {name}({limit}) ({count} {order} {limit})")
                    }
                    _ => {
                        let name =
                            if special == Special::MinFields { "MinFields" } else { "MaxFields" };
                        format!("len(fields) {order} {name}({limit}) ({count} {order} {limit})")
                    }
                };
                return Ok(Err(CallError::unsatisfied(text)));
            }
            Special::UniqueItems => return Ok(self.unique_items(all.first())),
            Special::MatchN => {
                let (Some(limit), Some(schema)) = (vertex(self, 1), vertex(self, 2)) else {
                    return Ok(Ok(Datum::Bool(true)));
                };
                return Ok(self.match_items(all.first(), limit, schema));
            }
            Special::Sort | Special::IsSorted => return self.sort(special, all, at),
            Special::ValidateJson | Special::ValidateYaml | Special::ValidateYamlPartial => {
                let text = data(self, 0)?;
                let Some(schema) = vertex(self, 1) else { return Ok(Ok(Datum::Bool(true))) };
                return self.checked_text(special, &text, schema);
            }
            Special::OpenApi => {
                for index in 0..all.len() {
                    let wrong = vertex(self, index).and_then(|it| self.permanent(it, 0));
                    if let Some(fault) = wrong {
                        return Err(self.heap.fault(fault));
                    }
                }
                let (Some(config), Some(schema)) = (all.first(), all.get(1)) else {
                    return Ok(Ok(Datum::Null));
                };
                let (config, schema) = (self.live(config.clone()), self.live(schema.clone()));
                return Ok(self.open_api(config, schema));
            }
        };
        Ok(Ok(answer))
    }

    pub(super) fn resolve(&mut self, datum: &Datum) -> Result<Datum, FaultId> {
        match datum {
            Datum::Live(raw) => {
                let id = self.handled(*raw).unwrap_or(self.root);
                self.datum(id)
            }
            Datum::List(items) => {
                let items: Vec<Datum> = items.iter().cloned().collect();
                let mut all = Vec::with_capacity(items.len());
                for item in &items {
                    all.push(self.resolve(item)?);
                }
                Ok(Datum::list(all))
            }
            other => Ok(other.clone()),
        }
    }

    pub(super) fn count(&mut self, id: VertexId) -> usize {
        let id = self.unify(id);
        let arcs = &self.heap.get(id).arcs;
        arcs.iter()
            .filter(|it| it.presence == Presence::Member)
            .filter(|it| {
                matches!(self.labels.kind(it.label), LabelKind::Regular | LabelKind::Index)
            })
            .count()
    }

    /// A vertex for which both hold.
    pub(crate) fn both(&mut self, left: VertexId, right: VertexId) -> VertexId {
        let id = self.heap.vertex(None, None);
        for side in [left, right] {
            self.heap.get_mut(id).conjuncts.push(Conjunct::new(Source::Vertex(side)));
        }
        self.unify(id)
    }

    pub(crate) fn unifies(&mut self, left: VertexId, right: VertexId) -> bool {
        let both = self.both(left, right);
        !self.fails_for_good(both)
    }

    /// What comes of an error in what a function looks at: nothing resolves any more what a
    /// comparator cannot compare (cue-errors 1.10).
    pub(super) fn not_compared(
        &mut self,
        special: Special,
        fault: FaultId,
        function: Called<'_>,
    ) -> Result<Datum, FaultId> {
        match special {
            _ if self.may_go_away(fault) => return Err(fault),
            Special::Sort | Special::Contains => {}
            _ => return Err(fault),
        }
        let call = format!("error in call to {}", function.path());
        let fault = self.of_argument(fault, &call, function.at);
        if special == Special::Sort {
            let known = &mut self.heap.faults[fault];
            known.kind = Kind::Permanent;
            known.causes.iter_mut().for_each(|it| it.kind = Kind::Permanent);
        }
        Err(fault)
    }

    /// Whether an error may go away, or says that nothing more is done.
    pub(super) fn may_go_away(&self, fault: FaultId) -> bool {
        let known = &self.heap.faults[fault];
        known.closes_at.is_some() || known.awaits.is_some() || known.kind == Kind::Budget
    }
}
