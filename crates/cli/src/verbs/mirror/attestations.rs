//! Attestations of upstream releases, in folders and at addresses that `mirror.toml` names.

use std::fmt::Display;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tofu_oci_http::{WebClient, WebRequest, clean, shown_url};
use tofu_oci_mirror::{AttestationFile, AttestationRule, Attestations, MirrorError};
use tofu_oci_types::{ProviderAddr, Version};
use url::Url;

use super::rules::MirrorInput;
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;

/// The largest file, in bytes.
const LIMIT: u64 = 16 << 20;
/// The most files of one release in a folder.
const FILES: usize = 100;
/// How long an address may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A file that cannot be read, and why.
type UnreadFile = (PathBuf, String);

/// Those of the rules.
pub(super) struct RuledAttestations {
    rules: Vec<AttestationRule>,
    dir: PathBuf,
    web: WebClient,
}

impl std::fmt::Debug for RuledAttestations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.rules.fmt(f)
    }
}

impl RuledAttestations {
    /// `None` if the rules name none.
    pub(super) fn new(input: &MirrorInput, connector: &Connector) -> Result<Option<Self>, Diagnostic> {
        if input.attestations.is_empty() {
            return Ok(None);
        }
        let web = WebClient::new(Arc::clone(connector.client()?.http()));
        Ok(Some(Self { rules: input.attestations.clone(), dir: input.dir.clone(), web }))
    }

    /// Messages name it without its query, which may be a secret.
    async fn at_address(&self, address: String) -> Result<Vec<AttestationFile>, MirrorError> {
        let url: Url =
            parsed(&address).map_err(|problem| MirrorError::Attestations { name: clean(&address), problem })?;
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

#[async_trait]
impl Attestations for RuledAttestations {
    async fn read(&self, address: &ProviderAddr, version: &Version) -> Result<Vec<AttestationFile>, MirrorError> {
        let mut files = Vec::new();
        for rule in &self.rules {
            if !rule.providers.is_empty() && !rule.providers.iter().any(|pattern| pattern.matches(address)) {
                continue;
            }
            let place = rule.at.of(address, version);
            if place.starts_with("https://") {
                files.extend(self.at_address(place).await?);
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
}

fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
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
