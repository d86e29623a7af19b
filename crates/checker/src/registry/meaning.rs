//! What the answers mean for publishing and installing providers.

use tofu_oci_store::Transport;

use super::report::{Capability, CapabilityState, ProbeReport};
use crate::model::{CheckRule, Finding};
use crate::rules::catalogue::registry::{
    REGISTRY_CUSTOM_TYPES, REGISTRY_DELETE, REGISTRY_DIGEST, REGISTRY_DIGEST_ALGORITHM, REGISTRY_HEAD,
    REGISTRY_IMMUTABLE, REGISTRY_INDEX_CHECK, REGISTRY_LEFT, REGISTRY_LIMIT, REGISTRY_LOCATION, REGISTRY_MOUNT,
    REGISTRY_PAGING, REGISTRY_RANGES, REGISTRY_REFERRERS, REGISTRY_REFERRERS_LOST, REGISTRY_TAGS, REGISTRY_UPLOAD_MODE,
};

pub(super) fn report(
    repository: String,
    transport: Transport,
    capabilities: Vec<Capability>,
    left: Vec<String>,
    requests: usize,
    not_judged: Vec<(&'static str, String)>,
) -> ProbeReport {
    let mut report =
        ProbeReport { repository, capabilities, meaning: Vec::new(), left, requests, findings: Vec::new(), not_judged };
    // The overall meaning is unknown as long as a part of it is.
    if report.not_judged.is_empty() {
        report.meaning = meaning(&report, transport);
    }
    report.findings = findings(&report);
    report
}

/// Whether clients find signatures: by the API, or by the fallback tag.
fn referrers_lost(report: &ProbeReport) -> bool {
    report.state("referrer") == CapabilityState::Works
        && report.state("referrers-api") != CapabilityState::Works
        && report.state("referrers-tag") != CapabilityState::Works
}

fn rule_of(name: &str, state: CapabilityState) -> Option<&'static CheckRule> {
    Some(match (name, state) {
        (_, CapabilityState::Works | CapabilityState::NotTried) => return None,
        ("upload-location", _) => &REGISTRY_LOCATION,
        ("upload-one-post" | "upload-chunked" | "chunk-out-of-order" | "upload-streamed", _) => &REGISTRY_UPLOAD_MODE,
        ("mount-own" | "mount-other" | "mount-anonymous", _) => &REGISTRY_MOUNT,
        ("blob-ranges", _) => &REGISTRY_RANGES,
        ("digest-checked" | "manifest-by-digest", _) => &REGISTRY_DIGEST,
        ("sha512", _) => &REGISTRY_DIGEST_ALGORITHM,
        ("empty-config" | "artifact-type" | "config-type" | "layer-type" | "index" | "image" | "referrer", _) => {
            &REGISTRY_CUSTOM_TYPES
        }
        ("index-checked", _) => &REGISTRY_INDEX_CHECK,
        ("head-tag" | "head-digest", _) => &REGISTRY_HEAD,
        ("manifest-4-mib", _) => &REGISTRY_LIMIT,
        ("tags", _) | ("tags-n" | "tags-last", CapabilityState::Differs) => &REGISTRY_TAGS,
        ("tags-n" | "tags-last", _) => &REGISTRY_PAGING,
        ("tag-moved" | "tag-again", _) => &REGISTRY_IMMUTABLE,
        ("referrers-api" | "oci-subject" | "referrers-filter" | "referrers-tag" | "referrer-before-subject", _) => {
            &REGISTRY_REFERRERS
        }
        ("delete-tag" | "delete-manifest" | "delete-blob", _) => &REGISTRY_DELETE,
        _ => return None,
    })
}

fn findings(report: &ProbeReport) -> Vec<Finding> {
    let place = &report.repository;
    let of_row = |row: &Capability| {
        Some(rule_of(row.name, row.state)?.at(place, format!("{}: {}; {}", row.what, row.state.word(), row.detail)))
    };
    let mut found: Vec<Finding> = report.capabilities.iter().filter_map(of_row).collect();
    let tried = |name: &str| report.state(name) != CapabilityState::NotTried;
    if referrers_lost(report) && tried("referrers-api") && tried("referrers-tag") {
        let said = "a referrer that was pushed is listed neither by the API nor under a tag";
        found.push(REGISTRY_REFERRERS_LOST.at(place, said));
    }
    if !report.left.is_empty() {
        found.push(REGISTRY_LEFT.at(place, format!("{} could not be deleted", counted(report.left.len()))));
    }
    found
}

fn counted(count: usize) -> String {
    if count == 1 { "1 tag, manifest or blob".to_owned() } else { format!("{count} tags, manifests and blobs") }
}

fn meaning(report: &ProbeReport, transport: Transport) -> Vec<String> {
    let works = |name: &str| report.state(name) == CapabilityState::Works;
    let mut reported: Vec<&str> = Vec::new();
    let artifact = ["artifact-type", "index", "empty-config"].into_iter().all(works);
    reported.push(match (artifact && works("layer-type"), works("image")) {
        (true, _) => "tofu-oci push: every layout (artifact, image, both)",
        (false, true) => "tofu-oci push: `--layout image` alone, which OpenTofu 1.10 to 1.13 do not install",
        (false, false) => "tofu-oci push: nothing can be published here",
    });
    reported.push(match (artifact && works("head-tag") && works("tags"), artifact) {
        (true, _) if transport == Transport::PlainHttp => {
            "OpenTofu 1.10 to 1.13: do not install from here, since it answers plain HTTP; over HTTPS they would, through \
             an oci_mirror"
        }
        (true, _) => "OpenTofu 1.10 to 1.13: install from here through an oci_mirror, over HTTPS alone",
        (false, true) => "OpenTofu 1.10 to 1.13: refuse this registry, see the findings about HEAD and tags",
        (false, false) => "OpenTofu 1.10 to 1.13: cannot install from here; tofu-oci installs labelled images",
    });
    reported.push(match (works("referrer"), works("referrers-api"), works("referrers-tag")) {
        (true, true, _) => "signatures: as referrers, listed by the API",
        (true, false, true) => "signatures: as referrers, listed under a tag sha256-HEX; one more request to find them",
        _ => "signatures: as a tag sha256-HEX.sig alone (`tofu-oci sign --sign-format cosign-tag`)",
    });
    let gone = works("delete-tag") || works("delete-manifest");
    reported.push(match (works("tag-moved"), gone) {
        (true, true) => {
            "tags: can be moved, and deleted with what they name; pins and signatures tell when a version was moved"
        }
        (true, false) => "tags: can be moved and not deleted; a wrong tag such as `2` stays",
        (false, true) => "tags: cannot be moved; a release stays what it is until its tag is deleted",
        (false, false) => "tags: can be neither moved nor deleted; look at a release before it is pushed",
    });
    if !works("upload-chunked") {
        reported.push("uploads: in one piece; this registry's chunks are not to be relied upon");
    }
    reported.into_iter().map(str::to_owned).collect()
}
