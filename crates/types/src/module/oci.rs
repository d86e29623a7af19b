//! Module packages in OCI repositories, and the names of repositories there:
//! `oci://ghcr.io/acme/network//sub?tag=1.0.0`.

use std::fmt;
use std::str::FromStr;

use super::oci_fault::{InvalidOciModuleSource, OciSourceFault};
use super::subdir::{self, Subdir};
use crate::text_value::text_value;
use crate::{Algorithm, Digest, Reference, RepositoryRef, Tag};

/// The tag if the source names no tag.
const DEFAULT_TAG: &str = "latest";

/// Suffixes and values of `archive` that `OpenTofu` unpacks by itself, which its OCI client then refuses.
const ARCHIVES: [&str; 10] = ["bz2", "gz", "xz", "zip", "tar.bz2", "tar.tbz2", "tar.gz", "tgz", "tar.xz", "txz"];

/// A folder of a module package in an OCI repository.
///
/// It drops user information in the source, as `OpenTofu` does. `Display` gives the shortest form
/// with the same meaning: without the tag `latest`, `oci::` and an `archive=false` that changes nothing.
///
/// Stricter than `OpenTofu`: it refuses `sha384` digests, and malformed arguments (`?tag=1.0.0;x`), which `OpenTofu`
/// drops silently to install `latest` instead.
///
/// Spec: `OpenTofu` 1.12, getmodules, OCI getter.
#[derive(Clone, PartialEq, Eq)]
pub struct OciModuleSource {
    repository: RepositoryRef,
    subdir: Subdir,
    reference: Reference,
}

impl OciModuleSource {
    /// Where the package lies.
    pub fn repository(&self) -> &RepositoryRef {
        &self.repository
    }

    /// The folder in the package.
    pub fn subdir(&self) -> &Subdir {
        &self.subdir
    }

    /// The reference to the package's manifest: the tag `latest` if the source names no tag.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// The same with the package of this digest, whatever it named before.
    #[must_use]
    pub fn with_digest(self, digest: Digest) -> Self {
        Self { reference: Reference::Digest(digest), ..self }
    }

    /// Whether the text is meant as a source in OCI: `oci://…`, in upper or lower case, or `oci::…`.
    pub(super) fn is_meant_by(source: &str) -> bool {
        source.starts_with("oci::")
            || (source.split_once(':').is_some_and(|(scheme, _)| is_oci(scheme)) && !forced(source))
    }
}

fn is_oci(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("oci")
}

