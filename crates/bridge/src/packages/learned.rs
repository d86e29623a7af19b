//! The `h1:` of the zips that clients got, for lock files of releases that claim none.
//!
//! ```text
//! a zip on its way     its pieces --> one thread that unpacks them into nothing. It gives up if it cannot keep up; the next
//!                      client gets the zip from the disk then, if the release claims no `h1:`
//! a zip on disk        read again, one at a time
//!                      --> counts if the bytes had the zip's digest; HEX.h1 in the folder of zips tells other processes,
//!                      which do not read the zip again if its release claims the same
//! ```

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::StreamExt as _;
use tofu_oci_archive::{ArchiveError, ByteSource, Limits, ReadSource, read_zip_from};
use tofu_oci_disk::open_file;
use tofu_oci_store::ByteStream;
use tofu_oci_types::{Digest, DigestHasher, Event, PackageHash, Reporter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use super::zip_folder::{CachedZip, ZipFolder};

/// How many zips are remembered.
const MOST: usize = 10_000;
/// How many are read, or wait for it.
const READINGS: usize = 64;
/// How many are read on their way to a client at a time.
const STREAMS: usize = 2;
/// The most bytes of them that wait to be read.
const WAITING_BYTES: usize = 16 << 20;

/// A zip, and what its release claims of it.
#[derive(Clone)]
pub(super) struct ZipClaims {
    pub(super) digest: Digest,
    /// Who says it, as a warning begins: `PLACE says that NAME`.
    pub(super) claimant: String,
    pub(super) h1: Vec<PackageHash>,
    /// Whether clients may see one of them.
    pub(super) counts: bool,
}

/// What is known of zips, by their digests. Reading delays no client, except the next one of a zip that was not read on its way.
pub(super) struct LearnedHashes {
    folder: Arc<ZipFolder>,
    limits: Limits,
    reporter: Arc<dyn Reporter>,
    known: Mutex<HashMap<Digest, LearnedHash>>,
    reading: Mutex<HashSet<Digest>>,
    /// Zips that came faster than they could be read.
    outrun: Mutex<HashSet<Digest>>,
    /// The warnings so far: each is given once.
    false_claims: Mutex<HashSet<String>>,
    /// How many zips were read.
    read: AtomicU64,
    files: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

#[derive(Clone)]
enum LearnedHash {
    /// Of bytes that this process has read; `None` if they are not a package.
    Computed(Option<PackageHash>),
    /// As the folder says.
    Noted(PackageHash),
}

impl LearnedHashes {
    pub(super) fn new(folder: Arc<ZipFolder>, limits: Limits, reporter: Arc<dyn Reporter>) -> Self {
        let [files, streams, waiting] = [1, STREAMS, WAITING_BYTES].map(|permits| Arc::new(Semaphore::new(permits)));
        let (known, reading, outrun, false_claims, read) = Default::default();
        Self { folder, limits, reporter, known, reading, outrun, false_claims, read, files, streams, waiting }
    }

    /// The `h1:` of a zip. What was computed counts more than what its release claims, and that more than a note.
    pub(super) async fn h1(self: &Arc<Self>, zip: &Digest, claimed: Option<&PackageHash>) -> Option<PackageHash> {
        let known = lock(&self.known).get(zip).cloned();
        match (known, claimed) {
            (Some(LearnedHash::Computed(Some(h1))), _) | (Some(LearnedHash::Noted(h1)), None) => return Some(h1),
            (_, Some(claimed)) => return Some(claimed.clone()),
            (Some(LearnedHash::Computed(None)), None) => return None,
            (None, None) => {}
        }
        let (this, digest) = (Arc::clone(self), zip.clone());
        let noted = spawn_blocking(move || this.folder.noted_h1(&digest)).await.ok()??;
        let mut known = self.with_room();
        match known.entry(zip.clone()).or_insert(LearnedHash::Noted(noted)) {
            LearnedHash::Computed(h1) => h1.clone(),
            LearnedHash::Noted(h1) => Some(h1.clone()),
        }
    }

    /// The same bytes, which are read on their way, if a thread is free for it.
    pub(super) fn on_the_way(self: &Arc<Self>, zip: &ZipClaims, stream: ByteStream) -> ByteStream {
        let Some(reading) = self.begin(zip) else { return stream };
        let Ok(turn) = Arc::clone(&self.streams).try_acquire_owned() else {
            self.outran(zip);
            return stream;
        };
        let (sender, pieces) = channel();
        spawn_blocking(move || {
            reading.read(&mut Pieces(pieces));
            drop(turn);
        });
        let (mut sender, this, zip) = (Some(sender), Arc::clone(self), zip.clone());
        let passed = stream.inspect(move |item| {
            let (Ok(piece), Some(pieces)) = (item, &sender) else { return };
            let room = u32::try_from(piece.len()).map(|bytes| Arc::clone(&this.waiting).try_acquire_many_owned(bytes));
            let Ok(Ok(room)) = room else {
                this.outran(&zip);
                sender = None;
                return;
            };
            // The reader may have ended for a reason of its own.
            if pieces.send((piece.clone(), room)).is_err() {
                sender = None;
            }
        });
        passed.boxed()
    }

    /// A zip was not read on its way. If its release claims nothing, the next client gets it from the disk.
    fn outran(&self, zip: &ZipClaims) {
        let mut outrun = lock(&self.outrun);
        if !zip.counts && outrun.len() < MOST {
            outrun.insert(zip.digest.clone());
        }
    }

    /// Whether a zip has to come from the disk to be read.
    pub(super) fn is_outrun(&self, zip: &ZipClaims) -> bool {
        lock(&self.outrun).contains(&zip.digest)
    }

    /// Reads a zip that lies on disk, later.
    pub(super) fn on_disk(self: &Arc<Self>, zip: &ZipClaims, kept: &CachedZip) {
        let Some(reading) = self.begin(zip) else { return };
        let (turns, path) = (Arc::clone(&self.files), kept.path.clone());
        tokio::spawn(async move {
            let _turn = turns.acquire_owned().await;
            let read = move || open_file(&path).map(|file| reading.read(&mut ReadSource::<File>::new(file)));
            // It may have made room for another one meanwhile.
            drop(spawn_blocking(read).await);
        });
    }

    /// The right to read a zip; `None` if that was done, or another task does it.
    fn begin(self: &Arc<Self>, zip: &ZipClaims) -> Option<ZipReading> {
        let known = lock(&self.known).get(&zip.digest).cloned();
        match known {
            Some(LearnedHash::Computed(h1)) => {
                self.compare(zip, h1.as_ref());
                return None;
            }
            Some(LearnedHash::Noted(h1)) if zip.h1.contains(&h1) => return None,
            _ => {}
        }
        let mut reading = lock(&self.reading);
        let is_free = reading.len() < READINGS && reading.insert(zip.digest.clone());
        is_free.then(|| ZipReading { of: Arc::clone(self), zip: zip.clone() })
    }

    /// A zip has this `h1:`, or is not a package.
    fn learned(&self, zip: &Digest, h1: Option<PackageHash>) {
        match h1.as_ref().map(|h1| (h1, self.folder.note_h1(zip, h1))) {
            Some((h1, Ok(Some(noted)))) => {
                let text =
                    format!("the folder of zips says that {zip} has {noted}, but it has {h1}: the note is replaced");
                self.reporter.event(&Event::warning("cache-damaged", text));
            }
            Some((_, Err(error))) => tracing::debug!(%zip, "its h1 is not noted: {error}"),
            Some((_, Ok(None))) | None => {}
        }
        lock(&self.outrun).remove(zip);
        self.with_room().insert(zip.clone(), LearnedHash::Computed(h1));
        self.read.fetch_add(1, Ordering::SeqCst);
    }

    /// Grows with each zip that is read.
    pub(super) fn changes(&self) -> u64 {
        self.read.load(Ordering::SeqCst)
    }

    fn compare(&self, zip: &ZipClaims, h1: Option<&PackageHash>) {
        if let (Some(h1), Some(other)) = (h1, zip.h1.first())
            && !zip.h1.contains(h1)
        {
            let text = format!("{} has {other}, but it has {h1}, which `serve` gives", zip.claimant);
            let mut reported = lock(&self.false_claims);
            if reported.len() < MOST && reported.insert(text.clone()) {
                let event = Event::warning("false-claim", text);
                self.reporter.event(&event.with_hint("tell the publisher: push the release again"));
            }
        }
    }

    fn with_room(&self) -> MutexGuard<'_, HashMap<Digest, LearnedHash>> {
        let mut known = lock(&self.known);
        if known.len() >= MOST {
            known.clear();
        }
        known
    }
}

#[cfg(test)]
impl LearnedHashes {
    /// From now on no stream can be read.
    pub(super) fn forbid_waiting(&self) {
        self.waiting.forget_permits(WAITING_BYTES);
    }

    /// Waits until no zip is being read.
    pub(super) async fn settled(&self) {
        while !lock(&self.reading).is_empty() {
            tokio::task::yield_now().await;
        }
    }
}

/// The reading of one zip.
struct ZipReading {
    of: Arc<LearnedHashes>,
    zip: ZipClaims,
}

impl ZipReading {
    fn read(self, source: &mut dyn ByteSource) {
        // An earlier process has read it, and has found what its release claims.
        if let Some(noted) = self.of.folder.noted_h1(&self.zip.digest).filter(|noted| self.zip.h1.contains(noted)) {
            self.of.with_room().entry(self.zip.digest.clone()).or_insert(LearnedHash::Noted(noted));
            return;
        }
        let Some(hasher) = self.zip.digest.hasher() else { return };
        let mut source = CheckedSource { source, digest: &self.zip.digest, hasher: Some(hasher) };
        let h1 = match read_zip_from(&mut source, self.of.folder.path(), &self.of.limits) {
            Ok(contents) => Some(contents.h1()),
            Err(ArchiveError::Input(_) | ArchiveError::Io(_)) => return,
            Err(_) => None,
        };
        // Only if these are the bytes of the zip, it is known that it is not a package.
        while h1.is_none() {
            match source.next_chunk() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        self.of.compare(&self.zip, h1.as_ref());
        self.of.learned(&self.zip.digest, h1);
    }
}

impl Drop for ZipReading {
    fn drop(&mut self) {
        lock(&self.of.reading).remove(&self.zip.digest);
    }
}

/// A source that ends in an error if its bytes are not those of the digest.
struct CheckedSource<'a> {
    source: &'a mut dyn ByteSource,
    digest: &'a Digest,
    /// `None` after the last byte.
    hasher: Option<DigestHasher>,
}

impl ByteSource for CheckedSource<'_> {
    fn next_chunk(&mut self) -> io::Result<Option<Bytes>> {
        let Some(hasher) = &mut self.hasher else { return Ok(None) };
        if let Some(piece) = self.source.next_chunk()? {
            hasher.update(&piece);
            return Ok(Some(piece));
        }
        let found = self.hasher.take().map(DigestHasher::finish);
        if found.as_ref() == Some(self.digest) { Ok(None) } else { Err(io::ErrorKind::InvalidData.into()) }
    }
}

/// The pieces of a stream, with the room that they take. It ends with the stream, however that ends.
struct Pieces(Receiver<(Bytes, OwnedSemaphorePermit)>);

impl ByteSource for Pieces {
    fn next_chunk(&mut self) -> io::Result<Option<Bytes>> {
        Ok(self.0.recv().ok().map(|(piece, _room)| piece))
    }
}

fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    // No invariant spans two statements under these locks.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
