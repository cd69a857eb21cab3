//! Calls: functions without a package, functions of packages, and both as validators.

use crate::builtin::{
    CallContext, CallError, Code as CallCode, Datum, Function, Kinds, Parameter, Pass, Run, Special,
};
use crate::compare;
use crate::demand::{Concrete, Unmet};
use crate::error::Kind;
use crate::evaluator::{Evaluator, Value};
use crate::heap::{ArcEntry, Conjunct, EnvId, FaultId, Source, VertexId};
use crate::number::Number;
use crate::program::{At, Callee, ExprId, LabelKind, Plain, Presence};

/// Bytes one call may produce.
pub(crate) const CALL_BYTES: u64 = 64 << 20;

/// Bytes that data takes, roughly.
fn weight(datum: &Datum) -> usize {
    match datum {
        Datum::String(text) => text.len(),
        Datum::Bytes(bytes) => bytes.len(),
        Datum::List(items) => items.iter().map(|it| 64 + weight(it)).sum(),
        Datum::Struct(fields) => fields.iter().map(|it| 96 + weight(&it.1)).sum(),
        _ => 0,
    }
}

/// A function that is called.
#[derive(Clone, Copy)]
pub(crate) struct Called<'a> {
    pub(crate) package: &'a str,
    pub(crate) function: &'static Function,
    pub(crate) at: At,
}

impl Called<'_> {
    /// As errors of the call name it.
    fn path(&self) -> String {
        format!("{}.{}", self.package, self.function.name)
    }

    /// As it is named where it stands for a value.
    fn value(&self) -> String {
        if self.package.contains('/') {
            return format!("{:?}.{}", self.package, self.function.name);
        }
        self.path()
    }
}

impl Evaluator {
    pub(crate) fn call(
        &mut self,
        expr: ExprId,
        callee: Callee,
        arguments: &[ExprId],
        env: EnvId,
        at: At,
    ) -> Value {
        match callee {
            Callee::Plain(plain) => self.plain(expr, plain, arguments, env, at),
            Callee::Package(_, function) if self.is_partial(callee, arguments) => {
                let _ = function;
                Value::Vertex(self.anonymous(expr, env))
            }
            Callee::Package(package, function) => {
                match self.package_call(package, function, arguments, env, at) {
                    Ok(Value::Datum(datum)) => {
                        if matches!(datum, Datum::List(_) | Datum::Struct(_)) {
                            Value::Vertex(self.live(&datum))
                        } else {
                            Value::Datum(datum)
                        }
                    }
                    Ok(other) => other,
                    Err(fault) => Value::Fault(fault),
                }
            }
        }
    }

    /// Data with handles in it as a vertex.
    pub(crate) fn live(&mut self, datum: &Datum) -> VertexId {
        match datum {
            Datum::Live(raw) => match self.handles.get(*raw as usize) {
                Some(id) => *id,
                None => self.datum_vertex(Datum::Null),
            },
            Datum::List(items) if items.iter().any(has_handles) => {
                let elements: Vec<VertexId> = items.iter().map(|it| self.live(it)).collect();
                self.list_of(&elements)
            }
            other => self.datum_vertex(other.clone()),
        }
    }

    /// Whether a call lacks its first argument and so is a validator.
    pub(crate) fn is_partial(&self, callee: Callee, arguments: &[ExprId]) -> bool {
        match callee {
            Callee::Package(_, function) => {
                function.is_validator() && arguments.len() + 1 == function.parameters.len()
            }
            Callee::Plain(Plain::MatchN) => arguments.len() == 2,
            Callee::Plain(Plain::MatchIf) => arguments.len() == 3,
            Callee::Plain(_) => false,
        }
    }

