//! lateen-definitions: what Lateen ships as CUE, embedded as text.
//!
//! ~~~text
//! component/ trait/ policy/ workflow-step/   one definition a file: header + template  -> definitions()
//! op/vela/*.cue                              packages that step templates import       -> packages()
//! op-render/vela/*.cue                       packages that components and traits import -> render_packages()
//! ~~~
//! Invariants
//! 1. A definition's name is its file's name and its header's label; its kind is its folder. (tests below)
//! 2. An import path is the file's path without `.cue`; the file declares the package of that name. (tests below)
#![forbid(unsafe_code)]

use include_dir::{Dir, include_dir};

static COMPONENTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/component");
static TRAITS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/trait");
static POLICIES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/policy");
static STEPS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/workflow-step");
static STEP_PACKAGES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/op");
static RENDER_PACKAGES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/op-render");

/// Which of the four kinds a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `ComponentDefinition`
    Component,
    /// `TraitDefinition`
    Trait,
    /// `PolicyDefinition`
    Policy,
    /// `WorkflowStepDefinition`
    WorkflowStep,
}

impl Kind {
    /// Every kind, in the order `definitions` gives them.
    pub const ALL: [Self; 4] = [Self::Component, Self::Trait, Self::Policy, Self::WorkflowStep];

    /// The `type` in a definition's header; also the folder's name.
    #[must_use]
    pub const fn header(self) -> &'static str {
        match self {
            Self::Component => "component",
            Self::Trait => "trait",
            Self::Policy => "policy",
            Self::WorkflowStep => "workflow-step",
        }
    }

    /// The `kind` of the Kubernetes object.
    #[must_use]
    pub const fn object(self) -> &'static str {
        match self {
            Self::Component => "ComponentDefinition",
            Self::Trait => "TraitDefinition",
            Self::Policy => "PolicyDefinition",
            Self::WorkflowStep => "WorkflowStepDefinition",
        }
    }

    fn folder(self) -> &'static Dir<'static> {
        match self {
            Self::Component => &COMPONENTS,
            Self::Trait => &TRAITS,
            Self::Policy => &POLICIES,
            Self::WorkflowStep => &STEPS,
        }
    }
}

/// A shipped definition, as its author wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Component, trait, policy or workflow step.
    pub kind: Kind,
    /// The name an Application uses as `type`.
    pub name: &'static str,
    /// CUE: imports, a header under the name, `template`.
    pub source: &'static str,
}

/// The three parts of a definition's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Import declarations; may be empty.
    pub imports: String,
    /// The header: one field, named like the definition.
    pub header: String,
    /// What stands inside `template`, without its indentation.
    pub template: String,
}

impl Parts {
    /// What `spec.schematic.cue.template` of the object holds: imports and template.
    #[must_use]
    pub fn schematic(&self) -> String {
        if self.imports.is_empty() {
            self.template.clone()
        } else {
            format!("{}\n{}", self.imports, self.template)
        }
    }
}

impl Definition {
    /// Takes the text apart, for those who must not wait for a parser. Relies on the layout of the shipped
    /// files (`template: {` opens a line, `)` closes imports): for other people's definitions use the parser.
    #[must_use]
    pub fn parts(&self) -> Parts {
        let (head, rest) = self.source.split_once("\ntemplate: {\n").unwrap_or((self.source, ""));
        let body = rest.trim_end().strip_suffix('}').unwrap_or(rest);
        let mut at = 0;
        let mut cut = 0;
        for line in head.split_inclusive('\n') {
            at += line.len();
            if line.starts_with("import \"") || line.trim_end() == ")" {
                cut = at;
            }
        }
        let template = body.lines().fold(String::with_capacity(body.len()), |mut text, line| {
            text.push_str(line.strip_prefix('\t').unwrap_or(line));
            text.push('\n');
            text
        });
        Parts { imports: head[..cut].into(), header: head[cut..].trim_start().into(), template }
    }
}

