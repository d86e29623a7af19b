//! `config`: the CLI configuration, for people who keep one.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{ConfigTestsArgs, OutputArgs, PredecessorArgs};

#[derive(Debug, Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "\
Which files tofu-oci reads, as OpenTofu does:
  TF_CLI_CONFIG_FILE, else TERRAFORM_CONFIG, if one of them is set: that file alone
  otherwise ~/.tofurc, else ~/.terraformrc, else $XDG_CONFIG_HOME/opentofu/tofurc,
  and every *.tfrc and *.tfrc.json of ~/.terraform.d
  (on Windows: tofu.rc and terraform.d in %APPDATA%)

OpenTofu goes on after most errors in these files, and may then download from the origin what was
meant to come from a mirror. tofu-oci stops at such an error, with exit code 2, and shows the line.
Only `config add` and `config remove` write these files."
)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) verb: ConfigVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Say what the CLI configuration will do in OpenTofu 1.10, 1.12 and 1.13
    Check(ConfigCheckArgs),
    /// Send providers to an OCI repository: edit the provider_installation of the CLI configuration
    Add(ConfigAddArgs),
    /// Take a pattern out of the oci_mirror that serves it
    Remove(ConfigRemoveArgs),
    /// Print the blocks that send providers to an OCI repository, ready for the CLI configuration
    Snippet(ConfigSnippetArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci config check
  tofu-oci config check --chdir infra        # looks at the lock file there too
  TF_CLI_CONFIG_FILE=ci.tofurc tofu-oci config check --json

It makes no request. Exit codes: 0 no findings, or notes alone; 1 findings; 2 a configuration or
lock file that it could not read, so that it did not look at everything.")]
pub(crate) struct ConfigCheckArgs {
    /// Look at the configuration and the lock file of this directory, as `tofu -chdir=DIR` would
    #[arg(long, value_name = "DIR")]
    pub(crate) chdir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tests: ConfigTestsArgs,
    #[command(flatten)]
    pub(crate) predecessors: PredecessorArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// The providers that go to repositories, and which ones.
#[derive(Debug, Args)]
pub(crate) struct SentProvidersArgs {
    /// Which providers: [HOST/]NAMESPACE/TYPE, with * for any type, or for any namespace and type
    #[arg(value_name = "ADDR-PATTERN")]
    pub(crate) pattern: String,
    /// Where they are: REGISTRY/REPOSITORY with ${hostname}, ${namespace} and ${type}
    ///
    /// The template must contain a variable for each part of the address that the pattern leaves open.
    #[arg(value_name = "REPOSITORY-TEMPLATE")]
    pub(crate) template: String,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci config add 'registry.example.com/acme/*' 'ghcr.io/acme/${type}'
  tofu-oci config add --dry-run 'example.com/*/*' 'ghcr.io/acme/${namespace}/${type}'

It edits the one provider_installation that OpenTofu reads, or adds one to the main file, and
prints the difference. Comments and all other lines stay. Run twice, it changes nothing more.
One method serves each provider: a method that is for a part of the pattern keeps that part, and
every other one excludes the pattern. If an oci_mirror is for exactly this pattern, it gets the
new template. Before it writes, it reads the text as OpenTofu 1.10, 1.12 and 1.13 would.")]
pub(crate) struct ConfigAddArgs {
    #[command(flatten)]
    pub(crate) sent: SentProvidersArgs,
    /// Print the difference, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) predecessors: PredecessorArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  tofu-oci config remove 'registry.example.com/acme/*'

After `config add` it leaves the file as it was, unless several methods were for the pattern.
It takes the pattern out of the oci_mirror that serves it, and deletes a block that is then for
no provider. The method that is nearest to the pattern serves it again, and the last line says
which one that is. A `provider_installation` in which `direct` alone is left goes, too. Methods
for a part of the pattern keep that part.")]
pub(crate) struct ConfigRemoveArgs {
    /// The pattern as `config add` got it
    #[arg(value_name = "ADDR-PATTERN")]
    pub(crate) pattern: String,
    /// Print the difference, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  All providers of one host:
    tofu-oci config snippet 'registry.example.com/*/*' 'ghcr.io/acme/mirror/${namespace}/${type}'

  One provider:
    tofu-oci config snippet registry.example.com/acme/widget ghcr.io/acme/widget

  As JSON, for a file that ends in .tfrc.json:
    tofu-oci config snippet --json-form 'example.com/acme/*' 'ghcr.io/acme/${type}' > oci.tfrc.json

The blocks go to stdout, advice to stderr; no file changes. One method serves each address, so no
OpenTofu asks the origin for what the mirror has, or the mirror for anything else.
Terraform has no oci_mirror: it installs from OCI with `tofu-oci install --vendor`.")]
pub(crate) struct ConfigSnippetArgs {
    #[command(flatten)]
    pub(crate) sent: SentProvidersArgs,
    /// Write the JSON form of the configuration
    ///
    /// Every method is an array there, because OpenTofu ignores a method that is an object.
    #[arg(long)]
    pub(crate) json_form: bool,
    #[command(flatten)]
    pub(crate) predecessors: PredecessorArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
