//! Carries out calls: the one thing that runs both natively and inside the sandbox.

use std::sync::Arc;

use cue_eval::builtin::{Datum, Kinds as EvalKinds};
use cue_eval::heap::VertexId;
use cue_eval::{
    Addition, Budget as EvalBudget, Evaluation, LabelKind, LoadError, Presence as EvalPresence,
    Program, Show, Simplified, Source, Style, compile, evaluation,
};
use cue_map::Map;
use cue_patch::{Mode, Tree};

use crate::actions::Agenda;
use crate::protocol::{
    Answer, Base, Budget, Call, Composition, Concreteness, Diagnostic, Effort, Field,
    FieldSelection, Filling, Given, Input, Kind, Kinds, PatchForm, PatchMode, Position, Presence,
    ProgramKey, ProgramSpec, Shown, SyntaxStyle,
};
use crate::schema;
use crate::session::Program as Named;

/// Programs one machine keeps.
const PROGRAMS: usize = 256;

/// An interpreter with its compiled programs and at most one session.
#[derive(Default)]
pub struct Machine {
    programs: Map<ProgramKey, Arc<Program>>,
    session: Option<State>,
    /// Values for sessions that follow, by name.
    kept: Map<String, Kept>,
}

/// A value for sessions that follow.
struct Kept {
    datum: Datum,
    /// The same as patches see it, if one made it.
    tree: Option<Tree>,
}

/// A session: a program, what was added to it, and the evaluation while nothing more is added.
struct State {
    program: Arc<Program>,
    additions: Vec<(String, Addition)>,
    budget: Budget,
    evaluation: Option<Evaluation>,
    agenda: Agenda,
}

impl State {
    /// One more addition: what was evaluated stays, but for what that concerns.
    fn add(&mut self, (path, addition): (String, Addition)) {
        let running = self.evaluation.as_mut().filter(|it| it.runs(&self.program));
        let changed = running.and_then(|it| it.refill(&path, &addition));
        self.agenda.changed(changed.as_deref());
        if changed.is_none() {
            self.evaluation = None;
        }
        self.additions.push((path, addition));
    }
}

impl Machine {
    /// Without programs and without a session.
    #[must_use]
    pub const fn new() -> Self {
        Self { programs: Map::new(), session: None, kept: Map::new() }
    }

    /// Carry out one call.
    pub fn call(&mut self, call: &Call) -> Answer {
        let answer = self.answer(call);
        let evaluation = self.session.as_mut().and_then(|it| it.evaluation.as_mut());
        let left_out = |it: &mut Evaluation| it.unread().or_else(|| it.unwritten());
        match (answer, evaluation.and_then(left_out)) {
            (Ok(_), Some(wrong)) => Answer::Diagnostics(diagnostics(vec![wrong])),
            (Ok(answer), None) => answer,
            (Err(all), _) => Answer::Diagnostics(all),
        }
    }

