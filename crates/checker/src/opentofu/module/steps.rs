//! From a reference to an unpacked module, in `OpenTofu`'s order.

use tofu_oci_types::{Algorithm, Digest, Reference, TofuReleases};

use super::question::ModulePrediction;
use super::source::AskedModule;
use crate::Rejection;
use crate::facts::{FaultKind, FoundDocument, FoundModule, FoundModulePackage, ModuleContent, ReadFault};
use crate::go::json::{GoIndex, GoManifest, GoReading};
use crate::go::{GoDescriptor, ModuleRefusal};
use crate::opentofu::question::PredictedOutcome;
use crate::opentofu::steps::{INDEX, MANIFEST, check_content, length, sent_type, unreadable};

const MODULE: &str = "application/vnd.opentofu.modulepkg";

/// How far the model came.
enum ModuleOutcome {
    Installs,
    InstallsAsFarAsSeen,
    Refuses(ModuleRefusal),
    Unread(Rejection),
}

/// What `OpenTofu` does with a module; `found` is what the repository has for it, unless its source is refused.
pub(crate) fn install_module(asked: &AskedModule, found: Option<&FoundModule>) -> ModulePrediction {
    let outcome = match (&asked.package, found) {
        (Err(refusal), _) => ModuleOutcome::Refuses(refusal.clone()),
        (Ok(_), None) => ModuleOutcome::Unread(Rejection::RepositoryUnreadable),
        (Ok(_), Some(found)) => try_install(found).unwrap_or_else(|outcome| outcome),
    };
    let (installs, refusal, unread) = match outcome {
        ModuleOutcome::Installs => (true, None, false),
        ModuleOutcome::InstallsAsFarAsSeen => (true, None, true),
        ModuleOutcome::Refuses(refusal) => (false, Some(refusal), false),
        ModuleOutcome::Unread(because) => {
            let detail =
                if because == Rejection::Malformed { "it is malformed" } else { "not all of it could be read" };
            (false, Some(ModuleRefusal { because, detail: detail.to_owned() }), true)
        }
    };
    ModulePrediction {
        releases: TofuReleases::ALL,
        source: asked.source.clone(),
        reference: asked.package.as_ref().ok().map(|package| package.reference.to_string()),
        digest: found.and_then(digest),
        installs,
        because: refusal.as_ref().map(|refusal| refusal.because),
        detail: refusal.map(|refusal| refusal.detail).unwrap_or_default(),
        unread,
    }
}

fn digest(found: &FoundModule) -> Option<Digest> {
    found.manifest.found.as_ref().ok().map(|document| document.digest.clone())
}

fn try_install(found: &FoundModule) -> Result<ModuleOutcome, ModuleOutcome> {
    let document = found.manifest.found.as_ref().map_err(|fault| not_there(&found.reference, fault))?;
    resolve(&found.reference, document)?;
    let manifest = read_manifest(document)?;
    select_zip(&manifest)?;
    let Some(package) = &found.package else { return Err(ModuleOutcome::Unread(Rejection::RepositoryUnreadable)) };
    let descriptor = &package.descriptor;
    match descriptor.parsed_digest().map(|digest| digest.algorithm()) {
        Some(Algorithm::Sha256 | Algorithm::Sha512) => {}
        _ => {
            return refuse(
                Rejection::DigestAlgorithm,
                format!("`{}` is not a sha256 or sha512 digest", descriptor.digest),
            );
        }
    }
    unpacked(package)
}

fn not_there(reference: &Reference, fault: &ReadFault) -> ModuleOutcome {
    let missing = match reference {
        Reference::Tag(_) => Rejection::TagNotFound,
        Reference::Digest(_) => Rejection::DigestNotFound,
    };
    outcome(unreadable(fault, missing), &fault.text)
}

/// An outcome of the model of providers, in the words of modules.
fn outcome(outcome: PredictedOutcome, detail: &str) -> ModuleOutcome {
    match outcome {
        PredictedOutcome::Refuses(Rejection::DigestMismatch) => {
            let detail = "its bytes do not have the digest that names it".to_owned();
            ModuleOutcome::Refuses(ModuleRefusal { because: Rejection::ManifestDigestMismatch, detail })
        }
        PredictedOutcome::Refuses(because) => {
            ModuleOutcome::Refuses(ModuleRefusal { because, detail: detail.to_owned() })
        }
        PredictedOutcome::Unread(because) => ModuleOutcome::Unread(because),
        PredictedOutcome::Installs | PredictedOutcome::InstallsAsFarAsSeen => ModuleOutcome::InstallsAsFarAsSeen,
    }
}

