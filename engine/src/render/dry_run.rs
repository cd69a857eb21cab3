//! A dry run: files in, the text that shows what would be delivered where out. (kubevela.md 11.3)

use std::fmt::Write as _;

use serde_json::Value;

use super::application::{Target, render};
use super::process::{Actor, Templates};
use super::{Context, Definitions, Request};
use crate::api::names::{AUXILIARY_WORKLOAD, label};
use crate::api::{AppPolicy, Application, Policy, Workflow, WorkflowSpec, object, yaml};

/// What the files hold.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    /// The Application.
    pub app: Application,
    /// Policies in files of their own.
    pub policies: Vec<Policy>,
    /// The workflow in a file of its own.
    pub workflow: Option<Workflow>,
}

/// Why files make no bundle.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No Application among them.
    #[error("no application provided")]
    NoApplication,
    /// Two Applications.
    #[error("more than one applications provided")]
    TwoApplications,
    /// Two Workflows.
    #[error("more than one external workflow provided")]
    TwoWorkflows,
    /// Something else.
    #[error("file {0} is not application, policy or workflow")]
    Other(String),
    /// It does not read as what it says it is.
    #[error("file {0}: {1}")]
    Unreadable(String, serde_json::Error),
}

impl Bundle {
    /// Sorts objects by kind; each comes with the name of its file.
    ///
    /// # Errors
    /// When there is not exactly one Application, more than one Workflow, or anything else.
    pub fn read<'a>(files: impl Iterator<Item = (&'a str, &'a Value)>) -> Result<Self, Error> {
        let mut app = None;
        let (mut policies, mut workflow) = (Vec::new(), None);
        for (file, object) in files {
            let unreadable = |error| Error::Unreadable(file.to_owned(), error);
            let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
            match kind {
                "Application" => {
                    let it = serde_json::from_value(object.clone()).map_err(unreadable)?;
                    if app.replace(it).is_some() {
                        return Err(Error::TwoApplications);
                    }
                }
                "Policy" => {
                    policies.push(serde_json::from_value(object.clone()).map_err(unreadable)?);
                }
                "Workflow" => {
                    let it = serde_json::from_value(object.clone()).map_err(unreadable)?;
                    if workflow.replace(it).is_some() {
                        return Err(Error::TwoWorkflows);
                    }
                }
                _ => return Err(Error::Other(file.to_owned())),
            }
        }
        Ok(Self { app: app.ok_or(Error::NoApplication)?, policies, workflow })
    }

    /// Puts policies and workflow into the Application, as if they had been written there.
    pub fn merge(&mut self) {
        if let Some(workflow) = self.workflow.take() {
            self.app.spec.workflow = Some(WorkflowSpec {
                mode: workflow.mode,
                steps: workflow.steps,
                ..WorkflowSpec::default()
            });
        }
        for policy in std::mem::take(&mut self.policies) {
            self.app.spec.policies.push(AppPolicy {
                name: policy.metadata.name,
                r#type: policy.r#type,
                properties: policy.properties,
                ..AppPolicy::default()
            });
        }
    }

    /// Files that the Application does not refer to.
    pub fn warnings(&self) -> Vec<String> {
        let spec = &self.app.spec;
        let steps = spec.workflow.iter().flat_map(|it| &it.steps);
        let used: Vec<String> = steps.flat_map(super::application::step_policies).collect();
        let steps = spec.workflow.iter().flat_map(|it| &it.steps);
        let early = steps.filter(|it| it.is_early());
        let workflow = self
            .workflow
            .iter()
            .filter(|it| spec.workflow.as_ref().is_none_or(|own| own.r#ref != it.metadata.name));
        let policies = self.policies.iter().filter(|it| {
            let name = &it.metadata.name;
            !used.contains(name) && !spec.policies.iter().any(|own| own.name == *name)
        });
        workflow
            .map(|it| {
                format!("WARNING: workflow {} not referenced by application", it.metadata.name)
            })
            .chain(policies.map(|it| {
                format!("WARNING: policy {} not referenced by application", it.metadata.name)
            }))
            .chain(early.map(|it| {
                format!(
                    "WARNING: step {} runs before rendering: what it gives is not shown",
                    it.name
                )
            }))
            .collect()
    }

    /// Everything a dry run prints.
    ///
    /// # Errors
    /// What rendering refuses.
    pub fn show(
        &self,
        definitions: &Definitions,
        context: Context,
        templates: Templates<'_>,
        actor: &mut dyn Actor,
    ) -> Result<String, super::Error> {
        let request = Request {
            app: &self.app,
            definitions,
            // Only what was merged counts: a cluster would not have the files either.
            policies: &[],
            workflows: &[],
            context,
        };
        let (targets, error) = render(&request, templates, actor);
        if let Some(error) = error {
            return Err(error);
        }
        let mut out = String::new();
        for warning in self.warnings() {
            let _ = writeln!(out, "{warning}\n");
        }
        for target in &targets {
            out.push_str(&text(&self.app.metadata.name, target));
        }
        Ok(out)
    }
}

/// One target as text: every component with its traits, then custom policies' objects.
pub fn text(app: &str, target: &Target) -> String {
    let mut out = String::new();
    for component in &target.components {
        let _ = write!(
            out,
            "---\n# Application({}) -- Component({})\n---\n\n{}\n---\n",
            target.title,
            component.name,
            yaml::text(&component.workload)
        );
        for it in &component.auxiliaries {
            if it.trait_type == AUXILIARY_WORKLOAD {
                out.push_str("## From the auxiliary workload\n");
            } else {
                let shown = object::label(&it.object, label::TRAIT_TYPE).unwrap_or_default();
                let _ = writeln!(out, "## From the trait {shown}");
            }
            let _ = write!(out, "{}\n---\n", yaml::text(&it.object));
        }
        out.push('\n');
    }
    for policy in &target.policies {
        let _ = write!(
            out,
            "---\n# Application({app}) -- Policy({})\n---\n\n{}\n---\n",
            object::name(policy),
            yaml::text(policy)
        );
    }
    out
}
