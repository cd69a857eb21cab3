//! Choices that a tag decides before any alternative is tried: among several disjunctions of one value,
//! `{t: "a"} | {t: "b"}` beside `t: "b"` is `{t: "b"}`. Without it they multiply.

use crate::builtin::Datum;
use crate::evaluator::Evaluator;
use crate::heap::{Conjunct, Cycle, Source, VertexId};
use crate::program::{Code, DeclLabel, Declaration, ExprId, Presence};
use crate::unify::Work;

impl Evaluator {
    /// Takes the alternative that is left of each disjunction whose others contradict a written scalar
    /// of a field; true if there was one. A single disjunction is tried as a whole, so that all its
    /// errors are told, and marks have rules of their own.
    pub(crate) fn narrow_choices(&mut self, id: VertexId, work: &mut Work) -> bool {
        let marked = work.disjunctions.iter().any(|it| it.marks.contains(&true));
        if work.disjunctions.len() < 2 || marked {
            return false;
        }
        let mut narrowed = false;
        let mut left = Vec::new();
        for disjunction in std::mem::take(&mut work.disjunctions) {
            let Some((pick, alternative)) = self.only_alternative(id, disjunction.expr) else {
                left.push(disjunction);
                continue;
            };
            narrowed = true;
            self.heap.get_mut(id).picks.push((disjunction.expr, pick));
            for conjunct in disjunction.sources.into_iter().rev() {
                let Source::Expr(_, env) = conjunct.source else { continue };
                let cycle = conjunct.cycle.max(Cycle::Optional);
                let source = Source::Expr(alternative, env);
                work.conjuncts.push(Conjunct { source, cycle, ..conjunct });
            }
        }
        work.disjunctions = left;
        narrowed
    }

    /// The alternative that does not contradict, if all others do.
    fn only_alternative(&self, id: VertexId, expr: ExprId) -> Option<(u32, ExprId)> {
        let Code::Disjoin(alternatives) = self.program.code(expr) else { return None };
        let mut only = None;
        for (pick, (alternative, _)) in alternatives.iter().enumerate() {
            if self.contradicts(id, *alternative) {
                continue;
            }
            if only.replace((pick as u32, *alternative)).is_some() {
                return None;
            }
        }
        only
    }

    /// Whether a struct literal has a scalar for a field that is written with another one.
    fn contradicts(&self, id: VertexId, alternative: ExprId) -> bool {
        let Code::Struct(literal) = self.program.code(alternative) else { return false };
        let declarations = &self.program.structs[*literal as usize].declarations;
        declarations.iter().any(|it| {
            let Declaration::Field { label: DeclLabel::Fixed(label), presence, value, .. } = it
            else {
                return false;
            };
            let (Some(wanted), true) = (self.written(*value), *presence != Presence::Optional)
            else {
                return false;
            };
            let arc = self.heap.arc(id, *label).filter(|it| it.presence == Presence::Member);
            let Some(arc) = arc else { return false };
            self.heap.get(arc.vertex).conjuncts.iter().any(|it| match &it.source {
                Source::Expr(expr, _) => {
                    self.written(*expr).is_some_and(|it| !crate::compare::same(&it, &wanted))
                }
                Source::Data(datum) => !crate::compare::same(datum, &wanted),
                Source::Vertex(_) => false,
            })
        })
    }

    /// A scalar as it is written.
    fn written(&self, expr: ExprId) -> Option<Datum> {
        match self.program.code(expr) {
            Code::Null => Some(Datum::Null),
            Code::Bool(it) => Some(Datum::Bool(*it)),
            Code::Number(it) => Some(Datum::Number(it.clone())),
            Code::String(it) => Some(Datum::String(it.clone())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::sync::Arc;

    use crate::evaluation::{Evaluation, compile_text, print_json};
    use crate::evaluator::Budget;

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
        let text =
            "x: {t: \"a\"} | {t: \"b\", n: string}\nx: {u: 1} | {u: 2}\nx: {t: \"b\", u: 2, n: 1}";
        assert!(value(text).contains("conflicting values"), "{}", value(text));
    }
}
