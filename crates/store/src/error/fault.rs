//! Why access was not given, by stable names.

/// Why access was not given, if the credentials, the token server or the registry's answer about them are the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessFault {
    /// The token server would be asked over plain HTTP.
    RealmDowngrade,
    /// The token server is named by an address of this machine or of another network, or by its name `localhost`.
    RealmPrivateAddress,
    /// The token server's address is missing, relative, or of another scheme than HTTP.
    RealmScheme,
    /// The token server's address carries a user info.
    RealmUserInfo,
    /// The token server is of another site than the registry.
    RealmOtherSite,
    /// The token server sends whoever shows credentials to another origin.
    TokenRedirect,
    /// A redirect leads from HTTPS to plain HTTP, and naming its host would not help or not be safe.
    RedirectDowngrade,
    /// A redirect leads, from HTTPS or from another host, to plain HTTP on a host that the user may name for it.
    RedirectUnnamed,
    /// A redirect, or an upload location, leads to a host that is nearer to this machine than the registry.
    PrivateHost,
    /// The token server's answer has no token in it that can be used.
    TokenEmpty,
    /// The token server's answer is not a JSON object of texts.
    TokenNotJson,
    /// The token server answered with this status.
    TokenServerStatus(u16),
    /// The registry answered with this status.
    RegistryStatus(u16),
    /// The registry answered with this status, and names no way to log in that is known here: nothing was shown.
    NoKnownScheme(u16),
    /// The registry answered with this status to a token that is good, and does not carry the right.
    InsufficientScope(u16),
    /// The registry answered with this status to the token that its token server had given.
    TokenRefused(u16),
    /// The registry asks for a name and a password, and the user has given neither.
    NoCredentialsForBasic,
}

impl AccessFault {
    /// A stable name; if there is a status, a colon and the status follow.
    pub fn code(self) -> String {
        let name = match self {
            Self::RealmDowngrade => "realm-downgrade",
            Self::RealmPrivateAddress => "realm-private-address",
            Self::RealmScheme => "realm-scheme",
            Self::RealmUserInfo => "realm-user-info",
            Self::RealmOtherSite => "realm-other-site",
            Self::TokenRedirect => "token-redirect",
            Self::RedirectDowngrade | Self::RedirectUnnamed => "redirect-downgrade",
            Self::PrivateHost => "private-host",
            Self::TokenEmpty => "token-empty",
            Self::TokenNotJson => "token-not-json",
            Self::NoCredentialsForBasic => "no-credentials-for-basic",
            Self::TokenServerStatus(status) => return format!("token-server-status:{status}"),
            Self::RegistryStatus(status)
            | Self::NoKnownScheme(status)
            | Self::InsufficientScope(status)
            | Self::TokenRefused(status) => return format!("registry-status:{status}"),
        };
        name.to_owned()
    }
}
