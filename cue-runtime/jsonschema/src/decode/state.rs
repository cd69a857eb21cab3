//! What is known of one schema while its keywords are read, and what all of that is as CUE.
//!
//! Constraints are kept by the kind of value that they are about, since most say nothing of values of other kinds: the
//! schema is a disjunction over kinds. Those of any kind are conjuncts beside it.

use cue_syntax::scan::T;
use cue_syntax::tree::NodeId;

use super::data::{Content, Id};
use super::keywords::{self, LAST_PHASE};
use super::kinds::{Core, Kinds};
use super::version::{Version, Versions};
use super::{Base, DEEPEST, Decoder, LEVEL, Outer, comment};

/// What is asked of a schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// Kinds that a value may have for all that is known around it.
    pub(super) kinds: Kinds,
    /// It is the schema as a whole.
    pub(super) root: bool,
    pub(super) preserve: Preserve,
}

/// Whether fields that nobody knows are kept in a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preserve {
    /// As around it.
    Inherited,
    /// Not for what is said around it.
    Anew,
}

impl Asked {
    pub(super) fn of(kinds: Kinds) -> Self {
        Self { kinds, root: false, preserve: Preserve::Inherited }
    }

    /// Of a field of a struct.
    pub(super) fn of_field() -> Self {
        Self { preserve: Preserve::Anew, ..Self::of(Kinds::ALL) }
    }
}

/// What is known of a schema from outside.
#[derive(Clone, Debug, Default)]
pub(super) struct Info {
    /// Kinds that its values may have.
    pub(super) allowed: Kinds,
    /// Kinds that they have by what is said of all kinds: these need not be said again.
    pub(super) known: Kinds,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) deprecated: bool,
    pub(super) version: Version,
    /// Whether it says its version itself.
    pub(super) says_version: bool,
    /// Whether it says more than kinds.
    pub(super) constrained: bool,
}

impl Info {
    pub(super) fn comment(&self) -> Vec<String> {
        comment::lines(&self.title, &self.description)
    }
}

/// Whether a struct may have fields that are not named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Openness {
    /// Nothing is said.
    #[default]
    Unsaid,
    Open,
    Closed,
    /// A pattern says what all of them are.
    Covered,
}

/// What is known of a schema within.
#[derive(Default)]
pub(super) struct State {
    pub(super) info: Info,
    /// Constraints by [`Core`].
    kinds: [Vec<NodeId>; 6],
    /// Those of all kinds.
    pub(super) all: Vec<NodeId>,
    pub(super) nullable: Option<NodeId>,
    pub(super) exclusive_minimum: bool,
    pub(super) exclusive_maximum: bool,
    pub(super) is_root: bool,
    pub(super) least_contained: Option<u64>,
    pub(super) most_contained: Option<u64>,
    pub(super) when: Option<Id>,
    pub(super) then: Option<Id>,
    pub(super) otherwise: Option<Id>,
    /// The fields, and the value that they are first from.
    pub(super) object: Option<(NodeId, Id)>,
    /// What names do not match that patterns say something of.
    pub(super) patterns: Vec<NodeId>,
    pub(super) list: Option<NodeId>,
    /// Whether `items` is a list.
    pub(super) items_are_several: bool,
    pub(super) has_properties: bool,
    pub(super) has_additional: bool,
    pub(super) has_items: bool,
    pub(super) is_array: bool,
    has_reference: bool,
    /// Its URL is the innermost.
    pub(super) has_url: bool,
    pub(super) preserve: bool,
    /// `kind` and `apiVersion` as Kubernetes has them.
    pub(super) resource: (String, String),
    pub(super) openness: Openness,
}

impl State {
    pub(super) fn of(&self, core: Core) -> &[NodeId] {
        &self.kinds[core as usize]
    }

    pub(super) fn is(&self, versions: Versions) -> bool {
        self.info.version.is(versions)
    }

    pub(super) fn outer(&self) -> Outer {
        Outer { version: self.info.version, preserve: self.preserve }
    }

    fn is_constrained(&self) -> bool {
        !self.all.is_empty()
            || self.kinds.iter().any(|it| !it.is_empty())
            || !self.patterns.is_empty()
            || !self.info.title.is_empty()
            || !self.info.description.is_empty()
            || self.object.is_some()
            || self.has_url
    }
}

