//! Options that several verbs share.

use std::path::{Path, PathBuf};

use clap::Args;

use super::duration::{MaxWait, Timeout};
use super::host::HostParser;
use super::number::number;

/// Options of every verb.
#[derive(Clone, Debug, Args)]
pub(crate) struct Global {
    /// Print more on stderr: -v for steps, -vv for requests
    #[arg(short, long, action = clap::ArgAction::Count, global = true, help_heading = "Output")]
    pub(crate) verbose: u8,
    /// Print no progress and no notes, only results, warnings and errors
    #[arg(short, long, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Use colours: on a terminal (auto), always or never; NO_COLOR and CLICOLOR_FORCE say what auto means
    #[arg(long, value_name = "WHEN", global = true, hide_short_help = true, help_heading = "Output")]
    _color: Option<clap::ColorChoice>,
    /// Draw no progress bars: print a line for each finished package, as without a terminal
    #[arg(long, global = true, hide_short_help = true, help_heading = "Output")]
    pub(crate) no_progress: bool,
    /// Print the most used options (-h) or everything (--help)
    #[arg(short, long, action = clap::ArgAction::Help, global = true, help_heading = "Output")]
    _help: Option<bool>,
}

/// How results are printed.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArgs {
    /// Print JSON lines instead of text; see `tofu-oci help json`
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

/// How registries are reached. `-h` shows none of these: `tofu-oci help registry-access` does.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Network {
    /// Trust the certificates of this PEM file too, beside the system's (repeatable)
    #[arg(long, value_name = "FILE", env = "TOFU_OCI_CA_FILE", hide_short_help = true, help_heading = REGISTRY_ACCESS)]
    pub(crate) ca_file: Vec<PathBuf>,
    /// Show this client certificate (PEM; the file may contain the key too)
    #[arg(long, value_name = "FILE", env = "TOFU_OCI_CLIENT_CERT", hide_short_help = true, help_heading = REGISTRY_ACCESS)]
    pub(crate) client_cert: Option<PathBuf>,
    /// The private key of the client certificate (PEM), if it is in a file of its own
    #[arg(long, value_name = "FILE", env = "TOFU_OCI_CLIENT_KEY", requires = "client_cert", hide_short_help = true, help_heading = REGISTRY_ACCESS)]
    pub(crate) client_key: Option<PathBuf>,
    /// Speak plain HTTP with this HOST[:PORT] (repeatable)
    ///
    /// A login for the host goes in the clear. A loopback host that does not speak TLS needs no such option. Other
    /// registries may redirect downloads to this host, without a login. The variable takes a list with commas.
    #[arg(long, value_name = "HOST", env = "TOFU_OCI_PLAIN_HTTP", value_delimiter = ',', value_parser = HostParser, hide_short_help = true, help_heading = REGISTRY_ACCESS)]
    pub(crate) plain_http: Vec<String>,
    /// Show the registry's password to the token server at this HOST[:PORT] too (repeatable)
    ///
    /// Needed if the token server is of another site, at an IP address or on this machine. The variable takes a list
    /// with commas.
    #[arg(long, value_name = "HOST", env = "TOFU_OCI_TOKEN_HOST", value_delimiter = ',', value_parser = HostParser, hide_short_help = true, help_heading = REGISTRY_ACCESS)]
    pub(crate) token_host: Vec<String>,
    /// Allow a host elsewhere to send tofu-oci to this private HOST[:PORT] (repeatable)
    ///
    /// A registry or the host of an address may then redirect to this host, or name it as its registry, although it is
    /// on this machine or in a private network and they are not. The variable takes a list with commas.
    #[arg(long, value_name = "HOST", env = "TOFU_OCI_PRIVATE_HOST", value_delimiter = ',', value_parser = HostParser, hide_short_help = true, help_heading = REGISTRY_ACCESS)]
    pub(crate) private_host: Vec<String>,
    /// How often to try a request that fails for a passing reason, 1 to 20
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = number::<u32, 1, 20>, allow_hyphen_values = true, hide_short_help = true, help_heading = REGISTRY_ACCESS)]
    pub(crate) attempts: u32,
    /// How long a registry may make one request wait in all (Retry-After), such as 90s or 2m
    #[arg(long, value_name = "DURATION", default_value = "2m", allow_hyphen_values = true, hide_short_help = true, help_heading = REGISTRY_ACCESS)]
    pub(crate) max_wait: MaxWait,
    /// How long a request may make no progress, all its tries together, such as 90s or 2m
    ///
    /// A number without a unit means seconds. The other limits keep their proportion to this one; see `tofu-oci help
    /// network`. tofu-oci waits as long for a lock that another program holds,
    /// and at most 30 s for a credential helper.
    #[arg(long, value_name = "DURATION", env = "TOFU_OCI_TIMEOUT", default_value = "2m", allow_hyphen_values = true, hide_short_help = true, help_heading = REGISTRY_ACCESS)]
    pub(crate) timeout: Timeout,
}

/// The heading of the options that say how registries are reached, and as whom.
pub(crate) const REGISTRY_ACCESS: &str = "Registry access";

/// Which tests of a configuration count.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConfigTestsArgs {
    /// The folder of the tests, below the configuration's own
    ///
    /// `tofu init` requires what tests need, those beside the configuration and those in this folder: their provider blocks, and
    /// the modules that their runs run. So does tofu-oci; see `tofu-oci help requirements`.
    #[arg(long, value_name = "DIR", default_value = "tests", conflicts_with = "no_tests", hide_short_help = true)]
    test_directory: PathBuf,
    /// Leave out what only tests need
    #[arg(long, hide_short_help = true)]
    no_tests: bool,
}

impl ConfigTestsArgs {
    /// The folder of the tests, below the configuration's own as for `OpenTofu`; `None` if they do not count.
    pub(crate) fn folder(&self) -> Option<&Path> {
        let below = self.test_directory.strip_prefix("/").unwrap_or(&self.test_directory);
        if self.no_tests { None } else { Some(below) }
    }
}
