//! How a new bundle takes the place of the old one: all of it is written into files beside its place, which are then
//! renamed.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use serde_json::{Value, json};
use tar::Header;
use tofu_oci_disk::{Scratch, ScratchFile, sync_folder};
use tofu_oci_types::{Descriptor, Digest, Event, Place, Reporter, Tag};
use tokio::sync::mpsc;

use super::collect::Tagged;
use super::members::{BLOCK, BLOCK_BYTES};
use super::parts::{MAX_PARTS, numbers_in, part_name, part_path, switched_parts};
use super::read::NOTES;
use crate::copy_error::CopyError;
use crate::dir::{blocking, named_entry};
use crate::error::StoreError;
use crate::manifest::{ManifestEdges, OCI_INDEX};
use crate::traits::ReadStore;

/// Pieces that may wait for the disk.
const PIECES_AHEAD: usize = 8;

/// The end of an archive: two empty blocks.
const END: [u8; 2 * BLOCK] = [0; 2 * BLOCK];

/// What goes into a bundle.
#[derive(Default)]
pub struct BundleContents {
    /// By repository name, `HOST/NAMESPACE/TYPE`: where each of its tags is read.
    pub repositories: BTreeMap<String, BTreeMap<Tag, Arc<dyn ReadStore>>>,
    /// Notes by name. The same contents and notes give the same bytes.
    pub notes: BTreeMap<String, Bytes>,
}

/// A bundle that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenBundle {
    /// Its size in bytes, all parts together.
    pub bytes: u64,
    /// Its file, or its parts in order.
    pub files: Vec<PathBuf>,
}

