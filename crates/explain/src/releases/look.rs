//! Which versions of a repository are not providers, and how many of them are looked into.

use std::sync::Arc;

use futures_util::{FutureExt as _, StreamExt as _};
use tofu_oci_fetch::{SignatureStanding, Trust, judged};
use tofu_oci_layout::{DocumentKind, LayoutError, PackageLayout};
use tofu_oci_source::{Release, ReleaseDate, Source, SourceError};
use tofu_oci_store::StoreError;
use tofu_oci_types::{Counter, Digest, Platform, ProviderAddr, Reporter, Version};

/// How many versions are looked into at once.
const AT_ONCE: usize = 16;

/// How many of the newest versions [`kinds`] looks into if all of them are providers.
const NEWEST: usize = 20;

/// Which versions, and where.
#[derive(Clone, Copy)]
pub struct VersionsQuestion<'a> {
    pub source: &'a dyn Source,
    /// The provider; `None` if a repository was named, whose releases name it themselves.
    pub address: Option<&'a ProviderAddr>,
    /// The address to ask a repository with; its answer does not depend on it.
    pub asked_as: &'a ProviderAddr,
    /// Who hears how many were looked into.
    pub reporter: &'a dyn Reporter,
}

/// How far to look into a version.
#[derive(Clone, Copy)]
pub enum LookDepth<'a> {
    /// Whether it is a provider.
    Kind,
    Platforms,
    /// Everything that a line can say, with what the policy makes of its signatures.
    Details(&'a Trust),
}

/// A version, looked into.
#[derive(Debug)]
pub struct VersionLook {
    pub version: Version,
    /// What lies under its tag.
    pub content: VersionContent,
}

/// What lies under the tag of a version.
#[derive(Debug)]
pub enum VersionContent {
    /// A release of a provider.
    Provider(VersionDetails),
    /// Something else, such as a container image.
    NotAProvider {
        /// What it is, in words.
        found: String,
    },
    /// A release that cannot be read: what is wrong with it concerns it alone.
    Broken {
        /// What is wrong, in words.
        problem: String,
    },
    /// The place failed, which may concern all versions.
    Failed(SourceError),
}

/// What a look found, as deep as it went; empty beyond that.
#[derive(Debug, Default)]
pub struct VersionDetails {
    /// The provider that was named, or that the release names itself.
    pub address: Option<ProviderAddr>,
    /// The platforms, of all methods.
    pub platforms: Vec<Platform>,
    pub index: Option<Digest>,
    pub protocols: Vec<String>,
    /// When it was made.
    pub created: Option<ReleaseDate>,
    /// What its signatures come to; `None` if nothing names the provider.
    pub signatures: Option<SignatureStanding>,
}

/// Which of these versions, ascending, are no providers: the newest twenty are looked into, and all others only if one
/// of those is something else. The versions that were looked into, newest first.
///
/// A repository of honest releases costs few requests, however many versions it has.
pub async fn kinds(question: &VersionsQuestion<'_>, versions: &[Version]) -> Vec<VersionLook> {
    let (older, newest) = versions.split_at(versions.len().saturating_sub(NEWEST));
    let mut looks = look(question, newest, LookDepth::Kind, usize::MAX).await;
    if looks.iter().any(|look| matches!(look.content, VersionContent::NotAProvider { .. })) {
        looks.extend(look(question, older, LookDepth::Kind, usize::MAX).await);
    }
    looks
}

/// Looks into these versions, ascending, from the newest on, until so many releases of a provider were found.
pub async fn look(
    question: &VersionsQuestion<'_>,
    versions: &[Version],
    depth: LookDepth<'_>,
    most: usize,
) -> Vec<VersionLook> {
    let count = Counter::new(question.reporter, "versions read", versions.len().min(most));
    let looks = versions.iter().rev().map(|version| one(question, version, depth).inspect(|_| count.done()));
    let looks: Vec<_> = looks.collect();
    let mut looks = futures_util::stream::iter(looks).buffered(AT_ONCE);
    let (mut found, mut releases) = (Vec::new(), 0);
    while releases < most {
        let Some(look) = looks.next().await else { break };
        releases += usize::from(!matches!(look.content, VersionContent::NotAProvider { .. }));
        found.push(look);
    }
    found
}

async fn one(question: &VersionsQuestion<'_>, version: &Version, depth: LookDepth<'_>) -> VersionLook {
    let content = match details(question, version, depth).await {
        Ok(details) => VersionContent::Provider(details),
        Err(error) => content_of(error),
    };
    VersionLook { version: version.clone(), content }
}

async fn details(
    question: &VersionsQuestion<'_>,
    version: &Version,
    depth: LookDepth<'_>,
) -> Result<VersionDetails, SourceError> {
    let VersionsQuestion { source, address, asked_as, .. } = *question;
    let mut release = source.release(asked_as, version).await?;
    require_label(&release).await?;
    let address = address.cloned().or(release.describe().await?.published_as.clone());
    let named = VersionDetails { address, ..VersionDetails::default() };
    let LookDepth::Details(trust) = depth else {
        let platforms = if let LookDepth::Platforms = depth { release.platforms().await? } else { Vec::new() };
        return Ok(VersionDetails { platforms, ..named });
    };
    // What was read is not read again under the other name.
    if let Some(own) = named.address.as_ref().filter(|own| *own != asked_as) {
        release = source.release(own, version).await?;
    }
    // A signature names a provider: nothing can be said of it if nothing else does.
    let signatures = match &named.address {
        Some(_) => Some(judged(&*release, trust).await?.1),
        None => None,
    };
    let about = release.describe().await?;
    Ok(VersionDetails {
        platforms: release.platforms().await?,
        index: release.id().identity.index().cloned(),
        protocols: about.protocols.clone(),
        created: release.created().await?,
        signatures,
        ..named
    })
}

/// Fails for images without the label: only their config says what they are.
async fn require_label(release: &Arc<dyn Release>) -> Result<(), SourceError> {
    let about = release.describe().await?;
    if let (Some(PackageLayout::Image), Some(first)) = (about.layout, about.platforms.first()) {
        Arc::clone(release).offer(first).await?;
    }
    Ok(())
}

/// What an error says about the content of its tag.
fn content_of(error: SourceError) -> VersionContent {
    let problem = match error.innermost() {
        SourceError::Layout { source, .. } => match not_a_provider(source) {
            Some(found) => return VersionContent::NotAProvider { found },
            None => source.to_string(),
        },
        SourceError::Unusable { problem, .. } => problem.clone(),
        SourceError::NotOffered { what, .. } => what.to_string(),
        SourceError::Store(
            error @ (StoreError::NotFound { .. }
            | StoreError::DigestMismatch { .. }
            | StoreError::SizeMismatch { .. }
            | StoreError::TooLarge { .. }
            | StoreError::UnsupportedDigest { .. }),
        ) => error.to_string(),
        _ => return VersionContent::Failed(error),
    };
    VersionContent::Broken { problem }
}

/// What it is instead of a provider; `None` for a release of a provider that is broken.
fn not_a_provider(error: &LayoutError) -> Option<String> {
    match error {
        LayoutError::NotAProviderIndex { found: DocumentKind::ProviderTarget } => None,
        LayoutError::NotAProviderIndex { found } | LayoutError::NotAProviderPackage { found, .. } => {
            Some(found.to_string())
        }
        LayoutError::NoProviderLabel => Some("a container image".to_owned()),
        LayoutError::OtherPackageType { found } => Some(format!("a package of type `{found}`")),
        LayoutError::NoProviderPackages { .. } => Some("an index without provider packages".to_owned()),
        _ => None,
    }
}
