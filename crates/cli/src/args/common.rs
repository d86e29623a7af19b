//! Options that several verbs share.

use std::path::PathBuf;

use clap::Args;

use super::duration::{MaxWait, Timeout};
use super::host::HostParser;

/// Options of every verb.
#[derive(Clone, Debug, Args)]
pub(crate) struct Global {
    /// Print more on stderr: -v for steps, -vv for requests
    #[arg(short, long, action = clap::ArgAction::Count, global = true, help_heading = "Global options")]
    pub(crate) verbose: u8,
    /// Print no progress and no notes, only results, warnings and errors
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,
}

/// How results are printed.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArgs {
    /// Print JSON lines on stdout instead of text (documented in docs/json.md)
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

/// How registries are reached.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Registry access")]
pub(crate) struct Network {
    /// Trust the certificates of this PEM file too, beside the system's (repeatable)
    #[arg(long, value_name = "FILE", env = "TOFU_OCI_CA_FILE")]
    pub(crate) ca_file: Vec<PathBuf>,
    /// Show this client certificate (PEM; may hold the key too)
    #[arg(long, value_name = "FILE", env = "TOFU_OCI_CLIENT_CERT")]
    pub(crate) client_cert: Option<PathBuf>,
    /// The private key of the client certificate (PEM), if it is in a file of its own
    #[arg(long, value_name = "FILE", env = "TOFU_OCI_CLIENT_KEY", requires = "client_cert")]
    pub(crate) client_key: Option<PathBuf>,
    /// Speak plain HTTP with this HOST[:PORT] (repeatable; the variable takes a list with commas). A login for it
    /// goes in the clear. Loopback hosts that do not speak TLS need no such option. Other registries may redirect
    /// downloads to this host, without a login
    #[arg(long, value_name = "HOST", env = "TOFU_OCI_PLAIN_HTTP", value_delimiter = ',', value_parser = HostParser)]
    pub(crate) plain_http: Vec<String>,
    /// Show the registry's password to the token server at this HOST[:PORT] too, although it is of another site, at
    /// an IP address or on this machine (repeatable; the variable takes a list with commas)
    #[arg(long, value_name = "HOST", env = "TOFU_OCI_TOKEN_HOST", value_delimiter = ',', value_parser = HostParser)]
    pub(crate) token_host: Vec<String>,
    /// How often to try a request that fails for a passing reason, 1 to 20
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub(crate) attempts: u32,
    /// How long a registry may make one request wait in all (Retry-After), such as 90s or 2m (plain seconds without a
    /// unit)
    #[arg(long, value_name = "DURATION", default_value = "2m", allow_negative_numbers = true)]
    pub(crate) max_wait: MaxWait,
    /// How long a request may make no progress, all its tries together, such as 90s or 2m (plain seconds without a
    /// unit). The other limits keep their proportion to it: with 2m, 10 s to connect, 30 s until an answer begins, 60
    /// s until the registry takes more of an upload, at least 2 KiB of an answer every 30 s, and at least 60 KiB of
    /// any upload or answer every 60 s (a longer time asks for fewer bytes a second, a shorter one never for more).
    /// tofu-oci waits as long for a lock that
    /// another program holds, and for a credential helper, but never over 30 s for that
    #[arg(
        long,
        value_name = "DURATION",
        env = "TOFU_OCI_TIMEOUT",
        default_value = "2m",
        allow_negative_numbers = true
    )]
    pub(crate) timeout: Timeout,
}
