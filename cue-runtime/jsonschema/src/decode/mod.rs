//! A schema as CUE.
//!
//! ~~~text
//! data -data-> values -state: keyword by keyword-> expressions -builder-> file -output-> text, places
//!                              references: again until all are known
//! ~~~
//! Invariants
//! 1. What is made is laid out as if a program had made it; where it stands for a part of the schema it says which. (made)
//! 2. A schema is walked a few times at most: again where a reference came before what it means. (PASSES)
//! 3. Nesting beyond a limit is an error. (DEEPEST)

mod kinds; // sets of kinds of values
mod version; // drafts and dialects
mod data; // values of a schema
mod url; // names of schemas
mod pointer; // JSON pointers
mod made; // what is made
mod builder; // definitions in the file
mod comment; // what a schema says of itself
mod keywords; // which keyword is known where
mod state; // what is known of a schema, and what that is as CUE
mod meta; // $schema, $id, $ref, definitions
mod reference; // where a schema is in CUE
mod value; // type, enum, const
mod combine; // allOf, anyOf, oneOf, not, if
mod number;
mod string;
mod format; // of `format`
mod array;
mod object;
mod dependent; // dependencies
mod kubernetes; // x-kubernetes-…
mod package; // names of imported packages
mod open_api; // documents of OpenAPI
mod output; // the file as text
mod custom; // custom resource definitions

use std::collections::HashMap;

pub use custom::{Crd, custom_resources};
pub use data::{Document, Form};
pub use open_api::{decode_open_api, plain};
pub use output::{Decoded, Line, Placed, text};
pub use version::Version;

use builder::{Builder, Path};
use data::{Content, Data, Id, Step};
use kinds::Kinds;
use made::Made;
use state::{Asked, Info, Preserve};
use url::Url;

/// How a schema is read.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Its language, if it does not say.
    pub version: Version,
    /// Keywords that nobody knows are errors.
    pub strict_keywords: bool,
    /// So is what has no counterpart in CUE.
    pub strict_features: bool,
    /// Structs are open only where the schema says so.
    pub open_only_when_explicit: bool,
    /// Where in the data schemas are.
    pub root: Root,
    /// What schemas are called.
    pub names: Names,
}

/// What schemas are called in CUE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// Definitions as they are called; everything else by its pointer.
    #[default]
    Usual,
    /// Those of OpenAPI as they are called; nothing else is referred to.
    OpenApi,
}

/// Where in a document schemas are.
#[derive(Clone, Debug, Default)]
pub enum Root {
    /// It is one.
    #[default]
    Whole,
    /// The value at a pointer is one.
    Single(String),
    /// The fields of the value at a pointer are, as those of OpenAPI.
    Fields(String),
}

/// Something that is wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// In CUE's words.
    pub message: String,
    /// Byte in the file, if it is about one.
    pub at: Option<u32>,
}

impl Problem {
    fn nowhere(message: impl Into<String>) -> Self {
        Self { message: message.into(), at: None }
    }
}

/// A schema as CUE.
///
/// # Errors
/// All that is wrong with it.
pub fn decode(document: &Document<'_>, config: &Config) -> Result<Decoded, Vec<Problem>> {
    let data = Data::read(document);
    decode_data(&data, config)
}

/// The same of data that is read.
fn decode_data(data: &Data, config: &Config) -> Result<Decoded, Vec<Problem>> {
    let mut decoder = Decoder::new(data, config);
    let found = decoder.all();
    match found {
        Some(info) if decoder.problems.is_empty() => Decoded::of(decoder, &info),
        _ => Err(decoder.problems),
    }
}

/// Deepest nesting of schemas.
const DEEPEST: usize = 10_000;
/// Stack of each level at most, in a debug build.
const LEVEL: usize = 24 << 10;
/// How often a schema is walked at most.
const PASSES: usize = 10;
/// Most problems that are kept.
const MOST_PROBLEMS: usize = 10_000;

/// The URL of a schema that does not say its own, and its host.
const ROOT_HOST: &str = "cue.jsonschema.invalid";

/// What is read of a document.
#[derive(Clone, Copy, Debug)]
enum Found {
    Schema(Id),
    /// Each field of it is a schema.
    Fields(Id),
}

/// Where a schema is in CUE.
#[derive(Clone, Debug)]
struct Definition {
    /// Its package; empty for the file itself.
    import: String,
    path: Path,
}

/// A schema that says its URL, which those in it are relative to.
#[derive(Clone, Debug)]
struct Base {
    url: Url,
    value: Id,
    /// It is the schema as a whole.
    root: bool,
}

/// What is known while a schema is read.
struct Decoder<'a> {
    data: &'a Data,
    config: &'a Config,
    problems: Vec<Problem>,
    made: Made,
    builder: Builder,
    root_url: Url,
    /// Schemas by their URLs.
    by_url: HashMap<String, Definition>,
    /// Values that are referred to: where they are in CUE, once that is known.
    by_value: HashMap<Id, Option<Definition>>,
    /// The same in order.
    referred: Vec<Id>,
    /// How many of them are not known yet.
    dangling: usize,
    /// Whether something was learnt that changes what came before.
    again: bool,
    /// Around the schema that is read.
    bases: Vec<Base>,
    depth: usize,
}

