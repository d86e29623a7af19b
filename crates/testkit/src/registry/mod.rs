//! An in-process registry on 127.0.0.1, in its own thread: usable from sync and async tests alike.
//!
//! ```text
//! request -> log -> faults (before) -> auth -> routes -> RegistryContent -> faults (after) -> answer
//! ```
//!
//! It behaves like registry:2 unless [`Behaviour`] says otherwise. It is not made for speed or for large packages:
//! everything is in memory.

mod auth;
mod behaviour;
mod blobs;
mod connection;
pub(crate) mod content;
mod conversation;
pub(crate) mod endpoint;
mod image_layout;
mod manifests;
mod profiles;
pub(crate) mod query;
mod routes;
pub(crate) mod server;
mod uploads;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tofu_oci_types::{Descriptor, Digest};

pub use auth::{Anonymous, Auth, Bearer, Login, Rights, TokenAddress, TokenField};
pub use behaviour::{
    Behaviour, Chunks, Deletion, ListedType, Location, Mounting, Paging, ReferrersSupport, RefusalAnswer,
    RepositoryNames, Switch, Tags, Types,
};
pub use profiles::{Profile, profiles};

use crate::certificates::{Certificates, ClientCertificate, Validity};
use crate::fault::{Rule, RuleList, glob};
use crate::log::{Log, LoggedRequest};
use crate::referrer::Referrer;
use auth::NeededAccess;
pub(crate) use auth::{AuthState, SERVICE};
use content::{RegistryContent, StoredManifest};
use endpoint::{Endpoint, Role};
use server::{ServerThread, bind};

/// What a registry is to be; see [`Registry::builder`].
#[derive(Debug)]
pub struct RegistryBuilder {
    tls: Option<ClientCertificate>,
    validity: Validity,
    auth: Auth,
    behaviour: Behaviour,
}

impl RegistryBuilder {
    /// Speaks TLS with a certificate of a new private authority ([`Registry::ca_pem`]).
    #[must_use]
    pub fn tls(mut self, clients: ClientCertificate) -> Self {
        self.tls = Some(clients);
        self
    }

    /// With [`RegistryBuilder::tls`], its certificate is valid then.
    #[must_use]
    pub fn validity(mut self, validity: Validity) -> Self {
        self.validity = validity;
        self
    }

    /// Asks for credentials.
    #[must_use]
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }

    /// Behaves otherwise than registry:2.
    #[must_use]
    pub fn behaviour(mut self, behaviour: Behaviour) -> Self {
        self.behaviour = behaviour;
        self
    }

    /// Starts it; it accepts connections when this returns.
    pub fn start(self) -> Registry {
        let certificates = self.tls.map(|clients| (Certificates::valid(&[], self.validity), clients));
        let scheme = if certificates.is_some() { "https" } else { "http" };
        let (socket, address) = bind();
        let origin = format!("{scheme}://{address}");
        let own = match &self.auth {
            Auth::Bearer(bearer) if bearer.address.is_own() => Some((bind(), &bearer.address)),
            _ => None,
        };
        let token_origin = own.as_ref().map(|((_, address), token)| token.origin(scheme, *address));
        let token_socket = own.map(|(bound, _)| bound);
        let realm = match &self.auth {
            Auth::Bearer(Bearer { address: TokenAddress::Given(realm), .. }) => realm.clone(),
            auth => format!("{}{}", token_origin.as_deref().unwrap_or(&origin), auth.token_path()),
        };

        let endpoint = Arc::new(Endpoint {
            role: Role::Registry,
            origin: origin.clone(),
            content: RegistryContent::default(),
            behaviour: Arc::new(Mutex::new(self.behaviour)),
            auth: Arc::new(AuthState::new(self.auth, realm)),
            log: Log::default(),
            rules: RuleList::default(),
        });
        let token_endpoint = Arc::new(Endpoint {
            role: Role::Token,
            origin: token_origin.unwrap_or(origin),
            content: RegistryContent::default(),
            behaviour: Arc::clone(&endpoint.behaviour),
            auth: Arc::clone(&endpoint.auth),
            log: Log::default(),
            rules: RuleList::default(),
        });
        let mut listeners = vec![(socket, Arc::clone(&endpoint))];
        listeners.extend(token_socket.map(|(socket, _)| (socket, Arc::clone(&token_endpoint))));
        let tls = certificates.as_ref().map(|(certificates, clients)| certificates.server_config(*clients));
        let server = ServerThread::start(listeners, tls.as_ref());
        Registry { endpoint, token_endpoint, certificates: certificates.map(|(made, _)| made), _server: server }
    }
}

