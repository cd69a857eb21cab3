//! Values of a session as items.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;

use cue_session::{Composition, Concreteness, Field, FieldSelection, Kind, Kinds, Session};

use crate::generate::item::{Item, Shared, Target};
use crate::generate::numbers::range;
use crate::generate::{Closing, Error};

/// How deep values are looked at: what is deeper repeats itself without a name.
const DEEPEST: u32 = 200;

/// Whether structs that are met are closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Open,
    /// This one only.
    Closed,
    /// With all that is in it.
    Throughout,
}

impl Mode {
    /// By how far a session says that a value is closed; in definitions all are.
    pub(super) fn at(path: &str, closed: u8) -> Self {
        match closed {
            _ if path.split('.').any(|it| it.starts_with('#')) => Mode::Throughout,
            0 => Mode::Open,
            1 => Mode::Closed,
            _ => Mode::Throughout,
        }
    }

    /// What holds for the fields of a struct.
    pub(super) fn within(self) -> Self {
        if self == Mode::Closed { Mode::Open } else { self }
    }
}

/// A definition that is nothing but a reference to what is none: what that refers to itself by is the definition, as
/// it is closed there.
struct Redirect {
    from: Target,
    to: Target,
}

/// A walk through a value.
pub(super) struct Walk<'a> {
    pub(super) session: &'a mut Session,
    pub(super) closing: Closing,
    /// What was referred to; nothing while it is looked at.
    pub(super) definitions: BTreeMap<Target, Option<Shared>>,
    /// Of these, what is still to be looked at.
    waiting: VecDeque<(Target, String)>,
    /// What cannot be described.
    pub(super) wrong: Vec<String>,
    redirect: Option<Redirect>,
    /// Something is put in where it is referred to: what that refers to is not.
    putting_in: bool,
    known: HashMap<String, Rc<Value>>,
    depth: u32,
}

/// A value as it is put together. In place of handles stand paths.
pub(super) struct Value {
    pub(super) operator: &'static str,
    pub(super) operands: Vec<String>,
    /// The function, the type, the scalar, or the package of a reference.
    pub(super) name: String,
    pub(super) labels: Vec<String>,
    /// Where a reference leads, if something is there.
    pub(super) target: Option<String>,
    /// Patterns, and what they say of fields.
    pub(super) patterns: Vec<(String, String)>,
    pub(super) rest: Option<String>,
    pub(super) open: bool,
    pub(super) closed: u8,
    pub(super) docs: String,
    pub(super) kinds: Kinds,
}

/// Operators that make a difference.
const OPERATORS: [&str; 14] =
    ["&", "|", "(", "func", ".", "...", "=~", "!~", "==", "!=", "<", "<=", ">", ">="];

impl<'a> Walk<'a> {
    pub(super) fn new(session: &'a mut Session, closing: Closing) -> Self {
        Walk {
            session,
            closing,
            definitions: BTreeMap::new(),
            waiting: VecDeque::new(),
            wrong: Vec::new(),
            redirect: None,
            putting_in: false,
            known: HashMap::new(),
            depth: 0,
        }
    }

    /// How a value is put together.
    pub(super) fn composition(&mut self, path: &str) -> Result<Rc<Value>, Error> {
        if let Some(known) = self.known.get(path) {
            return Ok(known.clone());
        }
        let told = self.session.composition(path)?.unwrap_or_default();
        let value = Rc::new(self.value(told)?);
        self.known.insert(path.to_owned(), value.clone());
        Ok(value)
    }

