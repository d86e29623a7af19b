//! `index.json` as writers need it: every member, also those that other tools wrote; how a tag goes from a folder.

use serde_json::{Map, Value, json};
use tofu_oci_types::{Descriptor, Digest, Tag};
use tokio::sync::oneshot;

use crate::error::StoreError;
use crate::manifest::OCI_INDEX;

/// The annotation that names a tag.
///
/// Spec: OCI image-spec 1.1.1, annotations.md.
const REF_NAME: &str = "org.opencontainers.image.ref.name";

/// The largest `index.json` that is read, in bytes: a folder may hold many releases.
pub(crate) const MAX_INDEX_JSON: u64 = 64 * 1024 * 1024;

/// `index.json`, with members that other tools wrote kept as they are.
#[derive(Debug)]
pub(super) struct IndexJson {
    members: Map<String, Value>,
    /// How many of the first entries are what they were when the listing was made.
    listed: usize,
}

pub(super) type ChangeOfIndex = Box<dyn FnOnce(&mut IndexJson) -> bool + Send>;

/// A change of `index.json` that waits for its turn.
pub(super) struct IndexChange {
    pub(super) change: ChangeOfIndex,
    pub(super) done: oneshot::Sender<Result<(), StoreError>>,
}

impl IndexJson {
    /// Reads the document; `Ok(None)` if it is JSON and not an index.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<Self>, serde_json::Error> {
        let Value::Object(members) = serde_json::from_slice(bytes)? else { return Ok(None) };
        let is_index = members.get("manifests").is_none_or(|list| list.is_array() || list.is_null());
        Ok(is_index.then_some(Self { members, listed: 0 }))
    }

    /// An index with no entries.
    pub(super) fn empty() -> Self {
        let mut members = Map::new();
        members.insert("schemaVersion".to_owned(), json!(2));
        members.insert("mediaType".to_owned(), json!(OCI_INDEX));
        members.insert("manifests".to_owned(), json!([]));
        Self { members, listed: 0 }
    }

    /// Whether it lists nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.members.get("manifests").and_then(Value::as_array).is_none_or(Vec::is_empty)
    }

    /// The bytes to write.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(&self.members).expect("a JSON value always serialises")
    }

    /// Every entry as it stands there.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Value> {
        self.members.get("manifests").and_then(Value::as_array).into_iter().flatten()
    }

    /// Every entry, and how many of the first ones were there when this was asked last.
    pub(super) fn entries_and_listed(&mut self) -> (&[Value], usize) {
        let list = self.members.get("manifests").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        (list, std::mem::replace(&mut self.listed, list.len()))
    }

    /// The entries of a tag that are descriptors: more than one if a tool wrote it twice.
    pub(super) fn tagged(&self, tag: &Tag) -> Vec<Descriptor> {
        let tagged = self.entries().filter(|entry| tag_of(entry) == Some(tag.as_str()));
        tagged.filter_map(|entry| serde::Deserialize::deserialize(entry).ok()).collect()
    }

    /// The entries of a digest that are descriptors.
    fn of_digest<'a>(&'a self, digest: &Digest) -> impl Iterator<Item = &'a Value> {
        let text = digest.as_str().to_owned();
        let of_digest = move |entry: &&Value| entry.get("digest").and_then(Value::as_str) == Some(text.as_str());
        self.entries().filter(of_digest).filter(|entry| <Descriptor as serde::Deserialize>::deserialize(*entry).is_ok())
    }

    /// Makes the tag point at the descriptor alone. False if it did already.
    pub(super) fn set_tag(&mut self, tag: &Tag, descriptor: &Descriptor) -> bool {
        if let [only] = self.tagged(tag).as_slice()
            && only.digest == descriptor.digest
        {
            return false;
        }
        self.drop_tag(tag);
        self.list().push(entry(descriptor, Some(tag)));
        true
    }

    /// Removes the tag. What it pointed at stays listed, without a tag if it has no other. False if there was no such tag.
    pub(super) fn remove_tag(&mut self, tag: &Tag) -> bool {
        let tagged = self.tagged(tag);
        self.drop_tag(tag);
        for mut descriptor in tagged.iter().cloned() {
            descriptor.annotations.remove(REF_NAME);
            if self.of_digest(&descriptor.digest).next().is_none() {
                self.add_untagged(&descriptor);
            }
        }
        !tagged.is_empty()
    }

    /// Lists a manifest without a tag. False if it was listed already.
    pub(super) fn add_untagged(&mut self, descriptor: &Descriptor) -> bool {
        let is_untagged = |entry: &Value| tag_of(entry).is_none_or(|tag| tag.parse::<Tag>().is_err());
        let listed = self.of_digest(&descriptor.digest).any(is_untagged);
        if !listed {
            self.list().push(entry(descriptor, None));
        }
        !listed
    }

    fn drop_tag(&mut self, tag: &Tag) {
        let is_of_tag = |entry: &Value| tag_of(entry) == Some(tag.as_str());
        if let Some(first) = self.list().iter().position(is_of_tag) {
            self.list().retain(|entry| !is_of_tag(entry));
            self.listed = self.listed.min(first);
        }
    }

    fn list(&mut self) -> &mut Vec<Value> {
        let list = self.members.entry("manifests").or_insert_with(|| json!([]));
        if !list.is_array() {
            *list = json!([]);
        }
        list.as_array_mut().expect("the line above made it an array")
    }
}

/// The name of an entry, as the document has it.
pub(crate) fn tag_of(entry: &Value) -> Option<&str> {
    entry.get("annotations")?.get(REF_NAME)?.as_str()
}

fn entry(descriptor: &Descriptor, tag: Option<&Tag>) -> Value {
    match tag {
        Some(tag) => named_entry(descriptor, tag.as_str()),
        None => to_value(&Descriptor { platform: None, ..descriptor.clone() }),
    }
}

/// The entry of a manifest under a name.
pub(crate) fn named_entry(descriptor: &Descriptor, name: &str) -> Value {
    let annotations = [(REF_NAME.to_owned(), name.to_owned())].into();
    to_value(&Descriptor { platform: None, annotations, ..descriptor.clone() })
}

fn to_value(entry: &Descriptor) -> Value {
    serde_json::to_value(entry).expect("a descriptor always serialises")
}
