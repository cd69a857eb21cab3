//! One component's template, then its traits' in order, each seeing what came before.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cue_session::{
    Action, Budget, Concreteness, Diagnostic, Error as CueError, Fault, FieldSelection, Filling,
    Input, Kind, Program, ProgramSpec, Runtime, Session,
};
use serde_json::{Value, json};

use super::context::Scope;
use super::error::{Error, Part};
use super::library::{Library, OPEN, Template};
use super::making::{Entry, Made, Making, Object};
use super::place;
use super::told::{Again, Told};
use crate::api::names::AUXILIARY_WORKLOAD;

/// Actions of one template at most.
const ACTIONS: usize = 1000;

/// Carries out the `#do` of a template while it is rendered.
pub trait Actor {
    /// The value to fill at the action's path, or why there is none.
    fn act(&mut self, action: &Action) -> Result<Value, String>;
}

/// Refuses every action that has an effect: rendering stays pure.
pub struct NoActor;

impl Actor for NoActor {
    fn act(&mut self, action: &Action) -> Result<Value, String> {
        Err(format!("{}: no provider for {}.{} here", action.path, action.provider, action.verb))
    }
}

/// What templates are evaluated with.
#[derive(Clone, Copy)]
pub struct Templates<'a> {
    /// The interpreter.
    pub runtime: &'a dyn Runtime,
    /// Their programs, and what they may import.
    pub library: &'a Library,
    /// Limits of one template.
    pub budget: Budget,
}

impl<'a> Templates<'a> {
    /// With the usual limits.
    pub fn new(runtime: &'a dyn Runtime, library: &'a Library) -> Self {
        Self { runtime, library, budget: Budget::DEFINITION }
    }

    /// What is wrong with a program by itself at or below a path, and the session that was asked, if it compiles.
    pub(crate) fn wrong(
        &self,
        program: &Program,
        path: &str,
    ) -> Result<(Vec<Diagnostic>, Option<Session>), Fault> {
        let (wrong, session) = match self.runtime.start(program, Vec::new(), self.budget) {
            Ok(mut session) => (session.validate(path, Concreteness::Optional), Some(session)),
            Err(error) => (Err(error), None),
        };
        match wrong {
            Ok(all) | Err(CueError::Diagnostics(all)) => Ok((all, session)),
            Err(CueError::Fault(fault)) => Err(fault),
        }
    }

    /// The template of a definition, with `context` and `parameter` open.
    pub fn template(&self, r#type: &str, text: &str) -> Template {
        self.library.template(&[(&format!("{type}.cue"), text), OPEN])
    }
}

/// One named entry of `outputs`.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Trait type, or [`AUXILIARY_WORKLOAD`].
    pub r#type: String,
    /// Key in `outputs`.
    pub name: String,
    /// The object; what is incomplete is left out.
    pub object: Value,
    /// What is incomplete.
    pub incomplete: Vec<Diagnostic>,
}

/// What a component's template and traits made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Product {
    /// `output` with all patches; `None` if there is none.
    pub base: Option<Value>,
    /// What is incomplete in it.
    pub base_incomplete: Vec<Diagnostic>,
    /// `outputs` of the component and its traits, in order.
    pub outputs: Vec<Output>,
}

/// Renders one component, template by template.
pub struct Process<'a> {
    templates: Templates<'a>,
    context: Told<'a>,
    live_status: Option<Value>,
    /// Where the templates run, one after the other.
    session: Option<Session>,
    making: Making,
}

impl<'a> Process<'a> {
    /// Starts with a component's `context`.
    pub fn new(templates: Templates<'a>, context: impl Scope + 'a) -> Self {
        Self {
            templates,
            context: Told::new(context),
            live_status: None,
            session: None,
            making: Making::default(),
        }
    }

    /// Show the live workload's status to traits, as `context.output.status`.
    pub fn with_live_status(mut self, status: Value) -> Self {
        self.live_status = Some(status);
        self
    }