    fn value(&mut self, told: Composition) -> Result<Value, Error> {
        let handle = |number: &u32| format!("@{number}");
        let Composition { name, labels, open, closed, kinds, .. } = told;
        let mut operator = OPERATORS.iter().find(|it| **it == told.operator).unwrap_or(&"");
        let mut operands: Vec<String> = told.operands.iter().map(handle).collect();
        let mut target = None;
        match (*operator, name.as_str(), operands.as_slice()) {
            (".", _, [top]) => {
                let path = format!("{top}.{}", labels.join("."));
                target = Some(path).filter(|it| self.session.is_member(it).unwrap_or_default());
            }
            // These are what they stand for.
            ("(", "and" | "or", [list]) => {
                operands = self.members(&list.clone())?.into_iter().map(|it| it.path).collect();
                operator = match name.as_str() {
                    _ if operands.is_empty() => &"",
                    "and" => &"&",
                    _ => &"|",
                };
            }
            _ => {}
        }
        let mut docs = told.docs;
        // Comments of several declarations stand apart, by one empty line.
        while docs.contains("\n\n\n") {
            docs = docs.replace("\n\n\n", "\n\n");
        }
        let pair = |it: &[u32]| Some((handle(it.first()?), handle(it.last()?)));
        let patterns = told.patterns.chunks(2).filter_map(pair).collect();
        let rest = told.rest.as_ref().map(handle);
        Ok(Value {
            operator,
            operands,
            name,
            labels,
            target,
            patterns,
            rest,
            open,
            closed,
            docs,
            kinds,
        })
    }

    /// A value, with its comments.
    pub(super) fn item(&mut self, path: &str, mode: Mode) -> Result<Shared, Error> {
        let comment = self.composition(path)?.docs.clone();
        self.commented(path, &comment, mode)
    }

    /// A value with a comment.
    pub(super) fn commented(
        &mut self,
        path: &str,
        comment: &str,
        mode: Mode,
    ) -> Result<Shared, Error> {
        let item = self.plain(path, mode)?;
        Ok(Rc::new(match comment {
            "" => item,
            comment => Item::Described(comment.to_owned(), Rc::new(item)),
        }))
    }

    /// A value without its own comments.
    pub(super) fn plain(&mut self, path: &str, mode: Mode) -> Result<Item, Error> {
        if self.depth == DEEPEST {
            return self.fail("schema nested too deeply");
        }
        self.depth += 1;
        let item = self.looked_at(path, mode);
        self.depth -= 1;
        item
    }

    fn looked_at(&mut self, path: &str, mode: Mode) -> Result<Item, Error> {
        let value = self.composition(path)?;
        match value.operator {
            "." => return self.reference(&value, mode),
            "func" => {
                if let Some(item) = self.call(&value, mode)? {
                    return Ok(item);
                }
                return self.function(path, &value);
            }
            "&" if is_struct(&value.kinds) => {
                let fields = Rc::new(self.fields(path, mode)?);
                return Ok(Item::AllOf(vec![fields, Rc::new(Item::of_type("object"))]));
            }
            // What each of several conjuncts closes by itself would refuse the others' fields.
            "&" => return Ok(Item::AllOf(self.items(&value.operands, Mode::Open)?)),
            "|" => return Ok(Item::AnyOf(self.items(&value.operands, mode)?)),
            "(" => return Ok(self.call(&value, mode)?.unwrap_or(Item::True)),
            "" | "..." => {}
            operator => {
                if let [limit] = value.operands.as_slice() {
                    return self.bound(operator, limit);
                }
            }
        }
        let left = value.operator.is_empty() && value.kinds.is(Kind::Struct);
        if let ([only], true) = (value.operands.as_slice(), left) {
            // The alternative that is left: the default is no description.
            return self.plain(only, mode);
        }
        if let Some(item) = range(&value.name) {
            return Ok(item);
        }
        if !value.kinds.is(Kind::Null) {
            if let Some(value) = self.constant(path, mode)? {
                return Ok(Item::Const(value));
            }
        }
        self.by_kind(path, &value, mode)
    }

    pub(super) fn items(&mut self, all: &[String], mode: Mode) -> Result<Vec<Shared>, Error> {
        all.iter().map(|it| self.item(it, mode)).collect()
    }

    /// What says nothing but of which kinds it is, and what is in it.
    fn by_kind(&mut self, path: &str, value: &Value, mode: Mode) -> Result<Item, Error> {
        let kinds = &value.kinds;
        if is_any(kinds) {
            return Ok(Item::True);
        }
        let within = match kinds.any_of.as_slice() {
            [Kind::Struct] => Some(self.fields(path, mode)?),
            [Kind::List] => Some(self.elements(path, mode)?),
            _ => None,
        };
        let types = types(kinds);
        let own = (!types.is_empty()).then_some(Item::Type(types));
        let mut all: Vec<Item> = own.into_iter().chain(within).collect();
        Ok(match all.len() {
            0 => Item::True,
            1 => all.remove(0),
            _ => Item::all_of(all),
        })
    }

