//! Charts of OCI registries: OCI distribution specification 1.1, with the media type that helm pushes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lateen_charts::versions;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Trouble, explain};
use crate::world::{HttpRequest, HttpResponse, Login, World};

/// What a manifest may be.
const MANIFESTS: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json";

/// What the layer of a chart is.
const CHART: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/// Pages of tags that are read at most.
const PAGES: usize = 100;

/// The packed chart at `oci://host/path`, of the version that is wanted; the newest if that is empty.
///
/// # Errors
/// It is not there, or may not be read, or is not what its digest says.
pub(super) async fn chart(
    world: &dyn World,
    address: &str,
    version: &str,
    login: &Login,
) -> Result<Vec<u8>, Trouble> {
    let place = Place::of(address)?;
    let mut registry = Registry { world, login, base: place.base(), granted: None };
    let reference = match (&place.reference, version) {
        (Some(reference), "") => reference.clone(),
        (_, version) if is_exact(version) => version.replace('+', "_"),
        (_, version) => registry.newest(version).await?,
    };
    let answer = registry.ask(&format!("manifests/{reference}"), MANIFESTS).await?;
    let manifest: Value = serde_json::from_str(&answer.body)
        .map_err(|error| format!("{address}: its manifest cannot be read: {error}"))?;
    let layers = || manifest["layers"].as_array().into_iter().flatten();
    let layer = layers().find(|it| it["mediaType"] == CHART).ok_or_else(|| {
        let types: Vec<&str> = layers().filter_map(|it| it["mediaType"].as_str()).collect();
        format!("{address}: there is no chart in it, but {types:?}")
    })?;
    let digest = layer["digest"].as_str().unwrap_or_default();
    let packed = registry.download(&format!("blobs/{digest}")).await?;
    let found = format!("sha256:{}", hex(&Sha256::digest(&packed)));
    if found != digest {
        return Err(format!("{address}: its digest is {found}, not {digest}"));
    }
    Ok(packed)
}

/// Whether a version is that of one chart, not a range.
fn is_exact(version: &str) -> bool {
    let digits = version.strip_prefix('v').unwrap_or(version).split(['-', '+']).next();
    let digits = digits.unwrap_or_default();
    digits.split('.').count() == 3
        && digits.split('.').all(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// Where a chart is.
#[derive(Debug, PartialEq)]
struct Place {
    host: String,
    repository: String,
    /// A tag or a digest, if the address has one.
    reference: Option<String>,
}

impl Place {
    fn of(address: &str) -> Result<Self, Trouble> {
        let wrong = || format!("{address}: an address in a registry is oci://HOST/PATH");
        let rest = address.strip_prefix("oci://").ok_or_else(wrong)?;
        let (host, path) = rest.split_once('/').ok_or_else(wrong)?;
        let (repository, reference) = match path.split_once('@') {
            Some((repository, digest)) => (repository, Some(digest)),
            None => match path.rsplit_once(':') {
                Some((repository, tag)) => (repository, Some(tag)),
                None => (path, None),
            },
        };
        let repository = repository.trim_matches('/');
        if host.is_empty() || repository.is_empty() {
            return Err(wrong());
        }
        let reference = reference.map(str::to_owned);
        Ok(Self { host: host.to_owned(), repository: repository.to_owned(), reference })
    }

    /// Registries of this machine speak HTTP, as for docker and helm.
    fn base(&self) -> String {
        let name = self.host.rsplit_once(':').map_or(self.host.as_str(), |(name, _)| name);
        let scheme = match name {
            "localhost" | "127.0.0.1" | "[::1]" => "http",
            _ => "https",
        };
        format!("{scheme}://{}/v2/{}", self.host, self.repository)
    }
}

/// A repository of a registry, and what it granted us.
struct Registry<'a> {
    world: &'a dyn World,
    login: &'a Login,
    base: String,
    /// Value of the header `Authorization`.
    granted: Option<String>,
}

impl Registry<'_> {
    fn request(&self, url: String) -> HttpRequest {
        let mut request = HttpRequest { method: "GET".into(), url, ..HttpRequest::default() };
        if let Some(granted) = &self.granted {
            request.headers.push(("Authorization".into(), granted.clone()));
        }
        request
    }

    async fn ask(&mut self, path: &str, accept: &str) -> Result<HttpResponse, Trouble> {
        let url = format!("{}/{path}", self.base);
        loop {
            let mut request = self.request(url.clone());
            request.headers.push(("Accept".into(), accept.to_owned()));
            let answer = self.world.http(&request).await.map_err(explain)?;
            match answer.status {
                200..=299 => return Ok(answer),
                401 if self.granted.is_none() => self.granted = Some(self.grant(&answer).await?),
                404 => return Err(format!("{url}: there is no such chart")),
                status => return Err(format!("{url}: the registry answers {status}")),
            }
        }
    }

    async fn download(&self, path: &str) -> Result<Vec<u8>, Trouble> {
        let request = self.request(format!("{}/{path}", self.base));
        self.world.download(&request).await.map_err(explain)
    }

    /// What an answer 401 asks for: our password, or a token of somebody who knows it.
    async fn grant(&self, refused: &HttpResponse) -> Result<String, Trouble> {
        let header = |it: &&(String, String)| it.0.eq_ignore_ascii_case("www-authenticate");
        let asked = refused.headers.iter().find(header).map_or("", |it| it.1.as_str());
        let password = (!self.login.password.is_empty()).then(|| {
            let both = format!("{}:{}", self.login.user, self.login.password);
            format!("Basic {}", STANDARD.encode(both))
        });
        let Some(challenge) = asked.strip_prefix("Bearer ") else {
            return password.ok_or_else(|| format!("{}: the registry wants a login", self.base));
        };
        let part = |name: &str| parameter(challenge, name).unwrap_or_default();
        let realm = part("realm");
        if !realm.contains("://") {
            return Err(format!("{}: the registry does not say who grants access", self.base));
        }
        let query: String = ["service", "scope"]
            .iter()
            .filter(|name| !part(name).is_empty())
            .map(|name| format!("{name}={}", escaped(part(name))))
            .collect::<Vec<_>>()
            .join("&");
        let mut request = HttpRequest {
            method: "GET".into(),
            url: format!("{realm}?{query}"),
            ..HttpRequest::default()
        };
        request.headers.extend(password.map(|it| ("Authorization".to_owned(), it)));
        let answer = self.world.http(&request).await.map_err(explain)?;
        let token: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        let token = token["token"].as_str().or(token["access_token"].as_str());
        match token.filter(|_| (200..300).contains(&answer.status)) {
            Some(token) => Ok(format!("Bearer {token}")),
            None => Err(format!("{realm}: access is refused with {}", answer.status)),
        }
    }

    /// The tag of the newest version that is wanted.
    async fn newest(&mut self, wanted: &str) -> Result<String, Trouble> {
        let mut tags: Vec<String> = Vec::new();
        let mut path = "tags/list?n=1000".to_owned();
        for _ in 0..PAGES {
            let answer = self.ask(&path, "application/json").await?;
            let page: Value = serde_json::from_str(&answer.body).unwrap_or_default();
            let page = page["tags"].as_array().into_iter().flatten();
            let before = tags.len();
            tags.extend(page.filter_map(Value::as_str).map(str::to_owned));
            let more = answer.headers.iter().any(|it| it.0.eq_ignore_ascii_case("link"));
            match tags.last().filter(|_| more && tags.len() > before) {
                Some(last) => path = format!("tags/list?n=1000&last={}", escaped(last)),
                None => break,
            }
        }
        let known: Vec<String> = tags.iter().map(|it| it.replace('_', "+")).collect();
        let wanted = if wanted == "latest" { "" } else { wanted };
        let at = versions::newest(&known, wanted);
        at.and_then(|at| tags.get(at).cloned())
            .ok_or_else(|| format!("{}: there is no version {wanted:?}", self.base))
    }
}

