//! Errors as Kubernetes says them: Status objects with reason, code, details and causes.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// A refused request.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// The HTTP status.
    pub code: u16,
    /// The machine-readable reason, empty if there is none.
    pub reason: Cow<'static, str>,
    /// The text for people.
    pub message: String,
    /// `details`, if the Status has them.
    pub details: Option<Box<Value>>,
    /// `metadata.continue` of an expired list.
    pub next: Option<String>,
}

/// A result of the API.
pub type Result<T, E = ApiError> = std::result::Result<T, E>;

/// What is wrong with one field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// The path; empty for the whole object.
    pub field: String,
    /// The class of the mistake.
    pub kind: FieldErrorKind,
    /// The text after `path: `.
    pub text: String,
}

/// The classes of field errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldErrorKind {
    /// A value must be given.
    Required,
    /// The value breaks a rule.
    Invalid,
    /// The value is not in the list.
    NotSupported,
    /// What the value names is not there.
    NotFound,
    /// The value is there twice.
    Duplicate,
    /// The field may not be set or changed so.
    Forbidden,
    /// The text is too long.
    TooLong,
    /// The list is too long.
    TooMany,
    /// The value is of another type.
    TypeInvalid,
}

impl FieldErrorKind {
    /// The reason of a cause.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            FieldErrorKind::Required => "FieldValueRequired",
            FieldErrorKind::Invalid => "FieldValueInvalid",
            FieldErrorKind::NotSupported => "FieldValueNotSupported",
            FieldErrorKind::NotFound => "FieldValueNotFound",
            FieldErrorKind::Duplicate => "FieldValueDuplicate",
            FieldErrorKind::Forbidden => "FieldValueForbidden",
            FieldErrorKind::TooLong => "FieldValueTooLong",
            FieldErrorKind::TooMany => "FieldValueTooMany",
            FieldErrorKind::TypeInvalid => "FieldValueTypeInvalid",
        }
    }
}

impl FieldError {
    fn new(field: impl Into<String>, kind: FieldErrorKind, text: String) -> FieldError {
        FieldError { field: field.into(), kind, text }
    }

    /// `Required value`, with a detail unless it is empty.
    pub fn required(field: impl Into<String>, detail: &str) -> FieldError {
        let text = if detail.is_empty() {
            "Required value".to_owned()
        } else {
            format!("Required value: {detail}")
        };
        FieldError::new(field, FieldErrorKind::Required, text)
    }

    /// `Invalid value: V: detail`
    pub fn invalid(field: impl Into<String>, value: &Value, detail: &str) -> FieldError {
        let text = format!("Invalid value: {}: {detail}", shown(value));
        FieldError::new(field, FieldErrorKind::Invalid, text)
    }

    /// The same for a value of another type.
    pub fn mistyped(field: impl Into<String>, value: &Value, detail: &str) -> FieldError {
        let text = format!("Invalid value: {}: {detail}", shown(value));
        FieldError::new(field, FieldErrorKind::TypeInvalid, text)
    }

    /// `Invalid value: detail`, when the value is too big to show.
    pub fn rule(field: impl Into<String>, kind: FieldErrorKind, detail: &str) -> FieldError {
        let text = match kind {
            FieldErrorKind::Forbidden => format!("Forbidden: {detail}"),
            FieldErrorKind::Required => format!("Required value: {detail}"),
            _ => format!("Invalid value: {detail}"),
        };
        FieldError::new(field, kind, text)
    }

    /// `Unsupported value: V: supported values: "a", "b"`
    pub fn unsupported(field: impl Into<String>, value: &Value, known: &[String]) -> FieldError {
        let known = known.join(", ");
        let text = format!("Unsupported value: {}: supported values: {known}", shown(value));
        FieldError::new(field, FieldErrorKind::NotSupported, text)
    }

