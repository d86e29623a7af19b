//! Why a server does not start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use tofu_oci_fault::Fault;

/// Why a server does not start.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
#[fault(end = Usage)]
pub enum ServeError {
    /// `serve` cannot listen at an address
    #[error("cannot listen at {address}")]
    #[fault("listen-failed", todo = "name another with `--listen`; ports below 1024 need a right")]
    #[hint("name another address: --listen 127.0.0.1:0 takes a free port; ports below 1024 need a right")]
    Listen {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    /// the certificate and key of `serve` cannot be read, or do not belong together
    #[error("the certificate {} cannot be used: {fault}", .path.display())]
    #[fault(
        "certificate-unusable",
        todo = "name PEM files: the certificate with those that signed it, and its \
            private key"
    )]
    #[hint("[tls] takes PEM files: the certificate with those that signed it, and its private key")]
    Certificate { path: PathBuf, fault: CertificateFault },
}

/// What is wrong with a certificate or its key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateFault {
    /// A file cannot be read.
    #[error("{0}")]
    Unreadable(io::Error),
    #[error("it holds no PEM block CERTIFICATE")]
    NoCertificate,
    #[error("the key's file holds no PEM block PRIVATE KEY that is not encrypted")]
    NoKey,
    #[error("the private key in the key's file belongs to another certificate")]
    OtherKey,
    /// They are of an unknown kind.
    #[error("{0}")]
    Unusable(rustls::Error),
}
