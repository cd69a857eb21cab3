//! What an Application's resource policies say about one object (E-52, E-53).

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::Application;
use crate::api::policies::{
    ApplyOnce, GarbageCollect, ResourceUpdate, ResourceUpdateStrategy, Selecting,
};
use crate::policy::selector::selects;
use crate::policy::{self, Error};

/// When an object that is no longer asked for goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// With the version of the Application that asked for it.
    #[default]
    Version,
    /// With the Application.
    Application,
    /// Never.
    Forever,
}

/// When `apply-once` keeps fields as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A new version is delivered.
    Update,
    /// Drift is corrected.
    StateKeep,
}

/// The policies garbage-collect, apply-once, shared-resource, take-over, read-only, resource-update.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    collect: GarbageCollect,
    once: ApplyOnce,
    shared: Selecting,
    taken_over: Selecting,
    read_only: Selecting,
    update: ResourceUpdate,
    takes_all: bool,
}

impl Rules {
    /// Those of an Application; several policies of one type are merged (E-52).
    ///
    /// # Errors
    /// A policy's properties have the wrong shape; it is named.
    pub fn of(app: &Application) -> Result<Self, Error> {
        let mut rules = Self::default();
        for it in read::<GarbageCollect>(app, "garbage-collect")? {
            let all = &mut rules.collect;
            all.application_revision_limit =
                all.application_revision_limit.or(it.application_revision_limit);
            all.keep_legacy_resource |= it.keep_legacy_resource;
            all.continue_on_failure |= it.continue_on_failure;
            if all.order.is_empty() {
                all.order = it.order;
            }
            all.rules.extend(it.rules);
        }
        for it in read::<ApplyOnce>(app, "apply-once")? {
            rules.once.enable |= it.enable;
            rules.once.rules.extend(it.rules);
        }
        for it in read::<Selecting>(app, "shared-resource")? {
            rules.shared.rules.extend(it.rules);
        }
        for it in read::<Selecting>(app, "take-over")? {
            rules.takes_all |= it.rules.is_empty();
            rules.taken_over.rules.extend(it.rules);
        }
        for it in read::<Selecting>(app, "read-only")? {
            rules.read_only.rules.extend(it.rules);
        }
        for it in read::<ResourceUpdate>(app, "resource-update")? {
            rules.update.rules.extend(it.rules);
        }
        if app.metadata.labels.contains_key(ADDON) {
            rules.once.enable = true;
        }
        Ok(rules)
    }

    /// Those of an Application that goes: a policy that cannot be read must not keep it, nor may it
    /// take the others' protection away.
    pub fn readable(app: &Application) -> Self {
        let mut app = app.clone();
        let policies = std::mem::take(&mut app.spec.policies);
        for policy in policies {
            app.spec.policies.push(policy);
            if Self::of(&app).is_err() {
                app.spec.policies.pop();
            }
        }
        Self::of(&app).unwrap_or_default()
    }

    /// When `object` goes, once it is no longer asked for.
    pub fn lifetime(&self, object: &Value) -> Lifetime {
        let rule = self.collect.rules.iter().find(|it| selects(&it.selector, object));
        match rule.map(|it| it.strategy.as_str()) {
            Some("never") => Lifetime::Forever,
            Some("onAppDelete") => Lifetime::Application,
            _ => Lifetime::Version,
        }
    }

    /// Whether `object` stays when it is collected, and only stops being ours.
    pub fn orphans(&self, object: &Value) -> bool {
        let rule = self
            .collect
            .rules
            .iter()
            .find(|it| it.propagation.is_some() && selects(&it.selector, object));
        rule.is_some_and(|it| it.propagation.as_deref() == Some("orphan"))
    }

    /// What older versions made stays until all of it is gone from elsewhere.
    pub fn keeps_legacy(&self) -> bool {
        self.collect.keep_legacy_resource
    }

    /// Older versions are collected after a failure too.
    pub fn continues_on_failure(&self) -> bool {
        self.collect.continue_on_failure
    }

    /// What others depend on goes after them.
    pub fn collects_by_dependency(&self) -> bool {
        self.collect.order == "dependency"
    }

    /// Revisions kept, if a policy says.
    pub fn revision_limit(&self) -> Option<usize> {
        self.collect.application_revision_limit.and_then(|it| usize::try_from(it).ok())
    }

    /// Whether drift is corrected at all.
    pub fn corrects_drift(&self) -> bool {
        !(self.once.enable && self.once.rules.is_empty())
    }

