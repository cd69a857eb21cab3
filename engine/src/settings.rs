//! What the engine is told by whoever runs it: limits, gates, what may be delivered.

use serde_json::Value;

use crate::api::object;
use crate::workflow::backoff::{self, Caps};
use crate::workflow::plan::Trials;
use crate::world::{Error, ObjectRef};

/// Everything that can be set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Failures in a row before a step fails for good.
    pub retries: u32,
    /// Longest waits between attempts of a step.
    pub caps: Caps,
    /// Revisions kept besides the current one.
    pub revision_limit: usize,
    /// Revisions of a definition kept besides the current one.
    pub definition_revision_limit: usize,
    /// What may be delivered.
    pub admission: Admission,
    /// What is off unless asked for.
    pub gates: Gates,
    /// Whom Applications without a user are delivered for, if users are told apart.
    pub default_user: String,
    /// How long the deletion of an Application waits for clusters that do not answer; after that, what
    /// is on them is left behind.
    pub cluster_patience: chrono::Duration,
    /// Whether statuses have the phase of the Application as `phase` too (W-87), beside `status`.
    pub mirror_phase: bool,
}

impl Settings {
    /// How often steps are tried.
    pub fn trials(&self) -> Trials {
        let suspends = self.gates.suspend_on_failure;
        Trials { retries: self.retries, caps: self.caps, suspends }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            retries: backoff::RETRIES,
            caps: Caps::default(),
            revision_limit: 2,
            definition_revision_limit: 2,
            admission: Admission::default(),
            gates: Gates::default(),
            default_user: "kubevela:vela-core".into(),
            cluster_patience: chrono::Duration::hours(1),
            mirror_phase: false,
        }
    }
}

/// Behaviour that is off unless asked for, by the names the official controller gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gates {
    /// `EnableApplicationScopedPolicies`: policies that change the Application itself.
    pub application_policies: bool,
    /// `EnableGlobalPolicies`: those that do so without being named.
    pub global_policies: bool,
    /// `AuthenticateApplication`: nothing is delivered for the engine itself.
    pub authenticate: bool,
    /// `EnableSuspendOnFailure`: a step that has failed too often suspends the run.
    pub suspend_on_failure: bool,
}

impl Gates {
    /// Reads `Name=true,Other=false`; the names nobody knows here come back.
    pub fn read(text: &str) -> (Self, Vec<String>) {
        let mut gates = Self::default();
        let mut unknown = Vec::new();
        for gate in text.split(',').map(str::trim).filter(|it| !it.is_empty()) {
            let (name, value) = gate.split_once('=').unwrap_or((gate, "true"));
            let on = value.trim().eq_ignore_ascii_case("true");
            match name.trim() {
                "EnableApplicationScopedPolicies" => gates.application_policies = on,
                "EnableGlobalPolicies" => gates.global_policies = on,
                "AuthenticateApplication" => gates.authenticate = on,
                "EnableSuspendOnFailure" => gates.suspend_on_failure = on,
                other => unknown.push(other.to_owned()),
            }
        }
        (gates, unknown)
    }
}

/// What may be delivered, wherever it comes from (E-49).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// Objects may be outside the Application's namespace.
    pub cross_namespace: bool,
    /// Kinds of objects.
    pub kinds: Kinds,
}

impl Default for Admission {
    fn default() -> Self {
        Self { cross_namespace: true, kinds: Kinds::All }
    }
}

/// Kinds, as `Secret.v1` or `Deployment.v1.apps`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Kinds {
    /// All.
    #[default]
    All,
    /// Only these.
    Only(Vec<String>),
    /// All but these.
    Not(Vec<String>),
}

impl Kinds {
    /// Reads `whitelist:…` or `blacklist:…`; nothing is everything.
    ///
    /// # Errors
    /// It is neither.
    pub fn read(text: &str) -> Result<Self, String> {
        let list = |text: &str| -> Vec<String> {
            text.split(',').map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).collect()
        };
        match text.trim().split_once(':') {
            Some(("whitelist", all)) => Ok(Self::Only(list(all))),
            Some(("blacklist", all)) => Ok(Self::Not(list(all))),
            None if text.trim().is_empty() => Ok(Self::All),
            _ => Err(format!("{text:?} is neither whitelist:KIND.VERSION.GROUP,… nor blacklist:…")),
        }
    }

    fn allow(&self, at: &ObjectRef) -> bool {
        let name = match at.api_version.split_once('/') {
            Some((group, version)) => format!("{}.{version}.{group}", at.kind),
            None => format!("{}.{}", at.kind, at.api_version),
        };
        match self {
            Self::All => true,
            Self::Only(all) => all.contains(&name),
            Self::Not(all) => !all.contains(&name),
        }
    }
}

impl Admission {
    /// Whether an Application of `namespace` may deliver an object.
    ///
    /// # Errors
    /// It may not, and why.
    pub fn check(&self, object: &Value, namespace: &str) -> Result<(), Error> {
        let at = ObjectRef::of(object, "");
        let own = object::namespace(object);
        if !self.cross_namespace && own != namespace {
            return Err(Error::Forbidden(format!(
                "forbidden resource: {} {own}/{} is outside the namespace of application",
                at.kind, at.name
            )));
        }
        if !self.kinds.allow(&at) {
            return Err(Error::Forbidden(format!(
                "forbidden resource: type ({}) of resource {own}/{} is not allowed",
                at.kind, at.name
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn gates_are_read_and_unknown_ones_told() {
        let (gates, unknown) =
            Gates::read("EnableApplicationScopedPolicies, EnableGlobalPolicies=false,Other=true");
        assert!(gates.application_policies && !gates.global_policies);
        assert_eq!(unknown, ["Other"]);
    }

    #[test]
    fn what_may_be_delivered() {
        let object = |api: &str, kind: &str, namespace: &str| json!({"apiVersion": api, "kind": kind, "metadata": {"name": "x", "namespace": namespace}});
        let admission = |kinds: &str, cross_namespace| Admission {
            cross_namespace,
            kinds: Kinds::read(kinds).expect("a list"),
        };
        for (kinds, cross, object, allowed) in [
            ("", true, object("v1", "Secret", "b"), true),
            ("", false, object("v1", "Secret", "b"), false),
            ("", false, object("v1", "Secret", "a"), true),
            ("blacklist:Secret.v1", true, object("v1", "Secret", "a"), false),
            ("blacklist:Secret.v1", true, object("v1", "ConfigMap", "a"), true),
            ("whitelist:Deployment.v1.apps", true, object("apps/v1", "Deployment", "a"), true),
            ("whitelist:Deployment.v1.apps", true, object("v1", "Service", "a"), false),
        ] {
            let result = admission(kinds, cross).check(&object, "a");
            assert_eq!(result.is_ok(), allowed, "{kinds} {cross} {object}: {result:?}");
        }
        assert!(Kinds::read("graylist:Secret.v1").is_err());
    }
}