/// A CUE package that templates may import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    /// What stands in `import`, `vela/kube` say.
    pub path: &'static str,
    /// CUE with a package clause.
    pub source: &'static str,
}

/// All shipped definitions: by kind, then by name.
pub fn definitions() -> impl Iterator<Item = Definition> {
    Kind::ALL.into_iter().flat_map(|kind| {
        sources(kind.folder()).into_iter().map(move |(name, source)| Definition {
            kind,
            name,
            source,
        })
    })
}

/// The shipped definition of this kind and name.
#[must_use]
pub fn definition(kind: Kind, name: &str) -> Option<Definition> {
    definitions().find(|it| it.kind == kind && it.name == name)
}

/// What workflow step templates may import.
pub fn packages() -> impl Iterator<Item = Package> {
    sources(&STEP_PACKAGES).into_iter().map(|(path, source)| Package { path, source })
}

/// What component, trait and policy templates may import.
pub fn render_packages() -> impl Iterator<Item = Package> {
    sources(&RENDER_PACKAGES).into_iter().map(|(path, source)| Package { path, source })
}

/// The CUE files of a folder and the folders in it, sorted, each by its path without the ending.
fn sources(root: &'static Dir<'static>) -> Vec<(&'static str, &'static str)> {
    let mut open = vec![root];
    let mut found = Vec::new();
    while let Some(dir) = open.pop() {
        open.extend(dir.dirs());
        found.extend(dir.files().filter_map(|file| {
            Some((file.path().to_str()?.strip_suffix(".cue")?, file.contents_utf8()?))
        }));
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_says_name_and_kind() {
        for it in definitions() {
            let plain = format!("\n{}: {{", it.name);
            let quoted = format!("\n\"{}\": {{", it.name);
            let text = format!("\n{}", it.source);
            assert!(text.contains(&plain) || text.contains(&quoted), "{}: no header", it.name);
            let kind = format!("\"{}\"", it.kind.header());
            let typed = text.lines().filter_map(|line| line.trim().strip_prefix("type:"));
            assert!(typed.into_iter().any(|rest| rest.trim() == kind), "{}: type", it.name);
            assert!(text.contains("\ntemplate: {"), "{}: no template", it.name);
        }
    }

    #[test]
    fn a_definition_comes_apart() {
        for it in definitions() {
            let parts = it.parts();
            assert_eq!(
                parts.imports.matches('(').count(),
                parts.imports.matches(')').count(),
                "{}",
                it.name
            );
            assert_eq!(parts.imports.is_empty(), !it.source.contains("import "), "{}", it.name);
            assert!(
                !parts.header.contains("template:") && !parts.header.contains("import"),
                "{}",
                it.name
            );
            assert!(
                parts.template.starts_with(|first: char| !first.is_whitespace()),
                "{}",
                it.name
            );
            assert!(!parts.template.contains("template: {\n\tparameter"), "{}", it.name);
        }
    }

    #[test]
    fn a_package_is_called_as_its_path_ends() {
        for it in packages().chain(render_packages()) {
            let name = it.path.rsplit('/').next().unwrap_or(it.path);
            let clause = format!("package {name}");
            assert!(it.source.lines().any(|line| line == clause), "{}: {clause}", it.path);
        }
    }

    #[test]
    fn the_two_sides_have_their_packages() {
        let steps: Vec<_> = packages().map(|it| it.path).collect();
        for path in ["vela/builtin", "vela/kube", "vela/oam", "vela/op", "vela/util"] {
            assert!(steps.contains(&path), "{path} in {steps:?}");
        }
        assert!(render_packages().any(|it| it.path == "vela/kube"));
    }

    #[test]
    fn names_are_found_by_kind() {
        assert!(definition(Kind::Component, "webservice").is_some());
        assert!(definition(Kind::Trait, "webservice").is_none());
    }
}
