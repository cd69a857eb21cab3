//! What a literal embeds: the group by which that closes it, and the marks of what stands beside it (C-12, C-13).

use std::num::NonZeroU32;

use super::Taken;
use crate::evaluator::Evaluator;
use crate::groups::Groups;
use crate::heap::{Conjunct, EnvId, Source, VertexId};
use crate::program::{Code, Declaration, ExprId};
use crate::work::Work;

/// Operands of one conjunction that are set apart: each is in a group for each of the others.
const MOST_APART: usize = 16;

/// Literals within each other that are gone through for the outermost.
const MOST_WITHIN: usize = 32;

impl Evaluator {
    /// Gives a literal the groups of what it embeds; `place` is where its environment is among those of the work,
    /// `env` the one around it.
    pub(super) fn note_embeddings(
        &mut self,
        taken: &mut Taken<'_>,
        place: usize,
        env: EnvId,
        work: &mut Work,
    ) {
        let (code, conjunct, id) = (taken.code, taken.conjunct, taken.id);
        // What `close` is called with is closed by what it embeds as it is by itself, with all that is in it.
        let joins = taken
            .close_as
            .is_some_and(|it| self.close_calls.contains(&it) && !self.opened.contains(&it));
        // The files of a package are one literal.
        let file = taken.at.span.end == 0;
        let place = match file {
            true => {
                taken.home = env;
                place
            }
            // All rounds of a loop are one literal.
            false if conjunct.is_computed() && code.has_embeds && !code.varies => {
                let around = self.around_rounds(id, env, &work.around_bodies);
                work.around_bodies.insert(taken.inner, around);
                let first = work.rounds.entry((taken.literal, around));
                let (home, place) = *first.or_insert((taken.inner, place));
                taken.home = home;
                place
            }
            false => place,
        };
        let files = self.program.is_file(taken.at) && self.heap.get(id).conjuncts.len() > 1;
        let shared = match files {
            true => self.beside_files(id, taken.literal, env, &mut taken.groups),
            false => None,
        };
        let embeds = code.has_embeds || shared.is_some();
        let apart = self.stands_apart(taken);
        if embeds && (taken.close_as.is_none() || joins || apart) && !code.explicit {
            let known = &mut work.inner.at_mut(place).1;
            let group = match known.or(shared) {
                Some(group) => group,
                None => self.heap.new_group(),
            };
            *known = Some(group);
            if let Some(outer) = taken.close_as.filter(|it| joins && *it != group) {
                self.within.insert(group, outer);
                let beside = self.embedding_of(conjunct.beside);
                if !self.stands_in_file(beside) {
                    self.exempt(group, beside);
                }
            }
            self.literals.insert(group, u32::from(conjunct.by_reference));
            if !code.takes_in && shared.is_none() {
                self.idle.insert(group);
            }
            // What else the outermost literal says of the field stands beside it.
            if let (Some(scope), None) = (conjunct.scope(), taken.close_as) {
                let within = self.within_scope(scope.get());
                if !self.joined.get(group).is_some_and(|it| it.contains(&within)) {
                    self.joined.extend(group, &[scope.get(), within].into_iter().collect());
                }
            }
            taken.close_as = Some(group);
            taken.groups.add(group);
            if file {
                self.of_files.insert(group);
            }
        }
        taken.from.inner_scope = conjunct.scope().or_else(|| self.scope_in(taken));
        if code.explicit || !code.has_embeds {
            return;
        }
        for declaration in &code.declarations {
            let Some(embed) = self.embeds(declaration) else { continue };
            let around = match (conjunct.scope(), conjunct.close_as) {
                (Some(scope), None) => scope.get(),
                _ => conjunct.beside,
            };
            let mark = self.beside(embed, taken.home, around);
            taken.groups.push(mark);
            // Who comes by what is around it has no group of that literal alone.
            match taken.close_as {
                Some(own) if taken.close_as != conjunct.closes_as() => {
                    self.homes.insert(mark, own);
                }
                Some(around) => {
                    self.homes.entry(mark).or_insert(around);
                }
                None => {}
            }
        }
    }

