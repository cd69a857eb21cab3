//! The typed face of the runtime: compile a program, start a session, ask.

use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::protocol::{
    Action, Answer, Base, Budget, Call, Composition, Concreteness, Diagnostic, Effort, Field,
    FieldSelection, Filling, Input, Kinds, PatchForm, PatchMode, ProgramKey, ProgramSpec,
    SyntaxStyle,
};

/// The sandbox itself broke (trap, memory, lost module): never the user's doing.
#[derive(Debug, thiserror::Error)]
#[error("CUE sandbox: {0}")]
pub struct Fault(pub String);

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What the user wrote is wrong or incomplete.
    #[error("{}", join(.0))]
    Diagnostics(Vec<Diagnostic>),
    /// The sandbox broke.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl Error {
    /// Whether more data may still resolve it.
    pub fn is_incomplete(&self) -> bool {
        matches!(self, Error::Diagnostics(all) if !all.is_empty() && all.iter().all(|d| d.incomplete))
    }

    /// The user's mistakes, none for a fault.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Error::Diagnostics(all) => all,
            Error::Fault(_) => &[],
        }
    }
}

fn join(all: &[Diagnostic]) -> String {
    all.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("; ")
}

/// Where calls go: this process or a sandbox.
pub trait Instance: Send {
    /// Carry out one call.
    fn call(&mut self, call: &Call) -> Result<Answer, Fault>;
}

/// A program that can be started any number of times; cheap to clone.
#[derive(Clone, Debug)]
pub struct Program {
    /// Hash of the spec.
    pub key: ProgramKey,
    /// What an instance that does not know it yet compiles.
    pub spec: Arc<ProgramSpec>,
}

impl Program {
    /// Names `spec` by its content; nothing is compiled.
    pub fn new(spec: ProgramSpec) -> Self {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        part(match spec.profile {
            crate::protocol::Profile::V017 => "v0.17",
            crate::protocol::Profile::KubeVela => "kubevela",
        });
        for source in &spec.sources {
            part(&source.name);
            part(&source.language);
            part(if source.is_data { "data" } else { "" });
            part(&source.text);
        }
        for package in &spec.packages {
            part("package");
            part(&package.path);
            for source in &package.sources {
                part(&source.name);
                part(&source.language);
                part(&source.text);
            }
        }
        let digest = hash.finalize();
        let mut key = ProgramKey::default();
        key.copy_from_slice(&digest[..16]);
        Self { key, spec: Arc::new(spec) }
    }
}

/// A CUE runtime: what the engine and the command line need of one.
pub trait Runtime: Send + Sync {
    /// An instance that has no session; may be warm. Dropping it gives it back.
    fn instance(&self) -> Result<Box<dyn Instance>, Fault>;

    /// Compile `spec`, so that its errors are known now.
    fn compile(&self, spec: ProgramSpec) -> Result<Program, Error> {
        let program = Program::new(spec);
        match self.instance()?.call(&Call::Compile((*program.spec).clone()))? {
            Answer::Diagnostics(all) => Err(Error::Diagnostics(all)),
            _ => Ok(program),
        }
    }

    /// Begin a session over `program` with `inputs` unified at their paths.
    fn start(
        &self,
        program: &Program,
        inputs: Vec<Input>,
        budget: Budget,
    ) -> Result<Session, Error> {
        let mut session = Session { instance: self.instance()?, told: 0 };
        session.next(program, inputs, budget)?;
        Ok(session)
    }
}

/// One evaluation. Ends when dropped.
pub struct Session {
    instance: Box<dyn Instance>,
    /// So many actions were told of as carried out.
    told: usize,
}

impl Drop for Session {
    fn drop(&mut self) {
        // A broken instance is thrown away by its owner; there is nothing to tell here.
        let _ = self.instance.call(&Call::End);
    }
}

fn unexpected(answer: &Answer) -> Error {
    Error::Fault(Fault(format!("unexpected answer {answer:?}")))
}

macro_rules! expect_answer {
    ($answer:expr, $variant:ident) => {
        match $answer {
            Answer::$variant(it) => Ok(it),
            Answer::Diagnostics(all) => Err(Error::Diagnostics(all)),
            other => Err(unexpected(&other)),
        }
    };
}

