//! What crosses the boundary between a host and the interpreter: calls in, answers out.

use std::sync::Arc;

use cue_syntax::Language;
use serde::{Deserialize, Serialize};

/// One CUE source text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Shown in positions, for example `webservice.cue`.
    pub name: String,
    /// The text; whoever holds the source shares it.
    #[serde(with = "text")]
    pub text: Arc<str>,
    /// The version of the language it is written in, as `v0.15.0`; empty for the newest.
    pub language: String,
    /// It is data beside the files: what these embed is closed for it.
    pub is_data: bool,
}

/// A shared text as any other.
mod text {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(from).map(Into::into)
    }
}

impl Source {
    /// A source named `name`.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let (text, language) = (text.into().into(), String::new());
        Self { name: name.into(), text, language, is_data: false }
    }
}

impl From<&Source> for cue_eval::Source {
    fn from(it: &Source) -> Self {
        let language = Language::parse(&it.language).unwrap_or_default();
        Self { name: it.name.clone(), text: it.text.clone(), language, is_data: it.is_data }
    }
}

/// A package that sources may import besides the builtin ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Import path, for example `vela/kube`.
    pub path: String,
    /// Its files.
    pub sources: Vec<Source>,
}

/// Version and compatibility a program is evaluated under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Profile {
    /// CUE v0.17.
    #[default]
    V017,
    /// Templates written for the CUE versions KubeVela shipped (0.2 to 0.14).
    KubeVela,
}

impl From<Profile> for cue_eval::Profile {
    fn from(it: Profile) -> Self {
        match it {
            Profile::V017 => Self::V017,
            Profile::KubeVela => Self::KubeVela,
        }
    }
}

/// Everything that is compiled into one program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramSpec {
    /// Files of one package.
    pub sources: Vec<Source>,
    /// Packages they may import.
    pub packages: Vec<Package>,
    /// How they are read.
    pub profile: Profile,
}

/// A value unified with a program at a path when a session starts. One that stands below an earlier
/// one, by plain labels, takes the place of what that has there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Path in CUE syntax; empty for the root.
    pub path: String,
    /// The value.
    pub value: Given,
}

/// The value of an [`Input`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Given {
    /// JSON text.
    Json(String),
    /// What was kept under a name.
    Kept(String),
    /// What the session before this one had as an input at the same path.
    Again,
}

impl Input {
    /// `json` at `path`.
    pub fn new(path: impl Into<String>, json: impl Into<String>) -> Self {
        Self { path: path.into(), value: Given::Json(json.into()) }
    }

    /// What was kept as `name`, at `path`.
    pub fn kept(path: impl Into<String>, name: impl Into<String>) -> Self {
        Self { path: path.into(), value: Given::Kept(name.into()) }
    }

    /// What the session before this one was given at `path`.
    pub fn again(path: impl Into<String>) -> Self {
        Self { path: path.into(), value: Given::Again }
    }
}

/// Limits of one session. Exceeding one is an ordinary diagnostic (`budget/...`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Evaluation ticks.
    pub ticks: u64,
    /// Nesting of values and evaluations.
    pub depth: u32,
    /// Bytes held by values.
    pub bytes: u64,
}

impl Budget {
    /// What a definition gets: about two seconds of evaluation and 256 MiB.
    pub const DEFINITION: Budget = Budget { ticks: 20_000_000, depth: 10_000, bytes: 128 << 20 };
}

/// What is set at a path by a fill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Filling {
    /// JSON text.
    Json(String),
    /// A CUE expression.
    Cue(String),
}

/// What a patch is applied to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Base {
    /// JSON text.
    Json(String),
    /// A CUE expression.
    Cue(String),
    /// What was kept under a name; the result takes its place, and the answer is only that there is one.
    Kept(String),
}

/// How a patch is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PatchMode {
    /// As the comments on it say.
    #[default]
    Marked,
    /// RFC 6902.
    JsonPatch,
    /// RFC 7386.
    JsonMergePatch,
}

/// What is told of a patched value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PatchForm {
    /// Data.
    #[default]
    Json,
    /// CUE text of its fields, with types and comments.
    Cue,
}

/// Whether a value must be free of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Concreteness {
    /// Every regular field must have a concrete value, defaults taken.
    Required,
    /// Incomplete values are fine.
    Optional,
    /// So are they, but for values that are computed from themselves.
    Acyclic,
    /// Nor is there a required field that nothing gives.
    Final,
}

