//! Test support: an in-process registry with faults, fixtures and a test context.
//!
//! ```text
//! Registry       a registry on 127.0.0.1 in its own thread; like registry:2 unless `Behaviour` says otherwise
//!   Auth         none, Basic, or Bearer with a token endpoint of its own
//!   Profile      ghcr.io, ECR, GitLab and others, each as `Behaviour` and `Auth`
//!   Rule, Fault  scripted misbehaviour: the first rule that matches a request fires
//!   BlobHost     "the other host" of cloud registries; refuses a request that carries Authorization
//!   MockAuth     a registry, its token servers and the hosts that they redirect to, under any names, by a script
//!   WebServer    HTTPS documents of any kind;  Tunnel  a proxy that makes host names of them
//!   requests()   what arrived: method, path, headers, body bytes, status
//! Upstream       an origin registry and a network mirror of signed releases, over TLS;  ScratchOpenPgpKey  who signs them
//! Referrer       signatures and checksums beside a release, good and broken
//! LocalSigstore  who signs with certificates;  SigstoreServer  the same for programs that ask over HTTP
//! RealRegistry   Debian's docker-registry in a temp folder, in the modes that matter; distribution 3 and zot plainly
//! HookedStore    a store that passes everything on, except what a `StoreHook` of the test does
//! ProviderZip    deterministic provider packages;  ReleaseFolder  release folders made of them
//! TestContext    a temp folder and a fixed environment in which the built program runs
//! PageStep       what a page of the documents tells its reader to type, and what that prints
//! ```
//!
//! A development dependency only. It panics with a message if a test cannot go on; product code never does.

mod blob_host;
mod certificates;
mod context;
mod dist;
mod fault;
mod filters;
mod gate;
mod hooked_store;
mod line;
mod log;
mod mock_auth;
mod openpgp_key;
mod page_steps;
mod provider_zip;
mod ranges;
mod real;
mod referrer;
mod registry;
mod rounds;
mod signer;
mod sigstore;
mod tuf;
mod tunnel;
mod upstream;
mod web;

pub use blob_host::BlobHost;
pub use certificates::{Certificates, ClientCertificate, Validity};
pub use context::{RunOutput, TestContext};
pub use dist::ReleaseFolder;
pub use fault::{Answer, Computed, Fault, Length, RequestHead, Rule};
pub use filters::Filters;
pub use gate::Gate;
pub use hooked_store::{HookedStore, StoreHook};
pub use line::{DelayedLine, NearEnd};
pub use log::LoggedRequest;
pub use mock_auth::{
    Arrival, ArrivalKind, MockAuth, MockReleases, MockScheme, MockScript, MockSite, ShownLogin, TokenScript,
};
pub use openpgp_key::ScratchOpenPgpKey;
pub use page_steps::{PageStep, page_steps, shows};
pub use provider_zip::ProviderZip;
pub use real::{RealMode, RealProgram, RealRegistry, RealTransport, Writes};
pub use referrer::{Inline, Referrer};
pub use registry::{
    Anonymous, Auth, Bearer, Behaviour, Chunks, Deletion, ListedType, Location, Login, Mounting, Paging, Profile,
    ReferrersSupport, RefusalAnswer, Registry, RegistryBuilder, RepositoryNames, Rights, Switch, Tags, TokenAddress,
    TokenField, Types, profiles,
};
pub use rounds::{Round, Rounds};
pub use sigstore::{BuiltBy, LocalSigstore, SigstoreServer, Witness};
pub use tuf::tuf_repository;
pub use tunnel::Tunnel;
pub use upstream::{MirrorHashes, Upstream};
pub use web::WebServer;
