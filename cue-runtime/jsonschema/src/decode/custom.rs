//! Custom resource definitions of Kubernetes: each version of one as a definition of its own.

use super::data::{Content, Data, Document, Id};
use super::made::{Made, Marker};
use super::output::Decoded;
use super::version::Version;
use super::{Config, Decoder, Names, Problem, Root, decode_data};

/// A custom resource.
#[derive(Debug)]
pub struct Crd {
    /// The group of its API.
    pub group: String,
    /// Its kind.
    pub kind: String,
    /// What one of it is called.
    pub singular: String,
    /// Versions by their names.
    pub versions: Vec<(String, Decoded)>,
}

/// What a definition has to say.
struct Spec {
    group: String,
    kind: String,
    singular: String,
    namespaced: bool,
    /// The names of versions.
    versions: Vec<String>,
}

/// The API that definitions are of, and their kind there.
const CRD: (&str, &str) = ("apiextensions.k8s.io/v1", "CustomResourceDefinition");

/// The custom resources that a document defines: it is one, or a list with some.
///
/// # Errors
/// What is wrong with the first that is none.
pub fn custom_resources(document: &Document<'_>) -> Result<Vec<Crd>, Vec<Problem>> {
    let data = Data::read(document);
    let all = match &data[Data::ROOT].content {
        Content::List(elements) => elements.clone(),
        _ => vec![Data::ROOT],
    };
    // What says nothing of itself is told what it lacks.
    let is_one = |it: &Id| {
        let says = |name: &str, wanted: &str| match data.field(*it, name) {
            Some(said) => data.text(said).is_some_and(|it| **it == *wanted),
            None => true,
        };
        let object = matches!(data[*it].content, Content::Struct(_));
        object && says("apiVersion", CRD.0) && says("kind", CRD.1)
    };
    let mut found = Vec::new();
    for (number, it) in all.iter().filter(|it| is_one(it)).enumerate() {
        let spec =
            Reader { data: &data, number, missing: Vec::new() }.spec(*it).map_err(|why| {
                vec![Problem { message: format!("cannot decode CRD: {why}"), at: None }]
            })?;
        found.push(resource(&data, *it, spec)?);
    }
    Ok(found)
}

/// A resource with the schemas of its versions.
fn resource(data: &Data, of: Id, spec: Spec) -> Result<Crd, Vec<Problem>> {
    let mut versions = Vec::with_capacity(spec.versions.len());
    for (number, version) in spec.versions.iter().enumerate() {
        let prefix: String = match data.path(of, Data::ROOT).as_slice() {
            [] => String::new(),
            steps => super::pointer_of(steps),
        };
        let config = Config {
            version: Version::KubernetesCrd,
            strict_keywords: true,
            strict_features: false,
            open_only_when_explicit: true,
            root: Root::Single(format!("#{prefix}/spec/versions/{number}/schema/openAPIV3Schema")),
            names: Names::Usual,
        };
        let mut decoded = decode_data(data, &config)?;
        // The comment of a file is none of the definition in it.
        decoded.comment.clear();
        decoded.identify(&spec, version);
        versions.push((version.clone(), decoded));
    }
    let Spec { group, kind, singular, .. } = spec;
    Ok(Crd { group, kind, singular, versions })
}

impl Decoded {
    /// Adds what an object says of itself in any version.
    fn identify(&mut self, spec: &Spec, version: &str) {
        let made = &mut Made { tree: std::mem::take(&mut self.tree), packages: Vec::new() };
        let namespace = if spec.namespaced { Marker::Required } else { Marker::Optional };
        let mut inner = Vec::new();
        for (name, marker) in [("name", Marker::Required), ("namespace", namespace)] {
            let (label, string) = (made.text(name), made.name("string"));
            inner.push(made.field(label, marker, string));
        }
        for name in ["labels", "annotations"] {
            let (key, string) = (made.name("string"), made.name("string"));
            let key = made.list(&[key]);
            let any = made.field(key, Marker::None, string);
            let texts = made.braced(&[any]);
            let label = made.text(name);
            inner.push(made.field(label, Marker::Optional, texts));
        }
        inner.push(made.ellipsis(None));
        let (label, text) =
            (made.name("apiVersion"), made.text(&format!("{}/{version}", spec.group)));
        self.decls.push(made.field(label, Marker::None, text));
        let (label, text) = (made.name("kind"), made.text(&spec.kind));
        self.decls.push(made.field(label, Marker::None, text));
        let (label, metadata) = (made.name("metadata"), made.braced(&inner));
        self.decls.push(made.field(label, Marker::Required, metadata));
        self.tree = std::mem::take(&mut made.tree);
    }
}