    /// An argument as a function takes it; the words for what does not fit are those of S-52.
    pub(crate) fn argument(
        &mut self,
        expr: ExprId,
        env: EnvId,
        parameter: &Parameter,
        place: usize,
        function: Called<'_>,
    ) -> Result<Datum, FaultId> {
        let at = self.program.at(expr);
        let value = self.eval(expr, env);
        if parameter.pass == Pass::Schema {
            return match value {
                Value::Datum(datum) => {
                    let id = self.datum_vertex(datum);
                    Ok(Datum::Live(self.handle(id)))
                }
                Value::Vertex(id) => Ok(Datum::Live(self.handle(id))),
                Value::Fault(fault) => Err(fault),
            };
        }
        let vertex = value.vertex();
        let value = match self.demand(value, at) {
            Ok(value) => value,
            Err(Unmet::Fault(fault)) => return Err(fault),
            Err(Unmet::Open(id)) => return Err(self.open_argument(id, parameter, place, function)),
        };
        let kinds = match &value {
            Concrete::Datum(datum) => compare::kinds(datum),
            Concrete::Vertex(id) if self.heap.get(*id).is_list => Kinds::LIST,
            Concrete::Vertex(_) => Kinds::STRUCT,
        };
        if !kinds.meets(parameter.kinds) {
            let message = format!(
                "cannot use {} (type {kinds}) as {} in argument {} to {}",
                self.concrete_text(&value),
                parameter.kinds,
                place + 1,
                function.value()
            );
            let positions = match vertex {
                Some(id) => vec![self.written_at(id)],
                None => vec![at],
            };
            return Err(self.fail_at(Kind::Permanent, message, At::default(), positions));
        }
        let id = match value {
            Concrete::Datum(datum) => {
                let known = |text: &str| parameter.one_of.contains(&text);
                if matches!(&datum, Datum::String(it) if !parameter.one_of.is_empty() && !known(it))
                {
                    let all: Vec<String> =
                        parameter.one_of.iter().map(|it| format!("{it:?}")).collect();
                    let message = format!(
                        "cannot use {} as *{} in argument {} to {}",
                        datum.cue_text(),
                        all.join(" | "),
                        place + 1,
                        function.value()
                    );
                    return Err(self.fail(Kind::Permanent, message, at));
                }
                return Ok(datum);
            }
            Concrete::Vertex(id) => id,
        };
        self.range_over(id, at)?;
        match parameter.pass {
            Pass::Numbers | Pass::Strings => self.elements_as(id, parameter.pass, place, function),
            Pass::Scalar | Pass::Data => self.datum(id).map_err(|it| self.in_call(it, function)),
            Pass::Live => {
                let elements = self.handles_of(Value::Vertex(id), at)?;
                Ok(Datum::list(elements))
            }
            Pass::LiveLists | Pass::LiveTree | Pass::Schema => {
                self.tree(id, parameter.pass == Pass::LiveLists, 0)
            }
        }
    }

    /// An argument that is a type or the like.
    fn open_argument(
        &mut self,
        id: VertexId,
        parameter: &Parameter,
        place: usize,
        function: Called<'_>,
    ) -> FaultId {
        let kinds = self.kinds_of(id);
        if !kinds.meets(parameter.kinds) {
            let text = self.short(id);
            let message = format!(
                "cannot use {text} (type {kinds}) as {} in argument {} to {}",
                parameter.kinds,
                place + 1,
                function.value()
            );
            let positions = vec![self.written_at(id)];
            return self.fail_at(Kind::Permanent, message, At::default(), positions);
        }
        let inner = match parameter.kinds {
            Kinds::LIST => format!("non-concrete list for argument {place}"),
            Kinds::STRUCT => format!("non-concrete struct for argument {place}"),
            Kinds::ANY => format!("non-concrete argument {place}"),
            _ => format!("non-concrete value {}", kinds.and(parameter.kinds)),
        };
        let message = format!("error in call to {}: {inner}", function.path());
        let positions = vec![self.written_at(id)];
        self.fail_at(Kind::Incomplete, message, function.at, positions)
    }

