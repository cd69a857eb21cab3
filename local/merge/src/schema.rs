//! What patches need to know of a kind: shapes, list keys, patch strategies, defaults of keys.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde_json::{Map, Value};

/// Named schemas, as under `components.schemas` of an OpenAPI document.
pub type Definitions = Map<String, Value>;

/// The published name of ObjectMeta.
pub const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The compiled schema of one kind. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Schema {
    types: Arc<Vec<Type>>,
    root: TypeRef,
    custom: bool,
}

/// A type, perhaps made atomic by whoever refers to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeRef {
    id: usize,
    atomic: bool,
}

/// What a value may be; several at once mean any of them.
#[derive(Clone, Debug, Default)]
pub struct Type {
    pub(crate) scalar: Option<Scalar>,
    pub(crate) list: Option<List>,
    pub(crate) map: Option<MapType>,
    pub(crate) deduced: bool,
}

/// Kinds of scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// Integers and floats.
    Numeric,
    /// Strings.
    Text,
    /// Booleans.
    Boolean,
    /// Any scalar.
    Untyped,
}

/// A list type.
#[derive(Clone, Debug)]
pub struct List {
    pub(crate) element: TypeRef,
    pub(crate) relation: Relation,
}

/// How the elements of a list are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The list is one value.
    Atomic,
    /// By their values.
    Set,
    /// By these fields.
    Keyed(Vec<String>),
}

/// A map or struct type.
#[derive(Clone, Debug, Default)]
pub struct MapType {
    pub(crate) fields: IndexMap<String, Field, FxBuildHasher>,
    pub(crate) element: Option<TypeRef>,
    pub(crate) atomic: bool,
}

/// A declared field.
#[derive(Clone, Debug)]
pub struct Field {
    pub(crate) of: TypeRef,
    pub(crate) default: Option<Value>,
    pub(crate) required: bool,
    pub(crate) patch: Strategy,
}

/// How a strategic merge patch treats a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strategy {
    /// The list is merged.
    pub merge: bool,
    /// The map is replaced.
    pub replace: bool,
    /// Differences carry `$retainKeys`.
    pub retain: bool,
    /// The key of merged maps.
    pub key: Option<String>,
}

impl Schema {
    /// The schema called `name` in OpenAPI definitions.
    #[must_use]
    pub fn published(definitions: &Definitions, name: &str) -> Option<Schema> {
        definitions.get(name)?;
        let mut building = Building::new(definitions);
        let root = building.named(name);
        Some(Schema { types: Arc::new(building.types), root, custom: false })
    }

    /// The schema of a custom resource: its structural schema, if any. `definitions` is asked for ObjectMeta.
    #[must_use]
    pub fn custom(definitions: &Definitions, structural: Option<&Value>) -> Schema {
        let Some(structural) = structural else { return Schema::deduced() };
        let mut building = Building::new(definitions);
        let root = building.compile(structural, Unknown::Pruned);
        building.embed(root);
        Schema { types: Arc::new(building.types), root, custom: true }
    }

    /// The schema of values of which nothing is known.
    #[must_use]
    pub fn deduced() -> Schema {
        let building = Building::new_bare();
        Schema { types: Arc::new(building.types), root: DEDUCED, custom: true }
    }

    pub(crate) fn root(&self) -> TypeRef {
        self.root
    }

    pub(crate) fn at(&self, of: TypeRef) -> &Type {
        // Every TypeRef of this schema was made together with its type.
        &self.types[of.id]
    }

    pub(crate) fn map(&self, of: TypeRef) -> Option<(&MapType, bool)> {
        let map = self.at(of).map.as_ref()?;
        Some((map, map.atomic || of.atomic))
    }

    pub(crate) fn list(&self, of: TypeRef) -> Option<(&List, bool)> {
        let list = self.at(of).list.as_ref()?;
        Some((list, list.relation == Relation::Atomic || of.atomic))
    }

