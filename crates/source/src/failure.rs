//! What a web error means for a place: why a place that is not an OCI repository could not be used.

use tofu_oci_http::{HostTokenError, WebError, WebFault};
use tofu_oci_mapper::MapError;
use tofu_oci_types::NetworkFault;

/// What went wrong with a place. Each text names the request and the answer, for people.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// It demands credentials, or refuses those that it got.
    #[error("{0}")]
    Unauthorized(String),
    /// It accepts the credentials and refuses the request.
    #[error("{0}")]
    Denied(String),
    /// It demands credentials for a package, or refuses the request for it.
    #[error("{problem}")]
    PackageRefused { status: u16, problem: String },
    /// It asks to slow down.
    #[error("{0}")]
    TooManyRequests(String),
    /// It answered with a server error (5xx).
    #[error("{0}")]
    ServerError(String),
    /// It answered with another unexpected status.
    #[error("{0}")]
    BadStatus(String),
    /// Its answer is not JSON, has another shape, or is too large.
    #[error("{0}")]
    BadBody(String),
    /// Its answer is of another media type.
    #[error("{0}")]
    BadContentType(String),
    /// It redirects to an address that must not be asked.
    #[error("{0}")]
    BadRedirect(String),
    /// A host of the internet sends to this machine or into a private network.
    #[error("{problem}")]
    PrivateHost {
        /// Where to: `HOST[:PORT]`.
        host: String,
        problem: String,
    },
    /// The network, by its kind of fault.
    #[error("{problem}")]
    Network { fault: NetworkFault, problem: String },
    /// The host publishes no service for providers.
    #[error("{0}")]
    NoProviderService(String),
    /// The host publishes no service for modules.
    #[error("{0}")]
    NoModuleService(String),
    /// The host publishes a service for providers or modules whose value cannot be used.
    #[error("{0}")]
    InvalidService(String),
    /// The package speaks no plugin protocol that `OpenTofu` speaks.
    #[error("{0}")]
    Protocols(String),
    /// A program that should know the token to show fails.
    #[error(transparent)]
    Token(#[from] HostTokenError),
    /// A rule gives no repository for the address.
    #[error(transparent)]
    NoRepository(Box<MapError>),
    /// What the user wrote is not the address of a network mirror.
    #[error("{0}")]
    InvalidMirrorAddress(String),
    /// The host of the provider has a port, and the protocol of the place cannot name such hosts.
    #[error("{0}")]
    HostWithPort(String),
    /// None of the checksums of a package has a format that can be verified.
    #[error("{0}")]
    ChecksumFormats(String),
    /// The folder does not exist.
    #[error("{0}")]
    FolderMissing(String),
    /// The folder, or one in it, cannot be read.
    #[error("{0}")]
    FolderUnreadable(String),
    /// The place names a package that is missing.
    #[error("{0}")]
    PackageMissing(String),
    /// The package is not a zip archive.
    #[error("{0}")]
    BadZip(String),
    /// The checksums that the place publishes contradict each other.
    #[error("{0}")]
    ChecksumList(String),
    /// No key that the place names has signed its checksums.
    #[error("{0}")]
    BadSignature(String),
}

impl Failure {
    /// A stable kebab-case name of what went wrong.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unauthorized(_) | Self::PackageRefused { status: 401, .. } => "unauthorized",
            Self::Denied(_) | Self::PackageRefused { .. } => "denied",
            Self::TooManyRequests(_) => "too-many-requests",
            Self::ServerError(_) => "server-error",
            Self::BadStatus(_) => "bad-status",
            Self::BadBody(_) => "bad-body",
            Self::BadContentType(_) => "bad-content-type",
            Self::BadRedirect(_) => "bad-redirect",
            Self::PrivateHost { .. } => "private-host",
            Self::Network { fault, .. } => fault.code(),
            Self::NoProviderService(_) => "no-provider-service",
            Self::NoModuleService(_) => "no-module-service",
            Self::InvalidService(_) => "invalid-service",
            Self::Protocols(_) => "protocol-not-supported",
            Self::Token(error) => error.code,
            Self::NoRepository(error) => no_repository(error),
            Self::InvalidMirrorAddress(_) => "mirror-url",
            Self::HostWithPort(_) => "host-with-port",
            Self::ChecksumFormats(_) => "mirror-hash-schemes",
            Self::FolderMissing(_) => "fs-dir-missing",
            Self::FolderUnreadable(_) => "fs-unreadable",
            Self::PackageMissing(_) => "archive-not-found",
            Self::BadZip(_) => "bad-zip",
            Self::ChecksumList(_) => "checksum-list",
            Self::BadSignature(_) => "bad-signature",
        }
    }

    /// Whether a retry of the same question may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Network { .. } | Self::ServerError(_) | Self::TooManyRequests(_))
    }
}

impl Failure {
    /// What a status means. `place` is the address that answered, for people.
    pub(crate) fn of_status(status: u16, place: &str) -> Self {
        let text = format!("{place} answered {status}");
        match status {
            401 => Self::Unauthorized(text),
            403 => Self::Denied(text),
            429 => Self::TooManyRequests(text),
            500..=599 => Self::ServerError(text),
            _ => Self::BadStatus(text),
        }
    }
}

impl From<&WebError> for Failure {
    fn from(error: &WebError) -> Self {
        let text = error.to_string();
        match &error.fault {
            WebFault::Network(problem) => Self::Network { fault: problem.fault, problem: text },
            WebFault::Status(status) => Self::of_status(*status, &error.url),
            WebFault::Wait(_) => Self::TooManyRequests(text),
            WebFault::TooLarge(_) | WebFault::WrongSize { .. } | WebFault::Encoded(_) | WebFault::Changed => {
                Self::BadBody(text)
            }
            WebFault::PrivateHost(host) => Self::PrivateHost { host: host.clone(), problem: text },
            _ => Self::BadRedirect(text),
        }
    }
}

impl From<MapError> for Failure {
    fn from(error: MapError) -> Self {
        Self::NoRepository(Box::new(error))
    }
}

fn no_repository(error: &MapError) -> &'static str {
    match error {
        MapError::NothingBeforeSuffix { .. } => "invalid-repository-address",
        other => other.code(),
    }
}
