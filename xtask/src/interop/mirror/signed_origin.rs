//! An origin registry whose releases a real GnuPG key signs, published by Python's HTTPS server.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tofu_oci_types::{Digest, Platform};

use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::https::HttpsServer;
use crate::interop::lab::{Lab, text};
use crate::interop::terraform::ADDRESS;
use crate::paths;
use crate::process::ProgramRun;

/// Who signs.
const SIGNER: &str = "releases@example.test";
const JSON: &str = "application/json";

/// The origin of `testdata/provider`; dropping it ends the key's agent.
pub(super) struct SignedOrigin<'a> {
    lab: &'a Lab,
    server: &'a HttpsServer,
    keys: PathBuf,
    versions: Vec<Value>,
}

impl<'a> SignedOrigin<'a> {
    /// An origin without releases, with a new key.
    pub(super) fn new(lab: &'a Lab, server: &'a HttpsServer) -> ChoreResult<Self> {
        let keys = lab.new_folder("gnupg")?;
        fs::set_permissions(&keys, fs::Permissions::from_mode(0o700))?;
        let origin = Self { lab, server, keys, versions: Vec::new() };
        let make = ["--pinentry-mode", "loopback", "--passphrase", "", "--quick-generate-key", SIGNER];
        origin.gpg()?.args(make).args(["rsa3072", "sign", "never"]).success()?;
        Ok(origin)
    }

    fn gpg(&self) -> ChoreResult<ProgramRun> {
        Ok(self.lab.tool("gpg")?.variable("GNUPGHOME", &self.keys).args(["--batch", "--yes", "--quiet"]))
    }

    /// The block of a CLI configuration that leads to this origin.
    pub(super) fn host_block(&self) -> String {
        let (host, _) = ADDRESS.split_once('/').unwrap_or_default();
        format!(
            "host \"{host}\" {{\n  services = {{\n    \"providers.v1\" = \"https://{}/v1/providers/\"\n  }}\n}}\n",
            self.server.host()
        )
    }

    /// Publishes a folder of release zips as a version.
    pub(super) fn publish(&mut self, version: &str, folder: &Path) -> ChoreResult {
        let mut zips: Vec<PathBuf> =
            fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
        zips.sort();
        let sums_name = format!("terraform-provider-demo_{version}_SHA256SUMS");
        let mut lines = String::new();
        let mut packages = Vec::new();
        for zip in &zips {
            let name = zip.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let bytes = fs::read(zip)?;
            let sum = Digest::sha256(&bytes).encoded().to_owned();
            lines += &format!("{sum}  {name}\n");
            self.server.serve(&format!("files/{name}"), "application/zip", bytes)?;
            packages.push((platform(&name, version)?, name, sum));
        }
        let sums = self.lab.new_folder("sums")?.join(&sums_name);
        paths::write(&sums, &lines)?;
        self.gpg()?.args(["--detach-sign", "--local-user", SIGNER, &text(&sums)]).success()?;
        let signature = fs::read(format!("{}.sig", sums.display()))?;
        self.server.serve(&format!("files/{sums_name}"), "text/plain", lines)?;
        self.server.serve(&format!("files/{sums_name}.sig"), "application/octet-stream", signature)?;
        let key = self.gpg()?.args(["--armor", "--export", SIGNER]).success()?.stdout;
        for (platform, name, sum) in &packages {
            let document = json!({
                "protocols": ["6.0"], "os": platform.os(), "arch": platform.arch(), "filename": name,
                "download_url": self.file(name), "shasum": sum, "shasums_url": self.file(&sums_name),
                "shasums_signature_url": self.file(&format!("{sums_name}.sig")),
                "signing_keys": {"gpg_public_keys": [{"key_id": "", "ascii_armor": key}]},
            });
            let path = format!("v1/providers/acme/demo/{version}/download/{}/{}", platform.os(), platform.arch());
            self.server.serve(&path, JSON, document.to_string())?;
        }
        let platforms: Vec<Value> =
            packages.iter().map(|(platform, ..)| json!({"os": platform.os(), "arch": platform.arch()})).collect();
        self.versions.push(json!({"version": version, "protocols": ["6.0"], "platforms": platforms}));
        self.server.serve("v1/providers/acme/demo/versions", JSON, json!({"versions": self.versions}).to_string())
    }

    fn file(&self, name: &str) -> String {
        format!("https://{}/files/{name}", self.server.host())
    }
}

impl Drop for SignedOrigin<'_> {
    fn drop(&mut self) {
        // An agent that is not there any more is what is wanted.
        if let Ok(agent) = self.lab.tool("gpgconf") {
            let _ = agent.variable("GNUPGHOME", &self.keys).args(["--kill", "all"]).output();
        }
    }
}

/// The platform in the name of a release zip.
fn platform(name: &str, version: &str) -> ChoreResult<Platform> {
    let middle = name.strip_prefix(&format!("terraform-provider-demo_{version}_"));
    let text = middle.and_then(|rest| rest.strip_suffix(".zip")).unwrap_or_default();
    text.parse().map_err(|_| ChoreFailure::new(format!("{name} names no platform")))
}
