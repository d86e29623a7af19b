//! A registry as a store: the OCI distribution protocol over HTTP.
//!
//! [`RegistryClient`] holds what all repositories share (connections, tokens, what was learned about hosts);
//! [`RemoteStore`] is one repository of it and implements the seams of `store`. Nothing here knows what a provider is.
//!
//! ```text
//! RemoteStore   manifests · blobs (download, upload) · tags · referrers
//!      |
//! Transport     one request: attempts, redirects by our own rules, re-authentication, warnings
//!      |            |               |
//!   Hosts        Authority       RetryPolicy
//!   which scheme challenges,     backoff, Retry-After
//!   a host       tokens
//! ```
//!
//! # How access comes about
//! The first request to a repository goes out bare; nothing is asked beforehand. A 401 is answered once its challenge has
//! passed the rules: the first one of a known scheme counts, whatever line it is in, and no other is tried when it is
//! refused. What was learned is kept for this repository alone. A token is asked for with the scopes that the request
//! needs and those that the registry names; one request at a time asks, the others wait for it. A token that dies, at
//! whatever point of a transfer, costs one new token and one repetition: a download goes on where it was, an upload sends
//! what the registry does not have. [`Witness`] is told each step.
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
//! a redirect or an upload location to another origin, and a token server that redirects a login is not followed there
//! without it either. No error, event or log line carries a query, a user info, or anything that was sent as a secret.
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
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod hosts;
mod http;
mod limits;
mod link;
mod manifest;
mod options;
mod origin;
mod probe;
mod raw;
mod referrers;
mod refresh;
mod refusal;
mod retry;
mod scope;
mod store;
mod tags;
mod tls_probe;
mod token;
mod token_answer;
mod told;
mod transport;
mod unverified;
mod upload;
mod way;
mod web;
mod witness;

pub use client::{ClientError, RegistryClient};
pub use limits::Limits;
pub use options::{
    ChunkMode, ClientOptions, Clock, CredentialFault, CredentialProvider, NoCredentials, Proxies, RetryPolicy,
    SystemClock,
};
pub use probe::{LoginCheck, Ping, Probe, Want};
pub use raw::{RawAnswer, RawLocation, RawMethod, RawRequest, RawStore, RawTarget};
pub use store::{Freshness, RemoteStore};
pub use web::{WebAnswer, WebClient, WebError, WebFault, WebRequest};
pub use witness::{Exchange, Shown, TokenOutcome, Witness};
