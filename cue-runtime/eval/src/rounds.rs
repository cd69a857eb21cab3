//! Rounds of a loop whose body embeds: each embeds for itself, and says nothing of what the others bring (C-12).
//!
//! What is the same in each round is as good as embedded once, by all rounds as one literal. Where it may be another
//! value in each, rounds are told apart by the bits of their number: what one brings has a mark for each of them, and
//! what it embeds says nothing of what has the mark of another bit. So a thousand rounds take twenty marks, whatever
//! they bring.

use cue_map::Map;

use crate::evaluator::Evaluator;
use crate::groups::Groups;
use crate::heap::{EnvId, EnvKind, VertexId};
use crate::program::Code;

/// The rounds of one execution.
pub(crate) struct Rounds {
    /// The mark that the embeddings of the first round stand in; those of the others follow.
    first: u32,
    count: u32,
    /// A mark for each value of each bit.
    bits: Vec<[u32; 2]>,
    /// The mark of the loop itself.
    beside: u32,
}

/// A bit of a round's number.
fn bit(number: u32, at: usize) -> usize {
    (number >> at & 1) as usize
}

impl Evaluator {
    /// Marks for so many rounds of a comprehension that stands in an embedding with mark `beside`; none if there is
    /// one round only, or nothing in it that varies.
    pub(crate) fn rounds(
        &mut self,
        comprehension: u32,
        count: usize,
        beside: u32,
    ) -> Option<usize> {
        let body = self.program.comprehensions[comprehension as usize].body;
        let varies = match self.program.code(body) {
            Code::Struct(literal) => self.program.structs[*literal as usize].varies,
            _ => false,
        };
        let count = u32::try_from(count).ok().filter(|it| varies && *it > 1)?;
        let mut mark = || {
            let mark = self.heap.new_group();
            self.marks.insert(mark);
            mark
        };
        let length = u32::BITS - (count - 1).leading_zeros();
        let bits = (0..length).map(|_| [mark(), mark()]).collect();
        let first = self.heap.new_groups(count);
        self.rounds.push(Rounds { first, count, bits, beside });
        Some(self.rounds.len() - 1)
    }

    /// What one round brings is marked so; gives the mark that its embeddings stand in.
    pub(crate) fn in_round(&self, rounds: usize, number: usize, groups: &mut Groups) -> u32 {
        let rounds = &self.rounds[rounds];
        let number = number as u32;
        for (at, marks) in rounds.bits.iter().enumerate() {
            groups.push(marks[bit(number, at)]);
        }
        rounds.first + number
    }

    /// The literal around all the comprehensions that a body stands in; `known` are bodies and what is around them.
    pub(crate) fn around_rounds(
        &self,
        id: VertexId,
        env: EnvId,
        known: &Map<EnvId, EnvId>,
    ) -> EnvId {
        let mut next = Some(env);
        while let Some(env) = next {
            if let Some(around) = known.get(&env) {
                return *around;
            }
            let it = &self.heap.envs[env];
            if let EnvKind::Struct(vertex, _, literal) = &it.kind {
                let mut placed = self.heap.get(id).placed.iter();
                let body = placed.any(|it| it.literal == *literal && it.is_computed());
                let varies = self.program.structs[*literal as usize].varies;
                if *vertex != id || !body || varies {
                    return env;
                }
            }
            next = it.parent;
        }
        env
    }

    /// If a mark is that of a round: the marks of what the other rounds bring, and the mark around.
    pub(crate) fn other_rounds(&self, mark: u32) -> Option<(impl Iterator<Item = u32>, u32)> {
        let after = self.rounds.partition_point(|it| it.first <= mark);
        let rounds = self.rounds[..after].last()?;
        let number = mark - rounds.first;
        let marks = rounds.bits.iter().enumerate();
        let others = marks.map(move |(at, marks)| marks[1 - bit(number, at)]);
        (number < rounds.count).then_some((others, rounds.beside))
    }
}
