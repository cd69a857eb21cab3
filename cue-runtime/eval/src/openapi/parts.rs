//! What a value is written as: references, which have schemas of their own, and the rest.

use crate::builtin::{CallError, Datum};
use crate::heap::{EnvId, EnvKind, Source, VertexId};
use crate::openapi::Document;
use crate::program::{Callee, Code, Declaration, ExprId, LabelKind};

/// A part of a value.
pub(super) enum Part {
    /// A reference to a place in the document's instance, or to a type that every document knows.
    Named(String, Option<VertexId>),
    /// A struct literal: what it declares itself, by the environment of its fields.
    Literal(EnvId),
    /// Alternatives as they are written, which are marked, and the disjunction as a value.
    Choice(Vec<(VertexId, bool)>, VertexId),
    /// What has to be evaluated.
    Value(VertexId),
}

impl Document<'_> {
    /// The name of a value that is a reference and nothing else.
    pub(super) fn only_reference(&mut self, id: VertexId) -> Option<Part> {
        let [conjunct] = self.it.heap.get(id).conjuncts.as_slice() else { return None };
        let Source::Expr(expr, env) = conjunct.source() else { return None };
        let target = self.target(expr, env)?;
        let name = self.name_of(target).ok()??;
        Some(Part::Named(name, Some(target)))
    }

    /// The parts of a value, those that a literal embeds before it.
    pub(super) fn parts(&mut self, id: VertexId) -> Result<Vec<Part>, CallError> {
        let mut parts = Vec::new();
        let sources: Vec<Source> =
            self.it.heap.get(id).conjuncts.iter().map(|it| it.source()).collect();
        for source in sources {
            match source {
                // What a literal embeds is a conjunct too, in its environment.
                Source::Expr(_, env) if self.it.is_within(env, id) => {}
                Source::Expr(expr, env) => self.split(id, expr, env, &mut parts)?,
                Source::Data(datum) => {
                    let datum = self.it.heap.data(datum).clone();
                    parts.push(Part::Value(self.it.datum_vertex(datum)));
                }
                Source::Vertex(of) => match self.it.heap.get(of).label {
                    Some(_) => parts.push(Part::Value(of)),
                    None => parts.extend(self.parts(of)?),
                },
            }
        }
        Ok(parts)
    }

    fn split(
        &mut self,
        id: VertexId,
        expr: ExprId,
        env: EnvId,
        parts: &mut Vec<Part>,
    ) -> Result<(), CallError> {
        match self.it.program.code(expr).clone() {
            Code::Unify(left, right) => {
                self.split(id, left, env, parts)?;
                self.split(id, right, env, parts)
            }
            Code::Struct(literal) => {
                let Some(inner) = self.environment(id, literal, env) else {
                    parts.push(Part::Value(self.it.apart(id, expr, env)));
                    return Ok(());
                };
                let program = self.it.program.clone();
                let declarations = &program.structs[literal as usize].declarations;
                for declaration in declarations {
                    if let Declaration::Embed(embed) = declaration {
                        self.split(id, *embed, inner, parts)?;
                    }
                }
                parts.push(Part::Literal(inner));
                Ok(())
            }
            Code::Disjoin(_) => {
                let mut all = Vec::new();
                self.written(id, (expr, false), env, &mut all);
                let whole = self.it.apart(id, expr, env);
                parts.push(Part::Choice(all, whole));
                Ok(())
            }
            Code::Function(Callee::Package(it))
                if it.package() == "time" && it.function().name == "Duration" =>
            {
                parts.push(Part::Named(it.function().name.into(), None));
                Ok(())
            }
            Code::Field { .. } | Code::Select(..) | Code::Index(..) => {
                let found = self.target(expr, env);
                let part = match found.map(|target| (target, self.name_of(target))) {
                    Some((target, Ok(Some(name)))) => Part::Named(name, Some(target)),
                    Some((_, Err(error))) => return Err(error),
                    Some((_, Ok(None))) | None => Part::Value(self.it.apart(id, expr, env)),
                };
                parts.push(part);
                Ok(())
            }
            _ => {
                parts.push(Part::Value(self.it.apart(id, expr, env)));
                Ok(())
            }
        }
    }

    /// Alternatives as they are written, those of a disjunction in one of them among them; without
    /// those that cannot be.
    fn written(
        &mut self,
        id: VertexId,
        (expr, marked): (ExprId, bool),
        env: EnvId,
        all: &mut Vec<(VertexId, bool)>,
    ) {
        if let Code::Disjoin(alternatives) = self.it.program.code(expr).clone() {
            for (alternative, own) in alternatives.iter() {
                self.written(id, (*alternative, marked || *own), env, all);
            }
            return;
        }
        let vertex = self.it.apart(id, expr, env);
        if self.it.unifies(vertex, id) {
            all.push((vertex, marked));
        }
    }

    /// The environment of a literal's fields where it is part of a value.
    fn environment(&self, id: VertexId, literal: u32, env: EnvId) -> Option<EnvId> {
        let real = self.it.follow(id);
        let envs = &self.it.heap.envs;
        let is_it = |at: &usize| {
            let own = matches!(envs[EnvId::at(*at)].kind, EnvKind::Struct(vertex, _, of)
                if of == literal && (vertex == real || vertex == id));
            own && envs[EnvId::at(*at)].parent == Some(env)
        };
        (0..envs.len()).rev().find(is_it).map(EnvId::at)
    }

    /// The place that a reference leads to; none if it is no path of fields.
    fn target(&mut self, expr: ExprId, env: EnvId) -> Option<VertexId> {
        match self.it.program.code(expr).clone() {
            Code::Field { up, label } => {
                let outer = self.it.env_up(env, up);
                let EnvKind::Struct(vertex, ..) = self.it.heap.envs[outer].kind else {
                    return None;
                };
                let real = self.it.unify(vertex);
                let arc = self.it.heap.arc(vertex, label).or_else(|| self.it.heap.arc(real, label));
                arc.map(|it| it.vertex)
            }
            Code::Select(operand, label) => {
                let base = self.target(operand, env)?;
                let real = self.it.unify(base);
                self.it.heap.arc(real, label).map(|it| it.vertex)
            }
            Code::Index(operand, index) => {
                let base = self.target(operand, env)?;
                let real = self.it.unify(base);
                let label = match self.it.program.code(index).clone() {
                    Code::Scalar(Datum::String(name)) => {
                        self.it.labels.intern(LabelKind::Regular, &name)
                    }
                    Code::Scalar(Datum::Number(number)) => {
                        self.it.labels.index(usize::try_from(number.to_i64()?).ok()?)
                    }
                    _ => return None,
                };
                self.it.heap.arc(real, label).map(|it| it.vertex)
            }
            _ => None,
        }
    }

    /// The name of a place's schema: its path without marks; none if it has no path.
    fn name_of(&self, target: VertexId) -> Result<Option<String>, CallError> {
        let mut labels = Vec::new();
        let mut next = target;
        while next != self.it.root {
            let vertex = self.it.heap.get(next);
            let (Some(label), Some(parent)) = (vertex.label, vertex.parent) else {
                return Ok(None);
            };
            let name = self.it.labels.name(label);
            match self.it.labels.kind(label) {
                LabelKind::Regular => labels.push(name.to_string()),
                LabelKind::Definition => labels.push(name.trim_start_matches('#').to_owned()),
                LabelKind::Hidden | LabelKind::HiddenDefinition => {
                    return Err(CallError::permanent("unreachable HiddenLabel"));
                }
                LabelKind::Index => return Err(CallError::permanent("unreachable IndexLabel")),
            }
            next = parent;
        }
        labels.reverse();
        Ok(Some(labels.join(".")).filter(|it| !it.is_empty()))
    }

    /// Which of several literals of one value an environment belongs to.
    pub(super) fn owner(&self, env: EnvId, literals: &[EnvId]) -> Option<EnvId> {
        let mut next = Some(env);
        while let Some(env) = next {
            if literals.contains(&env) {
                return Some(env);
            }
            next = self.it.heap.envs[env].parent;
        }
        None
    }
}
