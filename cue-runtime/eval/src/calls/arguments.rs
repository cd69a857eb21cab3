//! Arguments of calls as functions take them (S-52).

use super::{Called, Slot, quoted};
use crate::builtin::{Datum, Kinds, Pass};
use crate::compare;
use crate::demand::{Concrete, Operand, Unmet};
use crate::error::{Fault, Kind};
use crate::evaluator::{Evaluator, Value};
use crate::heap::{Conjunct, EnvId, FaultId, VertexId};
use crate::program::{At, Callee, ExprId, Plain};

/// A list of lists.
const OUTER: u32 = 1;

impl Evaluator {
    /// Whether a call lacks its first argument and so is a validator.
    pub(crate) fn is_partial(&self, callee: Callee, arguments: &[ExprId]) -> bool {
        match callee {
            Callee::Package(it) => {
                let function = it.function();
                function.is_validator() && arguments.len() + 1 == function.parameters.len()
            }
            Callee::Plain(Plain::MatchN) => arguments.len() == 2,
            Callee::Plain(Plain::MatchIf) => arguments.len() == 3,
            Callee::Plain(_) => false,
        }
    }

    /// All arguments, those that are left out too. Of several that are not concrete the last is told of:
    /// a function asks for one after the other, and goes on.
    pub(super) fn arguments(
        &mut self,
        given: &[ExprId],
        env: EnvId,
        function: Called<'_>,
    ) -> Result<Vec<Datum>, FaultId> {
        let mut all = Vec::with_capacity(function.function.parameters.len());
        let mut open = None;
        for slot in function.slots() {
            let Some(argument) = given.get(slot.place) else {
                all.push(slot.parameter.default.map_or(Datum::Null, Datum::text));
                continue;
            };
            let value = self.eval(*argument, env);
            all.push(match self.argument_of(value, *argument, slot) {
                Ok(datum) => datum,
                Err(fault) => {
                    open = Some(self.refused(fault, open, (given, env), slot)?);
                    Datum::Null
                }
            });
        }
        open.map_or(Ok(all), Err)
    }

    /// What becomes of an argument that is refused: an error is told at once, unless the function asks for the other
    /// arguments, too, and tells of this one then, or of an `earlier` one.
    fn refused(
        &mut self,
        fault: FaultId,
        earlier: Option<FaultId>,
        (given, env): (&[ExprId], EnvId),
        slot: Slot<'_>,
    ) -> Result<FaultId, FaultId> {
        let call = slot.function.at;
        // All of them are evaluated before one is looked at.
        let after = given.get(slot.place + 1..).unwrap_or_default();
        let after = self.wrong_arguments(after, env, call);
        if let Some(argument) = given.get(slot.place) {
            let again = self.eval(*argument, env);
            let own = self.wrong_argument(again, *argument, call).map(|_| fault);
            if let Some(fault) = self.either_fault(own, after) {
                return Err(fault);
            }
        }
        // Kinds are compared before elements are looked at.
        if self.heap.faults[fault].message.starts_with("error in call to ") {
            let rest = given.iter().zip(slot.function.slots()).skip(slot.place + 1);
            let misfit = rest.into_iter().find_map(|(it, slot)| {
                let fault = self.argument(*it, env, slot).err()?;
                self.heap.faults[fault].message.starts_with("cannot use ").then_some(fault)
            });
            if let Some(fault) = misfit {
                return Err(fault);
            }
        }
        let words = self.asked_for(fault, slot.function).unwrap_or_default();
        if words.starts_with("non-concrete ") {
            Ok(fault)
        } else if words.starts_with("cannot convert non-concrete ") {
            // It asks for all arguments before it converts one.
            Ok(earlier.unwrap_or(fault))
        } else {
            Err(fault)
        }
    }

    /// The error of an argument that is data, and not what the function wants.
    pub(crate) fn unwanted(&mut self, all: &[Datum], function: Called<'_>) -> Option<FaultId> {
        let parameters = function.function.parameters.iter();
        let (id, (wanted, words)) = all.iter().zip(parameters).find_map(|(it, parameter)| {
            let Datum::Live(raw) = it else { return None };
            Some((self.handled(*raw)?, parameter.wants?))
        })?;
        let (value, call, kinds) = (self.short(id), function.path(), self.kinds_of(id));
        let refusal = format!("cannot use value {value} (type {kinds}) as {wanted}");
        let message = format!("error in call to {call}: {words}{refusal}");
        Some(self.fail(Kind::Permanent, message, function.at))
    }

