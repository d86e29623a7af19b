//! `index.json` as readers need it: compact, and read once for each state of the file.
//!
//! ```text
//! index.json ──element by element──> DirListing { entries, order by tag, order by digest } ──kept with the file's Stamp
//!                                        └─ on demand: who refers to whom, every manifest read once
//! ```

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{BufReader, Read as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde::Deserialize as _;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use tofu_oci_types::{Descriptor, Digest, Tag};

use super::index_json::{IndexJson, MAX_INDEX_JSON, tag_of};

/// A file that was changed so recently may change again without a difference that its times show.
const RECENT: Duration = Duration::from_secs(1);

/// What `index.json` lists, in its order.
#[derive(Clone, Debug, Default)]
pub(super) struct DirListing {
    entries: Vec<ListingEntry>,
    /// Media types and artifact types, each once.
    types: Vec<Arc<str>>,
    /// Positions of the entries with a tag, by tag.
    by_tag: Vec<u32>,
    /// Positions of the entries with a digest, by digest.
    by_digest: Vec<u32>,
    /// Who refers to whom, as far as somebody has asked. A listing with more entries goes on with it.
    referrers: Arc<Mutex<ReferrerMap>>,
}

/// Who refers to whom.
#[derive(Debug, Default)]
pub(super) struct ReferrerMap {
    /// How many of the entries were looked into.
    pub(super) entries: usize,
    /// The manifests that were found there, at any depth.
    pub(super) seen: HashSet<Digest>,
    /// The referrers of each digest, by their own.
    pub(super) found: HashMap<Digest, BTreeMap<Digest, Descriptor>>,
}

#[derive(Clone, Debug)]
struct ListingEntry {
    tag: Option<Arc<str>>,
    digest: Option<Arc<str>>,
    media_type: Option<u32>,
    artifact_type: Option<u32>,
    /// Whether the whole entry is a descriptor.
    is_descriptor: bool,
}

/// An entry as a view.
#[derive(Clone, Copy)]
pub(super) struct ListedManifest<'a> {
    listing: &'a DirListing,
    entry: &'a ListingEntry,
}

impl<'a> ListedManifest<'a> {
    pub(super) fn tag_text(self) -> Option<&'a str> {
        self.entry.tag.as_deref()
    }

    /// The text of its digest, whether it is a digest or not.
    pub(super) fn digest_text(self) -> Option<&'a str> {
        self.entry.digest.as_deref()
    }

    /// Its media type, if that is a text.
    pub(super) fn media_type(self) -> Option<&'a str> {
        self.entry.media_type.map(|at| self.listing.type_at(at))
    }

    /// Its artifact type, if that is a text.
    pub(super) fn artifact_type(self) -> Option<&'a str> {
        self.entry.artifact_type.map(|at| self.listing.type_at(at))
    }

    /// Its digest, if the whole entry is a descriptor.
    pub(super) fn digest(self) -> Option<Digest> {
        self.entry.digest.as_deref().filter(|_| self.entry.is_descriptor)?.parse().ok()
    }
}

impl DirListing {
    /// Reads `index.json`.
    pub(super) fn read(file: File) -> serde_json::Result<Self> {
        let mut listing = Self::default();
        let mut document = serde_json::Deserializer::from_reader(BufReader::new(file.take(MAX_INDEX_JSON)));
        IndexReader(&mut listing).deserialize(&mut document).and_then(|()| document.end())?;
        Ok(listing.ordered())
    }

    /// The listing of a document that this program has written; `None` if it has too many entries. The one of the state
    /// before saves reading what is the same.
    fn of(index: &mut IndexJson, before: Option<&Self>) -> Option<Self> {
        let (entries, listed) = index.entries_and_listed();
        let before = before.filter(|before| before.entries.len() == listed);
        let (mut listing, listed) = before.map_or_else(|| (Self::default(), 0), |before| (before.clone(), listed));
        let types = (0..).zip(&listing.types).map(|(at, name)| (Arc::clone(name), at)).collect();
        let mut reader = EntriesReader { listing: &mut listing, types };
        for entry in &entries[listed..] {
            reader.add(entry)?;
        }
        if listed == 0 {
            return Some(listing.ordered());
        }
        listing.order_from(listed);
        Some(listing)
    }

    /// Puts the entries from the `first` on in order among those before.
    fn order_from(&mut self, first: usize) {
        for at in (0..).zip(&self.entries).skip(first).map(|(at, _): (u32, _)| at) {
            insert(&mut self.by_tag, at, |at| self.entries[at as usize].tag.as_deref());
            insert(&mut self.by_digest, at, |at| self.entries[at as usize].digest.as_deref());
        }
    }

    fn ordered(mut self) -> Self {
        self.by_tag = self.order(|entry| entry.tag.as_deref());
        self.by_digest = self.order(|entry| entry.digest.as_deref());
        self
    }

