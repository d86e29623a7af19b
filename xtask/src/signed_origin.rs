//! An origin registry whose releases a real `GnuPG` key signs, published by nginx.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tofu_oci_types::{Digest, Platform};

use crate::failure::{ChoreFailure, ChoreResult};
use crate::nginx::Nginx;
use crate::paths;
use crate::process::{ProgramRun, find};

/// Who signs.
const SIGNER: &str = "releases@example.test";

/// The origin of one provider; dropping it ends the key's agent.
pub(crate) struct SignedOrigin<'a> {
    server: &'a Nginx,
    address: String,
    /// The key, and a checksum file that is being signed.
    own: PathBuf,
    versions: Vec<Value>,
}

impl<'a> SignedOrigin<'a> {
    /// An origin without releases, with a new key, which lies in the empty folder `own`.
    pub(crate) fn new(server: &'a Nginx, address: &str, own: &Path) -> ChoreResult<Self> {
        fs::set_permissions(own, fs::Permissions::from_mode(0o700))?;
        let origin = Self { server, address: address.to_owned(), own: own.to_owned(), versions: Vec::new() };
        let make = ["--pinentry-mode", "loopback", "--passphrase", "", "--quick-generate-key", SIGNER];
        origin.gpg()?.args(make).args(["rsa3072", "sign", "never"]).success()?;
        Ok(origin)
    }

    fn gpg(&self) -> ChoreResult<ProgramRun> {
        Ok(self.tool("gpg")?.args(["--batch", "--yes", "--quiet"]))
    }

    fn tool(&self, name: &str) -> ChoreResult<ProgramRun> {
        let path = find(name).ok_or_else(|| ChoreFailure::new(format!("{name} is not on the PATH")))?;
        Ok(ProgramRun::isolated(path, &self.own).variable("GNUPGHOME", &self.own))
    }

    /// The block of a CLI configuration that leads to this origin.
    pub(crate) fn host_block(&self) -> String {
        let (host, _) = self.address.split_once('/').unwrap_or_default();
        format!(
            "host \"{host}\" {{\n  services = {{\n    \"providers.v1\" = \"{}v1/providers/\"\n  }}\n}}\n",
            self.server.url()
        )
    }

    /// Publishes a folder of release zips as a version.
    pub(crate) fn publish(&mut self, version: &str, folder: &Path) -> ChoreResult {
        let mut zips: Vec<PathBuf> =
            fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
        zips.sort();
        let (_, path) = self.address.split_once('/').unwrap_or_default();
        let documents = format!("v1/providers/{path}");
        let stem = format!("terraform-provider-{}_{version}", path.rsplit('/').next().unwrap_or_default());
        let sums_name = format!("{stem}_SHA256SUMS");
        let mut lines = String::new();
        let mut packages = Vec::new();
        for zip in &zips {
            let name = zip.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let bytes = fs::read(zip)?;
            let sum = Digest::sha256(&bytes).encoded().to_owned();
            lines += &format!("{sum}  {name}\n");
            self.server.serve(&format!("files/{name}"), bytes)?;
            packages.push((platform(&name, &stem)?, name, sum));
        }
        let sums = self.own.join(&sums_name);
        paths::write(&sums, &lines)?;
        self.gpg()?.args(["--detach-sign", "--local-user", SIGNER]).arg(&sums).success()?;
        let signature = fs::read(format!("{}.sig", sums.display()))?;
        self.server.serve(&format!("files/{sums_name}"), lines)?;
        self.server.serve(&format!("files/{sums_name}.sig"), signature)?;
        let key = self.gpg()?.args(["--armor", "--export", SIGNER]).success()?.stdout;
        for (platform, name, sum) in &packages {
            let document = json!({
                "protocols": ["6.0"], "os": platform.os(), "arch": platform.arch(), "filename": name,
                "download_url": self.file(name), "shasum": sum, "shasums_url": self.file(&sums_name),
                "shasums_signature_url": self.file(&format!("{sums_name}.sig")),
                "signing_keys": {"gpg_public_keys": [{"key_id": "", "ascii_armor": key}]},
            });
            let path = format!("{documents}/{version}/download/{}/{}", platform.os(), platform.arch());
            self.server.serve(&path, document.to_string())?;
        }
        let platforms: Vec<Value> =
            packages.iter().map(|(platform, ..)| json!({"os": platform.os(), "arch": platform.arch()})).collect();
        self.versions.push(json!({"version": version, "protocols": ["6.0"], "platforms": platforms}));
        self.server.serve(&format!("{documents}/versions"), json!({"versions": self.versions}).to_string())
    }

    fn file(&self, name: &str) -> String {
        format!("{}files/{name}", self.server.url())
    }
}

impl Drop for SignedOrigin<'_> {
    fn drop(&mut self) {
        // An agent that is not there any more is what is wanted.
        if let Ok(agent) = self.tool("gpgconf") {
            let _ = agent.args(["--kill", "all"]).output();
        }
    }
}

/// The platform in the name of a release zip.
fn platform(name: &str, stem: &str) -> ChoreResult<Platform> {
    let middle = name.strip_prefix(stem).and_then(|rest| rest.strip_prefix('_'));
    let text = middle.and_then(|rest| rest.strip_suffix(".zip")).unwrap_or_default();
    text.parse().map_err(|_| ChoreFailure::new(format!("{name} names no platform")))
}
