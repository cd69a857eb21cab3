//! One component, or one custom policy, as objects that carry their names and labels.

use serde_json::Value;

use super::context::Context;
use super::definitions::{Definitions, Versions, is_version, label_type, split_version};
use super::error::Error;
use super::names;
use super::process::{Actor, Process, Product, Templates, object_error};
use super::stamp::{self, Placed};
use super::terraform;
use crate::api::names::{AUXILIARY_WORKLOAD, LOCAL_CLUSTER, annotation, label};
use crate::api::object::{self, set_label, set_labels, set_name, set_namespace};
use crate::api::{AppPolicy, Component, Definition, DefinitionKind, Stage};

/// A resource besides the workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Auxiliary {
    /// Trait type as in labels, or [`AUXILIARY_WORKLOAD`].
    pub trait_type: String,
    /// Key in `outputs`.
    pub resource: String,
    /// When it is applied.
    pub stage: Stage,
    /// Applied where the engine runs, not where the component goes.
    pub control_plane_only: bool,
    /// It is the workload: the component's own is not applied.
    pub manage_workload: bool,
    /// The object.
    pub object: Value,
}

/// A component's objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rendered {
    /// Component.
    pub name: String,
    /// Component type as in labels.
    pub r#type: String,
    /// The workload; `null` if there is none.
    pub workload: Value,
    /// Everything else, in order.
    pub auxiliaries: Vec<Auxiliary>,
}

impl Rendered {
    /// Put it somewhere: cluster label, overriding namespace; control-plane traits stay at home.
    pub fn place(&mut self, at: &Placed, home_namespace: &str) {
        place(&mut self.workload, at);
        for it in &mut self.auxiliaries {
            if it.control_plane_only {
                place(
                    &mut it.object,
                    &Placed { cluster: LOCAL_CLUSTER.into(), namespace: home_namespace.into() },
                );
            } else {
                place(&mut it.object, at);
            }
        }
    }

    /// All objects that are applied, with the stage each belongs to.
    pub fn objects(&self) -> impl Iterator<Item = (Stage, &Value)> {
        let managed = self.auxiliaries.iter().any(|it| it.manage_workload);
        let own = (!managed && !self.workload.is_null())
            .then_some((Stage::DefaultDispatch, &self.workload));
        own.into_iter().chain(self.auxiliaries.iter().map(|it| (it.stage, &it.object)))
    }
}

fn place(object: &mut Value, at: &Placed) {
    if !object.is_object() {
        return;
    }
    if object::label(object, label::APP_CLUSTER).unwrap_or_default().is_empty() {
        set_label(object, label::APP_CLUSTER, &at.cluster);
    }
    let cluster_scoped =
        object::text(object, "/kind") == "Namespace" && object::text(object, "/apiVersion") == "v1";
    if !at.namespace.is_empty() && !cluster_scoped {
        set_namespace(object, &at.namespace);
    }
}

/// The definition a component's or policy's type names, or KubeVela's words that there is none.
pub(crate) fn definition<'a>(
    definitions: &'a Definitions,
    kind: DefinitionKind,
    r#type: &str,
    context: &Context,
) -> Result<&'a Definition, String> {
    let noun = match kind {
        DefinitionKind::Component | DefinitionKind::Workload => "component",
        DefinitionKind::Trait => "trait",
        DefinitionKind::Policy => "policy",
        DefinitionKind::WorkflowStep => "workflow step",
    };
    if let (_, Some(version)) = split_version(r#type) {
        if !is_version(version) {
            return Err(format!(
                "load template from {noun} definition [{type}] : invalid definitionRevision name {type}:name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
                type = r#type
            ));
        }
    }
    let follows = context.annotations.get(annotation::AUTO_UPDATE).is_some_and(|it| it == "true");
    let versions = if follows { Versions::Newest } else { Versions::Exact };
    definitions.get(kind, r#type, &context.namespace, versions).ok_or_else(|| {
        // The older kind is looked for last, so its absence is what is reported.
        let missing =
            if kind == DefinitionKind::Component { DefinitionKind::Workload } else { kind };
        format!(
            "load template from {noun} definition [{type}] : {}.core.oam.dev {type:?} not found",
            missing.plural(),
            type = r#type
        )
    })
}

