//! A registry as a store: the OCI distribution protocol over HTTP.
//!
//! [`RegistryClient`] holds what all repositories share (connections, tokens, what was learned about hosts);
//! [`RemoteStore`] is one repository of it and implements the seams of `store`. Nothing here knows what a provider is.
//!
//! ```text
//! RemoteStore       manifests · blobs (download, upload) · tags · referrers
//!      |
//! RegistryClient    send: attempts, redirects, re-authentication, warnings        document: a whole body
//!      |            |
//!      |        Authorizer   challenges, tokens, credentials: one for each repository
//!      |            |
//! RegistryNetwork   Hosts (which scheme a host speaks) · what observes exchanges
//!      |
//! http              one exchange, waits, downloads that resume, tokens' requests
//! ```
//!
//! # How access comes about
//! The first request to a repository goes out bare; nothing is asked beforehand. A 401 is answered if its challenge
//! passes the rules: the first one of a known scheme counts, whatever line it is in, and no other is tried if it is
//! refused. What was learned is kept for this repository alone. A token is asked for with the scopes that the request
//! needs and those that the registry names; one request at a time asks, the others wait for it. A token that expires, at
//! whatever point of a transfer, costs one new token and one repetition: a download goes on where it was, an upload sends
//! what the registry does not have. [`ExchangeObserver`] sees each step.
//!
//! # How many requests an upload takes
//! A blob that is there costs one request, a new one three: `HEAD`, open a session, send the bytes. Nothing is written that
//! is there: a registry on a file system rewrites its links with every write, and a reader in that moment is answered that
//! content is damaged or missing. For the same reason no blob is mounted from its own repository, although that takes one
//! request less. What this store has uploaded itself is remembered and costs nothing. `moment` distinguishes such answers
//! from lasting ones.
//!
//! Into a repository that did not exist when its tags were listed, manifests and small blobs are written without a `HEAD`, until this
//! store writes the tag of a version: before that there are no readers. Large blobs too, once this store has put the tag `first-seen`
//! there: an interrupted `push` leaves no tag, and its large blobs are not sent again. A manifest whose digest the registry has
//! named in its answer is neither asked for nor read back by the store that wrote it.
//!
//! # Lists of referrers without the API
//! If a registry has no referrers API, a tag lists the referrers, and each writer replaces the whole list. In this
//! program one task at a time writes a list; what other programs overwrite is written again (`referrers_tag`). It is read once
//! before it is written, and once after a wait.
//!
//! # What is never done
//! Credentials go to the registry's own origin and to a realm that passes the rules of [`ClientOptions`]; never along
//! a redirect or an upload location to another origin, and a token server that redirects a login is not followed there
//! without it either. No error, event or log line carries a query, a user info, or anything that was sent as a secret.
//! Descriptors' `urls` are not followed. Bytes are never believed: the reader checks size and digest.

mod access_memory;
mod ahead;
mod answer;
mod auth_scheme;
mod authority;
mod blob;
mod body;
mod call;
mod challenge;
mod chunked;
mod client;
mod credential;
mod document;
mod exchange;
mod fault;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod hosts;
mod known_credential;
mod link;
mod manifest;
mod manifest_writing;
mod moment;
mod network;
mod options;
mod probe;
mod raw;
mod realm;
mod referrer_list;
mod referrers;
mod referrers_tag;
mod refresh;
mod refusal;
mod repository;
mod scope;
mod session;
mod site;

mod store;
mod tagging;
mod tags;
mod token;
mod token_answer;
mod token_exchange;
mod token_request;
mod tombstone;
mod transport;
mod untagging;
mod unverified;
mod upload;
mod words;

pub use client::RegistryClient;
pub use credential::{CredentialFault, CredentialProvider, NoCredentials};
pub use exchange::{Exchange, ExchangeObserver, ShownCredential, TokenOutcome};
pub use options::{ChunkMode, ClientOptions};
pub use probe::{AccessKind, LoginCheck, Probe, RegistryPing};
pub use raw::{RawAnswer, RawLocation, RawMethod, RawRequest, RawStore, RawTarget};
pub use repository::RemoteStore;
pub use tombstone::is_tombstone;
