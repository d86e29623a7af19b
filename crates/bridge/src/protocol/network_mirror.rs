//! `index.json` and `VERSION.json`.
//!
//! Spec: seed 001.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use tofu_oci_types::{PackageHash, Platform, Scheme};
use tokio::time::timeout;

use crate::{Bridge, ServedPackage, ServedRelease, ServedVersions};

/// How long packages may become zips before the document is sent without their checksums. A client waits 10 seconds, and the
/// release itself may have taken some of them.
const CONVERSION: Duration = Duration::from_secs(4);

/// `index.json`.
pub(crate) fn versions(served: &ServedVersions) -> Value {
    let versions = served.versions.iter().map(|version| (version.to_string(), json!({})));
    json!({ "versions": versions.collect::<Map<String, Value>>() })
}

/// `VERSION.json` of a version that is not offered: a client then asks the next method of its configuration.
pub(crate) fn no_archives() -> Value {
    json!({ "archives": {} })
}

/// `VERSION.json`. `reference` says where the archive of a platform is. Packages may become zips in the time that is `left`.
pub(crate) async fn archives(
    bridge: &Bridge,
    release: &ServedRelease,
    left: Duration,
    reference: impl Fn(&Platform) -> String,
) -> Value {
    let entries = release.packages.iter().map(|(platform, package)| async {
        let mut entry = Map::from_iter([("url".to_owned(), Value::from(reference(platform)))]);
        let hashes = hashes(bridge, package, left.min(CONVERSION)).await;
        if !hashes.is_empty() {
            entry.insert("hashes".to_owned(), hashes.iter().map(PackageHash::as_str).collect());
        }
        (platform.to_string(), Value::Object(entry))
    });
    json!({ "archives": join_all(entries).await.into_iter().collect::<Map<String, Value>>() })
}

/// Those that need no zip.
fn known_hashes(bridge: &Bridge, package: &ServedPackage) -> Vec<PackageHash> {
    let of = |scheme: Scheme| package.hashes.iter().filter(move |hash| hash.scheme() == scheme);
    let listed: Vec<PackageHash> = bridge.settings.hashes.iter().flat_map(|scheme| of(*scheme)).cloned().collect();
    if listed.is_empty() { of(Scheme::H1).cloned().collect() } else { listed }
}

/// Of a package that is not a zip yet, a claimed `h1:` is known sooner than the `zh:` of the zip that it will be. Never `ch:`,
/// which alone stops Terraform, and verifies nothing in `OpenTofu`.
async fn hashes(bridge: &Bridge, package: &ServedPackage, time: Duration) -> Vec<PackageHash> {
    let mut listed = known_hashes(bridge, package);
    if listed.is_empty() {
        let made = timeout(time, bridge.packages.zip(package)).await;
        listed.extend(made.ok().and_then(Result::ok).and_then(|zip| PackageHash::zh(&zip.digest)));
    }
    let schemes = &bridge.settings.hashes;
    let zip = listed.iter().find(|hash| hash.scheme() == Scheme::Zh).and_then(PackageHash::archive);
    if let Some(zip) = zip.filter(|_| schemes.contains(&Scheme::H1)) {
        listed.retain(|hash| hash.scheme() != Scheme::H1);
        listed.extend(bridge.packages.h1(&zip, package.h1()).await);
        listed.sort_by_key(|hash| schemes.iter().position(|scheme| *scheme == hash.scheme()));
    }
    listed
}