/// A component's objects, not yet placed. `skip` leaves out traits of a stage whose time has not come.
pub fn render_component(
    templates: Templates<'_>,
    definitions: &Definitions,
    context: &Context,
    component: &Component,
    skip: &dyn Fn(Stage) -> bool,
    actor: &mut dyn Actor,
) -> Result<Rendered, Error> {
    let of_app = |error: Error, what: &str| error.within(what.to_owned());
    let found = definition(definitions, DefinitionKind::Component, &component.r#type, context)
        .map_err(|error| {
            Error::Definition(format!(
                "failed to parseComponents: fetch component/policy type of {}: {}{error}",
                component.name,
                context.dry_run_prefix(&component.r#type)
            ))
        })?;
    let mut traits = Vec::with_capacity(component.traits.len());
    for it in &component.traits {
        let definition = definition(definitions, DefinitionKind::Trait, &it.r#type, context).map_err(|_| {
            Error::Definition(format!(
                "failed to parseComponents: component({}) parse trait({type}): trait definition of {type} not found",
                component.name,
                type = it.r#type
            ))
        })?;
        if !skip(definition.stage()) {
            traits.push((it, definition));
        }
    }
    let wrapper = "cannot generate manifests from components and traits";
    let shown = context.shown(component);
    let unrevised = context.dry_run || context.app_revision.is_empty();
    let shown = if unrevised { shown } else { shown.revised() };
    let mut process = Process::new(templates, shown);
    if let Some(status) = &context.live_status {
        process = process.with_live_status(status.clone());
    }
    if let Some(object) = terraform::configuration(found, component, &context.namespace) {
        process.base(object);
    } else {
        process
            .workload(
                &component.name,
                &component.r#type,
                found.template().unwrap_or_default(),
                component.properties.as_ref(),
                actor,
            )
            .map_err(|error| {
                let place = format!(
                    "evaluate base template app={} in namespace={}",
                    context.app_name, context.namespace
                );
                of_app(error.within(place), wrapper)
            })?;
    }
    process.set("componentType", component.r#type.as_str().into());
    for (it, definition) in &traits {
        process
            .apply_trait(
                &it.r#type,
                definition.template().unwrap_or_default(),
                it.properties.as_ref(),
                actor,
            )
            .map_err(|error| {
                let place = format!("evaluate template trait={} app={}", it.r#type, component.name);
                of_app(error.within(place), wrapper)
            })?;
    }
    let definition_of =
        |r#type: &str| traits.iter().find(|(it, _)| it.r#type == r#type).map(|(_, it)| *it);
    process
        .finish()
        .and_then(|it| objects(context, &component.name, &component.r#type, it, &definition_of))
        .map_err(|error| of_app(error, wrapper))
}

/// A custom policy's objects, not yet placed. `artifacts` is what a dry run shows of components, else `{}`.
pub fn render_policy(
    templates: Templates<'_>,
    definitions: &Definitions,
    context: &Context,
    policy: &AppPolicy,
    artifacts: &Value,
    actor: &mut dyn Actor,
) -> Result<Vec<Value>, Error> {
    let found = definition(definitions, DefinitionKind::Policy, &policy.r#type, context).map_err(
        |error| {
            Error::Definition(format!(
                "failed to parsePolicies: fetch component/policy type of {}: {}{error}",
                policy.name,
                context.dry_run_prefix(&policy.r#type)
            ))
        },
    )?;
    let wrapper = "cannot generate manifests from policies";
    let stand_in = Component {
        name: policy.name.clone(),
        r#type: policy.r#type.clone(),
        properties: policy.properties.clone(),
        ..Default::default()
    };
    let mut process = Process::new(templates, context.shown(&stand_in));
    process.set("artifacts", artifacts.clone());
    process
        .workload(
            &policy.name,
            &policy.r#type,
            found.template().unwrap_or_default(),
            policy.properties.as_ref(),
            actor,
        )
        .map_err(|error| {
            let place = format!(
                "evaluate base template app={} in namespace={}",
                context.app_name, context.namespace
            );
            error.within(place).within(wrapper)
        })?;
    let product = process.finish()?;
    let incomplete: Vec<_> = product
        .base_incomplete
        .iter()
        .chain(product.outputs.iter().flat_map(|it| &it.incomplete))
        .cloned()
        .collect();
    if !incomplete.is_empty() {
        return Err(Error::Incomplete {
            wrapper: format!("{wrapper}: evaluate policy {}", policy.name),
            diagnostics: incomplete,
        });
    }
    let mut made = Vec::new();
    for mut object in
        product.base.into_iter().chain(product.outputs.into_iter().map(|it| it.object))
    {
        if !object.is_object() {
            continue;
        }
        if object::name(&object).is_empty() {
            set_name(&mut object, &policy.name);
        }
        if object::namespace(&object).is_empty() {
            set_namespace(&mut object, &context.namespace);
        }
        stamp::origin(&mut object, context, &policy.name);
        set_label(&mut object, label::APP_REVISION, &context.app_revision);
        made.push(object);
    }
    Ok(made)
}

fn objects<'a>(
    context: &Context,
    component: &str,
    r#type: &str,
    product: Product,
    definition_of: &dyn Fn(&str) -> Option<&'a Definition>,
) -> Result<Rendered, Error> {
    if !product.base_incomplete.is_empty() {
        return Err(Error::Incomplete {
            wrapper: format!("cannot generate manifests from component {component}"),
            diagnostics: product.base_incomplete,
        });
    }
    if let Some(error) = object_error(product.base.as_ref()) {
        return Err(Error::NoObject(format!(
            "cannot generate manifests from component {component}:\n\nTemplate errors:\n  {error}"
        )));
    }
    let mut workload = product.base.unwrap_or_default();
    if workload.is_object() {
        object::whole_numbers(&mut workload);
        stamp::origin(&mut workload, context, component);
        set_label(&mut workload, label::WORKLOAD_TYPE, &label_type(r#type));
        stamp::contract(&mut workload, context, component, stamp::Role::Workload);
    }
    let mut auxiliaries = Vec::with_capacity(product.outputs.len());
    for output in product.outputs {
        if !output.incomplete.is_empty() {
            return Err(Error::Incomplete {
                wrapper: format!(
                    "evaluate trait={} template for component={component} app={}",
                    output.name, context.app_name
                ),
                diagnostics: output.incomplete,
            });
        }
        if let Some(error) = object_error(Some(&output.object)) {
            return Err(Error::NoObject(format!(
                "evaluate trait={} template for component={component} app={}: {error}",
                output.name, context.app_name
            )));
        }
        let definition = definition_of(&output.r#type);
        let trait_type = label_type(&output.r#type);
        let mut object = output.object;
        object::whole_numbers(&mut object);
        stamp::origin(&mut object, context, component);
        let resource = Some((label::TRAIT_RESOURCE, output.name.as_str()));
        let resource = resource.filter(|it| !it.1.is_empty());
        let of_trait = Some((label::TRAIT_TYPE, trait_type.as_str()));
        set_labels(&mut object, of_trait.into_iter().chain(resource));
        if object::name(&object).is_empty() {
            let name = names::trait_object(component, &trait_type, &object);
            set_name(&mut object, &name);
        }
        stamp::contract(&mut object, context, component, stamp::Role::Auxiliary);
        let path = definition.map_or("", |it| it.spec.workload_ref_path.as_str());
        if !path.is_empty() && trait_type != AUXILIARY_WORKLOAD {
            stamp::workload_reference(&mut object, path, &workload);
        }
        let manage_workload = definition.is_some_and(|it| it.spec.manage_workload);
        if manage_workload {
            set_label(&mut object, label::MANAGE_WORKLOAD, "true");
        }
        auxiliaries.push(Auxiliary {
            trait_type,
            resource: output.name,
            stage: definition.map_or(Stage::DefaultDispatch, Definition::stage),
            control_plane_only: definition.is_some_and(|it| it.spec.control_plane_only),
            manage_workload,
            object,
        });
    }
    Ok(Rendered { name: component.into(), r#type: label_type(r#type), workload, auxiliaries })
}