    /// The object that exists before anything is set: what typed kinds materialise by themselves.
    #[must_use]
    pub fn zero(&self) -> Value {
        if self.custom {
            return Value::Object(Map::new());
        }
        self.zero_of(self.root, 0)
    }

    fn zero_of(&self, of: TypeRef, depth: usize) -> Value {
        let mut out = Map::new();
        if let Some((map, _)) = self.map(of).filter(|_| depth < 24) {
            for (name, field) in &map.fields {
                match &field.default {
                    Some(Value::Object(it)) if it.is_empty() => {
                        out.insert(name.clone(), self.zero_of(field.of, depth + 1));
                    }
                    Some(it)
                        if it.as_str() == Some("")
                            || it.as_i64() == Some(0)
                            || *it == Value::Bool(false) =>
                    {
                        out.insert(name.clone(), it.clone());
                    }
                    Some(_) => {}
                    None if field.required => {
                        out.insert(name.clone(), Value::Null);
                    }
                    None => {}
                }
            }
        }
        Value::Object(out)
    }
}

const DEDUCED: TypeRef = TypeRef { id: 0, atomic: false };
const ATOMIC: TypeRef = TypeRef { id: 1, atomic: false };

/// What becomes of fields a schema does not name.
#[derive(Clone, Copy, PartialEq)]
enum Unknown {
    Pruned,
    Preserved,
}

struct Building<'a> {
    definitions: Option<&'a Definitions>,
    types: Vec<Type>,
    named: FxHashMap<String, TypeRef>,
}