    /// What the value of an argument has failed with itself.
    fn own_fault(&mut self, value: &Value) -> Option<FaultId> {
        match value {
            Value::Fault(fault) => Some(*fault),
            Value::Datum(_) => None,
            Value::Vertex(id) => {
                let real = self.unify(*id);
                if let Some(fault) = self.heap.get(real).fault {
                    return Some(fault);
                }
                let below = Fault::listed(self.first_failing(*id));
                // What has no end may end for who asks for a part of it.
                let below = below.filter(|it| it.kind != Kind::StructuralCycle)?;
                Some(self.heap.fault(below))
            }
        }
    }

    /// The errors that arguments have themselves.
    pub(crate) fn wrong_arguments(
        &mut self,
        all: &[ExprId],
        env: EnvId,
        call: At,
    ) -> Option<FaultId> {
        let mut wrong = None;
        for argument in all {
            let value = self.eval(*argument, env);
            let own = self.wrong_argument(value, *argument, call);
            wrong = self.either_fault(wrong, own);
        }
        wrong
    }

    /// What an argument has failed with itself, or that it is not decided.
    fn wrong_argument(&mut self, value: Value, argument: ExprId, call: At) -> Option<FaultId> {
        let own = self.own_fault(&value);
        if own.is_some() || !value.vertex().is_some_and(|it| self.is_undecided(it)) {
            return own;
        }
        match self.demand_given(value, self.program.at(argument), call) {
            Err(Unmet::Fault(fault)) => Some(fault),
            Err(Unmet::Open(_)) | Ok(_) => None,
        }
    }

    /// Two errors as one, if there are two.
    pub(crate) fn either_fault(
        &mut self,
        one: Option<FaultId>,
        other: Option<FaultId>,
    ) -> Option<FaultId> {
        match (one, other) {
            (Some(one), Some(other)) => Some(self.both_faults(one, other)),
            (one, other) => one.or(other),
        }
    }

    /// Whether a reference in a literal that is an argument leads to what is called for, be that an argument itself
    /// which refers to it: that has no end (S-61).
    pub(crate) fn calls_for_itself(&mut self, id: VertexId, target: VertexId) -> bool {
        let Some(place) = self.calling else { return false };
        if self.heap.get(id).label.is_none() || self.is_in_tree(id) {
            return false;
        }
        let tried = |it: &(VertexId, VertexId)| it.0 == target && it.1 == place;
        place == target
            || self.trying.iter().any(tried)
            || !self.is_in_tree(place) && self.referred(place) == target
    }

    /// Whether an error says that a value waits for itself, and nothing comes any more.
    pub(super) fn waits_for_itself(&self, fault: FaultId) -> bool {
        let known = &self.heap.faults[fault];
        known.kind == Kind::Cycle && known.closes_at == Some(self.place) && self.is_last(self.place)
    }

    /// A concrete value for a call: what is called for is open in there (cue-errors 1.10).
    pub(super) fn demand_given(
        &mut self,
        value: Value,
        at: At,
        call: At,
    ) -> Result<Concrete, Unmet> {
        let vertex = value.vertex();
        self.demand_settled(value, at, call).map_err(|unmet| match (unmet, vertex) {
            (Unmet::Fault(fault), Some(id)) if self.waits_for_itself(fault) => Unmet::Open(id),
            (unmet, _) => unmet,
        })
    }

    /// An argument as a function takes it; the words for what does not fit are those of S-52.
    pub(crate) fn argument(
        &mut self,
        expr: ExprId,
        env: EnvId,
        slot: Slot<'_>,
    ) -> Result<Datum, FaultId> {
        let value = self.eval(expr, env);
        self.argument_of(value, expr, slot)
    }

