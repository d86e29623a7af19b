//! `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use tofu_oci_bridge::listen_instead;
use tofu_oci_types::{Hostname, ModulePattern, Pattern};

use super::{OutputArgs, RegistryAccess, TrustArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  What repositories hold, for this machine alone:
    tofu-oci serve --from 'ghcr.io/acme/${namespace}/${type}' --include 'registry.example.com/*/*'

  By ./serve.toml; first whether it is right:
    tofu-oci serve --check-config
    tofu-oci serve

  A bundle at a site without a network, for everyone there:
    tofu-oci serve --from bundle:providers.tar --listen 0.0.0.0:8443 --tls-cert tls.crt \\
      --tls-key tls.key

  What a provider registry of your own needs:
    tofu-oci serve --new-key bridge-key.asc
    tofu-oci serve --new-token

Terraform and every OpenTofu install from it: providers by the network mirror protocol, and for the
hostnames of --host by the provider registry protocol; modules by the module registry protocol. It
keeps nothing but a cache, so that any number of instances may serve the same. It speaks plain HTTP
to this machine alone; real clients want https for a network mirror. A line of JSON for each request
goes to standard output. SIGTERM and ^C let the requests under way finish. How to run it: `tofu-oci
help serving`; every setting of serve.toml: `tofu-oci help serve-settings`.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct ServeArgs {
    /// The settings [default: serve.toml]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "include", "modules_from", "include_modules"])]
    pub(crate) config: Option<PathBuf>,
    /// Serve what this place has: a template of repositories, oci:DIR, bundle:FILE or static:DIR
    ///
    /// It takes the place of the file of settings.
    #[arg(long, value_name = "PLACE")]
    pub(crate) from: Option<String>,
    /// Serve only the providers that match (repeatable) [default: */*/*]
    #[arg(long, value_name = "PATTERN", requires = "from")]
    pub(crate) include: Vec<Pattern>,
    /// Serve the modules of this place: a template of repositories or oci:DIR
    ///
    /// The template has `${hostname}`, `${namespace}`, `${name}` and `${target_system}`. It takes the place of the file of
    /// settings, as --from does.
    #[arg(long, value_name = "PLACE")]
    pub(crate) modules_from: Option<String>,
    /// Serve only the modules that match (repeatable) [default: */*/*/*]
    #[arg(long, value_name = "PATTERN", requires = "modules_from", hide_short_help = true)]
    pub(crate) include_modules: Vec<ModulePattern>,
    /// Send OpenTofu to the repository of a module, as oci://…, and Terraform to the archive here
    #[arg(long, requires = "modules_from", hide_short_help = true)]
    pub(crate) oci_locations: bool,
    /// Also serve releases and modules that name another address, out of every place
    ///
    /// Name the addresses with --include: then clients get these, whatever the repositories say. `rename` in the settings does it
    /// for one place.
    #[arg(long, hide_short_help = true)]
    pub(crate) rename: bool,
    /// Listen here (repeatable) [default: 127.0.0.1:8080]; port 0 takes a free one
    #[arg(long, value_name = "IP:PORT", value_parser = listen_address)]
    pub(crate) listen: Vec<SocketAddr>,
    /// What clients write, if it is not what --listen says, such as `https://providers.example.com/`
    #[arg(long, value_name = "URL", hide_short_help = true)]
    pub(crate) url: Option<String>,
    /// Be the registry of this host (repeatable)
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Vec<Hostname>,
    /// The certificate, and those that signed it: PEM; a new file is used at once
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Its private key: PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Make a private CA and a certificate in a new folder, for trying; use them again if they are there
    ///
    /// The certificate is for this machine, the hosts of --host, the host of --url and the addresses of --listen, for a year. The
    /// key of the CA is not kept. `serve` prints what clients need to trust it.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["tls_cert", "clear_text", "check_config", "show_key", "new_key", "new_token"], hide_short_help = true)]
    pub(crate) trial_tls: Option<PathBuf>,
    /// Serve others in clear text, behind a proxy that speaks TLS
    #[arg(long, conflicts_with = "tls_cert", hide_short_help = true)]
    pub(crate) clear_text: bool,
    /// Never ask an upstream
    #[arg(long, hide_short_help = true)]
    pub(crate) sealed: bool,
    /// The OpenPGP key that signs checksums whose publisher did not
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) signing_key: Option<PathBuf>,
    /// Say what would be served, and stop; exit code 2 if the settings are wrong
    #[arg(long)]
    pub(crate) check_config: bool,
    /// Print the fingerprint and the public part of the signing key (--signing-key, or that of the settings), and stop
    #[arg(long, conflicts_with = "check_config", hide_short_help = true)]
    pub(crate) show_key: bool,
    /// Make a signing key in a new file, and stop
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check_config", "show_key", "new_token"], hide_short_help = true)]
    pub(crate) new_key: Option<PathBuf>,
    /// Print a new token for a client and its line for serve.toml, and stop
    #[arg(long, conflicts_with_all = ["check_config", "show_key"], hide_short_help = true)]
    pub(crate) new_token: bool,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

fn listen_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| listen_instead(text))
}
