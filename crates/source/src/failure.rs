//! What a web error means for a place: why a place that is not an OCI repository could not be used.

use tofu_oci_fault::Fault;
use tofu_oci_http::{HostTokenError, WebError, WebFault};
use tofu_oci_mapper::MapError;
use tofu_oci_types::NetworkFault;

/// What went wrong with a place. Each text names the request and the answer, for people.
#[derive(Debug, Clone, thiserror::Error, Fault)]
#[non_exhaustive]
#[fault(end = FaultEnd::of_transient(self.is_transient()))]
pub enum Failure {
    /// It demands credentials, or refuses those that it got.
    #[error("{0}")]
    #[fault(code = "unauthorized")]
    #[hint("the token of a host is in TF_TOKEN_HOST, with _ for each dot, or in a `credentials` block")]
    Unauthorized(String),
    /// It accepts the credentials and refuses the request.
    #[error("{0}")]
    #[fault(code = "denied")]
    #[hint("the token of a host is in TF_TOKEN_HOST, with _ for each dot, or in a `credentials` block")]
    Denied(String),
    /// It demands credentials for a package, or refuses the request for it.
    #[error("{problem}")]
    #[fault(code = if *status == 401 { "unauthorized" } else { "denied" })]
    #[hint(
        "no client sends the token of a host with packages: whoever runs it must serve them without a login, or \
            name signed addresses"
    )]
    PackageRefused { status: u16, problem: String },
    /// It asks to slow down.
    #[error("{0}")]
    #[fault(code = "too-many-requests")]
    TooManyRequests(String),
    /// It answered with a server error (5xx).
    #[error("{0}")]
    #[fault(code = "server-error")]
    ServerError(String),
    /// It answered with another unexpected status.
    #[error("{0}")]
    #[fault(code = "bad-status")]
    BadStatus(String),
    /// Its answer is not JSON, has another shape, or is too large.
    #[error("{0}")]
    #[fault(code = "bad-body")]
    BadBody(String),
    /// Its answer is of another media type.
    #[error("{0}")]
    #[fault(code = "bad-content-type")]
    BadContentType(String),
    /// It redirects to an address that must not be asked.
    #[error("{0}")]
    #[fault(code = "bad-redirect")]
    BadRedirect(String),
    /// a registry, document or module leads to this machine or a private network
    #[error("{problem}")]
    #[fault("private-host", todo = "if that is intended, allow it with `--private-host HOST`")]
    #[hint("if that is meant, allow it with --private-host {host}")]
    PrivateHost {
        /// Where to: `HOST[:PORT]`.
        host: String,
        problem: String,
    },
    /// The network, by its kind of fault.
    #[error("{problem}")]
    #[fault(code = fault.code())]
    #[hint(if *fault == NetworkFault::PrivateAddress => "if that is meant, allow it with --private-host HOST")]
    Network { fault: NetworkFault, problem: String },
    /// the host of the address publishes neither `oci-providers.v1` nor `providers.v1`
    #[error("{0}")]
    #[fault("no-provider-service", todo = "check the address; name the repository with `--from`")]
    #[hint("say which repository holds it with --from REPOSITORY")]
    #[hint("or for good, with an oci_mirror: `tofu-oci config add ADDR-PATTERN REPOSITORY-TEMPLATE` writes it")]
    NoProviderService(String),
    /// The host publishes no service for modules.
    #[error("{0}")]
    #[fault(code = "no-module-service")]
    #[hint("the host is not a registry of modules; one in a repository is written oci://REPOSITORY?tag=TAG")]
    NoModuleService(String),
    /// the service document of the host cannot be used
    #[error("{0}")]
    #[fault("invalid-service", todo = "tell the owner of the host; name the repository with `--from`")]
    #[hint("the owner of the host must correct its service")]
    InvalidService(String),
    /// the package speaks no plugin protocol that OpenTofu and Terraform speak
    #[error("{0}")]
    #[fault("protocol-not-supported", todo = "choose the version that the error names, or ask the publisher")]
    #[hint("choose a version that speaks protocol 5 or 6, or ask the publisher for one")]
    Protocols(String),
    /// A program that should know the token to show fails.
    #[error(transparent)]
    #[fault(of = _0)]
    Token(#[from] HostTokenError),
    /// A rule gives no repository for the address.
    #[error(transparent)]
    #[fault(code = no_repository(_0))]
    #[hint("change the template so that it gives a repository, or exclude the provider from this method")]
    NoRepository(Box<MapError>),
    /// What the user wrote is not the address of a network mirror.
    #[error("{0}")]
    #[fault(code = "mirror-url")]
    #[hint("write it as https://HOST/PATH/, with a slash at the end")]
    InvalidMirrorAddress(String),
    /// the host of the provider has a port, and network mirrors cannot name such hosts
    #[error("{0}")]
    #[fault("host-with-port", todo = "exclude the provider from the method, so that the next one is asked")]
    #[hint(
        "name another place with --from, or exclude the provider from the network_mirror, so that another method \
            serves it"
    )]
    HostWithPort(String),
    /// a mirror lists no checksum of the package that tofu-oci can compare (`zh:` or `h1:`)
    #[error("{0}")]
    #[fault("mirror-hash-schemes", todo = "whoever runs the mirror must list such a checksum, or none")]
    #[hint("whoever runs the mirror must list a zh: or h1: checksum, or none")]
    ChecksumFormats(String),
    /// the folder of a `filesystem_mirror` is missing
    #[error("{0}")]
    #[fault("fs-dir-missing", todo = "create the folder, or remove the method")]
    #[hint("create the folder, or correct its path; a relative path begins in the working directory")]
    FolderMissing(String),
    /// a folder of packages, or one in it, cannot be read
    #[error("{0}")]
    #[fault("fs-unreadable", todo = "make it readable; OpenTofu uses nothing of such a folder either")]
    FolderUnreadable(String),
    /// a mirror names a package that it does not have
    #[error("{0}")]
    #[fault("archive-not-found", todo = "repair the mirror")]
    PackageMissing(String),
    /// The package is not a zip archive.
    #[error("{0}")]
    #[fault(code = "bad-zip")]
    BadZip(String),
    /// the checksums that a registry publishes contradict each other
    #[error("{0}")]
    #[fault("checksum-list", todo = "do not install it; tell the owner of the registry")]
    #[hint("do not install it: the registry contradicts itself; tell its owner")]
    ChecksumList(String),
    /// No key that the place names has signed its checksums.
    #[error("{0}")]
    #[fault(code = "bad-signature")]
    #[hint("do not install it before the owner of the registry says which key signs, and why it was not this one")]
    #[hint("where the packages are published unsigned on purpose, name a mirror of them with --from")]
    BadSignature(String),
}

impl Failure {
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