    fn argument_of(
        &mut self,
        value: Value,
        expr: ExprId,
        slot: Slot<'_>,
    ) -> Result<Datum, FaultId> {
        let Slot { parameter, place, function } = slot;
        let at = self.program.at(expr);
        if parameter.pass == Pass::Schema {
            return self.schema(value, at, slot);
        }
        let vertex = value.vertex();
        let value = match self.demand_given(value, at, function.at) {
            Ok(Concrete::Vertex(id)) => match self.heap.get(id).fault {
                Some(refused) => return Err(self.in_call(refused, function)),
                None => Concrete::Vertex(id),
            },
            Ok(value) => value,
            Err(Unmet::Fault(fault)) => {
                // Who takes schemas looks at kinds before anything is decided.
                let schemas = function
                    .function
                    .parameters
                    .iter()
                    .any(|it| it.pass == Pass::Schema && it.kinds == Kinds::ANY);
                let open = vertex.filter(|it| schemas && self.is_undecided(*it));
                return Err(match open {
                    Some(id) if !self.kinds_of(id).meets(parameter.kinds) => {
                        self.open_argument(id, slot)
                    }
                    _ => fault,
                });
            }
            Err(Unmet::Open(id)) => return Err(self.open_argument(id, slot)),
        };
        let kinds = match &value {
            Concrete::Datum(datum) => compare::kinds(datum),
            Concrete::Vertex(id) if self.heap.get(*id).is_list => Kinds::LIST,
            Concrete::Vertex(_) => Kinds::STRUCT,
        };
        if !kinds.meets(parameter.kinds) {
            let message = self.about_given(&value, "", |text| {
                let (wanted, call) = (parameter.kinds, function.value());
                format!(
                    "cannot use {text} (type {kinds}) as {wanted} in argument {} to {call}",
                    place + 1
                )
            });
            let positions = self.origin_of(&Operand { value, vertex, at });
            return Err(self.misused(message, kinds, positions));
        }
        let id = match value {
            Concrete::Datum(datum) => {
                let Some(message) = not_known(&datum, slot) else {
                    return Ok(datum);
                };
                let value = Concrete::Datum(datum);
                let positions = self.origin_of(&Operand { value, vertex, at });
                return Err(self.misused(message, Kinds::STRING, positions));
            }
            Concrete::Vertex(id) => id,
        };
        self.range_over(id, at)?;
        // That is refused once all arguments have values.
        if parameter.wants.is_some_and(|it| !kinds.meets(it.0)) {
            return Ok(Datum::Live(self.handle(id)));
        }
        self.passed(id, at, slot)
    }

    /// An argument that values are held against.
    fn schema(&mut self, value: Value, at: At, slot: Slot<'_>) -> Result<Datum, FaultId> {
        let Slot { parameter, function, .. } = slot;
        if parameter.kinds == Kinds::STRUCT {
            self.is_struct(&value, at, slot)?;
            let vertex = value.vertex();
            let open = vertex.map(|it| (it, self.demand_given(value.clone(), at, function.at)));
            match open {
                Some((_, Err(Unmet::Open(id)))) => {
                    return Err(self.open_argument(id, slot));
                }
                Some((id, Err(Unmet::Fault(fault))))
                    if self.is_undecided(id) || !self.heap.get(self.follow(id)).is_struct =>
                {
                    return Err(fault);
                }
                _ => {}
            }
        }
        match value {
            Value::Datum(datum) => {
                let id = self.datum_vertex(datum);
                let spot = self.spots.call(at);
                self.placed_at(id, spot);
                Ok(Datum::Live(self.handle(id)))
            }
            Value::Vertex(id) if self.follow(id) == self.place => Err(self.open_argument(id, slot)),
            Value::Vertex(id) => {
                // What is wrong with a schema is nothing that a value could be held against.
                let real = self.unify(id);
                let wrong = self.heap.get(real).fault.filter(|_| parameter.kinds == Kinds::ANY);
                wrong.map_or_else(|| Ok(Datum::Live(self.handle(id))), Err)
            }
            Value::Fault(fault) => Err(fault),
        }
    }

