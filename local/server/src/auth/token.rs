//! Tokens of service accounts: JSON Web Tokens signed with a key of the plane's own.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use local_store::Expect;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::User;
use crate::plane::Plane;

/// Where the signing key is kept; no resource has this prefix.
const KEY: &str = "lateen.local/keys/service-accounts";
const ISSUER: &str = "https://kubernetes.default.svc";

/// A new token for a service account.
pub(crate) fn issue(
    plane: &Plane,
    account: &Value,
    audiences: &[String],
    seconds: i64,
    bound: &Value,
) -> String {
    let metadata = &account["metadata"];
    let (namespace, name) = (&metadata["namespace"], &metadata["name"]);
    let now = chrono::Utc::now().timestamp();
    let mut about = json!({
        "namespace": namespace,
        "serviceaccount": {"name": name, "uid": metadata["uid"]},
    });
    if let Some(kind) = bound["kind"].as_str() {
        about[kind.to_lowercase()] = json!({"name": bound["name"], "uid": bound["uid"]});
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let claims = json!({
        "aud": audiences,
        "exp": now + seconds,
        "iat": now,
        "iss": ISSUER,
        "jti": uuid::Uuid::new_v4().to_string(),
        "kubernetes.io": about,
        "nbf": now,
        "sub": format!("system:serviceaccount:{}:{}", text(namespace), text(name)),
    });
    let header = json!({"alg": "HS256", "typ": "JWT"});
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let body = format!("{}.{}", encode(&header), encode(&claims));
    let signature = URL_SAFE_NO_PAD.encode(sign(&key(plane), body.as_bytes()));
    format!("{body}.{signature}")
}

/// Whose a token is, if this plane made it, it has not ended and the account is still there.
pub(super) fn read(plane: &Plane, token: &str) -> Option<User> {
    let (body, signature) = token.rsplit_once('.')?;
    let given = URL_SAFE_NO_PAD.decode(signature).ok()?;
    let wanted = sign(&key(plane), body.as_bytes());
    let wrong = given.iter().zip(&wanted).fold(0, |wrong, (a, b)| wrong | (a ^ b));
    if given.len() != wanted.len() || wrong != 0 {
        return None;
    }
    let claims = URL_SAFE_NO_PAD.decode(body.split_once('.')?.1).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    if claims["exp"].as_i64()? <= chrono::Utc::now().timestamp() {
        return None;
    }
    let about = &claims["kubernetes.io"];
    let namespace = about["namespace"].as_str()?;
    let name = about["serviceaccount"]["name"].as_str()?;
    let account = plane.store().get(&format!("/serviceaccounts/{namespace}/{name}"))?;
    let uid = about["serviceaccount"]["uid"].as_str()?;
    if account.value["metadata"]["uid"] != json!(uid) {
        return None;
    }
    let mut groups = groups(namespace);
    groups.push("system:authenticated".to_owned());
    let name = format!("system:serviceaccount:{namespace}:{name}");
    Some(User { name, uid: uid.to_owned(), groups })
}

/// The groups of the accounts of a namespace.
pub(super) fn groups(namespace: &str) -> Vec<String> {
    vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")]
}

// The key is made when it is first needed.
fn key(plane: &Plane) -> Vec<u8> {
    let made = || json!(format!("{}{}", uuid::Uuid::new_v4(), uuid::Uuid::new_v4()));
    let stored = plane.store().get(KEY).map(|entry| entry.value).or_else(|| {
        let written = plane.store().put(KEY, Expect::Absent, |_| made());
        written.ok().map(|entry| entry.value).or_else(|| Some(plane.store().get(KEY)?.value))
    });
    let text = stored.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default();
    text.into_bytes()
}

// HMAC with SHA-256, RFC 2104.
fn sign(key: &[u8], body: &[u8]) -> Vec<u8> {
    let mut block = [0_u8; 64];
    let short = if key.len() > block.len() { Sha256::digest(key).to_vec() } else { key.to_vec() };
    for (to, from) in block.iter_mut().zip(short) {
        *to = from;
    }
    let pad = |with: u8| block.map(|byte| byte ^ with);
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(body).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().to_vec()
}

#[cfg(test)]
mod tests {
    use super::sign;

    #[test]
    fn signatures_follow_rfc_4231() {
        let signed = sign(b"Jefe", b"what do ya want for nothing?");
        let hex: Vec<String> = signed.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex.concat(),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