    /// The elements of a list of numbers or strings.
    fn elements_as(
        &mut self,
        list: VertexId,
        pass: Pass,
        place: usize,
        function: Called<'_>,
    ) -> Result<Datum, FaultId> {
        let (kinds, noun) = match pass {
            Pass::Strings => (Kinds::STRING, "string"),
            _ => (Kinds::NUMBER, "number"),
        };
        let arcs = self.elements(list);
        let mut items = Vec::with_capacity(arcs.len());
        for (index, arc) in arcs.into_iter().enumerate() {
            let at = self.first_position(arc);
            let value = match self.demand(Value::Vertex(arc), at) {
                Ok(value) => value,
                Err(Unmet::Fault(fault)) => return Err(self.in_call(fault, function)),
                Err(Unmet::Open(id)) if self.kinds_of(id).meets(kinds) => {
                    let text = self.short(id);
                    let message = format!(
                        "error in call to {}: non-concrete value {text} for element {index} of {noun} list argument {place}",
                        function.path()
                    );
                    let positions = vec![self.written_at(id), at];
                    return Err(self.fail_at(Kind::Incomplete, message, function.at, positions));
                }
                Err(Unmet::Open(id)) => {
                    let (text, kinds) = (self.short(id), self.kinds_of(id));
                    let message = format!(
                        "error in call to {}: invalid list element {index} in argument {place} to call: cannot use value {text} ({kinds}) as {noun}",
                        function.path()
                    );
                    let positions = vec![at, self.written_at(id)];
                    return Err(self.fail_at(Kind::Permanent, message, function.at, positions));
                }
            };
            match value {
                Concrete::Datum(datum) if compare::kinds(&datum).meets(kinds) => items.push(datum),
                other => {
                    let message = format!(
                        "error in call to {}: invalid list element {index} in argument {place} to call: cannot use value {} ({}) as {noun}",
                        function.path(),
                        self.concrete_text(&other),
                        self.concrete_kind(&other)
                    );
                    return Err(self.fail_at(Kind::Permanent, message, function.at, vec![at]));
                }
            }
        }
        Ok(Datum::list(items))
    }

    /// An error found in an argument of a call.
    fn in_call(&mut self, fault: FaultId, function: Called<'_>) -> FaultId {
        if self.heap.faults[fault.0 as usize].message.starts_with("error in call to ") {
            return fault;
        }
        let mut fault = fault;
        let inner = &self.heap.faults[fault.0 as usize];
        if let ("encoding/json", Some(text)) =
            (function.package, inner.message.strip_prefix("incomplete value "))
        {
            let mut inner = inner.clone();
            inner.message = format!("cannot convert incomplete value {} to JSON", quoted(text));
            fault = self.heap.fault(inner);
        }
        self.wrapped(fault, &format!("error in call to {}", function.path()), function.at)
    }

    fn tree(&mut self, id: VertexId, shallow: bool, depth: u32) -> Result<Datum, FaultId> {
        let id = self.default_of(id).unwrap_or(id);
        let id = self.unify(id);
        if let Some(fault) = self.heap.get(id).fault {
            return Err(fault);
        }
        let list = self.heap.get(id).is_list && !(shallow && depth > 1);
        if !list || depth > 1_000 {
            return Ok(Datum::Live(self.handle(id)));
        }
        let arcs = self.elements(id);
        let mut items = Vec::new();
        for arc in arcs {
            items.push(self.tree(arc, shallow, depth + 1)?);
        }
        Ok(Datum::list(items))
    }

    fn handles_of(&mut self, value: Value, at: At) -> Result<Vec<Datum>, FaultId> {
        match self.concrete(value, at)? {
            Concrete::Vertex(id) if self.heap.get(id).is_list => {
                let arcs = self.elements(id);
                Ok(arcs.into_iter().map(|it| Datum::Live(self.handle(it))).collect())
            }
            _ => Err(self.fail(Kind::Permanent, "cannot use value as list", at)),
        }
    }

    pub(crate) fn handle(&mut self, id: VertexId) -> u32 {
        self.handles.push(id);
        self.handles.len() as u32 - 1
    }