    /// A list or struct, as far as the function looks into it.
    fn passed(&mut self, id: VertexId, at: At, slot: Slot<'_>) -> Result<Datum, FaultId> {
        let Slot { parameter, function, .. } = slot;
        // Values that a function only passes on may be open, but not wrong.
        if matches!(parameter.pass, Pass::Live | Pass::LiveLists | Pass::LiveTree) {
            if let Some(fault) = self.permanent(id, 0) {
                let fault = self.heap.fault(Fault { place: Some(id), ..fault });
                return Err(self.in_call(fault, function));
            }
        }
        match parameter.pass {
            Pass::Numbers | Pass::Strings => self.elements_as(id, slot),
            Pass::Scalar | Pass::Data => match self.wrong_within(id, function) {
                Some(fault) => Err(self.in_call(fault, function)),
                None => match self.datum(id) {
                    // It is not asked what is in a struct that is no address.
                    Err(_) if self.heap.get(id).is_struct && takes_no_struct(function) => {
                        Ok(Datum::fields(Vec::new()))
                    }
                    result => result.map_err(|it| self.in_call(it, function)),
                },
            },
            Pass::Whole => Ok(Datum::Live(self.handle(id))),
            Pass::Live => {
                let elements = self.handles_of(Value::Vertex(id), at)?;
                Ok(Datum::list(elements))
            }
            Pass::LiveLists => {
                let lists = self.tree(id, OUTER).map_err(|it| self.in_call(it, function))?;
                self.only_lists(&lists, function)?;
                Ok(lists)
            }
            Pass::LiveTree => {
                let tree = self.tree(id, self.budget.depth)?;
                if let Datum::Live(_) = tree {
                    self.only_lists(&Datum::list(vec![tree.clone()]), function)?;
                }
                Ok(tree)
            }
            Pass::Schema => self.tree(id, self.budget.depth),
        }
    }

    /// What is wrong for good in a value that is taken as data: all of it where it is marshalled, the first
    /// error where that is to JSON, and by other functions.
    fn wrong_within(&mut self, id: VertexId, function: Called<'_>) -> Option<FaultId> {
        if self.is_sound_data(id) {
            return None;
        }
        let all = function.function.name == "Marshal" && function.package != "encoding/json";
        let mut found = Vec::new();
        match all {
            true => self.permanent_all(id, &mut found, 0),
            false => found = self.first_failing(id),
        }
        let wrong = Fault::listed(found.into_iter().flat_map(Fault::each))?;
        Some(self.heap.fault(wrong))
    }

    /// Whether it is a choice without a default.
    pub(crate) fn is_undecided(&mut self, id: VertexId) -> bool {
        let id = self.unify(id);
        self.heap.get(id).choice.is_some() && self.default_of(id).is_none()
    }

    /// An error if a value that is passed as it is cannot be a struct.
    fn is_struct(&mut self, value: &Value, at: At, slot: Slot<'_>) -> Result<(), FaultId> {
        let Slot { place, function, .. } = slot;
        let (text, kinds, from) = match value {
            Value::Datum(datum) => (datum.cue_text(), compare::kinds(datum), vec![at]),
            Value::Vertex(id) => {
                if self.is_undecided(*id) {
                    return Ok(());
                }
                let id = self.default_of(*id).unwrap_or(*id);
                let text = self.about_given(&Concrete::Vertex(id), "", str::to_owned);
                (text, self.kinds_of(id), self.origin(id))
            }
            Value::Fault(_) => return Ok(()),
        };
        if kinds == Kinds::BOTTOM || kinds.meets(Kinds::STRUCT) {
            return Ok(());
        }
        let call = function.value();
        let message = format!(
            "cannot use {text} (type {kinds}) as struct in argument {} to {call}",
            place + 1
        );
        Err(self.misused(message, kinds, from))
    }

    /// What an error says that a function tells of an argument which may still resolve.
    fn asked_for(&self, fault: FaultId, function: Called<'_>) -> Option<&str> {
        let known = &self.heap.faults[fault];
        let asked = known.kind == Kind::Incomplete && known.at == function.at;
        let words = known.message.strip_prefix("error in call to ").filter(|_| asked)?;
        words.split_once(": ").map(|it| it.1)
    }

    /// An argument that is a type or the like.
    pub(super) fn open_argument(&mut self, id: VertexId, slot: Slot<'_>) -> FaultId {
        let Slot { parameter, place, function } = slot;
        let kinds = self.kinds_of(id);
        if !kinds.meets(parameter.kinds) {
            let text = self.short(id);
            let message = format!(
                "cannot use {text} (type {kinds}) as {} in argument {} to {}",
                parameter.kinds,
                place + 1,
                function.value()
            );
            let positions = match self.is_undecided(id) {
                true => self.origin(id),
                false => vec![self.written_at(id)],
            };
            return self.misused(message, kinds, positions);
        }
        // What takes the elements as they are asks for them one by one.
        let elements = matches!(parameter.pass, Pass::Live | Pass::LiveLists | Pass::Whole);
        let inner = match parameter.kinds {
            Kinds::LIST if !elements => format!("non-concrete list for argument {place}"),
            Kinds::STRUCT => format!("non-concrete struct for argument {place}"),
            Kinds::ANY => format!("non-concrete argument {place}"),
            _ => format!("non-concrete value {kinds}"),
        };
        let message = format!("error in call to {}: {inner}", function.path());
        // One of a few texts is unified with these first, and that has no place.
        let placed = parameter.kinds != Kinds::ANY && parameter.one_of.is_empty();
        let positions = if placed { vec![self.written_at(id)] } else { Vec::new() };
        self.fail_at(Kind::Incomplete, message, function.at, positions)
    }

