//! Combinations of alternatives that come to the same value: disjunctions that say the same multiply, and yet few
//! values come of them. `A & A & A` for `A: {} | {c: string}` has eight combinations and three values (D-9).

use cue_map::{Map, Set};
use smallvec::SmallVec;

use crate::disjunction::Tried;
use crate::evaluator::Evaluator;
use crate::groups::Membership;
use crate::heap::{
    ArcEntry, Closed, Closing, Conjunct, Cycle, Disjunction, EnvId, EnvKind, Pick, Source, VertexId,
};
use crate::program::{
    Code, DeclLabel, Declaration, ExprId, LabelKind, ListElement, Outward, Presence,
};

/// Alternatives that are the same have the same number.
type Class = u32;

/// What is known of the combinations of many disjunctions; with no alternative in common nothing is.
#[derive(Default)]
pub(crate) struct Shortcuts {
    /// The disjunctions that these are about.
    of: Vec<ExprId>,
    /// So many alternatives were taken before.
    before: usize,
    /// The disjunctions that are tried, in this order, and the class of each alternative.
    tried: Vec<(ExprId, Vec<Class>)>,
    /// Disjunctions of which each time the same is taken as of one that is tried.
    copies: Vec<(ExprId, Vec<ExprId>)>,
    /// What came of the classes that were taken of the first disjunctions; so many are left.
    known: Map<Combination, Tried>,
    /// Whether nothing closes the value, or comes to.
    open: bool,
    /// Values with alternatives of some disjunctions, by those that are left.
    values: Vec<(Vec<ExprId>, VertexId)>,
}

/// How many disjunctions are left, and what was taken of the others: in order and each once.
pub(crate) type Combination = (u32, SmallVec<[Class; 8]>);

impl Shortcuts {
    /// Of disjunctions that say the same as many are enough as there are alternatives: then there is a combination
    /// for every set of these. The first of each set, as combinations come, takes its own first alternative of all
    /// but the last disjunctions: those between the first one and these need not be tried.
    fn new(before: usize, all: Vec<(ExprId, Vec<Class>)>) -> Self {
        let mut alike: Vec<(&[Class], Vec<ExprId>)> = Vec::new();
        for (expr, classes) in &all {
            match alike.iter_mut().find(|it| it.0 == classes) {
                Some((_, exprs)) => exprs.push(*expr),
                None => alike.push((classes, vec![*expr])),
            }
        }
        let mut copies = Vec::new();
        for (classes, exprs) in alike {
            if let Some(more) = exprs.len().checked_sub(classes.len()).filter(|it| *it > 0) {
                copies.push((exprs[0], exprs[1..=more].to_vec()));
            }
        }
        let mut tried = all;
        tried.retain(|it| !is_copy(&copies, it.0));
        Self { before, tried, copies, ..Self::default() }
    }

    /// Whether they are about some disjunctions; what an alternative brings comes first.
    pub(crate) fn covers(&self, all: &[Disjunction]) -> bool {
        all.first().is_none_or(|it| self.of.contains(&it.expr))
    }

    /// What is taken together, besides, where these are for what an alternative brings.
    pub(crate) fn add_copies(&mut self, around: Option<&Shortcuts>) {
        for (first, more) in around.into_iter().flat_map(|it| &it.copies) {
            let with = |it: &(ExprId, Vec<ExprId>)| it.0 == *first || it.1.contains(first);
            match self.copies.iter_mut().find(|it| with(it)) {
                Some((_, all)) => all.extend(more.iter().copied()),
                None => self.copies.push((*first, more.clone())),
            }
        }
    }

    /// Those of some disjunctions that are tried, if these are not all.
    pub(crate) fn tried_of(&self, all: &[Disjunction]) -> Option<Vec<Disjunction>> {
        if self.copies.is_empty() {
            return None;
        }
        let tried = |it: &&Disjunction| self.tried.iter().any(|tried| tried.0 == it.expr);
        Some(all.iter().filter(tried).cloned().collect())
    }