    /// Refuse two `outputs` of one name.
    pub fn unique(&self) -> Result<(), Error> {
        let outputs = &self.making.outputs;
        match outputs
            .iter()
            .enumerate()
            .find(|(index, it)| outputs[..*index].iter().any(|before| before.name == it.name))
        {
            Some((_, twice)) => Err(Error::Definition(format!(
                "cannot append auxiliaries into context: outputs item name must be unique: auxiliary {:?} already exits",
                twice.name
            ))),
            None => Ok(()),
        }
    }

    /// Let the templates that follow see one more key of `context`.
    pub fn set(&mut self, key: &str, value: Value) {
        self.context.set(key, value);
    }

    /// The component's object, made without a template.
    pub fn base(&mut self, object: Value) {
        self.making.base = Some(Made::here(object));
    }

    /// What was made.
    ///
    /// # Errors
    /// When the interpreter that holds it broke.
    pub fn finish(mut self) -> Result<Product, Error> {
        self.making.finish(self.session.as_mut())
    }

    /// Begins with a template: where the one before it was, what that saw is there already.
    fn start(
        &mut self,
        part: &Part,
        template: &Template,
        parameter: Option<&Value>,
    ) -> Result<Session, Error> {
        let (mut inputs, again) = self.context.inputs(&template.reads);
        if again == Again::Anew {
            self.making.unsee();
        }
        inputs.extend(self.making.inputs(self.live_status.as_ref(), &template.reads));
        let given = match (part, parameter) {
            (Part::Workload(_), None | Some(Value::Null)) => Some("{}".to_owned()),
            (Part::Trait(_), None | Some(Value::Null)) => None,
            (_, Some(value)) => {
                // In a cluster, objects come back with their keys sorted; lists made from them follow.
                let mut value = value.clone();
                value.sort_all_objects();
                Some(as_json(&value))
            }
        };
        inputs.extend(given.map(|json| Input::new("parameter", json)));
        let Templates { runtime, budget, .. } = self.templates;
        let program = &template.program;
        let session = match self.session.take() {
            Some(mut session) => session.next(program, inputs, budget).map(|()| session),
            None => runtime.start(program, inputs, budget),
        };
        session.map_err(|error| match error {
            CueError::Diagnostics(diagnostics) => refused(part, &program.spec, diagnostics),
            CueError::Fault(fault) => Error::Fault(fault),
        })
    }

    /// What stands at `path`: kept where it is if it is complete, and no status has to be put into it.
    fn take(&self, session: &mut Session, path: &str, name: String) -> Result<Option<Made>, Error> {
        let kept = if self.live_status.is_some() { Ok(false) } else { session.keep(path, &name) };
        if let Ok(true) = kept {
            let object = Object::Kept(name);
            return Ok(Some(Made { object, incomplete: Vec::new(), seen: false }));
        }
        if let Err(CueError::Fault(fault)) = kept {
            return Err(Error::Fault(fault));
        }
        let (value, incomplete) = read(session, path)?;
        // What is not there may be missing for a reason.
        let there = value.is_some() || !incomplete.is_empty();
        let made = Made { incomplete, ..Made::here(value.unwrap_or_default()) };
        Ok(there.then_some(made))
    }

