//! Which definition a type names: the application's namespace first, then the system's; `type@v1` is a revision.

use std::collections::HashMap;

use crate::api::{Definition, DefinitionKind, DefinitionRevision, SYSTEM_NAMESPACE};

/// One place to look for a definition, best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// A definition by namespace and name.
    Definition(DefinitionKind, String, String),
    /// A DefinitionRevision by namespace and name.
    Revision(DefinitionKind, String, String),
    /// With `autoUpdate`: the newest DefinitionRevision of that definition whose version starts like this.
    Newest(DefinitionKind, String, String, String),
}

/// What `type@v1` stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Versions {
    /// Exactly the revision of that name.
    #[default]
    Exact,
    /// The newest that begins like it (annotation `autoUpdate`).
    Newest,
}

impl From<bool> for Versions {
    /// Whether the application has `autoUpdate`.
    fn from(auto_update: bool) -> Self {
        if auto_update { Self::Newest } else { Self::Exact }
    }
}

/// `webservice@v1` is `webservice` and `v1`.
pub fn split_version(r#type: &str) -> (&str, Option<&str>) {
    match r#type.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (r#type, None),
    }
}

/// The type as it stands in labels: `x@v1` reads `x-v1`.
pub fn label_type(r#type: &str) -> String {
    r#type.replace('@', "-")
}

/// Where to look for what `type` names, best first.
pub fn candidates(
    kind: DefinitionKind,
    r#type: &str,
    namespace: &str,
    versions: impl Into<Versions>,
) -> Vec<Lookup> {
    let versions = versions.into();
    let mut namespaces = vec![namespace];
    if namespace != SYSTEM_NAMESPACE {
        namespaces.push(SYSTEM_NAMESPACE);
    }
    let (name, version) = split_version(r#type);
    let lookup = |kind: DefinitionKind, namespace: &str| match version {
        None => Lookup::Definition(kind, namespace.into(), name.into()),
        Some(version) if versions == Versions::Newest => {
            Lookup::Newest(kind, namespace.into(), name.into(), version.into())
        }
        Some(version) => Lookup::Revision(kind, namespace.into(), format!("{name}-{version}")),
    };
    let mut found: Vec<Lookup> = namespaces.iter().map(|it| lookup(kind, it)).collect();
    if kind == DefinitionKind::Component && version.is_none() {
        found.extend(namespaces.iter().map(|it| lookup(DefinitionKind::Workload, it)));
    }
    found
}

/// A set of definitions and revisions, as given or as read from a cluster.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    definitions: HashMap<(DefinitionKind, String, String), Definition>,
    revisions: HashMap<(String, String), DefinitionRevision>,
    /// Exact types already resolved, for example those captured in an ApplicationRevision.
    captured: HashMap<(DefinitionKind, String), Definition>,
}

impl Definitions {
    /// Add one; without namespace it belongs to the system's. What is no definition is passed over.
    pub fn insert(&mut self, mut definition: Definition) {
        let Some(kind) = definition.definition_kind() else { return };
        if definition.metadata.namespace.is_empty() {
            definition.metadata.namespace = SYSTEM_NAMESPACE.into();
        }
        let key = (kind, definition.metadata.namespace.clone(), definition.metadata.name.clone());
        self.definitions.insert(key, definition);
    }

    /// Add a captured version.
    pub fn insert_revision(&mut self, mut revision: DefinitionRevision) {
        if revision.metadata.namespace.is_empty() {
            revision.metadata.namespace = SYSTEM_NAMESPACE.into();
        }
        self.revisions.insert(
            (revision.metadata.namespace.clone(), revision.metadata.name.clone()),
            revision,
        );
    }

