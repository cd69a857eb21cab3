//! How a builtin function is described and called: kinds, parameters, errors, budget.

use std::fmt;

use super::datum::Datum;

/// A set of kinds of values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Kinds(u16);

impl Kinds {
    /// No kind: the function never returns.
    pub const BOTTOM: Kinds = Kinds(0);
    /// `null`
    pub const NULL: Kinds = Kinds(1);
    /// `bool`
    pub const BOOL: Kinds = Kinds(2);
    /// `int`
    pub const INT: Kinds = Kinds(4);
    /// `float`
    pub const FLOAT: Kinds = Kinds(8);
    /// `string`
    pub const STRING: Kinds = Kinds(16);
    /// `bytes`
    pub const BYTES: Kinds = Kinds(32);
    /// Any list.
    pub const LIST: Kinds = Kinds(64);
    /// Any struct.
    pub const STRUCT: Kinds = Kinds(128);
    /// `number`
    pub const NUMBER: Kinds = Kinds(4 | 8);
    /// `string | bytes`
    pub const TEXT: Kinds = Kinds(16 | 32);
    /// Builtin functions; no value that can be written has it.
    pub const FUNC: Kinds = Kinds(256);
    /// `_`
    pub const ANY: Kinds = Kinds(511);

    /// All kinds of both.
    pub const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Whether they have a kind in common.
    pub const fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// Those in both.
    pub const fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    /// Those not in `other`.
    pub const fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }

    /// The bits: null, bool, int, float, string, bytes, list, struct from the lowest.
    pub const fn bits(self) -> u16 {
        self.0 & 255
    }
}

impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Kinds::ANY => return f.write_str("_"),
            Kinds::BOTTOM => return f.write_str("_|_"),
            _ => {}
        }
        let names: Vec<&str> = [
            (Kinds::NULL, "null"),
            (Kinds::BOOL, "bool"),
            (Kinds::INT, "int"),
            (Kinds::FLOAT, "float"),
            (Kinds::STRING, "string"),
            (Kinds::BYTES, "bytes"),
            (Kinds::FUNC, "func"),
            (Kinds::LIST, "list"),
            (Kinds::STRUCT, "struct"),
            (Kinds::NUMBER, "number"),
        ]
        .into_iter()
        .filter(|(kinds, _)| {
            let part_of_number = *kinds == Kinds::INT || *kinds == Kinds::FLOAT;
            self.0 & kinds.0 == kinds.0 && !(part_of_number && self.0 & 12 == 12)
        })
        .map(|(_, name)| name)
        .collect();
        match names.as_slice() {
            [name] => f.write_str(name),
            _ => write!(f, "({})", names.join("|")),
        }
    }
}

/// How the evaluator hands an argument over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// A concrete scalar.
    Scalar,
    /// A concrete value with all below it, defaults taken, regular fields in output order.
    Data,
    /// A list; the default of each element, which must be a number.
    Numbers,
    /// A list; the default of each element, which must be a string.
    Strings,
    /// A list whose elements are handles (`Datum::Live`): they need not be concrete.
    Live,
    /// A list or a struct as one handle.
    Whole,
    /// A list of lists of handles. An element that is no list is an error of the evaluator.
    LiveLists,
    /// Lists within lists, whatever is no list as a handle.
    LiveTree,
    /// Left alone: only functions that need the evaluator take such.
    Schema,
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Kinds that are let through.
    pub kinds: Kinds,
    /// How the argument arrives.
    pub pass: Pass,
    /// Allowed strings; the first is what is used when the argument is left out, if `optional`.
    pub one_of: &'static [&'static str],
    /// Value used when the argument is left out.
    pub default: Option<&'static str>,
    /// Kinds that the function asks for itself of a value that is data, and what it says before it refuses another one.
    pub wants: Option<(Kinds, &'static str)>,
}

impl Parameter {
    const fn new(kinds: Kinds, pass: Pass) -> Parameter {
        Parameter { kinds, pass, one_of: &[], default: None, wants: None }
    }

