//! Whether a bundle is about the release that it is put beside.

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_layout::{Leaf, MAX_DOCUMENT};
use tofu_oci_source::read_release;
use tofu_oci_store::{ReadStore, StoreError, fetch_bytes};
use tofu_oci_trust::{MadeBy, Name, Peek, Statement, StatementSubject};
use tofu_oci_types::{Descriptor, Digest, Event, PackageHash, Platform, ProviderAddr, Reporter, Version, zip_name};

use super::model::AttachFileRequest;
use crate::found::FoundVersion;
use crate::sign::SignableRelease;
use crate::{AttachError, AttachedFile, PackError};

/// How many leaf manifests are read at once.
const AT_ONCE: usize = 4;
/// How many subjects a message names.
const SHOWN: usize = 3;

/// Demands that every bundle says something of this release: of its index, of a leaf, or of a zip. Of which it is, the statement
/// is compared; who made it is for those who install.
pub(super) async fn demand(
    store: &dyn ReadStore,
    request: &AttachFileRequest<'_>,
    release: &SignableRelease,
    reporter: &dyn Reporter,
) -> Result<(), PackError> {
    let mut parts = None;
    for Peek { statement, made_by } in request.files.iter().filter_map(AttachedFile::peek) {
        if names(statement, |digest| *digest == release.index.digest) {
            demand_names(statement, request, release)?;
            continue;
        }
        let known = match parts.take() {
            Some(known) => known,
            None => parts_of(store, release).await?,
        };
        let is_about = names(statement, |digest| known.others.contains(digest));
        let zips: Vec<_> = known.zips.iter().filter(|(_, zip)| names(statement, |digest| digest == zip)).collect();
        if !is_about && zips.is_empty() {
            let about = statement.subjects.iter().map(shown).collect();
            return Err(other(request, release, about).into());
        }
        if matches!(made_by, MadeBy::Key { .. }) {
            reporter.event(&by_a_key(request, statement));
        } else if let (false, Some(address), Some((platform, _))) = (is_about, release.of.address(), zips.first())
            && !names_a_zip(statement, &known, (address, request.version))
        {
            let wanted = zip_name(address, request.version, platform);
            reporter.event(&under_other_names(request, statement, &wanted));
        }
        parts = Some(known);
    }
    Ok(())
}

/// Whether a statement calls a zip as builds do, so that rules find it.
fn names_a_zip(statement: &Statement, parts: &Parts, (address, version): (&ProviderAddr, &Version)) -> bool {
    statement.files().is_some_and(|files| {
        let archives = files.archives(address.provider_type(), version);
        let is_named =
            |platform, zip| archives.get(platform).is_some_and(|named| named.is_some_and(|(_, it)| *it == zip));
        parts.zips.iter().any(|(platform, zip)| PackageHash::zh(zip).is_some_and(|zip| is_named(platform, zip)))
    })
}

/// What to know of a bundle whose zips have other names than rules compare.
fn under_other_names(request: &AttachFileRequest<'_>, statement: &Statement, wanted: &str) -> Event {
    let about = statement.subjects.first().map(shown).unwrap_or_default();
    let path = request.path.display();
    let text =
        format!("{path} does not name the zips of the release as SHA256SUMS does, so it counts for no rule: {about}");
    Event::warning("zips-under-other-names", text).with_hint(format!("attest the file under the name {wanted}"))
}

/// What to know of a bundle by a key that is about parts of the release.
fn by_a_key(request: &AttachFileRequest<'_>, statement: &Statement) -> Event {
    let about = in_words(statement.subjects.iter().map(shown).collect());
    let text = format!(
        "{} is made by a key and not about the index, so it counts for no rule: {about}",
        request.path.display()
    );
    let hint = "a key signs the index with `tofu-oci sign`; of archives, what an [[identity]] attests counts";
    Event::warning("attestation-by-key", text).with_hint(hint)
}

fn names(statement: &Statement, is_part: impl Fn(&Digest) -> bool) -> bool {
    statement.subjects.iter().filter_map(|subject| subject.digest.as_ref()).any(is_part)
}

