//! Referrers: the API, its header, and the fallback tag.

use serde_json::{Value, json};
use tofu_oci_remote::{RawAnswer, RawMethod};
use tofu_oci_store::StoreError;

use super::report::CapabilityState;
use super::scratch::{EMPTY_TYPE, OCI_INDEX, OCI_MANIFEST, ScratchContent, ScratchRepository, descriptor, document};

pub(super) const KIND: &str = "application/vnd.tofu-oci.probe.referrer.v1";

pub(super) async fn try_all(scratch: &mut ScratchRepository<'_>) -> Result<(), StoreError> {
    let (Some(index), Some(empty)) = (scratch.index.clone(), scratch.empty.clone()) else {
        scratch.row("referrers-api", "the referrers API", CapabilityState::NotTried, "no index could be pushed");
        return Ok(());
    };
    let referrer = referrer(&index, &empty);
    let answer = scratch.put_manifest(None, OCI_MANIFEST, &referrer).await?;
    let state = if answer.is_success() { CapabilityState::Works } else { CapabilityState::Missing };
    scratch.row("referrer", "a manifest with a subject", state, format!("PUT {}", answer.summary()));
    let header = answer.header("oci-subject").map(str::to_owned);
    let api = if answer.is_success() { api(scratch, &index, &referrer).await? } else { CapabilityState::NotTried };
    subject_header(scratch, header.as_deref(), &index, api);
    if answer.is_success() {
        fallback(scratch, &index, &referrer).await?;
    }
    early(scratch, &empty).await
}

fn referrer(subject: &ScratchContent, empty: &ScratchContent) -> ScratchContent {
    document(&json!({
        "schemaVersion": 2,
        "mediaType": OCI_MANIFEST,
        "artifactType": KIND,
        "config": descriptor(EMPTY_TYPE, empty),
        "layers": [descriptor(EMPTY_TYPE, empty)],
        "subject": descriptor(OCI_INDEX, subject),
    }))
}

fn lists(answer: &RawAnswer, referrer: &ScratchContent) -> bool {
    let list: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let mut entries = list["manifests"].as_array().into_iter().flatten();
    entries.any(|entry| entry["digest"].as_str() == Some(referrer.digest.as_str()))
}

async fn api(
    scratch: &mut ScratchRepository<'_>,
    index: &ScratchContent,
    referrer: &ScratchContent,
) -> Result<CapabilityState, StoreError> {
    let answer = scratch.ask(RawMethod::Get, &format!("referrers/{}", index.digest)).await?;
    let is_index = answer.header("content-type").is_some_and(|text| text.starts_with(OCI_INDEX));
    let (state, said) = match (answer.status, is_index, lists(&answer, referrer)) {
        (200, true, true) => (CapabilityState::Works, "GET 200, and the referrer is listed".to_owned()),
        (200, true, false) => (CapabilityState::Differs, "GET 200, and the referrer is not listed".to_owned()),
        (200, false, _) => (CapabilityState::Missing, "GET 200, but no index".to_owned()),
        _ => (CapabilityState::Missing, format!("GET {}", answer.summary())),
    };
    scratch.row("referrers-api", "the referrers API", state, said);
    if state == CapabilityState::Works {
        let path = format!("referrers/{}?artifactType=application/vnd.tofu-oci.probe.other.v1", index.digest);
        let answer = scratch.ask(RawMethod::Get, &path).await?;
        let (filter, said) = if lists(&answer, referrer) {
            (CapabilityState::Missing, "the filter is ignored, as it may be")
        } else {
            (CapabilityState::Works, "other types are left out")
        };
        scratch.row("referrers-filter", "referrers of one type", filter, said);
    }
    Ok(state)
}

/// The header says that the registry keeps the list itself, so that no fallback tag is needed.
fn subject_header(
    scratch: &mut ScratchRepository<'_>,
    header: Option<&str>,
    index: &ScratchContent,
    api: CapabilityState,
) {
    let (state, said) = match (header, api) {
        (Some(digest), CapabilityState::Works) if digest == index.digest.as_str() => {
            (CapabilityState::Works, "it names the subject".to_owned())
        }
        (Some(_), CapabilityState::Works) => {
            (CapabilityState::Differs, "it names something else than the subject".to_owned())
        }
        (Some(_), _) => (CapabilityState::Differs, "it is sent, but the API does not list the referrer".to_owned()),
        (None, CapabilityState::Works) => (CapabilityState::Missing, "not sent, although the API is there".to_owned()),
        (None, _) => (CapabilityState::Missing, "not sent".to_owned()),
    };
    scratch.row("oci-subject", "the header OCI-Subject", state, said);
}

/// The tag `sha256-HEX`: can it be written, and does it name what was written?
async fn fallback(
    scratch: &mut ScratchRepository<'_>,
    index: &ScratchContent,
    referrer: &ScratchContent,
) -> Result<(), StoreError> {
    const WHAT: &str = "the tag that stands in for the API";
    let tag = index.digest.as_str().replacen(':', "-", 1);
    let before = scratch.ask(RawMethod::Get, &format!("manifests/{tag}")).await?;
    if before.is_success() && before.body == index.bytes {
        let said = "the name sha256-HEX gives the subject itself, so that no list can stand there";
        scratch.row("referrers-tag", WHAT, CapabilityState::Differs, said);
        return Ok(());
    }
    let mut entry = descriptor(OCI_MANIFEST, referrer);
    entry["artifactType"] = json!(KIND);
    let list = json!({ "schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": [entry] });
    let written = scratch.put_manifest(Some(&tag), OCI_INDEX, &document(&list)).await?;
    if !written.is_success() {
        scratch.row("referrers-tag", WHAT, CapabilityState::Missing, format!("PUT {}", written.summary()));
        return Ok(());
    }
    let answer = scratch.ask(RawMethod::Get, &format!("manifests/{tag}")).await?;
    let (state, said) = if lists(&answer, referrer) {
        (CapabilityState::Works, format!("PUT {}, and it comes back", written.summary()))
    } else {
        (CapabilityState::Differs, format!("PUT {}, but another list comes back", written.summary()))
    };
    scratch.row("referrers-tag", WHAT, state, said);
    Ok(())
}

/// A referrer whose subject does not exist yet.
async fn early(scratch: &mut ScratchRepository<'_>, empty: &ScratchContent) -> Result<(), StoreError> {
    let early = referrer(&scratch.content("a subject that is not there"), empty);
    let answer = scratch.put_manifest(None, OCI_MANIFEST, &early).await?;
    let (state, said) = if answer.is_success() {
        (CapabilityState::Works, format!("PUT {}", answer.summary()))
    } else {
        (CapabilityState::Missing, format!("PUT {}: the subject must be there first", answer.summary()))
    };
    scratch.row("referrer-before-subject", "a referrer before its subject", state, said);
    Ok(())
}
