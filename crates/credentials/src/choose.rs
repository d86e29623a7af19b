//! The choice among all files.

use tofu_oci_types::RepositoryRef;

use crate::Credential;
use crate::file::{AuthFile, Entry, FileWarning};
use crate::key::canonical;

/// Every credential file that was found, the most important first.
#[derive(Clone, Debug, Default)]
pub struct CredentialFiles(Vec<AuthFile>);

/// Where the credential for a repository comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It stands in a file.
    Found {
        /// The credential.
        credential: Credential,
        /// The file.
        origin: String,
        /// The key in the file, such as `ghcr.io/acme`.
        key: String,
    },
    /// A helper has to be asked. When it knows nothing, that is the answer: no less specific source is tried.
    Helper {
        /// The helper's name: the program is `docker-credential-NAME`.
        name: String,
        /// What to ask for first, `https://HOST[:PORT]`, as `OpenTofu` does.
        server: String,
        /// What to ask for when the helper knows nothing under `server`: the form that `docker login` stores.
        login_server: String,
        /// The file that names the helper.
        origin: String,
    },
    /// No file speaks about the repository: anonymous.
    None,
}

/// How closely a source fits: the count of path segments, or the store that serves every registry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Store,
    Prefix(usize),
}

impl CredentialFiles {
    /// Files in order of importance.
    pub fn new(files: Vec<AuthFile>) -> Self {
        Self(files)
    }

    /// Reads files given as name and bytes. A file that is no credential file is left out with a warning.
    pub fn read(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> (Self, Vec<FileWarning>) {
        let mut read = Vec::new();
        let mut warnings = Vec::new();
        for (origin, bytes) in files {
            match AuthFile::parse(&origin, &bytes) {
                Ok(file) => {
                    warnings.extend_from_slice(file.warnings());
                    read.push(file);
                }
                Err(error) => warnings.push(error.into()),
            }
        }
        (Self(read), warnings)
    }

    /// The source for a repository: the longest prefix of whole path segments wins, then the earlier file, then
    /// inside one file `auths` before `credHelpers`; a `credsStore` comes last.
    ///
    /// Spec: `OpenTofu` 1.12, ociauthconfig (specificity); containers-auth.json(5).
    pub fn choose(&self, repository: &RepositoryRef) -> Choice {
        let mut best: Option<(Fit, Choice)> = None;
        for file in &self.0 {
            for (fit, choice) in file.choices(repository) {
                if best.as_ref().is_none_or(|(other, _)| fit > *other) {
                    best = Some((fit, choice));
                }
            }
        }
        best.map_or(Choice::None, |(_, choice)| choice)
    }
}

impl AuthFile {
    /// The best of each kind, in the order that counts among equals.
    fn choices(&self, repository: &RepositoryRef) -> Vec<(Fit, Choice)> {
        let mut choices = Vec::new();
        if let Some((fit, entry)) = best(&self.auths, repository) {
            choices.push((
                fit,
                Choice::Found {
                    credential: entry.value.clone(),
                    origin: self.origin().to_owned(),
                    key: entry.text.clone(),
                },
            ));
        }
        // A helper knows registries only: keys with a path name none.
        if let Some((Fit::Prefix(0), entry)) = best(&self.helpers, repository) {
            choices.push((Fit::Prefix(0), self.helper(&entry.value, repository)));
        }
        if let Some(store) = &self.store {
            choices.push((Fit::Store, self.helper(store, repository)));
        }
        choices
    }

    fn helper(&self, name: &str, repository: &RepositoryRef) -> Choice {
        let registry = repository.registry();
        let (server, login_server) = if canonical(registry) == "docker.io" {
            ("https://index.docker.io/v1/".to_owned(), "https://index.docker.io/v1/".to_owned())
        } else {
            (format!("https://{registry}"), registry.to_owned())
        };
        Choice::Helper { name: name.to_owned(), server, login_server, origin: self.origin().to_owned() }
    }
}

/// The entry with the longest matching key; among equals one written exactly so, then the first.
fn best<'a, T>(entries: &'a [Entry<T>], repository: &RepositoryRef) -> Option<(Fit, &'a Entry<T>)> {
    let exact = |entry: &Entry<T>| entry.text.split('/').next() == Some(repository.registry());
    let mut best: Option<(usize, bool, &Entry<T>)> = None;
    for entry in entries {
        let Some(segments) = entry.key.matches(repository) else { continue };
        if best.is_none_or(|(most, other_exact, _)| (segments, exact(entry)) > (most, other_exact)) {
            best = Some((segments, exact(entry), entry));
        }
    }
    best.map(|(segments, _, entry)| (Fit::Prefix(segments), entry))
}
