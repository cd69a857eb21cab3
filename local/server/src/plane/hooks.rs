//! Where the verbs ask webhooks.

use serde_json::{Value, json};

use super::{DeleteOptions, FieldValidation, Plane, Target, WriteOptions};
use crate::admit::webhook::{self, Operation, Request};
use crate::scale;
use crate::status::Result;

const META: &str = "meta.k8s.io/v1";

impl WriteOptions {
    /// A write as webhooks are told of it.
    pub(crate) fn about<'r>(
        &'r self,
        target: &'r Target,
        operation: Operation,
        old: &'r Value,
    ) -> Request<'r> {
        let kind = if operation == Operation::Update { "UpdateOptions" } else { "CreateOptions" };
        let mut options = json!({"kind": kind, "apiVersion": META});
        if self.dry_run {
            options["dryRun"] = json!(["All"]);
        }
        if !self.manager.is_empty() {
            options["fieldManager"] = json!(self.manager);
        }
        match self.validation {
            FieldValidation::Ignore => options["fieldValidation"] = json!("Ignore"),
            FieldValidation::Strict => options["fieldValidation"] = json!("Strict"),
            FieldValidation::Warn => {}
        }
        let kind = (target.subresource == "scale").then_some(("autoscaling/v1", "Scale"));
        Request { target, operation, kind, old, user: self.user.as_ref(), options }
    }
}

// Of a bound pod webhooks were told when the binding came.
fn told_before(target: &Target) -> bool {
    target.subresource == "binding"
}

// What is written by way of a subresource that is an object of its own.
fn shown(target: &Target, object: &Value) -> Result<Value> {
    if target.subresource == "scale" { scale::scale_of(target, object) } else { Ok(object.clone()) }
}

impl Plane {
    // Mutating webhooks about an object that is to be made; whether they changed it.
    pub(super) fn ask_webhooks_for_more(
        &self,
        target: &Target,
        object: &mut Value,
        options: &mut WriteOptions,
    ) -> Result<bool> {
        if !webhook::any(self, "mutating") {
            return Ok(false);
        }
        let mut warnings = Vec::new();
        let request = options.about(target, Operation::Create, &Value::Null);
        let changed = webhook::mutate(self, &request, object, &mut warnings)?;
        options.warnings.append(&mut warnings);
        Ok(changed)
    }

    // Mutating webhooks about a changed object; what may not change stays.
    pub(super) fn ask_webhooks_for_changes(
        &self,
        target: &Target,
        current: &Value,
        next: &mut Value,
        options: &mut WriteOptions,
    ) -> Result<()> {
        if told_before(target) || !webhook::any(self, "mutating") {
            return Ok(());
        }
        let old = shown(target, current)?;
        let mut object = shown(target, next)?;
        let mut warnings = Vec::new();
        let request = options.about(target, Operation::Update, &old);
        if webhook::mutate(self, &request, &mut object, &mut warnings)? {
            if target.subresource == "scale" {
                let replicas = object["spec"]["replicas"].as_i64().unwrap_or(0);
                scale::set_replicas(target, next, replicas);
            } else {
                *next = object;
                super::keep::restore(target, current, next);
            }
        }
        options.warnings.append(&mut warnings);
        Ok(())
    }

    // Validating webhooks about an object as it is to be stored.
    pub(super) fn ask_webhooks(
        &self,
        target: &Target,
        operation: Operation,
        old: &Value,
        next: &Value,
        options: &mut WriteOptions,
    ) -> Result<()> {
        if told_before(target) || !webhook::any(self, "validating") {
            return Ok(());
        }
        let old = if old.is_null() { Value::Null } else { shown(target, old)? };
        let object = shown(target, next)?;
        let mut warnings = Vec::new();
        let request = options.about(target, operation, &old);
        let verdict = webhook::validate(self, &request, &object, &mut warnings);
        options.warnings.append(&mut warnings);
        verdict
    }

    // Both kinds of webhooks about an object that is to go.
    pub(super) fn ask_webhooks_of_deletion(
        &self,
        target: &Target,
        current: &Value,
        options: &DeleteOptions,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        if !webhook::any_at_all(self) {
            return Ok(());
        }
        let mut given = json!({"kind": "DeleteOptions", "apiVersion": META});
        if options.dry_run {
            given["dryRun"] = json!(["All"]);
        }
        if let Some(seconds) = options.grace {
            given["gracePeriodSeconds"] = json!(seconds);
        }
        if let Some(policy) = &options.propagation {
            given["propagationPolicy"] = json!(policy);
        }
        if let Some(uid) = &options.uid {
            given["preconditions"]["uid"] = json!(uid);
        }
        if let Some(version) = &options.version {
            given["preconditions"]["resourceVersion"] = json!(version);
        }
        let request = Request {
            target,
            operation: Operation::Delete,
            kind: None,
            old: current,
            user: options.user.as_ref(),
            options: given,
        };
        webhook::mutate(self, &request, &mut Value::Null, warnings)?;
        webhook::validate(self, &request, &Value::Null, warnings)
    }

    /// Webhooks about something posted to a subresource, such as a Binding.
    pub(crate) fn ask_webhooks_of_part(
        &self,
        target: &Target,
        kind: (&str, &str),
        body: &mut Value,
        options: &mut WriteOptions,
    ) -> Result<()> {
        let mut warnings = Vec::new();
        let request =
            Request { kind: Some(kind), ..options.about(target, Operation::Create, &Value::Null) };
        webhook::mutate(self, &request, body, &mut warnings)?;
        webhook::validate(self, &request, body, &mut warnings)?;
        options.warnings.append(&mut warnings);
        Ok(())
    }
}
