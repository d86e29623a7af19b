//! Where this program decides otherwise than `OpenTofu`: the one list. For people it stands in `docs/configuration.md`.
//!
//! Each rule tells from a case alone, never from what came of it, whether it is about the case. So a case that it is
//! about and that comes out as measured, or in yet another way, is an error.

use tofu_oci_types::{Tag, Version};

use super::case::{Case, Expected, Offered};

/// Every method.
const ANY: &[&str] = &["oci", "direct", "network_mirror", "filesystem_mirror"];

/// A decision about what is installed or refused.
pub(super) struct Difference {
    /// A word for it.
    pub(super) name: &'static str,
    /// Whether the case is one of those that it is about.
    pub(super) about: fn(&Case, &Expected) -> bool,
    /// What comes out here.
    pub(super) ours: Ours,
}

/// What comes out here instead of what was measured.
pub(super) enum Ours {
    /// A package is installed, served by one of these methods.
    Installs(&'static [&'static str]),
    /// It is refused, for a reason of this class.
    Refuses(&'static str),
    /// Always what was measured, where `OpenTofu` changes from run to run.
    Always,
}

/// A decision about lines of the lock file, where the same package is installed.
pub(super) struct LockDifference {
    /// A word for it.
    pub(super) name: &'static str,
    /// Whether the line is in our lock file and not in the measured one; otherwise it is the other way around.
    pub(super) ours: bool,
    /// Whether the line of the case is one of those that it is about.
    pub(super) about: fn(&Expected, &str) -> bool,
}

/// All decisions about packages.
pub(super) const DIFFERENCES: &[Difference] = &[
    // OpenTofu cannot check `h1:` before it has unpacked what an `oci_mirror` gives, and does not check it afterwards.
    Difference { name: "h1-is-enough", about: h1_alone, ours: Ours::Installs(&["oci"]) },
    // One recorded checksum must match, also where only manifests are recorded: seed RFC, "Package checksums and signing".
    Difference { name: "ch-binds", about: foreign_ch, ours: Ours::Refuses("lock-mismatch") },
    // A folder is no zip, so that nothing can be known of its `zh:`; OpenTofu installs it unchecked.
    Difference { name: "unpacked-is-checked", about: unpacked_zh, ours: Ours::Refuses("lock-mismatch") },
    // Only versions that have their canonical tag are chosen from.
    Difference { name: "stray-tags-are-no-versions", about: stray_tag, ours: Ours::Installs(ANY) },
    // The digest is that of the bytes, which is all that counts.
    Difference { name: "digest-header-not-needed", about: no_digest_header, ours: Ours::Installs(&["oci"]) },
    // A registry that is silent is given up.
    Difference { name: "silence-ends", about: hangs, ours: Ours::Refuses("timeout") },
    // Versions that differ only in their metadata: the first method's is chosen.
    Difference { name: "never-random", about: random, ours: Ours::Always },
];

/// All decisions about the lock file.
pub(super) const LOCK_DIFFERENCES: &[LockDifference] = &[
    // Lines of schemes that nobody knows are somebody's.
    LockDifference { name: "unknown-schemes-stay", ours: true, about: |_, line| !is_known(line) },
    // The zip of a packed mirror has been read to its end, so its checksum is known.
    LockDifference {
        name: "zh-of-a-mirrors-zip",
        ours: true,
        about: |expected, line| is_by(expected, "filesystem_mirror") && line.starts_with("zh:"),
    },
    // Checksums of packages that were not fetched are a registry's claims; they are not recorded without a signature.
    LockDifference {
        name: "only-what-was-verified",
        ours: false,
        about: |expected, line| is_by(expected, "direct") && line.starts_with("zh:"),
    },
];

fn is_by(expected: &Expected, method: &str) -> bool {
    expected.method.as_deref() == Some(method)
}

fn is_known(line: &str) -> bool {
    ["h1:", "zh:", "ch:"].iter().any(|scheme| line.starts_with(scheme))
}

/// The checksums of an offer's package, where the lock file has them.
fn locked(case: &Case, kind: &str, scheme: &str) -> bool {
    let offers = case.offers.iter().filter(|(name, _)| name.split(':').next() == Some(kind));
    let packages = offers.flat_map(|(_, offer)| &offer.package_hashes);
    let mut own = packages.filter(|(which, _)| which.ends_with("/linux_amd64"));
    own.any(|(_, hashes)| hashes.get(scheme).is_some_and(|hash| case.final_lock().contains(hash.as_str())))
}

fn h1_alone(case: &Case, expected: &Expected) -> bool {
    expected.install_error.as_deref() == Some("lock-mismatch")
        && locked(case, "oci", "h1")
        && !locked(case, "oci", "zh")
}

fn foreign_ch(case: &Case, expected: &Expected) -> bool {
    let kind = match expected.method.as_deref() {
        Some("oci") => "oci",
        Some("direct") => "direct",
        Some("network_mirror") => "mirror",
        Some("filesystem_mirror") => "fs",
        _ => return false,
    };
    let others = locked(case, kind, "h1") || locked(case, kind, "zh");
    case.final_lock().contains("\"ch:") && !others
}

fn unpacked_zh(case: &Case, expected: &Expected) -> bool {
    let unpacked = case.offers.iter().any(|(name, offer)| name.starts_with("fs:") && offer.unpacked);
    unpacked && is_by(expected, "filesystem_mirror") && case.final_lock().contains("\"zh:") && !locked(case, "fs", "h1")
}

fn stray_tag(case: &Case, expected: &Expected) -> bool {
    let is_stray = |tag: &String| {
        let tag: Tag = tag.parse().unwrap();
        tag.version().is_some_and(|version| Tag::for_version(&version).is_ok_and(|canonical| canonical != tag))
    };
    // Whoever else has something newer is chosen, and the repository does not have that.
    let newest = |offer: &Offered| {
        offer.versions.iter().filter_map(|version| version.parse::<Version>().ok()).max_by(Version::precedence)
    };
    let all = case.offers.values().filter_map(newest).max_by(Version::precedence);
    let mut oci = case.offers.iter().filter(|(name, _)| name.starts_with("oci:"));
    expected.install_error.as_deref() == Some("tag-not-found")
        && oci
            .any(|(_, offer)| offer.extra_tags.iter().any(is_stray) && newest(offer).is_some() && newest(offer) == all)
}

fn no_digest_header(_: &Case, expected: &Expected) -> bool {
    expected.install_error.as_deref() == Some("missing-digest-header")
}

fn hangs(_: &Case, expected: &Expected) -> bool {
    expected.install_error.as_deref() == Some("hangs")
}

fn random(case: &Case, _: &Expected) -> bool {
    case.is_random()
}
