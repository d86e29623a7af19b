//! `versions` and the download document.
//!
//! Spec: seed 000.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use serde_json::{Map, Value, json};
use tofu_oci_types::{PackageHash, Platform, Version};
use tokio::time::sleep;

use crate::{Bridge, PackageZip, Refusal, ReleaseSums, ServedRelease, ServedVersions};

/// How long `versions` waits for what releases say of themselves. Clients need it for hints alone.
const DESCRIPTIONS: Duration = Duration::from_secs(2);

/// How many releases are asked for at once.
const AT_ONCE: usize = 8;

/// What is known of a release in time.
enum ReleaseInTime {
    Release(Arc<ServedRelease>),
    NotOffered,
}

/// `versions`, with the platforms and protocols of the releases that answer in the time that is `left` for them. A version whose release turns out not to
/// be served is left out.
pub(crate) async fn versions(bridge: &Bridge, served: &ServedVersions, left: Duration) -> Value {
    let mut known = known(bridge, served, left.min(DESCRIPTIONS)).await;
    let entry = |version: &Version| {
        let mut entry = Map::from_iter([("version".to_owned(), version.to_string().into())]);
        match known.remove(version) {
            Some(ReleaseInTime::NotOffered) => return None,
            Some(ReleaseInTime::Release(release)) => {
                if !release.protocols.is_empty() {
                    entry.insert("protocols".to_owned(), release.protocols.clone().into());
                }
                entry.insert("platforms".to_owned(), release.packages.keys().map(platform).collect());
            }
            None => {}
        }
        Some(Value::Object(entry))
    };
    let versions: Vec<Value> = served.versions.iter().filter_map(entry).collect();
    let mut document = Map::from_iter([("versions".to_owned(), versions.into())]);
    if !served.warnings.is_empty() {
        document.insert("warnings".to_owned(), served.warnings.clone().into());
    }
    document.into()
}

async fn known(bridge: &Bridge, served: &ServedVersions, time: Duration) -> HashMap<Version, ReleaseInTime> {
    let ask = |version: Version| async move {
        let known = match bridge.catalog.release(&served.address, &version).await {
            Ok(release) => ReleaseInTime::Release(release),
            Err(Refusal::UnknownVersion { .. } | Refusal::Untrusted { .. }) => ReleaseInTime::NotOffered,
            Err(_) => return None,
        };
        Some((version, known))
    };
    // The newest first: they are what clients choose.
    let answers = stream::iter(served.versions.iter().rev().cloned()).map(ask).buffer_unordered(AT_ONCE);
    answers.take_until(sleep(time)).filter_map(|answer| async { answer }).collect().await
}

fn platform(platform: &Platform) -> Value {
    json!({ "os": platform.os(), "arch": platform.arch() })
}

/// Where the files of a release are, as absolute URLs.
pub(crate) struct FileLinks {
    pub(crate) archive: String,
    pub(crate) sums: String,
    pub(crate) signature: String,
}

/// The download document.
pub(crate) async fn download(
    bridge: &Bridge,
    release: &ServedRelease,
    on: &Platform,
    zip: &PackageZip,
    sums: &ReleaseSums,
    links: &FileLinks,
) -> Value {
    let keys = sums.keys.iter().map(|key| json!({ "key_id": key.key_id, "ascii_armor": key.ascii_armor }));
    let mut document = json!({
        "protocols": release.protocols,
        "os": on.os(),
        "arch": on.arch(),
        "filename": sums.zips.get(on).map_or(&zip.name, |zip| &zip.name),
        "download_url": links.archive,
        "shasums_url": links.sums,
        "shasums_signature_url": links.signature,
        "shasum": zip.digest.encoded(),
        "signing_keys": { "gpg_public_keys": keys.collect::<Vec<Value>>() },
    });
    if let Some(packages) = packages(bridge, release, sums).await {
        document["packages"] = packages;
    }
    document
}

/// What lock files have of every platform: `zh:`, `h1:` and the size of the zip. `None` if the `h1:` of one of them is not
/// known: whoever copies a shorter list writes a lock file without that platform.
///
/// Spec: `OpenTofu` 1.12, getproviders `registry_client.go`: the size is not 0, each `zh:` is the one in `shasum`, and a
/// platform without an entry ends an installation. Read by Terragrunt 1.0.5 and Dependabot as well.
async fn packages(bridge: &Bridge, release: &ServedRelease, sums: &ReleaseSums) -> Option<Value> {
    let mut packages = Map::new();
    for (platform, zip) in &sums.zips {
        let claimed = release.packages.get(platform)?.h1();
        let h1 = bridge.packages.h1(&zip.digest, claimed).await.filter(|_| zip.size > 0)?;
        let hashes = [h1.as_str(), PackageHash::zh(&zip.digest)?.as_str()].map(str::to_owned);
        packages.insert(platform.to_string(), json!({ "hashes": hashes, "package_size": zip.size }));
    }
    Some(packages.into())
}
