//! Struct literals become arcs.

use std::num::NonZeroU32;

use crate::builtin::Kinds;
use crate::error::{Fault, Kind};
use crate::evaluator::Evaluator;
use crate::groups::Groups;
use crate::heap::{
    By, Closed, Conjunct, Contribution, Cycle, EnvId, Lineage, Pattern, Placed, Source, VertexId,
    kept,
};
use crate::program::{
    At, ClauseCode, Code, DeclLabel, Declaration, ExprId, LabelKind, Presence, StructLiteral,
};
use crate::thin::Thin;
use crate::work::{Computed, Pending, Work};

/// How often a literal may be in itself by way of references.
const MOST_LAPS: usize = 40;

/// Vertices around one that are looked at for that.
const MOST_LOOKED_AT: usize = 1_000;

/// Of as many literals at one place each is looked at.
const MANY_PLACED: usize = 16;

/// Literals within each other that are gone through for the outermost.
const MOST_WITHIN: usize = 32;

impl Evaluator {
    pub(crate) fn take_struct(
        &mut self,
        id: VertexId,
        expr: ExprId,
        literal: u32,
        env: EnvId,
        conjunct: &Conjunct,
        at: At,
        work: &mut Work,
    ) {
        if conjunct.by_reference && self.contains_itself(id, literal) {
            self.raise(id, Fault::spread(Kind::StructuralCycle, "structural cycle"));
            return;
        }
        let program = self.program.clone();
        let code = &program.structs[literal as usize];
        let vertex = self.heap.get_mut(id);
        if vertex.arcs.is_empty() {
            vertex.arcs.reserve(code.fields as usize);
        }
        let again = match work.newest_inner.is_none_or(|it| it.index() < env.index()) {
            true => {
                work.newest_inner = Some(env);
                None
            }
            false => work.inner.place((literal, env)),
        };
        // They come in the order they are written in, more often than not.
        let last = vertex.placed.last().map(|it| it.literal);
        let newest = vertex.placed.len() > MANY_PLACED && work.newest_literal < Some(literal);
        work.newest_literal = work.newest_literal.max(last).max(Some(literal));
        let known = match newest {
            true => None,
            false => vertex.placed.iter().position(|it| it.literal == literal),
        };
        let placed = match known {
            Some(known) => {
                vertex.placed[known].repeats += u32::from(again.is_none());
                known as u32
            }
            None => {
                let firing = conjunct.firing;
                let produced = Thin::default();
                vertex.placed.push(Placed { literal, at, repeats: 0, firing, produced });
                vertex.placed.len() as u32 - 1
            }
        };
        self.count_work(work);
        let outer = conjunct.outer;
        let mut from = conjunct.lineage();
        // What a literal embeds shows in messages with it, a file excepted.
        if code.has_embeds && !program.is_file(at) {
            from.via = self.heap.cross_literal(from.via, at);
        }
        if let Some(named) = &code.named {
            self.heap.get_mut(id).name(named);
        }
        let (place, inner) = match again {
            Some(known) => (known, work.inner.at_mut(known).0),
            None => {
                let inner = self.heap.envs.enter_struct(env, id, literal, code.lets.len());
                if !code.lets.is_empty() && (from.way != 0 || from.cycle != Cycle::None) {
                    self.let_ways.insert(inner, (from.cycle, from.way));
                }
                (work.inner.push((literal, env), (inner, None)), inner)
            }
        };
        // Definitions and hidden fields may stand beside an embedded scalar.
        let fields = code.fields > 0 && code.declarations.iter().any(|it| self.is_member_field(it));
        let mut groups = conjunct.groups.clone();
        let mut close_as = conjunct.closes_as();
        // Inside of an embedded conjunction a literal opens what it embeds for itself only; and what `close` is called
        // with is closed by what it embeds as it is by itself, with all that is in it.
        let joins = close_as.is_some_and(|it| {
            let joined = conjunct.beside != 0 || self.close_calls.contains(&it);
            joined && !self.opened.contains(&it)
        });
        // The files of a package are one literal.
        let file = at.span.end == 0;
        let (home, place) = match file {
            true => (env, place),
            // All rounds of a loop are one literal.
            false if conjunct.is_computed() && code.has_embeds && !code.varies => {
                let around = self.around_rounds(id, env, &work.around_bodies);
                work.around_bodies.insert(inner, around);
                *work.rounds.entry((literal, around)).or_insert((inner, place))
            }
            false => (inner, place),
        };
        let files = program.is_file(at) && self.heap.get(id).conjuncts.len() > 1;
        let shared = if files { self.beside_files(id, literal, env, &mut groups) } else { None };
        // What is nothing but something embedded is that: it closes as what is embedded does.
        let bare = close_as.is_none()
            && conjunct.scope().is_none()
            && !file
            && program.is_one_embedding(code);
        let embeds = (code.has_embeds || shared.is_some()) && !bare;
        if embeds && (close_as.is_none() || joins) && !code.explicit {
            let known = &mut work.inner.at_mut(place).1;
            let group = match known.or(shared) {
                Some(group) => group,
                None => self.heap.new_group(),
            };
            *known = Some(group);
            if let Some(outer) = close_as.filter(|it| joins && *it != group) {
                self.within.insert(group, outer);
                self.exempt(group, conjunct.beside);
            }
            self.literals.insert(group, u32::from(conjunct.by_reference));
            if !code.takes_in && shared.is_none() {
                self.idle.insert(group);
            }
            // What else the outermost literal says of the field stands beside it.
            if let (Some(scope), None) = (conjunct.scope(), close_as) {
                let within = self.within_scope(scope.get());
                let marks = self.joined.entry(group).or_default();
                if !marks.contains(&within) {
                    marks.extend([scope.get(), within]);
                }
            }
            close_as = Some(group);
            groups.add(group);
            if file {
                self.of_files.insert(group);
            }
        }
        // A file is no scope of what stands in it.
        let scope = || {
            let own = conjunct.closes_as().or(close_as)?;
            // Of definitions within themselves the literals may go round.
            let outer = |it: &u32| self.within.get(it).copied();
            let outermost = std::iter::successors(Some(own), outer).take(MOST_WITHIN).last()?;
            NonZeroU32::new(outermost).filter(|it| !self.of_files.contains(&it.get()))
        };
        from.inner_scope = conjunct.scope().or_else(scope);
        if !code.explicit && code.has_embeds && !bare {
            for declaration in &code.declarations {
                if let Some(embed) = self.embeds(declaration) {
                    let around = match (conjunct.scope(), conjunct.close_as) {
                        (Some(scope), None) => scope.get(),
                        _ => conjunct.beside,
                    };
                    let mark = self.beside(embed, home, around);
                    groups.push(mark);
                    self.homes.extend(close_as.map(|it| (mark, it)));
                }
            }
        }
        let scalar_only = !fields && code.has_embeds;
        if !scalar_only {
            let vertex = self.heap.get_mut(id);
            if !scalar_embedded(code) {
                vertex.is_struct = true;
                if !code.has_embeds {
                    self.narrow(id, Kinds::STRUCT, By::Expr(expr), at, conjunct.via);
                }
            }
        }
        let open = code.is_open;
        // An embedding's group closes only if something closed is embedded.
        match open {
            true => self.note_open_shapes(id, &groups),
            false => self.note_shapes(id, &groups),
        }
        self.heap.get_mut(id).open |= open;
        let mut embedded = Vec::new();
        let makes_struct = !scalar_only && code.has_embeds && !scalar_embedded(code);
        let mut narrowed = !makes_struct;
        for declaration in &code.declarations {
            // A field makes it a struct before what is embedded behind it counts (S-21).
            if !narrowed && self.is_member_field(declaration) {
                self.narrow(id, Kinds::STRUCT, By::Expr(expr), at, from.via);
                narrowed = true;
            }
            match declaration {
                Declaration::Field { label, presence, value, notes, at } => match label {
                    DeclLabel::Fixed(label) => {
                        let groups = groups.clone();
                        // What comes again is ordered by the first time.
                        let by = again.is_none().then_some(Contribution { placed, at: *at, outer });
                        let (label, presence) = (*label, *presence);
                        self.add_field(
                            id, label, presence, *value, inner, groups, *notes, *at, by, from,
                        );
                    }
                    DeclLabel::Computed(expr) => work.computed.push(Computed {
                        label: *expr,
                        env: inner,
                        presence: *presence,
                        value: *value,
                        notes: *notes,
                        at: *at,
                        groups: groups.clone(),
                        placed,
                        outer,
                        from,
                        fault: None,
                    }),
                },
                Declaration::Pattern { label, value, alias } => {
                    let pattern = Pattern {
                        label: *label,
                        value: *value,
                        env: inner,
                        alias: *alias,
                        groups: groups.clone(),
                        from,
                    };
                    match self.program.code(pattern.label) {
                        Code::Call(..) => work.patterns.push_back(pattern),
                        _ => self.add_pattern(id, pattern),
                    }
                }
                Declaration::Embed(embed) => {
                    let via = self.heap.cross(from.via, self.program.at(*embed));
                    // What is beside it counts for the others, not for what it joins.
                    let own = self.besides.get(&(*embed, home)).copied();
                    let mut groups = groups.clone();
                    groups.retain(|it| Some(*it) != own);
                    let scope = conjunct.scope();
                    self.leave_scope(scope, own, &mut groups);
                    if groups.counted() > 0 {
                        work.met_groups += groups.counted();
                        self.count_work(work);
                        if self.spent.is_some() {
                            return;
                        }
                    }
                    let conjunct = Conjunct {
                        source: Source::Expr(*embed, inner).into(),
                        groups,
                        close_as: close_as.and_then(NonZeroU32::new),
                        by_reference: conjunct.by_reference,
                        outer,
                        firing: conjunct.firing,
                        cycle: conjunct.cycle,
                        way: conjunct.way,
                        via,
                        late: false,
                        was_closed: Closed::Not,
                        beside: own.unwrap_or(from.beside),
                        spot: kept(scope),
                    };
                    // What is written there counts before the fields do (S-21).
                    if self.program.code(*embed).is_literal() {
                        self.take(id, conjunct, work);
                    } else {
                        embedded.push(conjunct);
                    }
                }
                Declaration::Comprehension(index) => {
                    let own = self.embeds(declaration);
                    let own = own.and_then(|it| self.besides.get(&(it, home)).copied());
                    let mut groups = groups.clone();
                    groups.retain(|it| Some(*it) != own);
                    if own.is_some() {
                        self.leave_scope(conjunct.scope(), own, &mut groups);
                    }
                    let beside = own.unwrap_or(from.beside);
                    let at = program.comprehensions[*index as usize].at;
                    let via = self.heap.cross(from.via, at);
                    self.announce(id, *index);
                    let clauses = &program.comprehensions[*index as usize].clauses;
                    let guards = clauses.iter().all(|it| matches!(it, ClauseCode::If(_)));
                    work.comprehensions.push_back(Pending {
                        firing: if guards { conjunct.firing } else { 0 },
                        index: *index,
                        env: inner,
                        groups,
                        close_as,
                        outer,
                        from: Lineage { via, beside, ..from },
                    });
                }
                Declaration::Open => {}
            }
        }
        if !narrowed {
            self.narrow(id, Kinds::STRUCT, By::Expr(expr), at, from.via);
        }
        work.conjuncts.extend(embedded.into_iter().rev());
    }

