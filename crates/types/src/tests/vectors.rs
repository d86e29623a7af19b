//! Measured cases of what `OpenTofu` accepts and makes of it, one test per table..
//!
//! Holes of `OpenTofu` are inputs that it takes and that are refused here; each is named where its list is read.

mod messages;

use serde_json::Value;
use tofu_oci_vectors::Vectors;

use crate::{
    Constraints, Hostname, ModuleSource, PackageHash, Platform, ProviderAddr, RepositoryRef, Scheme, Tag, Version, idn,
};

fn text<'a>(case: &'a Value, name: &str) -> &'a str {
    case[name].as_str().unwrap_or_else(|| panic!("{name} is a text in {case}"))
}

/// Compares with what was measured: the error's code, or the members given. `holes` are inputs that `OpenTofu` takes
/// and that are refused here, each with the code.
#[track_caller]
fn check(case: &Value, holes: &[(&str, &str)], got: Result<&[(&str, &str)], &str>) {
    let input = text(case, "input");
    if let Some((_, code)) = holes.iter().find(|(hole, _)| *hole == input) {
        assert_eq!(got.err(), Some(*code), "{input:?} is refused here");
        return;
    }
    match got {
        Ok(members) => {
            assert_eq!(case["ok"], true, "{input:?} must be refused: {case}");
            for (name, value) in members {
                assert_eq!(text(case, name), *value, "{name} of {input:?}");
            }
        }
        Err(code) => assert_eq!(case["error"], code, "{input:?}: {case}"),
    }
}

#[test]
fn addresses() {
    let table = Vectors::open("address.json");
    table.known_sections(&["parts", "hosts", "sources"]);
    table.each("parts", parts_of_addresses);
    table.each("hosts", hostnames);
    table.each("sources", provider_addresses);
}

fn parts_of_addresses(case: &Value) {
    let holes = [("a\u{3002}b", "dots"), ("a\u{ff0e}b", "dots")];
    let part = idn::part(text(case, "input"));
    match &part {
        Ok(normalized) => check(case, &holes, Ok(&[("normalized", normalized)])),
        Err(fault) => check(case, &holes, Err(fault.code())),
    }
}

fn hostnames(case: &Value) {
    // With a dot at its end a name is another one to `OpenTofu`, so that a rule for the host does not hold for it.
    let holes = [("example.com:-5", "bad-port"), ("example.com.", "trailing-dot")];
    match text(case, "input").parse::<Hostname>() {
        Ok(host) => check(case, &holes, Ok(&[("comparison", host.as_str()), ("display", &host.display())])),
        Err(error) => check(case, &holes, Err(error.code())),
    }
}

fn provider_addresses(case: &Value) {
    let holes = [("example.com:-1/foo/bar", "invalid-hostname")];
    match text(case, "input").parse::<ProviderAddr>() {
        Ok(address) => {
            check(
                case,
                &holes,
                Ok(&[
                    ("hostname", address.hostname().as_str()),
                    ("hostname_display", &address.hostname().display()),
                    ("namespace", address.namespace()),
                    ("type", address.provider_type()),
                    ("string", &address.to_string()),
                    ("for_display", &address.for_display()),
                ]),
            );
            assert_eq!(case["is_builtin"], address.is_builtin(), "{case}");
            assert_eq!(case["is_legacy"], address.is_legacy(), "{case}");
            // A bare `terraform-aws` passes, as in `OpenTofu`; written in full it is refused.
            if case["namespace_defaulted"] != true {
                assert_eq!(address.to_string().parse(), Ok(address), "{case}");
            }
        }
        Err(error) => check(case, &holes, Err(error.code())),
    }
}

#[test]
fn constraints() {
    let table = Vectors::open("constraints.json");
    table.known_sections(&["versions", "compare", "stable_sort", "constraints", "candidates"]);
    table.each("versions", versions);
    version_order(&table);
    admitted(&table);
}

fn versions(case: &Value) {
    match text(case, "input").parse::<Version>() {
        Ok(version) => {
            let [major, minor, patch] = version.numbers().map(|number| number.to_string());
            check(
                case,
                &[],
                Ok(&[
                    ("canonical", &version.to_string()),
                    ("major", &major),
                    ("minor", &minor),
                    ("patch", &patch),
                    ("prerelease", version.prerelease()),
                    ("metadata", version.metadata()),
                ]),
            );
        }
        Err(error) => check(case, &[], Err(error.code())),
    }
}

