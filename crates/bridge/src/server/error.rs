//! Why a server does not start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// An address cannot be listened at.
    #[error("cannot listen at {address}")]
    Listen {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    /// The certificate cannot be used.
    #[error("the certificate {} cannot be used: {fault}", .path.display())]
    Certificate { path: PathBuf, fault: CertificateFault },
}

/// What is wrong with a certificate or its key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateFault {
    /// A file cannot be read.
    #[error("{0}")]
    Unreadable(io::Error),
    /// There is no certificate in the file.
    #[error("it holds no PEM block CERTIFICATE")]
    NoCertificate,
    /// There is no key in its file.
    #[error("the key's file holds no PEM block PRIVATE KEY that is not encrypted")]
    NoKey,
    /// They do not belong together.
    #[error("the private key in the key's file belongs to another certificate")]
    OtherKey,
    /// They are of an unknown kind.
    #[error("{0}")]
    Unusable(rustls::Error),
}

impl ServeError {
    /// A stable kebab-case name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Listen { .. } => "listen-failed",
            Self::Certificate { .. } => "certificate-unusable",
        }
    }
}
