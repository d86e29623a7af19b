//! `bundle show`.

use std::sync::Arc;

use serde::Serialize;
use tofu_oci_fetch::{ReleaseWithEvidence, SignatureStanding, Trust, judged};
use tofu_oci_mirror::{
    BundledModule, BundledPackage, BundledVersion, bundled_modules, bundled_providers, contents_of, tofurc,
};
use tofu_oci_source::{BundleSource, ModulePackage, Source as _};
use tofu_oci_store::BundleArchive;
use tofu_oci_types::{Digest, Place, ProviderAddr, Reference, Subdir, Version};

use crate::args::BundleShowArgs;
use crate::diagnostic::Diagnostic;
use crate::page::{Page, counted};
use crate::printer;
use crate::report::{JsonLines, human_bytes};
use crate::verbs::context::Context;
use crate::verbs::install::working_dir;
use crate::verbs::mirror::or_failure;
use crate::verbs::versions::signed;

/// Prints what a bundle holds.
pub(crate) async fn show(context: &Context, args: &BundleShowArgs) -> Result<(), Diagnostic> {
    let trust = crate::trust::load(&args.trust, &working_dir(None)?)?;
    let source = BundleSource::new(&args.file);
    let bundle = source.bundle().await?;
    if args.tofurc {
        let addresses = source.providers().await?;
        let mut page = Page::default();
        page.block("", &tofurc(&addresses.iter().collect::<Vec<_>>()));
        printer::stdout(&page);
        return Ok(());
    }
    let mut rows = Vec::new();
    let contents = contents_of(bundle).await?;
    let mut modules = Vec::new();
    for module in bundled_modules(&contents).await? {
        let signatures = module_standing(bundle, &module, &trust).await;
        modules.push(ShownModule { module, signatures: signatures.map(|signatures| ShownSignatures { signatures }) });
    }
    for provider in bundled_providers(&contents).await? {
        for version in provider.versions {
            let signatures = standing(&source, &provider.address, &version.version, &trust).await;
            let signatures = signatures.map(|signatures| ShownSignatures { signatures });
            let BundledVersion { version, index, platforms: packages, .. } = version;
            rows.push(ShownRelease { address: provider.address.clone(), version, index, packages, signatures });
        }
    }
    let summary = BundleSummary {
        place: source.place(),
        bytes: bundle.size(),
        providers: source.providers().await?.len(),
        versions: rows.len(),
        modules: modules.len(),
    };
    let lines = |lines: &JsonLines| {
        lines.add_all(&rows);
        lines.add_all(&modules);
        lines.add(&summary);
    };
    context.emit_all(lines, || page(&rows, &modules, &summary));
    // What cannot be read has its row; the first of them says why.
    let unread = rows.into_iter().find_map(|row| row.signatures.err());
    match unread.or_else(|| modules.into_iter().find_map(|module| module.signatures.err())) {
        Some(diagnostic) => Err(diagnostic),
        None => Ok(()),
    }
}

async fn standing(
    source: &BundleSource,
    address: &ProviderAddr,
    version: &Version,
    trust: &Trust,
) -> Result<SignatureStanding, Diagnostic> {
    let release = source.release(address, version).await?;
    Ok(judged(&*release, trust).await?.1)
}

/// What the rules for modules say of one, by its signatures.
async fn module_standing(
    bundle: &BundleArchive,
    module: &BundledModule,
    trust: &Trust,
) -> Result<SignatureStanding, Diagnostic> {
    let store = Arc::new(bundle.repository(&module.address.to_string()));
    let package = ModulePackage::of_store(store, &Reference::Digest(module.manifest.clone()), Subdir::root()).await?;
    let mut found = ReleaseWithEvidence::of_module(&package, Some(&module.version), None).await?;
    let verdict = found.judge(trust);
    Ok(found.standing(&verdict, trust))
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "bundled")]
struct ShownRelease {
    address: ProviderAddr,
    version: Version,
    index: Option<Digest>,
    packages: Vec<BundledPackage>,
    #[serde(flatten, serialize_with = "or_failure")]
    signatures: Result<ShownSignatures, Diagnostic>,
}

#[derive(Serialize)]
struct ShownSignatures {
    signatures: SignatureStanding,
}

impl ShownRelease {
    /// The bytes of all its packages; `None` if the release does not say.
    fn bytes(&self) -> Option<u64> {
        self.packages.iter().try_fold(0_u64, |sum, package| Some(sum.saturating_add(package.bytes?)))
    }
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "bundle")]
struct BundleSummary<'a> {
    place: &'a Place,
    bytes: u64,
    providers: usize,
    versions: usize,
    /// Versions of modules.
    #[serde(skip_serializing_if = "crate::report::is_zero")]
    modules: usize,
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "bundled-module")]
struct ShownModule {
    #[serde(flatten)]
    module: BundledModule,
    #[serde(flatten, serialize_with = "or_failure")]
    signatures: Result<ShownSignatures, Diagnostic>,
}

/// Who has signed it, or that it cannot be read.
fn signed_or_unreadable(signatures: &Result<ShownSignatures, Diagnostic>) -> String {
    signatures.as_ref().map_or_else(|_| "unreadable".to_owned(), |found| signed(Some(&found.signatures)))
}

fn page(rows: &[ShownRelease], modules: &[ShownModule], summary: &BundleSummary<'_>) -> Page {
    let mut page = Page::default();
    if !rows.is_empty() {
        let head = ["provider", "version", "size", "signed", "platforms"];
        let row = |row: &ShownRelease| {
            let platforms: Vec<String> = row.packages.iter().map(|one| one.platform.to_string()).collect();
            [
                row.address.to_string(),
                row.version.to_string(),
                row.bytes().map_or_else(|| "-".to_owned(), human_bytes),
                signed_or_unreadable(&row.signatures),
                platforms.join(" "),
            ]
        };
        page.table(head, rows.iter().map(row));
        page.gap();
    }
    if !modules.is_empty() {
        let head = ["module", "version", "signed", "manifest"];
        let row = |ShownModule { module, signatures }: &ShownModule| {
            let BundledModule { address, version, manifest } = module;
            [address.to_string(), version.to_string(), signed_or_unreadable(signatures), manifest.to_string()]
        };
        page.table(head, modules.iter().map(row));
        page.gap();
    }
    let (providers, versions) = (counted(summary.providers, "provider"), counted(summary.versions, "version"));
    let bytes = human_bytes(summary.bytes);
    if modules.is_empty() {
        page.line(format_args!("{providers}, {versions}, {bytes}"));
    } else {
        let modules = counted(modules.len(), "module version");
        page.line(format_args!("{providers}, {versions}, {modules}, {bytes}"));
    }
    page
}