impl<'a> Decoder<'a> {
    fn new(data: &'a Data, config: &'a Config) -> Self {
        Self {
            data,
            config,
            problems: Vec::new(),
            made: Made::default(),
            builder: Builder::default(),
            root_url: Url::of_host(ROOT_HOST),
            by_url: HashMap::new(),
            by_value: HashMap::new(),
            referred: Vec::new(),
            dangling: 0,
            again: false,
            bases: Vec::new(),
            depth: 0,
        }
    }

    fn problem(&mut self, value: Id, message: impl Into<String>) {
        if self.problems.len() < MOST_PROBLEMS {
            let at = Some(self.data[value].at);
            self.problems.push(Problem { message: message.into(), at });
        }
    }

    /// The same of a byte of the file.
    fn problem_at(&mut self, at: u32, message: String) {
        let at = Some(at).filter(|it| *it != made::NOWHERE);
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(Problem { message, at });
        }
    }

    /// Walks the schema until all references are known.
    fn all(&mut self) -> Option<Info> {
        let found = match &self.config.root {
            Root::Whole => Found::Schema(Data::ROOT),
            Root::Single(pointer) => Found::Schema(self.at(pointer)?),
            Root::Fields(pointer) => {
                let fields = self.at(pointer)?;
                if !matches!(self.data[fields].content, Content::Struct(_)) {
                    let kind = self.shown(fields);
                    let text = "must be struct containing definitions but is actually";
                    self.problem(fields, format!("value at path {pointer} {text} {kind}"));
                    return None;
                }
                Found::Fields(fields)
            }
        };
        let mut more: Vec<Id> = Vec::new();
        let mut basis = 0;
        for pass in 0..=PASSES {
            let info = self.pass(found)?;
            if self.dangling > 0 && pass == basis + 1 {
                // What is referred to is no schema of those that were walked.
                let known = |it: &&Id| matches!(self.by_value.get(it), Some(None));
                let mut unknown: Vec<Id> = self.referred.iter().filter(known).copied().collect();
                if !unknown.is_empty() {
                    basis = pass;
                }
                more.append(&mut unknown);
            }
            for value in &more {
                self.bases = vec![self.base()];
                let _ = self.schema(*value, &Outer::of(self.config.version));
            }
            if !self.again && self.dangling == 0 {
                return Some(info);
            }
            self.builder = Builder::default();
            self.made = Made::default();
            self.again = false;
        }
        let text = "internal error: too many passes without resolution";
        let whole = match found {
            Found::Schema(value) => value,
            Found::Fields(_) => Data::ROOT,
        };
        self.problem(whole, text);
        None
    }

    fn at(&mut self, pointer: &str) -> Option<Id> {
        let path = pointer.trim_start_matches('#');
        let path = path.strip_suffix('/').unwrap_or(path);
        let data = self.data;
        let step = |at: Id, name: &String| match data.field(at, name) {
            Some(field) => Some(field),
            None => data.elements_of(at).get(name.parse::<usize>().ok()?).copied(),
        };
        let found = pointer::names(path).iter().try_fold(Data::ROOT, step);
        if found.is_none() {
            let text = format!("root value at path {pointer} does not exist");
            self.problem(Data::ROOT, text);
        }
        found
    }

    fn base(&self) -> Base {
        Base { url: self.root_url.clone(), value: Data::ROOT, root: true }
    }

    /// One walk.
    fn pass(&mut self, found: Found) -> Option<Info> {
        self.bases = vec![self.base()];
        let outer = Outer::of(self.config.version);
        let value = match found {
            Found::Schema(value) => value,
            Found::Fields(value) => {
                self.definitions("schemas", value, &outer);
                return Some(Info::default());
            }
        };
        let asked = Asked { kinds: Kinds::ALL, root: true, preserve: Preserve::Inherited };
        let (expr, info) = self.schema_of(value, &outer, asked);
        if info.allowed.is_empty() {
            self.problem(value, "constraints are not possible to satisfy");
            return None;
        }
        if !self.builder.put(&Path::default(), expr, info.comment()) {
            self.problem(value, "duplicate definition at root");
            return None;
        }
        Some(info)
    }

    /// A value as messages show it.
    fn shown(&self, value: Id) -> String {
        let mut other = Decoder::new(self.data, self.config);
        let root = other.plain(value);
        other.made.tree.root = Some(root);
        cue_syntax::format_tree(&other.made.tree, cue_syntax::Style::Simplified)
    }
}

/// What a schema has from the one around it.
#[derive(Clone, Copy, Debug)]
struct Outer {
    version: Version,
    preserve: bool,
}

impl Outer {
    fn of(version: Version) -> Self {
        Self { version, preserve: false }
    }
}

/// Steps of a path as a JSON pointer.
fn pointer_of(steps: &[Step]) -> String {
    let names = pointer::names_of(steps);
    pointer::of_names(names.iter().map(String::as_str))
}
