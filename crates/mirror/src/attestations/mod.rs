//! Attestations of upstream releases that are given as files: read, judged with the release, and carried if they count.
//!
//! ```text
//! template.rs  where those of a release are
//! mod.rs       read: from a folder, or from an address
//! release.rs   the release with them beside it, as it is judged
//! files.rs     which of them count, and what they say of a release that is there already
//! ```

mod files;
mod release;
mod template;

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tofu_oci_http::{WebClient, WebRequest, clean, shown_url};
use tofu_oci_types::{ProviderAddr, Version};
use url::Url;

pub use files::LateAttestation;
pub(crate) use files::{AttestationFiles, JudgedFiles, Withdrawal, attach, plan_attach};
pub use template::{AttestationRule, AttestationTemplate, InvalidAttestationTemplate};

use crate::MirrorError;

/// The largest file, in bytes.
const LIMIT: u64 = 16 << 20;
/// The most files of one release in a folder.
const FILES: usize = 100;
/// How long an address may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A file with attestations: a Sigstore bundle, or one in each line.
#[derive(Clone, Debug)]
struct AttestationFile {
    /// Where it was read, for messages.
    name: String,
    bytes: Vec<u8>,
}

/// A file that cannot be read, and why.
type UnreadFile = (PathBuf, String);

/// The places of attestations that rules name.
#[derive(Clone)]
pub struct Attestations {
    rules: Vec<AttestationRule>,
    dir: PathBuf,
    web: WebClient,
}

impl fmt::Debug for Attestations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rules.fmt(f)
    }
}

impl Attestations {
    /// Paths of the rules are relative to `dir`.
    ///
    /// # Errors
    /// [`MirrorError::NoAttestations`] if what every path of a rule begins with does not exist: a name is mistyped.
    pub fn open(rules: Vec<AttestationRule>, dir: PathBuf, web: WebClient) -> Result<Self, MirrorError> {
        let folders = rules.iter().filter_map(|rule| rule.at.folder()).filter(|folder| !folder.is_empty());
        for path in folders.map(|folder| dir.join(folder)) {
            let unread = |error: std::io::Error| MirrorError::Attestations {
                name: path.display().to_string(),
                problem: error.to_string(),
            };
            if !path.try_exists().map_err(unread)? {
                return Err(MirrorError::NoAttestations { path });
            }
        }
        Ok(Self { rules, dir, web })
    }

    /// The files about a release; an empty list if it has no file.
    async fn read(&self, address: &ProviderAddr, version: &Version) -> Result<Vec<AttestationFile>, MirrorError> {
        let mut files = Vec::new();
        for rule in &self.rules {
            if !rule.providers.is_empty() && !rule.providers.iter().any(|pattern| pattern.matches(address)) {
                continue;
            }
            let place = rule.at.of(address, version);
            if place.starts_with("https://") {
                files.extend(self.at_address(&place).await?);
            } else {
                let path = self.dir.join(place);
                let read = tokio::task::spawn_blocking(move || in_files(&path)).await;
                files.extend(read.expect("reading files does not panic").map_err(|(path, problem)| {
                    MirrorError::Attestations { name: path.display().to_string(), problem }
                })?);
            }
        }
        Ok(files)
    }

    /// Messages name it without its query, which may be a secret.
    async fn at_address(&self, address: &str) -> Result<Vec<AttestationFile>, MirrorError> {
        let url: Url = address.parse().map_err(|error: url::ParseError| MirrorError::AttestationAddress {
            address: clean(address),
            problem: error.to_string(),
        })?;
        let name = shown_url(&url);
        let unread = |problem: String| MirrorError::Attestations { name: name.clone(), problem };
        let request = WebRequest { url, accept: "application/json, */*", token: None, timeout: TIMEOUT, limit: LIMIT };
        let answer = self.web.get(&request, |answer| answer.status() == 200).await;
        let answer = answer.map_err(|error| unread(error.to_string()))?;
        match answer.status() {
            200 => Ok(vec![AttestationFile { name, bytes: answer.body().to_vec() }]),
            404 | 410 => Ok(Vec::new()),
            status => Err(unread(format!("it answered {status}"))),
        }
    }
}

/// A file, or the files of a folder that end in `.json` or `.jsonl`, by name; empty if nothing is there.
fn in_files(path: &Path) -> Result<Vec<AttestationFile>, UnreadFile> {
    let unread = |problem: String| (path.to_owned(), problem);
    let mut paths = match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unread(error.to_string())),
        Ok(data) if data.is_dir() => {
            let all = std::fs::read_dir(path).map_err(|error| unread(error.to_string()))?;
            let all = all.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>();
            all.map_err(|error| unread(error.to_string()))?
        }
        Ok(_) => return Ok(vec![read(path)?]),
    };
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl"));
    paths.sort();
    if paths.len() > FILES {
        return Err(unread(format!("it has {} files, and at most {FILES} are read", paths.len())));
    }
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Result<AttestationFile, UnreadFile> {
    match tofu_oci_disk::read_file(path, LIMIT) {
        Ok(bytes) => Ok(AttestationFile { name: path.display().to_string(), bytes }),
        Err(error) => Err((path.to_owned(), error.to_string())),
    }
}
