//! Why a path names nothing that is served.

use http::StatusCode;
use tofu_oci_types::{
    Hostname, InvalidHostname, InvalidModuleAddr, InvalidPlatform, InvalidProviderAddr, InvalidVersion, Version,
};

use crate::BridgeSettings;
use crate::paths::mix_up::MixUp;
use crate::paths::request_path::{MAX_SEGMENT, PathFault};

/// Why a path names nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RouteFault {
    Path(PathFault),
    Hostname(InvalidHostname),
    NotAscii { part: String },
    Address(InvalidProviderAddr),
    Module(InvalidModuleAddr),
    Version(InvalidVersion),
    VersionSpelling { written: String, version: Version },
    Platform(InvalidPlatform),
    MixUp(MixUp),
}

impl RouteFault {
    /// What the request is answered with.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Path(PathFault::TooLong | PathFault::SegmentTooLong) => StatusCode::URI_TOO_LONG,
            Self::MixUp(mix_up) => mix_up.status(),
            _ => StatusCode::BAD_REQUEST,
        }
    }

    /// Its stable name in the log, since clients print the status alone; `None` for a path of no protocol.
    pub(crate) fn code(&self) -> Option<&'static str> {
        match self {
            Self::MixUp(MixUp::Unknown) => None,
            Self::MixUp(_) => Some("wrong-address"),
            _ => Some("malformed-address"),
        }
    }

    /// What is wrong, and what to write instead.
    pub(crate) fn sentence(&self, settings: &BridgeSettings) -> String {
        match self {
            Self::Path(fault) => fault.to_string(),
            Self::Hostname(error) => error.to_string(),
            Self::NotAscii { part } => format!(
                "`{part}` is not ASCII: the RFC of OCI provider installation allows only ASCII in namespaces and types, \
                 because names of repositories are ASCII"
            ),
            Self::Address(error) => error.to_string(),
            Self::Module(error) => error.to_string(),
            Self::Version(error) => error.to_string(),
            Self::VersionSpelling { written, version } => {
                format!("`{written}` is not how the version is listed: write {version}")
            }
            Self::Platform(error) => error.to_string(),
            Self::MixUp(mix_up) => mix_up.advice(settings),
        }
    }
}

/// The host of a segment, which may be punycode or Unicode. The one path of a route has it in punycode, which is no longer than a
/// segment may be.
pub(crate) fn host_of(segment: &str) -> Result<Hostname, RouteFault> {
    let host = Hostname::with_punycode(segment).map_err(RouteFault::Hostname)?;
    if host.as_str().len() > MAX_SEGMENT {
        return Err(RouteFault::Path(PathFault::SegmentTooLong));
    }
    Ok(host)
}

/// Clients ask for versions as they were listed.
pub(crate) fn version(written: &str) -> Result<Version, RouteFault> {
    let version: Version = written.parse().map_err(RouteFault::Version)?;
    if version.to_string() != written {
        return Err(RouteFault::VersionSpelling { written: written.to_owned(), version });
    }
    Ok(version)
}
