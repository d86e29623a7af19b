//! Sources as `OpenTofu` reads them.

use tofu_oci_types::{InvalidOciModuleSource, OciModuleSource, Reference, Subdir, Tag, masked};

use crate::Rejection;
use crate::go::ModuleRefusal;

/// One module that is asked for.
#[derive(Clone, Debug)]
pub struct AskedModule {
    /// The source, without what could be a secret; `None` for a tag of a repository without an address.
    pub source: Option<String>,
    /// The package and the folder in it, unless `OpenTofu` refuses the source.
    pub package: Result<PackageQuestion, ModuleRefusal>,
    /// Arguments that `OpenTofu` drops silently.
    pub dropped: Vec<String>,
}

/// A package of a repository, and a folder in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageQuestion {
    /// The tag or digest of the manifest.
    pub reference: Reference,
    pub subdir: Subdir,
}

impl AskedModule {
    /// What a source asks for; the source itself, if it is one.
    pub fn of_source(text: &str) -> (Self, Option<OciModuleSource>) {
        let (parsed, dropped) = match text.parse::<OciModuleSource>() {
            Err(error) if error.code() == "malformed-argument" => {
                let (kept, dropped) = without_malformed(text);
                (kept.parse(), dropped)
            }
            parsed => (parsed, Vec::new()),
        };
        let package = match &parsed {
            Ok(source) => {
                Ok(PackageQuestion { reference: source.reference().clone(), subdir: source.subdir().clone() })
            }
            Err(error) => Err(refusal(error)),
        };
        (Self { source: Some(masked(text)), package, dropped }, parsed.ok())
    }

    /// A tag of a repository without an address.
    pub fn of_tag(tag: Tag) -> Self {
        let package = PackageQuestion { reference: Reference::Tag(tag), subdir: Subdir::root() };
        Self { source: None, package: Ok(package), dropped: Vec::new() }
    }
}

/// The source without the arguments that Go's `url.Query` cannot decode, and those arguments.
///
/// Spec: Go 1.24, `net/url`, `parseQuery`.
fn without_malformed(text: &str) -> (String, Vec<String>) {
    let Some((place, arguments)) = text.split_once('?') else { return (text.to_owned(), Vec::new()) };
    let fragment = arguments.find('#').unwrap_or(arguments.len());
    let all = arguments[..fragment].split('&');
    let (kept, dropped): (Vec<&str>, Vec<&str>) = all.partition(|argument| is_well_formed(argument));
    (format!("{place}?{}", kept.join("&")), dropped.into_iter().map(str::to_owned).collect())
}

fn is_well_formed(argument: &str) -> bool {
    let after_percent = argument.split('%').skip(1);
    let hex = |text: &str| text.len() >= 2 && text.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    !argument.contains(';') && after_percent.into_iter().all(hex)
}

fn refusal(error: &InvalidOciModuleSource) -> ModuleRefusal {
    let because = match error.code() {
        "archive-argument" => Rejection::ArchiveArgument,
        "checksum-argument" => Rejection::ChecksumArgument,
        "empty-tag" | "empty-digest" => Rejection::ArgumentEmpty,
        "repeated-argument" => Rejection::ArgumentRepeated,
        "unsupported-argument" => Rejection::UnknownArgument,
        "invalid-tag" => Rejection::TagMalformed,
        "invalid-digest" => Rejection::DigestMalformed,
        "tag-and-digest" => Rejection::TagAndDigest,
        "subdir-escapes" => Rejection::SubdirEscapes,
        "scheme-not-oci" => Rejection::SchemeNotOci,
        _ => Rejection::RepositoryName,
    };
    ModuleRefusal { because, detail: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, want: &str) {
        let (asked, _) = AskedModule::of_source(source);
        let mut got = match asked.package {
            Ok(PackageQuestion { reference, subdir }) => format!("{reference} [{subdir}]"),
            Err(refusal) => refusal.because.code().to_owned(),
        };
        if !asked.dropped.is_empty() {
            got += &format!(" without {}", asked.dropped.join(", "));
        }
        assert_eq!(got, want, "{source}");
    }

    #[test]
    fn every_fault_of_a_source_has_its_reason() {
        let digest = format!("sha256:{}", "0".repeat(64));
        check("oci://example.com/a//sub/x?tag=1", "1 [sub/x]");
        check("oci://example.com/a", "latest []");
        check(&format!("oci://example.com/a?digest={digest}"), &format!("{digest} []"));
        check("oci://example.com/a.tar.gz?tag=1", "archive-argument");
        check("oci://example.com/a?archive=zip", "archive-argument");
        check("oci://example.com/a.zip?tag=1&archive=false", "1 []");
        check("oci://example.com/a?checksum=md5:00", "checksum-argument");
        check("oci://example.com/a?digest=", "argument-empty");
        check("oci://example.com/a?tag=1&tag=2", "argument-repeated");
        check("oci://example.com/a?ref=1", "unknown-argument");
        check("oci://example.com/a?tag=1.0.0+b", "tag-malformed");
        check("oci://example.com/a?tag=1//sub", "tag-malformed");
        check("oci://example.com/a?digest=sha256:abc", "digest-malformed");
        check(&format!("oci://example.com/a?tag=1&digest={digest}"), "tag-and-digest");
        check("oci://example.com/a//../x?tag=1", "subdir-escapes");
        check("oci::https://example.com/a", "scheme-not-oci");
        check("oci://example.com/A?tag=1", "repository-name");
        check("oci://example.com/a:1", "repository-name");
        check("oci://example.com/?tag=1", "repository-name");
    }

    #[test]
    fn arguments_that_go_cannot_decode_are_dropped_and_latest_is_installed() {
        check("oci://example.com/a?tag=1.0.0;x", "latest [] without tag=1.0.0;x");
        check("oci://example.com/a?tag=1.0.0%zz&&digest=", "argument-empty without tag=1.0.0%zz");
        check("oci://example.com/a//sub?tag=%31&x;", "1 [sub] without x;");
    }
}
