//! A bundle that is read in place.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use tofu_oci_types::{Descriptor, Digest, Place, Tag};

use super::members::{self, Member};
use super::parts::{BundleParts, FileSection};
use crate::body::stream_of;
use crate::dir::{MAX_INDEX_JSON, blocking, layout_version, tag_of};
use crate::error::{StoreError, StoreItem};
use crate::manifest::{MAX_MANIFEST, ManifestEdges, is_manifest_type};
use crate::range::range_of;
use crate::verify::ByteStream;

/// Where notes lie, which are no part of the image layout.
pub(super) const NOTES: &str = "tofu-oci/";

/// The largest note that is read, in bytes.
const MAX_NOTE: u64 = 16 * 1024 * 1024;

/// One file with several repositories. Its members are read once, when it is opened; contents are read where they lie.
#[derive(Clone, Debug)]
pub struct BundleArchive(pub(super) Arc<OpenedBundle>);

#[derive(Debug)]
pub(super) struct OpenedBundle {
    parts: Arc<BundleParts>,
    members: BTreeMap<String, Member>,
    /// Repositories by name, and what their tags point at.
    repositories: BTreeMap<String, BTreeMap<Tag, Descriptor>>,
    /// Every manifest that `index.json` lists, also without a tag.
    pub(super) listed: BTreeMap<Digest, Descriptor>,
    /// Found when they are asked for first.
    pub(super) referrers: tokio::sync::OnceCell<BTreeMap<Digest, Vec<Descriptor>>>,
}

impl BundleArchive {
    /// Opens the bundle in `FILE`, or in `FILE.001` and those that follow it.
    ///
    /// # Errors
    /// [`StoreError::UnknownRepository`] if there is no such file, [`StoreError::MissingPart`] and [`StoreError::CutOff`] if
    /// some of it is missing, [`StoreError::Malformed`] if it is not a bundle.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        blocking(move || OpenedBundle::read(&path).map(|bundle| Self(Arc::new(bundle)))).await
    }

    /// Where it lies.
    pub fn place(&self) -> Place {
        self.0.place()
    }

    /// How large it is, in bytes, all parts together.
    pub fn size(&self) -> u64 {
        self.0.parts.size()
    }

    /// The names of its repositories, sorted: `HOST/NAMESPACE/TYPE`.
    pub fn repositories(&self) -> impl Iterator<Item = &str> {
        self.0.repositories.keys().map(String::as_str)
    }

    /// The names of its notes, sorted, without the folder that they lie in.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.0.members.keys().filter_map(|name| name.strip_prefix(NOTES))
    }

    /// A note, of at most 16 MiB. Nothing vouches for it.
    ///
    /// # Errors
    /// [`StoreError::Malformed`] if the bundle has no such note.
    pub async fn note(&self, name: &str) -> Result<Bytes, StoreError> {
        let (bundle, name) = (Arc::clone(&self.0), format!("{NOTES}{name}"));
        blocking(move || bundle.bytes(&name, MAX_NOTE)).await
    }
}

impl OpenedBundle {
    pub(super) fn read(path: &Path) -> Result<Self, StoreError> {
        let mut parts = BundleParts::open(path)?;
        let (members, end) = members::read(&parts).map_err(|error| parts.perhaps_mixed(error))?;
        parts.end_at(end);
        parts.demand_one_bundle()?;
        let mut bundle = Self {
            parts: Arc::new(parts),
            members,
            repositories: BTreeMap::new(),
            listed: BTreeMap::new(),
            referrers: tokio::sync::OnceCell::new(),
        };
        let version = layout_version(&bundle.bytes("oci-layout", 64 * 1024)?);
        version.map_err(|problem| bundle.malformed(problem.to_owned()))?;
        let index = bundle.bytes("index.json", MAX_INDEX_JSON)?;
        let index: Value = serde_json::from_slice(&index)
            .map_err(|error| bundle.malformed(format!("index.json is not valid JSON: {error}")))?;
        let entries = index.get("manifests").and_then(Value::as_array);
        let entries = entries.ok_or_else(|| bundle.malformed("index.json is not an index".to_owned()))?;
        for entry in entries {
            bundle.list(entry)?;
        }
        let is_gone = |listed: &&Descriptor| bundle.blob(&listed.digest, StoreItem::of(listed)).is_err();
        match bundle.listed.values().find(is_gone).filter(|_| bundle.parts.is_split()) {
            Some(gone) => Err(bundle.parts.mixed(&format!("index.json lists {}, which no part has", gone.digest))),
            None => Ok(bundle),
        }
    }

