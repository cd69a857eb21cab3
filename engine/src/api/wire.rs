//! Declares wire records: camelCase, null reads as absent, zero values are not written, the unknown is kept.

use serde::{Deserialize, Deserializer};

/// `null` reads like absence.
pub(super) fn null_default<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}

/// Zero values are not written.
pub(super) fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Fields under `@always` are written first, and even when zero: shipped schemas require them.
macro_rules! wire {
    ($(#[$meta:meta])* $name:ident {
        $($(#[$field_meta:meta])* $field:ident : $type:ty,)*
        $(@always { $($(#[$always_meta:meta])* $always:ident : $always_type:ty,)* })?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        #[allow(missing_docs, reason = "fields that say nothing more than their wire name")]
        pub struct $name {
            $($($(#[$always_meta])*
            #[serde(deserialize_with = "crate::api::wire::null_default")]
            pub $always: $always_type,)*)?
            $($(#[$field_meta])*
            #[serde(deserialize_with = "crate::api::wire::null_default", skip_serializing_if = "crate::api::wire::is_zero")]
            pub $field: $type,)*
            /// What this version does not know.
            #[serde(flatten)]
            pub rest: serde_json::Map<String, serde_json::Value>,
        }
    };
}
pub(super) use wire;