    /// What is taken together with one of the alternatives of a disjunction that is tried.
    fn taken_with(&self, next: Pick) -> impl Iterator<Item = Pick> + '_ {
        let copies = self.copies.iter().find(|it| it.0 == next.0).map_or(&[][..], |it| &it.1);
        copies.iter().map(move |it| (*it, next.1))
    }

    /// Which combination one more alternative makes of those that are taken, if all that is left to try after it is
    /// what is left of the disjunctions.
    fn combination(&self, taken: &[Pick], next: Pick, left: usize) -> Option<Combination> {
        let taken = taken.get(self.before..)?;
        let (now, _) = self.tried.split_at_checked((self.tried.len() + 1).checked_sub(left)?)?;
        let mut all = SmallVec::new();
        let mut known = 0;
        for (of, classes) in now {
            let mut picks = taken.iter().chain([&next]);
            let (_, pick) = picks.find(|it| it.0 == *of)?;
            all.push(*classes.get(*pick as usize)?);
            known += 1 + self.taken_with((*of, *pick)).count();
        }
        if known != taken.len() + 1 + self.taken_with(next).count() {
            return None;
        }
        cue_sort::ascending(&mut all);
        all.dedup();
        Some((left as u32, all))
    }
}

/// Whether the same is taken of a disjunction as of another one.
fn is_copy(copies: &[(ExprId, Vec<ExprId>)], expr: ExprId) -> bool {
    copies.iter().any(|it| it.1.contains(&expr))
}

/// What an alternative says, and what it says that of.
#[derive(PartialEq, Eq, Hash)]
struct Said<'a> {
    /// Where the names in it are looked up, if there are any.
    names: Option<Scope>,
    file: u32,
    text: &'a str,
    marked: bool,
    part_of: SmallVec<[PartOf; 1]>,
}

/// Where names are looked up that are the same where the text is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Scope {
    /// As fields of a struct, whichever of its literals they are in.
    Fields(VertexId),
    /// So many environments out and from there on.
    Out(u32, EnvId),
}

/// Which closing values something is a part of.
#[derive(PartialEq, Eq, Hash)]
enum PartOf {
    /// Of those that close the value: all that matters where nothing else can come to close it.
    Closing(SmallVec<[u32; 2]>),
    /// All of them that something else is a part of, too, what it closes as, and what it stands beside.
    All(SmallVec<[u32; 2]>, Option<u32>, u32),
}

impl Evaluator {
    /// What is needed to know which combinations come to the same.
    pub(crate) fn shortcuts(&self, id: VertexId, disjunctions: &[Disjunction]) -> Shortcuts {
        let written = self.heap.get(id).was_closed == Closed::Not
            && disjunctions
                .iter()
                .all(|of| self.alternatives(of).all(|it| self.is_closed_to_more(it, of)));
        let mut closing = written.then(|| self.closing_it(id, disjunctions));
        let open = closing.as_ref().is_some_and(Vec::is_empty);
        let alone = self.of_one_only(id, disjunctions);
        if let Some(closing) = &mut closing {
            closing.retain(|it| !alone.contains(it));
        }
        let mut numbers: Map<Said<'_>, Class> = Map::default();
        let mut classes = Vec::with_capacity(disjunctions.len());
        let mut made: Class = 0;
        for of in disjunctions {
            let class = |pick| {
                let fresh = made;
                made += 1;
                match self.said_of(of, pick, closing.as_deref(), &alone) {
                    Some(said) => *numbers.entry(said).or_insert(fresh),
                    None => fresh,
                }
            };
            classes.push((of.expr, (0..of.marks.len()).map(class).collect::<Vec<_>>()));
        }
        let shared = numbers.len() < made as usize;
        let shortcuts = match shared {
            true => Shortcuts::new(self.heap.picks(id).len(), classes),
            false => Shortcuts::default(),
        };
        Shortcuts { open, of: disjunctions.iter().map(|it| it.expr).collect(), ..shortcuts }
    }

