//! Choices that are decided before any alternative is tried: among several disjunctions of one value,
//! `{t: "a"} | {t: "b"}` beside `t: "b"` is `{t: "b"}`, and `{x: int} | {y: int}` in a closed struct
//! beside `y: 1` is `{y: int}`, if nothing else allows `y`. Without it they multiply.

use cue_map::Map;

use crate::evaluator::Evaluator;
use crate::heap::{ArcEntry, Disjunction, EnvId, EnvKind, Source, State, VertexId};
use crate::program::{Code, DeclLabel, Declaration, ExprId, Label, Presence};
use crate::untried::multiply;
use crate::work::Work;

/// An alternative: its number among the others, and what it says.
type Pick = (u32, ExprId);

impl Evaluator {
    /// Of many, takes the alternative that is left of each disjunction whose others contradict a written
    /// scalar of a field, or do not name a field that only this disjunction can allow; true if there was
    /// one. A few are tried as a whole, so that all their errors are told; where there are marks, all of
    /// them must be decided, since what is left of one counts for the others (D-2).
    pub(crate) fn narrow_choices(&mut self, id: VertexId, work: &mut Work) -> bool {
        if work.disjunctions.len() < 2 || !multiply(&work.disjunctions) {
            return false;
        }
        let marked = work.disjunctions.iter().any(|it| it.marks.contains(&true));
        let needed = self.needed(id, work);
        let only = |(at, it): (usize, &Disjunction)| {
            self.only_alternative(id, it, needed.get(at).map_or(&[], |it| it))
        };
        let picks: Vec<Option<Pick>> = work.disjunctions.iter().enumerate().map(only).collect();
        if picks.iter().all(Option::is_none) || marked && picks.contains(&None) {
            return false;
        }
        for (disjunction, pick) in std::mem::take(&mut work.disjunctions).into_iter().zip(picks) {
            let Some((pick, alternative)) = pick else {
                work.disjunctions.push(disjunction);
                continue;
            };
            let default = disjunction.marks.get(pick as usize) == Some(&true);
            let vertex = self.heap.get_mut(id);
            vertex.demoted |= disjunction.marks.contains(&true) && !default;
            self.heap.pick_more(id, &[(disjunction.expr, pick)]);
            for conjunct in disjunction.sources.into_iter().rev() {
                let Source::Expr(_, env) = conjunct.source() else { continue };
                work.conjuncts.push(conjunct.alternative(alternative, env));
            }
        }
        true
    }

    /// For each disjunction the fields that are there, that a closed struct has no place for (C-23), and
    /// that an alternative of this one names, but none of another one.
    fn needed(&mut self, id: VertexId, work: &Work) -> Vec<Vec<Label>> {
        let still = work.computed.is_empty()
            && work.held.is_empty()
            && work.waiting.is_empty()
            && work.parked.is_empty();
        if !still || self.heap.get(id).closing.is_empty() {
            return Vec::new();
        }
        // Which disjunction names a field: many, if there is more than one.
        const MANY: u32 = u32::MAX;
        let mut named: Map<Label, u32> = Map::default();
        for (at, disjunction) in work.disjunctions.iter().enumerate() {
            for alternative in self.alternatives(disjunction) {
                let Some(declarations) = self.declarations(alternative, disjunction) else {
                    return Vec::new();
                };
                for declaration in declarations {
                    let Some(label) = fixed(declaration) else { return Vec::new() };
                    let by = named.entry(label).or_insert(at as u32);
                    *by = if *by == at as u32 { *by } else { MANY };
                }
            }
        }
        let mut needed = vec![Vec::new(); work.disjunctions.len()];
        for label in self.refused_fields(id) {
            let by = named.get(&label).copied().unwrap_or(MANY);
            if let Some(needed) = needed.get_mut(by as usize) {
                needed.push(label);
            }
        }
        needed
    }

    /// Its alternatives as they are written.
    pub(crate) fn alternatives(&self, disjunction: &Disjunction) -> impl Iterator<Item = ExprId> {
        let all = match self.program.code(disjunction.expr) {
            Code::Disjoin(all) => Some(&**all),
            _ => None,
        };
        all.into_iter().flatten().map(|it| it.0)
    }

