//! Release folders in the three usual forms.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tofu_oci_types::Digest;

use crate::provider_zip::ProviderZip;

/// Bytes in place of a detached signature; they are not an `OpenPGP` packet.
const SIGNATURE: &[u8] = b"testkit placeholder signature\n";

/// One version of a provider for several platforms, ready to be written as a folder.
#[derive(Clone, Debug)]
pub struct ReleaseFolder {
    provider_type: String,
    version: String,
    protocols: Vec<String>,
    packages: Vec<ProviderZip>,
}

impl ReleaseFolder {
    /// One small package a platform, each with a `LICENSE`, protocol 6.0.
    pub fn new(provider_type: &str, version: &str, platforms: &[&str]) -> Self {
        let package = |platform: &&str| ProviderZip::new(provider_type, version, platform).file("LICENSE", "MPL-2.0\n");
        Self {
            provider_type: provider_type.to_owned(),
            version: version.to_owned(),
            protocols: vec!["6.0".to_owned()],
            packages: platforms.iter().map(package).collect(),
        }
    }

    /// The same with one more package.
    #[must_use]
    pub fn package(mut self, package: ProviderZip) -> Self {
        self.packages.push(package);
        self
    }

    /// The same with these plugin protocol versions in the registry manifest.
    #[must_use]
    pub fn protocols(mut self, protocols: &[&str]) -> Self {
        self.protocols = protocols.iter().map(ToString::to_string).collect();
        self
    }

    /// The packages.
    pub fn packages(&self) -> &[ProviderZip] {
        &self.packages
    }

    /// A plain folder of `terraform-provider-NAME_VERSION_OS_ARCH.zip` files.
    pub fn write_zips(&self, folder: &Path) {
        for package in &self.packages {
            write(&folder.join(package.file_name()), &package.build());
        }
    }

    /// A folder of `OS_ARCH/` folders with the unpacked files.
    pub fn write_directories(&self, folder: &Path) {
        for package in &self.packages {
            for (name, bytes, mode) in package.entries() {
                let path = folder.join(package.platform().to_string()).join(name);
                write(&path, &bytes);
                set_mode(&path, mode);
            }
        }
    }

    /// A GoReleaser `dist/`: zips, build folders, `SHA256SUMS`, its `.sig`, the registry manifest, `artifacts.json`
    /// and `metadata.json`. Paths inside `artifacts.json` begin with the folder's own name, as GoReleaser's do.
    pub fn write_goreleaser(&self, folder: &Path) {
        let stem = format!("terraform-provider-{}_{}", self.provider_type, self.version);
        let base = folder.file_name().map_or_else(|| "dist".to_owned(), |name| name.to_string_lossy().into_owned());
        let place = |name: &str| format!("{base}/{name}");
        let mut artifacts: Vec<Value> = Vec::new();
        let mut sums: Vec<(String, Digest)> = Vec::new();

        for package in &self.packages {
            let (os, arch) = (package.platform().os(), package.platform().arch());
            let build = format!("terraform-provider-{}_{os}_{arch}", self.provider_type);
            let executable = package.executable_name();
            if let Some((_, bytes, mode)) = package.entries().into_iter().find(|(name, ..)| *name == executable) {
                let path = folder.join(&build).join(&executable);
                write(&path, &bytes);
                set_mode(&path, mode);
                artifacts.push(json!({
                    "name": executable, "path": place(&format!("{build}/{executable}")), "goos": os, "goarch": arch,
                    "target": format!("{os}_{arch}"), "internal_type": 4, "type": "Binary",
                    "extra": {"Binary": executable, "Builder": "go", "Ext": "", "ID": "default"},
                }));
            }
            let (name, bytes) = (package.file_name(), package.build());
            let digest = Digest::sha256(&bytes);
            write(&folder.join(&name), &bytes);
            artifacts.push(json!({
                "name": name, "path": place(&name), "goos": os, "goarch": arch, "target": format!("{os}_{arch}"),
                "internal_type": 1, "type": "Archive",
                "extra": {"Binaries": [executable], "Checksum": digest.to_string(), "Format": "zip", "ID": "default"},
            }));
            sums.push((name, digest));
        }

        let manifest = format!("{stem}_manifest.json");
        let text = json!({"version": 1, "metadata": {"protocol_versions": self.protocols}}).to_string();
        write(&folder.join(&manifest), text.as_bytes());
        sums.push((manifest.clone(), Digest::sha256(text.as_bytes())));
        sums.sort();
        let lines: Vec<String> = sums.iter().map(|(name, digest)| format!("{}  {name}\n", digest.encoded())).collect();
        let sums_name = format!("{stem}_SHA256SUMS");
        write(&folder.join(&sums_name), lines.concat().as_bytes());
        write(&folder.join(format!("{sums_name}.sig")), SIGNATURE);

        for (name, number, kind) in [
            (manifest, 2, "File"),
            (sums_name.clone(), 12, "Checksum"),
            (format!("{sums_name}.sig"), 13, "Signature"),
            ("metadata.json".to_owned(), 30, "Metadata"),
        ] {
            artifacts.push(json!({"name": name, "path": place(&name), "internal_type": number, "type": kind}));
        }
        let metadata = json!({
            "project_name": format!("terraform-provider-{}", self.provider_type),
            "tag": format!("v{}", self.version), "previous_tag": "", "version": self.version,
            "commit": "0123456789abcdef0123456789abcdef01234567", "date": "2026-01-02T03:04:05Z",
            "runtime": {"goos": "linux", "goarch": "amd64"},
        });
        write(&folder.join("artifacts.json"), Value::Array(artifacts).to_string().as_bytes());
        write(&folder.join("metadata.json"), metadata.to_string().as_bytes());
    }
}

fn write(path: &PathBuf, bytes: &[u8]) {
    let folder = path.parent().expect("a file of a folder has a parent");
    fs::create_dir_all(folder).unwrap_or_else(|error| panic!("creating {}: {error}", folder.display()));
    fs::write(path, bytes).unwrap_or_else(|error| panic!("writing {}: {error}", path.display()));
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    let permissions = fs::Permissions::from_mode(mode);
    fs::set_permissions(path, permissions).unwrap_or_else(|error| panic!("chmod {}: {error}", path.display()));
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) {}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::ReleaseFolder;

    /// All paths below a folder, sorted.
    fn tree(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![folder.to_owned()];
        while let Some(next) = open.pop() {
            for entry in std::fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        found.sort();
        found
    }

    #[track_caller]
    fn check(write: impl Fn(&ReleaseFolder, &Path), want: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let dist = ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]);
        write(&dist, &folder.path().join("dist"));
        assert_eq!(tree(&folder.path().join("dist")), want);
    }

    #[test]
    fn writes_zips() {
        check(ReleaseFolder::write_zips, &["terraform-provider-widget_1.4.0_linux_amd64.zip"]);
    }

    #[test]
    fn writes_directories() {
        check(
            ReleaseFolder::write_directories,
            &["linux_amd64/LICENSE", "linux_amd64/terraform-provider-widget_v1.4.0"],
        );
    }

    #[test]
    fn writes_goreleaser_dist() {
        check(
            ReleaseFolder::write_goreleaser,
            &[
                "artifacts.json",
                "metadata.json",
                "terraform-provider-widget_1.4.0_SHA256SUMS",
                "terraform-provider-widget_1.4.0_SHA256SUMS.sig",
                "terraform-provider-widget_1.4.0_linux_amd64.zip",
                "terraform-provider-widget_1.4.0_manifest.json",
                "terraform-provider-widget_linux_amd64/terraform-provider-widget_v1.4.0",
            ],
        );
    }
}