/// `name="value"` of a challenge.
fn parameter<'a>(challenge: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = challenge;
    loop {
        let (key, after) = rest.split_once('=')?;
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_at(after.find(',').unwrap_or(after.len())),
        };
        if key.trim_matches([' ', ',']).eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = after;
    }
}

/// For a query.
fn escaped(text: &str) -> String {
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"-._~:/".contains(&it);
    let of = |it: u8| if plain(it) { (it as char).to_string() } else { format!("%{it:02X}") };
    text.bytes().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_a_path_and_perhaps_a_tag() {
        let place = |host: &str, repository: &str, reference: Option<&str>| Place {
            host: host.into(),
            repository: repository.into(),
            reference: reference.map(str::to_owned),
        };
        assert_eq!(Place::of("oci://r.io/a/b"), Ok(place("r.io", "a/b", None)));
        assert_eq!(
            Place::of("oci://r.io:5000/a:1.2.3"),
            Ok(place("r.io:5000", "a", Some("1.2.3")))
        );
        let digest = place("r.io", "a", Some("sha256:00"));
        assert_eq!(Place::of("oci://r.io/a@sha256:00"), Ok(digest));
        for wrong in ["oci://r.io", "oci:///a", "oci://r.io/", "https://r.io/a"] {
            assert!(Place::of(wrong).is_err(), "{wrong}");
        }
        assert_eq!(place("localhost:5000", "a", None).base(), "http://localhost:5000/v2/a");
        assert_eq!(place("r.io", "a", None).base(), "https://r.io/v2/a");
    }

    #[test]
    fn challenges_name_who_grants_access() {
        let challenge =
            r#"realm="https://auth.io/token",service="r.io", scope="repository:a,b:pull",x=1"#;
        assert_eq!(parameter(challenge, "realm"), Some("https://auth.io/token"));
        assert_eq!(parameter(challenge, "scope"), Some("repository:a,b:pull"));
        assert_eq!(parameter(challenge, "x"), Some("1"));
        assert_eq!(parameter(challenge, "y"), None);
        assert_eq!(escaped("repository:a b+c"), "repository:a%20b%2Bc");
    }

    #[test]
    fn ranges_are_no_versions() {
        assert!(is_exact("1.2.3") && is_exact("v1.2.3-rc.1+x"));
        assert!(!is_exact("1.x") && !is_exact("^1.2.3") && !is_exact("") && !is_exact("latest"));
    }
}