    /// Paths of `object` that stay as they are in the cluster; `None` if no rule is about it.
    pub fn kept_paths(&self, object: &Value, at: Moment) -> Option<Vec<&str>> {
        if !self.once.enable {
            return None;
        }
        let rule = self.once.rules.iter().find(|it| {
            let affect = it.strategy.as_ref().map_or("", |it| it.affect.as_str());
            let now = match at {
                Moment::Update => matches!(affect, "" | "always" | "onUpdate"),
                Moment::StateKeep => matches!(affect, "" | "always" | "onStateKeep"),
            };
            now && selects(&it.selector, object)
        })?;
        let paths = rule.strategy.iter().flat_map(|it| &it.path).map(String::as_str);
        Some(paths.collect())
    }

    /// Other Applications may have it too.
    pub fn shares(&self, object: &Value) -> bool {
        self.shared.rules.iter().any(|it| selects(&it.selector, object))
    }

    /// An object that nobody manages becomes ours.
    pub fn takes_over(&self, object: &Value) -> bool {
        self.takes_all || self.taken_over.rules.iter().any(|it| selects(&it.selector, object))
    }

    /// It is looked at, never written, never deleted.
    pub fn only_reads(&self, object: &Value) -> bool {
        self.read_only.rules.iter().any(|it| selects(&it.selector, object))
    }

    /// How it is changed, if a policy says.
    pub fn update(&self, object: &Value) -> Option<&ResourceUpdateStrategy> {
        let rule = self.update.rules.iter().find(|it| selects(&it.selector, object));
        rule.map(|it| &it.strategy)
    }
}

/// Addons are applied once.
const ADDON: &str = "addons.oam.dev/name";

fn read<T: DeserializeOwned + Default>(app: &Application, r#type: &str) -> Result<Vec<T>, Error> {
    let of_type = app.spec.policies.iter().filter(|it| it.r#type == r#type);
    of_type
        .map(|it| {
            policy::read(it.properties.as_ref()).map_err(|error| {
                Error::Malformed(format!("policy {} ({type}): {error}", it.name, type = r#type))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rules(policies: Value) -> Rules {
        let app = json!({
            "apiVersion": "core.oam.dev/v1beta1", "kind": "Application",
            "metadata": {"name": "a"}, "spec": {"components": [], "policies": policies},
        });
        Rules::of(&serde_json::from_value(app).unwrap()).unwrap()
    }

    fn deployment() -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}})
    }

    #[test]
    fn the_first_rule_that_selects_decides() {
        let all = rules(json!([{"type": "garbage-collect", "properties": {"rules": [
            {"selector": {"resourceTypes": ["Service"]}, "strategy": "never"},
            {"selector": {"resourceTypes": ["Deployment"]}, "strategy": "onAppDelete"},
            {"selector": {"resourceNames": ["web"]}, "propagation": "orphan"},
        ]}}]));
        assert_eq!(all.lifetime(&deployment()), Lifetime::Application);
        assert!(all.orphans(&deployment()), "the first rule that has a propagation");
        assert!(all.corrects_drift());
    }

    #[test]
    fn apply_once_without_rules_is_about_everything() {
        let all = rules(json!([{"type": "apply-once", "properties": {"enable": true}}]));
        assert!(!all.corrects_drift());
        let some = rules(json!([{"type": "apply-once", "properties": {"enable": true, "rules": [
            {"selector": {"resourceTypes": ["Deployment"]},
             "strategy": {"path": ["spec.replicas"], "affect": "onStateKeep"}},
        ]}}]));
        assert!(some.corrects_drift());
        let kept = some.kept_paths(&deployment(), Moment::StateKeep);
        assert_eq!(kept, Some(vec!["spec.replicas"]));
        assert_eq!(some.kept_paths(&deployment(), Moment::Update), None);
    }

    #[test]
    fn an_unreadable_policy_takes_no_others_protection_away() {
        let app = json!({
            "apiVersion": "core.oam.dev/v1beta1", "kind": "Application",
            "metadata": {"name": "a"}, "spec": {"components": [], "policies": [
                {"type": "garbage-collect", "properties": {"rules": "none"}},
                {"type": "read-only", "properties": {"rules": [
                    {"selector": {"resourceTypes": ["Deployment"]}},
                ]}},
            ]},
        });
        let app = serde_json::from_value(app).unwrap();
        assert!(Rules::of(&app).is_err());
        assert!(Rules::readable(&app).only_reads(&deployment()));
    }

    #[test]
    fn policies_of_one_type_are_merged() {
        let all = rules(json!([
            {"type": "garbage-collect", "properties": {"keepLegacyResource": false}},
            {"type": "garbage-collect", "properties": {"keepLegacyResource": true, "order": "dependency"}},
        ]));
        assert!(all.keeps_legacy() && all.collects_by_dependency());
    }
}
