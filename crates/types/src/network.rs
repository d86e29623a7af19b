//! Why two machines could not talk, by stable names.

/// What kept two machines from talking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetworkFault {
    /// The name is unknown, or no name server answers.
    Dns,
    /// No program listens there.
    Refused,
    /// The TLS handshake failed, not because of the other side's certificate: the two share no version or cipher, or
    /// the other side refused.
    Tls,
    /// The other side's certificate is invalid, not because of its dates.
    Certificate,
    /// The other side does not accept this side's certificate, or misses one.
    ClientCertificate,
    /// The certificate is for another host.
    CertificateOfAnother,
    /// The other side's certificate has expired, by this machine's clock. Both in seconds since 1970.
    CertificateExpired {
        /// The last second in which it was valid, if that is known.
        not_after: Option<u64>,
        /// What the clock says.
        now: u64,
    },
    /// The other side's certificate is not valid yet, by this machine's clock. Both in seconds since 1970.
    CertificateNotYetValid {
        /// The first second in which it is valid, if that is known.
        not_before: Option<u64>,
        /// What the clock says.
        now: u64,
    },
    /// The answer to a TLS greeting is not TLS.
    NotTls,
    /// The answer is not HTTP.
    NotHttp,
    /// No answer came in time.
    TimedOut,
    Lost,
    /// No route leads to the machine.
    NoRoute,
    /// The proxy wants a login or does not accept it, or a variable names no proxy that can be used.
    Proxy,
    /// The name leads to this machine or into a private network, and a host elsewhere had named it.
    PrivateAddress,
}

impl NetworkFault {
    /// A stable kebab-case name.
    pub fn code(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Refused => "connection-refused",
            Self::Tls
            | Self::Certificate
            | Self::ClientCertificate
            | Self::CertificateOfAnother
            | Self::CertificateExpired { .. }
            | Self::CertificateNotYetValid { .. }
            | Self::NotTls => "tls",
            Self::TimedOut => "timeout",
            Self::Lost | Self::NotHttp => "connection-lost",
            Self::NoRoute => "unreachable",
            Self::Proxy => "proxy",
            Self::PrivateAddress => "private-host",
        }
    }
}