    fn package_call(
        &mut self,
        package: &str,
        function: &'static Function,
        arguments: &[ExprId],
        env: EnvId,
        at: At,
    ) -> Result<Value, FaultId> {
        let called = Called { package, function, at };
        let wanted = function.parameters.len();
        let least = function.parameters.iter().filter(|it| it.default.is_none()).count();
        if arguments.len() > wanted || arguments.len() < least {
            let few = if arguments.len() < least { "not enough" } else { "too many" };
            let message = format!(
                "{few} arguments in call to {} (have {}, want {wanted})",
                called.value(),
                arguments.len()
            );
            return Err(self.fail(Kind::Permanent, message, at));
        }
        let mut all = Vec::with_capacity(wanted);
        for (index, parameter) in function.parameters.iter().enumerate() {
            let datum = match arguments.get(index) {
                Some(argument) => self.argument(*argument, env, parameter, index, called)?,
                None => match parameter.default {
                    Some(text) => Datum::text(text),
                    None => Datum::Null,
                },
            };
            all.push(datum);
        }
        let result = match function.run {
            Run::Pure(run) => {
                let mut context = CallContext::new(CALL_BYTES);
                run(&mut context, &all)
            }
            Run::Evaluator(special) => self.special(special, function, &all, at)?,
        };
        match result {
            Ok(datum) => {
                self.charge(weight(&datum))?;
                Ok(Value::Datum(datum))
            }
            Err(error) if error.code == CallCode::Unsatisfied => {
                Ok(Value::Datum(Datum::Bool(false)))
            }
            Err(error) => {
                let kind = kind_of(&error);
                let message = format!("error in call to {}: {}", called.path(), error.message);
                Err(self.fail(kind, message, at))
            }
        }
    }