    /// What an alternative says; none if it may say something else at each place.
    fn said_of<'a>(
        &'a self,
        of: &'a Disjunction,
        pick: usize,
        closing: Option<&[u32]>,
        alone: &Set<u32>,
    ) -> Option<Said<'a>> {
        let expr = self.alternatives(of).nth(pick)?;
        let at = self.program.at(expr);
        let source = self.program.sources.get(at.source as usize)?;
        let text = source.text.get(at.span.start as usize..at.span.end as usize)?;
        let outward = self.program.outward.get(&expr);
        let mut names = None;
        let mut part_of = SmallVec::new();
        for conjunct in &of.sources {
            let Source::Expr(_, within) = conjunct.source() else { return None };
            let scope = outward.map(|it| self.scope(within, *it));
            let same = names.replace(scope).is_none_or(|it| it == scope);
            if !same || conjunct.cycle == Cycle::Cyclic || conjunct.is_computed() {
                return None;
            }
            part_of.push(match closing {
                Some(all) => {
                    let member = Membership::new(&conjunct.groups, &self.joined);
                    let counts = |it: &u32| self.counts_for(&member, *it);
                    PartOf::Closing(all.iter().copied().filter(counts).collect())
                }
                None => {
                    let all = conjunct.groups.iter().copied().filter(|it| !alone.contains(it));
                    PartOf::All(all.collect(), conjunct.closes_as(), conjunct.beside)
                }
            });
        }
        let marked = of.marks.get(pick) == Some(&true);
        Some(Said { names: names.flatten(), file: at.source, text, marked, part_of })
    }

    /// The groups that a single disjunction belongs to, and nothing else that is said of the value: these tell
    /// nothing apart, each allows what is taken of that.
    fn of_one_only(&self, id: VertexId, disjunctions: &[Disjunction]) -> Set<u32> {
        // By which disjunction a group is met first, and whether it is by anything else.
        let mut met: Map<u32, (usize, bool)> = Map::default();
        for (at, of) in disjunctions.iter().enumerate() {
            for group in of.sources.iter().flat_map(|it| it.groups.iter()) {
                let by = met.entry(*group).or_insert((at, true));
                by.1 &= by.0 == at;
            }
        }
        let vertex = self.heap.get(id);
        let others = vertex.closing.iter().map(|it| it.group);
        for group in others.chain(vertex.arcs.iter().flat_map(|it| it.groups.iter().copied())) {
            met.remove(&group);
        }
        met.iter().filter(|it| it.1.1).map(|it| *it.0).collect()
    }

    fn scope(&self, env: EnvId, outward: Outward) -> Scope {
        let out = self.env_up(env, outward.up);
        match self.heap.envs[out].kind {
            EnvKind::Struct(vertex, ..) if outward.fields_there => {
                Scope::Fields(self.follow(vertex))
            }
            _ => Scope::Out(outward.up, out),
        }
    }

    /// The groups that close a value as far as it is known, and with what is chosen for it.
    fn closing_it(&self, id: VertexId, disjunctions: &[Disjunction]) -> Vec<u32> {
        let own = self.heap.get(id).closing.iter().map(|it| it.group);
        let sources = disjunctions.iter().flat_map(|it| &it.sources);
        let chosen = sources.flat_map(|it| it.groups.iter().copied());
        let mut all: Vec<u32> = own.chain(chosen).filter(|it| self.closes(*it)).collect();
        cue_sort::ascending(&mut all);
        all.dedup();
        all
    }

    /// Whether a vertex has a field already that a closed struct refuses which nothing that is left to try is a part
    /// of: no further choice helps. Looked for where choices are many only.
    pub(crate) fn refuses_already(&self, id: VertexId, left: &[Disjunction]) -> bool {
        let vertex = self.heap.get(id);
        if self.shortcuts_at(id).is_none() || vertex.picks.is_empty() || !vertex.patterns.is_empty()
        {
            return false;
        }
        let may_name = |group: u32| {
            let mut sources = left.iter().flat_map(|it| &it.sources);
            sources.any(|it| self.counts_for(&Membership::new(&it.groups, &self.joined), group))
        };
        let holds = |it: &&Closing| self.closes_here(id, it) && !may_name(it.group);
        let closing: SmallVec<[u32; 4]> =
            vertex.closing.iter().filter(holds).map(|it| it.group).collect();
        let refused = |arc: &ArcEntry| {
            let member = Membership::new(&arc.groups, &self.joined);
            closing.iter().any(|it| !self.has_place(id, &member, *it))
        };
        !closing.is_empty()
            && vertex.arcs.iter().any(|it| self.is_there_for_good(it) && refused(it))
    }

    /// Whether a field is a regular one that is there, and nothing that may not be known yet.
    fn is_there_for_good(&self, arc: &ArcEntry) -> bool {
        let written = |it: &Conjunct| match it.source() {
            Source::Expr(expr, _) => self.program.code(expr).is_tag(),
            Source::Data(_) => true,
            Source::Vertex(_) => false,
        };
        arc.presence == Presence::Member
            && self.labels.kind(arc.label) == LabelKind::Regular
            && self.heap.get(arc.vertex).conjuncts.iter().all(written)
    }

    /// Whether a value is written, or named, that brings neither a further choice nor anything that closes or opens.
    fn is_closed_to_more(&self, expr: ExprId, of: &Disjunction) -> bool {
        // A definition may close what is named.
        let closes = |it: &ArcEntry| {
            let named = self.heap.get(it.vertex);
            self.is_definition(it.label)
                || !named.closing.is_empty()
                || named.conjuncts.iter().any(|it| !it.groups.is_empty())
        };
        if self.named_field(expr, of).is_some_and(|it| closes(it.1)) {
            return false;
        }
        match self.declarations(expr, of) {
            Some(all) => {
                let opens = |it: &Declaration| matches!(it, Declaration::Open);
                all.iter().all(|it| it.is_of_fields() && !opens(it))
            }
            None => self.has_no_choice(expr),
        }
    }

    /// Whether a value is written that brings no further choice.
    pub(crate) fn has_no_choice(&self, expr: ExprId) -> bool {
        match self.program.code(expr) {
            Code::Struct(literal) => {
                let all = &self.program.structs[*literal as usize].declarations;
                all.iter().all(Declaration::is_of_fields)
            }
            Code::List(_) | Code::Bound(..) | Code::Top => true,
            code => code.is_tag(),
        }
    }

    /// Whether an expression is a literal in which no name is looked up.
    pub(crate) fn names_nothing(&self, expr: ExprId) -> bool {
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            match self.program.code(expr) {
                Code::Scalar(_) | Code::Top | Code::Bottom | Code::Type(..) => {}
                Code::Negative(it) | Code::Positive(it) | Code::Bound(_, it) => open.push(*it),
                Code::Unify(one, other) => open.extend([*one, *other]),
                Code::Disjoin(all) => open.extend(all.iter().map(|it| it.0)),
                Code::List(all) => {
                    for element in all.iter() {
                        match element {
                            ListElement::Value(it) => open.push(*it),
                            ListElement::Rest(it) => open.extend(*it),
                            ListElement::Comprehension(_) => return false,
                        }
                    }
                }
                Code::Struct(literal) => {
                    for declaration in &self.program.structs[*literal as usize].declarations {
                        match declaration {
                            Declaration::Field { label: DeclLabel::Fixed(_), value, .. } => {
                                open.push(*value);
                            }
                            Declaration::Pattern { label, value, .. } => {
                                open.extend([*label, *value]);
                            }
                            Declaration::Open => {}
                            _ => return false,
                        }
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// What is taken of disjunctions with an alternative that is tried.
    pub(crate) fn taken_with(&self, pick: Pick) -> SmallVec<[Pick; 1]> {
        let shortcuts = self.ways.shortcuts.as_ref();
        let more = shortcuts.into_iter().flat_map(|it| it.taken_with(pick));
        std::iter::once(pick).chain(more).collect()
    }

    /// The shortcuts of the choice that is made at a vertex, or of the one that a vertex is tried for.
    pub(crate) fn shortcuts_at(&self, id: VertexId) -> Option<&Shortcuts> {
        let shortcuts = self.ways.shortcuts.as_ref()?;
        (self.ways.of == Some(self.stands_at(id))).then_some(shortcuts)
    }

    /// Leaves out those of the disjunctions of a vertex that are decided with others; it is tried with some
    /// alternatives.
    pub(crate) fn leave_copies(&self, id: VertexId, disjunctions: &mut Vec<Disjunction>) {
        if let Some(shortcuts) = self.shortcuts_at(id).filter(|it| !it.copies.is_empty()) {
            disjunctions.retain(|it| !is_copy(&shortcuts.copies, it.expr));
        }
    }

    /// Which combination of the choice that is being made a vertex is with one more alternative; not asked
    /// where it takes more than a value to know which results are defaults.
    pub(crate) fn combination(&self, id: VertexId, next: Pick, left: usize) -> Option<Combination> {
        let shortcuts = self.shortcuts_at(id).filter(|_| !self.ways.wanted)?;
        shortcuts.combination(self.heap.picks(id), next, left)
    }

    /// What was made of a combination, if it was: the vertex that has it.
    pub(crate) fn reached(&self, combination: Option<&Combination>) -> Option<Tried> {
        let known = self.ways.shortcuts.as_ref()?.known.get(combination?)?;
        Some(Tried { candidate: self.follow(known.candidate), ..*known })
    }

    /// A value with alternatives of the same disjunctions that is what this one is so far: what is left to try comes
    /// to the same. Looked for where literals are all there is to compare.
    pub(crate) fn come_to_already(
        &mut self,
        id: VertexId,
        left: &[Disjunction],
    ) -> Option<VertexId> {
        let shortcuts = self.shortcuts_at(id).filter(|it| it.open && !self.ways.wanted)?;
        if !self.is_literal(id) {
            return None;
        }
        let left: Vec<ExprId> = left.iter().map(|it| it.expr).collect();
        let known = shortcuts.values.iter().filter(|it| it.0 == left).map(|it| it.1);
        let known: SmallVec<[VertexId; 8]> = known.collect();
        let same = known.into_iter().find(|it| self.same_so_far(*it, id));
        if let (None, Some(shortcuts)) = (same, &mut self.ways.shortcuts) {
            shortcuts.values.push((left, id));
        }
        same
    }

    /// Whether a vertex, as far as it is known, is a scalar or a struct of fields in which no name is looked up.
    fn is_literal(&self, id: VertexId) -> bool {
        let vertex = self.heap.get(id);
        let mut fields = vertex.arcs.iter().map(|it| self.heap.get(it.vertex));
        // A bound by something that is not known yet does not show.
        let shows = |it: &Pick| match self.program.alternative(*it) {
            Some(expr) => {
                !matches!(self.program.code(expr), Code::Bound(..)) || self.names_nothing(expr)
            }
            None => false,
        };
        !vertex.is_list
            && self.heap.picks(id).iter().all(shows)
            && vertex.fault.is_none()
            && fields.all(|it| it.conjuncts.iter().all(|it| self.is_of_literals(it)))
    }

    /// Whether a conjunct is data, or a literal in which no name is looked up.
    pub(crate) fn is_of_literals(&self, conjunct: &Conjunct) -> bool {
        match conjunct.source() {
            Source::Expr(expr, _) => self.names_nothing(expr),
            Source::Data(_) => true,
            Source::Vertex(_) => false,
        }
    }

    /// Whether two of these are the same but for what is chosen further.
    fn same_so_far(&mut self, one: VertexId, other: VertexId) -> bool {
        let (left, right) = (self.heap.get(one), self.heap.get(other));
        let scalar = |it| self.scalar_of(it).map(|it| it.0);
        let scalars = match (scalar(left), scalar(right)) {
            (Some(left), Some(right)) => crate::compare::same(left, right),
            (left, right) => left.is_none() && right.is_none(),
        };
        let alike = scalars
            && left.kinds == right.kinds
            && left.constrained == right.constrained
            && left.is_struct == right.is_struct
            && left.open == right.open
            && left.content == right.content
            && left.demoted == right.demoted;
        alike
            && self.same_tests(one, other)
            && self.same_patterns(one, other)
            && self.heap.get(one).arcs.len() == self.heap.get(other).arcs.len()
            && self.same_fields(one, other, 0)
    }

    /// Something was made of a combination.
    pub(crate) fn note_reached(&mut self, combination: Option<Combination>, tried: Tried) {
        if let (Some(shortcuts), Some(combination)) = (&mut self.ways.shortcuts, combination) {
            shortcuts.known.insert(combination, tried);
        }
    }
}
