//! `bundle`.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};

use super::number::number;
use super::size::PartSize;
use super::{CarryArgs, ModuleMappingArgs, OutputArgs, RegistryAccess, RenameArgs, TrustArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci bundle create providers.tar --from-config infra
  tofu-oci bundle show providers.tar
  tofu-oci bundle load providers.tar 'registry.example.com/tofu/${namespace}/${type}'
  tofu-oci install --from bundle:providers.tar

A bundle carries providers and modules to a site without a network. See `tofu-oci help bundles`.")]
pub(crate) struct BundleArgs {
    #[command(subcommand)]
    pub(crate) verb: BundleVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BundleVerb {
    /// Put providers and modules into one file, with their signatures
    Create(Box<BundleCreateArgs>),
    /// Verify the providers and modules of a bundle and bring them into a registry or a folder
    Load(Box<BundleLoadArgs>),
    /// Show what is in a bundle
    Show(Box<BundleShowArgs>),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  What a configuration uses: providers in the versions of its lock file, and modules:
    tofu-oci bundle create carried.tar --from-config infra

  The newest three versions of two providers, for two platforms:
    tofu-oci bundle create providers.tar hashicorp/random hashicorp/null --latest 3 \\
      --platform linux_amd64 --platform darwin_arm64

  From one's own registry, in parts for media that take no larger files:
    tofu-oci bundle create providers.tar acme/widget@1.4.0 --max-size 4GB \\
      --from 'ghcr.io/acme/${namespace}/${type}'

`bundle create` writes the file anew, with exactly these releases; the same releases give the same
bytes. `mirror --to bundle:FILE` and `module mirror --to bundle:FILE` add to a bundle. What fails is a
line of the report, the others are in the bundle, and the exit code is 1.")]
pub(crate) struct BundleCreateArgs {
    /// The file to write
    #[arg(value_name = "FILE", value_parser = bundle_file())]
    pub(crate) file: PathBuf,
    /// Write parts of at most this size, FILE.001 and so on, such as 4GB or 700MB
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_size: Option<PartSize>,
    #[command(flatten)]
    pub(crate) carry: CarryArgs,
}

/// What of a bundle is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BundleKind {
    /// Its providers
    Providers,
    /// Its modules
    Modules,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  Into the registry of the site:
    tofu-oci bundle load providers.tar 'registry.example.com/tofu/${namespace}/${type}'
  Providers and modules:
    tofu-oci bundle load all.tar 'r.example.com/p/${namespace}/${type}' \\
      --modules-to 'r.example.com/m/${namespace}/${name}-${target_system}'
  Into a folder that any web server can serve to OpenTofu and Terraform:
    tofu-oci bundle load providers.tar static:/srv/www/providers

Every release is judged by trust.toml first: if one is refused, nothing is written. Signatures and
other referrers go along. What is there already is not sent again.")]
pub(crate) struct BundleLoadArgs {
    /// The bundle, or the name of its parts without .001
    #[arg(value_name = "FILE", value_parser = bundle_file())]
    pub(crate) file: PathBuf,
    /// Where providers go: a template for repositories, oci:DIR or static:DIR, as for `mirror --to`
    ///
    /// oci:DIR takes modules too, if nothing else says where they go.
    #[arg(value_name = "DEST")]
    pub(crate) destination: Option<String>,
    /// Where modules go: a template or oci:DIR, as for `module mirror --to` [default: by modules.toml]
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) modules_to: Option<String>,
    #[command(flatten)]
    pub(crate) mapping: ModuleMappingArgs,
    /// Load one kind alone [default: both]
    #[arg(long, value_name = "KIND")]
    pub(crate) only: Option<BundleKind>,
    /// How many releases to move at a time, and how many packages of each, 1 to 32
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = number::<u8, 1, 32>, allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) jobs: u8,
    #[command(flatten)]
    pub(crate) rename: RenameArgs,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci bundle show providers.tar
  tofu-oci bundle show providers.tar --tofurc > tofu.rc

Signatures are judged by trust.toml in the current directory. No package is read: `bundle load`
compares each one with its digest.")]
pub(crate) struct BundleShowArgs {
    /// The bundle, or the name of its parts without .001
    #[arg(value_name = "FILE", value_parser = bundle_file())]
    pub(crate) file: PathBuf,
    /// Print the CLI configuration for those who install what was loaded into a registry, and nothing else
    #[arg(long)]
    pub(crate) tofurc: bool,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Reads a file, or `bundle:FILE`, as `--from` and `--to` name it.
fn bundle_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| {
        let file = path.to_str().and_then(|text| text.strip_prefix("bundle:")).map(PathBuf::from);
        file.unwrap_or(path)
    })
}
