//! Whose `SHA256SUMS` a bridge serves, and who signed it: clients of a provider registry demand a signed one.
//!
//! ```text
//! every platform's zip --zh--> the lines
//! the repository carries a signed SHA256SUMS with all of them, and its key    these very bytes and names, as the publisher made them
//! otherwise                                                                   the lines, signed by the bridge's own key
//! ```
//!
//! Two requests of one client may reach two instances. Therefore the text and the signature depend on nothing except the
//! release, what lies beside it, and the key.

mod key_file;
mod lines;
mod original;
mod release_sums;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use futures_util::{StreamExt as _, TryFutureExt as _, TryStreamExt as _, stream};
use tofu_oci_source::{Release, Search};
use tofu_oci_trust::OpenPgpSecretKey;
use tofu_oci_types::{ProviderAddr, Version};
use tokio::sync::OnceCell;

pub use self::key_file::{KeyFileError, load_key, new_key};
use self::lines::SumsLines;
use self::original::original;
pub use self::release_sums::{ReleaseSums, SumsKey, SumsZip};
use crate::place_fault::upstream;
use crate::{PackageZip, Packages, Refusal, ServedRelease};

/// How many packages of a release are looked at, or made into zips, at once.
const AT_ONCE: usize = 4;

/// Signs releases, each once for as long as the catalog keeps it.
pub struct SumsSigner {
    key: Option<Arc<OpenPgpSecretKey>>,
    made: Mutex<HashMap<(ProviderAddr, Version), SignedRelease>>,
}

struct SignedRelease {
    of: Weak<dyn Release>,
    sums: Arc<OnceCell<Arc<ReleaseSums>>>,
}

impl SumsSigner {
    /// A signer with this key. Without one only releases with a signature of their publisher have signed checksums.
    pub fn new(key: Option<OpenPgpSecretKey>) -> Self {
        Self { key: key.map(Arc::new), made: Mutex::default() }
    }

    /// The bridge's own key.
    pub fn key(&self) -> Option<&OpenPgpSecretKey> {
        self.key.as_deref()
    }

    /// The signed checksums of all platforms of a release. Equal questions share one answer; a failure is not kept.
    ///
    /// # Errors
    /// [`Refusal::NoSigningKey`] if there is no signature of the publisher that fits and no key. If one package cannot be had,
    /// there is no list at all: a shorter one would be another text, which the signature of another instance does not fit.
    pub async fn sums(&self, release: &ServedRelease, packages: &Packages) -> Result<Arc<ReleaseSums>, Refusal> {
        let cell = self.cell(release);
        cell.get_or_try_init(|| self.make(release, packages)).await.cloned()
    }

    fn cell(&self, release: &ServedRelease) -> Arc<OnceCell<Arc<ReleaseSums>>> {
        let of = Arc::downgrade(&release.release);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (release.address.clone(), release.version.clone());
        if let Some(known) = made.get(&key).filter(|known| known.of.ptr_eq(&of)) {
            return Arc::clone(&known.sums);
        }
        made.retain(|_, known| known.of.strong_count() > 0);
        let sums = Arc::<OnceCell<Arc<ReleaseSums>>>::default();
        made.insert(key, SignedRelease { of, sums: Arc::clone(&sums) });
        sums
    }

    async fn make(&self, release: &ServedRelease, packages: &Packages) -> Result<Arc<ReleaseSums>, Refusal> {
        let zips = release.packages.iter().map(|(platform, package)| {
            let zip = packages.zip(package);
            zip.map_ok(|PackageZip { name, digest, size, .. }| (platform.clone(), SumsZip { name, digest, size }))
        });
        let zips = stream::iter(zips.collect::<Vec<_>>()).buffered(AT_ONCE).try_collect::<Vec<_>>().await?;
        let evidence = release.release.evidence(Search::Everywhere).await;
        let evidence = evidence.map_err(|error| {
            let place = &release.release.id().place;
            upstream(&release.address, &error).without(place.repository())
        })?;
        let (lines, key, now) = (SumsLines::new(zips), self.key.clone(), SystemTime::now());
        let signing = move || original(evidence, &lines, now).or_else(|| Some(own(&lines, &*key?)));
        let signed = tokio::task::spawn_blocking(signing).await.expect("signing does not panic");
        signed
            .map(Arc::new)
            .ok_or_else(|| Refusal::NoSigningKey { address: release.address.clone(), version: release.version.clone() })
    }
}

/// The lines, signed by the bridge's key.
fn own(lines: &SumsLines, key: &OpenPgpSecretKey) -> ReleaseSums {
    let text = lines.to_string();
    let signature = key.sign(text.as_bytes()).into();
    let keys = vec![SumsKey { key_id: key.key_id(), ascii_armor: key.public().to_owned() }];
    ReleaseSums { text: text.into(), signature, keys, zips: lines.zips().clone() }
}

#[cfg(test)]
mod tests;