impl From<Concreteness> for cue_eval::Concreteness {
    fn from(it: Concreteness) -> Self {
        match it {
            Concreteness::Required => Self::Required,
            Concreteness::Optional => Self::Optional,
            Concreteness::Acyclic => Self::Acyclic,
            Concreteness::Final => Self::Final,
        }
    }
}

/// Which members of a struct are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FieldSelection {
    /// Regular fields that are there.
    Regular,
    /// Regular, optional, required, hidden ones and definitions.
    All,
}

/// How firmly a field is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Presence {
    /// `a?:`
    Optional,
    /// `a!:`
    Required,
    /// `a:`
    Member,
}

/// One member of a struct, or an element of a list (label is its index).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The label without quotes or markers; `#D`, `_h` keep their prefix.
    pub label: String,
    /// Path from the root, usable in further calls.
    pub path: String,
    /// Whether it is there.
    pub presence: Presence,
    /// What its value is or may become.
    pub kinds: Kinds,
    /// Its doc comments, without `//`, a line each.
    pub doc: Vec<String>,
    /// Attributes as `(name, body)`.
    pub attributes: Vec<(String, String)>,
}

/// Concrete kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// `null`
    Null,
    /// `true`, `false`
    Bool,
    /// An integer.
    Int,
    /// A number that is not an integer by type.
    Float,
    /// A string.
    String,
    /// Bytes.
    Bytes,
    /// A struct.
    Struct,
    /// A list.
    List,
}

/// A set of kinds: what a value is, or, while it is not concrete, may become.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kinds {
    /// True if the value is concrete (a struct or list always is).
    pub concrete: bool,
    /// Possible kinds; empty for an error.
    pub any_of: Vec<Kind>,
}

impl Kinds {
    /// Whether the value is certainly of `kind`.
    pub fn is(&self, kind: Kind) -> bool {
        self.any_of == [kind]
    }
}

/// How a value is printed as CUE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SyntaxStyle {
    /// As `cue eval`: evaluated, types kept.
    Eval,
    /// The same, and more of it.
    EvalWith(Shown),
    /// Defaults taken, concrete where possible.
    Final,
    /// As written, references kept where possible, with docs and attributes (`cue def`).
    Definition,
    /// The same, simplified (`cue def -s`).
    Simplified,
    /// As `cue export --out cue`: like `Final`, with docs.
    Exported,
    /// In few words, as errors have it.
    Brief,
}

/// What `cue eval` shows on demand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Hidden fields: `-H`.
    pub hidden: bool,
    /// Optional fields: `-O`.
    pub optional: bool,
    /// Attributes: `-A`.
    pub attributes: bool,
    /// What is wrong, where it is, though the value as a whole is then: `-i`.
    pub wrong: bool,
    /// Neither definitions nor hidden fields.
    pub concrete: bool,
    /// The value is a field that is printed on its own: names that lead out of it are bound below it. The sandbox
    /// has no room for that: there they stay.
    pub apart: bool,
    /// What is printed is a file: it says what it imports.
    pub file: bool,
    /// Labels without quotes and structs without braces where they need none: `-s`.
    pub simplified: bool,
}

/// A position in a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Name of the source.
    pub file: String,
    /// 1-based.
    pub line: u32,
    /// 1-based, in bytes.
    pub column: u32,
}

/// What is wrong, where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Stable code, for example `cue/conflict`, `cue/incomplete`, `cue/syntax`, `budget/ticks`.
    pub code: String,
    /// CUE's text, without path and positions.
    pub message: String,
    /// Dotted path of the value, empty for the root.
    pub path: String,
    /// The first is primary.
    pub positions: Vec<Position>,
    /// Whether more data may still resolve it.
    pub incomplete: bool,
    /// What may help: whoever shows it asks [`suggest`](crate::suggest()) for them. An interpreter gives none.
    #[serde(skip)]
    pub hints: Vec<String>,
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        if let Some(at) = self.positions.first() {
            write!(f, " ({}:{}:{})", at.file, at.line, at.column)?;
        }
        Ok(())
    }
}

/// What something may cost beside what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// Units of work.
    pub ticks: u64,
    /// Bytes of memory, as counted.
    pub bytes: u64,
}

/// A `#do` that waits to be carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// Where it stands; the answer is filled at this path.
    pub path: String,
    /// The value of `#do`.
    pub verb: String,
    /// The value of `#provider`, empty where absent (legacy `vela/op`).
    pub provider: String,
    /// The whole struct as JSON, what is not concrete left out (`$params`, legacy parameters).
    pub json: String,
    /// Errors that keep it from being carried out (for example `$params` that are incomplete).
    pub pending: Vec<Diagnostic>,
}

