//! Why two machines could not talk, by stable names.

use tofu_oci_fault::Fault;

/// What kept two machines from talking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fault)]
#[non_exhaustive]
#[fault(code = "tls")]
pub enum NetworkFault {
    /// the name of the host is unknown, or no name server answers
    #[fault("dns", todo = "check the name and the name server; with a proxy, check `HTTPS_PROXY`")]
    Dns,
    /// nothing listens at the address
    #[fault("connection-refused", todo = "check the port, and that the registry runs")]
    Refused,
    /// The two share no version or cipher, or the other side refuses, not because of a certificate.
    #[fault(
        "tls",
        what = "the TLS handshake failed, the certificate is not trusted, or the other side does not speak \
            TLS",
        todo = "read the hint: it names the date, the host name or the authority; `--ca-file` trusts a \
            private authority, `--plain-http HOST` allows plain HTTP"
    )]
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
    #[fault(code = "connection-lost")]
    NotHttp,
    /// no answer, or no progress, within the time
    #[fault("timeout", todo = "run the command again; `--timeout` allows more time")]
    TimedOut,
    /// the connection broke and every retry failed
    #[fault("connection-lost", todo = "run the command again; work that was done is kept")]
    Lost,
    /// the host cannot be reached, or does not speak HTTP
    #[fault("unreachable", todo = "check the network, the port and the proxy")]
    NoRoute,
    /// the proxy wants a login or does not accept it, or a variable names no proxy that can be used
    #[fault(
        "proxy",
        todo = "write it as `http://USER:PASSWORD@HOST:PORT` or `socks5://…` in `HTTPS_PROXY`; \
            `NO_PROXY` goes around it"
    )]
    Proxy,
    /// The name leads to this machine or into a private network, and a host elsewhere had named it.
    #[fault(code = "private-host")]
    PrivateAddress,
}