    fn answer(&mut self, call: &Call) -> Result<Answer, Vec<Diagnostic>> {
        match call {
            Call::Compile(spec) => self.compile(spec).map(Answer::Program),
            Call::Start { program, inputs, budget } => self.start(program, inputs, *budget),
            Call::End => {
                self.session = None;
                self.kept.clear();
                Ok(Answer::Done)
            }
            Call::Exists(path) => {
                let it = self.evaluation()?;
                Ok(Answer::Yes(find(it, path)?.is_some()))
            }
            Call::IsMember(path) => {
                let there = self.evaluation()?.is_member(path);
                Ok(Answer::Yes(there.map_err(|wrong| diagnostics(vec![wrong]))?))
            }
            Call::Kinds(path) => {
                let it = self.evaluation()?;
                let found = find(it, path)?;
                Ok(Answer::Kinds(found.map(|id| kinds(it, id))))
            }
            Call::Json(path) => {
                let it = self.evaluation()?;
                let Some(id) = find(it, path)? else { return Ok(Answer::Text(None)) };
                let datum = it.datum(id).map_err(diagnostics)?;
                Ok(Answer::Text(Some(evaluation::print_json(&datum))))
            }
            Call::JsonLenient(path) => {
                let it = self.evaluation()?;
                let Some(id) = find(it, path)? else { return Ok(Answer::Text(None)) };
                whole(it, |it| {
                    let datum = it.lenient(id);
                    Ok(Answer::Text(datum.map(|datum| evaluation::print_json(&datum))))
                })
            }
            Call::Yaml { path, within } => {
                let it = self.evaluation()?;
                let Some(id) = find(it, path)? else { return Ok(Answer::Text(None)) };
                let text = it.yaml(id, within).map_err(diagnostics)?;
                Ok(Answer::Text(Some(text)))
            }
            Call::Keep { path, name } => {
                let it = self.evaluation()?;
                let Some(id) = find(it, path)? else { return Ok(Answer::Yes(false)) };
                let datum = it.datum(id).map_err(diagnostics)?.into_json();
                self.kept.insert(name.clone(), Kept { datum, tree: None });
                Ok(Answer::Yes(true))
            }
            Call::Kept(name) => {
                let kept = self.kept.get(name);
                Ok(Answer::Text(kept.map(|it| evaluation::print_json(&it.datum))))
            }
            Call::Fields(path, which) => {
                let it = self.evaluation()?;
                let Some(id) = find(it, path)? else { return Ok(Answer::Fields(None)) };
                whole(it, |it| Ok(Answer::Fields(fields(it, id, path, *which))))
            }
            Call::Fill(path, filling) => self.fill(path, filling),
            Call::NextAction { below, known, done } => {
                let (it, agenda) = self.evaluation_and_agenda()?;
                agenda.carried_out(*known, done);
                agenda.next(it, below).map(Answer::Action)
            }
            Call::Syntax(path, style) => {
                let it = self.evaluation()?;
                let Some(id) = find(it, path)? else { return Ok(Answer::Text(None)) };
                whole(it, |it| Ok(Answer::Text(Some(written(it, id, path, style)?))))
            }
            Call::Validate(path, how) => {
                let it = self.evaluation()?;
                let Some(id) = find(it, path)? else { return Ok(Answer::Done) };
                let found = it.validate(id, (*how).into());
                if found.is_empty() { Ok(Answer::Done) } else { Err(diagnostics(found)) }
            }
            Call::Survey(path, how, effort) => self.survey(path, *how, *effort),
            Call::Patch { path, base, mode, form } => self.patch(path, base, *mode, *form),
            Call::Composition(path) => {
                let it = self.evaluation()?;
                let Some(id) = find(it, path)? else { return Ok(Answer::Composition(None)) };
                whole(it, |it| Ok(Answer::Composition(Some(composition(it, id)))))
            }
            Call::Schemas(path) => {
                let it = self.evaluation()?;
                let Some(id) = find(it, path)? else { return Ok(Answer::Text(None)) };
                Ok(Answer::Text(Some(it.schemas(id).map_err(diagnostics)?)))
            }
            Call::Schema(path) => {
                let it = self.evaluation()?;
                let Some(id) = find(it, path)? else { return Ok(Answer::Text(None)) };
                let schema = schema::of(it, id).to_string();
                // Whatever was not evaluated would read as if it could be anything.
                match it.spent() {
                    Some(spent) => Err(diagnostics(vec![spent])),
                    None => Ok(Answer::Text(Some(schema))),
                }
            }
        }
    }

    fn compile(&mut self, spec: &ProgramSpec) -> Result<ProgramKey, Vec<Diagnostic>> {
        let key = Named::new(spec.clone()).key;
        if self.programs.contains_key(&key) {
            return Ok(key);
        }
        let sources = |all: &[crate::protocol::Source]| -> Vec<Source> {
            all.iter().map(Source::from).collect()
        };
        let packages: Vec<(String, Vec<Source>)> =
            spec.packages.iter().map(|it| (it.path.clone(), sources(&it.sources))).collect();
        let program = compile(&sources(&spec.sources), &packages, spec.profile.into())
            .map_err(load_errors)?;
        if self.programs.len() >= PROGRAMS {
            self.programs.clear();
        }
        self.programs.insert(key, Arc::new(program));
        Ok(key)
    }

