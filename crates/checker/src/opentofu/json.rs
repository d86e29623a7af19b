//! Manifests as Go's `encoding/json` reads them into the structs of the OCI image-spec: names in any case, the last one
//! counts, null changes nothing, what is not asked for is skipped.
//!
//! Of a member that an object has twice, Go reads the second over the first, part by part. Such a document is read as if
//! it had the last one alone.
//!
//! Spec: Go 1.24 to 1.26, `encoding/json`, `Unmarshal`; OCI image-spec 1.1.1, `specs-go/v1`.

use tofu_oci_types::{JsonKind, JsonMember, JsonValue};

use super::{GoDescriptor, GoPlatform};

/// The media type of the layer that holds a package.
const ZIP: &str = "archive/zip";

/// An index as Go reads it.
#[derive(Debug, Default)]
pub(crate) struct GoIndex {
    pub(crate) media_type: String,
    pub(crate) artifact_type: String,
    pub(crate) manifests: Vec<GoDescriptor>,
}

/// An image manifest as Go reads it.
#[derive(Debug, Default)]
pub(crate) struct GoManifest {
    pub(crate) media_type: String,
    pub(crate) artifact_type: String,
    pub(crate) config: GoDescriptor,
    pub(crate) layers: Vec<GoDescriptor>,
}

#[cfg(test)]
thread_local! {
    /// The number of indexes that this thread has read.
    pub(crate) static READS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl GoIndex {
    /// The index, and whether Go reads it without an error.
    pub(crate) fn read(bytes: &[u8]) -> (Self, bool) {
        #[cfg(test)]
        READS.with(|reads| reads.set(reads.get() + 1));
        document(bytes, |object| Self {
            media_type: object.text("mediaType"),
            artifact_type: object.text("artifactType"),
            manifests: object.list("manifests", descriptor),
        })
    }
}

impl GoManifest {
    /// The manifest, and whether Go reads it without an error.
    pub(crate) fn read(bytes: &[u8]) -> (Self, bool) {
        document(bytes, |object| Self {
            media_type: object.text("mediaType"),
            artifact_type: object.text("artifactType"),
            config: object.object("config", descriptor).unwrap_or_default(),
            layers: object.list("layers", descriptor),
        })
    }

    /// The positions of the layers that are zips.
    pub(crate) fn zips(&self) -> Vec<usize> {
        (0..self.layers.len()).filter(|at| self.layers[*at].media_type == ZIP).collect()
    }
}

/// What `read` takes out of a whole document.
fn document<T: Default>(bytes: &[u8], read: impl FnOnce(&mut GoObject<'_>) -> T) -> (T, bool) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(value) = JsonValue::parse(&text) else { return (T::default(), false) };
    let mut object = GoObject { members: value.members(), is_good: true };
    if !matches!(value.kind, JsonKind::Object(_) | JsonKind::Null) {
        object.is_good = false;
    }
    object.number("schemaVersion");
    object.object("subject", descriptor);
    object.texts("annotations");
    let read = read(&mut object);
    (read, object.is_good)
}

fn descriptor(object: &mut GoObject<'_>) -> GoDescriptor {
    object.texts("annotations");
    GoDescriptor {
        media_type: object.text("mediaType"),
        digest: object.text("digest"),
        size: object.number("size"),
        artifact_type: object.text("artifactType"),
        platform: object.object("platform", |platform| GoPlatform {
            os: platform.text("os"),
            architecture: platform.text("architecture"),
            os_version: platform.text("os.version"),
            variant: platform.text("variant"),
        }),
    }
}

/// An object that is read. A value of a wrong type is noted and skipped; the rest is still read.
struct GoObject<'v> {
    members: &'v [JsonMember<'v>],
    is_good: bool,
}

impl<'v> GoObject<'v> {
    /// The last value of this name that is not null.
    fn member(&self, name: &str) -> Option<&'v JsonKind<'v>> {
        let named = self.members.iter().filter(|member| member.is_named(name));
        named.map(|member| &member.value.kind).rfind(|kind| !matches!(kind, JsonKind::Null))
    }

    fn text(&mut self, name: &str) -> String {
        match self.member(name) {
            None => String::new(),
            Some(JsonKind::String(text)) => text.text().to_string(),
            Some(_) => self.wrong(),
        }
    }

    fn number(&mut self, name: &str) -> i64 {
        match self.member(name) {
            None => 0,
            Some(JsonKind::Number(number)) => number.parse().unwrap_or_else(|_| self.wrong()),
            Some(_) => self.wrong(),
        }
    }