    /// Whether a literal that a file embeds by its name is closed by what it embeds itself, the other fields of the
    /// file notwithstanding.
    fn stands_apart(&self, taken: &Taken<'_>) -> bool {
        let conjunct = taken.conjunct;
        let Some(file) = taken.close_as.filter(|it| self.of_files.contains(it)) else {
            return false;
        };
        let embeds = |it: &Declaration| match it {
            Declaration::Embed(embed) => !matches!(self.program.code(*embed), Code::Struct(_)),
            _ => false,
        };
        conjunct.by_reference
            && !self.around.contains_key(&self.embedding_of(conjunct.beside))
            && !conjunct.groups.iter().any(|it| *it != file && self.closing.contains(it))
            && taken.code.declarations.iter().any(embeds)
    }

    /// The scope of the fields in a literal: a file is none of what stands in it.
    fn scope_in(&self, taken: &Taken<'_>) -> Option<NonZeroU32> {
        let own = taken.conjunct.closes_as().or(taken.close_as)?;
        // Of definitions within themselves the literals may go round.
        let outer = |it: &u32| self.within.get(it).copied();
        let outermost = std::iter::successors(Some(own), outer).take(MOST_WITHIN).last()?;
        NonZeroU32::new(outermost).filter(|it| !self.of_files.contains(&it.get()))
    }

    /// The groups of a literal but those of what stands beside one of its embeddings, and the mark of that: what is
    /// beside it counts for the others, not for what it joins.
    pub(super) fn groups_for(
        &self,
        taken: &Taken<'_>,
        embed: Option<ExprId>,
    ) -> (Groups, Option<u32>) {
        let own = embed.and_then(|it| self.besides.get(&(it, taken.home)).copied());
        let mut groups = taken.groups.clone();
        groups.retain(|it| Some(*it) != own);
        (groups, own)
    }

    /// What a declaration embeds that may close: an embedding, the body of a comprehension.
    pub(super) fn embeds(&self, declaration: &Declaration) -> Option<ExprId> {
        match declaration {
            Declaration::Embed(embed) => Some(*embed),
            Declaration::Comprehension(index) => {
                let code = &self.program.comprehensions[*index as usize];
                code.closes.then_some(code.body)
            }
            Declaration::Field { .. } | Declaration::Pattern { .. } | Declaration::Open => None,
        }
    }

    /// The mark of what stands beside an embedding, which itself stands in one with mark `around`.
    fn beside(&mut self, embed: ExprId, inner: EnvId, around: u32) -> u32 {
        if let Some(mark) = self.besides.get(&(embed, inner)) {
            return *mark;
        }
        let mark = self.heap.new_group();
        self.besides.insert((embed, inner), mark);
        self.marks.insert(mark);
        if around != 0 {
            self.around.insert(mark, around);
        }
        mark
    }

    /// Operands of an embedded conjunction must agree with what is an operand itself, not with what a literal among them
    /// embeds, or one that is referred to: that is open for all the outermost literal has (C-13). So each stands beside
    /// what the literals of the others embed.
    pub(crate) fn set_apart(&mut self, operands: &mut [Conjunct]) {
        if operands.len() < 2 || operands.len() > MOST_APART {
            return;
        }
        for at in 0..operands.len() {
            let Conjunct { beside, close_as, .. } = operands[at];
            let Source::Expr(expr, _) = operands[at].source() else { continue };
            let apart = beside != 0 && close_as.is_some() && self.program.may_embed(expr);
            if !apart || self.operands_around(beside) > MOST_APART {
                continue;
            }
            let mark = self.operand_mark(expr, beside);
            operands[at].beside = mark;
            for (other, operand) in operands.iter_mut().enumerate() {
                if other != at {
                    operand.groups.push(mark);
                }
            }
        }
    }

    /// The mark of what stands beside an operand of a conjunction that is embedded, or that is such an operand.
    fn operand_mark(&mut self, operand: ExprId, beside: u32) -> u32 {
        if let Some(mark) = self.operands.get(&(operand, beside)) {
            return *mark;
        }
        let mark = self.heap.new_group();
        let embedding = self.embedding_of(beside);
        self.operands.insert((operand, beside), mark);
        self.operand_of.insert(mark, embedding);
        self.marks.insert(mark);
        self.around.insert(mark, beside);
        mark
    }