    /// What an alternative declares that is a struct literal, or the name of one.
    pub(crate) fn declarations(&self, expr: ExprId, of: &Disjunction) -> Option<&[Declaration]> {
        let mut expr = expr;
        if matches!(self.program.code(expr), Code::Field { .. }) {
            // Before that is done there may be more to come.
            let (vertex, arc) = self.named_field(expr, of)?;
            let [conjunct] = self.heap.get(arc.vertex).conjuncts.as_slice() else { return None };
            let Source::Expr(named, _) = conjunct.source() else { return None };
            if self.heap.get(vertex).state != State::Done || arc.presence != Presence::Member {
                return None;
            }
            expr = named;
        }
        let Code::Struct(literal) = self.program.code(expr) else { return None };
        Some(&self.program.structs[*literal as usize].declarations)
    }

    /// The field that an alternative is the name of, and what has it.
    pub(crate) fn named_field(
        &self,
        expr: ExprId,
        of: &Disjunction,
    ) -> Option<(VertexId, &ArcEntry)> {
        self.field_named((expr, of.env()?), 0)
    }

    /// The field that an expression is the name of, so many environments further in than this one, and what has it.
    pub(crate) fn field_named(
        &self,
        (expr, env): (ExprId, EnvId),
        within: u32,
    ) -> Option<(VertexId, &ArcEntry)> {
        let Code::Field { up, label } = self.program.code(expr) else { return None };
        match self.heap.envs[self.env_up(env, up.checked_sub(within)?)].kind {
            EnvKind::Struct(vertex, ..) => Some((vertex, self.heap.arc(vertex, *label)?)),
            _ => None,
        }
    }

    /// The alternative that does not contradict and names what is needed, if no other does.
    pub(crate) fn only_alternative(
        &self,
        id: VertexId,
        of: &Disjunction,
        needed: &[Label],
    ) -> Option<Pick> {
        let mut only = None;
        for (pick, alternative) in self.alternatives(of).enumerate() {
            let declarations = self.declarations(alternative, of).unwrap_or_default();
            let names = |label| declarations.iter().any(|it| fixed(it) == Some(label));
            if self.contradict(id, declarations) || !needed.iter().all(|it| names(*it)) {
                continue;
            }
            if only.replace((pick as u32, alternative)).is_some() {
                return None;
            }
        }
        only
    }
}

/// The label of a field that is known as it is written.
fn fixed(declaration: &Declaration) -> Option<Label> {
    match declaration {
        Declaration::Field { label: DeclLabel::Fixed(label), .. } => Some(*label),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::sync::Arc;

    use crate::budget::Budget;
    use crate::evaluation::{Evaluation, compile_text, print_json};

    /// The whole as JSON, or the first error.
    fn value(text: &str) -> String {
        let program = Arc::new(compile_text(text).unwrap());
        let budget = Budget { ticks: 50_000, depth: 100, bytes: 100 << 20 };
        let mut it = Evaluation::start(program, &[], budget);
        let root = it.find("").unwrap().unwrap();
        match it.datum(root) {
            Ok(datum) => print_json(&datum),
            Err(all) => all[0].message.clone(),
        }
    }

    #[test]
    fn tags_decide_without_a_product() {
        let (mut text, mut tags, mut wanted) = ("#S: {\n".to_owned(), String::new(), String::new());
        for at in 0..40 {
            let _ =
                writeln!(text, "{{t{at}: \"a\", a{at}: 1}} | {{t{at}: \"b\", b{at}: *2 | int}}");
            let _ = write!(tags, "t{at}: \"b\", ");
            let _ = write!(wanted, "\"t{at}\":\"b\",\"b{at}\":2,");
        }
        let got = value(&format!("{text}}}\nout: #S & {{{tags}}}\n"));
        for part in wanted.split(',').filter(|it| !it.is_empty()) {
            assert!(got.contains(part), "{part} in {got}");
        }
    }

    #[test]
    fn what_no_tag_decides_stays_a_choice() {
        let text = "x: {t: \"a\"} | {t: \"b\"}\nx: {u: 1, v: 1} | {u: 2, v: 2}\nx: u: 2\n";
        assert_eq!(value(&format!("{text}x: t: \"b\"")), r#"{"x":{"t":"b","u":2,"v":2}}"#);
        assert!(value(text).contains("incomplete value"), "{}", value(text));
    }

    #[test]
    fn an_alternative_that_is_left_may_fail() {
        let (mut text, mut tags) = (String::new(), String::new());
        for at in 0..6 {
            let _ = writeln!(text, "x: {{t{at}: \"a\"}} | {{t{at}: \"b\", n: >5}}");
            let _ = write!(tags, "t{at}: \"b\", ");
        }
        let got = value(&format!("{text}x: {{{tags}n: 1}}"));
        assert!(got.contains("invalid value 1"), "{got}");
    }
}