    /// A string.
    pub const STRING: Parameter = Parameter::new(Kinds::STRING, Pass::Scalar);
    /// A string or bytes.
    pub const TEXT: Parameter = Parameter::new(Kinds::TEXT, Pass::Scalar);
    /// Bytes or a string, printed in that order nowhere: an alias of `TEXT`.
    pub const INT: Parameter = Parameter::new(Kinds::INT, Pass::Scalar);
    /// A number.
    pub const NUMBER: Parameter = Parameter::new(Kinds::NUMBER, Pass::Scalar);
    /// A bool.
    pub const BOOL: Parameter = Parameter::new(Kinds::BOOL, Pass::Scalar);
    /// Any concrete data.
    pub const DATA: Parameter = Parameter::new(Kinds::ANY, Pass::Data);
    /// A list of numbers.
    pub const NUMBERS: Parameter = Parameter::new(Kinds::LIST, Pass::Numbers);
    /// A list of strings.
    pub const STRINGS: Parameter = Parameter::new(Kinds::LIST, Pass::Strings);
    /// A list of any values.
    pub const LIVE: Parameter = Parameter::new(Kinds::LIST, Pass::Live);
    /// A list of lists of any values.
    pub const LIVE_LISTS: Parameter = Parameter::new(Kinds::LIST, Pass::LiveLists);
    /// Lists in lists.
    pub const LIVE_TREE: Parameter = Parameter::new(Kinds::ANY, Pass::LiveTree);
    /// A struct.
    pub const STRUCT: Parameter = Parameter::new(Kinds::STRUCT, Pass::Schema);
    /// A list as it is.
    pub const WHOLE: Parameter = Parameter::new(Kinds::LIST, Pass::Whole);
    /// A concrete value; lists and structs as they are.
    pub const ANY_WHOLE: Parameter = Parameter::new(Kinds::ANY, Pass::Whole);
    /// A value as it is.
    pub const SCHEMA: Parameter = Parameter::new(Kinds::ANY, Pass::Schema);
    /// A constraint on numbers.
    pub const COUNT: Parameter = Parameter::new(Kinds::NUMBER, Pass::Schema);

    /// The same, of which the function asks for some kinds itself; `words` come before its refusal.
    pub const fn wants(self, kinds: Kinds, words: &'static str) -> Parameter {
        Parameter { wants: Some((kinds, words)), ..self }
    }

    /// The same with a default and a choice of strings.
    pub const fn one_of(
        self,
        choice: &'static [&'static str],
        default: Option<&'static str>,
    ) -> Parameter {
        Parameter { one_of: choice, default, ..self }
    }
}

/// What runs when a function is called.
#[derive(Clone, Copy)]
pub enum Run {
    /// A function of data.
    Pure(fn(&mut CallContext, &[Datum]) -> Result<Datum, CallError>),
    /// Done by the evaluator, which knows it by this name.
    Evaluator(Special),
}

/// Functions that look at values rather than data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Special {
    /// `list.Contains`
    Contains,
    /// `list.MinItems`
    MinItems,
    /// `list.MaxItems`
    MaxItems,
    /// `list.UniqueItems`
    UniqueItems,
    /// `list.MatchN`
    MatchN,
    /// `list.Sort`, `list.SortStable`
    Sort,
    /// `list.IsSorted`
    IsSorted,
    /// `struct.MinFields`
    MinFields,
    /// `struct.MaxFields`
    MaxFields,
    /// `json.Validate`
    ValidateJson,
    /// `yaml.Validate`
    ValidateYaml,
    /// `yaml.ValidatePartial`
    ValidateYamlPartial,
    /// `openapi.MarshalSchema`
    OpenApi,
}

impl Special {
    /// Whether it holds a text against a schema: what is wrong then is told in words around it.
    pub fn checks_text(self) -> bool {
        matches!(self, Special::ValidateJson | Special::ValidateYaml | Special::ValidateYamlPartial)
    }

    /// Whether it evaluates elements together with other values.
    pub fn compares(self) -> bool {
        matches!(self, Special::Sort | Special::IsSorted | Special::Contains | Special::MatchN)
    }
}