    /// How many conjunctions what has this mark is an operand of, each of which is one of the next.
    fn operands_around(&self, beside: u32) -> usize {
        let operand = |it: &u32| self.operand_of.contains_key(it);
        let around = |it: &u32| self.around.get(it).copied().filter(operand);
        std::iter::successors(Some(beside).filter(operand), around).take(MOST_APART + 1).count()
    }

    /// Whether what has this mark stands beside what a file embeds.
    fn stands_in_file(&self, beside: u32) -> bool {
        self.homes.get(&beside).is_some_and(|it| self.of_files.contains(it))
    }

    /// The mark of an embedding, of which `beside` may be that of an operand.
    pub(crate) fn embedding_of(&self, beside: u32) -> u32 {
        self.operand_of.get(&beside).copied().unwrap_or(beside)
    }

    /// The marks of what other files of a package embed; gives the group that all files share if one
    /// embeds something.
    fn beside_files(
        &mut self,
        id: VertexId,
        literal: u32,
        env: EnvId,
        groups: &mut Groups,
    ) -> Option<u32> {
        let program = self.program.clone();
        let mut first = None;
        let mut embeds = false;
        for index in 0..self.heap.get(id).conjuncts.len() {
            let Source::Expr(file, _) = self.heap.get(id).conjuncts[index].source() else {
                continue;
            };
            let Code::Struct(other) = program.code(file) else { continue };
            let code = &program.structs[*other as usize];
            if !program.is_file(program.at(file)) || code.explicit {
                continue;
            }
            first = first.or(Some(file));
            embeds |= code.has_embeds;
            if *other != literal && code.has_embeds {
                for declaration in &code.declarations {
                    if let Some(embed) = self.embeds(declaration) {
                        groups.push(self.beside(embed, env, 0));
                    }
                }
            }
        }
        let key = (first.filter(|_| embeds)?, env);
        if !self.besides.contains_key(&key) {
            let group = self.heap.new_group();
            self.besides.insert(key, group);
        }
        self.besides.get(&key).copied()
    }

    /// What a field embeds stands beside all that the scope of the field has, but itself: it is in that by groups
    /// of its own.
    pub(super) fn leave_scope(
        &mut self,
        scope: Option<NonZeroU32>,
        own: Option<u32>,
        groups: &mut Groups,
    ) {
        let Some(scope) = scope.map(NonZeroU32::get) else { return };
        let within = self.within_scope(scope);
        groups.retain(|it| *it != scope);
        groups.add(within);
        let Some(own) = own else { return };
        // What is embedded within that is in its own only: guards within guards would have as many as they are deep.
        groups.retain(|it| self.embedding_scopes.get(it) != Some(&scope));
        let embedding = match self.embeddings.get(&own) {
            Some(known) => *known,
            None => {
                let embedding = self.heap.new_group();
                self.embeddings.insert(own, embedding);
                self.embedding_scopes.insert(embedding, scope);
                embedding
            }
        };
        groups.add(embedding);
    }

    /// The group of what fields in a scope embed: it counts for the scope.
    fn within_scope(&mut self, scope: u32) -> u32 {
        if let Some(within) = self.scopes.get(&scope) {
            return *within;
        }
        let within = self.heap.new_group();
        self.scopes.insert(scope, within);
        self.joined.extend(scope, &[within].into_iter().collect());
        within
    }

    /// A group says nothing of what stands beside the embedding it is in, nor beside those around.
    pub(crate) fn exempt(&mut self, group: u32, beside: u32) {
        let known = self.joined.get(group).cloned().unwrap_or_default();
        let mut marks = Groups::new();
        // Who stands around is older: none is met twice on the way.
        let mut next = Some(beside).filter(|it| *it != 0);
        while let Some(mark) = next.filter(|it| !known.contains(it)) {
            marks.push(mark);
            if let Some(embedding) = self.embeddings.get(&mark) {
                self.apart.entry(group).or_default().push(*embedding);
            }
            next = match self.other_rounds(mark) {
                Some((others, around)) => {
                    others.for_each(|it| marks.push(it));
                    Some(around).filter(|it| *it != 0)
                }
                None => self.around.get(&mark).copied(),
            };
        }
        self.joined.extend(group, &marks);
    }
}
