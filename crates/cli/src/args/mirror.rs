//! `mirror`.

use clap::Args;
use tofu_oci_mirror::MinAge;

use super::CarryArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  The newest three versions of a provider, each for every platform:
    tofu-oci mirror hashicorp/random --latest 3 --to 'ghcr.io/acme/${namespace}/${type}'

  What a configuration uses, with all its modules; its lock file chooses the versions:
    tofu-oci mirror --from-config infra --to 'ghcr.io/acme/${namespace}/${type}'

  By ./mirror.toml, every night; with --plan it says what it would do:
    tofu-oci mirror

  Take away what mirror.toml no longer names; first what that is:
    tofu-oci mirror --plan --prune
    tofu-oci mirror --prune

The zips, SHA256SUMS, its signatures and their keys go along unchanged, after they have been
verified. A release that fails is a line of the report, and the others go on; the exit code is 1
then. What is there already is not sent again. With --min-age 7d only versions that have been seen
for a week come in. See `tofu-oci help mirroring`.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct MirrorArgs {
    /// Where to: a template, oci:DIR, static:DIR or bundle:FILE
    ///
    /// A template for repositories contains ${namespace} and ${type}, and ${hostname} if providers of several hosts are mirrored. oci:DIR
    /// takes an image layout for each provider, static:DIR a network mirror as plain files. bundle:FILE adds to a bundle.
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) to: Option<String>,
    /// Hold a version back until it has been seen so long, such as 7d or 36h
    ///
    /// The first sighting is kept beside the destination. 0 holds nothing back.
    #[arg(long, value_name = "AGE")]
    pub(crate) min_age: Option<MinAge>,
    /// Print what would be done, and the bytes; change nothing
    #[arg(long)]
    pub(crate) plan: bool,
    /// Withdraw the mirrored versions that the rules no longer name
    ///
    /// A version that `mirror` did not put there stays.
    #[arg(long)]
    pub(crate) prune: bool,
    /// Compare the packages in oci:DIR or static:DIR with their digests, not their sizes
    ///
    /// All of them are read. What is damaged is fetched again.
    #[arg(long, hide_short_help = true)]
    pub(crate) verify: bool,
    /// Let `gone = "withdraw"` take any number of versions, also the last
    ///
    /// Without it all versions stay if their source no longer lists more than half of the mirrored ones, or lists none: a broken
    /// answer looks like that.
    #[arg(long, hide_short_help = true)]
    pub(crate) allow_all_gone: bool,
    /// Print a trust.toml with the keys of the upstream; mirror nothing
    ///
    /// They are the keys that the releases upstream are signed by.
    #[arg(long, conflicts_with_all = ["plan", "prune", "sign_key", "json"])]
    pub(crate) print_trust: bool,
    #[command(flatten)]
    pub(crate) carry: CarryArgs,
}
