//! The words of the domain.
//!
//! Every other crate uses these types. Raw text stops here: each newtype has [`std::str::FromStr`],
//! [`std::fmt::Display`], serde through both, and an error that quotes the input. This crate touches no file, socket or
//! clock.
//!
//! ```text
//! provider address  registry.example.test/acme/widget     ProviderAddr (Hostname, namespace, type)
//! module source     acme/network/aws, oci://ghcr.io/…       ModuleSource, ModuleAddr, OciModuleSource
//! version           1.4.0-rc.1+build.2                     Version, Constraints
//! pattern           registry.example.test/acme/*           Pattern
//! platform          linux_amd64                            Platform
//! one address       HOST=PREDECESSOR                       Predecessors
//! repository        ghcr.io/acme/opentofu-provider-widget  RepositoryRef
//! registry          ghcr.io, localhost:5000               RegistryHost
//! place             HOST/NAME, oci:DIR, HOST, …           Place
//! release, as typed ADDR@VERSION, REPOSITORY:VERSION   ReleaseName
//! tag, digest       1.4.0 / sha256:…                       Tag, Digest, Reference
//! what is signed    an index, a SHA256SUMS               Identity
//! descriptor        {mediaType, digest, size, …}           Descriptor
//! checksum          h1:… zh:… ch:…                         PackageHash
//! what happens      one line of progress or a warning      Event, Reporter
//! foreign text      safe to show                           printable
//! secret            a text that is never printed           Secret
//! network           why no answer came                     NetworkFault
//! ```
//!
//! # Words that no type here explains
//!
//! - **release**: one version of a provider at one place; in a repository an index with its leaves
//! - **leaf**: the manifest of one platform's package
//! - **package**: the files of a provider for one platform, as a zip, image layers or a folder; of a module, its files
//! - **small layer**: a package as tar in Zstandard, beside the zip in its leaf
//! - **offer**: what a release would give for a platform; data, no bytes yet
//! - **canonical tag**: the version with `+` written `_`, the only tag that is ever written; a **stray tag** is one that
//!   `OpenTofu` reads as a version although it is not canonical, such as `2` or `1.4`
//! - **origin registry**: what the host of an address publishes as `providers.v1`
//! - **upstream**: where a place gets what it lacks; a **pull-through** is a place with one
//! - **bundle**: one tar file, whole or in parts, with an image layout of several repositories
//! - **evidence**: bytes beside a release that may speak for it, not yet believed; the **verdict** is what they come to under the
//!   policy and the pins, and what it **covers** may be recorded without a look at the packages
//! - **pin**: what a working directory remembers of a release: its digest at its place, who had signed it, its contents
//! - **notice**: what the publisher says of a release later: deprecated, withdrawn, available again
//! - **tombstone**: a manifest without content that takes the place of a release under a tag until both are deleted
//! - **sighting**: when a mirror first saw a version, and whether the mirror put it where it is
//! - **candidate**: a block, entry or helper that could give a repository's credential, with what it has to say
//! - **measured release**: a release of `OpenTofu` whose reading of configuration files was measured

extern crate self as tofu_oci_types; // for `#[derive(Fault)]`

mod address;
mod advice;
mod byte_size;
mod constraint;
mod descriptor;
mod digest;
mod event;
mod fault;
mod file_name;
mod go_names;
mod hash;
mod hostname;
mod human_bytes;
mod identity;
mod idn;
mod idn_newer;
mod json;
mod mask;
mod module;
mod moment;
mod network;
mod pattern;
mod place;
mod platform;
mod predecessors;
mod prefix;
mod printable;
mod registry_host;
mod release_name;
mod repository;
mod secret;
mod strict_json;
mod tag;
#[cfg(test)]
mod tests;
mod text_position;
mod text_value;
mod tofu_release;
mod token;
mod version;

pub use address::{InvalidProviderAddr, ProviderAddr};
pub use advice::{SHOWN, quoted, versions_in_words};
pub use byte_size::{ByteSize, InvalidByteSize};
pub use constraint::{Constraints, InvalidConstraints};
pub use descriptor::{Descriptor, OciPlatform};
pub use digest::{Algorithm, Digest, DigestHasher, InvalidDigest};
pub use event::{Counter, Event, Level, NoReporter, Reporter, WorkUnit};
pub use fault::{Fault, FaultEnd, FaultRow, RUN};
pub use file_name::{ZipName, sums_name, zip_name};
pub use go_names::{is_known_to_go, platforms_of_build};
pub use hash::{InvalidPackageHash, PackageHash, Scheme};
pub use hostname::{Hostname, InvalidHostname};
pub use human_bytes::human_bytes;
pub use identity::Identity;
pub use json::{JsonFault, JsonKind, JsonMember, JsonString, JsonValue};
pub use mask::{login_end, masked, masked_user, without_link, without_logins};
pub use module::{
    GitModuleSource, GitReference, GitTransport, InvalidGitModuleSource, InvalidModuleAddr, InvalidModuleName,
    InvalidModulePattern, InvalidModuleSource, InvalidOciModuleSource, InvalidSubdir, LocalModulePath, ModuleAddr,
    ModuleName, ModulePattern, ModuleSource, OciModuleSource, OtherModuleSource, Subdir,
};
pub use moment::{InvalidMoment, Moment};
pub use network::NetworkFault;
pub use pattern::{InvalidPattern, Pattern};
pub use place::Place;
pub use platform::{InvalidPlatform, Platform};
pub use predecessors::{InvalidPredecessor, Predecessor, Predecessors};
pub use prefix::{RepositoryPrefix, parse_prefix};
pub use printable::{is_unprintable, printable};
pub use registry_host::{DOCKER_HUB_NAMES, InvalidRegistryHost, RegistryHost};
pub use release_name::{InvalidReleaseName, ReleaseName};
pub use repository::{InvalidRepositoryRef, RepositoryRef};
pub use secret::Secret;
pub use strict_json::{StrictJsonError, parse_strictly};
pub use tag::{InvalidTag, Reference, Tag};
pub use text_position::TextPosition;
pub use text_value::{PathText, path_as_text};
pub use tofu_release::{TofuRelease, TofuReleases};
pub use version::{InvalidVersion, Version};