/// The answer to the first request.
fn resolve(reference: &Reference, document: &FoundDocument) -> Result<(), ModuleOutcome> {
    if matches!(reference, Reference::Tag(_)) && document.sent_digest.is_none() {
        return refuse(Rejection::RegistryAnswer, "the registry answers without `Docker-Content-Digest`");
    }
    let sent = sent_type(document);
    if sent != MANIFEST {
        let detail = format!("it is sent as `{sent}`: expected an OCI image manifest, and no index");
        return refuse(Rejection::NotAnImageManifest, detail);
    }
    Ok(())
}

fn read_manifest(document: &FoundDocument) -> Result<GoManifest, ModuleOutcome> {
    check_content(document, length(document))
        .map_err(|predicted| outcome(predicted, "it is 5 MiB or larger, or its digest is of an unknown algorithm"))?;
    let (manifest, reading) = GoManifest::read(&document.bytes);
    match reading {
        GoReading::Good => {}
        GoReading::NotPredicted => return Err(ModuleOutcome::Unread(Rejection::Malformed)),
        GoReading::Refused => {
            let (index, reading) = GoIndex::read(&document.bytes);
            return if reading == GoReading::Good && index.media_type == INDEX {
                refuse(Rejection::NotAnImageManifest, "it is an index: expected an OCI image manifest")
            } else {
                refuse(Rejection::ManifestNotJson, "OpenTofu cannot read it as the JSON of a manifest")
            };
        }
    }
    if manifest.media_type != MANIFEST {
        let detail = format!("its mediaType is `{}`: expected {MANIFEST}", manifest.media_type);
        return refuse(Rejection::BodyMediaTypeMissing, detail);
    }
    if manifest.artifact_type != MODULE {
        let detail = format!("its artifactType is `{}`: expected {MODULE}", manifest.artifact_type);
        return refuse(Rejection::ArtifactType, detail);
    }
    Ok(manifest)
}

fn select_zip(manifest: &GoManifest) -> Result<(), ModuleOutcome> {
    let types = || manifest.layers.iter().map(|layer: &GoDescriptor| layer.media_type.as_str()).collect::<Vec<_>>();
    match manifest.zips().len() {
        1 => Ok(()),
        0 if manifest.layers.is_empty() => refuse(Rejection::NoZipLayer, "it has no layers: expected one archive/zip"),
        0 => refuse(
            Rejection::NoZipLayerOtherFormat,
            format!("none of its layers is archive/zip, they are {}", types().join(", ")),
        ),
        several => refuse(Rejection::SeveralZipLayers, format!("it has {several} layers of type archive/zip")),
    }
}

fn unpacked(package: &FoundModulePackage) -> Result<ModuleOutcome, ModuleOutcome> {
    let descriptor = &package.descriptor;
    let facts = match package.content.as_ref() {
        Ok(ModuleContent::Read(facts)) => facts,
        Ok(ModuleContent::There(_)) => return Ok(ModuleOutcome::InstallsAsFarAsSeen),
        Err(fault) if fault.kind == FaultKind::WrongSize => return refuse(Rejection::SizeMismatch, fault.text.clone()),
        Err(fault) => return Err(outcome(unreadable(fault, Rejection::BlobNotFound), &fault.text)),
    };
    if i64::try_from(facts.size) != Ok(descriptor.size) {
        let detail = format!("it has {} bytes, and {} in its descriptor", facts.size, descriptor.size);
        return refuse(Rejection::SizeMismatch, detail);
    }
    if !facts.intact {
        return refuse(Rejection::BlobMismatch, "its bytes do not have the digest that names it");
    }
    if let Err(fault) = &facts.zip {
        return match fault.because() {
            Rejection::RepositoryUnreadable => Err(ModuleOutcome::Unread(Rejection::RepositoryUnreadable)),
            because => refuse(because, "it is not a zip"),
        };
    }
    match &facts.folder {
        None => Ok(ModuleOutcome::InstallsAsFarAsSeen),
        Some(Ok(_)) => Ok(ModuleOutcome::Installs),
        Some(Err(refusal)) => Err(ModuleOutcome::Refuses(refusal.clone())),
    }
}

fn refuse<T>(because: Rejection, detail: impl Into<String>) -> Result<T, ModuleOutcome> {
    Err(ModuleOutcome::Refuses(ModuleRefusal { because, detail: detail.into() }))
}
