//! Choices of which not every result was asked for. Several disjunctions with a default each multiply, but the one
//! result that is made of all the defaults is the default of the whole (D-2). Without marks none is chosen as soon as
//! two results hold: whether others do counts where they are looked at.

use crate::alike::Alternatives;
use crate::disjunction::{Mark, Tried};
use crate::evaluator::Evaluator;
use crate::heap::{Choice, Disjunction, VertexId};
use crate::program::{Code, Declaration, ExprId};

/// As many results are all tried at once: then all that fail say why.
const FEW: usize = 16;

/// The same where no alternative is marked.
const FEW_UNMARKED: usize = 4;

/// How many results disjunctions have together.
pub(crate) fn results(disjunctions: &[Disjunction]) -> usize {
    disjunctions.iter().fold(1, |n: usize, it| n.saturating_mul(it.marks.len()))
}

/// Whether that is more than are tried at once.
pub(crate) fn multiply(disjunctions: &[Disjunction]) -> bool {
    results(disjunctions) > FEW
}

impl Evaluator {
    /// The choice between the results of several disjunctions of structs, each with one default, or with
    /// one alternative that can hold at all: known as far as their common default and one other result.
    /// None if one of these cannot hold.
    pub(crate) fn choose_defaults(
        &mut self,
        id: VertexId,
        disjunctions: &[Disjunction],
    ) -> Option<Choice> {
        if !multiply(disjunctions) || !self.heap.get(id).picks.is_empty() {
            return None;
        }
        let mut picks: Vec<(ExprId, u32)> = Vec::with_capacity(disjunctions.len());
        // What an alternative may be replaced by.
        let mut others: Vec<u32> = Vec::with_capacity(disjunctions.len());
        for disjunction in disjunctions {
            let Code::Disjoin(alternatives) = self.program.code(disjunction.expr) else {
                return None;
            };
            let plain = |it: &(ExprId, bool)| matches!(self.program.code(it.0), Code::Struct(_));
            if !alternatives.iter().all(plain) {
                return None;
            }
            if let Some((only, _)) = self.only_alternative(id, disjunction, &[]) {
                picks.push((disjunction.expr, only));
                others.push(0);
                continue;
            }
            let count = disjunction.marks.len();
            let mut marked = (0..count).filter(|it| disjunction.marks[*it]);
            let (Some(default), None) = (marked.next(), marked.next()) else { return None };
            picks.push((disjunction.expr, default as u32));
            others.push(count as u32);
        }
        let mut made = Alternatives::default();
        self.add_result(id, &picks, Mark::Default, &mut made)?;
        for at in (0..picks.len()).rev() {
            let default = picks[at].1;
            for other in (0..others[at]).filter(|it| *it != default) {
                picks[at].1 = other;
                self.add_result(id, &picks, Mark::Plain, &mut made);
                if made.choice.all.len() > 1 {
                    let mut choice = made.choice;
                    choice.untried = disjunctions.to_vec();
                    return Some(choice);
                }
            }
            picks[at].1 = default;
        }
        None
    }

    /// Adds the result of one alternative of each, if it holds and is one value.
    fn add_result(
        &mut self,
        id: VertexId,
        picks: &[(ExprId, u32)],
        mark: Mark,
        made: &mut Alternatives,
    ) -> Option<()> {
        self.tick().ok()?;
        let Tried { candidate, fails, open } = self.try_with(id, picks);
        let put_off = self.running(candidate).is_some() || self.put_off(candidate).is_some();
        if fails || open || put_off || self.heap.get(candidate).choice.is_some() {
            return None;
        }
        self.add_alternative(made, candidate, mark);
        Some(())
    }

    /// Whether two results say all there is to know of a choice until somebody looks at it: each is a struct, and no
    /// mark is among what they are made of.
    pub(crate) fn two_will_do(&self, id: VertexId, disjunctions: &[Disjunction]) -> bool {
        let unmarked = |of: ExprId| match self.program.code(of) {
            Code::Disjoin(alternatives) => alternatives.iter().all(|it| !it.1),
            _ => false,
        };
        let structs = |of: &Disjunction| {
            let mut all = self.alternatives(of);
            all.all(|it| {
                self.declarations(it, of).is_some_and(|it| it.iter().all(Declaration::is_of_fields))
            })
        };
        results(disjunctions) > FEW_UNMARKED
            && !self.tried_all.contains(&id.number())
            && self.heap.picks(id).iter().all(|it| unmarked(it.0))
            && disjunctions.iter().all(|it| unmarked(it.expr) && structs(it))
    }

    /// The alternatives of a value, if it has any: all of them.
    pub(crate) fn choice_of(&mut self, id: VertexId) -> Option<Choice> {
        // What has none gets no room for one.
        self.heap.get(id).choice.as_ref()?;
        let choice = self.heap.get_mut(id).choice.as_mut()?;
        let untried = std::mem::take(&mut choice.untried);
        if !untried.is_empty() {
            let before = std::mem::take(choice);
            self.tried_all.insert(id.number());
            self.choose_all(id, &untried);
            let whole = self.heap.get_mut(id).choice.get_or_insert_default();
            if whole.all.is_empty() {
                **whole = *before;
            }
        }
        self.heap.get(id).choice.as_deref().cloned()
    }
}
