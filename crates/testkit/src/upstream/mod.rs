//! An upstream: what a provider's origin registry and a network mirror of it answer, over TLS.
//!
//! ```text
//! /.well-known/terraform.json                          {"providers.v1": "/v1/providers/"}
//! /v1/providers/NS/TYPE/versions                       versions with platforms and protocols; `warnings`
//! /v1/providers/NS/TYPE/VERSION/download/OS/ARCH       the download document
//! /files/NS/TYPE/VERSION/FILE                          the zips, SHA256SUMS, SHA256SUMS.sig
//! /mirror/HOST/NS/TYPE/index.json, VERSION.json, FILE  the same releases; every HOST is as good as another
//! ```
//!
//! ```text
//! let upstream = Upstream::start();
//! upstream.release("acme/widget", "1.4.0", &["linux_amd64", "darwin_arm64"]);
//! context.write("cli.tfrc", upstream.host_block("registry.example.test") + "provider_installation { direct {} }");
//! ```
//!
//! Specs: provider registry protocol; provider network mirror protocol.

mod documents;
mod releases;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::HeaderMap;
use bytes::Bytes;

use crate::certificates::Certificates;
use crate::fault::{Answer, Computed, RequestHead, Rule};
use crate::log::LoggedRequest;
use crate::openpgp_key::ScratchOpenPgpKey;
use crate::provider_zip::ProviderZip;
use crate::web::WebServer;
pub use releases::MirrorHashes;
use releases::UpstreamReleases;

/// A server on 127.0.0.1 with releases that can change while it runs.
#[derive(Debug)]
pub struct Upstream {
    web: WebServer,
    releases: Arc<Mutex<UpstreamReleases>>,
}

impl Upstream {
    /// One without releases, with a certificate of a new authority for `127.0.0.1`, `localhost` and `*.example.test`. The
    /// key of number 1 signs; URLs of files are relative; the mirror lists `h1:` and `zh:`.
    pub fn start() -> Self {
        Self::with_certificates(&Certificates::for_names(&["*.example.test"]))
    }

    /// One with this certificate, so that several servers can be trusted by one authority.
    pub fn with_certificates(certificates: &Certificates) -> Self {
        let releases = Arc::new(Mutex::new(UpstreamReleases::new()));
        let answering = Arc::clone(&releases);
        let pages = Computed::new(move |head, _| documents::answer(&lock(&answering), head));
        Self { web: WebServer::answering(certificates, pages), releases }
    }

    /// Publishes a version (`provider` reads `NAMESPACE/TYPE`) with a small package for each platform. A version that is
    /// there already is replaced: the same bytes again, and the packages of other platforms go.
    pub fn release(&self, provider: &str, version: &str, platforms: &[&str]) {
        let provider_type = provider.rsplit('/').next().unwrap_or_default();
        let package = |platform: &&str| ProviderZip::new(provider_type, version, platform).file("LICENSE", "MPL-2.0\n");
        self.releases().publish(provider, version, &platforms.iter().map(package).collect::<Vec<_>>());
    }

    /// Publishes a provider that has no version yet.
    pub fn provider(&self, provider: &str) {
        self.releases().provider_mut(provider);
    }

    /// Publishes one package of a version: for one more platform, or in place of the platform's bytes.
    pub fn package(&self, provider: &str, version: &str, package: &ProviderZip) {
        self.releases().add(provider, version, package);
    }

    /// Takes a version off all lists and documents.
    pub fn withdraw(&self, provider: &str, version: &str) {
        self.releases().withdraw(provider, version);
    }

    /// Warnings in the list of versions from here on.
    pub fn warn(&self, provider: &str, warnings: &[&str]) {
        self.releases().warn(provider, warnings);
    }

    /// Plugin protocols of all versions from here on; at first 6.0.
    pub fn protocols(&self, protocols: &[&str]) {
        self.releases().protocols = protocols.iter().map(ToString::to_string).collect();
    }

    /// Who signs `SHA256SUMS` from here on; at first the key of number 1.
    pub fn sign_with(&self, key: &ScratchOpenPgpKey) {
        self.releases().signer = key.clone();
    }

    /// The keys that download documents name from here on, whoever signs; at first that of number 1.
    pub fn name_keys(&self, keys: &[&ScratchOpenPgpKey]) {
        self.releases().named = keys.iter().map(|key| (*key).clone()).collect();
    }

    /// Which hashes the mirror lists from here on.
    pub fn list_hashes(&self, hashes: MirrorHashes) {
        self.releases().hashes = hashes;
    }

    /// From here on all URLs of files begin so, such as `https://files.example.test`; with the empty text they are relative.
    pub fn files_at(&self, origin: &str) {
        origin.clone_into(&mut self.releases().files_at);
    }

    /// The URL path of the mirror from here on, such as `/providers/`; at first `/mirror/`.
    pub fn mirror_at(&self, path: &str) {
        path.clone_into(&mut self.releases().mirror_at);
    }

    /// What a path without a query is answered now if no rule fires: to be damaged and given by a rule.
    pub fn page(&self, path: &str) -> Answer {
        let (method, query) = ("GET".to_owned(), String::new());
        let head = RequestHead { method, path: path.to_owned(), query, headers: HeaderMap::new() };
        documents::answer(&self.releases(), &head)
    }

    /// The zip of a package.
    ///
    /// # Panics
    /// If there is no such package.
    #[track_caller]
    pub fn zip(&self, provider: &str, version: &str, platform: &str) -> Bytes {
        self.releases().package(provider, version, platform).zip.clone()
    }

    /// `h1:` and `zh:` of a package.
    ///
    /// # Panics
    /// If there is no such package.
    #[track_caller]
    pub fn hashes(&self, provider: &str, version: &str, platform: &str) -> (String, String) {
        let releases = self.releases();
        let package = releases.package(provider, version, platform);
        (package.h1.clone(), package.zh.clone())
    }

    /// A `host` block that leads a CLI configuration from this host to the registry here, without discovery.
    pub fn host_block(&self, host: &str) -> String {
        let services = format!("{}/v1/providers/", self.web.origin());
        format!("host \"{host}\" {{\n  services = {{ \"providers.v1\" = \"{services}\" }}\n}}\n")
    }

    /// The `url` of a `network_mirror` block.
    pub fn mirror_url(&self) -> String {
        format!("{}{}", self.web.origin(), self.releases().mirror_at)
    }

    /// `127.0.0.1:PORT`, for a `Tunnel`.
    pub fn address(&self) -> &str {
        self.web.address()
    }

    /// `https://127.0.0.1:PORT`.
    pub fn origin(&self) -> &str {
        self.web.origin()
    }

    /// The certificate of the authority, in PEM.
    pub fn ca_pem(&self) -> &str {
        self.web.ca_pem().expect("it speaks TLS")
    }

    /// Adds a rule after the present ones. Other requests are answered as always.
    pub fn fault(&self, rule: Rule) {
        self.web.fault(rule);
    }

    /// Removes all rules.
    pub fn clear_faults(&self) {
        self.web.clear();
    }

    /// Everything that has arrived, in order.
    pub fn requests(&self) -> Vec<LoggedRequest> {
        self.web.requests()
    }

    /// The same as `METHOD /path -> status` lines.
    pub fn conversation(&self) -> Vec<String> {
        self.requests().iter().map(LoggedRequest::line).collect()
    }

    fn releases(&self) -> MutexGuard<'_, UpstreamReleases> {
        lock(&self.releases)
    }
}

fn lock(releases: &Mutex<UpstreamReleases>) -> MutexGuard<'_, UpstreamReleases> {
    releases.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
