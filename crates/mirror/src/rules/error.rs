//! What can be wrong with a `mirror.toml`.

use std::ops::Range;

use tofu_oci_types::{
    InvalidConstraints, InvalidModuleAddr, InvalidModulePattern, InvalidPattern, InvalidPlatform, InvalidProviderAddr,
};

use super::min_age::InvalidMinAge;
use crate::InvalidAttestationTemplate;

/// A file of rules that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct RulesError {
    /// The place in the text, in bytes, if it has one.
    pub span: Option<Range<usize>>,
    pub problem: RulesProblem,
}

/// What is wrong with rules.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RulesProblem {
    /// It is not TOML, has an unknown member, or has a value of another kind.
    #[error("{message}")]
    Syntax { message: String },
    /// There is neither a `[[provider]]` nor a `[[module]]`.
    #[error("the file names no provider and no module")]
    NoProvider,
    /// A `[[provider]]` without an address.
    #[error("a [[provider]] has neither `address` nor `pattern`")]
    NoAddress,
    /// A `[[provider]]` with two.
    #[error("a [[provider]] has both `address` and `pattern`")]
    TwoAddresses,
    /// One `[provider]` or `[source]`.
    #[error("[{name}] is a table, and the file has a list of them")]
    OneTable { name: &'static str },
    /// `[[sources]]`.
    #[error("`sources` is a list of places, and not of tables")]
    SourceTables,
    /// A `pattern` in a `[[module]]`.
    #[error("a [[module]] has no `pattern`: a registry does not list its modules, so a pattern cannot name them")]
    PatternOfModules,
    #[error("`address` has a version after the @")]
    VersionInAddress {
        /// What stands before the `@`.
        address: String,
        versions: String,
    },
    #[error(transparent)]
    Address(InvalidProviderAddr),
    /// Not the address of a module.
    #[error(transparent)]
    ModuleAddress(InvalidModuleAddr),
    /// An invalid pattern of providers.
    #[error(transparent)]
    Pattern(InvalidPattern),
    /// An invalid pattern of modules.
    #[error(transparent)]
    ModulePattern(InvalidModulePattern),
    #[error("the pattern {pattern:?} names no host, and so means one default host alone")]
    NoHost { pattern: String },
    #[error("the pattern {pattern:?} is for a provider of a host without a dot")]
    PlainHost { pattern: String },
    #[error(transparent)]
    Versions(InvalidConstraints),
    #[error("`versions` takes one constraint, not a list")]
    VersionList,
    #[error("`{name}` is for the whole file, and stands in a table")]
    BelowTable { name: String },
    #[error(transparent)]
    Platform(InvalidPlatform),
    #[error("the list of platforms is empty; omit it for all platforms")]
    NoPlatforms,
    #[error(transparent)]
    MinAge(InvalidMinAge),
    #[error(transparent)]
    Attestations(InvalidAttestationTemplate),
    #[error("the list of sources is empty; omit it for those of the CLI configuration")]
    NoSources,
}

impl RulesProblem {
    /// What to do, if the problem does not say it.
    pub fn instead(&self) -> Option<String> {
        match self {
            Self::NoProvider | Self::NoAddress => {
                Some("write [[provider]] with address = \"HOST/NAMESPACE/TYPE\"".to_owned())
            }
            Self::ModuleAddress(_) => Some("write HOST/NAMESPACE/NAME/SYSTEM".to_owned()),
            Self::OneTable { name } => Some(format!("write [[{name}]], with two brackets")),
            Self::SourceTables => Some("write [[source]] for `attestations`, or sources = [\"PLACE\"]".to_owned()),
            Self::VersionInAddress { address, versions } => {
                Some(format!("write address = {address:?} and versions = {versions:?}"))
            }
            Self::PatternOfModules => {
                Some("write a [[module]] with address = \"HOST/NAMESPACE/NAME/SYSTEM\" for each".to_owned())
            }
            Self::TwoAddresses => Some("write a [[provider]] for each".to_owned()),
            Self::VersionList => {
                Some("write one [[provider]] for each version; entries for one provider add up".to_owned())
            }
            Self::BelowTable { name } => {
                Some(format!("write `{name}` above the first [[provider]], and above every other table"))
            }
            Self::MinAge(error) => error.instead(),
            Self::Attestations(InvalidAttestationTemplate::Login) => {
                Some("fetch what needs a login before, and name its folder".to_owned())
            }
            Self::Address(error) => error.suggestion().map(|instead| format!("write {instead}")),
            Self::Pattern(error) => Some(error.instead()),
            Self::ModulePattern(error) => Some(error.instead().to_owned()),
            Self::PlainHost { pattern } => Some(format!(
                "for a module write HOST/{pattern}, such as registry.terraform.io/{pattern}; if the host has no dot, write it with \
                 its port"
            )),
            Self::NoHost { pattern } => Some(format!("write HOST/{pattern}, such as registry.opentofu.org/{pattern}")),
            _ => None,
        }
    }
}