    /// `Duplicate value: V`
    pub fn duplicate(field: impl Into<String>, value: &Value) -> FieldError {
        FieldError::new(
            field,
            FieldErrorKind::Duplicate,
            format!("Duplicate value: {}", shown(value)),
        )
    }

    /// `Not found: V`
    pub fn not_found(field: impl Into<String>, value: &Value) -> FieldError {
        let text = format!("Not found: {}", shown(value));
        FieldError::new(field, FieldErrorKind::NotFound, text)
    }

    /// `Forbidden: detail`
    pub fn forbidden(field: impl Into<String>, detail: &str) -> FieldError {
        FieldError::new(field, FieldErrorKind::Forbidden, format!("Forbidden: {detail}"))
    }

    /// `Too long: may not be more than N bytes`
    pub fn too_long(field: impl Into<String>, limit: u64) -> FieldError {
        let text = format!("Too long: may not be more than {limit} bytes");
        FieldError::new(field, FieldErrorKind::TooLong, text)
    }

    /// `Too many: N: must have at most M items`
    pub fn too_many(field: impl Into<String>, found: usize, limit: u64) -> FieldError {
        let text = format!("Too many: {found}: must have at most {limit} items");
        FieldError::new(field, FieldErrorKind::TooMany, text)
    }

    fn path(&self) -> &str {
        if self.field.is_empty() { "<nil>" } else { &self.field }
    }
}

/// A value as messages show it.
#[must_use]
pub fn shown(value: &Value) -> String {
    value.to_string()
}