impl<'a> Building<'a> {
    fn new_bare() -> Building<'a> {
        let any = |atomic: bool| Type {
            scalar: Some(Scalar::Untyped),
            list: Some(List { element: DEDUCED, relation: Relation::Atomic }),
            map: Some(MapType { fields: IndexMap::default(), element: Some(DEDUCED), atomic }),
            deduced: !atomic,
        };
        Building {
            definitions: None,
            types: vec![any(false), any(true)],
            named: FxHashMap::default(),
        }
    }

    fn new(definitions: &'a Definitions) -> Building<'a> {
        Building { definitions: Some(definitions), ..Building::new_bare() }
    }

    fn named(&mut self, name: &str) -> TypeRef {
        if let Some(known) = self.named.get(name) {
            return *known;
        }
        if name.ends_with(".RawExtension") {
            return ATOMIC;
        }
        let Some(schema) = self.definitions.and_then(|all| all.get(name)) else { return DEDUCED };
        let of = self.reserve();
        self.named.insert(name.to_owned(), of);
        self.fill(of, schema, Unknown::Pruned);
        of
    }

    fn reserve(&mut self) -> TypeRef {
        self.types.push(Type::default());
        TypeRef { id: self.types.len() - 1, atomic: false }
    }

    fn compile(&mut self, schema: &Value, unknown: Unknown) -> TypeRef {
        let mut reference = schema.get("$ref");
        if let (None, Some([single])) =
            (reference, schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice))
        {
            reference = single.get("$ref");
        }
        if let Some(name) = reference.and_then(Value::as_str) {
            let mut of = self.named(name.rsplit('/').next().unwrap_or(name));
            match schema.get("x-kubernetes-map-type").and_then(Value::as_str) {
                Some("atomic") => of.atomic = true,
                // Who refers to it says otherwise than the type itself.
                Some("granular") => {
                    let mut granular = self.types.get(of.id).cloned().unwrap_or_default();
                    if let Some(map) = &mut granular.map {
                        map.atomic = false;
                    }
                    self.types.push(granular);
                    of = TypeRef { id: self.types.len() - 1, atomic: false };
                }
                _ => {}
            }
            return of;
        }
        let of = self.reserve();
        self.fill(of, schema, unknown);
        of
    }

    fn fill(&mut self, of: TypeRef, schema: &Value, unknown: Unknown) {
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        let flag = |key: &str| schema.get(key).and_then(Value::as_bool) == Some(true);
        let unknown = match flag("x-kubernetes-preserve-unknown-fields") {
            true => Unknown::Preserved,
            false => unknown,
        };
        let atomic_map = text("x-kubernetes-map-type") == Some("atomic");
        let mut it = Type::default();
        match text("type") {
            Some("integer" | "number") => it.scalar = Some(Scalar::Numeric),
            Some("boolean") => it.scalar = Some(Scalar::Boolean),
            Some("string") => {
                it.scalar = Some(match text("format") {
                    None | Some("" | "byte") => Scalar::Text,
                    Some(_) => Scalar::Untyped,
                });
            }
            Some("array") => {
                let element = match schema.get("items") {
                    Some(items) => self.compile(items, unknown),
                    None => DEDUCED,
                };
                let keys = || {
                    let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
                    keys.into_iter()
                        .flatten()
                        .filter_map(Value::as_str)
                        .map(str::to_owned)
                        .collect()
                };
                let merged = text("x-kubernetes-patch-strategy")
                    .is_some_and(|all| all.split(',').any(|x| x == "merge"));
                let relation = match (text("x-kubernetes-list-type"), merged) {
                    (Some("map"), _) => Relation::Keyed(keys()),
                    (Some("set"), _) => Relation::Set,
                    (None, true) => match text("x-kubernetes-patch-merge-key") {
                        Some(key) => Relation::Keyed(vec![key.to_owned()]),
                        None => Relation::Set,
                    },
                    (Some(_), _) | (None, false) => Relation::Atomic,
                };
                it.list = Some(List { element, relation });
            }
            None if schema.get("properties").is_none()
                && schema.get("additionalProperties").is_none() =>
            {
                it = self.types[DEDUCED.id].clone();
                if let Some(map) = &mut it.map {
                    map.atomic = atomic_map;
                }
            }
            Some(_) | None => {
                let mut map = MapType { atomic: atomic_map, ..MapType::default() };
                let required: Vec<&str> = schema
                    .get("required")
                    .and_then(Value::as_array)
                    .map(|all| all.iter().filter_map(Value::as_str).collect())
                    .unwrap_or_default();
                let properties = schema.get("properties").and_then(Value::as_object);
                for (name, property) in properties.into_iter().flatten() {
                    let field = Field {
                        of: self.compile(property, unknown),
                        default: property.get("default").cloned(),
                        required: required.contains(&name.as_str()),
                        patch: strategy(property),
                    };
                    map.fields.insert(name.clone(), field);
                }
                map.element = match schema.get("additionalProperties") {
                    Some(element @ Value::Object(_)) => Some(self.compile(element, unknown)),
                    Some(Value::Bool(true)) => Some(DEDUCED),
                    _ if unknown == Unknown::Preserved || properties.is_none_or(Map::is_empty) => {
                        Some(DEDUCED)
                    }
                    _ => None,
                };
                it.map = Some(map);
            }
        }
        self.types[of.id] = it;
        if flag("x-kubernetes-embedded-resource") {
            self.embed(of);
        }
    }

    // Whole objects have these three whatever their schema says.
    fn embed(&mut self, of: TypeRef) {
        self.types.push(Type { scalar: Some(Scalar::Text), ..Type::default() });
        let string = TypeRef { id: self.types.len() - 1, atomic: false };
        let metadata = self.named(OBJECT_META);
        let Some(map) = &mut self.types[of.id].map else { return };
        for (name, of) in [("apiVersion", string), ("kind", string), ("metadata", metadata)] {
            let field = Field { of, default: None, required: false, patch: Strategy::default() };
            map.fields.insert(name.to_owned(), field);
        }
    }
}

fn strategy(property: &Value) -> Strategy {
    let mut strategy = Strategy::default();
    for one in property
        .get("x-kubernetes-patch-strategy")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .split(',')
    {
        match one {
            "merge" => strategy.merge = true,
            "replace" => strategy.replace = true,
            "retainKeys" => strategy.retain = true,
            _ => {}
        }
    }
    strategy.key =
        property.get("x-kubernetes-patch-merge-key").and_then(Value::as_str).map(str::to_owned);
    strategy
}
