//! Real packages in place of the measured ones, and their checksums in place of the measured checksums.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use tofu_oci_testkit::ProviderZip;
use tofu_oci_types::Digest;

use super::case::Case;

/// The file in every package that names its maker.
pub(super) const SOURCE: &str = "SOURCE.txt";

/// A package: the zip, its files and its checksums.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) zip: Vec<u8>,
    files: Vec<(String, Vec<u8>, u32)>,
    pub(super) h1: String,
    pub(super) zh: String,
}

impl Package {
    /// Writes the files below a folder.
    pub(super) fn unpack(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        for (name, bytes, mode) in &self.files {
            let path = folder.join(name);
            fs::write(&path, bytes).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
        }
    }
}

/// What distinguishes packages: maker, provider type, version, platform.
type Key = [String; 4];

/// The package of a version and platform as `maker` made it; the same bytes every time.
pub(super) fn package(maker: &str, provider_type: &str, version: &str, platform: &str) -> Arc<Package> {
    static MADE: OnceLock<Mutex<BTreeMap<Key, Arc<Package>>>> = OnceLock::new();
    let key: Key = [maker, provider_type, version, platform].map(str::to_owned);
    let mut made = MADE.get_or_init(Mutex::default).lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    Arc::clone(made.entry(key).or_insert_with(|| Arc::new(make(maker, provider_type, version, platform))))
}

fn make(maker: &str, provider_type: &str, version: &str, platform: &str) -> Package {
    let zip = provider_zip(maker, provider_type, version, platform);
    let (files, bytes) = (zip.entries(), zip.build());
    Package { zh: format!("zh:{}", Digest::sha256(&bytes).encoded()), zip: bytes, files, h1: zip.h1() }
}

/// How the package is built.
pub(super) fn provider_zip(maker: &str, provider_type: &str, version: &str, platform: &str) -> ProviderZip {
    ProviderZip::new(provider_type, version, platform).file(SOURCE, maker.to_owned())
}

/// Who makes the packages of an offer. `content` lets one place hold the very packages of another.
pub(super) fn maker(offer: &str, content: Option<&str>) -> String {
    let kind = content.unwrap_or_else(|| offer.split(':').next().unwrap_or(offer));
    match kind {
        "fs" => "filesystem_mirror".to_owned(),
        "mirror" | "net" => "network_mirror".to_owned(),
        other => other.to_owned(),
    }
}

/// The measured checksums of a case's packages, each beside that of the package in its place here.
#[derive(Debug)]
pub(super) struct Translation(Vec<(String, String)>);

impl Translation {
    pub(super) fn of(case: &Case) -> Self {
        let provider_type = case.provider.rsplit('/').next().unwrap_or_default();
        let mut pairs = Vec::new();
        for (name, offer) in &case.offers {
            let maker = maker(name, offer.content.as_deref());
            for (which, measured) in &offer.package_hashes {
                let (version, platform) = which.split_once('/').expect("package_hashes: VERSION/PLATFORM");
                let ours = package(&maker, provider_type, version, platform);
                for (scheme, ours) in [("h1", &ours.h1), ("zh", &ours.zh)] {
                    let Some(measured) = measured.get(scheme) else { continue };
                    let (value, own) = (&measured[3..], &ours[3..]);
                    pairs.push((value.to_owned(), own.to_owned()));
                    if scheme == "zh" {
                        // In capitals it is another text, and stays one.
                        pairs.push((value.to_uppercase(), own.to_uppercase()));
                    }
                }
            }
        }
        Self(pairs)
    }

    /// The text with our checksums instead of the measured ones.
    pub(super) fn apply(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (measured, ours)| text.replace(measured, ours))
    }
}
