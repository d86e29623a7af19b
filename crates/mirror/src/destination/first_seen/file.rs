//! The record as a file in the folder of its provider.

use std::io::ErrorKind;
use std::path::Path;

use tofu_oci_disk::{LOCK_NAME, Lockable, ScratchFile, Waiter, read_file};
use tofu_oci_store::{StoreError, is_cut};
use tofu_oci_types::ProviderAddr;

use crate::MirrorError;
use crate::destination::LINK;
use crate::destination::sightings::{Sightings, SightingsRecord};

/// The most that is read of a file, in bytes.
const LIMIT: u64 = 4 << 20;

/// The record in a provider's own folder.
pub(super) fn of_file(path: &Path, address: &ProviderAddr) -> Result<Option<SightingsRecord>, MirrorError> {
    let failed = |source| MirrorError::SightingsFile { path: path.to_owned(), source };
    if path.is_symlink() {
        return Err(failed(std::io::Error::other(LINK)));
    }
    let bytes = match read_file(path, LIMIT) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if is_cut(&bytes) {
        // After a power cut. What it said is seen anew, and so held back longer, never shorter: this is not the first run.
        let providers = [(address.clone(), Sightings::default())].into();
        return Ok(Some(SightingsRecord { providers, ..SightingsRecord::default() }));
    }
    let mut record: SightingsRecord = serde_json::from_slice(&bytes).map_err(|error| failed(error.into()))?;
    record.name_all(address);
    Ok(Some(record))
}

/// Changes the record while no other program does, which writes the documents of the folder under the same lock.
pub(super) async fn change_file(
    path: &Path,
    address: &ProviderAddr,
    edit: &(dyn Fn(&mut SightingsRecord) + Sync),
) -> Result<SightingsRecord, MirrorError> {
    let edited = || {
        let known = of_file(path, address)?;
        let mut all = known.clone().unwrap_or_default();
        edit(&mut all);
        let is_known = known.as_ref() == Some(&all);
        Ok::<_, MirrorError>((all, is_known))
    };
    if let (all, true) = edited()? {
        return Ok(all);
    }
    let failed = |source| MirrorError::SightingsFile { path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| StoreError::io("create", folder, error))?;
    let lock = tofu_oci_disk::lock(&Lockable::File(folder.join(LOCK_NAME)), &Waiter::default(), &|_| ()).await;
    let _lock = lock.map_err(StoreError::Locked)?;
    let (all, is_known) = edited()?;
    if is_known {
        return Ok(all);
    }
    let write = || {
        let file = ScratchFile::beside(folder)?;
        serde_json::to_writer(file.as_file(), &all)?;
        file.as_file().sync_all()?;
        file.put(path)
    };
    write().map_err(failed)?;
    Ok(all)
}