/// Whether a way to fetch is written before the address: `git::https://…`.
fn forced(source: &str) -> bool {
    source.split_once("::").is_some_and(|(way, _)| way.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

impl FromStr for OciModuleSource {
    type Err = InvalidOciModuleSource;

    fn from_str(input: &str) -> Result<Self, InvalidOciModuleSource> {
        parse(input).map_err(|fault| InvalidOciModuleSource::new(input, fault))
    }
}

fn parse(input: &str) -> Result<OciModuleSource, OciSourceFault> {
    let (package, folder) = subdir::split(input);
    let subdir = Subdir::new(folder).map_err(OciSourceFault::SubdirEscapes)?;
    let url = package.strip_prefix("oci::").unwrap_or(&package);
    let rest = match url.split_once(':') {
        Some((scheme, rest)) if is_oci(scheme) => rest,
        _ => return Err(OciSourceFault::SchemeNotOci),
    };
    let rest = rest.split('#').next().unwrap_or_default();
    let (place, arguments) = rest.split_once('?').unwrap_or((rest, ""));
    let (registry, name) = split_place(place)?;
    let arguments = Arguments::parse(arguments)?;
    arguments.refuse_archive(&name)?;
    if name.contains(['@', ':']) {
        return Err(invalid_repository("a tag and a digest are arguments after `?`"));
    }
    let repository = RepositoryRef::from_opentofu(&format!("{registry}/{name}"))
        .map_err(|error| invalid_repository(error.reason()))?;
    let reference = arguments.reference()?;
    Ok(OciModuleSource { repository, subdir, reference })
}

fn invalid_repository(reason: &str) -> OciSourceFault {
    OciSourceFault::InvalidRepository { reason: reason.to_owned() }
}

/// Registry and repository of `//[USER@]HOST/NAME`, the name decoded.
fn split_place(place: &str) -> Result<(&str, String), OciSourceFault> {
    let place = place.strip_prefix("//").ok_or_else(|| invalid_repository("after `oci:` come two slashes"))?;
    let (authority, path) =
        place.split_once('/').ok_or_else(|| invalid_repository("it names no repository of the registry"))?;
    let (user, registry) = authority.rsplit_once('@').unwrap_or(("", authority));
    if !is_user_information(user) {
        return Err(invalid_repository("what stands before the @ is not well-formed"));
    }
    let name = percent_decoded(path).ok_or_else(|| invalid_repository("it is not a well-formed URL"))?;
    Ok((registry, name))
}

fn is_user_information(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    text.bytes().all(allowed) && percent_bytes(text).is_some()
}

/// The arguments after `?` in the order of their names, each with its values.
pub(super) struct Arguments(Vec<(String, String)>);

impl Arguments {
    pub(super) fn parse(text: &str) -> Result<Self, OciSourceFault> {
        let decoded = |text: &str| percent_decoded(&text.replace('+', " ")).ok_or(OciSourceFault::MalformedArgument);
        let mut list = Vec::new();
        for argument in text.split('&').filter(|argument| !argument.is_empty()) {
            if argument.contains(';') {
                return Err(OciSourceFault::MalformedArgument);
            }
            let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
            list.push((decoded(name)?, decoded(value)?));
        }
        Ok(Self(list))
    }

    fn values(&self, wanted: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    /// Checked before the repository: an archive cannot be unpacked or compared on the way.
    pub(super) fn refuse_archive(&self, name: &str) -> Result<(), OciSourceFault> {
        match self.values("archive").next() {
            Some(value) if ARCHIVES.contains(&value) => return Err(OciSourceFault::ArchiveArgument),
            None | Some("") => {
                if let Some(suffix) = archive_suffix(name) {
                    return Err(OciSourceFault::ArchiveSuffix { suffix });
                }
            }
            // Any other value has no effect.
            Some(_) => {}
        }
        match self.values("checksum").next() {
            None | Some("") => Ok(()),
            Some(_) => Err(OciSourceFault::ChecksumArgument),
        }
    }

    pub(super) fn reference(&self) -> Result<Reference, OciSourceFault> {
        let tag = self.single("tag")?;
        let digest = self.single("digest")?;
        let tag = tag
            .map(|text| text.parse::<Tag>().map_err(|_| OciSourceFault::InvalidTag { tag: text.to_owned() }))
            .transpose()?;
        let digest = digest.map(digest_of).transpose()?;
        self.refuse_unknown()?;
        match (tag, digest) {
            (Some(_), Some(_)) => Err(OciSourceFault::TagAndDigest),
            (Some(tag), None) => Ok(Reference::Tag(tag)),
            (None, Some(digest)) => Ok(Reference::Digest(digest)),
            (None, None) => Ok(Reference::Tag(DEFAULT_TAG.parse().expect("a tag"))),
        }
    }

    fn single(&self, name: &'static str) -> Result<Option<&str>, OciSourceFault> {
        let mut values = self.values(name);
        let first = values.next();
        if values.next().is_some() {
            return Err(OciSourceFault::RepeatedArgument { name: name.to_owned() });
        }
        if first == Some("") { Err(OciSourceFault::EmptyArgument { name }) } else { Ok(first) }
    }

    fn refuse_unknown(&self) -> Result<(), OciSourceFault> {
        let mut names: Vec<String> = Vec::new();
        let dropped = |name: &str| match name {
            "tag" | "digest" | "checksum" => true,
            "archive" => self.values(name).next() != Some(""),
            _ => false,
        };
        for (name, _) in self.0.iter().filter(|(name, _)| !dropped(name)) {
            if names.contains(name) {
                return Err(OciSourceFault::RepeatedArgument { name: name.clone() });
            }
            names.push(name.clone());
        }
        if names.is_empty() { Ok(()) } else { Err(OciSourceFault::UnsupportedArgument { names }) }
    }
}

fn archive_suffix(name: &str) -> Option<&'static str> {
    ARCHIVES.into_iter().find(|suffix| name.strip_suffix(suffix).is_some_and(|rest| rest.ends_with('.')))
}

fn digest_of(text: &str) -> Result<Digest, OciSourceFault> {
    let digest = text.parse::<Digest>().ok().filter(|digest| digest.algorithm() != Algorithm::Other);
    digest.ok_or_else(|| OciSourceFault::InvalidDigest { digest: text.to_owned() })
}

/// The text with each `%XX` decoded; `None` if it is malformed or the result is not text.
fn percent_decoded(text: &str) -> Option<String> {
    String::from_utf8(percent_bytes(text)?).ok()
}

fn percent_bytes(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, after @ ..] = after else { return None };
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        bytes.push(digit(*high)? << 4 | digit(*low)?);
        rest = after;
    }
    Some(bytes)
}

