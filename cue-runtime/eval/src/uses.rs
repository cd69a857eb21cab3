//! What the declarations of a program's root read of each other, by name, without evaluating anything:
//! what a change of one field may concern. A name counts wherever it stands, also where it means
//! another field: that only makes more of it be evaluated again.

use cue_map::{Map, Set};

use crate::program::{
    ClauseCode, Code, DeclLabel, Declaration, ExprId, Label, ListElement, PartCode, Program,
};

/// Names that an expression reads.
#[derive(Default)]
pub(crate) struct Reads {
    labels: Set<Label>,
    /// Also what it does not name: `self`, a computed name.
    anything: bool,
}

impl Reads {
    /// Whether one of those fields may be read.
    pub(crate) fn meets(&self, fields: &Set<Label>) -> bool {
        self.anything || fields.iter().any(|it| self.labels.contains(it))
    }
}

/// Who reads what at the root.
#[derive(Default)]
pub(crate) struct Uses {
    /// Fields in whose values a name stands.
    readers: Map<Label, Vec<Label>>,
    /// Fields that may read any other.
    readers_of_all: Vec<Label>,
    /// What decides which fields there are, and what more holds for all of them: guards, embedded
    /// values, patterns, computed labels.
    pub(crate) shape: Reads,
    /// All `let`s at the root: who reads one may read what any reads.
    pub(crate) lets: Reads,
    let_values: Vec<ExprId>,
}

impl Uses {
    /// One more file.
    pub(crate) fn add(&mut self, program: &Program, file: ExprId) {
        let mut bodies = vec![file];
        let (mut fields, mut shape) = (Vec::new(), Vec::new());
        while let Some(body) = bodies.pop() {
            let Code::Struct(literal) = program.code(body) else {
                shape.push(body);
                continue;
            };
            let literal = &program.structs[*literal as usize];
            self.let_values.extend(literal.lets.iter().map(|it| it.value));
            for declaration in &literal.declarations {
                match declaration {
                    Declaration::Field { label: DeclLabel::Fixed(label), value, .. } => {
                        fields.push((*label, *value));
                    }
                    Declaration::Field { label: DeclLabel::Computed(label), value, .. }
                    | Declaration::Pattern { label, value, .. } => shape.extend([*label, *value]),
                    Declaration::Embed(embed) => shape.push(*embed),
                    Declaration::Comprehension(index) => {
                        let it = &program.comprehensions[*index as usize];
                        shape.extend(it.clauses.iter().map(source_of));
                        bodies.push(it.body);
                        bodies.extend(it.otherwise);
                    }
                    Declaration::Open => {}
                }
            }
        }
        self.lets = self.read(program, self.let_values.clone());
        for (label, value) in fields {
            self.note_reader(label, &self.read(program, vec![value]));
        }
        let reads = self.read(program, shape);
        self.shape.labels.extend(reads.labels.iter().copied());
        self.shape.anything |= reads.anything;
    }

    /// Fields that may read a field.
    pub(crate) fn readers(&self, label: Label) -> impl Iterator<Item = Label> + '_ {
        let named = self.readers.get(&label).into_iter().flatten();
        named.chain(&self.readers_of_all).copied()
    }

    fn note_reader(&mut self, reader: Label, reads: &Reads) {
        if reads.anything {
            self.readers_of_all.push(reader);
        }
        for label in reads.labels.iter() {
            let readers = self.readers.entry(*label).or_default();
            if readers.last() != Some(&reader) {
                readers.push(reader);
            }
        }
    }

    fn read(&self, program: &Program, mut open: Vec<ExprId>) -> Reads {
        let mut reads = Reads::default();
        let mut seen: Set<ExprId> = Set::default();
        let mut literals: Vec<u32> = Vec::new();
        let mut comprehensions: Vec<u32> = Vec::new();
        while let Some(expr) = open.pop() {
            if !seen.insert(expr) {
                continue;
            }
            match program.code(expr) {
                Code::Scalar(_)
                | Code::Bottom
                | Code::Top
                | Code::Type(..)
                | Code::Variable { .. }
                | Code::PatternName { .. }
                | Code::Import(_)
                | Code::Function(_) => {}
                Code::Field { label, .. } => {
                    reads.labels.insert(*label);
                }
                // Those of structs further in are met with these.
                Code::Let { .. } => open.extend(&self.let_values),
                Code::ComputedField { .. } | Code::Enclosing { .. } => reads.anything = true,
                Code::Struct(literal) => literals.push(*literal),
                Code::List(elements) => {
                    for element in elements.iter() {
                        match element {
                            ListElement::Value(it) => open.push(*it),
                            ListElement::Rest(it) => open.extend(*it),
                            ListElement::Comprehension(it) => comprehensions.push(*it),
                        }
                    }
                }
                Code::Interpolation(said) => {
                    open.extend(said.parts.iter().filter_map(|it| match it {
                        PartCode::Value(it) => Some(*it),
                        PartCode::Text(_) => None,
                    }));
                }
                Code::Not(it)
                | Code::Negative(it)
                | Code::Positive(it)
                | Code::Bound(_, it)
                | Code::Outer { expr: it, .. }
                | Code::Aliased(it)
                | Code::Select(it, _)
                | Code::Attempt(it)
                | Code::Opened(it) => open.push(*it),
                Code::Unify(left, right)
                | Code::And(left, right)
                | Code::Or(left, right)
                | Code::Compare(_, left, right)
                | Code::Arithmetic(_, left, right)
                | Code::Index(left, right) => open.extend([*left, *right]),
                Code::Disjoin(all) => open.extend(all.iter().map(|it| it.0)),
                Code::Slice(it, low, high) => {
                    open.push(*it);
                    open.extend(low.iter().chain(high));
                }
                Code::Call(_, arguments) => open.extend(arguments.iter()),
                Code::CallOf(callee, arguments) => {
                    open.push(*callee);
                    open.extend(arguments.iter());
                }
            }
            while let Some(index) = literals.pop() {
                let literal = &program.structs[index as usize];
                open.extend(literal.lets.iter().map(|it| it.value));
                for declaration in &literal.declarations {
                    match declaration {
                        Declaration::Field { label, value, .. } => {
                            open.push(*value);
                            if let DeclLabel::Computed(label) = label {
                                open.push(*label);
                            }
                        }
                        Declaration::Pattern { label, value, .. } => open.extend([*label, *value]),
                        Declaration::Embed(it) => open.push(*it),
                        Declaration::Comprehension(it) => comprehensions.push(*it),
                        Declaration::Open => {}
                    }
                }
            }
            while let Some(index) = comprehensions.pop() {
                let it = &program.comprehensions[index as usize];
                open.extend(it.clauses.iter().map(source_of));
                open.push(it.body);
                open.extend(it.otherwise);
            }
        }
        reads
    }
}

/// What a clause evaluates.
fn source_of(clause: &ClauseCode) -> ExprId {
    match clause {
        ClauseCode::For { source, .. } => *source,
        ClauseCode::If(it) | ClauseCode::Let(it) | ClauseCode::Try(it) => *it,
    }
}
