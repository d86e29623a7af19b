//! The rules, and what each reads.
//!
//! ```text
//! Facts, Prediction   what lies in a repository, what OpenTofu makes of it   (facts, opentofu)
//! Images, Referring   what the rules need beside: layers' unions, referrers
//!         └── Subject ──> tags · index · leaf · image · package · annotations · referrers · predicted ──> [Finding]
//! two Facts ──> drift          a Verdict of `trust` ──> signatures
//! ```

mod annotations;
pub(crate) mod catalogue;
mod document;
mod drift;
mod image;
mod image_config;
mod images;
mod index;
mod leaf;
mod modules;
pub(crate) mod not_judged;
mod package;
mod places;
mod predicted;
mod referrers;
mod signatures;
mod subject;
mod tags;

#[cfg(test)]
mod tests;

pub use drift::drift;
pub use images::Images;
pub(crate) use modules::{ModuleSubject, modules, of_repository, unasked};
pub(crate) use predicted::plain_http;
pub use referrers::Referring;
pub use signatures::{BuiltVersion, CheckedSignatures, SignatureTrust, signatures};
pub use subject::CheckSubject;
pub use tags::TagCounts;

use std::collections::HashSet;

use crate::model::Finding;

/// Every finding about a repository: first those about its tags, then release by release, the oldest first.
pub fn repository(subject: &CheckSubject<'_>) -> Vec<Finding> {
    let mut found = tags::check(subject.facts, subject.asked);
    for release in &subject.facts.releases {
        let half = |tag| tags::half_withdrawn(&subject.facts.tags, tag, &release.index);
        if let Some(half) = release.tag.as_ref().and_then(half) {
            found.push(half);
            continue;
        }
        let mut of_release = index::check(release, &subject.facts.tags);
        for entry in &release.entries {
            of_release.extend(leaf::check(entry));
            of_release.extend(image::check(subject, entry));
            of_release.extend(package::check(subject, release, entry));
        }
        of_release.extend(leaf::together(release));
        of_release.extend(annotations::check(subject, release));
        of_release.extend(image::together(subject, release));
        of_release.extend(referrers::check(subject.referring, release));
        found.extend(of_release.into_iter().map(|finding| finding.of_version(&release.version)));
    }
    found.extend(referrers::dangling(subject.referring, &subject.facts.place));
    found.extend(package::not_read(subject.facts));
    predicted::complete(subject, &mut found);
    once(found)
}

/// A shared blob or leaf gives one finding for each place and platform.
fn once(mut found: Vec<Finding>) -> Vec<Finding> {
    let mut reported = HashSet::new();
    let fresh: Vec<bool> = found
        .iter()
        .map(|one| reported.insert((one.rule.id, &one.place, &one.text, &one.version, &one.platform)))
        .collect();
    let mut fresh = fresh.into_iter();
    found.retain(|_| fresh.next().unwrap_or(true));
    found
}
