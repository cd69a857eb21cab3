//! Struct literals become arcs.

use std::num::NonZeroU32;

use crate::arcs::{Declared, Unhindered};
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

mod embedding;

/// How often a literal may be in itself by way of references.
const MOST_LAPS: usize = 40;

/// Vertices around one that are looked at for that.
const MOST_LOOKED_AT: usize = 1_000;

/// Of as many literals at one place each is looked at.
const MANY_PLACED: usize = 16;

/// A literal that a vertex takes.
struct Taken<'a> {
    id: VertexId,
    literal: u32,
    code: &'a StructLiteral,
    expr: ExprId,
    at: At,
    conjunct: &'a Conjunct,
    /// Its number among those of the vertex, and whether it was taken before, in the same environment.
    placed: u32,
    again: bool,
    /// The environment in it.
    inner: EnvId,
    /// And the one by which marks of what it embeds are known: all rounds of a loop are one.
    home: EnvId,
    /// What it closes as, and the groups of its fields.
    close_as: Option<u32>,
    groups: Groups,
    /// What it hands on.
    from: Lineage,
}

impl Evaluator {
    /// Takes a struct literal: its fields and patterns at once, what it embeds next, the bodies of its comprehensions
    /// in their turn (S-23).
    #[inline(never)]
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
        let by_reference = conjunct.by_reference;
        if by_reference && (self.is_own_operand(id, expr, env) || self.contains_itself(id, literal))
        {
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
        let placed = self.place_literal(id, (literal, at), conjunct.firing, again, work);
        self.count_work(work);
        let mut from = conjunct.lineage();
        // What a literal embeds shows in messages with it, a file excepted.
        if code.has_embeds && !program.is_file(at) {
            from.via = self.heap.cross_literal(from.via, at, id);
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
        let mut taken = Taken {
            id,
            literal,
            code,
            expr,
            at,
            conjunct,
            placed,
            again: again.is_some(),
            inner,
            home: inner,
            close_as: conjunct.closes_as(),
            groups: conjunct.groups.clone(),
            from,
        };
        self.note_embeddings(&mut taken, place, env, work);
        self.declare(&taken, work);
    }

    /// The number of a literal among those of a vertex, where it counts once more unless it is there `again` in the
    /// same environment. They come in the order they are written in, more often than not.
    fn place_literal(
        &mut self,
        id: VertexId,
        (literal, at): (u32, At),
        firing: u32,
        again: Option<usize>,
        work: &mut Work,
    ) -> u32 {
        let vertex = self.heap.get_mut(id);
        let last = vertex.placed.last().map(|it| it.literal);
        let newest = vertex.placed.len() > MANY_PLACED && work.newest_literal < Some(literal);
        work.newest_literal = work.newest_literal.max(last).max(Some(literal));
        let known = match newest {
            true => None,
            false => vertex.placed.iter().position(|it| it.literal == literal),
        };
        match known {
            Some(known) => {
                vertex.placed[known].repeats += u32::from(again.is_none());
                known as u32
            }
            None => {
                let produced = Thin::default();
                vertex.placed.push(Placed { literal, at, repeats: 0, firing, produced });
                let number = vertex.placed.len() as u32 - 1;
                self.count_placing(literal);
                number
            }
        }
    }

    /// One more vertex has a literal.
    fn count_placing(&mut self, literal: u32) {
        let at = literal as usize;
        if self.placings.len() <= at {
            self.placings = vec![0; self.program.structs.len()];
        }
        if let Some(count) = self.placings.get_mut(at) {
            *count += 1;
        }
    }

    /// Takes what a literal declares.
    fn declare(&mut self, taken: &Taken<'_>, work: &mut Work) {
        let (id, code) = (taken.id, taken.code);
        let narrow = |it: &mut Self, via| {
            it.narrow(id, Kinds::STRUCT, By::Expr(taken.expr), taken.at, via);
        };
        // Definitions and hidden fields may stand beside an embedded scalar.
        let fields = code.fields > 0 && code.declarations.iter().any(|it| self.is_member_field(it));
        let makes_struct = (fields || !code.has_embeds) && !scalar_embedded(code);
        if makes_struct {
            self.heap.get_mut(id).is_struct = true;
            if !code.has_embeds {
                narrow(self, taken.conjunct.via);
            }
        }
        // An embedding's group closes only if something closed is embedded.
        match code.is_open {
            true => self.note_open_shapes(id, &taken.groups),
            false => self.note_shapes(id, &taken.groups),
        }
        self.heap.get_mut(id).open |= code.is_open;
        let mut embedded = Vec::new();
        let mut narrowed = !(makes_struct && code.has_embeds);
        let unhindered = if code.fields_only { self.unhindered(id) } else { None };
        for declaration in &code.declarations {
            // A field makes it a struct before what is embedded behind it counts (S-21).
            if !narrowed && self.is_member_field(declaration) {
                narrow(self, taken.from.via);
                narrowed = true;
            }
            match declaration {
                Declaration::Field { .. } => match &unhindered {
                    Some(known) => self.declare_unhindered(taken, known, declaration, work),
                    None => self.declare_field(taken, declaration, work),
                },
                Declaration::Pattern { label, value, alias } => {
                    let pattern = Pattern {
                        label: *label,
                        value: *value,
                        env: taken.inner,
                        alias: *alias,
                        groups: taken.groups.clone(),
                        from: taken.from,
                    };
                    match self.program.code(pattern.label) {
                        Code::Call(..) => work.patterns.push_back(pattern),
                        _ => self.add_pattern(id, pattern),
                    }
                }
                Declaration::Embed(embed) => {
                    let conjunct = self.embedding(taken, *embed, work);
                    if self.spent.is_some() {
                        return;
                    }
                    // What is written there counts before the fields do (S-21).
                    let code = self.program.code(*embed);
                    if code.is_computed_list() {
                        // What its loops go through may be a field that stands below it.
                        let at = self.program.at(*embed);
                        self.narrow(id, Kinds::LIST, By::Expr(*embed), at, conjunct.via);
                        embedded.push(conjunct);
                    } else if code.is_literal() {
                        self.take(id, conjunct, work);
                    } else {
                        embedded.push(conjunct);
                    }
                }
                Declaration::Comprehension(index) => {
                    let pending = self.comprehension_in(taken, declaration, *index);
                    work.comprehensions.push_back(pending);
                }
                Declaration::Open => {}
            }
        }
        if !narrowed {
            narrow(self, taken.from.via);
        }
        work.conjuncts.extend(embedded.into_iter().rev());
    }

    /// A field that nothing hinders: if it is not there yet, all that is looked for elsewhere is not.
    fn declare_unhindered(
        &mut self,
        taken: &Taken<'_>,
        known: &Unhindered,
        field: &Declaration,
        work: &mut Work,
    ) {
        let Taken { id, placed, inner, from, ref groups, .. } = *taken;
        let (label, presence, value, notes, at) = match field {
            Declaration::Field { label: DeclLabel::Fixed(label), presence, value, notes, at }
                if self.heap.get(id).arcs.place(*label).is_none()
                    && !self.is_definition(*label) =>
            {
                (*label, *presence, *value, *notes, *at)
            }
            // The value of a definition is closed.
            _ => return self.declare_field(taken, field, work),
        };
        let by = (!taken.again).then_some(Contribution { placed, at, outer: taken.conjunct.outer });
        let said = self.said_of_field(presence, value, inner, groups, from);
        let declared = Declared { label, presence, notes, at, by };
        self.put_field(id, known, declared, groups, said);
    }

    fn declare_field(&mut self, taken: &Taken<'_>, field: &Declaration, work: &mut Work) {
        let Declaration::Field { label, presence, value, notes, at } = field else { return };
        let Taken { id, placed, inner, from, .. } = *taken;
        let (outer, groups) = (taken.conjunct.outer, taken.groups.clone());
        match label {
            DeclLabel::Fixed(label) => {
                // What comes again is ordered by the first time.
                let by = (!taken.again).then_some(Contribution { placed, at: *at, outer });
                self.add_field(id, *label, *presence, *value, inner, groups, *notes, *at, by, from);
            }
            DeclLabel::Computed(expr) => work.computed.push(Computed {
                label: *expr,
                env: inner,
                presence: *presence,
                value: *value,
                notes: *notes,
                at: *at,
                groups,
                placed,
                outer,
                from,
                fault: None,
            }),
        }
    }

    /// On the way to what a literal embeds.
    fn cross_into(&mut self, taken: &Taken<'_>, embedded: At) -> u32 {
        match self.program.is_file(taken.at) {
            true => self.heap.cross_file(taken.from.via, embedded, taken.id),
            false => self.heap.cross(taken.from.via, embedded),
        }
    }

    /// What a literal embeds, as it has to hold.
    fn embedding(&mut self, taken: &Taken<'_>, embed: ExprId, work: &mut Work) -> Conjunct {
        let via = self.cross_into(taken, self.program.at(embed));
        let (mut groups, own) = self.groups_for(taken, Some(embed));
        let conjunct = taken.conjunct;
        let scope = conjunct.scope();
        self.leave_scope(scope, own, &mut groups);
        if groups.counted() > 0 {
            work.met_groups += groups.counted();
            self.count_work(work);
        }
        Conjunct {
            source: Source::Expr(embed, taken.inner).into(),
            groups,
            close_as: taken.close_as.and_then(NonZeroU32::new),
            by_reference: conjunct.by_reference,
            outer: conjunct.outer,
            firing: conjunct.firing,
            cycle: conjunct.cycle,
            way: conjunct.way,
            via,
            late: false,
            was_closed: Closed::Not,
            beside: own.unwrap_or(taken.from.beside),
            spot: kept(scope),
        }
    }

    /// A comprehension of a literal, which waits for its turn.
    fn comprehension_in(
        &mut self,
        taken: &Taken<'_>,
        declaration: &Declaration,
        index: u32,
    ) -> Pending {
        let (mut groups, own) = self.groups_for(taken, self.embeds(declaration));
        if own.is_some() {
            self.leave_scope(taken.conjunct.scope(), own, &mut groups);
        }
        let code = &self.program.comprehensions[index as usize];
        let guards = code.clauses.iter().all(|it| matches!(it, ClauseCode::If(_)));
        let via = self.cross_into(taken, code.at);
        self.announce(taken.id, index);
        Pending {
            firing: if guards { taken.conjunct.firing } else { 0 },
            index,
            env: taken.inner,
            groups,
            close_as: taken.close_as,
            outer: taken.conjunct.outer,
            from: Lineage { via, beside: own.unwrap_or(taken.from.beside), ..taken.from },
        }
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

    /// Whether a literal repeats itself further down again and again: what no way shows.
    pub(crate) fn contains_itself(&self, id: VertexId, literal: u32) -> bool {
        let repeats = |literal: u32| {
            let above = self.ancestors(id).take(MOST_LOOKED_AT);
            let has =
                |it: &VertexId| self.heap.get(*it).placed.iter().any(|it| it.literal == literal);
            above.filter(has).take(MOST_LAPS + 1).count()
        };
        // Of a value that has many literals each is looked at: where it cannot be, none is.
        let often = self.placings.get(literal as usize).is_some_and(|it| *it as usize > MOST_LAPS);
        let deep = often && self.ancestors(id).nth(MOST_LAPS).is_some();
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

    /// Whether a literal that is what it embeds and nothing else is computed from itself: no field lies between
    /// (`a: {(*a | 0) + 1}`).
    fn is_own_operand(&self, id: VertexId, expr: ExprId, env: EnvId) -> bool {
        let Code::Struct(literal) = self.program.code(expr) else { return false };
        let declarations = &self.program.structs[*literal as usize].declarations;
        if !declarations.iter().all(|it| matches!(it, Declaration::Embed(_))) {
            return false;
        }
        let own =
            |it: &Conjunct| matches!(it.source(), Source::Expr(at, of) if (at, of) == (expr, env));
        let mut next = id;
        while self.heap.get(next).label.is_none() {
            let Some(above) = self.heap.get(next).parent else { return false };
            if self.heap.get(above).conjuncts.iter().any(own) {
                return true;
            }
            next = above;
        }
        false
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
