//! What an evaluation may take: work, nesting and memory are counted, and what goes beyond is an error.

use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::heap::{FaultId, VertexId};
use crate::work::Work;

/// Limits of one evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Units of work.
    pub ticks: u64,
    /// Nesting of evaluations.
    pub depth: u32,
    /// Bytes of memory, as counted.
    pub bytes: u64,
}

/// What a label counts for that came while evaluating.
const LABEL_BYTES: usize = 96;

/// Steps between two looks at what the heap has grown to.
const STEPS_UNSEEN: u64 = 16;

/// What a vertex has to do is not counted below so many bytes.
const LITTLE_WORK: u64 = 64 << 10;

/// Expressions within values within expressions: what the stack of a sandbox allows.
pub(crate) const MOST_NESTED: u32 = 300_000;

/// What is said of values beyond that, and beyond the budget of depth.
pub(crate) const TOO_DEEP: &str = "value nested too deeply";

impl Evaluator {
    /// Counts work; an error once the budget is used up.
    pub(crate) fn tick(&mut self) -> Result<(), FaultId> {
        self.ticks += 1;
        match self.ticks < self.spending.due {
            true => Ok(()),
            false => self.within_budget(),
        }
    }

    /// Looks at all that was counted, and says when that is to be done again.
    #[cold]
    fn within_budget(&mut self) -> Result<(), FaultId> {
        if let Some(spent) = self.spent {
            return Err(spent);
        }
        if self.ticks > self.budget.ticks {
            return Err(self.out_of("steps"));
        }
        if self.spending.is_sample_due(self.ticks) {
            self.sample();
        }
        self.spending.next(self.ticks + STEPS_UNSEEN);
        self.fits_memory()
    }

    /// Counts so much work at once.
    pub(crate) fn tick_for(&mut self, work: u64) -> Result<(), FaultId> {
        self.ticks += work;
        self.tick()
    }

    /// Bytes of everything but the texts that were put together.
    fn counted(&self) -> u64 {
        self.heap.bytes() + (self.labels.grown() * LABEL_BYTES) as u64 + self.bytes
    }

    /// Bytes of everything.
    pub(crate) fn used(&self) -> u64 {
        self.counted().saturating_add(self.allowance.used())
    }

    /// Whether all that was counted is within the budget.
    fn fits_memory(&mut self) -> Result<(), FaultId> {
        if self.used() > self.budget.bytes {
            return Err(self.out_of("memory"));
        }
        Ok(())
    }

    /// Gives the texts that are put together later all that is left of the budget; an error where one of `length`
    /// bytes will not fit.
    pub(crate) fn allow_text(&mut self, length: usize) -> Result<(), FaultId> {
        let most = self.budget.bytes.saturating_sub(self.counted());
        self.allowance.allow(most);
        match length as u64 > most {
            true => Err(self.out_of("memory")),
            false => Ok(()),
        }
    }

    /// Counts memory outside of the heap before it is taken.
    pub(crate) fn charge(&mut self, bytes: usize) -> Result<(), FaultId> {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        if let Some(spent) = self.spent {
            return Err(spent);
        }
        self.fits_memory()
    }

    /// The same for a text that is made: while it is, it is there twice.
    pub(crate) fn charge_made(&mut self, bytes: usize) -> Result<(), FaultId> {
        self.charge(bytes.saturating_mul(2))?;
        self.bytes -= bytes as u64;
        Ok(())
    }

    /// Counts the memory of what is still to do for a vertex, until that is done, once it is much.
    pub(crate) fn count_work(&mut self, work: &mut Work) {
        let bytes = work.bytes();
        if bytes > work.counted + LITTLE_WORK {
            let more = bytes - work.counted;
            work.counted = bytes;
            // Who takes the next conjunct sees that the budget is spent.
            let _ = self.charge(more as usize);
        }
    }

    /// Tells which value spent the budget: the one that is being evaluated.
    pub(crate) fn out_of(&mut self, what: &str) -> FaultId {
        let limit = match what {
            "steps" => self.budget.ticks.to_string(),
            _ => format!("{} MiB", self.budget.bytes >> 20),
        };
        let mut next = Some(self.current);
        let mut named = self.root;
        while let Some(id) = next {
            // Values without a place count for the field that asks for them.
            if self.heap.get(id).label.is_some() {
                named = id;
                break;
            }
            next = self.heap.get(id).parent;
        }
        let mut message = format!("evaluation exceeds its budget of {what} ({limit})");
        if let Some((id, share)) = self.most_spent() {
            message.push_str(&format!(", {share} % of the work is for {}", self.path(id)));
        }
        let mut fault = Fault::new(Kind::Budget, message, self.first_position(named));
        // A value that is no field's has no path; the field that asked for it is where it is found.
        fault.place = Some(named).filter(|it| self.is_rooted(*it));
        let fault = self.heap.fault(fault);
        self.spent = Some(fault);
        // From now on each step fails.
        self.spending.next(0);
        fault
    }

    /// One step further into what is being looked at; [`Self::go_out`] follows, unless that is too deep.
    pub(crate) fn go_in(&mut self, id: VertexId) -> Result<(), Fault> {
        if self.nested > MOST_NESTED {
            return Err(self.too_deep(id));
        }
        self.nested += 1;
        Ok(())
    }

    /// The error of a value that nests deeper than it may.
    pub(crate) fn too_deep(&self, id: VertexId) -> Fault {
        Fault::new(Kind::Budget, TOO_DEEP, self.first_position(id))
    }

    pub(crate) fn go_out(&mut self) {
        self.nested -= 1;
    }
}