fn version(text: &str) -> Version {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn version_order(table: &Vectors) {
    table.each("compare", |case| {
        let (a, b) = (version(text(case, "a")), version(text(case, "b")));
        assert_eq!(case["less"], a.precedence(&b).is_lt(), "{case}");
        assert_eq!(case["greater"], a.precedence(&b).is_gt(), "{case}");
        assert_eq!(case["same"], a.precedence(&b).is_eq(), "{case}");
        assert_eq!(case["equal"], a == b, "{case}");
        assert_eq!(b.precedence(&a), a.precedence(&b).reverse(), "{case}");
    });
    let sorted = |name: &str| -> Vec<Version> {
        let texts = table.member("stable_sort")[name].as_array();
        texts.into_iter().flatten().map(|text| version(text.as_str().expect("a text"))).collect()
    };
    let mut versions = sorted("input");
    versions.sort_by(Version::precedence);
    assert_eq!(versions, sorted("output"));
}

fn admitted(table: &Vectors) {
    let mut candidates: Vec<Version> =
        table.cases("candidates").iter().map(|text| version(text.as_str().expect("a text"))).collect();
    candidates.extend(["1.2.4", "1.10.0"].map(version));
    table.each("constraints", |case| match text(case, "input").parse::<Constraints>() {
        Ok(constraints) => {
            let canonical = constraints.to_string();
            check(case, &[], Ok(&[("canonical", &canonical)]));
            assert_eq!(canonical.parse(), Ok(constraints.clone()), "{case}");
            for candidate in &candidates {
                let admitted = list_has(&case["accepts"], &candidate.to_string());
                assert_eq!(constraints.admits(candidate), admitted, "{candidate} under {case}");
            }
        }
        Err(error) => check(case, &[], Err(error.code())),
    });
}

fn list_has(list: &Value, wanted: &str) -> bool {
    list.as_array().expect("a list").iter().any(|item| item == wanted)
}

#[test]
fn tags() {
    let table = Vectors::open("tags.json");
    table.known_sections(&["tags"]);
    table.each("tags", |case| {
        let tag: Tag = text(case, "tag").parse().expect("every tag of the table is one");
        let version = tag.version();
        assert_eq!(case["version"], version.as_ref().map_or(Value::Null, |version| version.to_string().into()));
        let Some(version) = version else { return };
        let asked_for = Tag::for_version(&version).expect("short enough");
        assert_eq!(text(case, "tag_requested"), asked_for.as_str());
        assert_eq!(case["round_trips"], asked_for == tag, "{case}");
    });
}

#[test]
fn platforms() {
    let table = Vectors::open("platforms.json");
    table.known_sections(&["platforms"]);
    // An empty half is a hole of `OpenTofu`.
    let holes = ["_amd64", "linux_", "_"];
    table.each("platforms", |case| {
        let input = text(case, "input");
        let platform = input.parse::<Platform>().ok();
        let wanted = (case["ok"] == true && !holes.contains(&input)).then(|| (text(case, "os"), text(case, "arch")));
        assert_eq!(platform.as_ref().map(|platform| (platform.os(), platform.arch())), wanted, "{case}");
    });
}

#[test]
fn repositories() {
    // OpenTofu accepts and tofu-oci refuses: an empty digest, an invalid port, a Unicode host, and what names no
    // repository.
    let refused = ["example.com/foo@", "example.com:99999/foo", "m\u{fc}nchen.de/foo"];
    Vectors::open("oci_credentials_match.json").each("repository_address_prefix", |case| {
        let input = text(case, "input");
        let whole = case["ok"] == true && case["repository"] != "";
        let wanted = (whole && !refused.contains(&input)).then(|| (text(case, "registry"), text(case, "repository")));
        let repository = input.parse::<RepositoryRef>().ok();
        assert_eq!(repository.as_ref().map(|found| (found.registry(), found.name())), wanted, "{case}");
    });
}

#[test]
fn package_hashes() {
    let table = Vectors::open("hashes.json");
    // The packages are computed by the crate that reads archives.
    table.known_sections(&["packages", "parse"]);
    table.each("parse", |case| {
        let read = text(case, "input").parse::<PackageHash>().ok();
        assert_eq!(case["ok"], read.is_some(), "{case}");
        let Some(hash) = read else { return };
        assert_eq!(text(case, "scheme"), format!("{}:", hash.as_str().split(':').next().unwrap_or_default()));
        assert_eq!(text(case, "value"), hash.value());
        assert_eq!(case["preferred"], matches!(hash.scheme(), Scheme::H1 | Scheme::Zh), "{case}");
    });
}

#[test]
fn module_sources() {
    let table = Vectors::open("module_sources.json");
    table.known_sections(&["registry_sources", "oci_sources"]);
    table.each("registry_sources", |case| {
        let source = text(case, "input").parse::<ModuleSource>().ok();
        let registry = source.filter(|source| matches!(source, ModuleSource::Registry(..)));
        assert_eq!(case["ok"], registry.is_some(), "{case}");
        let Some(source @ ModuleSource::Registry(address, subdir)) = &registry else { return };
        assert_eq!(text(case, "host"), address.hostname().as_str());
        assert_eq!(text(case, "namespace"), address.namespace());
        assert_eq!(text(case, "name"), address.name());
        assert_eq!(text(case, "target_system"), address.target());
        assert_eq!(text(case, "subdir"), subdir.as_str());
        assert_eq!(text(case, "string"), source.to_string());
        assert_eq!(text(case, "for_display"), source.for_display());
        assert_eq!(source.to_string().parse().as_ref(), Ok(source));
    });
    table.each("oci_sources", |case| {
        let input = text(case, "source");
        if input.contains("digest=sha512:") {
            // The table was made by a program without SHA-512; OpenTofu itself has it, and installs by such a digest.
            let source: ModuleSource = input.parse().expect("sha512 is read");
            assert!(source.to_string().contains(text(case, "repository")), "{source}");
            return;
        }
        match input.parse::<ModuleSource>() {
            Ok(ModuleSource::Oci(source)) => {
                assert_eq!(text(case, "registry"), source.repository().registry());
                assert_eq!(text(case, "repository"), source.repository().name());
                assert_eq!(text(case, "subdir"), source.subdir().as_str());
                assert_eq!(text(case, "reference"), source.reference().to_string());
                assert!(!format!("{source} {source:?}").contains("user:pw"));
                assert_eq!(source.to_string().parse(), Ok(source));
            }
            Ok(other) => panic!("{other} is not in an OCI repository: {case}"),
            Err(error) => {
                assert_eq!(case["error"], error.code(), "{case}");
                assert!(error.to_string().starts_with("`oci:"), "{error}");
            }
        }
    });
}
