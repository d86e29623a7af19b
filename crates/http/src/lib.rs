//! HTTP without any protocol on top: what every client of this program needs.
//!
//! ```text
//! WebClient    documents and files: any host, redirects by the rules of `AddressScope`
//!     |
//! HttpClient   get: attempts · redirects · a document within a limit          Download: a body that resumes by Range
//!     |        execute: one exchange     retry: the wait before the next attempt
//!     |
//! Connections  TLS, certificates, proxies      Resolver   names and how near they are
//! Shelf        connections that are made before a request needs them
//! Attempts     back-off, Retry-After           Pacing     what all requests to a host know of each other
//! BodyRate, Progress   bytes that come or go too slowly       SecretScrubber   what was sent, cut out of what comes back
//! ```
//!
//! # Rules
//! - A redirect never leads from HTTPS to plain HTTP, unless a digest protects the answer and the user names the host.
//! - A host names hosts that are as far away as itself or farther ([`AddressScope`]), in documents and redirects ([`HeldUrl`]).
//!   Names are held to that when a connection is made, and no connection that was made without that rule is used.
//! - Only time in which nothing, or too little, moves counts against a limit ([`HttpLimits`]).
//! - No error, event or log line carries a query, a user info, or anything that was sent as a secret.

mod address_scope;
mod ahead;
mod answer;
mod authorization;
mod body_rate;
mod clean;
mod client;
mod clock;
mod connect_ahead;
mod connections;
mod decoding;
mod download;
mod encodings;
mod held_url;
mod host_tokens;
mod leading;
mod limits;
mod named_hosts;
mod options;
mod pacing;
mod problem;
mod progress;
mod proxies;
mod recent;
mod redirect;
mod requester;
mod resolver;
mod retry;
mod secret_scrubber;
mod tls;
mod tls_probe;
mod waiting;
mod web;
mod web_download;

pub use address_scope::AddressScope;
pub use answer::{HttpAnswer, UnreadBody, is_cut_short, is_document};
pub use authorization::{authorization, bearer};
pub use clean::{clean, host_of, shown_url};
pub use client::{HttpClient, NoRetry, Setback};
pub use clock::{Clock, SystemClock};
pub use connections::NoAnswer;
pub use download::{BodySize, Download, Downloaded, RangeSource};
pub use held_url::HeldUrl;
pub use host_tokens::{HostTokenError, HostTokens};
pub use limits::{HttpLimits, shown_time};
pub use named_hosts::{NamedHosts, same_host};
pub use options::{ClientError, HttpOptions, Proxies, RetryPolicy};
pub use problem::NetworkProblem;
pub use progress::{Progress, metered};
pub use proxies::EnvironmentProxies;
pub use recent::RecentMap;
pub use redirect::{
    MAX_REDIRECTS, PlainRule, Protection, RedirectFault, is_loopback, named_address, next_hop, same_origin,
};
pub use requester::{HttpRequest, Requester, TimeLimit, WebFault};
pub use resolver::{NameService, NamedHost, SystemNames};
pub use retry::{Attempts, RetryAfter, is_transient, jittered, random};
pub use secret_scrubber::SecretScrubber;
pub use tls_probe::speaks_tls;
pub use web::{WebClient, WebError, WebRequest};
pub use web_download::WebDownload;