    /// Every entry, in the order of the file.
    pub(super) fn entries(&self) -> impl Iterator<Item = ListedManifest<'_>> {
        self.entries.iter().map(|entry| ListedManifest { listing: self, entry })
    }

    /// The entries of a tag, in the order of the file.
    pub(super) fn tagged(&self, tag: &Tag) -> impl Iterator<Item = ListedManifest<'_>> {
        self.equal(&self.by_tag, tag.as_str(), |entry| entry.tag.as_deref())
    }

    /// The entries of a digest, in the order of the file.
    pub(super) fn of_digest(&self, digest: &Digest) -> impl Iterator<Item = ListedManifest<'_>> {
        self.equal(&self.by_digest, digest.as_str(), |entry| entry.digest.as_deref())
    }

    fn equal<'a>(
        &'a self,
        order: &'a [u32],
        text: &str,
        key: fn(&ListingEntry) -> Option<&str>,
    ) -> impl Iterator<Item = ListedManifest<'a>> {
        let key_at = |at: &u32| key(&self.entries[*at as usize]).unwrap_or_default();
        let start = order.partition_point(|at| key_at(at) < text);
        let end = order.partition_point(|at| key_at(at) <= text);
        order[start..end].iter().map(|at| ListedManifest { listing: self, entry: &self.entries[*at as usize] })
    }

    fn type_at(&self, at: u32) -> &str {
        &self.types[at as usize]
    }

    /// Who refers to whom; one question at a time.
    pub(super) fn referrers(&self) -> MutexGuard<'_, ReferrerMap> {
        lock(&self.referrers)
    }

    fn order(&self, key: fn(&ListingEntry) -> Option<&str>) -> Vec<u32> {
        let positions = (0_u32..).zip(&self.entries);
        let mut order: Vec<u32> = positions.filter(|(_, entry)| key(entry).is_some()).map(|(at, _)| at).collect();
        order.sort_by(|one, other| key(&self.entries[*one as usize]).cmp(&key(&self.entries[*other as usize])));
        order
    }
}

/// Inserts a position where its text belongs, after those with the same; nothing without a text.
fn insert<'a>(order: &mut Vec<u32>, at: u32, key: impl Fn(u32) -> Option<&'a str>) {
    if let Some(text) = key(at) {
        let place = order.partition_point(|other| key(*other).unwrap_or_default() <= text);
        order.insert(place, at);
    }
}

/// What was read or written last, and of which state of the file.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    pub(super) last: Mutex<Option<KnownIndex>>,
    /// How often the file was read.
    #[cfg(test)]
    pub(crate) reads: std::sync::atomic::AtomicUsize,
    /// How often the file was written.
    #[cfg(test)]
    pub(crate) writes: std::sync::atomic::AtomicUsize,
    /// How many manifests were read in search of referrers.
    #[cfg(test)]
    pub(crate) manifests_read: std::sync::atomic::AtomicUsize,
}

/// A state of the file.
#[derive(Debug)]
pub(super) struct KnownIndex {
    pub(super) stamp: Stamp,
    pub(super) listing: Arc<DirListing>,
    /// The document, if this process has written it.
    pub(super) own: Option<OwnIndex>,
}

impl KnownIndex {
    /// The state that this process has just written into an open file, and the one before it.
    pub(super) fn own(open: File, mut index: IndexJson, before: Option<&Self>) -> Option<Self> {
        let before = before.filter(|before| before.own.is_some()).map(|before| &*before.listing);
        let (stamp, listing) = (Stamp::of(&open.metadata().ok()?), Arc::new(DirListing::of(&mut index, before)?));
        Some(Self { stamp, listing, own: Some(OwnIndex { _open: open, index: Some(index) }) })
    }

    /// Whether this is the state of a file with such a stamp.
    pub(super) fn is(&self, stamp: &Stamp) -> bool {
        self.stamp == *stamp && (self.own.is_some() || stamp.is_lasting())
    }
}

/// A document that this process has written. While its file is open, no other file has its identity, so that a file with it is this
/// one, however recent it is.
#[derive(Debug)]
pub(super) struct OwnIndex {
    pub(super) _open: File,
    /// `None` while it is being changed.
    pub(super) index: Option<IndexJson>,
}

/// What differs between one state of a file and the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    identity: (u64, u64, i64, i64),
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            identity: {
                use std::os::unix::fs::MetadataExt as _;
                (metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
            },
        }
    }

    /// False if the next state may look the same: the last change is too recent, or its time is not known.
    pub(super) fn is_lasting(&self) -> bool {
        let age = self.modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
        age.is_some_and(|age| age > RECENT)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the document into a listing; a second `manifests` counts instead of the first.
struct IndexReader<'a>(&'a mut DirListing);

impl<'de> DeserializeSeed<'de> for IndexReader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for IndexReader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an index")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            if name == "manifests" {
                *self.0 = DirListing::default();
                members.next_value_seed(EntriesReader { listing: self.0, types: HashMap::new() })?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Reads the entries, one after the other, so that no more than one is there as a whole.
struct EntriesReader<'a> {
    listing: &'a mut DirListing,
    types: HashMap<Arc<str>, u32>,
}

impl<'de> DeserializeSeed<'de> for EntriesReader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for EntriesReader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of entries")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        while let Some(entry) = entries.next_element::<Value>()? {
            self.add(&entry).ok_or_else(|| A::Error::custom("too many entries"))?;
        }
        Ok(())
    }
}

impl EntriesReader<'_> {
    /// `None` if there are too many.
    fn add(&mut self, entry: &Value) -> Option<()> {
        let entry = self.entry(entry);
        u32::try_from(self.listing.entries.len()).ok()?;
        self.listing.entries.push(entry);
        Some(())
    }

    fn entry(&mut self, entry: &Value) -> ListingEntry {
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        ListingEntry {
            tag: tag_of(entry).map(Arc::from),
            digest: text("digest").map(Arc::from),
            media_type: text("mediaType").map(|text| self.type_of(text)),
            artifact_type: text("artifactType").map(|text| self.type_of(text)),
            is_descriptor: Descriptor::deserialize(entry).is_ok(),
        }
    }

    fn type_of(&mut self, text: &str) -> u32 {
        if let Some(known) = self.types.get(text) {
            return *known;
        }
        // No more types than entries: twice their number fits, since it is checked with each of them.
        let at = u32::try_from(self.listing.types.len()).unwrap_or(u32::MAX);
        let name: Arc<str> = Arc::from(text);
        self.listing.types.push(Arc::clone(&name));
        self.types.insert(name, at);
        at
    }
}