/// What the subject of the index is called must be what the release is: another name would refute the release wherever it counts.
fn demand_names(
    statement: &Statement,
    request: &AttachFileRequest<'_>,
    release: &SignableRelease,
) -> Result<(), AttachError> {
    let of_index = |subject: &&StatementSubject| subject.digest.as_ref() == Some(&release.index.digest);
    for subject in statement.subjects.iter().filter(of_index) {
        let is_named = match (&subject.address, release.of.address()) {
            (Name::Absent, _) => true,
            (Name::Is(named), Some(address)) => named == address,
            _ => false,
        } && match &subject.version {
            Name::Absent => true,
            Name::Is(named) => named == request.version,
            Name::Invalid(_) => false,
        };
        if !is_named {
            return Err(other(request, release, vec![shown(subject)]));
        }
    }
    Ok(())
}

fn other(request: &AttachFileRequest<'_>, release: &SignableRelease, about: Vec<String>) -> AttachError {
    AttachError::OtherSubject {
        path: request.path.to_owned(),
        of: Box::new(release.of.clone()),
        version: Box::new(request.version.clone()),
        index: release.index.digest.clone(),
        about: in_words(about),
    }
}

/// A subject as the signer named it.
fn shown(subject: &StatementSubject) -> String {
    fn name<T: ToString>(name: &Name<T>) -> Option<String> {
        match name {
            Name::Absent => None,
            Name::Is(name) => Some(name.to_string()),
            Name::Invalid(text) => Some(text.clone()),
        }
    }
    let names = [subject.name.clone(), name(&subject.address), name(&subject.version)];
    let digest = subject.digest.as_ref().map(ToString::to_string);
    let all: Vec<String> = names.into_iter().chain([digest]).flatten().collect();
    if all.is_empty() { "something without a name".to_owned() } else { all.join(" ") }
}

impl AttachedFile {
    /// What a bundle is about, as its signer named it, in words; empty for any other file.
    pub fn about(&self) -> String {
        let subjects = self.peek().map(|peek| &peek.statement.subjects[..]).unwrap_or_default();
        in_words(subjects.iter().map(shown).collect())
    }
}

/// The first of many.
fn in_words(mut about: Vec<String>) -> String {
    let more = about.len().saturating_sub(SHOWN);
    about.truncate(SHOWN);
    if more > 0 {
        about.push(format!("{more} more"));
    }
    about.join(", ")
}

/// What of a release a statement can be about.
#[derive(Default)]
struct Parts {
    /// The leaves, or the package of a module.
    others: BTreeSet<Digest>,
    /// The zips, and what each is for.
    zips: Vec<(Platform, Digest)>,
}

async fn parts_of(store: &dyn ReadStore, release: &SignableRelease) -> Result<Parts, PackError> {
    let FoundVersion::Release(_) = &release.found else {
        let FoundVersion::Module(module) = &release.found else { return Ok(Parts::default()) };
        return Ok(Parts { others: BTreeSet::from([module.package().digest.clone()]), ..Parts::default() });
    };
    let Some(index) = read_release(store, &release.index).await? else { return Ok(Parts::default()) };
    let platforms = index.platforms();
    let leaves =
        platforms.iter().flat_map(|platform| index.candidates(platform).into_iter().map(move |leaf| (platform, leaf)));
    let leaves: Vec<_> = leaves.collect();
    let zips: Vec<_> = leaves.iter().map(|(_, leaf)| zip_of(store, leaf)).collect();
    let zips: Vec<Option<Digest>> = futures_util::stream::iter(zips).buffered(AT_ONCE).try_collect().await?;
    let zips = zips.into_iter().zip(&leaves).filter_map(|(zip, (platform, _))| Some(((*platform).clone(), zip?)));
    let zips = zips.collect();
    Ok(Parts { others: leaves.iter().map(|(_, leaf)| leaf.digest.clone()).collect(), zips })
}

/// The zip of a leaf; `None` for an image, and for a leaf that cannot be read.
async fn zip_of(store: &dyn ReadStore, leaf: &Descriptor) -> Result<Option<Digest>, StoreError> {
    match fetch_bytes(store, leaf, MAX_DOCUMENT).await {
        Ok(bytes) => Ok(Leaf::parse(leaf, &bytes).ok().and_then(|leaf| Some(leaf.package_layer()?.digest.clone()))),
        Err(error) if error.is_of_content() || error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}
