//! What is locked: several providers on several platforms, signed with one key.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure::output;
use super::package::{PLATFORMS, make, sha256, variant, write_zip};
use crate::failure::ChoreResult;

const PROVIDERS: usize = 5;
const PLATFORMS_EACH: usize = 10;
/// Size of an executable in MB; half of it is left in a zip. A release is made of these, five times ten of them.
const SIZE: u64 = 16;

/// The key whose signatures count.
#[derive(Clone, Copy)]
pub(super) enum Trusted {
    /// The key that signed the releases.
    Key,
    /// No key: every package is downloaded.
    Nobody,
}

/// Releases of several providers, as files and in a registry.
pub(super) struct Releases {
    registry: String,
    folder: PathBuf,
    /// Each zip: the namespace of its provider, and its digest.
    zips: Vec<(String, String)>,
}

impl Releases {
    /// Makes the files and the key.
    pub(super) fn make(work: &Path, registry: &str) -> ChoreResult<Self> {
        let folder = work.join("releases");
        fs::create_dir_all(&folder)?;
        let program = make(SIZE, &folder)?;
        let base = folder.join("base.zip");
        write_zip(&[program], &base)?;
        let mut releases = Self { registry: registry.to_owned(), folder, zips: Vec::new() };
        for namespace in namespaces() {
            let dist = releases.dist(&namespace);
            fs::create_dir_all(&dist)?;
            for platform in &PLATFORMS[..PLATFORMS_EACH] {
                let zip = dist.join(format!("terraform-provider-bench_1.0.0_{platform}.zip"));
                variant(&base, &zip, &format!("{namespace} {platform}"))?;
                releases.zips.push((namespace.clone(), sha256(&zip)?));
            }
        }
        let mut private = Command::new("openssl");
        private.args(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out"]);
        output(private.arg(releases.key()))?;
        let mut public = Command::new("openssl");
        public.args(["pkey", "-pubout", "-in"]).arg(releases.key()).arg("-out").arg(releases.folder.join("key.pub"));
        output(&mut public)?;
        Ok(releases)
    }

    /// The private key.
    pub(super) fn key(&self) -> PathBuf {
        self.folder.join("key.pem")
    }

    /// What is pushed, to where, as which provider.
    pub(super) fn pushes(&self) -> Vec<(PathBuf, String, String)> {
        let push = |namespace: String| {
            let repository = format!("{}/locked/{namespace}/bench", self.registry);
            (self.dist(&namespace), repository, format!("registry.example.test/{namespace}/bench"))
        };
        namespaces().map(push).collect()
    }

    fn dist(&self, namespace: &str) -> PathBuf {
        self.folder.join(namespace)
    }

    /// Writes a configuration that requires all of them, with a policy.
    pub(super) fn configure(&self, folder: &Path, trusted: Trusted) -> ChoreResult {
        let requirement = |namespace: String| {
            format!("{namespace} = {{ source = \"registry.example.test/{namespace}/bench\", version = \"1.0.0\" }}\n")
        };
        let required: String = namespaces().map(requirement).collect();
        fs::write(folder.join("main.tf"), format!("terraform {{\nrequired_providers {{\n{required}}}\n}}\n"))?;
        let template = format!("{}/locked/${{namespace}}/${{type}}", self.registry);
        let mirror = format!("repository_template = \"{template}\"\ninclude = [\"registry.example.test/*/*\"]");
        fs::write(folder.join("rc"), format!("provider_installation {{\noci_mirror {{\n{mirror}\n}}\n}}\n"))?;
        if let Trusted::Key = trusted {
            let key = self.folder.join("key.pub");
            let rule = "[[rule]]\nproviders = [\"registry.example.test/*/*\"]\nkeys = [\"bench\"]";
            fs::write(
                folder.join("trust.toml"),
                format!("[[key]]\nname = \"bench\"\nfile = {:?}\n\n{rule}\n", key.display().to_string()),
            )?;
        }
        Ok(())
    }

    /// One download of every package after the other, and the checksums of all: what a script would do.
    pub(super) fn download(&self, folder: &Path) -> Vec<Command> {
        let (mut curl, mut sum) = (Command::new("curl"), Command::new("sha256sum"));
        curl.args(["--silent", "--fail"]);
        for (index, (namespace, digest)) in self.zips.iter().enumerate() {
            let file = folder.join(format!("{index}.zip"));
            sum.arg(&file);
            curl.arg("-o").arg(file);
            curl.arg(format!("http://{}/v2/locked/{namespace}/bench/blobs/{digest}", self.registry));
        }
        vec![curl, sum]
    }
}

fn namespaces() -> impl Iterator<Item = String> {
    (1..=PROVIDERS).map(|number| format!("lock{number}"))
}