/// A function of a package.
#[derive(Clone, Copy)]
pub struct Function {
    /// Its name within the package.
    pub name: &'static str,
    /// What it takes.
    pub parameters: &'static [Parameter],
    /// Kinds it returns.
    pub result: Kinds,
    /// What it does.
    pub run: Run,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Function {
    /// Whether a call without the first argument is a validator.
    pub fn is_validator(&self) -> bool {
        let returns = self.result == Kinds::BOOL || self.result == Kinds::BOTTOM;
        returns && self.parameters.last().is_some_and(|last| last.default.is_none())
    }
}

/// A constant of a package.
#[derive(Clone, Copy, Debug)]
pub enum Constant {
    /// An int.
    Int(i64),
    /// A number literal.
    Number(&'static str),
    /// A string.
    String(&'static str),
    /// The field of its name in the package's text.
    Cue,
}

/// What a member of a package is.
#[derive(Clone, Copy)]
pub enum Item {
    /// A function.
    Function(Function),
    /// A constant.
    Constant(Constant),
}

/// A name of a package; `#Name` is a definition.
#[derive(Clone, Copy)]
pub struct Member {
    /// The label.
    pub name: &'static str,
    /// What it stands for.
    pub item: Item,
}

/// A builtin package.
#[derive(Clone, Copy)]
pub struct Package {
    /// Import path.
    pub path: &'static str,
    /// Its fields, in output order.
    pub members: &'static [Member],
    /// A struct with those that are written in CUE, in the lines and columns that messages tell.
    pub text: &'static str,
}

impl Package {
    /// The member with this label.
    pub fn member(&self, name: &str) -> Option<&'static Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// Last element of the path: the name an import gets.
    pub fn local_name(&self) -> &'static str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// How messages name the package before `.Name`: quoted if its path has a slash.
    pub fn reference(&self) -> String {
        if self.path.contains('/') { format!("{:?}", self.path) } else { self.path.to_owned() }
    }
}

/// Table entry of a function of data.
pub(super) const fn function(
    name: &'static str,
    parameters: &'static [Parameter],
    result: Kinds,
    run: fn(&mut CallContext, &[Datum]) -> Result<Datum, CallError>,
) -> Member {
    let function = Function { name, parameters, result, run: Run::Pure(run) };
    Member { name, item: Item::Function(function) }
}

/// Table entry of a function of the evaluator.
pub(super) const fn special(
    name: &'static str,
    parameters: &'static [Parameter],
    result: Kinds,
    run: Special,
) -> Member {
    let function = Function { name, parameters, result, run: Run::Evaluator(run) };
    Member { name, item: Item::Function(function) }
}

/// Table entry of a constant.
pub(super) const fn constant(name: &'static str, value: Constant) -> Member {
    Member { name, item: Item::Constant(value) }
}

/// Whether an error may go away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// More information may help.
    Incomplete,
    /// It stays.
    Permanent,
    /// A validator is not satisfied: `false` for a call, the text as detail for a validator.
    Unsatisfied,
    /// It is not satisfied by what may still become more specific: `false` for a call, an error that may go
    /// away for a validator.
    Unsettled,
    /// A value contains itself.
    Endless,
    /// The budget is used up.
    Budget,
}

/// Why a call failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallError {
    /// May it go away?
    pub code: Code,
    /// CUE's text, without `error in call to …: `.
    pub message: String,
    /// Which byte of the text that was to be read, counted from 0.
    pub offset: Option<usize>,
    /// The argument that it is about.
    pub argument: Option<usize>,
}

impl CallError {
    fn new(code: Code, message: impl Into<String>) -> CallError {
        CallError { code, message: message.into(), offset: None, argument: None }
    }

    /// An error that stays.
    pub fn permanent(message: impl Into<String>) -> CallError {
        Self::new(Code::Permanent, message)
    }

    /// An error that may go away.
    pub fn incomplete(message: impl Into<String>) -> CallError {
        Self::new(Code::Incomplete, message)
    }

    /// The detail of a validator that is not satisfied.
    pub fn unsatisfied(message: impl Into<String>) -> CallError {
        Self::new(Code::Unsatisfied, message)
    }

    /// The same of a value that may still become more specific.
    pub fn unsettled(message: impl Into<String>) -> CallError {
        Self::new(Code::Unsettled, message)
    }

    /// The same of a place in the text.
    pub fn at(self, offset: usize) -> CallError {
        CallError { offset: Some(offset), ..self }
    }

    /// The same of an argument, counted from 0.
    pub fn of_argument(self, argument: usize) -> CallError {
        CallError { argument: Some(argument), ..self }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CallError {}

/// What a call may use up. Counted in bytes made and steps taken alike.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// What is left.
    pub budget: u64,
    /// Where the text begins that the function reads, among all that are read; 0 if that does not matter.
    pub base: u32,
    /// What the text is called, and where the value stands that was read from it.
    pub read: Option<(&'static str, u32)>,
}

impl CallContext {
    /// A context with so much to use up.
    pub fn new(budget: u64) -> CallContext {
        CallContext { budget, base: 0, read: None }
    }

    /// Counts `amount` bytes or steps; fails once too many.
    pub fn spend(&mut self, amount: usize) -> Result<(), CallError> {
        let amount = amount as u64;
        match self.budget.checked_sub(amount) {
            Some(rest) => {
                self.budget = rest;
                Ok(())
            }
            None => {
                self.budget = 0;
                Err(CallError::new(Code::Budget, "result too large"))
            }
        }
    }
}
