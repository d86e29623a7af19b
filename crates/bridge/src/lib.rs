//! Releases out of plain repositories, served to Terraform and to every `OpenTofu`.
//!
//! ```text
//! request --routes--> address, version, platform       strict grammars; nothing else reaches a place
//!         --access--> may this client see the provider
//!         --Catalog--> ServedVersions, ServedRelease   joined, kept for a time, held, stale rather than an error
//!         --protocol--> JSON, SHA256SUMS               network mirror, provider registry
//!         --Packages--> PackageZip                     streamed and verified, a range of it, or made of an image
//! ```
//!
//! There is no state but the places themselves: any number of instances serve the same.

#![expect(clippy::result_large_err, reason = "errors are rare, and carry values for explanations")]

mod access;
mod base_url;
mod bridge;
mod catalog;
mod config;
mod counts;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod issued;
mod loopback;
mod packages;
mod page;
mod paths;
mod permits;
mod place_fault;
mod protocol;
mod refusal;
mod routes;
mod served;
mod served_address;
mod served_module;
mod server;
mod signing;

pub use access::{
    AccessError, Admitted, ClientAccess, ClientName, ClientRule, InvalidClientName, InvalidTokenDigest, KnownClient,
    LinkOptions, NewToken, TokenDigest,
};
pub use base_url::{BaseUrl, InvalidBaseUrl};
pub use bridge::{Bridge, BridgeSettings, HostService, OwnHost};
pub use catalog::{Catalog, CatalogOptions, ModuleCatalog};
pub use config::{
    AccessLog, AddressRange, BridgeConfig, BridgeConfigError, BridgeConfigProblem, CacheSettings, LinkSettings,
    PullRules, ServedModules, ServedProviders, ServerLimits, TlsFiles, WrittenPlace, listen_instead,
};
pub use issued::{IssuedCertificate, is_certificate_for};
pub use loopback::Loopback;
pub use packages::{PackageOptions, PackageZip, Packages, Visibility, ZipDelivery};
pub use refusal::{FailureReason, Refusal, RefusalCode, VersionAbsence, WithdrawnVersion};
pub use routes::router;
pub use served::{ListProviders, OfferedBy, OpenSource, ServedPackage, ServedPlace, ServedRelease, ServedVersions};
pub use served_address::ServedAddress;
pub use served_module::{ModuleLocations, OpenModules, ServedModule, ServedModulePlace};
pub use server::{AccessLogger, CertificateFault, ServeError, ServedSite, Server, ServerCertificates, ServerOptions};
pub use signing::{KeyFileError, ReleaseSums, SumsKey, SumsSigner, SumsZip, load_key, new_key};