    fn start(
        &mut self,
        key: &ProgramKey,
        inputs: &[Input],
        budget: Budget,
    ) -> Result<Answer, Vec<Diagnostic>> {
        let Some(mut program) = self.programs.get(key).cloned() else {
            return Ok(Answer::UnknownProgram);
        };
        let mut before = self.session.take().map(|it| it.additions).unwrap_or_default();
        let mut additions: Vec<(String, Addition)> = Vec::with_capacity(inputs.len());
        for Input { path, value } in inputs {
            let none = |what| vec![plain("cue/session", &format!("{what} to be used again"), path)];
            let addition = match value {
                Given::Json(text) => json(&mut program, path, text)?,
                Given::Kept(name) => {
                    let kept = self.kept.get(name).ok_or_else(|| none("nothing was kept"))?;
                    (path.clone(), Addition::Data(kept.datum.clone()))
                }
                Given::Again => {
                    let at = before.iter().position(|it| it.0 == *path);
                    before.swap_remove(at.ok_or_else(|| none("there was no input"))?)
                }
            };
            if let Some(addition) = beside(&mut additions, addition) {
                additions.push(addition);
            }
        }
        let agenda = Agenda::default();
        self.session = Some(State { program, additions, budget, evaluation: None, agenda });
        Ok(Answer::Done)
    }

    fn evaluation(&mut self) -> Result<&mut Evaluation, Vec<Diagnostic>> {
        self.evaluation_and_agenda().map(|it| it.0)
    }

    fn evaluation_and_agenda(&mut self) -> Result<(&mut Evaluation, &mut Agenda), Vec<Diagnostic>> {
        let Some(state) = &mut self.session else {
            return Err(vec![plain("cue/session", "no session was started", "")]);
        };
        let evaluation = state.evaluation.get_or_insert_with(|| {
            let budget = EvalBudget {
                ticks: state.budget.ticks,
                depth: state.budget.depth.min(DEPTH),
                bytes: state.budget.bytes,
            };
            Evaluation::start(state.program.clone(), &state.additions, budget)
        });
        Ok((evaluation, &mut state.agenda))
    }

    fn survey(
        &mut self,
        path: &str,
        how: Concreteness,
        effort: Effort,
    ) -> Result<Answer, Vec<Diagnostic>> {
        let it = self.evaluation()?;
        let Some(id) = find(it, path)? else { return Ok(Answer::Done) };
        let Some(found) = it.survey(id, how.into(), (effort.ticks, effort.bytes)) else {
            if let Some(state) = &mut self.session {
                state.evaluation = None;
            }
            return Ok(Answer::Done);
        };
        if found.is_empty() { Ok(Answer::Done) } else { Err(diagnostics(found)) }
    }

    fn fill(&mut self, path: &str, filling: &Filling) -> Result<Answer, Vec<Diagnostic>> {
        let Some(state) = &mut self.session else {
            return Err(vec![plain("cue/session", "no session was started", "")]);
        };
        let addition = match (filling, &mut state.evaluation) {
            (Filling::Json(text), _) => json(&mut state.program, path, text)?,
            // The path is part of what is compiled.
            (Filling::Cue(text), Some(it)) => {
                let added = it.extend(&mut state.program, path, text);
                (String::new(), added.map_err(load_errors)?)
            }
            (Filling::Cue(text), None) => {
                let program = Program::own(&mut state.program);
                let added = evaluation::compile_addition(program, path, text);
                (String::new(), added.map_err(load_errors)?)
            }
        };
        state.add(addition);
        Ok(Answer::Done)
    }

