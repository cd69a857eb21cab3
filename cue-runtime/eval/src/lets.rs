//! Values of `let`s: they stand in the environment of their literal, and are no fields of its struct.

use crate::error::Kind;
use crate::evaluator::{Evaluator, Value};
use crate::heap::{Conjunct, EnvId, EnvKind, Source, VertexId};
use crate::program::{At, Label};

impl Evaluator {
    /// The name of a `let` whose value a vertex is.
    pub(crate) fn let_name(&self, id: VertexId) -> Option<Label> {
        // It begins as what is written, where the others of its struct are.
        let Source::Expr(value, env) = self.heap.get(id).conjuncts.first()?.source() else {
            return None;
        };
        let EnvKind::Struct(_, lets, literal) = self.heap.envs[env].kind else {
            return None;
        };
        let all = &self.program.structs[literal as usize].lets;
        let index = all.binary_search_by_key(&value, |it| it.value).ok()?;
        (self.heap.envs.lets(lets)[index] == Some(id)).then(|| all[index].name)
    }

    /// The value of a `let` of the literal that is so far out.
    pub(crate) fn let_value(&mut self, up: u32, index: u32, env: EnvId) -> Value {
        let env = self.env_up(env, up);
        let EnvKind::Struct(vertex, lets, literal) = self.heap.envs[env].kind else {
            return Value::Fault(self.fail(Kind::Permanent, "let out of scope", At::default()));
        };
        let index = index as usize;
        if let Some(Some(known)) = self.heap.envs.lets(lets).get(index) {
            return Value::Vertex(*known);
        }
        let value = self.program.structs[literal as usize].lets[index].value;
        let id = self.heap.vertex(Some(vertex), None);
        let mut conjunct = Conjunct::new(Source::Expr(value, env));
        if let Some((cycle, way)) = self.let_ways.get(&env) {
            (conjunct.cycle, conjunct.way) = (*cycle, *way);
        }
        self.heap.get_mut(id).conjuncts.push(conjunct);
        self.heap.envs.lets_mut(lets)[index] = Some(id);
        Value::Vertex(id)
    }
}
