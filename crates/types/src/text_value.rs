//! Values that are written as text: serde through `Display` and `FromStr`, and `Debug` as `Display`.

use std::path::Path;

macro_rules! text_value {
    ($type:ty) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }

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

pub(crate) use text_value;

/// Writes a path as text, for `serialize_with`; bytes that are not UTF-8 become U+FFFD.
///
/// # Errors
/// Those of the serializer; serde's own form of a path fails if the path is not UTF-8.
pub fn path_as_text<S: serde::Serializer>(path: &impl AsRef<Path>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.as_ref().display())
}

/// A path that serde writes as [`path_as_text`] does, for a field that may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathText<'a>(pub &'a Path);

impl serde::Serialize for PathText<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        path_as_text(&self.0, serializer)
    }
}
