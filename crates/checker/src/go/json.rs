//! Manifests as Go's `encoding/json` reads them into the structs of the OCI image-spec: names in any case, the last one
//! counts, null changes nothing, what is not asked for is skipped.
//!
//! Spec: Go 1.24 to 1.26, `encoding/json`, `Unmarshal`; OCI image-spec 1.1.1, `specs-go/v1`.

use tofu_oci_types::{JsonKind, JsonMember, JsonValue};

use super::descriptor::{GoDescriptor, GoPlatform};

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
    /// The index, and how Go takes it.
    pub(crate) fn read(bytes: &[u8]) -> (Self, GoReading) {
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
    /// The manifest, and how Go takes it.
    pub(crate) fn read(bytes: &[u8]) -> (Self, GoReading) {
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

/// How Go takes a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GoReading {
    Good,
    /// It is malformed in a way that is not modelled.
    NotPredicted,
    Refused,
}

/// What `read` takes out of a whole document.
fn document<T: Default>(bytes: &[u8], read: impl FnOnce(&mut GoObject<'_>) -> T) -> (T, GoReading) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(value) = JsonValue::parse_as_go(&text) else { return (T::default(), GoReading::Refused) };
    let mut object = GoObject { members: value.members(), reading: GoReading::Good };
    if !matches!(value.kind, JsonKind::Object(_) | JsonKind::Null) {
        object.reading = GoReading::Refused;
    }
    object.number("schemaVersion");
    object.object("subject", descriptor);
    object.text_map("annotations");
    let read = read(&mut object);
    (read, object.reading)
}

fn descriptor(object: &mut GoObject<'_>) -> GoDescriptor {
    object.text_map("annotations");
    object.text_list("urls");
    object.bytes("data");
    GoDescriptor {
        media_type: object.text("mediaType"),
        digest: object.text("digest"),
        size: object.number("size"),
        artifact_type: object.text("artifactType"),
        platform: object.object("platform", |platform| {
            platform.text_list("os.features");
            GoPlatform {
                os: platform.text("os"),
                architecture: platform.text("architecture"),
                os_version: platform.text("os.version"),
                variant: platform.text("variant"),
            }
        }),
    }
}

/// An object that is read. A value of a wrong type is noted and skipped; the rest is still read.
struct GoObject<'v> {
    members: &'v [JsonMember<'v>],
    reading: GoReading,
}

impl<'v> GoObject<'v> {
    fn values(&self, name: &str) -> Vec<&'v JsonKind<'v>> {
        self.members.iter().filter(|member| member.is_named(name)).map(|member| &member.value.kind).collect()
    }

    /// What `read` takes out of the last value that is not null. `None` if every value is null, or the last one has the wrong type.
    fn last<T>(&mut self, name: &str, read: impl Fn(&'v JsonKind<'v>) -> Option<T>) -> Option<T> {
        let mut last = None;
        for value in self.values(name).into_iter().filter(|kind| !matches!(kind, JsonKind::Null)) {
            match read(value) {
                Some(value) => last = Some(value),
                None => self.note(GoReading::Refused),
            }
        }
        last
    }

    /// The only list or object of this name, unless it is null: Go reads a second one over the first, part by part.
    fn only(&mut self, name: &str) -> Option<&'v JsonKind<'v>> {
        let values = self.values(name);
        if values.len() > 1 {
            self.note(GoReading::NotPredicted);
        }
        values.last().copied().filter(|kind| !matches!(kind, JsonKind::Null))
    }

    fn text(&mut self, name: &str) -> String {
        let text = |kind: &JsonKind<'_>| if let JsonKind::String(text) = kind { Some(text.text()) } else { None };
        self.last(name, text).map(|text| text.to_string()).unwrap_or_default()
    }

    fn number(&mut self, name: &str) -> i64 {
        let number = |kind: &JsonKind<'_>| if let JsonKind::Number(text) = kind { text.parse().ok() } else { None };
        self.last(name, number).unwrap_or_default()
    }

    /// A map of texts, which is checked and not kept.
    fn text_map(&mut self, name: &str) {
        self.last(name, |kind| match kind {
            JsonKind::Object(members) => members.iter().all(|member| is_text(&member.value)).then_some(()),
            _ => None,
        });
    }