/// How a value is put together: an operator, and what that is applied to. Operands have no place of their own; a
/// handle, `@12`, begins a path as the root does, until something is added to the session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Composition {
    /// `&`, `|`, that of a bound (`>=`, `=~`), `(` for a call, `func` for a function as it is, `.` for a reference, `...` for
    /// what is opened; empty for what a value is by itself.
    pub operator: String,
    /// Numbers of the operands' handles; of a reference that of where its path begins.
    pub operands: Vec<u32>,
    /// The function that is called, the type that is named, a scalar as it is written; of a reference the package that
    /// it leads into, empty for this one.
    pub name: String,
    /// The labels of a reference, as they are written.
    pub labels: Vec<String>,
    /// Handles of the struct's patterns, each before that of what it says of fields.
    pub patterns: Vec<u32>,
    /// The handle of what `...T` says of further elements.
    pub rest: Option<u32>,
    /// Whether it has `...`.
    pub open: bool,
    /// How far it is closed: not at all, only itself, or with all that is in it (0 to 2).
    pub closed: u8,
    /// Its comments as one text.
    pub docs: String,
    /// What it is or may become; nothing if it is an error.
    pub kinds: Kinds,
}

/// Names a program inside an instance: the hash of its spec.
pub type ProgramKey = [u8; 16];

/// One request to an instance. An instance has one session at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Call {
    /// Compile and keep.
    Compile(ProgramSpec),
    /// Begin a session; an earlier one ends, and what was kept stays.
    Start {
        /// The compiled program.
        program: ProgramKey,
        /// Values for it.
        inputs: Vec<Input>,
        /// Limits of the whole session.
        budget: Budget,
    },
    /// Is there something (not an error by absence) at the path?
    Exists(String),
    /// Whether a path leads to a field that is there, not only optional or required.
    IsMember(String),
    /// What it is or may become.
    Kinds(String),
    /// The value as JSON, concrete, defaults taken.
    Json(String),
    /// The value as JSON; what is not concrete is left out.
    JsonLenient(String),
    /// The value as YAML, which knows bytes: concrete, defaults taken.
    Yaml {
        /// Where it stands.
        path: String,
        /// Fields around it, the outermost first.
        within: Vec<String>,
    },
    /// Keep the value, concrete, defaults taken, for sessions that follow.
    Keep {
        /// Where it stands.
        path: String,
        /// What it is kept as.
        name: String,
    },
    /// What was kept under a name, as JSON.
    Kept(String),
    /// Members in output order.
    Fields(String, FieldSelection),
    /// Unify a value at a path.
    Fill(String, Filling),
    /// First `#do` not yet done, in post-order.
    NextAction {
        /// Only at or below this path.
        below: String,
        /// How many of those told before as carried out are: all, or none.
        known: usize,
        /// Paths of those carried out besides.
        done: Vec<String>,
    },
    /// Print as CUE.
    Syntax(String, SyntaxStyle),
    /// All errors at or below the path.
    Validate(String, Concreteness),
    /// The same with so much more work and memory. Where that does not do, none is told, and the evaluation begins
    /// anew with the next call.
    Survey(String, Concreteness, Effort),
    /// Apply the patch that stands at `path` to `base`.
    Patch {
        /// Where the patch is.
        path: String,
        /// What is patched.
        base: Base,
        /// How.
        mode: PatchMode,
        /// What is told of the result.
        form: PatchForm,
    },
    /// How the value is put together.
    Composition(String),
    /// OpenAPI v3 schema of the value, JSON.
    Schema(String),
    /// The definitions in the value as OpenAPI schemas, one JSON object.
    Schemas(String),
    /// Drop the session's values, and what was kept.
    End,
}

/// The answer to a [`Call`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// Done.
    Done,
    /// Start: the instance does not have the program; compile first.
    UnknownProgram,
    /// Compile.
    Program(ProgramKey),
    /// Exists, IsMember, Keep, and Patch of what is kept: whether there is something.
    Yes(bool),
    /// Kinds; `None` if there is nothing.
    Kinds(Option<Kinds>),
    /// Json, JsonLenient, Yaml, Kept, Syntax, Patch, Schema, Schemas; `None` if there is nothing.
    Text(Option<String>),
    /// Fields; `None` if there is no struct or list.
    Fields(Option<Vec<Field>>),
    /// Composition; `None` if there is nothing.
    Composition(Option<Composition>),
    /// NextAction.
    Action(Option<Action>),
    /// Validate, Survey, and any call that failed through what the user wrote.
    Diagnostics(Vec<Diagnostic>),
}
