//! Filling a value that was evaluated: only the fields at its root that may read what is filled in are
//! evaluated again, all others stay as they are. A loop that fills in one result after the other costs
//! what these concern, not the whole as often as there are results.
//!
//! Invariant: what comes of it is what an evaluation from the beginning would find. (tests/refill.rs)

use std::sync::Arc;

use cue_map::Set;

use crate::builtin::Datum;
use crate::compile::LoadError;
use crate::evaluation::{Addition, Evaluation, compile_addition, split_path};
use crate::evaluator::Evaluator;
use crate::groups::GroupSet;
use crate::heap::{Conjunct, EnvId, EnvKind, Source, State, VertexId};
use crate::program::{Code, DeclLabel, Declaration, ExprId, Label, LabelKind, Program};
use crate::uses::Uses;

/// What an evaluation remembers for further fills.
#[derive(Default)]
pub(crate) struct Refills {
    uses: Option<Uses>,
    /// So many environments were looked through for those of the root.
    looked_through: usize,
    /// Scopes of literals that are the root.
    scopes: Vec<EnvId>,
}

/// Which fields at the root were named in what was evaluated.
#[derive(Default)]
pub(crate) struct Named(GroupSet);

impl Named {
    /// By the place of its label, one further on; elements all count as the first.
    fn place(label: Label) -> u32 {
        label.place().map_or(0, |it| it as u32 + 1)
    }

    pub(crate) fn note(&mut self, label: Label) {
        self.0.insert(Self::place(label));
    }

    fn contains(&self, label: Label) -> bool {
        self.0.contains(&Self::place(label))
    }
}

impl Evaluation {
    /// Takes in one more addition; gives the selectors of the fields at the root that may have changed.
    /// `None` if all has to be evaluated from the beginning: this evaluation is of no use then.
    pub fn refill(&mut self, path: &str, addition: &Addition) -> Option<Vec<String>> {
        let (source, told) = match addition {
            Addition::Data(datum) => self.data_at(path, datum)?,
            Addition::File(file) => self.fields_of(*file)?,
        };
        let it = &mut self.evaluator;
        if !it.takes_more() {
            return None;
        }
        let uses = self.refills.uses.get_or_insert_with(|| it.uses());
        if let Addition::File(file) = addition {
            uses.add(&it.program, *file);
        }
        let concerned = it.concerned(uses, &told);
        let root = it.heap.get(it.root);
        let is_new = |label: &Label| root.arcs.place(*label).is_none();
        if uses.shape.meets(&concerned) || !root.patterns.is_empty() && told.iter().any(is_new) {
            return None;
        }
        it.forget_fields(&concerned);
        if uses.lets.meets(&concerned) {
            it.forget_lets(&mut self.refills);
        }
        if !it.take_more(it.root, Conjunct::new(source)) {
            return None;
        }
        Some(concerned.iter().map(|label| it.label_text(*label)).collect())
    }

    /// Compiles more CUE for this evaluation of `program`, as [`compile_addition`] does before there is one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn extend(
        &mut self,
        program: &mut Arc<Program>,
        path: &str,
        text: &str,
    ) -> Result<Addition, Vec<LoadError>> {
        let it = &mut self.evaluator;
        // So that it grows in place, unless somebody else holds it too.
        it.program = Arc::new(Program::empty());
        let grown = Program::own(program);
        // What the evaluation has named has a label for good.
        grown.labels = std::mem::take(&mut it.labels);
        let added = compile_addition(grown, path, text);
        it.labels = grown.labels.clone();
        it.program = program.clone();
        added
    }

    /// Whether it is an evaluation of that very program.
    pub fn runs(&self, program: &Arc<Program>) -> bool {
        Arc::ptr_eq(&self.evaluator.program, program)
    }

    /// Data below a field at the root.
    fn data_at(&mut self, path: &str, datum: &Datum) -> Option<(Source, Vec<Label>)> {
        let parts = split_path(path).ok()?;
        let (kind, first) = parts.first()?;
        if *kind != LabelKind::Regular {
            return None;
        }
        let label = self.evaluator.labels.intern(*kind, first);
        let names: Vec<&str> = parts.iter().map(|it| &*it.1).collect();
        let source = self.evaluator.heap.keep_data(datum.clone().within(&names), 0);
        Some((source, vec![label]))
    }

    /// A file that declares fields and nothing else.
    fn fields_of(&self, file: ExprId) -> Option<(Source, Vec<Label>)> {
        let it = &self.evaluator;
        let Code::Struct(literal) = it.program.code(file) else { return None };
        let literal = &it.program.structs[*literal as usize];
        let fixed = |it: &Declaration| match it {
            Declaration::Field { label: DeclLabel::Fixed(label), .. } => Some(*label),
            _ => None,
        };
        let labels: Option<Vec<Label>> = literal.declarations.iter().map(fixed).collect();
        Some((Source::Expr(file, it.root_env), labels?))
    }
}

