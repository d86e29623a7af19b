//! `index.json` and `VERSION.json` of a network mirror, as `tofu providers mirror` writes them: sorted, indented by two
//! blanks, without a newline at the end. Members that other tools wrote stay.
//!
//! Spec: seed 001; `OpenTofu` 1.12, `providers mirror`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tofu_oci_disk::read_file;
use tofu_oci_store::{StoreError, is_cut};
use tofu_oci_types::{PackageHash, Scheme};

use crate::MirrorError;

/// The most that is read of a document, in bytes.
const LIMIT: u64 = 4 << 20;

/// Why a document of a tree is not read.
pub(crate) const LINK: &str = "it is a symbolic link";

/// The member of `index.json` that lists versions.
pub(super) const VERSIONS: &str = "versions";

/// The member of `VERSION.json` that lists packages by platform.
pub(super) const ARCHIVES: &str = "archives";

/// One of the documents, as it is or as it is to be.
pub(super) struct MirrorDocument {
    path: PathBuf,
    /// Whether a power cut has left nothing of it, or only its beginning.
    is_cut: bool,
    members: BTreeMap<String, BTreeMap<String, Value>>,
}

/// A package in `VERSION.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MirrorArchive {
    /// Where it is, relative to the document.
    pub(super) url: String,
    /// Its checksums: `zh:` first, which Terraform then checks alone; that is twice as fast.
    pub(super) hashes: Vec<PackageHash>,
}

impl MirrorDocument {
    /// Reads the document; an empty one if there is no such file, or one that a power cut has emptied or cut off.
    ///
    /// # Errors
    /// [`MirrorError::NotAMirror`] if it is something else.
    pub(super) fn read(path: &Path) -> Result<Self, MirrorError> {
        // What a link leads to would become a part of the tree.
        let read = if path.is_symlink() { Err(std::io::Error::other(LINK)) } else { read_file(path, LIMIT) };
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => b"{}".to_vec(),
            Err(error) => return Err(StoreError::io("read", path, error).into()),
        };
        let is_cut = is_cut(&bytes);
        let members = serde_json::from_slice(if is_cut { b"{}" } else { &bytes });
        let members = members.map_err(|source| MirrorError::NotAMirror { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), is_cut, members })
    }

    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What a member lists, sorted.
    pub(super) fn names(&self, member: &str) -> impl Iterator<Item = &str> {
        self.members.get(member).into_iter().flatten().map(|(name, _)| name.as_str())
    }

    /// Sets an entry of a member. False if it was so before.
    pub(super) fn set(&mut self, member: &str, name: &str, value: Value) -> bool {
        let entries = self.members.entry(member.to_owned()).or_default();
        let is_same = entries.get(name) == Some(&value);
        entries.insert(name.to_owned(), value);
        !is_same
    }

    /// The packages by platform. An entry that cannot be read is not among them, and is written anew.
    pub(super) fn archives(&self) -> BTreeMap<String, MirrorArchive> {
        let entries = self.members.get(ARCHIVES).into_iter().flatten();
        entries.filter_map(|(platform, entry)| Some((platform.clone(), MirrorArchive::of(entry)?))).collect()
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(&self.members).expect("a JSON value always serialises")
    }
}

impl MirrorArchive {
    fn of(entry: &Value) -> Option<Self> {
        let hashes = entry.get("hashes")?.as_array()?.iter();
        let hashes = hashes.map(|hash| hash.as_str()?.parse().ok()).collect::<Option<_>>()?;
        Some(Self { url: entry.get("url")?.as_str()?.to_owned(), hashes })
    }

    pub(super) fn to_value(&self) -> Value {
        let hashes: Vec<&str> = self.hashes.iter().map(PackageHash::as_str).collect();
        json!({ "hashes": hashes, "url": self.url })
    }

    /// The checksum of the zip.
    pub(super) fn zh(&self) -> Option<&PackageHash> {
        self.hashes.iter().find(|hash| hash.scheme() == Scheme::Zh)
    }
}
