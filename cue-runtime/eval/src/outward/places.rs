//! What the places are that references lead to, and how they are called.

use cue_definition::{Outward, Place, PlaceOf, Room, root_of};
use cue_map::Set;

use super::{Found, Packages, Search};
use crate::builtin::md5;
use crate::evaluator::Evaluator;
use crate::export::Style;
use crate::found;
use crate::heap::{Source, VertexId};
use crate::printed::Show;
use crate::program::{At, Code, Declaration, ExprId, Label, LabelKind};

/// References one after the other that are followed.
const MOST_SHARED: usize = 50;

impl Search<'_> {
    /// All that was found.
    pub(super) fn finish(mut self, part: VertexId, room: Room) -> Outward {
        let within = self.within(part);
        if !self.numbers.contains_key(&part) {
            self.numbers.insert(part, self.found.len());
            self.found.push(Found { id: part, package: None, uses: 0 });
        }
        let inside: Set<VertexId> = within.iter().copied().collect();
        let mut places = Vec::new();
        for number in 0..self.found.len() {
            let mut place = self.place(number);
            place.is_within = inside.contains(&self.found[number].id);
            places.push(place);
        }
        // What is around others is used by them.
        let mut more: Vec<usize> = places.iter().filter_map(|it| it.outer).collect();
        let others = within.iter().filter(|it| !self.numbers.contains_key(it));
        more.extend(others.filter_map(|it| self.outer(*it).0));
        for number in more {
            if let Some(place) = places.get_mut(number) {
                place.uses += 1;
            }
        }
        let is_closed = self.is_closed(part);
        let matched = self.matched.remove(&part).unwrap_or_default();
        let exprs = self.exprs(part);
        let own = self.numbers.get(&part).and_then(|it| places.get(*it));
        let path = own.and_then(|it| it.path.clone()).unwrap_or_default();
        Outward { room, path, references: self.references, places, exprs, matched, is_closed }
    }

    /// All that is in the part.
    fn within(&self, part: VertexId) -> Vec<VertexId> {
        let mut within = vec![part];
        let mut done = 0;
        while let Some(id) = within.get(done).copied() {
            done += 1;
            for arc in &self.it.heap.get(id).arcs {
                if self.it.heap.get(arc.vertex).parent == Some(id) {
                    within.push(arc.vertex);
                }
            }
        }
        within
    }

    /// The outermost of the places around one, and how many labels lead from there.
    fn outer(&self, id: VertexId) -> (Option<usize>, usize) {
        let (mut outer, mut found) = (None, 0);
        let around = std::iter::successors(self.parent(id), |it| self.parent(*it));
        for (steps, parent) in around.enumerate() {
            if let Some(number) = self.numbers.get(&parent) {
                (outer, found) = (Some(*number), steps + 1);
            }
        }
        (outer, found)
    }

    fn place(&mut self, number: usize) -> Place {
        let Found { id, uses, .. } = self.found[number];
        let (outer, steps) = self.outer(id);
        let exprs = self.exprs(id);
        let data = exprs.is_empty().then(|| {
            let show = Show::usual(Style::Definition);
            self.it.expression_text(id, show)
        });
        let mut labels = Vec::new();
        let mut next = id;
        while let (Some(label), Some(parent)) = (self.it.heap.get(next).label, self.parent(next)) {
            labels.push(self.label(label));
            next = parent;
        }
        labels.reverse();
        let root = match next == self.it.root {
            true => Some(None),
            false => {
                let mut packages = self.it.imports.iter();
                packages.find(|it| it.1 == next).map(|it| Some(root_of(it.0 as usize + 1)))
            }
        };
        let path = root.map(|root| {
            let labels = labels.iter().map(|it| it.hidden.as_ref().unwrap_or(&it.text).clone());
            root.into_iter().chain(labels).collect()
        });
        let package = self.found[number].package;
        Place {
            path,
            exprs,
            data,
            matched: self.matched.get(&id).cloned().unwrap_or_default(),
            labels,
            package: package.map(|it| self.key(it)),
            outer,
            steps,
            is_within: false,
            uses,
            of: self.kind(id),
            is_closed: self.is_closed(id),
        }
    }

    /// The place that a value is from, by way of lets, too.
    fn shared(&mut self, id: VertexId) -> Option<VertexId> {
        let mut at = id;
        for _ in 0..MOST_SHARED {
            let Some(next) = found::target(self.it, at).or_else(|| self.let_of(at)) else { break };
            at = next;
        }
        Some(at).filter(|it| *it != id && !self.is_let(*it))
    }

    /// The `let` that a value is nothing but the name of.
    fn let_of(&mut self, id: VertexId) -> Option<VertexId> {
        let [conjunct] = self.it.heap.get(id).conjuncts.as_slice() else { return None };
        let Source::Expr(expr, env) = conjunct.source() else { return None };
        match self.it.program.code(expr) {
            Code::Let { .. } => self.it.eval(expr, env).vertex(),
            _ => None,
        }
    }

    fn kind(&mut self, id: VertexId) -> PlaceOf {
        let real = self.it.unify(id);
        // What has its value from another place has nothing of its own in it; a `let` is none.
        let shared = self.shared(id).is_some();
        let wrong = self.is_withheld(id);
        let vertex = self.it.heap.get(real);
        let known = vertex.scalar.is_some() || vertex.is_struct || vertex.is_list;
        match known && vertex.choice.is_none() {
            _ if wrong => PlaceOf::Wrong,
            false => PlaceOf::Any,
            true if shared || vertex.arcs.is_empty() => PlaceOf::Bare,
            true => PlaceOf::Filled,
        }
    }

    /// Whether a definition closes a place, or something that it is nothing but or embeds.
    fn is_closed(&mut self, id: VertexId) -> bool {
        let mut places = vec![id];
        let mut at = 0;
        while let Some(id) = places.get(at).copied() {
            at += 1;
            let real = self.it.unify(id);
            if self.it.is_closed_deeply(id) || self.it.is_closed_deeply(real) {
                return true;
            }
            let mut open = self.made_of(id);
            while let Some((expr, env)) = open.pop() {
                let program = self.it.program.clone();
                match program.code(expr) {
                    Code::Unify(left, right) => open.extend([(*left, env), (*right, env)]),
                    Code::Struct(number) => {
                        let literal = &program.structs[*number as usize];
                        let lets = literal.lets.len();
                        let env = self.it.heap.envs.enter_struct(env, real, *number, lets);
                        open.extend(literal.declarations.iter().filter_map(|it| match it {
                            Declaration::Embed(it) => Some((*it, env)),
                            _ => None,
                        }));
                    }
                    Code::Field { .. }
                    | Code::Let { .. }
                    | Code::Import(_)
                    | Code::Select(..)
                    | Code::Index(..) => {
                        let target = self.it.eval(expr, env).vertex();
                        places.extend(target.filter(|it| !places.contains(it)));
                    }
                    _ => {}
                }
            }
        }
        false
    }

    /// What makes a value; what patterns say of it comes after what is written there.
    fn exprs(&self, id: VertexId) -> Vec<At> {
        let mut all: Vec<(bool, ExprId)> = Vec::new();
        for conjunct in &self.it.heap.get(id).conjuncts {
            if let Source::Expr(expr, _) = conjunct.source() {
                if all.iter().all(|it| it.1 != expr) {
                    all.push((conjunct.late, expr));
                }
            }
        }
        let (late, written): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| it.0);
        written.into_iter().chain(late).map(|it| self.it.program.at(it.1)).collect()
    }

    /// A label of a path.
    fn label(&self, label: Label) -> cue_definition::Label {
        let it = &self.it.labels;
        let text = self.it.label_text(label);
        let package = it.package(label).filter(|_| self.packages == Packages::PutIn);
        let hidden = package.map(|it| format!("{text}{}", suffix(it)));
        cue_definition::Label { text, is_index: it.kind(label) == LabelKind::Index, hidden }
    }
}

impl Evaluator {
    /// Whether a definition closes a value, and all that is in it: one that it stands in, or one that says
    /// something of it.
    fn is_closed_deeply(&self, id: VertexId) -> bool {
        // What stands beside an embedded definition is not in it.
        let beside = |group: &u32| self.literals.contains_key(group);
        let deep = |group: &u32| self.closes_deeply(*group) && !beside(group);
        let vertex = self.heap.get(id);
        found::is_in_definition(self, id)
            || vertex.conjuncts.iter().any(|it| it.groups.iter().any(deep))
            || vertex.closing.iter().any(|it| deep(&it.group))
    }
}

/// What hidden names of a package end with where they stand in another one (O-81).
pub(crate) fn suffix(package: &str) -> String {
    let digits = md5(package.as_bytes()).into_iter().take(4).map(|it| format!("{it:02X}"));
    digits.fold("_".to_owned(), |text, it| text + &it)
}