    fn patch(
        &mut self,
        path: &str,
        base: &Base,
        mode: PatchMode,
        form: PatchForm,
    ) -> Result<Answer, Vec<Diagnostic>> {
        let name = match base {
            Base::Kept(name) => Some(name),
            Base::Json(_) | Base::Cue(_) => None,
        };
        let base = match base {
            Base::Json(text) => serde_json::from_str(text)
                .map(|value| Tree::from_json(&value))
                .map_err(|error| vec![plain("cue/patch", &error.to_string(), path)])?,
            Base::Cue(text) => {
                let mut it = alone(text)?;
                let Some(root) = find(&mut it, "")? else { return Ok(Answer::Text(None)) };
                crate::tree::of(&mut it, root)
            }
            Base::Kept(name) => match self.kept.get_mut(name) {
                Some(it) => it.tree.take().unwrap_or_else(|| crate::tree::of_datum(&it.datum)),
                None => return Err(vec![plain("cue/patch", "nothing was kept", name)]),
            },
        };
        let it = self.evaluation()?;
        let Some(id) = find(it, path)? else {
            return Ok(match name {
                Some(_) => Answer::Yes(false),
                None => Answer::Text(None),
            });
        };
        let docs = it.comments(path);
        let patch = crate::tree::of(it, id);
        let failed = |error: cue_patch::Error| {
            let error = match error {
                cue_patch::Error::NotData(what) if !path.is_empty() => {
                    cue_patch::Error::NotData(format!("{path}: {what}"))
                }
                other => other,
            };
            vec![plain("cue/patch", &error.to_string(), path)]
        };
        let mode = match mode {
            PatchMode::Marked => Mode::of(&docs),
            PatchMode::JsonPatch => Mode::JsonPatch,
            PatchMode::JsonMergePatch => Mode::JsonMergePatch,
        };
        let result = cue_patch::patch(base, patch, mode).map_err(failed)?;
        if let Some(name) = name {
            let kept = match crate::tree::datum(&result) {
                Some(datum) => {
                    let mut tree = result;
                    Kept { datum, tree: tree.strip().is_ok().then_some(tree) }
                }
                None => {
                    let text = data(&result)?;
                    let datum = evaluation::parse_json(&text)
                        .map_err(|it| vec![plain("cue/json", &it, path)])?;
                    Kept { datum, tree: None }
                }
            };
            self.kept.insert(name.clone(), kept);
            return Ok(Answer::Yes(true));
        }
        if form == PatchForm::Cue {
            let mut result = result;
            if !result.is_ground() {
                // Two texts that both must hold are one value once they are evaluated.
                let mut it = alone(&result.to_cue())?;
                if let Some(root) = find(&mut it, "")? {
                    result = crate::tree::of(&mut it, root);
                }
            }
            return Ok(Answer::Text(Some(result.to_cue_fields())));
        }
        data(&result).map(|text| Answer::Text(Some(text)))
    }
}

/// Nesting of evaluations: what the stack of a sandbox allows.
const DEPTH: u32 = 10_000;

/// What `ask` tells, unless the budget is used up by asking: cut short, it would read as if it were all.
fn whole(
    it: &mut Evaluation,
    ask: impl FnOnce(&mut Evaluation) -> Result<Answer, Vec<Diagnostic>>,
) -> Result<Answer, Vec<Diagnostic>> {
    let before = it.spent().is_some();
    let answer = ask(it)?;
    match it.spent().filter(|_| !before) {
        Some(spent) => Err(diagnostics(vec![spent])),
        None => Ok(answer),
    }
}

