//! Who asks, and whether they may: tokens, impersonation, RBAC.
//!
//! A plane behind a socket with tokens asks everybody; one without takes everybody for its admin. Callers in
//! the process are the admin. Impersonation is heeded in both.

mod bootstrap; // the roles there are from the start
mod grant; // what may be given away
mod rbac; // what roles and bindings allow
mod review; // access reviews, token reviews
mod token; // tokens of service accounts

use http::HeaderMap;
use serde_json::{Value, json};

use crate::audit;
use crate::plane::Plane;
use crate::status::{ApiError, Result};

pub(crate) use bootstrap::objects as bootstrap_objects;
pub(crate) use grant::check as may_give;
pub(crate) use rbac::{Action, allowed};
pub(crate) use review::review;
pub(crate) use token::issue;

/// The group that may do everything.
const MASTERS: &str = "system:masters";

/// Somebody who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// The uid, empty if there is none.
    pub uid: String,
    /// The groups.
    pub groups: Vec<String>,
}

impl User {
    /// Who a plane without tokens takes everybody for.
    #[must_use]
    pub fn admin() -> User {
        User {
            name: "admin".to_owned(),
            uid: "admin-uid".to_owned(),
            groups: vec![MASTERS.to_owned(), "system:authenticated".to_owned()],
        }
    }

    fn anonymous() -> User {
        User {
            name: "system:anonymous".to_owned(),
            uid: String::new(),
            groups: vec!["system:unauthenticated".to_owned()],
        }
    }

    fn is_master(&self) -> bool {
        self.groups.iter().any(|group| group == MASTERS)
    }

    /// As reviews show it.
    #[must_use]
    pub fn info(&self) -> Value {
        let mut info = json!({"username": self.name});
        if !self.uid.is_empty() {
            info["uid"] = json!(self.uid);
        }
        if !self.groups.is_empty() {
            info["groups"] = json!(self.groups);
        }
        info
    }
}

/// A service account.
pub(crate) fn account(namespace: &str, name: &str) -> User {
    let mut groups = token::groups(namespace);
    groups.push("system:authenticated".to_owned());
    let name = format!("system:serviceaccount:{namespace}:{name}");
    User { name, uid: String::new(), groups }
}

/// Which tokens are whose.
#[derive(Clone, Default)]
pub struct Tokens {
    known: Vec<(String, User)>,
}

// Tokens are secret.
impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").field("users", &self.known.len()).finish()
    }
}

impl Tokens {
    /// Reads a file of lines `token,user,uid[,"group,group"]`, as kube-apiserver does.
    ///
    /// # Errors
    /// The number of the first line that is not of this form.
    pub fn parse(text: &str) -> Result<Tokens, usize> {
        let mut tokens = Tokens::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut parts = line.splitn(4, ',').map(str::trim);
            let (Some(token), Some(name), Some(uid)) = (parts.next(), parts.next(), parts.next())
            else {
                return Err(index + 1);
            };
            if token.is_empty() || name.is_empty() {
                return Err(index + 1);
            }
            let groups = parts.next().unwrap_or_default().trim_matches('"');
            let groups = groups.split(',').map(str::trim).filter(|group| !group.is_empty());
            tokens.add(token, name, uid, groups.map(str::to_owned).collect());
        }
        Ok(tokens)
    }

    /// Adds one.
    pub fn add(&mut self, token: &str, name: &str, uid: &str, mut groups: Vec<String>) {
        groups.push("system:authenticated".to_owned());
        let user = User { name: name.to_owned(), uid: uid.to_owned(), groups };
        self.known.push((token.to_owned(), user));
    }

    /// Makes a token for an admin and gives it back.
    #[must_use]
    pub fn add_admin(&mut self) -> String {
        let token = format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
        self.add(&token, "admin", "admin-uid", vec![MASTERS.to_owned()]);
        token
    }

    fn find(&self, given: &str) -> Option<&User> {
        // Every byte is compared, so that the time tells nothing.
        let same = |token: &str| {
            token.len() == given.len()
                && token.bytes().zip(given.bytes()).fold(0, |wrong, (a, b)| wrong | (a ^ b)) == 0
        };
        self.known.iter().find(|(token, _)| same(token)).map(|(_, user)| user)
    }
}