impl Evaluator {
    /// Whether the root is a struct that is done with and says nothing but fields, nothing has failed for
    /// good, and half of the budget of memory is left.
    fn takes_more(&self) -> bool {
        let root = self.heap.get(self.root);
        let plain = root.state == State::Done
            && root.is_struct
            && root.forward.is_none()
            && root.fault.is_none()
            && root.choice.is_none()
            && root.scalar.is_none()
            && !root.frozen
            && !self.is_closed_struct(self.root);
        let done = |id: &VertexId| self.heap.get(*id).state == State::Done;
        let waits = !self.suspended.is_empty() || !self.tasks.keys().all(done);
        let idle = !waits && self.spent.is_none();
        // Which errors others tell of depends on what has failed by then.
        plain && idle && !self.failed && self.heap.bytes() + self.bytes < self.budget.bytes / 2
    }

    /// Who reads what in the files that the root consists of.
    fn uses(&self) -> Uses {
        let mut uses = Uses::default();
        for conjunct in &self.heap.get(self.root).conjuncts {
            if let Source::Expr(file, _) = conjunct.source() {
                uses.add(&self.program, file);
            }
        }
        uses
    }

    /// The fields told of, and those that may have read one of them, and so on. Of what was never
    /// named nothing was read yet, unless it is evaluated.
    fn concerned(&self, uses: &Uses, told: &[Label]) -> Set<Label> {
        let mut concerned: Set<Label> = told.iter().copied().collect();
        let mut open = told.to_vec();
        while let Some(label) = open.pop() {
            for reader in uses.readers(label) {
                let Some(arc) = self.heap.arc(self.root, reader) else { continue };
                let untouched = self.heap.get(arc.vertex).state == State::New;
                if untouched && !self.named.contains(reader) || concerned.contains(&reader) {
                    continue;
                }
                concerned.insert(reader);
                open.push(reader);
            }
        }
        concerned
    }

    /// Fields at the root begin anew, as other vertices: nothing that is known of the old ones is taken
    /// for theirs.
    fn forget_fields(&mut self, labels: &Set<Label>) {
        for label in labels.iter() {
            let Some(place) = self.heap.get(self.root).arcs.place(*label) else { continue };
            let old = self.heap.get(self.root).arcs[place].vertex;
            let conjuncts = std::mem::take(&mut self.heap.get_mut(old).conjuncts);
            let fresh = self.heap.vertex(Some(self.root), Some(*label));
            self.heap.get_mut(fresh).conjuncts = conjuncts;
            self.heap.get_mut(self.root).arcs[place].vertex = fresh;
            if let Some(group) = self.definitions.get(&old.number()).copied() {
                self.definitions.insert(fresh.number(), group);
            }
        }
        self.heap.resets += 1;
        // Values without a place may have read them.
        self.anonymous.clear();
        self.led.clear();
        self.lifted.clear();
        self.chains.clear();
        // What became another value has left its tasks behind.
        self.tasks.clear();
        self.ticks = 0;
    }

    /// The `let`s at the root are evaluated anew.
    fn forget_lets(&mut self, refills: &mut Refills) {
        for (number, env) in self.heap.envs.iter().enumerate().skip(refills.looked_through) {
            if matches!(env.kind, EnvKind::Struct(vertex, ..) if vertex == self.root) {
                refills.scopes.push(EnvId::at(number));
            }
        }
        refills.looked_through = self.heap.envs.len();
        for scope in &refills.scopes {
            self.heap.envs.fill_lets(*scope, None);
        }
    }
}
