//! A real registry that runs as long as somebody holds it, with what a client needs to reach it.

use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;
use tofu_oci_testkit::{Auth, Bearer, Certificates, LoggedRequest, Login, RealMode, RealProgram, RealRegistry, Writes};
use tofu_oci_types::Digest;

use crate::failure::{ChoreResult, Doing};
use crate::paths;

/// A running registry; dropping it ends the registry and removes what was pushed.
pub(crate) struct Guard {
    registry: RealRegistry,
    ca_file: Option<PathBuf>,
    docker_config: Option<PathBuf>,
    _folder: TempDir,
}

impl Guard {
    /// Plain HTTP, no credentials.
    pub(crate) fn plain() -> ChoreResult<Self> {
        Self::start(RealMode::plain(), None)
    }

    /// Plain HTTP, no credentials, and what was pushed can be deleted.
    pub(crate) fn deletable() -> ChoreResult<Self> {
        Self::start(RealMode::deletable(), None)
    }

    /// TLS, and what was pushed can be deleted.
    pub(crate) fn deletable_over_tls() -> ChoreResult<Self> {
        Self::start(RealMode { writes: Writes::PushAndDelete, ..RealMode::tls() }, None)
    }

    /// Plain HTTP with a password file, and what was pushed can be deleted.
    pub(crate) fn deletable_with_password() -> ChoreResult<Self> {
        let mode = RealMode { writes: Writes::PushAndDelete, ..RealMode::htpasswd(login()) };
        Self::start(mode, Some(&login()))
    }

    /// Plain HTTP with a token server, and what was pushed can be deleted.
    pub(crate) fn deletable_with_tokens() -> ChoreResult<Self> {
        let mode = RealMode { writes: Writes::PushAndDelete, ..RealMode::token(Bearer::new(login())) };
        Self::start(mode, Some(&login()))
    }

    /// Plain HTTP, no credentials, of another registry than registry:2.
    pub(crate) fn of(program: RealProgram) -> ChoreResult<Self> {
        Self::start(RealMode::of(program), None)
    }

    /// TLS with a certificate of a new private authority.
    pub(crate) fn tls() -> ChoreResult<Self> {
        Self::start(RealMode::tls(), None)
    }

    /// Plain HTTP with a password file.
    pub(crate) fn htpasswd() -> ChoreResult<Self> {
        Self::start(RealMode::htpasswd(login()), Some(&login()))
    }

    /// Plain HTTP with a token server.
    pub(crate) fn token() -> ChoreResult<Self> {
        Self::start(RealMode::token(Bearer::new(login())), Some(&login()))
    }

    /// TLS and this kind of access control; who may log in, and how, is left to the caller.
    pub(crate) fn closed(auth: Auth) -> ChoreResult<Self> {
        Self::start(RealMode { auth, ..RealMode::tls() }, None)
    }

    /// Ends the registry; what a client needs to reach it stays, and so does its content.
    pub(crate) fn stop(&self) {
        self.registry.stop();
    }

    /// `127.0.0.1:PORT`.
    pub(crate) fn address(&self) -> &str {
        self.registry.address()
    }

    /// The authority to trust, as a file; `None` when the registry speaks plain HTTP.
    pub(crate) fn ca_file(&self) -> Option<&Path> {
        self.ca_file.as_deref()
    }

    /// The file of a blob.
    pub(crate) fn blob(&self, digest: &Digest) -> PathBuf {
        let hex = digest.encoded();
        self.registry.data().join("docker/registry/v2/blobs/sha256").join(&hex[..2]).join(hex).join("data")
    }

    /// The certificates, for another server that is to be trusted by the same authority; `None` for plain HTTP.
    pub(crate) fn certificates(&self) -> Option<&Certificates> {
        self.registry.certificates()
    }

    /// A `DOCKER_CONFIG` folder with the credentials; `None` when the registry asks for none.
    pub(crate) fn docker_config(&self) -> Option<&Path> {
        self.docker_config.as_deref()
    }

    /// The requests to its token server; empty without a token server.
    pub(crate) fn token_requests(&self) -> Vec<LoggedRequest> {
        self.registry.token_requests()
    }

    /// What it has written to its log so far: JSON lines.
    pub(crate) fn log(&self) -> String {
        self.registry.output()
    }

    fn start(mode: RealMode, login: Option<&Login>) -> ChoreResult<Self> {
        let registry = RealRegistry::start(mode).doing(|| "starting a registry".to_owned())?;
        let folder = tempfile::tempdir()?;
        let ca_file = registry.ca_pem().map(|pem| (folder.path().join("ca.pem"), pem));
        if let Some((file, pem)) = &ca_file {
            paths::write(file, pem)?;
        }
        let ca_file = ca_file.map(|(file, _)| file);
        let docker_config = login.map(|_| folder.path().join("docker"));
        if let (Some(config), Some(login)) = (&docker_config, login) {
            paths::write(&config.join("config.json"), credentials(registry.address(), login))?;
        }
        Ok(Self { registry, ca_file, docker_config, _folder: folder })
    }
}

fn login() -> Login {
    Login::new("tester", "secret")
}

/// A docker `config.json` with one login.
fn credentials(address: &str, login: &Login) -> String {
    let header = login.basic_header();
    let encoded = header.strip_prefix("Basic ").unwrap_or(&header);
    json!({"auths": {address: {"auth": encoded}}}).to_string()
}
