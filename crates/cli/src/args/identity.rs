//! Who the program says it is to registries.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::common::{Network, REGISTRY_ACCESS};

/// Whose credentials are shown to registries. Without any of these, what the user's files and helpers say.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct IdentityArgs {
    /// Show no credentials: read no file for them, and ask no helper
    #[arg(long, conflicts_with_all = ["username", "password_stdin"], hide_short_help = true, help_heading = REGISTRY_ACCESS)]
    pub(crate) anonymous: bool,
    /// Log in as this user to the one registry that the command names; a terminal is asked for the password
    #[arg(long, value_name = "USER", value_parser = user(), hide_short_help = true, help_heading = REGISTRY_ACCESS)]
    pub(crate) username: Option<String>,
    /// Read the password of --username from standard input
    ///
    /// tofu-oci drops one line break at its end.
    #[arg(long, requires = "username", hide_short_help = true, help_heading = REGISTRY_ACCESS)]
    pub(crate) password_stdin: bool,
}

/// How registries are reached, and as whom.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RegistryAccess {
    #[command(flatten)]
    pub(crate) network: Network,
    #[command(flatten)]
    pub(crate) identity: IdentityArgs,
}

/// A name that can be sent: it is cut off from the password at the first colon.
pub(super) fn user() -> impl clap::builder::TypedValueParser<Value = String> {
    use clap::builder::TypedValueParser as _;
    NonEmptyStringValueParser::new()
        .try_map(|name| if name.contains(':') { Err("a name with a colon in it cannot be sent") } else { Ok(name) })
}