impl Decoder<'_> {
    /// A schema of any kind of value.
    pub(super) fn schema(&mut self, value: Id, outer: &Outer) -> NodeId {
        self.schema_of(value, outer, Asked::of(Kinds::ALL)).0
    }

    /// A schema, or a reference to where it is defined, and what is known of it.
    pub(super) fn schema_of(&mut self, value: Id, outer: &Outer, asked: Asked) -> (NodeId, Info) {
        if self.depth >= DEEPEST {
            self.problem(value, "schemas nest too deeply");
            return (self.made.top(), Info { allowed: asked.kinds, ..Info::default() });
        }
        self.depth += 1;
        let found =
            stacker::maybe_grow(LEVEL * 4, LEVEL * 64, || self.described(value, outer, asked));
        self.depth -= 1;
        found
    }

    fn described(&mut self, value: Id, outer: &Outer, asked: Asked) -> (NodeId, Info) {
        let mut state = State { is_root: asked.root, ..State::default() };
        state.info.version = outer.version;
        state.info.allowed = asked.kinds;
        state.info.known = Kinds::ALL;
        state.preserve = outer.preserve && asked.preserve == Preserve::Inherited;
        let expr = match &self.data[value].content {
            Content::Struct(_) => self.keywords(value, &mut state),
            Content::Bool(_) if state.is(Versions::from(Version::Draft6)) => self.boolean(value),
            Content::Bool(_) => {
                let version = state.info.version.text();
                self.problem(value, format!("boolean schemas not supported in {version}"));
                self.made.top()
            }
            _ => {
                let kind = self.data.kind(value);
                self.problem(value, format!("schema expects mapping node, found {kind}"));
                self.made.top()
            }
        };
        let expr = self.defined(value, expr, &state.info);
        if state.has_url {
            self.bases.pop();
        }
        (expr, state.info)
    }

    /// What a schema says by its keywords.
    fn keywords(&mut self, value: Id, state: &mut State) -> NodeId {
        let data = self.data;
        for phase in 0..=LAST_PHASE {
            for (key, of) in data.fields_of(value) {
                self.keyword(key, *of, state, phase);
            }
            if state.info.version == Version::KubernetesCrd && state.is_root && phase == 1 {
                // The whole is a resource.
                self.embedded_resource(value, state);
            }
        }
        if state.has_url {
            self.refer_to(value);
        }
        self.conditional(value, state);
        let version = state.info.version;
        if version == Version::KubernetesCrd && state.has_properties && state.has_additional {
            let text = "additionalProperties may not be combined with properties in";
            self.problem(value, format!("{text} {}", version.text()));
        }
        if state.is(Versions::LIKE_OPEN_API) && state.is_array && !state.has_items {
            let text = "\"items\" must be present when the \"type\" is \"array\" in";
            self.problem(value, format!("{text} {}", version.text()));
        }
        let expr = self.expressed(value, state);
        state.info.constrained = state.is_constrained();
        expr
    }

    fn keyword(&mut self, key: &str, of: Id, state: &mut State, phase: u8) {
        state.has_reference |= phase == 0 && key == "$ref";
        let Some(keyword) = keywords::named(key) else {
            if phase == 0 && !key.starts_with("x-") {
                self.unknown(key, of, state, format!("unknown keyword {key:?}"));
            }
            return;
        };
        if keyword.phase != phase {
            return;
        }
        let version = state.info.version;
        if !version.is(keyword.versions) {
            let text = "is not supported in JSON schema version";
            self.unknown(key, of, state, format!("keyword {key:?} {text} {}", version.text()));
            return;
        }
        // In older versions nothing counts beside a reference.
        let alone = phase > 0 && state.has_reference && key != "$ref";
        if alone && !version.is(Versions::from(Version::Draft2019)) {
            self.unknown(key, of, state, format!("ignoring keyword {key:?} alongside $ref"));
            return;
        }
        self.apply(keyword.rule, key, of, state);
    }

    /// Tells of a keyword that says nothing, where that is wanted.
    fn unknown(&mut self, key: &str, of: Id, state: &State, message: String) {
        let extension = state.is(Versions::LIKE_OPEN_API) && key.starts_with("x-");
        if self.config.strict_keywords && !extension {
            self.problem(of, message);
        }
    }

    /// Adds a constraint of all kinds, which stands for a value.
    pub(super) fn add_to_all(&mut self, state: &mut State, value: Id, expr: NodeId) {
        if self.stands_for(value, expr) {
            state.all.push(expr);
        }
    }

    /// The same of one kind.
    pub(super) fn add(&mut self, state: &mut State, value: Id, core: Core, expr: NodeId) {
        if self.stands_for(value, expr) {
            state.kinds[core as usize].push(expr);
        }
    }

    /// Whether a constraint says anything; if so it stands for that value.
    fn stands_for(&mut self, value: Id, expr: NodeId) -> bool {
        if self.made.is_top(expr) {
            return false;
        }
        let data = self.data;
        self.made.stands_for(expr, &data[value]);
        self.made.flow(expr);
        true
    }

    /// The struct for the fields of a schema, as which `value` counts if there is none yet.
    pub(super) fn object(&mut self, state: &mut State, value: Id) -> NodeId {
        state.object.get_or_insert_with(|| (self.made.structure(&[]), value)).0
    }

    /// `error("disallowed")`
    pub(super) fn disallowed(&mut self) -> NodeId {
        let text = self.made.text("disallowed");
        self.made.call("error", &[text])
    }

    /// A schema that everything or nothing satisfies.
    pub(super) fn boolean(&mut self, value: Id) -> NodeId {
        match self.data[value].content {
            Content::Bool(true) => self.made.top(),
            _ => self.disallowed(),
        }
    }

    /// Adds the fields to what is said of structs.
    fn close_object(&mut self, value: Id, state: &mut State) {
        let kept = state.info.version == Version::KubernetesCrd && state.preserve;
        if kept && state.info.allowed.meets(Kinds::STRUCT) {
            self.object(state, value);
        }
        let Some((object, of)) = state.object else { return };
        if state.preserve {
            state.openness = Openness::Open;
        }
        let expr = match state.openness {
            Openness::Unsaid if self.opens_only_when_told() => object,
            Openness::Covered => object,
            Openness::Closed => self.made.call("close", &[object]),
            Openness::Unsaid | Openness::Open => {
                let ellipsis = self.made.ellipsis(None);
                self.made.push(object, ellipsis);
                object
            }
        };
        self.add(state, of, Core::Object, expr);
    }

    pub(super) fn opens_only_when_told(&self) -> bool {
        self.config.open_only_when_explicit || self.config.version.is(Versions::KUBERNETES)
    }

    /// A kind without more.
    fn kind(&mut self, core: Core) -> NodeId {
        match core {
            Core::Null => self.made.null(),
            Core::Bool => self.made.name("bool"),
            Core::Number => self.made.name("number"),
            Core::String => self.made.name("string"),
            Core::Array => {
                let ellipsis = self.made.ellipsis(None);
                self.made.list(&[ellipsis])
            }
            Core::Object if self.opens_only_when_told() => self.made.braced(&[]),
            Core::Object => {
                let ellipsis = self.made.ellipsis(None);
                self.made.braced(&[ellipsis])
            }
        }
    }

    /// All that is known as one expression.
    fn expressed(&mut self, value: Id, state: &mut State) -> NodeId {
        if state.info.allowed.is_empty() {
            return self.disallowed();
        }
        self.close_object(value, state);
        // What has brackets or braces comes last.
        let tree = &self.made;
        state.kinds[Core::Array as usize].sort_by_key(|it| tree.is_list(*it));
        state.kinds[Core::Object as usize].sort_by_key(|it| tree.is_struct(*it));
        let alternatives = self.alternatives(state);
        let mut conjuncts = state.all.clone();
        conjuncts.extend(self.made.joined(T::Or, &alternatives));
        let expr = self.made.joined(T::And, &conjuncts);
        let expr = expr.unwrap_or_else(|| self.made.top());
        let either: Vec<NodeId> = state.nullable.into_iter().chain([expr]).collect();
        let mut expr = self.made.joined(T::Or, &either).unwrap_or(expr);
        if let Some(Base { url, .. }) = self.bases.last().filter(|_| state.has_url) {
            let text = format!("@jsonschema(id={:?})", url.text());
            let attribute = self.made.attribute(text);
            if self.made.is_struct(expr) {
                self.made.put_first(expr, attribute);
            } else {
                let embedded = self.made.embed(expr);
                expr = self.made.structure(&[attribute, embedded]);
            }
        }
        state.info.known = state.info.allowed;
        expr
    }

    /// What is said of single kinds, as far as it has to be.
    fn alternatives(&mut self, state: &State) -> Vec<NodeId> {
        let Info { allowed, known, .. } = state.info;
        let says = |core: &Core| !state.of(*core).is_empty() && allowed.meets(core.kinds());
        if allowed == known && !Core::ALL.iter().any(says) {
            return Vec::new();
        }
        let mut alternatives = Vec::new();
        let (mut possible, mut excluded) = (0, 0);
        let mut wrong = Vec::new();
        for core in Core::ALL {
            let constraints = state.of(core);
            let may = allowed.meets(core.kinds());
            possible += usize::from(may || !constraints.is_empty());
            if !constraints.is_empty() && may {
                alternatives.extend(self.made.joined(T::And, constraints));
            } else if !constraints.is_empty() {
                excluded += 1;
                wrong.extend(constraints.iter().map(|it| (self.made.place(*it), core)));
            } else if may && known.meets(core.kinds()) {
                alternatives.push(self.kind(core));
            }
        }
        if excluded == possible {
            for (at, core) in wrong {
                let type_name = core.name();
                let text = format!("constraint not allowed because type {type_name} is excluded");
                self.problem_at(at, text);
            }
        }
        alternatives
    }
}
