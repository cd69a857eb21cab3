//! Which language a schema is written in, and sets of those.

/// The language of a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// JSON Schema, draft 4.
    Draft4,
    /// Draft 6.
    Draft6,
    /// Draft 7.
    Draft7,
    /// Draft 2019-09.
    Draft2019,
    /// Draft 2020-12: that of schemas that do not say.
    #[default]
    Draft2020,
    /// OpenAPI 3.0.
    OpenApi,
    /// What the API server of Kubernetes says of its own types.
    KubernetesApi,
    /// What a custom resource definition says of one.
    KubernetesCrd,
}

/// Each draft of JSON Schema with the URL that stands for it, in order.
const DRAFTS: [(Version, &str); 5] = [
    (Version::Draft4, "http://json-schema.org/draft-04/schema#"),
    (Version::Draft6, "http://json-schema.org/draft-06/schema#"),
    (Version::Draft7, "http://json-schema.org/draft-07/schema#"),
    (Version::Draft2019, "https://json-schema.org/draft/2019-09/schema"),
    (Version::Draft2020, "https://json-schema.org/draft/2020-12/schema"),
];

impl Version {
    /// By the value of `$schema`; an empty fragment does not count.
    pub fn of_url(url: &str) -> Option<Self> {
        let bare = |it: &str| it.strip_suffix('#').unwrap_or(it).to_owned();
        DRAFTS.iter().find(|it| bare(it.1) == bare(url)).map(|it| it.0)
    }

    /// As messages and attributes have it.
    pub fn text(self) -> &'static str {
        match self {
            Version::OpenApi => "OpenAPI 3.0",
            Version::KubernetesApi => "Kubernetes API",
            Version::KubernetesCrd => "Kubernetes CRD",
            _ => DRAFTS.iter().find(|it| it.0 == self).map_or("unknown", |it| it.1),
        }
    }

    /// Whether it is one of these.
    pub(crate) fn is(self, of: Versions) -> bool {
        of.0 & 1 << self as u16 != 0
    }
}

/// A set of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Versions(u16);

impl Versions {
    /// All drafts of JSON Schema.
    pub(crate) const DRAFTS: Self = Self::from(Version::Draft4);
    pub(crate) const OPEN_API: Self = Self::only(Version::OpenApi);
    pub(crate) const KUBERNETES_API: Self = Self::only(Version::KubernetesApi);
    /// Both of Kubernetes.
    pub(crate) const KUBERNETES: Self = Self::KUBERNETES_API.or(Self::only(Version::KubernetesCrd));
    /// Those that have a dialect of their own, which knows few keywords.
    pub(crate) const LIKE_OPEN_API: Self = Self::OPEN_API.or(Self::KUBERNETES);
    pub(crate) const EVERYWHERE: Self = Self::DRAFTS.or(Self::LIKE_OPEN_API);

    pub(crate) const fn only(it: Version) -> Self {
        Self(1 << it as u16)
    }

    /// That draft and all later ones.
    pub(crate) const fn from(first: Version) -> Self {
        let after_drafts = 1 << Version::OpenApi as u16;
        Self((after_drafts - 1) & !(Self::only(first).0 - 1))
    }

    /// All drafts up to that one.
    pub(crate) const fn up_to(last: Version) -> Self {
        Self((Self::only(last).0 << 1) - 1)
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Version, Versions};

    #[test]
    fn sets_follow_the_order_of_drafts() {
        let since = Versions::from(Version::Draft7);
        assert!(Version::Draft2020.is(since) && !Version::Draft6.is(since));
        assert!(!Version::OpenApi.is(since) && Version::OpenApi.is(Versions::EVERYWHERE));
        let before = Versions::up_to(Version::Draft2019);
        assert!(Version::Draft4.is(before) && !Version::Draft2020.is(before));
    }

    #[test]
    fn urls_may_end_in_an_empty_fragment() {
        let url = "https://json-schema.org/draft/2019-09/schema#";
        assert_eq!(Version::of_url(url), Some(Version::Draft2019));
        assert_eq!(Version::of_url("http://json-schema.org/draft-05/schema"), None);
    }
}