    /// A list of texts, which is checked and not kept.
    fn text_list(&mut self, name: &str) {
        self.last(name, |kind| match kind {
            JsonKind::Array(items) => items.iter().all(is_text).then_some(()),
            _ => None,
        });
    }

    /// Bytes in Base64, which are checked and not kept.
    fn bytes(&mut self, name: &str) {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/');
        let is_base64 = |text: &str| text.len().is_multiple_of(4) && text.trim_end_matches('=').chars().all(is_letter);
        let is_sound = |kind: &&JsonKind<'_>| match kind {
            JsonKind::String(text) => is_base64(&text.text()),
            kind => matches!(kind, JsonKind::Null),
        };
        if !self.values(name).iter().all(is_sound) {
            self.note(GoReading::NotPredicted);
        }
    }

    /// The object of this name; `None` if it is missing or null.
    fn object<T: Default>(&mut self, name: &str, read: impl FnOnce(&mut GoObject<'v>) -> T) -> Option<T> {
        self.only(name).map(|kind| self.inner(kind, read))
    }

    fn list<T: Default>(&mut self, name: &str, read: impl Fn(&mut GoObject<'v>) -> T) -> Vec<T> {
        match self.only(name) {
            None => Vec::new(),
            Some(JsonKind::Array(items)) => items.iter().map(|item| self.inner(&item.kind, &read)).collect(),
            Some(_) => {
                self.note(GoReading::Refused);
                Vec::new()
            }
        }
    }

    fn inner<T: Default>(&mut self, kind: &'v JsonKind<'v>, read: impl FnOnce(&mut GoObject<'v>) -> T) -> T {
        match kind {
            JsonKind::Null => T::default(),
            JsonKind::Object(members) => {
                let mut object = GoObject { members, reading: GoReading::Good };
                let read = read(&mut object);
                self.note(object.reading);
                read
            }
            _ => {
                self.note(GoReading::Refused);
                T::default()
            }
        }
    }

    fn note(&mut self, reading: GoReading) {
        self.reading = self.reading.max(reading);
    }
}

fn is_text(value: &JsonValue<'_>) -> bool {
    matches!(value.kind, JsonKind::String(_) | JsonKind::Null)
}

#[cfg(test)]
mod tests {
    use super::{GoIndex, GoManifest, GoReading};

    #[track_caller]
    fn check(document: &[u8], want: &str) {
        let (index, reading) = GoIndex::read(document);
        let entries: Vec<String> = index
            .manifests
            .iter()
            .map(|entry| {
                let platform =
                    entry.platform.as_ref().map(|platform| format!("{}/{}", platform.os, platform.architecture));
                format!("{}:{}:{}", entry.media_type, entry.size, platform.unwrap_or_default())
            })
            .collect();
        let word = match reading {
            GoReading::Good => "good",
            GoReading::NotPredicted => "unclear",
            GoReading::Refused => "bad",
        };
        let got = format!("{word} {:?} {}", index.media_type, entries.join(","));
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
    fn what_is_malformed_in_another_way_is_not_predicted() {
        check(br#"{"manifests":[{"size":1}],"manifests":[{"mediaType":"a"}]}"#, r#"unclear "" a:0:"#);
        check(br#"{"manifests":[{"data":"e30"}]}"#, r#"unclear "" :0:"#);
        check(br#"{"manifests":[{"data":"e30="}]}"#, r#"good "" :0:"#);
    }

    #[test]
    fn a_document_of_128_levels_was_malformed() {
        let nested = |levels| format!("{{\"x\":{}{},\"mediaType\":\"b\"}}", "[".repeat(levels), "]".repeat(levels));
        check(nested(127).as_bytes(), r#"good "b""#);
        check(nested(9_999).as_bytes(), r#"good "b""#);
        check(nested(10_000).as_bytes(), r#"bad """#);
    }

    #[test]
    fn a_manifest_has_config_and_layers() {
        let (manifest, reading) = GoManifest::read(
            br#"{"mediaType":"m","artifactType":"a","Config":{"digest":"d"},"layers":[{"mediaType":"l"}]}"#,
        );
        assert_eq!(reading, GoReading::Good);
        assert_eq!((manifest.media_type.as_str(), manifest.artifact_type.as_str()), ("m", "a"));
        assert_eq!((manifest.config.digest.as_str(), manifest.layers[0].media_type.as_str()), ("d", "l"));
    }
}
