//! Who the program says it is to registries.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

/// Whose credentials are shown to registries. Without any of these, what the user's files and helpers say.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Registry access")]
pub(crate) struct IdentityArgs {
    /// Show no credentials: read no file for them, and ask no helper
    #[arg(long, conflicts_with_all = ["username", "password_stdin"])]
    pub(crate) anonymous: bool,
    /// Log in as this user to the one registry that the command names; a terminal is asked for the password
    #[arg(long, value_name = "USER", value_parser = user())]
    pub(crate) username: Option<String>,
    /// Read the password of --username from standard input, without a line break at its end
    #[arg(long, requires = "username")]
    pub(crate) password_stdin: bool,
}

/// A name that can be sent: it is cut off from the password at the first colon.
pub(super) fn user() -> impl clap::builder::TypedValueParser<Value = String> {
    use clap::builder::TypedValueParser as _;
    NonEmptyStringValueParser::new()
        .try_map(|name| if name.contains(':') { Err("a name with a colon in it cannot be sent") } else { Ok(name) })
}