impl Session {
    /// Begins anew with another program, where this one was: what was kept can be used.
    pub fn next(
        &mut self,
        program: &Program,
        inputs: Vec<Input>,
        budget: Budget,
    ) -> Result<(), Error> {
        self.told = 0;
        let start = Call::Start { program: program.key, inputs, budget };
        let mut answer = self.instance.call(&start)?;
        if answer == Answer::UnknownProgram {
            match self.instance.call(&Call::Compile((*program.spec).clone()))? {
                Answer::Diagnostics(all) => return Err(Error::Diagnostics(all)),
                _ => answer = self.instance.call(&start)?,
            }
        }
        match answer {
            Answer::Done => Ok(()),
            Answer::Diagnostics(all) => Err(Error::Diagnostics(all)),
            other => Err(unexpected(&other)),
        }
    }

    /// Keeps the value at `path`, as [`Session::json`] has it, as `name`; false if there is none.
    pub fn keep(&mut self, path: &str, name: &str) -> Result<bool, Error> {
        let call = Call::Keep { path: path.into(), name: name.into() };
        expect_answer!(self.instance.call(&call)?, Yes)
    }

    /// What was kept as `name`.
    pub fn kept(&mut self, name: &str) -> Result<Option<Value>, Error> {
        parse(expect_answer!(self.instance.call(&Call::Kept(name.into()))?, Text)?)
    }

    /// Whether there is a value at `path` (an error there counts, absence does not).
    pub fn exists(&mut self, path: &str) -> Result<bool, Error> {
        expect_answer!(self.instance.call(&Call::Exists(path.into()))?, Yes)
    }

    /// Whether `path` leads to a field that is there, not only optional or required; none of its siblings is evaluated.
    pub fn is_member(&mut self, path: &str) -> Result<bool, Error> {
        expect_answer!(self.instance.call(&Call::IsMember(path.into()))?, Yes)
    }

    /// What the value is or may become; `None` if there is nothing.
    pub fn kinds(&mut self, path: &str) -> Result<Option<Kinds>, Error> {
        expect_answer!(self.instance.call(&Call::Kinds(path.into()))?, Kinds)
    }

    /// The value as JSON text, defaults taken; an error if it is not concrete.
    pub fn json(&mut self, path: &str) -> Result<Option<String>, Error> {
        expect_answer!(self.instance.call(&Call::Json(path.into()))?, Text)
    }

    /// The value as JSON; what is not concrete is left out.
    pub fn json_lenient(&mut self, path: &str) -> Result<Option<String>, Error> {
        expect_answer!(self.instance.call(&Call::JsonLenient(path.into()))?, Text)
    }

    /// The value as YAML text in which bytes are marked as such; within fields of these names, the
    /// outermost first.
    pub fn yaml(&mut self, path: &str, within: &[String]) -> Result<Option<String>, Error> {
        let call = Call::Yaml { path: path.into(), within: within.to_vec() };
        expect_answer!(self.instance.call(&call)?, Text)
    }

    /// [`Session::json`], parsed.
    pub fn value(&mut self, path: &str) -> Result<Option<Value>, Error> {
        parse(self.json(path)?)
    }

    /// [`Session::json_lenient`], parsed.
    pub fn value_lenient(&mut self, path: &str) -> Result<Option<Value>, Error> {
        parse(self.json_lenient(path)?)
    }

    /// Members of a struct or list in output order; `None` if there is none at `path`.
    pub fn fields(
        &mut self,
        path: &str,
        which: FieldSelection,
    ) -> Result<Option<Vec<Field>>, Error> {
        expect_answer!(self.instance.call(&Call::Fields(path.into(), which))?, Fields)
    }

    /// How the value is put together; `None` if there is none.
    pub fn composition(&mut self, path: &str) -> Result<Option<Composition>, Error> {
        expect_answer!(self.instance.call(&Call::Composition(path.into()))?, Composition)
    }

    /// Unify `value` at `path`; a conflict shows in later answers, an unreadable value here.
    pub fn fill(&mut self, path: &str, value: Filling) -> Result<(), Error> {
        match self.instance.call(&Call::Fill(path.into(), value))? {
            Answer::Done => Ok(()),
            Answer::Diagnostics(all) => Err(Error::Diagnostics(all)),
            other => Err(unexpected(&other)),
        }
    }

