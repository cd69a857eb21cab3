//! Environments: what the names around an expression stand for, each within the one outside of it.

use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

use super::VertexId;
use crate::blocks::Blocks;
use crate::program::Label;

/// A scope chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EnvId(NonZeroU32); // Option<EnvId> is 4 bytes

impl EnvId {
    /// The one at a place of all.
    pub(crate) fn at(index: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(index as u32))
    }

    /// By its number, which is not 0.
    #[inline]
    pub(super) fn numbered(number: u32) -> Self {
        Self(NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN))
    }

    #[inline]
    pub(super) fn number(self) -> u32 {
        self.0.get()
    }

    /// Where it is among all.
    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

#[derive(Clone, Debug)]
pub(crate) enum EnvKind {
    /// What a literal becomes, its `let`s, and which literal.
    Struct(VertexId, Lets, u32),
    /// What an alias or a clause names, and the key that goes with it.
    Variables(VertexId, Key),
    PatternName(Option<Label>),
}

/// The `let`s of a scope as far as they were asked for: number `n` is at `n - 1`, 0 for none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lets(u32);

/// The key of what `for` is at; it becomes a vertex when something refers to it as one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Key {
    None,
    Label(Label),
    Position(u32),
    Vertex(VertexId),
}

#[derive(Clone, Debug)]
pub(crate) struct Env {
    pub(crate) parent: Option<EnvId>,
    pub(crate) kind: EnvKind,
    /// How many are around it.
    depth: u32,
    /// One further out than the parent where these are deep, so that the way out is logarithmic in the depth:
    /// nested guards name what stands outside of all of them.
    far: Option<EnvId>,
}

/// So many steps are gone one by one, and environments with fewer around them have no further way.
const NEAR: u32 = 12;

/// All of an evaluation.
#[derive(Debug)]
pub(crate) struct Environments {
    all: Blocks<Env>,
    lets: Blocks<Box<[Option<VertexId>]>>,
}

/// Room for as many is there from the start.
const FIRST: usize = 64;

impl Default for Environments {
    fn default() -> Self {
        Self { all: Blocks::with_room(FIRST), lets: Blocks::default() }
    }
}

impl Environments {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Env> {
        self.all.iter()
    }

    /// One more, within `parent`.
    pub(crate) fn enter(&mut self, parent: Option<EnvId>, kind: EnvKind) -> EnvId {
        let depth = parent.map_or(0, |it| self[it].depth + 1);
        let far = if depth < NEAR { parent } else { parent.map(|it| self.far_from(it)) };
        EnvId::at(self.all.push(Env { parent, kind, depth, far }) - 1)
    }

    /// The scope of what a literal becomes, with so many `let`s.
    pub(crate) fn enter_struct(
        &mut self,
        parent: EnvId,
        vertex: VertexId,
        literal: u32,
        lets: usize,
    ) -> EnvId {
        let lets = match lets {
            0 => 0,
            lets => self.lets.push(vec![None; lets].into()) as u32,
        };
        self.enter(Some(parent), EnvKind::Struct(vertex, Lets(lets), literal))
    }

    /// What the `let`s of a scope have become.
    pub(crate) fn lets(&self, lets: Lets) -> &[Option<VertexId>] {
        lets.0.checked_sub(1).map_or(&[], |it| &self.lets[it as usize])
    }

    /// The same, to be changed.
    pub(crate) fn lets_mut(&mut self, lets: Lets) -> &mut [Option<VertexId>] {
        lets.0.checked_sub(1).map_or(&mut [], |it| &mut self.lets[it as usize])
    }

    /// Has all `let`s of a scope be that.
    pub(crate) fn fill_lets(&mut self, env: EnvId, with: Option<VertexId>) {
        if let EnvKind::Struct(_, lets, _) = self[env].kind {
            self.lets_mut(lets).fill(with);
        }
    }

    /// Where one within `parent` leads to: as far as the last two ways together, if these are equally far, so that
    /// the ways of a chain are those of a skew binary number (Myers 1983).
    fn far_from(&self, parent: EnvId) -> EnvId {
        let way = |from: EnvId| {
            let to = self[from].far?;
            Some((to, self[from].depth - self[to].depth))
        };
        match way(parent).and_then(|(to, far)| way(to).filter(|it| it.1 == far)) {
            Some((to, _)) => to,
            None => parent,
        }
    }

    /// So many further out; none beyond the outermost.
    pub(crate) fn outside(&self, env: EnvId, up: u32) -> Option<EnvId> {
        let mut env = env;
        if up < NEAR {
            for _ in 0..up {
                env = self[env].parent?;
            }
            return Some(env);
        }
        let depth = self[env].depth.checked_sub(up)?;
        while self[env].depth > depth {
            let far = self[env].far.filter(|it| self[*it].depth >= depth);
            env = far.or(self[env].parent)?;
        }
        Some(env)
    }
}

impl Index<EnvId> for Environments {
    type Output = Env;

    fn index(&self, id: EnvId) -> &Env {
        &self.all[id.index()]
    }
}

impl IndexMut<EnvId> for Environments {
    fn index_mut(&mut self, id: EnvId) -> &mut Env {
        &mut self.all[id.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::{EnvKind, Environments};

    #[test]
    fn the_way_out_is_found_from_every_depth() {
        let mut all = Environments::default();
        let mut chain = Vec::new();
        for _ in 0..200 {
            chain.push(all.enter(chain.last().copied(), EnvKind::PatternName(None)));
        }
        for (at, env) in chain.iter().enumerate() {
            for up in 0..200 {
                let wanted = at.checked_sub(up).map(|it| chain[it]);
                assert_eq!(all.outside(*env, up as u32), wanted, "{up} out of {at}");
            }
        }
    }
}
