//! `docs`.

use clap::{Args, Subcommand};

use super::{OutputArgs, RegistryAccess, query::LookupArgs};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  tofu-oci docs registry.example.com/acme/widget                        # the overview
  tofu-oci docs registry.example.com/acme/widget@1.4.0 resources/gear
  tofu-oci docs ghcr.io/acme/opentofu-provider-widget --list
  tofu-oci docs diff registry.example.com/acme/widget 1.3.0 1.4.0

`docs` prints what `push --docs` has put beside a release. PAGE is index, or FOLDER/NAME: resources,
data-sources, functions, guides, ephemeral-resources, list-resources or actions. The name alone will
do, with or without the provider before it: acme_gear is resources/gear. Without a version, `docs`
takes the newest one that `install` would choose. Documentation is not signed."
)]
pub(crate) struct DocsArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<DocsVerb>,
    /// One release: ADDR@VERSION (or @CONSTRAINT), REPOSITORY:VERSION or oci:DIR:VERSION
    #[arg(value_name = "ADDR@VERSION|REPOSITORY:VERSION", required = true)]
    pub(crate) subject: Option<String>,
    /// The page, such as resources/gear; without it the overview
    #[arg(value_name = "PAGE", conflicts_with = "list")]
    pub(crate) page: Option<String>,
    /// List the pages
    #[arg(long)]
    pub(crate) list: bool,
    #[command(flatten)]
    pub(crate) lookup: LookupArgs,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DocsVerb {
    /// List the pages and arguments that came and went between two versions
    Diff(Box<DocsDiffArgs>),
}

impl DocsArgs {
    /// How its results are printed.
    pub(crate) fn output(&self) -> &OutputArgs {
        match &self.verb {
            Some(DocsVerb::Diff(args)) => &args.output,
            None => &self.output,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci docs diff registry.example.com/acme/widget 1.3.0 1.4.0
  tofu-oci docs diff ghcr.io/acme/widget:1.4.0 oci:layout:1.5.0

Arguments are the names in the lists below \"Argument Reference\" and \"Schema\", those of nested
blocks with the name of the block before them. The exit code is 0, whatever came and went.")]
pub(crate) struct DocsDiffArgs {
    /// The first release; before two versions the provider or repository of both
    #[arg(value_name = "ADDR@A|ADDR")]
    pub(crate) first: String,
    /// The second release; or the first version
    #[arg(value_name = "ADDR@B|A")]
    pub(crate) second: String,
    /// The second version
    #[arg(value_name = "B")]
    pub(crate) third: Option<String>,
    #[command(flatten)]
    pub(crate) lookup: LookupArgs,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