    /// Functions that look at values, not data.
    pub(crate) fn special(
        &mut self,
        special: Special,
        function: &'static Function,
        all: &[Datum],
        at: At,
    ) -> Result<Result<Datum, CallError>, FaultId> {
        let vertex = |this: &Self, index: usize| match all.get(index) {
            Some(Datum::Live(raw)) => this.handles.get(*raw as usize).copied(),
            _ => None,
        };
        let data = |this: &mut Self, index: usize| match all.get(index) {
            Some(Datum::Live(raw)) => {
                let id = this.handles.get(*raw as usize).copied().unwrap_or(this.root);
                this.datum(id)
            }
            Some(other) => this.resolve(other),
            None => Ok(Datum::Null),
        };
        let answer = match special {
            Special::Contains => {
                let (list, wanted) = (data(self, 0)?, data(self, 1)?);
                let found = match &list {
                    Datum::List(items) => items.iter().any(|it| compare::equal(it, &wanted)),
                    _ => false,
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
                let limit = match data(self, 1)? {
                    Datum::Number(number) => number.to_i64().unwrap_or(0),
                    _ => 0,
                };
                let count_number = i64::try_from(count).unwrap_or(i64::MAX);
                let (fine, order) = match special {
                    Special::MinItems | Special::MinFields => (count_number >= limit, "<"),
                    _ => (count_number <= limit, ">"),
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
                let bytes = match &text {
                    Datum::String(text) => text.as_bytes().to_vec(),
                    Datum::Bytes(bytes) => bytes.to_vec(),
                    _ => Vec::new(),
                };
                let Some(schema) = vertex(self, 1) else { return Ok(Ok(Datum::Bool(true))) };
                return Ok(self.checked_text(special, bytes, schema));
            }
            Special::OpenApi => {
                return Ok(Err(CallError::permanent(format!(
                    "{} is not available",
                    function.name
                ))));
            }
        };
        Ok(Ok(answer))
    }

    fn resolve(&mut self, datum: &Datum) -> Result<Datum, FaultId> {
        match datum {
            Datum::Live(raw) => {
                let id = self.handles.get(*raw as usize).copied().unwrap_or(self.root);
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

    fn count(&mut self, id: VertexId) -> usize {
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
        self.permanent(both, 0).is_none()
    }

    /// Sorts by a comparator `{x: _, y: _, less: bool}`.
    fn sort(
        &mut self,
        special: Special,
        all: &[Datum],
        at: At,
    ) -> Result<Result<Datum, CallError>, FaultId> {
        let Some(Datum::List(items)) = all.first() else { return Ok(Ok(Datum::Null)) };
        let mut sorted: Vec<Datum> = items.iter().cloned().collect();
        let comparator = match all.get(1) {
            Some(Datum::Live(raw)) => self.handles.get(*raw as usize).copied(),
            _ => None,
        };
        let Some(comparator) = comparator else { return Ok(Ok(Datum::list(sorted))) };
        // Insertion by halves: few comparisons, stable, and no panic on an inconsistent order.
        let mut placed: Vec<Datum> = Vec::with_capacity(sorted.len());
        for item in sorted.drain(..) {
            if special == Special::IsSorted {
                if let Some(last) = placed.last().cloned() {
                    if self.less(comparator, &item, &last, at)? {
                        return Ok(Ok(Datum::Bool(false)));
                    }
                }
                placed.push(item);
                continue;
            }
            let (mut low, mut high) = (0, placed.len());
            while low < high {
                let middle = usize::midpoint(low, high);
                let pivot = placed[middle].clone();
                if self.less(comparator, &item, &pivot, at)? {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            placed.insert(low, item);
        }
        if special == Special::IsSorted {
            return Ok(Ok(Datum::Bool(true)));
        }
        Ok(Ok(Datum::list(placed)))
    }

    fn less(
        &mut self,
        comparator: VertexId,
        left: &Datum,
        right: &Datum,
        at: At,
    ) -> Result<bool, FaultId> {
        self.tick()?;
        let id = self.heap.vertex(None, None);
        let (left, right) = (self.live(left), self.live(right));
        let operands = self.heap.vertex(None, None);
        for (name, side) in [("x", left), ("y", right)] {
            let label = self.labels.intern(LabelKind::Regular, name);
            let child = self.heap.vertex(Some(operands), Some(label));
            self.heap.get_mut(child).conjuncts.push(Conjunct::new(Source::Vertex(side)));
            let vertex = self.heap.get_mut(operands);
            vertex.arcs.push(ArcEntry::member(label, child, at));
        }
        self.heap.get_mut(id).conjuncts.push(Conjunct::new(Source::Vertex(comparator)));
        let id = self.unify(id);
        for (name, side) in [("x", left), ("y", right)] {
            let label = self.labels.intern(LabelKind::Regular, name);
            if let Some(arc) = self.heap.arc(id, label).map(|it| it.vertex) {
                self.add_conjunct(arc, Conjunct::new(Source::Vertex(side)));
            }
        }
        let label = self.labels.intern(LabelKind::Regular, "less");
        let value = self.select(Value::Vertex(id), label, at, None, at);
        match self.concrete(value, at)? {
            Concrete::Datum(Datum::Bool(it)) => Ok(it),
            _ => Err(self.fail(Kind::Permanent, "comparator does not give a bool in less", at)),
        }
    }

    fn plain(
        &mut self,
        expr: ExprId,
        plain: Plain,
        arguments: &[ExprId],
        env: EnvId,
        at: At,
    ) -> Value {
        match plain {
            Plain::Close | Plain::And | Plain::Or | Plain::MatchN | Plain::MatchIf => {
                Value::Vertex(self.anonymous(expr, env))
            }
            Plain::Len => {
                let [argument] = arguments else {
                    let few = if arguments.is_empty() { "not enough" } else { "too many" };
                    let have = arguments.len();
                    let message = format!("{few} arguments in call to len (have {have}, want 1)");
                    return Value::Fault(self.fail(Kind::Permanent, message, at));
                };
                let place = self.program.at(*argument);
                let value = self.eval(*argument, env);
                let misfit = |text: String, kinds: Kinds| {
                    let wanted = "(string|bytes|list|struct)";
                    format!("cannot use {text} (type {kinds}) as {wanted} in argument 1 to len")
                };
                let length = match self.demand(value, place) {
                    Ok(Concrete::Vertex(id)) => match self.range_over(id, place) {
                        Ok(()) => self.count(id),
                        Err(fault) => return Value::Fault(fault),
                    },
                    Ok(Concrete::Datum(Datum::String(text))) => text.len(),
                    Ok(Concrete::Datum(Datum::Bytes(bytes))) => bytes.len(),
                    Ok(Concrete::Datum(other)) => {
                        let message = misfit(other.cue_text(), compare::kinds(&other));
                        return Value::Fault(self.fail(Kind::Permanent, message, place));
                    }
                    Err(Unmet::Fault(fault)) => return Value::Fault(fault),
                    Err(Unmet::Open(id)) => {
                        let (text, kinds) = (self.short(id), self.kinds_of(id));
                        let from = self.written_at(id);
                        if kinds.meets(Kinds::TEXT.or(Kinds::LIST).or(Kinds::STRUCT)) {
                            let message = format!(
                                "error in call to len: incomplete argument {text} (type {kinds})"
                            );
                            let positions = vec![from];
                            return Value::Fault(self.fail_at(
                                Kind::Incomplete,
                                message,
                                at,
                                positions,
                            ));
                        }
                        return Value::Fault(self.fail(Kind::Permanent, misfit(text, kinds), from));
                    }
                };
                Value::Datum(Datum::count(length))
            }
            Plain::Error => {
                let text = match arguments.first().map(|it| self.scalar(*it, env)) {
                    Some(Ok(Datum::String(text))) => text.to_string(),
                    Some(Ok(other)) => other.cue_text(),
                    Some(Err(fault)) => return Value::Fault(fault),
                    None => "error".into(),
                };
                Value::Fault(self.fail(Kind::User, text, at))
            }
            Plain::Div | Plain::Mod | Plain::Quo | Plain::Rem => {
                let mut operands = Vec::new();
                let name = match plain {
                    Plain::Div => "div",
                    Plain::Mod => "mod",
                    Plain::Quo => "quo",
                    _ => "rem",
                };
                for (place, argument) in arguments.iter().enumerate() {
                    match self.scalar(*argument, env) {
                        Ok(Datum::Number(number)) if number.is_int() => operands.push(number),
                        Ok(other) => {
                            let message = format!(
                                "cannot use {} (type {}) as int in argument {} to {name}",
                                other.cue_text(),
                                other.kind_name(),
                                place + 1
                            );
                            return Value::Fault(self.fail(Kind::Permanent, message, at));
                        }
                        Err(fault) => return Value::Fault(fault),
                    }
                }
                let [left, right] = operands.as_slice() else {
                    return Value::Fault(self.fail(Kind::Permanent, "two arguments wanted", at));
                };
                match integer(plain, left, right) {
                    Ok(number) => Value::Datum(Datum::Number(number)),
                    Err(message) => {
                        let message = format!("error in call to {name}: {message}");
                        Value::Fault(self.fail(Kind::Permanent, message, at))
                    }
                }
            }
        }
    }
}

fn has_handles(datum: &Datum) -> bool {
    match datum {
        Datum::Live(_) => true,
        Datum::List(items) => items.iter().any(has_handles),
        _ => false,
    }
}

pub(crate) fn kind_of(error: &CallError) -> Kind {
    match error.code {
        CallCode::Incomplete => Kind::Incomplete,
        CallCode::Permanent | CallCode::Unsatisfied => Kind::Permanent,
        CallCode::Budget => Kind::Budget,
    }
}

fn integer(plain: Plain, left: &Number, right: &Number) -> Result<Number, String> {
    if right.is_zero() {
        return Err("division by zero".into());
    }
    let text = |error: crate::number::ArithmeticError| error.to_string();
    match plain {
        Plain::Div => left.div_mod(right).map(|it| it.0).map_err(text),
        Plain::Mod => left.div_mod(right).map(|it| it.1).map_err(text),
        Plain::Quo => left.quo_rem(right).map(|it| it.0).map_err(text),
        _ => left.quo_rem(right).map(|it| it.1).map_err(text),
    }
}

/// A text in double quotes.
fn quoted(text: &str) -> String {
    Datum::text(text).cue_text()
}