impl BundleContents {
    /// Writes the bundle as `FILE`, or as `FILE.001` and so on if it is larger than `max_part` bytes. What was there is
    /// replaced when everything has been written. `held` is dropped after that, also if nobody waits for it any more: it may be a
    /// lock.
    ///
    /// # Errors
    /// [`CopyError`] says whether a repository could not be read, or the file not be written; then what was there is
    /// unchanged. [`StoreError::TooLarge`] if it would have more than 999 parts.
    pub async fn write<H: Send + 'static>(
        &self,
        file: &Path,
        max_part: u64,
        reporter: &dyn Reporter,
        held: H,
    ) -> Result<WrittenBundle, CopyError> {
        let (members, total) = self.members().await?;
        let failed = |error| CopyError::destination(error);
        let limit = max_part.saturating_mul(MAX_PARTS as u64);
        if total > limit {
            let what = format!("a bundle in parts of {max_part} bytes");
            return Err(failed(StoreError::TooLarge { place: Place::Bundle(file.to_owned()), what, limit }));
        }
        let folder = match file.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let (pieces, inbox) = mpsc::channel(PIECES_AHEAD);
        let beside = folder.clone();
        let writer = blocking(move || write_pieces(inbox, &beside, max_part));
        let subject = file.display().to_string();
        reporter.event(&Event::Started { subject: subject.clone(), bytes: Some(total) });
        // Both run to their ends, so that the files of a failed run are gone when this returns.
        let (sent, written) = tokio::join!(send(&members, pieces, &subject, reporter), writer);
        sent?;
        let scratch = written.map_err(failed)?;
        let place = file.to_owned();
        let put = move || {
            let _held = held;
            put_in_place(scratch, &place, &folder)
        };
        let files = blocking(put).await.map_err(failed)?;
        reporter.event(&Event::Finished { subject, outcome: "written".to_owned() });
        Ok(WrittenBundle { bytes: total, files })
    }

    /// The members in their order, and the size of the archive.
    async fn members(&self) -> Result<(Vec<WrittenMember>, u64), CopyError> {
        let mut blobs: BTreeMap<Digest, WrittenMember> = BTreeMap::new();
        let mut entries: Vec<Value> = Vec::new();
        let mut referrers: BTreeMap<Digest, Descriptor> = BTreeMap::new();
        for (repository, tags) in &self.repositories {
            for (tag, store) in tags {
                let tagged = Tagged::read(&**store, tag).await?;
                entries.push(named_entry(&tagged.root, &format!("{repository}:{tag}")));
                for (descriptor, bytes) in tagged.manifests {
                    if let Ok(manifest) = ManifestEdges::parse(&bytes)
                        && manifest.subject().is_some()
                    {
                        let (media_type, digest) = (&descriptor.media_type, &descriptor.digest);
                        referrers.insert(digest.clone(), manifest.as_referrer(media_type, digest, descriptor.size));
                    }
                    blobs.insert(
                        descriptor.digest.clone(),
                        WrittenMember::of_blob(&descriptor, MemberContent::Bytes(bytes)),
                    );
                }
                for blob in tagged.blobs {
                    let content = MemberContent::Stored(Arc::clone(store), blob.clone());
                    blobs.entry(blob.digest.clone()).or_insert_with(|| WrittenMember::of_blob(&blob, content));
                }
            }
        }
        entries.extend(referrers.values().map(|referrer| serde_json::to_value(referrer).unwrap_or_default()));
        let index = json!({ "schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": entries });
        let mut members = vec![
            WrittenMember::of_bytes("oci-layout", Bytes::from_static(br#"{"imageLayoutVersion":"1.0.0"}"#)),
            WrittenMember::of_bytes("index.json", index.to_string().into()),
        ];
        members.extend(
            self.notes.iter().map(|(name, bytes)| WrittenMember::of_bytes(&format!("{NOTES}{name}"), bytes.clone())),
        );
        members.extend(blobs.into_values());
        let total = members.iter().fold(END.len() as u64, |sum, member| {
            sum.saturating_add(BLOCK_BYTES).saturating_add(member.size.saturating_add(member.padding()))
        });
        Ok((members, total))
    }
}

struct WrittenMember {
    name: String,
    size: u64,
    content: MemberContent,
}

enum MemberContent {
    Bytes(Bytes),
    Stored(Arc<dyn ReadStore>, Descriptor),
}

impl WrittenMember {
    fn of_bytes(name: &str, bytes: Bytes) -> Self {
        Self { name: name.to_owned(), size: bytes.len() as u64, content: MemberContent::Bytes(bytes) }
    }

    fn of_blob(descriptor: &Descriptor, content: MemberContent) -> Self {
        let name = format!("blobs/{}/{}", descriptor.digest.algorithm_name(), descriptor.digest.encoded());
        Self { name, size: descriptor.size, content }
    }

    /// Bytes after the content, up to the next block.
    fn padding(&self) -> u64 {
        self.size.next_multiple_of(BLOCK_BYTES) - self.size
    }

    fn header(&self) -> std::io::Result<Bytes> {
        let mut header = Header::new_ustar();
        header.set_path(&self.name)?;
        header.set_size(self.size);
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_entry_type(tar::EntryType::Regular);
        header.set_cksum();
        Ok(Bytes::copy_from_slice(header.as_bytes()))
    }
}

/// Sends the archive's bytes to the writer.
async fn send(
    members: &[WrittenMember],
    pieces: mpsc::Sender<Bytes>,
    subject: &str,
    reporter: &dyn Reporter,
) -> Result<(), CopyError> {
    let mut done = 0;
    let mut pass = async |piece: Bytes| {
        done += piece.len() as u64;
        // A writer that has stopped reports why.
        let _ = pieces.send(piece).await;
        reporter.event(&Event::Progress { subject: subject.to_owned(), done });
    };
    for member in members {
        let header = member.header().map_err(|error| StoreError::io("name", &member.name, error));
        pass(header.map_err(CopyError::destination)?).await;
        match &member.content {
            MemberContent::Bytes(bytes) => pass(bytes.clone()).await,
            MemberContent::Stored(store, descriptor) => {
                let mut stream = store.fetch(descriptor).await.map_err(CopyError::source)?;
                while let Some(piece) = stream.try_next().await.map_err(CopyError::source)? {
                    if pieces.is_closed() {
                        return Ok(());
                    }
                    pass(piece).await;
                }
            }
        }
        pass(Bytes::from_static(&END).slice(..usize::try_from(member.padding()).unwrap_or_default())).await;
    }
    pass(Bytes::from_static(&END)).await;
    Ok(())
}

/// Writes what comes into temporary files of at most `max_part` bytes.
fn write_pieces(
    mut inbox: mpsc::Receiver<Bytes>,
    folder: &Path,
    max_part: u64,
) -> Result<Vec<ScratchFile>, StoreError> {
    let begin = || ScratchFile::beside(folder).map_err(|error| write_error("create a file in", folder, error));
    let (mut files, mut room) = (vec![begin()?], max_part);
    while let Some(mut piece) = inbox.blocking_recv() {
        while !piece.is_empty() {
            if room == 0 {
                files.push(begin()?);
                room = max_part;
            }
            let fits = usize::try_from(room).map_or(piece.len(), |room| room.min(piece.len()));
            let now = piece.split_to(fits);
            room -= now.len() as u64;
            if let Some(file) = files.last() {
                let mut target = file.as_file();
                target.write_all(&now).map_err(|error| write_error("write", file.path(), error))?;
            }
        }
    }
    Ok(files)
}

/// Puts the bundle in the place of the one that is there, by one rename. Before it a reader gets the old bundle, after it the
/// new one, also if the program is killed; and all is on the disk before it.
///
/// ```text
/// one file   .tofu-oci-RANDOM          -> FILE
/// parts      .tofu-oci-RANDOM/new/001… -> FILE.new/001…   and then, one by one, -> FILE.001…
/// ```
fn put_in_place(scratch: Vec<ScratchFile>, file: &Path, folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    for piece in &scratch {
        piece.as_file().sync_all().map_err(|error| write_error("write", piece.path(), error))?;
    }
    // What an interrupted run has begun is what there is.
    settle(file)?;
    let count = scratch.len();
    let files = if count > 1 {
        put_parts(scratch, file, folder)?;
        settle(file)?;
        (1..=count).map(|number| part_path(file, number)).collect()
    } else {
        for piece in scratch {
            piece.put(file).map_err(|error| write_error("write", file, error))?;
        }
        remove_parts_after(file, 0)?;
        vec![file.to_owned()]
    };
    sync_folder(folder).map_err(|error| write_error("write", folder, error))?;
    Ok(files)
}

fn put_parts(scratch: Vec<ScratchFile>, file: &Path, folder: &Path) -> Result<(), StoreError> {
    let failed = |path: &Path, error| write_error("write", path, error);
    let beside = Scratch::beside(folder).map_err(|error| write_error("create a folder in", folder, error))?;
    let (new, place) = (beside.path().join("new"), switched_parts(file));
    std::fs::create_dir(&new).map_err(|error| failed(&new, error))?;
    for (nth, piece) in scratch.into_iter().enumerate() {
        let path = new.join(part_name(nth + 1));
        piece.put(&path).map_err(|error| failed(&path, error))?;
    }
    sync_folder(&new).map_err(|error| failed(&new, error))?;
    std::fs::rename(&new, &place).map_err(|error| failed(&place, error))?;
    sync_folder(folder).map_err(|error| failed(folder, error))
}

/// Gives the parts of `FILE.new` their names. A reader takes those that still lie there instead of what has their names.
fn settle(file: &Path) -> Result<(), StoreError> {
    let switched = switched_parts(file);
    let numbers = numbers_in(&switched, "")?;
    let Some(last) = numbers.last() else {
        // Moved, all of them, or no folder of ours.
        let _ = std::fs::remove_dir(&switched);
        return Ok(());
    };
    remove(file)?;
    remove_parts_after(file, *last)?;
    for number in &numbers {
        let (from, to) = (switched.join(part_name(*number)), part_path(file, *number));
        std::fs::rename(&from, &to).map_err(|error| write_error("write", &to, error))?;
    }
    std::fs::remove_dir(&switched).map_err(|error| write_error("remove", &switched, error))
}

/// Removes parts that do not belong to the bundle, the last one first: those that stay are still the first ones of theirs.
fn remove_parts_after(file: &Path, last: usize) -> Result<(), StoreError> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
        return Ok(());
    };
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    for number in numbers_in(folder, &format!("{name}."))?.into_iter().rev().filter(|number| *number > last) {
        remove(&part_path(file, number))?;
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(write_error("remove", path, error)),
        _ => Ok(()),
    }
}

fn write_error(action: &'static str, path: &Path, error: std::io::Error) -> StoreError {
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly { place: Place::Folder(path.parent().unwrap_or(path).to_owned()) }
        }
        _ => StoreError::io(action, path, error),
    }
}
