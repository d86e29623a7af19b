//! `auth`: which credentials go where, and why.

use clap::{Args, Subcommand};

use super::{OutputArgs, RegistryAccess};

#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "\
Where tofu-oci looks for credentials, as OpenTofu does:
  oci_credentials and oci_default_credentials blocks of the CLI configuration
  $XDG_RUNTIME_DIR/containers/auth.json, of podman
  ${XDG_CONFIG_HOME:-~/.config}/containers/auth.json, of podman
  ~/.docker/config.json and ~/.dockercfg, of docker
and beyond OpenTofu in $REGISTRY_AUTH_FILE and $DOCKER_CONFIG/config.json.

The source that names most of the repository's path wins, in whatever file; among equals a block,
then the earlier file. `tofu-oci config --help` says which files are the CLI configuration.

Origin registries and network mirrors get tokens instead, of the first that speaks of the host:
  a variable such as TF_TOKEN_registry_example_com
  a `credentials` block of the CLI configuration, or what `tofu login` wrote
  the program of the `credentials_helper` block"
)]
pub(crate) struct AuthArgs {
    #[command(subcommand)]
    pub(crate) verb: AuthVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuthVerb {
    /// Say which file, entry, helper, scope and answer decide about the access to a repository
    Explain(AuthExplainArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci auth explain ghcr.io/acme/opentofu-provider-widget
  tofu-oci auth explain ghcr.io/acme/opentofu-provider-widget --push
  tofu-oci auth explain registry.example.com/acme/widget --anonymous
  tofu-oci auth explain registry.example.com/acme/widget --json
  tofu-oci auth explain registry.example.com          # its token as an origin registry
  tofu-oci auth explain https://mirror.example.com/   # its token as a network mirror

The output says, from top to bottom: where tofu-oci looked and what fits, what it chose and why,
which helper and which scope it asked for, what the registry and its token server answered, where
OpenTofu 1.10 to 1.13 would behave otherwise, and how it ends. It shows names of users, and never
passwords or tokens.

`explain` asks the registry for the list of the repository's tags, one entry long, and for /v2/,
which OpenTofu up to 1.12 asks for first. With --push it begins an upload and gives it up at once;
nothing is stored. Of a HOST it asks nothing: it says which variable TF_TOKEN_…, `credentials` block
or `credentials_helper` has the token, and runs that helper.

Exit codes: 0 access works; 1 it fails, and the last lines say why; 2 a wrong block, or a listed
file that cannot be read, which stops every verb (`explain` explains it all the same); 3 the
registry could not be reached.")]
pub(crate) struct AuthExplainArgs {
    /// The repository, REGISTRY/REPOSITORY; HOST or the URL of a network mirror for the token of a host
    #[arg(value_name = "REPOSITORY")]
    pub(crate) repository: String,
    /// Explain the access for a push: ask for the rights pull and push, begin an upload and give it up
    #[arg(long)]
    pub(crate) push: bool,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