/// A value as CUE text.
fn written(
    it: &mut Evaluation,
    id: VertexId,
    path: &str,
    style: &SyntaxStyle,
) -> Result<String, Vec<Diagnostic>> {
    it.simplify(match style {
        SyntaxStyle::Simplified | SyntaxStyle::EvalWith(Shown { simplified: true, .. }) => {
            Simplified::Yes
        }
        SyntaxStyle::Eval
        | SyntaxStyle::EvalWith(_)
        | SyntaxStyle::Final
        | SyntaxStyle::Exported
        | SyntaxStyle::Brief
        | SyntaxStyle::Definition => Simplified::No,
    });
    let style = match style {
        SyntaxStyle::Eval => Style::Eval,
        SyntaxStyle::EvalWith(shown) => {
            let unmet = if shown.wrong { Ok(None) } else { it.unmet(id) };
            return Ok(match unmet.map_err(diagnostics)? {
                Some(wrong) => format!("_|_ // {}: {}\n", wrong.path, wrong.message),
                None => it.shown(id, parts(*shown)),
            });
        }
        SyntaxStyle::Final => Style::Final,
        SyntaxStyle::Brief => return Ok(it.short(id)),
        SyntaxStyle::Exported => return Ok(it.shown(id, Show::new(Style::Final, Show::DOCS))),
        SyntaxStyle::Definition | SyntaxStyle::Simplified if path.is_empty() => {
            return Ok(it.definition());
        }
        SyntaxStyle::Definition | SyntaxStyle::Simplified => Style::Definition,
    };
    Ok(it.syntax(id, style))
}

/// How a value is put together.
fn composition(it: &mut Evaluation, id: VertexId) -> Composition {
    let numbers = |all: Vec<VertexId>| all.into_iter().map(VertexId::number).collect();
    let told = it.composition(id);
    let kinds = if it.error(id).is_some() { Kinds::default() } else { kinds(it, id) };
    Composition {
        operator: told.operator.into(),
        operands: numbers(told.operands),
        name: told.name,
        labels: told.labels,
        patterns: numbers(told.patterns),
        rest: told.rest.map(VertexId::number),
        open: told.open,
        closed: told.closed,
        docs: told.docs,
        kinds,
    }
}

/// What is shown of a value, as the evaluator counts it.
fn parts(shown: Shown) -> Show {
    let Shown { hidden, optional, attributes, wrong: _, concrete, apart, file, simplified: _ } =
        shown;
    let more = [
        (!concrete, Show::DEFINITIONS),
        (hidden && !concrete, Show::HIDDEN),
        (optional, Show::OPTIONAL),
        (attributes, Show::ATTRIBUTES),
        (apart, Show::APART),
        (file, Show::FILE),
    ];
    Show::new(Style::Eval, more.iter().filter(|it| it.0).fold(0, |all, it| all | it.1))
}

/// Puts data into an earlier input that stands above it; gives back what stands alone.
fn beside(
    earlier: &mut [(String, Addition)],
    (path, addition): (String, Addition),
) -> Option<(String, Addition)> {
    let Addition::Data(datum) = addition else { return Some((path, addition)) };
    for (above, whole) in earlier {
        let Addition::Data(whole @ Datum::Struct(_)) = whole else { continue };
        let Some(below) = path.strip_prefix(above.as_str()) else { continue };
        let Ok(parts) = evaluation::split_path(below.strip_prefix('.').unwrap_or(below)) else {
            continue;
        };
        let apart = !below.starts_with('.') && !above.is_empty();
        if below.is_empty() || apart || parts.iter().any(|it| it.0 != LabelKind::Regular) {
            continue;
        }
        let labels: Vec<&str> = parts.iter().map(|it| &*it.1).collect();
        whole.put(&labels, datum);
        return None;
    }
    Some((path, Addition::Data(datum)))
}

/// A patched value as JSON; what only the evaluator understands is evaluated.
fn data(result: &Tree) -> Result<String, Vec<Diagnostic>> {
    result.json_text().map_or_else(|| evaluate(&result.to_cue()), Ok)
}

/// Text on its own.
fn alone(text: &str) -> Result<Evaluation, Vec<Diagnostic>> {
    let program = evaluation::compile_text(text).map_err(load_errors)?;
    let budget = EvalBudget { ticks: 1_000_000, depth: DEPTH, bytes: 200 << 20 };
    Ok(Evaluation::start(Arc::new(program), &[], budget))
}