    /// Names of one kind, in order.
    pub fn names(&self, kind: DefinitionKind) -> Vec<String> {
        let mut names: Vec<String> = self
            .definitions
            .keys()
            .filter(|it| it.0 == kind)
            .map(|(_, _, name)| name.clone())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The template that errors call `file`, `webservice.cue` say.
    pub fn template(&self, file: &str) -> Option<&str> {
        let name = file.strip_suffix(".cue")?;
        let captured = self.captured.iter().filter(|it| it.0.1 == name).map(|it| it.1);
        let given = DefinitionKind::CURRENT.iter().flat_map(|kind| {
            let of = move |it: &&Definition| it.definition_kind() == Some(*kind);
            self.definitions.values().filter(of).filter(|it| it.metadata.name == name)
        });
        captured.chain(given).find_map(Definition::template)
    }

    /// Say what exactly `type` is, whatever else is here.
    pub fn capture(&mut self, kind: DefinitionKind, r#type: &str, definition: Definition) {
        self.captured.insert((kind, r#type.into()), definition);
    }

    /// What `type` names for an application in `namespace`.
    pub fn get(
        &self,
        kind: DefinitionKind,
        r#type: &str,
        namespace: &str,
        versions: impl Into<Versions>,
    ) -> Option<&Definition> {
        let versions = versions.into();
        let captured = |name: &str| self.captured.get(&(kind, name.to_owned()));
        // A revision records a version by its definition's name.
        let recorded = || r#type.split_once('@').and_then(|(name, _)| captured(name));
        captured(r#type).or_else(recorded).or_else(|| {
            candidates(kind, r#type, namespace, versions).into_iter().find_map(
                |lookup| match lookup {
                    Lookup::Definition(kind, namespace, name) => {
                        self.definitions.get(&(kind, namespace, name))
                    }
                    Lookup::Revision(kind, namespace, name) => {
                        self.revisions.get(&(namespace, name)).and_then(|it| it.definition(kind))
                    }
                    Lookup::Newest(kind, namespace, name, version) => {
                        self.newest(kind, &namespace, &name, &version)
                    }
                },
            )
        })
    }

    fn newest(
        &self,
        kind: DefinitionKind,
        namespace: &str,
        name: &str,
        version: &str,
    ) -> Option<&Definition> {
        let prefix = format!("{name}-{version}");
        self.revisions
            .iter()
            .filter(|((at, revision), _)| {
                at == namespace
                    && (*revision == prefix
                        || revision.strip_prefix(&prefix).is_some_and(|it| it.starts_with('.')))
            })
            .filter_map(|((_, revision), it)| {
                let numbers = numbers(revision.strip_prefix(&format!("{name}-v"))?);
                Some((numbers, it.spec.revision, it.definition(kind)?))
            })
            .max_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)))
            .map(|(_, _, it)| it)
    }
}

/// `1.10.0` comes after `1.2.3`.
fn numbers(version: &str) -> Vec<u64> {
    version.split('.').map(|it| it.parse().unwrap_or(0)).collect()
}

/// Whether a version is one a type may name: `v1`, `v1.2`, `v1.2.3`.
pub(crate) fn is_version(text: &str) -> bool {
    text.strip_prefix('v').is_some_and(|rest| {
        !rest.is_empty()
            && rest
                .split('.')
                .all(|part| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_of_a_prefix_is_found_by_number() {
        let mut set = Definitions::default();
        for (number, version) in [(1, "1.10.0"), (2, "1.2.3"), (3, "2.0.0")] {
            let definition =
                serde_json::json!({"kind": "TraitDefinition", "metadata": {"name": version}});
            let mut it = DefinitionRevision::default();
            it.metadata.name = format!("t-v{version}");
            it.spec.revision = number;
            it.spec.definition_type = "Trait".into();
            it.spec.trait_definition = serde_json::from_value(definition).unwrap();
            set.insert_revision(it);
        }
        let found = set.get(DefinitionKind::Trait, "t@v1", "default", Versions::Newest);
        assert_eq!(found.map(|it| it.metadata.name.as_str()), Some("1.10.0"));
    }

    #[test]
    fn the_applications_namespace_comes_before_the_systems() {
        let mut set = Definitions::default();
        for namespace in ["vela-system", "mine"] {
            let mut it = Definition { kind: "TraitDefinition".into(), ..Default::default() };
            it.metadata.name = "t".into();
            it.metadata.namespace = namespace.into();
            set.insert(it);
        }
        let of = |namespace| {
            set.get(DefinitionKind::Trait, "t", namespace, Versions::Exact)
                .map(|it| it.metadata.namespace.clone())
        };
        assert_eq!(of("mine").as_deref(), Some("mine"));
        assert_eq!(of("other").as_deref(), Some("vela-system"));
        assert!(is_version("v1.2.3") && !is_version("latest") && !is_version("v1."));
    }
}