/// Who a token belongs to, if anybody.
pub(crate) fn owner(plane: &Plane, tokens: Option<&Tokens>, token: &str) -> Option<User> {
    tokens.and_then(|tokens| tokens.find(token)).cloned().or_else(|| token::read(plane, token))
}

/// Who sent a request with these headers; without `tokens` everybody is the admin.
pub(crate) fn sender(plane: &Plane, tokens: Option<&Tokens>, headers: &HeaderMap) -> Result<User> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let token = text("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let user = match (tokens, token) {
        (None, None) => User::admin(),
        (None, Some(token)) => token::read(plane, token).unwrap_or_else(User::admin),
        (Some(_), None) => User::anonymous(),
        (Some(_), Some(token)) => owner(plane, tokens, token.trim())
            .ok_or_else(|| ApiError::new(401, "Unauthorized", "Unauthorized"))?,
    };
    audit::by(&user);
    let Some(name) = text("impersonate-user") else { return Ok(user) };
    let other = impersonate(plane, &user, name, headers)?;
    audit::acts_as(&other);
    Ok(other)
}

fn impersonate(plane: &Plane, user: &User, name: &str, headers: &HeaderMap) -> Result<User> {
    let all = |name: &str| -> Vec<String> {
        let values = headers.get_all(name).iter();
        values.filter_map(|value| value.to_str().ok().map(str::to_owned)).collect()
    };
    let groups = all("impersonate-group");
    let uid = all("impersonate-uid").pop().unwrap_or_default();
    let account = name.strip_prefix("system:serviceaccount:").and_then(|it| it.split_once(':'));
    let mut wanted = match account {
        Some((namespace, name)) => vec![("", "serviceaccounts", namespace, name)],
        None => vec![("", "users", "", name)],
    };
    wanted.extend(groups.iter().map(|group| ("", "groups", "", group.as_str())));
    if !uid.is_empty() {
        wanted.push(("authentication.k8s.io", "uids", "", uid.as_str()));
    }
    for (group, resource, namespace, name) in wanted {
        let action = Action::on("impersonate", group, resource, namespace, name);
        check(plane, user, &action)?;
    }
    let mut other = User { name: name.to_owned(), uid, groups };
    if let Some((namespace, _)) = account.filter(|_| other.groups.is_empty()) {
        other.groups = token::groups(namespace);
    }
    let alone = if name == "system:anonymous" { "unauthenticated" } else { "authenticated" };
    let group = format!("system:{alone}");
    if !other.groups.contains(&group) {
        other.groups.push(group);
    }
    Ok(other)
}

/// Refuses what the user may not do.
pub(crate) fn check(plane: &Plane, user: &User, action: &Action) -> Result<()> {
    if allowed(plane, user, action).is_some() { Ok(()) } else { Err(refusal(user, action)) }
}

/// The same of what a request is about: the audit log tells.
pub(crate) fn admit(plane: &Plane, user: &User, action: &Action) -> Result<()> {
    let why = allowed(plane, user, action);
    audit::decided(why.as_deref());
    if why.is_some() { Ok(()) } else { Err(refusal(user, action)) }
}

fn refusal(user: &User, action: &Action) -> ApiError {
    let Action { verb, group, resource, subresource, namespace, name, path } = action;
    if !path.is_empty() {
        let text = format!("forbidden: User \"{}\" cannot {verb} path \"{path}\"", user.name);
        let mut error = ApiError::new(403, "Forbidden", text);
        error.details = Some(Box::new(json!({})));
        return error;
    }
    let what = match subresource.as_str() {
        "" => resource.clone(),
        sub => format!("{resource}/{sub}"),
    };
    let place = match namespace.as_str() {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace \"{namespace}\""),
    };
    let why = format!(
        "User \"{}\" cannot {verb} resource \"{what}\" in API group \"{group}\" {place}",
        user.name
    );
    ApiError::forbidden(group, resource, name, &why)
}
