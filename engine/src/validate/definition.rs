//! Definitions: a template that evaluates, a version that is one, no revision silently changed.

use cue_session::{Diagnostic, Fault};

use crate::api::names::annotation;
use crate::api::{Definition, DefinitionKind, DefinitionRevision};
use crate::render::{CONTEXT, Templates, missing_package, place};
use crate::revision::definition_hash;

/// Why a definition is refused, if it is; `revisions` are those of its namespace.
pub fn definition(
    definition: &Definition,
    revisions: &[DefinitionRevision],
    templates: Templates<'_>,
) -> Result<Option<String>, Fault> {
    let Some(kind) = definition.definition_kind() else { return Ok(None) };
    if let Some(refusal) = shape(definition, kind) {
        return Ok(Some(refusal));
    }
    if kind != DefinitionKind::WorkflowStep {
        if let Some(template) = definition.template().filter(|it| !it.trim().is_empty()) {
            if let Some(first) = first_error(template, templates)? {
                return Ok(Some(first));
            }
        }
    }
    Ok(version(definition, kind, revisions).map(|refusal| match kind {
        DefinitionKind::WorkflowStep if refusal == NO_VERSION => {
            format!("semantic version validation failed: {refusal}")
        }
        DefinitionKind::WorkflowStep => format!("definition version conflict: {refusal}"),
        _ => refusal,
    }))
}

const NO_VERSION: &str = "Not a valid version";

fn shape(definition: &Definition, kind: DefinitionKind) -> Option<String> {
    let name = &definition.metadata.name;
    let spec = &definition.spec;
    match kind {
        DefinitionKind::Component => {
            let workload = spec.workload.as_ref();
            let gvk = workload
                .and_then(|it| it.definition.as_ref())
                .filter(|it| !it.api_version.is_empty() || !it.kind.is_empty());
            let r#type = workload.map_or("", |it| it.r#type.as_str());
            match (r#type, gvk) {
                ("", None) => Some(format!(
                    "neither the type nor the definition of the workload field in the ComponentDefinition {name} can be empty"
                )),
                ("", _) | (_, None) => None,
                (r#type, Some(gvk)) => {
                    // Without discovery: the regular plural of the kind.
                    let group = gvk.api_version.split_once('/').map_or("", |(group, _)| group);
                    let (named, of_group) = r#type.split_once('.').unwrap_or((r#type, ""));
                    let plural = plural(&gvk.kind);
                    (named != plural || of_group != group).then(|| {
                        format!("the type and the definition of the workload field in ComponentDefinition {name} should represent the same workload")
                    })
                }
            }
        }
        DefinitionKind::Trait => {
            let referenced = spec.definition_ref.as_ref().is_some_and(|it| !it.name.is_empty());
            let makes = definition
                .template()
                .is_some_and(|it| it.contains("patch") || it.contains("output"));
            (!referenced && !makes && !definition.is_terraform()).then(|| {
                "if definition reference is omitted, patch or output with GVK is required"
                    .to_owned()
            })
        }
        DefinitionKind::Policy => {
            let mut errors = Vec::new();
            if spec.schematic.as_ref().is_none_or(|it| it.cue.is_none()) {
                errors.push("policy must have a CUE schematic".to_owned());
            }
            if spec.global && spec.scope != "Application" {
                errors.push(format!(
                    "global policies must have scope='Application', found scope='{}'",
                    spec.scope
                ));
            }
            (!errors.is_empty())
                .then(|| format!("invalid PolicyDefinition: [{}]", errors.join(" ")))
        }
        DefinitionKind::WorkflowStep | DefinitionKind::Workload => None,
    }
}

/// Regular plural of a kind, as resources are named.
fn plural(kind: &str) -> String {
    let lower = kind.to_lowercase();
    match lower.chars().last() {
        Some('y') if !lower.ends_with("ay") && !lower.ends_with("ey") => {
            format!("{}ies", &lower[..lower.len() - 1])
        }
        Some('s' | 'x') => format!("{lower}es"),
        _ if lower.ends_with("ch") => format!("{lower}es"),
        _ => format!("{lower}s"),
    }
}

/// The first error of the template by itself; `context` comes later.
fn first_error(template: &str, templates: Templates<'_>) -> Result<Option<String>, Fault> {
    let program = templates.library.template(&[("definition.cue", template), CONTEXT]).program;
    let (all, _) = templates.wrong(&program, "")?;
    let text = |it: &Diagnostic| {
        if let Some(package) = missing_package(&it.message) {
            return format!("builtin package {package:?} undefined");
        }
        let path = if it.path.is_empty() && it.message.starts_with("reference ") {
            place::path(template, it.positions.first())
        } else {
            it.path.clone()
        };
        if path.is_empty() { it.message.clone() } else { format!("{path}: {}", it.message) }
    };
    match all.iter().find(|it| !it.incomplete) {
        Some(first) => Ok(Some(text(first))),
        None => Ok(unused_import(template)),
    }
}

/// An import whose name stands nowhere: CUE refuses it, and so does a cluster.
fn unused_import(template: &str) -> Option<String> {
    let parsed = cue_syntax::parse_older(template);
    let after = parsed.file.imports.iter().map(|it| it.span.end as usize).max()?;
    let body = template.get(after..).unwrap_or_default();
    parsed.file.imports.iter().find_map(|it| {
        let last = it.path.rsplit('/').next().unwrap_or(&it.path);
        let last = last.split_once(':').map_or(last, |(_, name)| name);
        let name = it.name.as_ref().map_or(last, |it| &it.name);
        let used = body.match_indices(name).any(|(at, _)| {
            let before = body[..at].chars().next_back();
            let behind = body[at + name.len()..].chars().next();
            let word = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
            !word(before) && before != Some('.') && !word(behind)
        });
        (!used).then(|| format!("imported and not used: {:?}", it.path))
    })
}

fn version(
    definition: &Definition,
    kind: DefinitionKind,
    revisions: &[DefinitionRevision],
) -> Option<String> {
    let version = &definition.spec.version;
    let parts: Vec<&str> = version.split('.').collect();
    if !version.is_empty()
        && (parts.len() != 3 || parts.iter().any(|it| it.parse::<i64>().is_err()))
    {
        return Some(NO_VERSION.into());
    }
    let named = definition.metadata.annotations.get(annotation::DEFINITION_REVISION_NAME);
    let revision = match (version.is_empty(), named) {
        (false, Some(_)) => {
            return Some(format!(
                "{} has both spec.version and revision name annotation. Only one can be present",
                definition.kind
            ));
        }
        (false, None) => format!("{}-v{version}", definition.metadata.name),
        (true, Some(named)) => format!("{}-v{named}", definition.metadata.name),
        (true, None) => return None,
    };
    let existing = revisions.iter().find(|it| it.metadata.name == revision)?;
    let same = existing.spec.revision_hash == definition_hash(definition)
        || (existing.spec.revision_hash.is_empty()
            && existing.definition(kind).is_some_and(|it| it.spec == definition.spec));
    (!same).then(|| {
        "the definition's spec is different with existing definitionRevision's spec".to_owned()
    })
}