/// A running registry; dropped, it stops and all its connections end.
#[derive(Debug)]
pub struct Registry {
    endpoint: Arc<Endpoint>,
    token_endpoint: Arc<Endpoint>,
    certificates: Option<Certificates>,
    _server: ServerThread,
}

impl Registry {
    /// Plain HTTP, no credentials, like registry:2, unless a method below changes it.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder { tls: None, validity: Validity::Now, auth: Auth::None, behaviour: Behaviour::default() }
    }

    /// The builder's defaults, started.
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        self.endpoint.origin.split_once("://").map_or("", |(_, address)| address)
    }

    /// `http://127.0.0.1:PORT` or `https://…`.
    pub fn url(&self) -> &str {
        &self.endpoint.origin
    }

    /// `127.0.0.1:PORT` of the token endpoint; the registry's own unless it has its own listener.
    pub fn token_address(&self) -> &str {
        self.token_endpoint.origin.split_once("://").map_or("", |(_, address)| address)
    }

    /// The authority to trust; `None` when it speaks plain HTTP.
    pub fn ca_pem(&self) -> Option<&str> {
        self.certificates.as_ref().map(Certificates::ca_pem)
    }

    /// A client certificate with its key that it accepts; `None` when it speaks plain HTTP.
    pub fn client_identity_pem(&self) -> Option<&str> {
        self.certificates.as_ref().map(Certificates::client_identity_pem)
    }

    pub(crate) fn certificates(&self) -> Option<&Certificates> {
        self.certificates.as_ref()
    }

    pub(crate) fn endpoint(&self) -> &Arc<Endpoint> {
        &self.endpoint
    }

    /// Adds a rule after the present ones; the first that matches fires.
    pub fn fault(&self, rule: Rule) {
        self.endpoint.rules.add(rule);
    }

    /// Adds a rule to the token endpoint's own listener.
    pub fn token_fault(&self, rule: Rule) {
        self.token_endpoint.rules.add(rule);
    }

    /// Behaves well again.
    pub fn clear_faults(&self) {
        self.endpoint.rules.clear();
        self.token_endpoint.rules.clear();
    }

    /// Another behaviour from the next request on.
    pub fn set_behaviour(&self, behaviour: Behaviour) {
        *self.endpoint.behaviour.lock().unwrap_or_else(PoisonError::into_inner) = behaviour;
    }

    /// Everything that has arrived, in order; calls of `/token` on the same port included.
    pub fn requests(&self) -> Vec<LoggedRequest> {
        self.endpoint.log.requests()
    }

    /// The requests with this method (`*` for any) and a path that fits the pattern (`*` any characters).
    pub fn requests_to(&self, method: &str, path: &str) -> Vec<LoggedRequest> {
        let fits = |request: &LoggedRequest| (method == "*" || request.method == method) && glob(path, &request.path);
        self.requests().into_iter().filter(fits).collect()
    }

    /// The calls of the token endpoint, wherever it is.
    pub fn token_requests(&self) -> Vec<LoggedRequest> {
        let mut calls = self.requests_to("*", self.endpoint.auth.token_path());
        calls.extend(self.token_endpoint.log.requests());
        calls
    }

    /// Forgets the requests so far.
    pub fn clear_requests(&self) {
        self.endpoint.log.clear();
        self.token_endpoint.log.clear();
    }

    /// Refuses all tokens given out so far.
    pub fn expire_tokens(&self) {
        self.endpoint.auth.expire_tokens();
    }

    /// A token that is accepted for these scopes (`repository:NAME:pull,push`) for an hour.
    pub fn issue_token(&self, scopes: &[&str]) -> String {
        let access = scopes.iter().map(|scope| NeededAccess::parse(scope).expect("a scope reads TYPE:NAME:ACTIONS"));
        self.endpoint.auth.issue(access.collect(), Duration::from_hours(1))
    }

    /// A refresh token (identity token) of a user.
    pub fn issue_refresh_token(&self, username: &str) -> String {
        self.endpoint.auth.issue_refresh(username)
    }

    /// Makes a repository, or the project or group that it lies in, as its owner does before a push where the registry
    /// wants it.
    pub fn create(&self, name: &str) {
        self.endpoint.content.lock().made.insert(name.to_owned());
    }

    /// Stores a blob without a request.
    pub fn put_blob(&self, repository: &str, bytes: impl Into<Bytes>) -> Digest {
        let bytes = bytes.into();
        let digest = Digest::sha256(&bytes);
        self.put_blob_as(repository, &digest, bytes);
        digest
    }

    /// Stores bytes under a digest that need not be theirs.
    pub fn put_blob_as(&self, repository: &str, digest: &Digest, bytes: impl Into<Bytes>) {
        self.endpoint.content.lock().repository(repository).blobs.insert(digest.to_string(), bytes.into());
    }

    /// Stores a manifest without a request and without any check.
    pub fn put_manifest(&self, repository: &str, media_type: &str, bytes: impl Into<Bytes>) -> Digest {
        let bytes = bytes.into();
        let digest = Digest::sha256(&bytes);
        let manifest = StoredManifest { media_type: media_type.to_owned(), bytes };
        self.endpoint.content.lock().repository(repository).manifests.insert(digest.to_string(), manifest);
        digest
    }

    /// Stores what refers to a manifest, and lists it: under the tag of the referrers tag schema if this
    /// registry has no referrers API.
    pub fn put_referrer(&self, repository: &str, referrer: &Referrer) -> Digest {
        for (_, bytes) in referrer.blobs() {
            self.put_blob(repository, bytes);
        }
        let bytes = referrer.manifest();
        let read: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let digest = self.put_manifest(repository, "application/vnd.oci.image.manifest.v1+json", bytes);
        let has_api = {
            let behaviour = self.endpoint.behaviour.lock().unwrap_or_else(PoisonError::into_inner);
            matches!(behaviour.referrers, ReferrersSupport::Supported | ReferrersSupport::WithoutSubjectHeader)
        };
        if let Some(subject) = read["subject"]["digest"].as_str().filter(|_| !has_api) {
            self.put_standing_in(repository, &subject.replace(':', "-"), &[referrer.descriptor()]);
        }
        digest
    }

    /// Adds entries to the index under a tag of the referrers tag schema.
    pub fn put_standing_in(&self, repository: &str, tag: &str, entries: &[Descriptor]) {
        const INDEX: &str = "application/vnd.oci.image.index.v1+json";
        let before = self.manifest(repository, tag).and_then(|(_, bytes)| serde_json::from_slice(&bytes).ok());
        let mut index: serde_json::Value =
            before.unwrap_or_else(|| serde_json::json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": []}));
        if let Some(listed) = index["manifests"].as_array_mut() {
            listed.extend(entries.iter().map(|entry| serde_json::json!(entry)));
        }
        let digest = self.put_manifest(repository, INDEX, index.to_string());
        self.put_tag(repository, tag, &digest);
    }

    /// Points a tag at a digest, which need not be there.
    pub fn put_tag(&self, repository: &str, tag: &str, digest: &Digest) {
        self.endpoint.content.lock().repository(repository).tags.insert(tag.to_owned(), digest.to_string());
    }

    /// Removes a tag, leaving what it points to.
    pub fn remove_tag(&self, repository: &str, tag: &str) {
        self.endpoint.content.lock().repository(repository).tags.remove(tag);
    }

    /// Stores an OCI image layout folder as a repository, byte for byte and unchecked, broken as it may be.
    ///
    /// A manifest's media type is that of its entry in `index.json`, else the one in its own body, else the OCI
    /// image manifest's.
    pub fn put_layout(&self, repository: &str, folder: &Path) {
        image_layout::load(&mut self.endpoint.content.lock(), repository, folder);
    }

    /// A stored blob.
    pub fn blob(&self, repository: &str, digest: &Digest) -> Option<Bytes> {
        self.endpoint.content.lock().blob(repository, digest.as_str())
    }

    /// Media type and bytes of a manifest, by tag or digest.
    pub fn manifest(&self, repository: &str, reference: &str) -> Option<(String, Bytes)> {
        let (_, manifest) = self.endpoint.content.lock().manifest(repository, reference)?;
        Some((manifest.media_type, manifest.bytes))
    }

    /// All tags, sorted, each with its digest.
    pub fn tags(&self, repository: &str) -> Vec<(String, String)> {
        let content = self.endpoint.content.lock();
        let tags = content.repositories.get(repository).map(|repository| repository.tags.clone());
        tags.unwrap_or_default().into_iter().collect()
    }

    /// The digests of all blobs and manifests of a repository, sorted.
    pub fn digests(&self, repository: &str) -> Vec<String> {
        let content = self.endpoint.content.lock();
        let Some(repository) = content.repositories.get(repository) else { return Vec::new() };
        let mut all: Vec<String> = repository.blobs.keys().chain(repository.manifests.keys()).cloned().collect();
        all.sort();
        all.dedup();
        all
    }

    /// Removes a blob or manifest, leaving everything that points to it.
    pub fn remove(&self, repository: &str, digest: &Digest) {
        let mut content = self.endpoint.content.lock();
        let repository = content.repository(repository);
        repository.blobs.remove(digest.as_str());
        repository.manifests.remove(digest.as_str());
    }
}