/// Evaluates text on its own, to JSON.
fn evaluate(text: &str) -> Result<String, Vec<Diagnostic>> {
    let mut it = alone(text)?;
    let Some(root) = find(&mut it, "")? else { return Ok("null".into()) };
    let datum = it.datum(root).map_err(diagnostics)?;
    Ok(evaluation::print_json(&datum))
}

fn json(
    program: &mut Arc<Program>,
    path: &str,
    text: &str,
) -> Result<(String, Addition), Vec<Diagnostic>> {
    evaluation::json_addition(program, path, text)
        .map_err(|message| vec![plain("cue/json", &message, path)])
}

fn plain(code: &str, message: &str, path: &str) -> Diagnostic {
    Diagnostic {
        code: code.into(),
        message: message.into(),
        path: path.into(),
        positions: Vec::new(),
        incomplete: false,
        hints: Vec::new(),
    }
}

pub(crate) fn find(it: &mut Evaluation, path: &str) -> Result<Option<VertexId>, Vec<Diagnostic>> {
    it.find(path).map_err(|wrong| diagnostics(vec![wrong]))
}

pub(crate) fn diagnostics(all: Vec<cue_eval::Diagnostic>) -> Vec<Diagnostic> {
    all.into_iter().map(diagnostic).collect()
}

fn diagnostic(it: cue_eval::Diagnostic) -> Diagnostic {
    let position = |(file, line, column)| Position { file, line, column };
    Diagnostic {
        code: it.kind.code().into(),
        message: it.message,
        path: it.path,
        positions: it.positions.into_iter().map(position).collect(),
        incomplete: it.kind.is_incomplete(),
        hints: Vec::new(),
    }
}

fn load_errors(all: Vec<LoadError>) -> Vec<Diagnostic> {
    all.into_iter()
        .map(|it| {
            let (file, line, column) = it.position;
            Diagnostic {
                positions: vec![Position { file, line, column }],
                ..plain("cue/load", &it.message, &it.path)
            }
        })
        .collect()
}

pub(crate) fn kinds(it: &mut Evaluation, id: VertexId) -> Kinds {
    let (kinds, concrete) = it.kinds(id);
    let all = [
        (EvalKinds::NULL, Kind::Null),
        (EvalKinds::BOOL, Kind::Bool),
        (EvalKinds::INT, Kind::Int),
        (EvalKinds::FLOAT, Kind::Float),
        (EvalKinds::STRING, Kind::String),
        (EvalKinds::BYTES, Kind::Bytes),
        (EvalKinds::STRUCT, Kind::Struct),
        (EvalKinds::LIST, Kind::List),
    ];
    let any_of = all.into_iter().filter(|(bit, _)| kinds.meets(*bit)).map(|it| it.1).collect();
    Kinds { concrete, any_of }
}

fn fields(
    it: &mut Evaluation,
    id: VertexId,
    path: &str,
    which: FieldSelection,
) -> Option<Vec<Field>> {
    let list = it.is_list(id);
    let members = it.members(id)?;
    let mut out = Vec::with_capacity(members.len());
    for (member, vertex) in members {
        let data = matches!(member.label_kind, LabelKind::Regular | LabelKind::Index);
        let there = member.presence == EvalPresence::Member;
        if which == FieldSelection::Regular && !(data && there) {
            continue;
        }
        let below = if list {
            format!("{path}[{}]", member.label)
        } else if path.is_empty() {
            member.selector.clone()
        } else {
            format!("{path}.{}", member.selector)
        };
        out.push(Field {
            label: member.label,
            path: below,
            presence: match member.presence {
                EvalPresence::Optional => Presence::Optional,
                EvalPresence::Required => Presence::Required,
                EvalPresence::Member => Presence::Member,
            },
            kinds: kinds(it, vertex),
            doc: member.docs,
            attributes: member.attributes,
        });
    }
    Some(out)
}