    /// Whether a declaration is a field that a scalar cannot have.
    fn is_member_field(&self, declaration: &Declaration) -> bool {
        match declaration {
            Declaration::Field { label: DeclLabel::Fixed(label), presence, .. } => {
                *presence == Presence::Member && self.labels.kind(*label) == LabelKind::Regular
            }
            Declaration::Field { .. } => true,
            Declaration::Pattern { .. }
            | Declaration::Open
            | Declaration::Embed(_)
            | Declaration::Comprehension(_) => false,
        }
    }

    /// What a declaration embeds that may close: an embedding, the body of a comprehension.
    fn embeds(&self, declaration: &Declaration) -> Option<ExprId> {
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
    fn leave_scope(&mut self, scope: Option<NonZeroU32>, own: Option<u32>, groups: &mut Groups) {
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
        self.joined.entry(scope).or_default().push(within);
        within
    }

    /// A group says nothing of what stands beside the embedding it is in, nor beside those around.
    pub(crate) fn exempt(&mut self, group: u32, beside: u32) {
        let mut marks = self.joined.remove(&group).unwrap_or_default();
        let mut next = Some(beside).filter(|it| *it != 0);
        while let Some(mark) = next {
            if marks.contains(&mark) {
                break;
            }
            marks.push(mark);
            if let Some(embedding) = self.embeddings.get(&mark) {
                self.apart.entry(group).or_default().push(*embedding);
            }
            next = match self.other_rounds(mark) {
                Some((others, around)) => {
                    marks.extend(others);
                    Some(around).filter(|it| *it != 0)
                }
                None => self.around.get(&mark).copied(),
            };
        }
        self.joined.insert(group, marks);
    }

    /// Whether a literal repeats itself further down again and again: what no way shows.
    pub(crate) fn contains_itself(&self, id: VertexId, literal: u32) -> bool {
        let repeats = |literal: u32| {
            let above = self.ancestors(id).take(MOST_LOOKED_AT);
            let has =
                |it: &VertexId| self.heap.get(*it).placed.iter().any(|it| it.literal == literal);
            above.filter(has).take(MOST_LAPS + 1).count()
        };
        // Of a value that has many literals each is looked at: where it cannot be, none is.
        let deep = self.ancestors(id).nth(MOST_LAPS).is_some();
        if !deep || repeats(literal) <= MOST_LAPS {
            return false;
        }
        // Data ends, and what it is checked against ends with it (S-62).
        let mut sources = self.heap.get(id).conjuncts.iter().map(|it| it.source());
        let is_data = |it: Source| match it {
            Source::Data(_) => true,
            Source::Vertex(_) => false,
            Source::Expr(expr, _) => match self.program.code(expr) {
                Code::Struct(own) => repeats(*own) == 0,
                _ => false,
            },
        };
        !sources.any(is_data)
    }

    pub(crate) fn ancestors(&self, id: VertexId) -> impl Iterator<Item = VertexId> {
        std::iter::successors(self.heap.get(id).parent, |it| self.heap.get(*it).parent)
    }
}

/// Whether a literal is there only to hold a scalar.
fn scalar_embedded(code: &StructLiteral) -> bool {
    code.declarations.iter().any(|it| matches!(it, Declaration::Embed(_)))
        && code.declarations.iter().all(|it| match it {
            Declaration::Embed(_) => true,
            Declaration::Field { .. }
            | Declaration::Pattern { .. }
            | Declaration::Comprehension(_)
            | Declaration::Open => false,
        })
}
