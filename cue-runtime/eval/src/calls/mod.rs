//! Calls: functions without a package, functions of packages, and both as validators.

mod arguments; // as functions take them
mod elements; // lists of them
mod closing; // those of `close`
mod checked; // texts held against a schema
mod special; // functions that look at values
mod sorting; // by a comparator
mod value; // functions as values

use crate::builtin::{
    CallContext, CallError, Code as CallCode, Datum, Function, Kinds, NOTHING_SAID, Parameter, Run,
};
use crate::compare;
use crate::demand::{Concrete, Operand, Unmet};
use crate::error::Kind;
use crate::evaluator::{Evaluator, Value};
use crate::heap::{Conjunct, EnvId, FaultId, Source, VertexId};
use crate::number::Number;
use crate::program::{At, Callee, ExprId, Plain};

pub(crate) use self::value::named;

/// Bytes one call may produce.
pub(crate) const CALL_BYTES: u64 = 64 << 20;

/// What an element of data counts for, in the sandbox too, where it takes less.
const DATUM_BYTES: usize = 24;

/// Bytes that data takes, roughly.
fn weight(datum: &Datum) -> usize {
    match datum {
        Datum::String(text) => 16 + text.len(),
        Datum::Bytes(bytes) => 16 + bytes.len(),
        Datum::List(items) => items.iter().map(|it| DATUM_BYTES + weight(it)).sum(),
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

/// A place for an argument in a call.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'a> {
    /// What the function takes there.
    parameter: &'static Parameter,
    /// Which one, from 0.
    place: usize,
    function: Called<'a>,
}

impl<'a> Called<'a> {
    /// The place for an argument, from 0; none if the function has no such parameter.
    pub(crate) fn slot(self, place: usize) -> Option<Slot<'a>> {
        let parameter = self.function.parameters.get(place)?;
        Some(Slot { parameter, place, function: self })
    }

    /// All of them.
    pub(crate) fn slots(self) -> impl Iterator<Item = Slot<'a>> {
        let parameters = self.function.parameters.iter().enumerate();
        parameters.map(move |(place, parameter)| Slot { parameter, place, function: self })
    }

    /// As errors of the call name it.
    fn path(&self) -> String {
        format!("{}.{}", self.package, self.function.name)
    }

    /// As it is named where it stands for a value.
    pub(crate) fn value(&self) -> String {
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
            Callee::Package(_) if self.is_partial(callee, arguments) => {
                Value::Vertex(self.anonymous(expr, env))
            }
            Callee::Package(it) => {
                let outer = self.calling.replace(self.place);
                let result = self.package_call(it.package(), it.function(), arguments, env, at);
                self.calling = outer;
                result.unwrap_or_else(Value::Fault)
            }
        }
    }

    /// Data with handles in it as a vertex.
    pub(crate) fn live(&mut self, datum: Datum) -> VertexId {
        match datum {
            Datum::Live(raw) => match self.handles.get(raw as usize) {
                Some(id) => *id,
                None => {
                    let id = self.heap.vertex(None, None);
                    let source = self.data_source(&datum, 0);
                    self.heap.get_mut(id).conjuncts.push(Conjunct::new(source));
                    id
                }
            },
            // Scalars are made elements once somebody looks at the list.
            Datum::List(items) if !items.iter().all(|it| self.is_element(it)) => {
                let elements: Vec<VertexId> =
                    items.iter().map(|it| self.live(it.clone())).collect();
                // The handles take half as much as the list.
                drop(items);
                self.list_of(&elements)
            }
            other => self.datum_vertex(other),
        }
    }

    /// Whether it is plain data, or the handle of a scalar.
    fn is_element(&self, datum: &Datum) -> bool {
        match datum {
            Datum::Live(raw) => self.handled(*raw).is_none_or(|it| self.is_bare_scalar(it)),
            other => !has_handles(other),
        }
    }

    /// The error of a call that has more or fewer arguments than there may be.
    pub(crate) fn miscounted(
        &mut self,
        name: &str,
        (given, env): (&[ExprId], EnvId),
        want: usize,
        at: At,
    ) -> FaultId {
        let have = given.len();
        let wrong = if name == "error" { None } else { self.wrong_arguments(given, env, at) };
        if let Some(fault) = wrong {
            return fault;
        }
        let few = if have < want { "not enough" } else { "too many" };
        let message = format!("{few} arguments in call to {name} (have {have}, want {want})");
        self.fail(Kind::Permanent, message, at)
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
            return Err(self.miscounted(&called.value(), (arguments, env), wanted, at));
        }
        let all = self.arguments(arguments, env, called)?;
        if let Some(fault) = self.unwanted(&all, called) {
            return Err(fault);
        }
        let text = all.first().unwrap_or(&Datum::Null);
        let mut context = CallContext::new(CALL_BYTES);
        context.base = self.spots.base(text);
        let result = match function.run {
            Run::Pure(run) => run(&mut context, &all),
            Run::Evaluator(special) if special.checks_text() => {
                let text = self.datum_vertex(all.first().cloned().unwrap_or(Datum::Null));
                self.begin_check(text, at)?;
                let result = self.special(special, &all, at);
                self.checking.pop();
                result.map_err(|fault| {
                    let outer = format!("error in call to {}", called.path());
                    self.wrapped(fault, &outer, at)
                })?
            }
            Run::Evaluator(special) => {
                let outer = self.comparing.len();
                if special.compares() {
                    // What asks for itself again in what it looks at does so for ever (S-62).
                    if self.comparing.contains(&(at, env)) {
                        let message = "structural cycle";
                        return Err(self.fail(Kind::StructuralCycle, message, At::default()));
                    }
                    self.comparing.push((at, env));
                }
                let result = self.special(special, &all, at);
                self.comparing.truncate(outer);
                match result {
                    Ok(result) => result,
                    Err(fault) => Ok(self.not_compared(special, fault, called)?),
                }
            }
        };
        match result {
            Ok(datum) => {
                self.charge(weight(&datum))?;
                let spot = match context.read {
                    Some((name, place)) => {
                        self.spots.keep(context.base, name, text);
                        place
                    }
                    None if !matches!(datum, Datum::List(_) | Datum::Struct(_)) => {
                        return Ok(Value::Datum(datum));
                    }
                    None => self.spots.call(at),
                };
                let id = self.live(datum);
                self.placed_at(id, spot);
                Ok(Value::Vertex(id))
            }
            Err(error) if matches!(error.code, CallCode::Unsatisfied | CallCode::Unsettled) => {
                Ok(Value::Datum(Datum::Bool(false)))
            }
            Err(error) => {
                let kind = kind_of(&error);
                let message = format!("error in call to {}: {}", called.path(), error.message);
                let about = error.argument.filter(|it| {
                    !matches!(all.get(*it), None | Some(Datum::List(_) | Datum::Struct(_)))
                });
                let mut from = match about.and_then(|it| arguments.get(it)) {
                    Some(expr) => match self.eval(*expr, env).vertex() {
                        Some(id) => {
                            let id = self.default_of(id).unwrap_or(id);
                            self.origin(id)
                        }
                        None => vec![self.program.at(*expr)],
                    },
                    None => Vec::new(),
                };
                from.extend(self.misfit_at(&error.message, arguments, env));
                if let Some(offset) = error.offset.filter(|_| context.base != 0) {
                    self.spots.keep(context.base, "", text);
                    from.push(self.spots.at(context.base.saturating_add(offset as u32)));
                }
                Err(self.fail_at(kind, message, at, from))
            }
        }
    }

    /// Where the element of a list is that a function cannot use: it names the value.
    fn misfit_at(&mut self, message: &str, arguments: &[ExprId], env: EnvId) -> Option<At> {
        let (value, _) = message.strip_prefix("cannot use value ")?.split_once(" (type ")?;
        arguments.iter().find_map(|it| {
            let list = self.eval(*it, env).vertex()?;
            let list = self.unify(list);
            let elements =
                if self.heap.get(list).is_list { self.elements(list) } else { Vec::new() };
            let found = elements.into_iter().find(|it| self.short(*it) == value)?;
            Some(self.written_at(found))
        })
    }

    /// Notes where data stands that is the value of a vertex nobody has evaluated yet.
    pub(super) fn placed_at(&mut self, id: VertexId, spot: u32) {
        for conjunct in &mut self.heap.get_mut(id).conjuncts {
            if matches!(conjunct.source(), Source::Data(_)) {
                conjunct.spot = spot;
            }
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
            Plain::Close | Plain::CloseAll | Plain::Reclose | Plain::And | Plain::Or => {
                Value::Vertex(self.anonymous(expr, env))
            }
            Plain::MatchN | Plain::MatchIf => {
                match self.is_partial(Callee::Plain(plain), arguments) {
                    true => Value::Vertex(self.anonymous(expr, env)),
                    false => Value::Fault(self.no_validator(plain, (arguments, env), at)),
                }
            }
            Plain::Len => {
                let [argument] = arguments else {
                    return Value::Fault(self.miscounted("len", (arguments, env), 1, at));
                };
                let place = self.program.at(*argument);
                let value = self.eval(*argument, env);
                let vertex = value.vertex();
                // A list that a function has made is counted as it is.
                if let Some(Datum::List(items)) = vertex.and_then(|it| self.untouched_data(it)) {
                    return Value::Datum(Datum::int(items.len() as i64));
                }
                let misfit = |text: String, kinds: Kinds| {
                    let wanted = "(string|bytes|list|struct)";
                    format!("cannot use {text} (type {kinds}) as {wanted} in argument 1 to len")
                };
                let length = match self.demand_given(value, place, at) {
                    Ok(Concrete::Vertex(id)) => match self.range_over(id, place) {
                        Ok(()) => self.count(id),
                        Err(fault) => return Value::Fault(fault),
                    },
                    Ok(Concrete::Datum(Datum::String(text))) => text.len(),
                    Ok(Concrete::Datum(Datum::Bytes(bytes))) => bytes.len(),
                    Ok(Concrete::Datum(other)) => {
                        let kinds = compare::kinds(&other);
                        let message = misfit(other.cue_text(), kinds);
                        let operand = Operand { value: Concrete::Datum(other), vertex, at: place };
                        let from = self.origin_of(&operand);
                        return Value::Fault(self.misused(message, kinds, from));
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
                let [argument] = arguments else {
                    return Value::Fault(self.miscounted("error", (arguments, env), 1, at));
                };
                Value::Fault(self.worded(*argument, env, at))
            }
            Plain::Div | Plain::Mod | Plain::Quo | Plain::Rem => {
                let mut operands = Vec::new();
                let name = match plain {
                    Plain::Div => "div",
                    Plain::Mod => "mod",
                    Plain::Quo => "quo",
                    _ => "rem",
                };
                if arguments.len() != 2 {
                    return Value::Fault(self.miscounted(name, (arguments, env), 2, at));
                }
                let mut wrong = Vec::new();
                for (place, argument) in arguments.iter().enumerate() {
                    match self.divided(*argument, env, place, (name, at)) {
                        Ok(number) => operands.push(number),
                        Err(misfit) => wrong.push(misfit),
                    }
                }
                if let Some(fault) = self.wrong_operands(&wrong) {
                    return Value::Fault(fault);
                }
                let [left, right] = operands.as_slice() else {
                    return Value::Fault(self.fail(Kind::Permanent, "two arguments wanted", at));
                };
                match integer(plain, left, right) {
                    Ok(number) => Value::Datum(Datum::Number(number)),
                    Err(message) => {
                        let message = format!("error in call to {name}: {message}");
                        let fault = self.fail(Kind::Permanent, message, at);
                        self.heap.faults[fault].inner = Some(self.place);
                        Value::Fault(fault)
                    }
                }
            }
        }
    }

    /// An argument of `div` and the like (cue-errors 1.10).
    fn divided(
        &mut self,
        argument: ExprId,
        env: EnvId,
        place: usize,
        (name, whole): (&str, At),
    ) -> Result<Number, (Misfit, FaultId)> {
        let at = self.program.at(argument);
        let value = self.eval(argument, env);
        let vertex = value.vertex();
        let (text, kinds, from) = match self.demand_given(value, at, whole) {
            Ok(Concrete::Datum(Datum::Number(number))) if number.is_int() => return Ok(number),
            Ok(value) => {
                let kinds = match &value {
                    Concrete::Datum(datum) => compare::kinds(datum),
                    Concrete::Vertex(id) => self.kinds_of(*id),
                };
                let text = self.about_given(&value, "", str::to_owned);
                (text, kinds, self.origin_of(&Operand { value, vertex, at }))
            }
            Err(Unmet::Fault(fault)) => return Err((Misfit::Fault, fault)),
            Err(Unmet::Open(id)) => {
                let (text, kinds, from) = (self.short(id), self.kinds_of(id), self.written_at(id));
                if kinds.meets(Kinds::INT) {
                    let message =
                        format!("incomplete number in argument to {name} builtin: {text}");
                    return Err((Misfit::Open, self.fail(Kind::Incomplete, message, from)));
                }
                (text, kinds, vec![from])
            }
        };
        let message =
            format!("cannot use {text} (type {kinds}) as int in argument {} to {name}", place + 1);
        Err((Misfit::Kind, self.misused(message, kinds, from)))
    }

    /// Which errors of the operands of a division are told: those that arguments have themselves, the first
    /// that is of another type, those that wait for a number.
    fn wrong_operands(&mut self, wrong: &[(Misfit, FaultId)]) -> Option<FaultId> {
        let worst = wrong.iter().map(|it| it.0).min()?;
        let mut told = wrong.iter().filter(|it| it.0 == worst).map(|it| it.1);
        match (told.next()?, told.next()) {
            (first, Some(second)) if worst != Misfit::Kind => Some(self.both_faults(first, second)),
            (first, _) => Some(first),
        }
    }
}

/// Why an argument is no operand of a division, what is told rather first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Misfit {
    /// It has an error.
    Fault,
    /// It is of another type.
    Kind,
    /// It is no number yet.
    Open,
}

pub(crate) fn has_handles(datum: &Datum) -> bool {
    match datum {
        Datum::Live(raw) => *raw != NOTHING_SAID,
        Datum::List(items) => items.iter().any(has_handles),
        _ => false,
    }
}

pub(crate) fn kind_of(error: &CallError) -> Kind {
    match error.code {
        CallCode::Incomplete | CallCode::Unsettled => Kind::Incomplete,
        CallCode::Permanent | CallCode::Unsatisfied => Kind::Permanent,
        CallCode::Endless => Kind::StructuralCycle,
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
