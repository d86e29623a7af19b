//! What the page of a module reads of its package.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tofu_oci_archive::{ArchiveError, Limits};
use tofu_oci_fetch::{ModuleDir, ModuleFetchError, fetch_module};
use tofu_oci_source::ModulePackage;
use tofu_oci_tfconfig::{ModuleInterface, is_configuration_file, module_interface};
use tofu_oci_types::{Digest, NoReporter, Place, Reference, Subdir};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::readme;
use crate::ServedModule;

/// How many packages are remembered: pages are read again and again.
const MOST: usize = 50;
/// How many are unpacked at a time.
const AT_ONCE: usize = 2;
/// How long a page waits for the bytes of a package, and for its turn.
const PATIENCE: Duration = Duration::from_secs(10);
/// For how long the work goes on, also without a page that waits: the next page finds the result.
const LONGEST: Duration = Duration::from_mins(1);
/// The most inputs, outputs, providers or calls that are remembered of one.
const ENTRIES: usize = 300;
/// The most characters of each text of them.
const CHARACTERS: usize = 500;
/// The most bytes of the configuration files of the root: parsed, they take hundreds of times as much.
const CONFIGURATION: u64 = 1 << 20;

/// Limits within which a package is unpacked for a page; the page of a larger package goes without it.
fn limits() -> Limits {
    Limits { packed_bytes: 16 << 20, total_bytes: 64 << 20, entries: 5_000, ..Limits::default() }
}

/// What lies in a package.
#[derive(Debug)]
pub(super) struct PackageContents {
    pub(super) files: usize,
    /// Bytes of its files.
    pub(super) bytes: u64,
    /// What the root takes and gives; `None` if it is not a module. An error is one line for people.
    pub(super) interface: Result<Option<ModuleInterface>, String>,
    pub(super) readme: Option<String>,
}

/// Why a package was not looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SkipReason {
    /// It is larger than a page reads.
    TooLarge,
    /// It is not an archive that a page can read, now or later.
    Damaged,
    /// It cannot be read now.
    Unread,
}

/// What is known of a package.
type KnownPackage = Result<Arc<PackageContents>, SkipReason>;

/// The packages that were looked into last, by their repositories and the digests of their manifests: a repository with the
/// manifest need not have the package.
pub(super) struct ContentsCache {
    known: Arc<Mutex<KnownPackages>>,
    turns: Arc<Semaphore>,
}

type KnownPackages = VecDeque<(Place, Digest, KnownPackage)>;

