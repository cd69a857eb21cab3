//! What the templates of one component make, while they run: objects stay with the interpreter, so
//! that the template that follows sees and patches them where they are.

use cue_session::{Diagnostic, Error as CueError, Input, Session};
use serde_json::Value;

use super::error::Error;
use super::process::{Output, Product};
use super::reads::Reads;

/// An object.
#[derive(Debug)]
pub(super) enum Object {
    /// Here.
    Here(Value),
    /// With the interpreter, under a name.
    Kept(String),
}

/// One of the objects, and what is incomplete in it.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) object: Object,
    pub(super) incomplete: Vec<Diagnostic>,
    /// The templates that follow have it as it is.
    pub(super) seen: bool,
}

/// One named entry of `outputs`.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) r#type: String,
    pub(super) name: String,
    pub(super) made: Made,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Making {
    /// `output`, if there is one.
    pub(super) base: Option<Made>,
    /// `outputs`, in order.
    pub(super) outputs: Vec<Entry>,
}

impl Made {
    pub(super) fn here(value: Value) -> Self {
        Self { object: Object::Here(value), incomplete: Vec::new(), seen: false }
    }

    /// Whether there is an object.
    pub(super) fn is_there(&self) -> bool {
        !matches!(self.object, Object::Here(Value::Null))
    }

    /// Its value, wherever it is.
    fn value(self, session: Option<&mut Session>) -> Result<(Value, Vec<Diagnostic>), Error> {
        let value = match self.object {
            Object::Here(value) => value,
            Object::Kept(name) => kept(session, &name)?,
        };
        Ok((value, self.incomplete))
    }

    /// How a template gets it at `path` of its context, with a live status; none if it has it.
    fn input(&mut self, path: &str, status: Option<&Value>) -> Option<Input> {
        if !self.is_there() || std::mem::replace(&mut self.seen, true) {
            return None;
        }
        Some(match (&self.object, status) {
            (Object::Here(Value::Object(fields)), Some(status)) => {
                let mut fields = fields.clone();
                fields.insert("status".into(), status.clone());
                Input::new(path, Value::Object(fields).to_string())
            }
            (Object::Here(value), _) => Input::new(path, value.to_string()),
            (Object::Kept(name), _) => Input::kept(path, name.as_str()),
        })
    }

    /// Patches it by what stands at `path`; it is below `root` where its definition says it.
    pub(super) fn patch(
        &mut self,
        session: &mut Session,
        path: &str,
        root: &str,
    ) -> Result<(), CueError> {
        match &mut self.object {
            Object::Here(value) => match session.patch(path, value)? {
                Some(patched) => *value = patched,
                None => return Ok(()),
            },
            Object::Kept(name) => {
                if !session.patch_kept(path, name)? {
                    return Ok(());
                }
            }
        }
        self.seen = false;
        if !self.incomplete.is_empty() {
            let incomplete = std::mem::take(&mut self.incomplete);
            self.incomplete = match &self.object {
                Object::Here(value) => still_missing(incomplete, root, value),
                Object::Kept(name) => {
                    let value = session.kept(name)?.unwrap_or_default();
                    still_missing(incomplete, root, &value)
                }
            };
        }
        Ok(())
    }
}

impl Making {
    /// What the next template, which reads this, gets in its context that those before had not; of two `outputs` of
    /// one name the later counts.
    pub(super) fn inputs(&mut self, status: Option<&Value>, reads: &Reads) -> Vec<Input> {
        let mut inputs: Vec<Input> = Vec::new();
        if reads.may_be("output") {
            inputs.extend(self.base.as_mut().and_then(|it| it.input("context.output", status)));
        }
        if reads.may_be("outputs") {
            for Entry { name, made, .. } in &mut self.outputs {
                let label = Value::from(name.as_str());
                inputs.extend(made.input(&format!("context.outputs.{label}"), None));
            }
        }
        inputs
    }

    /// Templates that follow begin with a context of their own.
    pub(super) fn unsee(&mut self) {
        let outputs = self.outputs.iter_mut().map(|it| &mut it.made);
        self.base.iter_mut().chain(outputs).for_each(|it| it.seen = false);
    }

    /// Everything, read from where it is.
    pub(super) fn finish(self, mut session: Option<&mut Session>) -> Result<Product, Error> {
        let mut product = Product::default();
        if let Some(base) = self.base {
            let there = base.is_there();
            let (value, incomplete) = base.value(session.as_deref_mut())?;
            product.base = there.then_some(value);
            product.base_incomplete = incomplete;
        }
        for Entry { r#type, name, made } in self.outputs {
            let (object, incomplete) = made.value(session.as_deref_mut())?;
            product.outputs.push(Output { r#type, name, object, incomplete });
        }
        Ok(product)
    }
}

fn kept(session: Option<&mut Session>, name: &str) -> Result<Value, Error> {
    let value = session.map(|it| it.kept(name)).transpose();
    match value {
        Ok(value) => Ok(value.flatten().unwrap_or_default()),
        Err(CueError::Fault(fault)) => Err(Error::Fault(fault)),
        Err(error) => Err(Error::Definition(error.to_string())),
    }
}

/// What a patch has brought is no longer missing.
fn still_missing(incomplete: Vec<Diagnostic>, root: &str, patched: &Value) -> Vec<Diagnostic> {
    let (inside, outside): (Vec<_>, Vec<_>) =
        incomplete.into_iter().partition(|it| it.path.starts_with(root));
    let mut left: Vec<Diagnostic> = inside
        .into_iter()
        .filter(|it| {
            let mut parts = it.path.split('.');
            parts.next();
            if root == "outputs" {
                parts.next();
            }
            let pointer: String = parts
                .map(|part| {
                    format!("/{}", part.trim_matches('"').replace('~', "~0").replace('/', "~1"))
                })
                .collect();
            patched.pointer(&pointer).is_none()
        })
        .collect();
    if !left.is_empty() {
        left.extend(outside);
    }
    left
}
