//! Why access was not given, by stable names.

use tofu_oci_fault::Fault;

/// Why access was not given, if the credentials, the token server or the registry's answer about them are the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fault)]
#[non_exhaustive]
pub enum AccessFault {
    /// a registry with TLS names a token server without TLS
    #[fault("realm-downgrade", todo = "tell the owner of the registry; no password was sent")]
    #[hint(
        "the password would be sent in the clear: ask the registry's operator; if that server is the right one, \
            allow it with --token-host HOST and --plain-http HOST"
    )]
    RealmDowngrade,
    /// the token server is on this machine, in a private network or at an IP address
    #[fault("realm-private-address", todo = "if that is intended, allow it with `--token-host HOST`")]
    #[hint("if that server is the right one, allow it with --token-host HOST")]
    RealmPrivateAddress,
    /// the address of the token server is not an HTTP address
    #[fault("realm-scheme", todo = "tell the owner of the registry")]
    #[hint(
        "tofu-oci sends no password to such a server; ask the registry's operator, or check that this is the \
            registry you mean"
    )]
    RealmScheme,
    /// the address of the token server holds a login
    #[fault("realm-user-info", todo = "tell the owner of the registry")]
    #[hint(
        "tofu-oci sends no password to such a server; ask the registry's operator, or check that this is the \
            registry you mean"
    )]
    RealmUserInfo,
    /// the token server belongs to another site than the registry
    #[fault("realm-other-site", todo = "if you trust it, allow it with `--token-host HOST`")]
    #[hint("if that server is the right one, allow it with --token-host HOST")]
    RealmOtherSite,
    /// the token server redirects a request that carries a login to another origin
    #[fault("token-redirect", todo = "tell the owner of the registry")]
    #[hint("tofu-oci sends what is meant for the token server to no other host; ask the registry's operator")]
    TokenRedirect,
    /// a redirect leads from HTTPS to plain HTTP
    #[fault("redirect-downgrade", todo = "if the host is trusted for downloads, name it with `--plain-http HOST`")]
    #[hint("the registry sends to a server without TLS; only its operator can change that")]
    RedirectDowngrade,
    /// A redirect leads, from HTTPS or from another host, to plain HTTP on a host that the user may name for it.
    #[fault(code = "redirect-downgrade")]
    #[hint("if that host is the right one, name it with --plain-http HOST; the request there carries no login")]
    RedirectUnnamed,
    /// A redirect, or an upload location, leads to a host that is nearer to this machine than the registry.
    #[fault(code = "private-host")]
    PrivateHost,
    /// the token server answers without a token
    #[fault("token-empty", todo = "tell the owner of the registry")]
    TokenEmpty,
    /// the answer of the token server is not JSON
    #[fault("token-not-json", todo = "check for a proxy or a login page in between")]
    TokenNotJson,
    /// the token server answered with this status (`token-server-status:401`)
    #[fault(
        "token-server-status",
        todo = "check the login; `tofu-oci auth explain REPOSITORY` shows the scope that \
            was asked for"
    )]
    TokenServerStatus(u16),
    /// the registry refused a request with this status (`registry-status:401`)
    #[fault(
        "registry-status",
        todo = "401 and 403: `tofu-oci auth explain REPOSITORY` says who asked, and for what. 404: check the name; before \
            a first push, ask with `--push`. 429 and 5xx: run the command again later. Any other: check that the address \
            is a registry, and tell its operator"
    )]
    RegistryStatus(u16),
    /// The registry answered with this status, and names no way to log in that is known here: nothing was shown.
    #[fault(code = "registry-status")]
    NoKnownScheme(u16),
    /// The registry answered with this status to a token that is good, and does not carry the right.
    #[fault(code = "registry-status")]
    InsufficientScope(u16),
    /// The registry answered with this status to the token that its token server had given.
    #[fault(code = "registry-status")]
    TokenRefused(u16),
    /// the registry asks for a name and a password, and no source has them
    #[fault("no-credentials-for-basic", todo = "`tofu-oci login REGISTRY`")]
    NoCredentialsForBasic,
}

impl AccessFault {
    /// Its code; if there is a status, a colon and the status follow.
    pub fn with_status(self) -> String {
        match self {
            Self::TokenServerStatus(status)
            | Self::RegistryStatus(status)
            | Self::NoKnownScheme(status)
            | Self::InsufficientScope(status)
            | Self::TokenRefused(status) => format!("{}:{status}", self.code()),
            _ => self.code().to_owned(),
        }
    }
}