impl ApiError {
    /// Any error.
    pub fn new(
        code: u16,
        reason: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> ApiError {
        let (reason, message) = (reason.into(), message.into());
        ApiError { code, reason, message, details: None, next: None }
    }

    fn with(mut self, details: Value) -> ApiError {
        self.details = Some(Box::new(details));
        self
    }

    /// 404 for an object.
    #[must_use]
    pub fn not_found(group: &str, plural: &str, name: &str) -> ApiError {
        let text = format!("{} \"{name}\" not found", qualified(plural, group));
        ApiError::new(404, "NotFound", text).with(details(name, group, plural))
    }

    /// 404 for a path.
    #[must_use]
    pub fn no_route() -> ApiError {
        ApiError::new(404, "NotFound", "the server could not find the requested resource")
            .with(json!({}))
    }

    /// 405
    #[must_use]
    pub fn no_method() -> ApiError {
        let text = "the server does not allow this method on the requested resource";
        ApiError::new(405, "MethodNotAllowed", text).with(json!({}))
    }

    /// 409 for a name that is taken.
    #[must_use]
    pub fn exists(group: &str, plural: &str, name: &str) -> ApiError {
        let text = format!("{} \"{name}\" already exists", qualified(plural, group));
        ApiError::new(409, "AlreadyExists", text).with(details(name, group, plural))
    }

    /// 409 for a name whose object is going.
    #[must_use]
    pub fn exists_still(group: &str, plural: &str, name: &str) -> ApiError {
        let error = Self::exists(group, plural, name);
        ApiError { message: format!("object is being deleted: {}", error.message), ..error }
    }

    /// 409 for an old resourceVersion.
    #[must_use]
    pub fn conflict(group: &str, plural: &str, name: &str) -> ApiError {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        ApiError::conflict_because(group, plural, name, why)
    }

    /// 409 with another explanation; `kind` is the resource or the kind.
    #[must_use]
    pub fn conflict_because(group: &str, kind: &str, name: &str, why: &str) -> ApiError {
        let what = qualified(kind, group);
        let text = format!("Operation cannot be fulfilled on {what} \"{name}\": {why}");
        ApiError::new(409, "Conflict", text).with(details(name, group, kind))
    }

    /// 422
    #[must_use]
    pub fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> ApiError {
        let mut texts: Vec<String> = Vec::new();
        for error in errors {
            let text = format!("{}: {}", error.path(), error.text);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let list = match texts.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let message = format!("{} \"{name}\" is invalid: {list}", qualified(kind, group));
        let mut about = details(name, group, kind);
        let causes: Vec<Value> = errors
            .iter()
            .map(|error| {
                json!({"reason": error.kind.reason(), "message": error.text, "field": error.path()})
            })
            .collect();
        if let Some(about) = about.as_object_mut() {
            about.insert("causes".to_owned(), Value::Array(causes));
        }
        ApiError::new(422, "Invalid", message).with(about)
    }

    /// 422 for the options of a request.
    #[must_use]
    pub fn options(kind: &str, errors: &[FieldError]) -> ApiError {
        ApiError::invalid("meta.k8s.io", kind, "", errors)
    }

    /// 400
    pub fn bad_request(message: impl Into<String>) -> ApiError {
        ApiError::new(400, "BadRequest", message)
    }

    /// 403 about an object.
    #[must_use]
    pub fn forbidden(group: &str, plural: &str, name: &str, why: &str) -> ApiError {
        let what = qualified(plural, group);
        let text = if name.is_empty() {
            format!("{what} is forbidden: {why}")
        } else {
            format!("{what} \"{name}\" is forbidden: {why}")
        };
        ApiError::new(403, "Forbidden", text).with(details(name, group, plural))
    }

    /// 500
    #[must_use]
    pub fn internal(cause: &str) -> ApiError {
        ApiError::new(500, "InternalError", format!("Internal error occurred: {cause}"))
            .with(json!({"causes": [{"message": cause}]}))
    }

    /// 500 without a reason.
    pub fn plain(message: impl Into<String>) -> ApiError {
        ApiError::new(500, "", message)
    }

    /// 410
    pub fn expired(message: impl Into<String>) -> ApiError {
        ApiError::new(410, "Expired", message)
    }

    /// 504 for a version that is not there yet.
    #[must_use]
    pub fn too_large(wanted: u64, current: u64) -> ApiError {
        let text = format!("Timeout: Too large resource version: {wanted}, current: {current}");
        ApiError::new(504, "Timeout", text).with(json!({
            "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
            "retryAfterSeconds": 1,
        }))
    }

    /// 406
    #[must_use]
    pub fn not_acceptable() -> ApiError {
        let text = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf";
        ApiError::new(406, "NotAcceptable", text)
    }

    /// 415
    #[must_use]
    pub fn unsupported_media() -> ApiError {
        let text = "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf";
        ApiError::new(415, "UnsupportedMediaType", text)
    }

    /// The Status object.
    #[must_use]
    pub fn status(&self) -> Value {
        let mut metadata = Map::new();
        if let Some(next) = &self.next {
            metadata.insert("continue".to_owned(), json!(next));
        }
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": metadata,
            "status": "Failure", "message": self.message,
        });
        if let Some(fields) = status.as_object_mut() {
            if !self.reason.is_empty() {
                fields.insert("reason".to_owned(), json!(self.reason));
            }
            if let Some(details) = &self.details {
                fields.insert("details".to_owned(), Value::clone(details));
            }
            fields.insert("code".to_owned(), json!(self.code));
        }
        status
    }
}

impl From<local_store::Error> for ApiError {
    fn from(error: local_store::Error) -> ApiError {
        match error {
            local_store::Error::Compacted { wanted, oldest } => {
                ApiError::expired(format!("too old resource version: {wanted} ({oldest})"))
            }
            other => ApiError::internal(&other.to_string()),
        }
    }
}

/// `deployments.apps`, or the name alone for the core group.
#[must_use]
pub fn qualified(name: &str, group: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}

fn details(name: &str, group: &str, kind: &str) -> Value {
    let mut details = Map::new();
    for (key, value) in [("name", name), ("group", group), ("kind", kind)] {
        if !value.is_empty() {
            details.insert(key.to_owned(), json!(value));
        }
    }
    Value::Object(details)
}
