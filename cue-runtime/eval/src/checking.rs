//! Validators that are running: one that comes upon itself with the same value goes round for ever (S-62).

use smallvec::SmallVec;

use crate::builtin::Datum;
use crate::compare;
use crate::error::Kind;
use crate::evaluator::Evaluator;
use crate::heap::{FaultId, Source, VertexId};
use crate::program::{At, ExprId};

/// How often a validator may come upon itself.
const MOST_NESTED: usize = 100;

/// How often it may come upon itself with a value that is not known and of which the same is said.
const MOST_ALIKE: usize = 5;

type Says = SmallVec<[ExprId; 4]>;

/// A validator that is running, and what it looks at.
pub(crate) struct Check {
    pub(crate) at: At,
    /// The value, if it is concrete.
    pub(crate) datum: Option<Datum>,
    /// The vertex it stems from.
    base: VertexId,
    /// What is said of that, if it is not concrete: the same expressions, sorted.
    says: Says,
    /// The value together with a schema: there it does not check once more.
    pub(crate) copy: Option<VertexId>,
}

impl Evaluator {
    /// A validator that comes upon itself with the same value goes round for ever (S-62).
    pub(crate) fn begin_check(&mut self, id: VertexId, at: At) -> Result<(), FaultId> {
        let datum = self.datum(id).ok();
        let mut base = id;
        for _ in 0..MOST_NESTED {
            match self.heap.get(base).conjuncts.first().map(|it| it.source()) {
                Some(Source::Vertex(next)) => base = next,
                _ => break,
            }
        }
        let says = if datum.is_none() { self.says(base) } else { Says::new() };
        let (mut nested, mut alike) = (0, 0);
        let mut again = false;
        for check in self.checking.iter().filter(|it| it.at == at) {
            nested += 1;
            alike += usize::from(!says.is_empty() && check.says == says);
            again |= match (&check.datum, &datum) {
                (Some(before), Some(now)) => compare::equal(before, now),
                (None, None) => check.base == base,
                _ => false,
            };
        }
        if again || nested > MOST_NESTED || alike > MOST_ALIKE {
            return Err(self.fail(Kind::StructuralCycle, "structural cycle", At::default()));
        }
        self.checking.push(Check { at, datum, base, says, copy: None });
        Ok(())
    }

    /// What is said of a value, whatever it was said of before: the expressions it is made of, sorted; none if it is made
    /// of something else, too. Where a value that is not known goes round, each check asks for two, and each of these for two.
    fn says(&self, id: VertexId) -> Says {
        let mut says = Says::new();
        for conjunct in &self.heap.get(id).conjuncts {
            match conjunct.source() {
                Source::Expr(expr, _) => says.push(expr),
                Source::Data(_) | Source::Vertex(_) => return Says::new(),
            }
        }
        cue_sort::ascending(&mut says);
        says.dedup();
        says
    }
}