    fn list(&mut self, entry: &Value) -> Result<(), StoreError> {
        let descriptor: Descriptor = serde::Deserialize::deserialize(entry)
            .map_err(|error| self.malformed(format!("an entry of index.json is not a descriptor: {error}")))?;
        // An entry of another tool may have any name; it is no release then.
        let named = tag_of(entry).and_then(|name| name.rsplit_once(':'));
        if let Some((repository, Ok(tag))) = named.map(|(repository, tag)| (repository, tag.parse::<Tag>())) {
            let tags = self.repositories.entry(repository.to_owned()).or_default();
            let mut tagged = Descriptor::new(&descriptor.media_type, descriptor.digest.clone(), descriptor.size);
            tagged.artifact_type.clone_from(&descriptor.artifact_type);
            if tags.insert(tag.clone(), tagged).is_some_and(|other| other.digest != descriptor.digest) {
                return Err(self.malformed(format!("index.json has {repository}:{tag} twice, for different manifests")));
            }
        }
        if is_manifest_type(&descriptor.media_type) {
            self.listed.insert(descriptor.digest.clone(), descriptor);
        }
        Ok(())
    }

    pub(super) fn place(&self) -> Place {
        self.parts.place()
    }

    fn malformed(&self, problem: String) -> StoreError {
        StoreError::Malformed { place: self.place(), problem }
    }

    /// The tags of a repository.
    pub(super) fn tags(&self, name: &str) -> Result<&BTreeMap<Tag, Descriptor>, StoreError> {
        self.repositories.get(name).ok_or_else(|| StoreError::UnknownRepository { place: self.place() })
    }

    /// Where a content lies.
    pub(super) fn blob(&self, digest: &Digest, what: StoreItem) -> Result<Member, StoreError> {
        let name = format!("blobs/{}/{}", digest.algorithm_name(), digest.encoded());
        self.members.get(&name).copied().ok_or_else(|| StoreError::NotFound { place: self.place(), what })
    }

    pub(super) fn stream(&self, member: Member) -> ByteStream {
        let section = FileSection {
            parts: Arc::clone(&self.parts),
            at: member.begin,
            end: member.begin.saturating_add(member.size),
        };
        stream_of(section, self.parts.path.clone())
    }

    /// A range of a member's bytes, which lies within it.
    pub(super) fn range(&self, member: Member, range: Range<u64>) -> ByteStream {
        let (parts, range) = (Arc::clone(&self.parts), member.begin + range.start..member.begin + range.end);
        range_of(move |at, buffer| parts.read_exact_at(at, buffer), range)
    }

    fn bytes(&self, name: &str, limit: u64) -> Result<Bytes, StoreError> {
        let member = self.members.get(name).ok_or_else(|| self.malformed(format!("it has no {name}")))?;
        self.content(*member, name, limit)
    }

    fn content(&self, member: Member, what: &str, limit: u64) -> Result<Bytes, StoreError> {
        let size = usize::try_from(member.size).ok().filter(|_| member.size <= limit);
        let Some(size) = size else {
            return Err(StoreError::TooLarge { place: self.place(), what: what.to_owned(), limit });
        };
        let mut bytes = vec![0; size];
        self.parts.read_exact_at(member.begin, &mut bytes)?;
        Ok(bytes.into())
    }

    /// A manifest of at most 4 MiB, as it lies there.
    pub(super) fn manifest(&self, digest: &Digest) -> Result<Bytes, StoreError> {
        let what = StoreItem::Manifest(digest.clone());
        let member = self.blob(digest, what.clone())?;
        self.content(member, &what.to_string(), MAX_MANIFEST)
    }

    /// Every manifest that `index.json` lists and that refers to another, by what it refers to. A damaged one is skipped:
    /// it must not hide the others.
    pub(super) fn find_referrers(&self) -> BTreeMap<Digest, Vec<Descriptor>> {
        let mut found: BTreeMap<Digest, Vec<Descriptor>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut level: Vec<(Digest, String)> =
            self.listed.values().map(|entry| (entry.digest.clone(), entry.media_type.clone())).collect();
        for _ in 0..crate::dir::MAX_DEPTH {
            for (digest, media_type) in std::mem::take(&mut level) {
                if !seen.insert(digest.clone()) {
                    continue;
                }
                let Ok(bytes) = self.manifest(&digest) else { continue };
                if !digest.matches(&bytes) {
                    continue;
                }
                let Ok(manifest) = ManifestEdges::parse(&bytes) else { continue };
                let children = manifest.children().filter(|child| is_manifest_type(&child.media_type));
                level.extend(children.map(|child| (child.digest.clone(), child.media_type.clone())));
                if let Some(subject) = manifest.subject() {
                    let referrer = manifest.as_referrer(&media_type, &digest, bytes.len() as u64);
                    found.entry(subject.clone()).or_default().push(referrer);
                }
            }
        }
        found
    }
}