    /// A map of texts, which is checked and not kept.
    fn texts(&mut self, name: &str) {
        match self.member(name) {
            None => {}
            Some(JsonKind::Object(members)) => {
                let is_text =
                    |member: &JsonMember<'_>| matches!(member.value.kind, JsonKind::String(_) | JsonKind::Null);
                self.is_good &= members.iter().all(is_text);
            }
            Some(_) => self.wrong(),
        }
    }

    /// `None` if there is none, as for null.
    fn object<T: Default>(&mut self, name: &str, read: impl FnOnce(&mut GoObject<'v>) -> T) -> Option<T> {
        self.member(name).map(|kind| self.inner(kind, read))
    }

    fn list<T: Default>(&mut self, name: &str, read: impl Fn(&mut GoObject<'v>) -> T) -> Vec<T> {
        match self.member(name) {
            None => Vec::new(),
            Some(JsonKind::Array(items)) => items.iter().map(|item| self.inner(&item.kind, &read)).collect(),
            Some(_) => self.wrong(),
        }
    }

    fn inner<T: Default>(&mut self, kind: &'v JsonKind<'v>, read: impl FnOnce(&mut GoObject<'v>) -> T) -> T {
        match kind {
            JsonKind::Null => T::default(),
            JsonKind::Object(members) => {
                let mut object = GoObject { members, is_good: true };
                let read = read(&mut object);
                self.is_good &= object.is_good;
                read
            }
            _ => self.wrong(),
        }
    }

    fn wrong<T: Default>(&mut self) -> T {
        self.is_good = false;
        T::default()
    }
}

#[cfg(test)]
mod tests {
    use super::{GoIndex, GoManifest};

    #[track_caller]
    fn check(document: &[u8], want: &str) {
        let (index, good) = GoIndex::read(document);
        let entries: Vec<String> = index
            .manifests
            .iter()
            .map(|entry| {
                let platform =
                    entry.platform.as_ref().map(|platform| format!("{}/{}", platform.os, platform.architecture));
                format!("{}:{}:{}", entry.media_type, entry.size, platform.unwrap_or_default())
            })
            .collect();
        let got = format!("{} {:?} {}", if good { "good" } else { "bad" }, index.media_type, entries.join(","));
        assert_eq!(got.trim_end(), want, "{}", String::from_utf8_lossy(document));
    }

    #[test]
    fn names_are_read_in_any_case_and_the_last_one_counts() {
        check(br#"{"MEDIATYPE":"a","mediaType":"b"}"#, r#"good "b""#);
        check(br#"{"mediaType":"b","MediaType":"a"}"#, r#"good "a""#);
        check(br#"{"mediaType":"b","mediaType":null}"#, r#"good "b""#);
        check(br#"{"media_type":"b","other":[{"x":[1,2,{}]}],"mediaType":"c"}"#, r#"good "c""#);
    }

    #[test]
    fn a_wrong_type_is_an_error_and_the_rest_is_read() {
        check(br#"{"schemaVersion":"2","mediaType":"b"}"#, r#"bad "b""#);
        check(br#"{"mediaType":1}"#, r#"bad """#);
        check(br#"{"annotations":{"a":1}}"#, r#"bad """#);
        check(br#"{"annotations":{"a":null}}"#, r#"good """#);
        check(br#"{"manifests":[{"size":1.0}]}"#, r#"bad "" :0:"#);
        check(br#"{"manifests":[{"size":-1}]}"#, r#"good "" :-1:"#);
        check(br#"{"manifests":{}}"#, r#"bad """#);
        check(br#"{"manifests":[{"platform":[]}]}"#, r#"bad "" :0:/"#);
        check(br#"{"manifests":[null]}"#, r#"good "" :0:"#);
        check(b"[]", r#"bad """#);
        check(b"null", r#"good """#);
        check(b"{\"a\":1,}", r#"bad """#);
        check(b"{} {}", r#"bad """#);
    }

    #[test]
    fn a_manifest_has_config_and_layers() {
        let (manifest, good) = GoManifest::read(
            br#"{"mediaType":"m","artifactType":"a","Config":{"digest":"d"},"layers":[{"mediaType":"l"}]}"#,
        );
        assert!(good);
        assert_eq!((manifest.media_type.as_str(), manifest.artifact_type.as_str()), ("m", "a"));
        assert_eq!((manifest.config.digest.as_str(), manifest.layers[0].media_type.as_str()), ("d", "l"));
    }
}