    /// A reference, whose schema stands among the definitions.
    fn reference(&mut self, value: &Value, mode: Mode) -> Result<Item, Error> {
        let target = Target { package: value.name.clone(), labels: value.labels.clone() };
        let Some(place) = value.target.clone() else {
            return self.fail(&format!("reference {} not found", target.path()));
        };
        let redirected = self.redirect.is_some() && mode != Mode::Open;
        let redirected = redirected && (target.is_definition(), self.putting_in) == (false, false);
        if self.definitions.contains_key(&target) {
            let back = self.redirect.as_ref().filter(|it| mode != Mode::Open && it.from == target);
            if let Some(back) = back {
                return Ok(Item::Ref(back.to.clone()));
            }
            return if redirected { self.put_in(&place, mode) } else { Ok(Item::Ref(target)) };
        }
        self.definitions.insert(target.clone(), None);
        if self.redirect.is_none() {
            // Later: references may lead from one to the next without an end in sight.
            self.waiting.push_back((target.clone(), place));
            return Ok(Item::Ref(target));
        }
        self.define(&target, &place)?;
        if redirected { self.put_in(&place, mode) } else { Ok(Item::Ref(target)) }
    }

    /// What is referred to, and what that refers to.
    pub(super) fn define_waiting(&mut self) -> Result<(), Error> {
        while let Some((target, place)) = self.waiting.pop_front() {
            self.define(&target, &place)?;
        }
        Ok(())
    }

    fn define(&mut self, target: &Target, place: &str) -> Result<(), Error> {
        let own = if target.is_definition() { Mode::Throughout } else { Mode::Open };
        let mut item = self.item(place, own)?;
        if let (Mode::Throughout, Item::Ref(inner)) = (own, &*item) {
            if !inner.is_definition() {
                let redirect = Redirect { from: inner.clone(), to: target.clone() };
                let value = self.composition(place)?;
                let outer = self.redirect.replace(redirect);
                item = match &value.target {
                    Some(inner) => self.item(inner, own)?,
                    None => Rc::new(self.by_kind(place, &value, own)?),
                };
                self.redirect = outer;
            }
        }
        self.definitions.insert(target.clone(), Some(item));
        Ok(())
    }

    /// What is referred to in the place of the reference, closed as that is.
    fn put_in(&mut self, place: &str, mode: Mode) -> Result<Item, Error> {
        self.putting_in = true;
        let item = self.plain(place, mode);
        self.putting_in = false;
        item
    }

    /// A function that is named and not called is referred to as any other place of its package.
    fn function(&mut self, path: &str, value: &Value) -> Result<Item, Error> {
        let (package, name) = value.name.rsplit_once('.').unwrap_or(("", &value.name));
        let target = Target { package: package.to_owned(), labels: vec![name.to_owned()] };
        let item = self.by_kind(path, value, Mode::Open)?;
        self.definitions.insert(target.clone(), Some(Rc::new(item)));
        Ok(Item::Ref(target))
    }

    /// What is compared with one operand.
    fn bound(&mut self, operator: &str, limit: &str) -> Result<Item, Error> {
        let kinds = self.composition(limit)?.kinds.clone();
        let keyword = match operator {
            "=~" | "!~" => {
                let pattern = match self.string(limit)? {
                    Ok(text) => Item::text("pattern", &text),
                    Err(message) => return self.fail(&message),
                };
                let pattern = match operator {
                    "!~" => Item::Not(Rc::new(pattern)),
                    _ => pattern,
                };
                return Ok(Item::all_of([Item::of_type("string"), pattern]));
            }
            "==" | "!=" if !kinds.concrete => return Ok(Item::True),
            "==" => return Ok(Item::Const(self.text(limit)?)),
            "!=" => return Ok(Item::Not(Rc::new(Item::Const(self.text(limit)?)))),
            "<" => "exclusiveMaximum",
            "<=" => "maximum",
            ">" => "exclusiveMinimum",
            _ => "minimum",
        };
        match kinds.any_of.as_slice() {
            _ if !kinds.concrete => self.fail("bad argument to unary comparison"),
            [Kind::Int | Kind::Float] => {
                let Some(limit) = self.float(limit)? else { return Ok(Item::True) };
                Ok(Item::all_of([Item::Keyword(keyword, limit), Item::of_type("number")]))
            }
            // Strings have no bounds there.
            [Kind::String] => Ok(Item::of_type("string")),
            _ => self.fail("bad argument to unary comparison"),
        }
    }

