//! Known names, and similar ones.

use std::ops::Range;

use tofu_oci_hcl::{DecodeNode, HclBody, ItemView, equal_fold};

use super::reader::{ReadingNotes, SourceText};
use super::{Effect, Topic, Unknown};
use tofu_oci_types::TofuRelease;

/// The names at the top of a file.
const TOP: [&str; 13] = [
    "provider_installation",
    "credentials",
    "credentials_helper",
    "host",
    "oci_credentials",
    "oci_default_credentials",
    "plugin_cache_dir",
    "plugin_cache_may_break_dependency_lock_file",
    "registry_protocols",
    "disable_checkpoint",
    "disable_checkpoint_signature",
    "providers",
    "tofu_oci",
];

/// The blocks of `provider_installation`.
pub(super) const METHODS: [&str; 5] = ["direct", "filesystem_mirror", "network_mirror", "oci_mirror", "dev_overrides"];

/// The blocks that say which credentials registries are shown.
const CREDENTIALS: [&str; 2] = ["oci_credentials", "oci_default_credentials"];

/// Known names that HCL 1 looks for without regard to case.
const ANY_CASE: [&str; 5] =
    ["credentials", "credentials_helper", "host", "plugin_cache_dir", "plugin_cache_may_break_dependency_lock_file"];

/// The arguments of a block, as the newest release knows them.
pub(super) fn arguments(block: &str) -> &'static [&'static str] {
    match block {
        "direct" => &["include", "exclude", "download_retry_count"],
        "filesystem_mirror" => &["path", "include", "exclude"],
        "network_mirror" => &["url", "include", "exclude", "download_retry_count", "trust_all_hashes"],
        "oci_mirror" => &["repository_template", "include", "exclude"],
        "host" => &["services"],
        "credentials" => &["token"],
        "credentials_helper" => &["args"],
        "oci_credentials" => &["username", "password", "access_token", "refresh_token", "docker_credentials_helper"],
        "oci_default_credentials" => {
            &["discover_ambient_credentials", "docker_style_config_files", "docker_credentials_helper"]
        }
        "registry_protocols" => &["retry_count", "request_timeout_seconds"],
        _ => &[],
    }
}

/// The names that are known in a block, or at the top of a file.
pub fn known_names(inside: Option<&str>) -> &'static [&'static str] {
    inside.map_or(&TOP, arguments)
}

/// Names that came after 1.10, which therefore ignores them.
const AFTER_1_10: [&str; 3] = ["registry_protocols", "download_retry_count", "trust_all_hashes"];

/// Records the unknown names, and reports those that are similar to a known one.
pub(super) fn look_at(source: SourceText<'_>, body: &HclBody, findings: &mut ReadingNotes) {
    for item in &body.items {
        let Some(key) = item.keys.first() else { continue };
        let name = key.text.as_str();
        let known = TOP.contains(&name) || ANY_CASE.iter().any(|known| equal_fold(known, name));
        if !known || late(name, findings.release) {
            record(source, name, key.span.clone(), None, &TOP, findings);
        }
        let labels = usize::from(matches!(name, "host" | "credentials" | "credentials_helper" | "oci_credentials"));
        for entry in below(&ItemView::of(item).without(1), labels) {
            check_argument(source, name, &entry, findings);
        }
    }
}

/// Checks the arguments of a method.
pub(super) fn look_into(source: SourceText<'_>, block: &str, body: &HclBody, findings: &mut ReadingNotes) {
    for item in &body.items {
        check_argument(source, block, &ItemView::of(item), findings);
    }
}

/// The arguments of a block that may have labels, wherever HCL 1 has put these.
fn below<'a>(entry: &ItemView<'a>, labels: usize) -> Vec<ItemView<'a>> {
    let there = entry.keys().len();
    if there > labels {
        return vec![entry.without(labels)];
    }
    match entry.content() {
        DecodeNode::Items(list) if there == labels => list,
        DecodeNode::Items(list) => list.iter().flat_map(|inner| below(inner, labels - there)).collect(),
        _ => Vec::new(),
    }
}

fn check_argument(source: SourceText<'_>, block: &str, entry: &ItemView<'_>, findings: &mut ReadingNotes) {
    let known = arguments(block);
    let Some(key) = entry.keys().first().filter(|_| !known.is_empty()) else { return };
    let is_known = known.iter().any(|known| equal_fold(known, &key.text));
    if !is_known || late(&key.text, findings.release) {
        record(source, &key.text, key.span.clone(), Some(block), known, findings);
    }
}

fn late(name: &str, release: TofuRelease) -> bool {
    release == TofuRelease::V1_10 && AFTER_1_10.contains(&name)
}

fn record(
    source: SourceText<'_>,
    name: &str,
    span: Range<usize>,
    inside: Option<&str>,
    known: &[&'static str],
    findings: &mut ReadingNotes,
) {
    let near = if AFTER_1_10.contains(&name) { None } else { near(name, known) };
    let inside = inside.map(str::to_owned);
    if let Some(near) = near {
        let kind = if inside.is_some() { "argument" } else { "setting" };
        let problem = source
            .problem("misspelt-name", span.clone(), None, format!("there is no {kind} {name}"))
            .instead(format!("write {near}"))
            .effect(Effect::SilentlyIgnored)
            .topic(match inside.as_deref().unwrap_or(near) {
                block if CREDENTIALS.contains(&block) => Topic::RegistryCredentials,
                "provider_installation" if inside.is_none() => Topic::ProviderInstallation,
                _ => Topic::Other,
            })
            .ours();
        findings.push(problem);
    }
    findings.unknown.push(Unknown { file: source.file, span, name: name.to_owned(), inside, near });
}

/// The known name that is at most two letters away.
pub(super) fn near(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let name = name.to_lowercase();
    let distances = known.iter().map(|known| (distance(&name, known), *known));
    let closest = distances.min().filter(|(distance, known)| *distance <= 2 && *distance < known.len() / 2);
    closest.map(|(_, known)| known)
}

/// The number of letters to change, add, remove or swap with their neighbour.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let mut best = (rows[i][j] + usize::from(a != b)).min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, want: Option<&str>) {
        assert_eq!(near(name, &TOP), want, "{name}");
    }

    #[test]
    fn two_letters_away_is_near() {
        check("provider_instalation", Some("provider_installation"));
        check("provider_installations", Some("provider_installation"));
        check("Provider_Installation", Some("provider_installation"));
        check("provider-installation", Some("provider_installation"));
        check("hots", Some("host"));
        check("hst", Some("host"));
        check("credential", Some("credentials"));
        check("oci_credential", Some("oci_credentials"));
        check("plugin_cache", None);
        check("nosuch", None);
        check("x", None);
        check("list", None);
    }
}