impl Default for ContentsCache {
    fn default() -> Self {
        Self { known: Arc::default(), turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl ContentsCache {
    /// What lies in a package. It is fetched and verified once, into a temporary folder in `scratch`.
    ///
    /// # Errors
    /// [`SkipReason::Unread`] also if that takes longer than a page waits.
    pub(super) async fn of(&self, served: &ServedModule, scratch: &Path) -> KnownPackage {
        timeout(PATIENCE, self.ask(served, scratch)).await.unwrap_or(Err(SkipReason::Unread))
    }

    async fn ask(&self, served: &ServedModule, scratch: &Path) -> KnownPackage {
        if let Some(known) = self.known(served) {
            return known;
        }
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| SkipReason::Unread)?;
        // Another request may have looked meanwhile.
        if let Some(known) = self.known(served) {
            return known;
        }
        let (known, served, scratch) = (Arc::clone(&self.known), served.clone(), scratch.to_owned());
        let looking = tokio::spawn(async move {
            let looked = timeout(LONGEST, look(&served, &scratch, turn)).await.unwrap_or(Err(SkipReason::Unread));
            let looked = looked.map(Arc::new);
            // What cannot be read now may be readable later.
            if !matches!(looked, Err(SkipReason::Unread)) {
                let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                known.truncate(MOST - 1);
                known.push_front((served.store.place(), served.digest.clone(), looked.clone()));
            }
            looked
        });
        looking.await.unwrap_or(Err(SkipReason::Unread))
    }

    fn known(&self, served: &ServedModule) -> Option<KnownPackage> {
        let place = served.store.place();
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let same = known.iter().find(|(known, digest, _)| *known == place && *digest == served.digest);
        same.map(|(_, _, looked)| looked.clone())
    }
}

async fn look(
    served: &ServedModule,
    scratch: &Path,
    turn: OwnedSemaphorePermit,
) -> Result<PackageContents, SkipReason> {
    tofu_oci_disk::make_private_folder(scratch).map_err(|_| SkipReason::Unread)?;
    let unread = |error: &ModuleFetchError| match error {
        ModuleFetchError::Archive { source, .. } if is_too_large(source) => SkipReason::TooLarge,
        // A damaged archive is another error, and so is a full disk.
        ModuleFetchError::Archive { source, .. } if source.is_refusal() => SkipReason::Damaged,
        _ => SkipReason::Unread,
    };
    let reference = Reference::Digest(served.digest.clone());
    let package = ModulePackage::of_store(Arc::clone(&served.store), &reference, Subdir::root()).await;
    let package = package.map_err(|_| SkipReason::Unread)?;
    let target = ModuleDir::new(&scratch.join("page"), scratch).map_err(|error| unread(&error))?;
    let fetched = fetch_module(&package, &target, "", &limits(), &NoReporter).await.map_err(|error| unread(&error))?;
    let (files, bytes) = (fetched.files(), fetched.bytes());
    let read = tokio::task::spawn_blocking(move || {
        // The client may be gone; the work is done all the same, and counts until its end.
        let _turn = turn;
        let folder = fetched.path();
        (interface_of(folder), readme_of(folder))
    });
    let (interface, readme) = read.await.map_err(|_| SkipReason::Unread)?;
    Ok(PackageContents { files, bytes, interface, readme })
}

fn is_too_large(error: &ArchiveError) -> bool {
    matches!(
        error,
        ArchiveError::TooLarge { .. }
            | ArchiveError::TooManyEntries { .. }
            | ArchiveError::Oversized { .. }
            | ArchiveError::RatioExceeded { .. }
    )
}

/// What the module in a folder takes and gives.
fn interface_of(folder: &Path) -> Result<Option<ModuleInterface>, String> {
    if configuration_bytes(folder) > CONFIGURATION {
        return Err("its files are too large, and a page reads at most 1 MiB of them".to_owned());
    }
    let found = module_interface(folder).map(|found| found.map(cut));
    found.map_err(|error| error.to_string().replace(&format!("{}/", folder.display()), ""))
}

/// Bytes of the configuration files in a folder, without those below it.
fn configuration_bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_configuration_file));
    files.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}

/// The README in a folder: the first of the usual names, as far as a page shows it.
fn readme_of(folder: &Path) -> Option<String> {
    let names = ["README.md", "readme.md", "Readme.md", "README"];
    let path = names.iter().map(|name| folder.join(name)).find(|path| path.is_file())?;
    let mut bytes = Vec::new();
    // One byte more says that there is more.
    File::open(path).ok()?.take(readme::LONGEST as u64 + 1).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// No more than a page shows, since it is kept in memory.
fn cut(mut found: ModuleInterface) -> ModuleInterface {
    fn shorter(text: &mut String) {
        if let Some((end, _)) = text.char_indices().nth(CHARACTERS) {
            text.truncate(end);
            text.push('…');
        }
    }
    found.inputs.truncate(ENTRIES);
    found.outputs.truncate(ENTRIES);
    found.providers.truncate(ENTRIES);
    found.calls.truncate(ENTRIES);
    for input in &mut found.inputs {
        shorter(&mut input.name);
        [&mut input.type_text, &mut input.description, &mut input.default].into_iter().flatten().for_each(shorter);
    }
    for output in &mut found.outputs {
        shorter(&mut output.name);
        output.description.iter_mut().for_each(shorter);
    }
    found.providers.iter_mut().for_each(|provider| shorter(&mut provider.local_name));
    found.calls.iter_mut().for_each(shorter);
    found
}
