//! OCI content descriptors.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Digest, Platform};

/// Points at content by media type, digest and size in bytes.
///
/// Serialises with members in this order and annotations sorted, so that equal descriptors give equal bytes. Members
/// that this type lacks are dropped: a descriptor is a view, and raw manifest bytes are never rewritten from it.
///
/// Spec: OCI image-spec 1.1.1, descriptor.md, "Properties".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descriptor {
    /// The media type of the content; empty if a foreign manifest omits it.
    #[serde(rename = "mediaType", default, deserialize_with = "null_as_default")]
    pub media_type: String,
    /// The artifact type of the manifest, if it has one.
    #[serde(rename = "artifactType", default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    /// The digest of the content.
    pub digest: Digest,
    /// The size of the content in bytes. Never allocate by it: it is a claim until the content has been read.
    pub size: u64,
    /// The platform that the content is for (index entries only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<OciPlatform>,
    /// Annotations, sorted by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "null_as_default")]
    pub annotations: BTreeMap<String, String>,
}

/// The platform of an index entry, in OCI's words.
///
/// Spec: OCI image-spec 1.1.1, image-index.md, "platform".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OciPlatform {
    /// A GOARCH name, `unknown` for attestations.
    #[serde(default, deserialize_with = "null_as_default")]
    pub architecture: String,
    /// A GOOS name, `unknown` for attestations.
    #[serde(default, deserialize_with = "null_as_default")]
    pub os: String,
    /// The variant of the architecture, such as `v7`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The version of the operating system.
    #[serde(rename = "os.version", default, skip_serializing_if = "Option::is_none")]
    pub os_version: Option<String>,
}

fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

impl Descriptor {
    /// A descriptor of `bytes`, with their SHA-256 digest and size.
    pub fn of(media_type: &str, bytes: &[u8]) -> Self {
        Self::new(media_type, Digest::sha256(bytes), bytes.len() as u64)
    }

    /// A descriptor with only the three members that every descriptor has.
    pub fn new(media_type: &str, digest: Digest, size: u64) -> Self {
        Self {
            media_type: media_type.to_owned(),
            artifact_type: None,
            digest,
            size,
            platform: None,
            annotations: BTreeMap::new(),
        }
    }
}

impl From<&Platform> for OciPlatform {
    fn from(platform: &Platform) -> Self {
        Self { architecture: platform.arch().to_owned(), os: platform.os().to_owned(), variant: None, os_version: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn writes_its_members_in_one_order() {
        let mut descriptor = Descriptor::of("archive/zip", b"");
        descriptor.annotations.extend([("b".to_owned(), "2".to_owned()), ("a".to_owned(), "1".to_owned())]);
        descriptor.platform = Some((&"linux_amd64".parse::<Platform>().expect("a platform")).into());
        let text = serde_json::to_string(&descriptor).expect("it is plain data");
        assert_eq!(
            text,
            format!(
                r#"{{"mediaType":"archive/zip","digest":"{EMPTY}","size":0,"platform":{{"architecture":"amd64","os":"linux"}},"annotations":{{"a":"1","b":"2"}}}}"#
            )
        );
        assert_eq!(serde_json::from_str::<Descriptor>(&text).expect("it reads back"), descriptor);
    }

    #[track_caller]
    fn check(members: &str, readable: bool) {
        let text = format!("{{{members}}}");
        assert_eq!(serde_json::from_str::<Descriptor>(&text).is_ok(), readable, "{text}");
    }

    #[test]
    fn reads_what_other_tools_leave_out_and_refuses_what_is_wrong() {
        check(&format!(r#""digest":"{EMPTY}","size":0"#), true);
        check(&format!(r#""digest":"{EMPTY}","size":0,"mediaType":null,"annotations":null,"platform":null"#), true);
        check(
            &format!(r#""digest":"{EMPTY}","size":0,"platform":{{"os":null,"os.features":["x"]}},"urls":["x"]"#),
            true,
        );
        check(&format!(r#""digest":"{EMPTY}","size":-1"#), false);
        check(&format!(r#""digest":"{EMPTY}","size":1.5"#), false);
        check(&format!(r#""digest":"{EMPTY}""#), false);
        check(r#""digest":"sha256:../..","size":1"#, false);
        check(r#""size":1"#, false);
    }
}