/// Reads what a definition has to say. What contradicts is told before what is missing.
struct Reader<'a> {
    data: &'a Data,
    number: usize,
    missing: Vec<String>,
}

/// What is to be there, as messages have it.
const SPEC: &str = "{\n\tgroup!: string\n\tnames!: {\n\t\tkind!:     string\n\t\tplural!:   string\n\
    \t\tsingular!: string\n\t}\n\tscope!: \"Namespaced\" | \"Cluster\"\n\tversions!: [...{\n\t\tname!: string\n\
    \t\tschema!: {\n\t\t\topenAPIV3Schema!: _\n\t\t}\n\t}]\n}";
const NAMES: &str = "{\n\tkind!:     string\n\tplural!:   string\n\tsingular!: string\n}";
const SCHEMA: &str = "{\n\topenAPIV3Schema!: _\n}";
const SCOPE: &str = "\"Namespaced\" | \"Cluster\"";

impl Reader<'_> {
    fn spec(mut self, of: Id) -> Result<Spec, String> {
        for (name, wanted) in [("apiVersion", CRD.0), ("kind", CRD.1)] {
            self.found(Some(of), name, name, &format!("{wanted:?} & {wanted:?}"));
        }
        let spec = self.inner(Some(of), "spec", "spec", SPEC)?;
        let group = self.text(spec, "group", "spec.group", "string")?;
        let names = self.inner(spec, "names", "spec.names", NAMES)?;
        let kind = self.text(names, "kind", "spec.names.kind", "string")?;
        self.text(names, "plural", "spec.names.plural", "string")?;
        let singular = self.text(names, "singular", "spec.names.singular", "string")?;
        let scope = self.text(spec, "scope", "spec.scope", SCOPE)?;
        if !matches!(scope.as_str(), "Namespaced" | "Cluster" | "") {
            let text = "2 errors in empty disjunction: (and 2 more errors)";
            return Err(format!("{}: {text}", self.path("spec.scope")));
        }
        let mut versions = Vec::new();
        let all = spec.and_then(|it| self.data.field(it, "versions"));
        for (number, it) in all.map_or(&[][..], |it| self.data.elements_of(it)).iter().enumerate() {
            let path = format!("spec.versions.{number}");
            versions.push(self.text(Some(*it), "name", &format!("{path}.name"), "string")?);
            self.inner(Some(*it), "schema", &format!("{path}.schema"), SCHEMA)?;
        }
        let more = match self.missing.len() {
            0 | 1 => String::new(),
            count => format!(" (and {} more errors)", count - 1),
        };
        match self.missing.first() {
            Some(first) => Err(format!("{first}{more}")),
            None => {
                let namespaced = scope == "Namespaced";
                Ok(Spec { group, kind, singular, namespaced, versions })
            }
        }
    }

    fn path(&self, path: &str) -> String {
        format!("specs.{}.{path}", self.number)
    }

    /// A field, which is missing where it is not there.
    fn found(&mut self, of: Option<Id>, name: &str, path: &str, wanted: &str) -> Option<Id> {
        let found = self.data.field(of?, name);
        if found.is_none() {
            let path = self.path(path);
            self.missing.push(format!("{path}: cannot convert non-concrete value {wanted}"));
        }
        found
    }

    fn inner(
        &mut self,
        of: Option<Id>,
        name: &str,
        path: &str,
        wanted: &str,
    ) -> Result<Option<Id>, String> {
        let Some(found) = self.found(of, name, path, wanted) else { return Ok(None) };
        match self.data[found].content {
            Content::Struct(_) => Ok(Some(found)),
            _ => Err(self.conflict(found, path, "struct")),
        }
    }

    fn text(
        &mut self,
        of: Option<Id>,
        name: &str,
        path: &str,
        wanted: &str,
    ) -> Result<String, String> {
        let Some(found) = self.found(of, name, path, wanted) else { return Ok(String::new()) };
        match self.data.text(found) {
            Some(text) => Ok(text.to_string()),
            None => Err(self.conflict(found, path, "string")),
        }
    }

    fn conflict(&self, found: Id, path: &str, wanted: &str) -> String {
        let shown = Decoder::new(self.data, &Config::default()).shown(found);
        let (path, kind) = (self.path(path), self.data.kind(found));
        let types = format!("mismatched types {kind} and {wanted}");
        format!("{path}: conflicting values {shown} and {wanted} ({types})")
    }
}