    /// A value that is the only one of its schema, as CUE: a scalar; a closed struct all of whose fields are required
    /// and such values; a list of such.
    pub(super) fn constant(&mut self, path: &str, mode: Mode) -> Result<Option<String>, Error> {
        let value = self.composition(path)?;
        if let ("==", [only]) = (value.operator, value.operands.as_slice()) {
            return Ok(Some(self.text(only)?));
        }
        match value.kinds.any_of.as_slice() {
            _ if !value.kinds.concrete => Ok(None),
            [Kind::Struct] if mode == Mode::Open || !value.patterns.is_empty() => Ok(None),
            [Kind::Struct] => {
                let mut fields = Vec::new();
                for field in self.members(path)? {
                    let required = field.presence == cue_session::Presence::Required;
                    let Some(it) = self.constant(&field.path, mode)?.filter(|_| required) else {
                        return Ok(None);
                    };
                    fields.push(format!("{}: {it}", cue_syntax::unquote::quote(&field.label)));
                }
                Ok(Some(format!("{{{}}}", fields.join(", "))))
            }
            [Kind::List] if value.open => Ok(None),
            [Kind::List] => {
                let mut elements = Vec::new();
                for field in self.members(path)? {
                    let Some(it) = self.constant(&field.path, mode)? else { return Ok(None) };
                    elements.push(it);
                }
                Ok(Some(format!("[{}]", elements.join(", "))))
            }
            _ => Ok(Some(self.text(path)?)),
        }
    }

    /// Regular fields of a struct, or elements of a list.
    pub(super) fn members(&mut self, path: &str) -> Result<Vec<Field>, Error> {
        let all = self.session.fields(path, FieldSelection::All)?.unwrap_or_default();
        let selector = |it: &Field| {
            let below = it.path.get(path.len()..).unwrap_or_default();
            below.trim_start_matches('.').to_owned()
        };
        Ok(all.into_iter().filter(|it| !selector(it).starts_with(['#', '_'])).collect())
    }

    /// Whether a value needs nothing more to be data.
    pub(super) fn is_data(&mut self, path: &str) -> Result<bool, Error> {
        Ok(self.session.validate(path, Concreteness::Required)?.is_empty())
    }

    /// Nothing can be said of it: there will be no schema.
    pub(super) fn fail(&mut self, message: &str) -> Result<Item, Error> {
        self.wrong.push(message.to_owned());
        Ok(Item::False)
    }
}

/// Whether a value is a struct.
pub(super) fn is_struct(kinds: &Kinds) -> bool {
    kinds.concrete && kinds.is(Kind::Struct)
}

/// Whether nothing is said of kinds.
pub(super) fn is_any(kinds: &Kinds) -> bool {
    kinds.any_of.len() == 8
}

/// The types of some kinds: a number that need be no integer is one whatever else it may be.
fn types(kinds: &Kinds) -> Vec<&'static str> {
    let all = &kinds.any_of;
    let numbers = all.contains(&Kind::Float);
    let name = |it: &Kind| match it {
        Kind::Null => Some("null"),
        Kind::Bool => Some("boolean"),
        Kind::Int => (!numbers).then_some("integer"),
        Kind::Float | Kind::Bytes => None,
        Kind::String => Some("string"),
        Kind::Struct => Some("object"),
        Kind::List => Some("array"),
    };
    numbers.then_some("number").into_iter().chain(all.iter().filter_map(name)).collect()
}
