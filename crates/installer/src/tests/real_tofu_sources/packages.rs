//! Real packages in the place of those that were measured, and their checksums in the place of the measured ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;
use tofu_oci_archive::{Limits, read_zip};
use tofu_oci_testkit::ProviderZip;
use tofu_oci_types::Digest;

use super::case::Case;

/// The file in every package that tells where it comes from.
pub(super) const SOURCE: &str = "SOURCE.txt";

/// A package: the zip, its files and its checksums.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) zip: Bytes,
    pub(super) files: Vec<(String, Vec<u8>, u32)>,
    h1: String,
    zh: String,
}

impl Package {
    /// Writes the files below a folder.
    pub(super) fn unpack(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        for (name, bytes, mode) in &self.files {
            let path = folder.join(name);
            fs::write(&path, bytes).unwrap();
            set_mode(&path, *mode);
        }
    }
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) {}

/// What tells one package from another: where it was made, and for what.
type Key = (String, String, String, String);

/// The package of a version and platform as `source` made it; the same bytes every time.
pub(super) fn package(source: &str, provider_type: &str, version: &str, platform: &str) -> Arc<Package> {
    static MADE: OnceLock<Mutex<BTreeMap<Key, Arc<Package>>>> = OnceLock::new();
    let key = [source, provider_type, version, platform].map(str::to_owned);
    let key: Key = key.into();
    let made = MADE.get_or_init(Mutex::default);
    if let Some(package) = made.lock().unwrap().get(&key) {
        return Arc::clone(package);
    }
    let package = Arc::new(make(source, provider_type, version, platform));
    made.lock().unwrap().insert(key, Arc::clone(&package));
    package
}

fn make(source: &str, provider_type: &str, version: &str, platform: &str) -> Package {
    let zip = ProviderZip::new(provider_type, version, platform).file(SOURCE, source.to_owned());
    let (files, bytes) = (zip.entries(), Bytes::from(zip.build()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("package.zip");
    fs::write(&path, &bytes).unwrap();
    let h1 = read_zip(&path, &Limits::default()).unwrap().h1().to_string();
    Package { zh: format!("zh:{}", Digest::sha256(&bytes).encoded()), zip: bytes, files, h1 }
}

/// Who makes the packages of an offer: their method and, for a repository, its name. `content` lets one place hold the
/// very packages of another.
pub(super) fn maker(offer: &str, content: Option<&str>) -> String {
    let kind = content.unwrap_or_else(|| offer.split(':').next().unwrap_or(offer));
    match kind {
        "fs" => "filesystem_mirror".to_owned(),
        "mirror" | "net" => "network_mirror".to_owned(),
        other => other.to_owned(),
    }
}

/// The measured checksums of a case's packages, each with that of the package which stands in its place here.
pub(super) struct Translation(Vec<(String, String)>);

impl Translation {
    pub(super) fn of(case: &Case) -> Self {
        let provider_type = case.provider.rsplit('/').next().unwrap();
        let mut pairs = Vec::new();
        for (name, offer) in &case.offers {
            let maker = maker(name, offer.content.as_deref());
            for (which, measured) in &offer.package_hashes {
                let (version, platform) = which.split_once('/').unwrap();
                let ours = package(&maker, provider_type, version, platform);
                for (scheme, ours) in [("h1", &ours.h1), ("zh", &ours.zh)] {
                    let Some(measured) = measured.get(scheme) else { continue };
                    let (value, own) = (measured.split_once(':').unwrap().1, ours.split_once(':').unwrap().1);
                    pairs.push((value.to_owned(), own.to_owned()));
                    if scheme == "zh" {
                        // Spelt with capitals it is another text, and stays one.
                        pairs.push((value.to_uppercase(), own.to_uppercase()));
                    }
                }
            }
        }
        Self(pairs)
    }

    /// The text with our checksums for the measured ones.
    pub(super) fn apply(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (measured, ours)| text.replace(measured, ours))
    }
}