    /// An error found in an argument of a call.
    pub(super) fn in_call(&mut self, fault: FaultId, function: Called<'_>) -> FaultId {
        let mut fault = fault;
        let inner = &self.heap.faults[fault];
        // Of calls that go round the last one is told.
        let told = inner.message.starts_with("error in call to ");
        if told && matches!(inner.kind, Kind::Cycle | Kind::StructuralCycle) {
            return fault;
        }
        if let Some(text) = inner.message.strip_prefix("incomplete value ") {
            // What is told of it: where it is written, and by which references it came, or where its field is.
            let mut positions = inner.positions.clone();
            let message = match function.package {
                "encoding/json" | "encoding/csv" => {
                    format!("cannot convert incomplete value {} to JSON", quoted(text))
                }
                "text/template" => {
                    if let Some(field) = inner.place.and_then(|it| self.declared_at(it)) {
                        positions = vec![field];
                    }
                    format!("cannot convert non-concrete value {text}")
                }
                "net" => format!("non-concrete value {text}"),
                _ => {
                    let conjuncts =
                        inner.place.into_iter().flat_map(|it| &self.heap.get(it).conjuncts);
                    let references = conjuncts.filter(|it| self.refers(it));
                    let references = references.filter_map(Conjunct::reference);
                    positions.extend(references.map(|it| self.program.at(it)));
                    inner.message.clone()
                }
            };
            // It is the call that takes a value as data.
            let inner = Fault { message, positions, place: Some(self.place), ..inner.clone() };
            fault = self.heap.fault(inner);
        }
        let call = format!("error in call to {}", function.path());
        self.of_argument(fault, &call, function.at)
    }

    /// Where a field is declared first.
    fn declared_at(&self, id: VertexId) -> Option<At> {
        let vertex = self.heap.get(self.follow(id));
        self.heap.arc(vertex.parent?, vertex.label?).map(|it| it.at())
    }

    /// The same in words around it: it is an error of the call.
    pub(crate) fn of_argument(&mut self, fault: FaultId, call: &str, at: At) -> FaultId {
        let fault = self.wrapped(fault, call, at);
        let here = self.place;
        let wrapped = &mut self.heap.faults[fault];
        wrapped.place = Some(here);
        wrapped.causes.iter_mut().for_each(|it| it.place = Some(here));
        fault
    }

    /// What a function was given as it is.
    pub(crate) fn handled(&self, handle: u32) -> Option<VertexId> {
        self.handles.get(handle as usize).copied()
    }

    pub(crate) fn handle(&mut self, id: VertexId) -> u32 {
        self.handles.push(id);
        self.handles.len() as u32 - 1
    }
}

/// Whether a function that is handed any value refuses structs.
fn takes_no_struct(function: Called<'_>) -> bool {
    match function.package {
        "net" => function.function.name != "JoinHostPort",
        package => package == "text/tabwriter",
    }
}

/// What is said of a text that is none of those a parameter takes.
fn not_known(datum: &Datum, slot: Slot<'_>) -> Option<String> {
    let Slot { parameter, place, function } = slot;
    let Datum::String(text) = datum else { return None };
    if parameter.one_of.is_empty() || parameter.one_of.contains(&&**text) {
        return None;
    }
    let default = parameter.default.iter().map(|it| format!("*{it:?}"));
    let others = parameter.one_of.iter().filter(|it| parameter.default != Some(it));
    let all: Vec<String> = default.chain(others.map(|it| format!("{it:?}"))).collect();
    Some(format!(
        "cannot use {} as {} in argument {} to {}",
        datum.cue_text(),
        all.join(" | "),
        place + 1,
        function.value()
    ))
}
