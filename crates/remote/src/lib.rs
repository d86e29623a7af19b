//! A registry as a store: the OCI distribution protocol over HTTP.
//!
//! [`RegistryClient`] holds what all repositories share (connections, tokens, what was learned about hosts);
//! [`RemoteStore`] is one repository of it and implements the seams of `store`. Nothing here knows what a provider is.
//!
//! ```text
//! RemoteStore   manifests · blobs (download, upload) · tags · referrers
//!      |
//! Transport     one request: attempts, redirects by our own rules, one re-authentication, warnings
//!      |            |               |
//!   Hosts        Authority       RetryPolicy
//!   which scheme challenges,     backoff, Retry-After
//!   a host       tokens
//! ```
//!
//! # How many requests an upload takes
//! A new blob costs two (open a session, send the bytes), one that is there costs one. A plain `HEAD` cannot give
//! both, so the opening `POST` also asks the registry to mount the blob *from the repository itself*: 201 says that it
//! is there, 202 opens the session that the `PUT` needs anyway. A registry may answer 202 to every mount, and then a
//! blob that is there would be sent again, so this form is used only
//! - once the registry has been seen to answer it with 201 (checked with a blob that was just uploaded), or
//! - while the repository is known to list no tags: nothing but the leftovers of an interrupted push can be there.
//!
//! Otherwise the blob is asked for with `HEAD` first: one request when it is there, three when it is not. What this
//! store has uploaded itself is remembered and costs nothing. The repository's freshness is learned from
//! [`tofu_oci_store::ReadStore::tags`] or told by [`RemoteStore::with_freshness`].
//!
//! # What is never done
//! Credentials go to the registry's own origin and to a realm that passes the rules of [`ClientOptions`]; never along
//! a redirect or an upload location to another origin. No error, event or log line carries a query or a user info.
//! Descriptors' `urls` are not followed. Bytes are never believed: size and digest are checked by the reader.

mod answer;
mod authority;
mod body;
mod call;
mod challenge;
mod chunked;
mod clean;
mod client;
mod download;
mod hosts;
mod http;
mod link;
mod manifest;
mod options;
mod origin;
mod probe;
mod referrers;
mod refresh;
mod retry;
mod scope;
mod store;
mod tags;
mod tls_probe;
mod token;
mod token_answer;
mod told;
mod transport;
mod upload;
mod way;
mod web;
mod witness;

pub use client::{ClientError, RegistryClient};
pub use options::{
    ChunkMode, ClientOptions, Clock, CredentialFault, CredentialProvider, NoCredentials, Proxies, RetryPolicy,
    SystemClock, Timeouts,
};
pub use probe::{LoginCheck, Ping, Probe, Want};
pub use store::{Freshness, RemoteStore};
pub use web::{WebAnswer, WebClient, WebError, WebFault, WebRequest};
pub use witness::{Exchange, Shown, TokenOutcome, Witness};