    /// The component's own template, that of its type.
    pub fn workload(
        &mut self,
        name: &str,
        r#type: &str,
        template: &str,
        parameter: Option<&Value>,
        actor: &mut dyn Actor,
    ) -> Result<(), Error> {
        let part = Part::Workload(name.to_owned());
        let template = self.templates.template(r#type, template);
        let mut session = self.start(&part, &template, parameter)?;
        if template.acts {
            act(&mut session, actor)?;
        }
        check(&mut session, &part, &template)?;
        self.making.base = self.take(&mut session, "output", "output".into())?;
        if let Some(base) = &mut self.making.base {
            if !base.incomplete.is_empty() {
                let known = std::mem::take(&mut base.incomplete);
                base.incomplete = all_incomplete(&mut session, known)?;
            }
        }
        let wrapper = format!("invalid outputs of workload {name}");
        if template.may_say("outputs") {
            self.outputs(&mut session, AUXILIARY_WORKLOAD, &wrapper)?;
        }
        self.session = Some(session);
        Ok(())
    }

    /// One trait.
    pub fn apply_trait(
        &mut self,
        r#type: &str,
        template: &str,
        parameter: Option<&Value>,
        actor: &mut dyn Actor,
    ) -> Result<(), Error> {
        let part = Part::Trait(r#type.to_owned());
        let template = self.templates.template(r#type, template);
        let mut session = self.start(&part, &template, parameter)?;
        if template.acts {
            act(&mut session, actor)?;
        }
        check(&mut session, &part, &template)?;
        if template.may_say("processing") {
            http(&mut session, actor)?;
        }
        if template.may_say("outputs") {
            let wrapper = format!("invalid outputs of trait {type}", type = r#type);
            self.outputs(&mut session, r#type, &wrapper)?;
        }
        if template.may_say("patch") && has(&mut session, "patch")? {
            let Some(base) = self.making.base.as_mut().filter(|it| it.is_there()) else {
                return Err(Error::Definition(
                    format!("patch trait {type} into an invalid workload", type = r#type),
                ));
            };
            let wrapper = format!("invalid patch trait {type} into workload", type = r#type);
            patch(base, &mut session, "patch", "output", wrapper)?;
        }
        let patches = match template.may_say("patchOutputs") {
            true => fields(&mut session, "patchOutputs")?,
            false => Vec::new(),
        };
        for field in patches {
            for output in self.making.outputs.iter_mut().filter(|it| it.name == field.label) {
                let wrapper = format!("trait={type}, to={to}, invalid patch trait into auxiliary workload", type = r#type, to = field.label);
                patch(&mut output.made, &mut session, &field.path, "outputs", wrapper)?;
            }
        }
        self.session = Some(session);
        Ok(())
    }

    fn outputs(&mut self, session: &mut Session, r#type: &str, wrapper: &str) -> Result<(), Error> {
        let Some(kinds) = fault(session.kinds("outputs"))?.flatten() else { return Ok(()) };
        if kinds.concrete && !kinds.is(Kind::Struct) {
            if r#type == AUXILIARY_WORKLOAD {
                return Err(Error::Patch {
                    wrapper: wrapper.into(),
                    message: "not a struct".into(),
                });
            }
            return Ok(());
        }
        for field in fields(session, "outputs")? {
            let kept_as = format!("outputs {}", self.making.outputs.len());
            let made = self.take(session, &field.path, kept_as)?;
            let made = made.unwrap_or_else(|| Made::here(Value::Null));
            self.making.outputs.push(Entry { r#type: r#type.into(), name: field.label, made });
        }
        Ok(())
    }
}

/// The text of a value, several times as fast as `Display` has it.
pub(super) fn as_json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Only a fault ends rendering; what CUE says is seen by `check`.
fn fault<T>(answer: Result<T, CueError>) -> Result<Option<T>, Error> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(CueError::Fault(fault)) => Err(Error::Fault(fault)),
        Err(CueError::Diagnostics(_)) => Ok(None),
    }
}

fn has(session: &mut Session, path: &str) -> Result<bool, Error> {
    Ok(fault(session.exists(path))?.unwrap_or(true))
}

fn fields(session: &mut Session, path: &str) -> Result<Vec<cue_session::Field>, Error> {
    let all = fault(session.fields(path, FieldSelection::Regular))?.flatten().unwrap_or_default();
    Ok(all
        .into_iter()
        .filter(|it| !it.label.starts_with('_') && !it.label.starts_with('#'))
        .collect())
}

fn read(session: &mut Session, path: &str) -> Result<(Option<Value>, Vec<Diagnostic>), Error> {
    match session.value(path) {
        Ok(value) => Ok((value, Vec::new())),
        Err(CueError::Fault(fault)) => Err(Error::Fault(fault)),
        Err(CueError::Diagnostics(incomplete)) => {
            Ok((fault(session.value_lenient(path))?.flatten(), incomplete))
        }
    }
}

/// Patches what was made by what stands at `path`. A patch that is not complete is told of once nothing
/// can complete it any more.
fn patch(
    made: &mut Made,
    session: &mut Session,
    path: &str,
    root: &str,
    wrapper: String,
) -> Result<(), Error> {
    match made.patch(session, path, root) {
        Ok(()) => Ok(()),
        Err(CueError::Fault(fault)) => Err(Error::Fault(fault)),
        Err(CueError::Diagnostics(all))
            if !all.is_empty() && all.iter().all(|it| it.incomplete) =>
        {
            made.incomplete.extend(all);
            Ok(())
        }
        Err(CueError::Diagnostics(all)) => {
            let text = |it: &Diagnostic| {
                if it.path.is_empty() || it.path == path {
                    it.message.clone()
                } else {
                    format!("{}: {}", it.path, it.message)
                }
            };
            let message = all.iter().map(text).collect::<Vec<_>>().join("; ");
            Err(Error::Patch { wrapper, message })
        }
    }
}

/// Syntax errors end everything; a name or package that is nowhere is an error of the template.
fn refused(part: &Part, spec: &ProgramSpec, diagnostics: Vec<Diagnostic>) -> Error {
    let template = spec.sources.first().map_or("", |it| &*it.text);
    let mut found = Vec::new();
    let mut others = Vec::new();
    let missing = |it: &Diagnostic| missing_package(&it.message).map(str::to_owned);
    let packages: Vec<String> = diagnostics.iter().filter_map(missing).collect();
    for mut it in diagnostics {
        if let Some(package) = missing(&it) {
            for message in [
                format!("builtin package {package:?} undefined"),
                format!("package {package:?} not found"),
            ] {
                found.push(Diagnostic { message, ..it.clone() });
            }
        } else if it.message.starts_with("reference ") && it.message.ends_with(" not found") {
            if packages.iter().any(|package| is_import(template, package, &it.message)) {
                continue;
            }
            if it.path.is_empty() {
                it.path = place::path(template, it.positions.first());
            }
            found.push(it);
        } else {
            others.push(it);
        }
    }
    if others.is_empty() {
        Error::Validation { part: part.clone(), user: Vec::new(), diagnostics: found }
    } else {
        Error::Compile { part: part.clone(), diagnostics: others }
    }
}

/// The package that an error is about, if it is that there is none.
pub(crate) fn missing_package(message: &str) -> Option<&str> {
    let unknown = message
        .strip_prefix("import failed: cannot find package \"")
        .or_else(|| message.strip_suffix(" undefined")?.strip_prefix("builtin package \""))?;
    unknown.split('"').next()
}

/// Whether a reference that is not found is the name of an import: that is said of its package already.
fn is_import(template: &str, package: &str, message: &str) -> bool {
    let Some(name) = message.split('"').nth(1) else { return false };
    let own = package.rsplit([':', '/']).next();
    own == Some(name) || template.contains(&format!("{name} \"{package}\""))
}

/// Everything that is missing, also in the parameters; at least `known`.
fn all_incomplete(session: &mut Session, known: Vec<Diagnostic>) -> Result<Vec<Diagnostic>, Error> {
    let all = match session.validate("", Concreteness::Required) {
        Ok(all) | Err(CueError::Diagnostics(all)) => all,
        Err(CueError::Fault(fault)) => return Err(Error::Fault(fault)),
    };
    Ok(if all.is_empty() { known } else { all })
}

/// The template's own complaints, then CUE's.
fn check(session: &mut Session, part: &Part, template: &Template) -> Result<(), Error> {
    let errs = match template.may_say("errs") {
        true => fault(session.value_lenient("errs"))?.flatten(),
        false => None,
    };
    let user: Vec<String> = errs
        .as_ref()
        .and_then(Value::as_array)
        .map(|all| all.iter().map(|it| it.as_str().unwrap_or_default().to_owned()).collect())
        .unwrap_or_default();
    let validate = |session: &mut Session, how| match session.validate("", how) {
        Ok(all) | Err(CueError::Diagnostics(all)) => Ok(all),
        Err(CueError::Fault(fault)) => Err(Error::Fault(fault)),
    };
    let mut diagnostics = validate(session, Concreteness::Optional)?;
    if !diagnostics.is_empty() {
        diagnostics.extend(validate(session, Concreteness::Required)?);
    }
    if user.is_empty() && diagnostics.is_empty() {
        return Ok(());
    }
    Err(Error::Validation { part: part.clone(), user, diagnostics })
}

/// Carries out every `#do`, in order, until none is left.
fn act(session: &mut Session, actor: &mut dyn Actor) -> Result<(), Error> {
    let mut done = Vec::new();
    while let Some(action) = fault(session.next_action("", &done))?.flatten() {
        if done.len() >= ACTIONS {
            return Err(Error::Action(format!("{}: more than {ACTIONS} actions", action.path)));
        }
        let answer = match pure(session, &action) {
            Some(answer) => answer,
            None => actor.act(&action),
        };
        let answer = answer.map_err(Error::Action)?;
        fault(session.fill(&action.path, Filling::Json(answer.to_string())))?;
        done.push(action.path);
    }
    Ok(())
}

/// Actions that touch nothing: base64, and patches as traits lay them.
fn pure(session: &mut Session, action: &Action) -> Option<Result<Value, String>> {
    let whole: Value = serde_json::from_str(&action.json).unwrap_or_default();
    let params = &whole["$params"];
    let text = params.as_str().unwrap_or_default();
    let result = match (action.provider.as_str(), action.verb.as_str()) {
        ("base64" | "cue", _) if !action.pending.is_empty() => {
            Err(action.pending.first().map(ToString::to_string).unwrap_or_default())
        }
        ("base64", "encode") => Ok(STANDARD.encode(text).into()),
        ("base64", "decode") => match STANDARD.decode(text) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into()),
            Err(error) => Err(error.to_string()),
        },
        ("base64", verb) => Err(format!("base64 has no {verb}")),
        ("cue", "strategyUnify") => {
            let patch = format!("{}.$params.patch", action.path);
            let patched = session.patch(&patch, &params["value"]);
            patched.map(Option::unwrap_or_default).map_err(|error| error.to_string())
        }
        _ => return None,
    };
    let path = &action.path;
    Some(result.map(|it| json!({"$returns": it})).map_err(|error| format!("{path}: {error}")))
}

/// Legacy `processing.http`: the answer's JSON body becomes `processing.output`.
fn http(session: &mut Session, actor: &mut dyn Actor) -> Result<(), Error> {
    if !has(session, "processing.http")? {
        return Ok(());
    }
    let request =
        fault(session.value_lenient("processing.http"))?.flatten().unwrap_or_else(|| json!({}));
    let action = Action {
        path: "processing.http".into(),
        verb: "processing".into(),
        provider: "http".into(),
        json: request.to_string(),
        pending: Vec::new(),
    };
    let body = actor.act(&action).map_err(Error::Action)?;
    fault(session.fill("processing.output", Filling::Json(body.to_string())))?;
    Ok(())
}

/// Why a value is no object of Kubernetes, in its clients' words.
pub fn object_error(value: Option<&Value>) -> Option<String> {
    let kind = |it: &str| {
        Some(format!("json: cannot unmarshal {it} into Go value of type map[string]interface {{}}"))
    };
    match value {
        None => Some("field not found: output".into()),
        Some(Value::Array(_)) => kind("array"),
        Some(Value::String(_)) => kind("string"),
        Some(Value::Number(_)) => kind("number"),
        Some(Value::Bool(_)) => kind("bool"),
        Some(value) => {
            let named = value.get("kind").and_then(Value::as_str).is_some_and(|it| !it.is_empty());
            (!named).then(|| {
                format!("Object 'Kind' is missing in '{}'", crate::revision::canonical::text(value))
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::missing_package;

    /// The words of cue-eval, which tells of packages that are nowhere in two ways (C-20).
    #[test]
    fn missing_packages_are_known_by_their_errors() {
        for (message, package) in [
            ("builtin package \"kube/apps/v1\" undefined", Some("kube/apps/v1")),
            (
                "import failed: cannot find package \"a.b/c\": cannot find module providing package a.b/c",
                Some("a.b/c"),
            ),
            ("reference \"kube\" not found", None),
        ] {
            assert_eq!(missing_package(message), package, "{message}");
        }
    }
}
