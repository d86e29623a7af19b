//! `check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tofu_oci_types::{Platform, ProviderAddr, Version};

use super::{LookupArgs, OutputArgs, RegistryAccess, TrustArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci check ghcr.io/acme/opentofu-provider-widget --deep
  tofu-oci check oci:widget-layout --address registry.example.com/acme/widget --json
  tofu-oci check 'oci://ghcr.io/acme/network//subnets?tag=1.2.0' --module --deep
  tofu-oci check .terraform.lock.hcl --platform linux_amd64 --platform darwin_arm64
  tofu-oci check registry.example.com:5000/scratch/probe --registry
  tofu-oci check --list-rules

`check` reads a repository and never writes to it. With --registry the argument is a scratch
repository: `check` writes to it, cleans up, and refuses one that has other tags.

`tofu-oci help checking` says how to use the command; `tofu-oci help check RULE` explains a rule.

Exit codes: 0 no findings at the level of --fail-on; 1 findings; 2 wrong usage, or the target is
missing; 3 it could not be asked: the network, the machine, or access was refused.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct CheckArgs {
    /// REGISTRY/REPOSITORY[:VERSION], oci:DIR[:VERSION], a lock file, or a module's source
    #[arg(value_name = "TARGET", required_unless_present = "list_rules")]
    pub(crate) target: Option<String>,
    /// List every rule with its level; no TARGET is needed
    #[arg(long, conflicts_with_all = ["target", "version", "address", "platforms", "deep", "against", "registry", "offline", "module"])]
    pub(crate) list_rules: bool,
    /// Check this version alone, and all tags
    #[arg(long, value_name = "VERSION", hide_short_help = true)]
    pub(crate) version: Option<Version>,
    /// The provider that the repository is for
    ///
    /// The default is what the newest index says, else the names of the executables.
    #[arg(long, value_name = "ADDR")]
    pub(crate) address: Option<ProviderAddr>,
    /// A platform to predict for, or that a lock file must cover (repeatable)
    ///
    /// The default is every platform that the repository offers, and this machine's. A lock file has no default.
    #[arg(long = "platform", value_name = "OS_ARCH")]
    pub(crate) platforms: Vec<Platform>,
    /// Read the packages of a registry too
    ///
    /// Without it `check` asks a registry only whether it has them. It always reads the packages of oci:DIR.
    #[arg(long)]
    pub(crate) deep: bool,
    /// Check modules, and predict what OpenTofu does with each tag
    ///
    /// TARGET may also be a source as in a module block: 'oci://HOST/REPOSITORY//FOLDER?tag=TAG'. Terraform reads no
    /// such source.
    #[arg(long, conflicts_with_all = ["address", "platforms", "registry", "offline"])]
    pub(crate) module: bool,
    /// With --module: predict for this source, whose repository is TARGET
    ///
    /// oci:DIR is that repository, or holds one image layout for each repository by its name.
    #[arg(long, value_name = "SOURCE", requires = "module", hide_short_help = true)]
    pub(crate) source: Option<String>,
    /// A second repository or oci:DIR that should hold the same
    #[arg(long, value_name = "TARGET")]
    pub(crate) against: Option<String>,
    /// Find out what the registry can do, in this scratch repository
    #[arg(long, conflicts_with_all = ["version", "address", "platforms", "deep", "against"])]
    pub(crate) registry: bool,
    /// With --registry: link a blob from this second scratch repository of the same registry
    #[arg(long, value_name = "REPOSITORY", requires = "registry", hide_short_help = true)]
    pub(crate) mount_from: Option<String>,
    /// For a lock file: ask no repository; excludes --platform
    #[arg(long)]
    pub(crate) offline: bool,
    /// Exit with 1 if there are findings of this level or higher
    #[arg(long, value_name = "LEVEL", default_value = "error")]
    pub(crate) fail_on: FailOn,
    /// How to print the findings
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: FindingsFormat,
    /// Apply this rule alone (repeatable)
    #[arg(long = "rule", value_name = "RULE")]
    pub(crate) rules: Vec<String>,
    /// Omit the findings of this rule (repeatable)
    #[arg(long = "ignore", value_name = "RULE")]
    pub(crate) ignore: Vec<String>,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    /// Use the trust policy, pins and CLI configuration of this directory
    ///
    /// The default is the directory of the lock file, else the current one.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) chdir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) lookup: LookupArgs,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    output: OutputArgs,
}

/// From which level on findings fail the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Errors
    Error,
    /// Errors and warnings
    Warning,
    /// Anything
    Note,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingsFormat {
    /// For people
    Table,
    /// JSON lines, as with --json
    Json,
    /// JUnit XML, with a test case for each rule
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

impl CheckArgs {
    /// How to print; `--json` is short for `--format json`.
    pub(crate) fn format(&self) -> FindingsFormat {
        if self.output.json { FindingsFormat::Json } else { self.format }
    }

    /// The shared output options.
    pub(crate) fn output(&self) -> OutputArgs {
        OutputArgs { json: self.format() == FindingsFormat::Json }
    }
}