    /// Unify a JSON value at `path`.
    pub fn fill_value(&mut self, path: &str, value: &Value) -> Result<(), Error> {
        self.fill(path, Filling::Json(value.to_string()))
    }

    /// The first `#do` below `below` that is not in `done` (fields in output order, children
    /// before parents, siblings by `@step(n)`). From call to call `done` grows at its end; a shorter
    /// one begins anew.
    pub fn next_action(&mut self, below: &str, done: &[String]) -> Result<Option<Action>, Error> {
        let known = if self.told <= done.len() { self.told } else { 0 };
        self.told = done.len();
        let call = Call::NextAction { below: below.into(), known, done: done[known..].to_vec() };
        expect_answer!(self.instance.call(&call)?, Action)
    }

    /// The definitions in the value at `path` as OpenAPI schemas, 3.0.0, in one JSON object; `None` if there is no
    /// value.
    pub fn schemas(&mut self, path: &str) -> Result<Option<String>, Error> {
        expect_answer!(self.instance.call(&Call::Schemas(path.into()))?, Text)
    }

    /// The value as CUE text.
    pub fn syntax(&mut self, path: &str, style: SyntaxStyle) -> Result<Option<String>, Error> {
        expect_answer!(self.instance.call(&Call::Syntax(path.into(), style))?, Text)
    }

    /// Every error at or below `path`, none if it is valid.
    pub fn validate(&mut self, path: &str, how: Concreteness) -> Result<Vec<Diagnostic>, Error> {
        errors(self.instance.call(&Call::Validate(path.into(), how))?)
    }

    /// [`Session::validate`] with so much more work and memory: no error where that does not do. What is asked for after
    /// that finds the value evaluated, if it did.
    pub fn survey(
        &mut self,
        path: &str,
        how: Concreteness,
        effort: Effort,
    ) -> Result<Vec<Diagnostic>, Error> {
        errors(self.instance.call(&Call::Survey(path.into(), how, effort))?)
    }

    /// `base` patched by what stands at `path`, honouring `+patchKey`, `+patchStrategy` and so on;
    /// `None` if there is no patch.
    pub fn patch(&mut self, path: &str, base: &Value) -> Result<Option<Value>, Error> {
        let base = Base::Json(base.to_string());
        parse(self.patch_text(path, base, PatchMode::Marked, PatchForm::Json)?)
    }

    /// [`Session::patch`] of what was kept as `name`, which the result replaces; false if there is no
    /// patch.
    pub fn patch_kept(&mut self, path: &str, name: &str) -> Result<bool, Error> {
        let call = Call::Patch {
            path: path.into(),
            base: Base::Kept(name.into()),
            mode: PatchMode::Marked,
            form: PatchForm::Json,
        };
        expect_answer!(self.instance.call(&call)?, Yes)
    }

    /// [`Session::patch`] of a base that may be CUE, in a mode of the caller's choice, as text.
    pub fn patch_text(
        &mut self,
        path: &str,
        base: Base,
        mode: PatchMode,
        form: PatchForm,
    ) -> Result<Option<String>, Error> {
        let call = Call::Patch { path: path.into(), base, mode, form };
        expect_answer!(self.instance.call(&call)?, Text)
    }

    /// OpenAPI v3 schema of the value at `path`.
    pub fn schema(&mut self, path: &str) -> Result<Option<Value>, Error> {
        parse(expect_answer!(self.instance.call(&Call::Schema(path.into()))?, Text)?)
    }
}

/// What a validation has found.
fn errors(answer: Answer) -> Result<Vec<Diagnostic>, Error> {
    match answer {
        Answer::Diagnostics(all) => Ok(all),
        Answer::Done => Ok(Vec::new()),
        other => Err(unexpected(&other)),
    }
}

fn parse(text: Option<String>) -> Result<Option<Value>, Error> {
    text.map(|text| serde_json::from_str(&text)).transpose().map_err(|error| {
        Error::Fault(Fault(format!("unreadable JSON from the interpreter: {error}")))
    })
}
