//! Serde through `Display` and `FromStr`, written once.

use std::path::Path;

macro_rules! serde_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use serde_as_text;

/// Writes a path as text, for `serialize_with`; bytes that are not UTF-8 become U+FFFD.
///
/// # Errors
/// Those of the serializer; serde's own form of a path fails if the path is not UTF-8.
pub fn path_as_text<S: serde::Serializer>(path: &impl AsRef<Path>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.as_ref().display())
}

/// The same for a path that may be missing.
///
/// # Errors
/// Those of the serializer.
pub fn optional_path_as_text<S: serde::Serializer>(
    path: &Option<impl AsRef<Path>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => path_as_text(path, serializer),
        None => serializer.serialize_none(),
    }
}