impl fmt::Display for OciModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "oci://{}{}", self.repository, self.subdir.suffix())?;
        let mut mark = '?';
        match &self.reference {
            Reference::Tag(tag) if tag.as_str() == DEFAULT_TAG => {}
            Reference::Tag(tag) => write!(f, "{}tag={tag}", std::mem::replace(&mut mark, '&'))?,
            Reference::Digest(digest) => write!(f, "{}digest={digest}", std::mem::replace(&mut mark, '&'))?,
        }
        if archive_suffix(self.repository.name()).is_some() { write!(f, "{mark}archive=false") } else { Ok(()) }
    }
}

text_value!(OciModuleSource);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, want: Result<&str, &str>) {
        let got = input.parse::<OciModuleSource>().map(|source| source.to_string()).map_err(|error| error.code());
        assert_eq!(got.as_deref().map_err(|code| *code), want, "{input:?}");
    }

    #[test]
    fn the_scheme_has_any_case_and_may_be_named_twice() {
        check("OCI://example.com/a", Ok("oci://example.com/a"));
        check("oci::oci://example.com/a", Ok("oci://example.com/a"));
        check("oci::https://example.com/a", Err("scheme-not-oci"));
        check("oci::example.com/a", Err("scheme-not-oci"));
        check("oci:example.com/a", Err("invalid-repository"));
        check("oci:/example.com/a", Err("invalid-repository"));
        check("oci:///a", Err("invalid-repository"));
    }

    #[test]
    fn the_repository_is_decoded_and_holds_no_tag() {
        check("oci://example.com/%66oo%2Fbar", Ok("oci://example.com/foo/bar"));
        check("oci://example.com/%2e%2e/foo", Err("invalid-repository"));
        check("oci://example.com/%zz", Err("invalid-repository"));
        check("oci://example.com/foo%", Err("invalid-repository"));
        check("oci://example.com/%ff", Err("invalid-repository"));
        check("oci://example.com/Foo", Err("invalid-repository"));
        check("oci://example.com/a b", Err("invalid-repository"));
        check("oci://example.com/foo:", Err("invalid-repository"));
        check("oci://example.com/foo@", Err("invalid-repository"));
        check("oci://example.com//sub", Err("invalid-repository"));
        check("oci://example.com/a//", Ok("oci://example.com/a"));
        check("oci://127.0.0.1:5000/a/b//c?tag=x", Ok("oci://127.0.0.1:5000/a/b//c?tag=x"));
    }

    #[test]
    fn registries_are_read_as_in_a_mirror() {
        check("oci://example.com:/a", Ok("oci://example.com/a"));
        check("oci://EXAMPLE.com:99999/a", Ok("oci://EXAMPLE.com:99999/a"));
        check("oci://example.com:x/a", Err("invalid-repository"));
        check("oci://[::1]:5000/a", Ok("oci://[::1]:5000/a"));
    }

    #[test]
    fn a_source_with_two_colons_behind_its_host_is_shown_as_another_source() {
        check("oci://example.c::/a", Ok("oci://example.c::/a"));
        check("oci://example.c:/a", Ok("oci://example.c/a"));
    }

    #[test]
    fn user_information_is_read_over_and_never_shown() {
        check("oci://u%20:%zz@example.com/a", Err("invalid-repository"));
        check("oci://u v@example.com/a", Err("invalid-repository"));
        check("oci://u@v:w@example.com/a", Ok("oci://example.com/a"));
        let source: OciModuleSource = "oci://user:hunter2@example.com/foo".parse().expect("a source");
        assert_eq!(source.to_string(), "oci://example.com/foo");
        assert!(!format!("{source:?}").contains("hunter2"));
        let error = "oci://user:hunter2@example.com/Foo".parse::<OciModuleSource>().expect_err("upper case");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        insta::assert_snapshot!(error, @"`oci://***@example.com/Foo` is not a module in an OCI repository: between oci:// and `?` there must be HOST[:PORT]/NAME, without a tag and a digest; a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`");
    }

    #[test]
    fn one_of_tag_and_digest_names_the_package() {
        let digest = format!("sha256:{}", "0".repeat(64));
        check("oci://example.com/a?tag=latest", Ok("oci://example.com/a"));
        check("oci://example.com/a?&&tag=%31", Ok("oci://example.com/a?tag=1"));
        check(&format!("oci://example.com/a?digest={digest}"), Ok(&format!("oci://example.com/a?digest={digest}")));
        check(&format!("oci://example.com/a?digest={digest}&tag=1"), Err("tag-and-digest"));
        check("oci://example.com/a?tag", Err("empty-tag"));
        check("oci://example.com/a?digest=", Err("empty-digest"));
        check("oci://example.com/a?tag=1.0.0+b", Err("invalid-tag"));
        check("oci://example.com/a?tag=1//sub", Err("invalid-tag"));
        check("oci://example.com/a?tag=1&ref=main", Err("unsupported-argument"));
        check("oci://example.com/a?=1", Err("unsupported-argument"));
        check("oci://example.com/a?x=1&x=2", Err("repeated-argument"));
    }

    #[test]
    fn arguments_that_opentofu_drops_silently_to_install_latest_are_refused() {
        check("oci://example.com/a?tag=1.0.0;x", Err("malformed-argument"));
        check("oci://example.com/a?tag=1.0.0%", Err("malformed-argument"));
        check("oci://example.com/a?tag=1.0.0%zz", Err("malformed-argument"));
    }

    #[test]
    fn archives_and_checksums_are_not_for_repositories() {
        check("oci://example.com/a?archive=zip", Err("archive-argument"));
        check("oci://example.com/a.tar.gz?tag=1", Err("archive-argument"));
        check("oci://example.com/a.tgz", Err("archive-argument"));
        check("oci://example.com/a.zip//sub?archive=false", Ok("oci://example.com/a.zip//sub?archive=false"));
        check("oci://example.com/a?archive=false", Ok("oci://example.com/a"));
        check("oci://example.com/a?archive=", Err("unsupported-argument"));
        check("oci://example.com/a?checksum=md5:00", Err("checksum-argument"));
    }

    #[test]
    fn the_folder_stays_in_the_package() {
        check("oci://example.com/a//../x", Err("subdir-escapes"));
        check("oci://example.com/a//..", Err("subdir-escapes"));
        check("oci://example.com/a//x/../y?tag=1", Ok("oci://example.com/a//y?tag=1"));
    }
}
