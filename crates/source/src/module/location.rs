//! The location that a registry of modules names: which kinds are fetched, which archives, and which git repository it
//! may name.

use tofu_oci_http::{Protection, WebClient, WebFault};
use tofu_oci_types::{Digest, GitModuleSource, GitTransport, ModuleSource, OciModuleSource, OtherModuleSource, Subdir};
use url::Url;

use super::error::LocationFault;

/// The longest location, in bytes.
pub(super) const LONGEST: usize = 8 << 10;

/// Where the package of a module is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleLocation {
    /// In an OCI repository.
    Oci(OciModuleSource),
    /// In an archive on the web.
    Archive(ModuleArchive),
    /// In a git repository, which this address has named.
    Git(GitModuleSource, Url),
}

/// An archive on the web.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleArchive {
    /// Where it is, without the arguments that say how it is read. The query may be a secret.
    pub(super) url: Url,
    pub(super) form: ArchiveForm,
    /// What its bytes must be.
    pub(super) checksum: Option<Digest>,
    pub(super) subdir: Subdir,
}

/// How an archive is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveForm {
    Zip,
    /// tar, compressed with gzip.
    TarGz,
}

/// Suffixes of archives that `OpenTofu` unpacks and tofu-oci does not; the longer one first.
const OTHER_FORMS: [&str; 9] = ["tar.xz", "txz", "tar.bz2", "tbz2", "tar.zst", "tar.tbz2", "gz", "bz2", "xz"];

impl ModuleLocation {
    /// Reads a location that an answer of `from` names. One that begins with `/`, `./` or `../` is relative to the address that
    /// was `asked`, before any redirect. No host may lead nearer than itself, as redirects.
    ///
    /// Spec: seed 004, "Download Source Code"; `real-tofu-http.md` §1 (measured): a bare `x.zip` is refused.
    pub(super) fn parse(text: &str, (asked, from): (&Url, &Url), web: &WebClient) -> Result<Self, LocationFault> {
        if text.len() > LONGEST {
            return Err(invalid(format!("it has {} bytes, and at most {LONGEST} are read", text.len())));
        }
        let is_relative = ["/", "./", "../"].iter().any(|start| text.starts_with(start));
        if is_relative {
            if text.starts_with("//") {
                return Err(invalid("it begins with two slashes".to_owned()));
            }
            // `./x.zip//sub?a=b` is parsed as an address: joining drops no part of it.
            let joined = asked.join(text).map_err(|error| invalid(format!("it is not an address: {error}")))?;
            return Self::absolute(joined.as_str(), from, web);
        }
        Self::absolute(text, from, web)
    }

    fn absolute(text: &str, from: &Url, web: &WebClient) -> Result<Self, LocationFault> {
        match text.parse::<ModuleSource>() {
            Ok(ModuleSource::Oci(source)) => {
                let registry = source.repository().registry();
                if web.may_name(from, registry) {
                    Ok(Self::Oci(source))
                } else {
                    Err(LocationFault::PrivateHost { host: registry.to_owned() })
                }
            }
            Ok(ModuleSource::Other(source)) => match GitModuleSource::of(&source) {
                Some(Ok(git)) => admitted(&git, from, web).map(|()| Self::Git(git, from.clone())),
                Some(Err(error)) => Err(invalid(error.to_string())),
                None => archive(&source, from, web).map(Self::Archive),
            },
            Ok(ModuleSource::Registry(..)) => Err(invalid("it is a module of a registry again".to_owned())),
            Ok(ModuleSource::Local(_)) => Err(LocationFault::Kind { kind: "a local folder" }),
            Err(error) => Err(invalid(error.to_string())),
        }
    }

    /// The folder in the package.
    pub fn subdir(&self) -> &Subdir {
        match self {
            Self::Oci(source) => source.subdir(),
            Self::Archive(archive) => &archive.subdir,
            Self::Git(source, _) => source.subdir(),
        }
    }
}

/// Refuses a repository that the answer of `from` must not name: one on this machine or nearer than that host, and one that is
/// reached without protection. A name is looked up by [`super::git::GitCheckout::admit`], and then by git.
pub(super) fn admitted(source: &GitModuleSource, from: &Url, web: &WebClient) -> Result<(), LocationFault> {
    let host = match (source.transport(), source.host()) {
        (GitTransport::File, _) | (_, None) => {
            return Err(LocationFault::Kind { kind: "a repository on this machine" });
        }
        (GitTransport::Git, _) => {
            return Err(invalid("git: is not protected on its way; https: and ssh: are".to_owned()));
        }
        (GitTransport::Https | GitTransport::Http | GitTransport::Ssh, Some(host)) => host,
    };
    if source.transport() == GitTransport::Http {
        web.named_by(from, &format!("http://{host}/"), Protection::Tls)
            .map_err(|error| invalid(error.fault.to_string()))?;
    }
    if web.may_name(from, &host) { Ok(()) } else { Err(LocationFault::PrivateHost { host }) }
}

fn invalid(problem: String) -> LocationFault {
    LocationFault::Invalid { problem }
}

/// The kind of a source that is neither a repository in OCI nor an archive on the web.
fn other_kind(package: &str) -> Option<LocationFault> {
    let (way, address) = match package.split_once("::") {
        Some((way, rest)) => (way, rest),
        None => ("", package),
    };
    let scheme = address.split_once(':').map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
    let host = address.split(['/', ':']).next().unwrap_or_default();
    Some(match (way, scheme.as_str()) {
        ("hg", _) | ("", "hg") => LocationFault::Kind { kind: "a Mercurial repository" },
        ("s3", _) | ("", "s3") => LocationFault::Kind { kind: "an S3 bucket" },
        ("gcs", _) | ("", "gcs") => LocationFault::Kind { kind: "a Google Cloud Storage bucket" },
        ("file", _) | ("", "file") => LocationFault::Kind { kind: "a local folder" },
        ("" | "http" | "https", "http" | "https") => return None,
        ("", _) if address.starts_with('/') => LocationFault::Kind { kind: "a local folder" },
        ("", _) if host.ends_with("amazonaws.com") => LocationFault::Kind { kind: "an S3 bucket" },
        ("", _) if host.ends_with("googleapis.com") => LocationFault::Kind { kind: "a Google Cloud Storage bucket" },
        _ => LocationFault::Kind { kind: "an address of an unknown scheme" },
    })
}

fn archive(source: &OtherModuleSource, from: &Url, web: &WebClient) -> Result<ModuleArchive, LocationFault> {
    if let Some(fault) = other_kind(source.package()) {
        return Err(fault);
    }
    let address = source.package().split_once("::").map_or(source.package(), |(_, rest)| rest);
    let mut url = Url::parse(address).map_err(|error| invalid(format!("it is not an address: {error}")))?;
    let arguments = ArchiveArguments::take(&mut url);
    let form = arguments.form(&url)?;
    let checksum = arguments.checksum()?;
    let protection = if checksum.is_some() { Protection::Digest } else { Protection::Tls };
    // Its user info goes to that host alone, as that of any address.
    let mut plain = url.clone();
    let _ = plain.set_username("").and_then(|()| plain.set_password(None));
    if let Err(error) = web.named_by(from, plain.as_str(), protection) {
        return Err(match error.fault {
            WebFault::PrivateHost(host) => LocationFault::PrivateHost { host },
            WebFault::Redirect(fault) => invalid(fault.to_string()),
            other => invalid(other.to_string()),
        });
    }
    url.set_fragment(None);
    Ok(ModuleArchive { url, form, checksum, subdir: source.subdir().clone() })
}

/// The arguments of an address that say how its archive is read.
#[derive(Default)]
struct ArchiveArguments {
    archive: Option<String>,
    checksum: Option<String>,
}

impl ArchiveArguments {
    /// Takes them out of the query. The others stay as they are written: a signature may depend on them.
    fn take(url: &mut Url) -> Self {
        let mut found = Self::default();
        let Some(query) = url.query().map(str::to_owned) else { return found };
        let mut kept = Vec::new();
        for argument in query.split('&') {
            let decoded = url::form_urlencoded::parse(argument.as_bytes()).next();
            match decoded.as_ref().map(|(name, value)| (&**name, value)) {
                Some(("archive", value)) => drop(found.archive.get_or_insert_with(|| value.to_string())),
                Some(("checksum", value)) => drop(found.checksum.get_or_insert_with(|| value.to_string())),
                _ => kept.push(argument),
            }
        }
        url.set_query(if kept.is_empty() { None } else { Some(kept.join("&")) }.as_deref());
        found
    }

    /// By the argument, else by the end of the path.
    fn form(&self, url: &Url) -> Result<ArchiveForm, LocationFault> {
        let written = self.archive.as_deref().filter(|text| !text.is_empty());
        let path = url.path().to_ascii_lowercase();
        let ends = |suffix: &&str| path.strip_suffix(*suffix).is_some_and(|rest| rest.ends_with('.'));
        let suffix = || ["zip", "tar.gz", "tgz"].into_iter().chain(OTHER_FORMS).find(ends);
        match written.or_else(suffix) {
            Some("zip") => Ok(ArchiveForm::Zip),
            Some("tar.gz" | "tgz") => Ok(ArchiveForm::TarGz),
            Some(form) if OTHER_FORMS.contains(&form) => Err(LocationFault::Form { form: form.to_owned() }),
            // `archive=false` and the like: not an archive.
            Some(_) | None => Err(LocationFault::NoArchive),
        }
    }

    /// `sha256:HEX`, `sha512:HEX`, or the digits alone.
    fn checksum(&self) -> Result<Option<Digest>, LocationFault> {
        let Some(text) = self.checksum.as_deref().filter(|text| !text.is_empty()) else { return Ok(None) };
        let text = text.to_ascii_lowercase();
        let named = match text.len() {
            64 => format!("sha256:{text}"),
            128 => format!("sha512:{text}"),
            _ => text,
        };
        let digest = named.parse::<Digest>().ok().filter(|digest| digest.hasher().is_some());
        digest.map(Some).ok_or(LocationFault::Checksum)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tofu_oci_http::{HttpClient, HttpOptions};
    use tofu_oci_types::NoReporter;

    use super::*;

    const FROM: &str = "https://registry.example.com/v1/modules/acme/network/aws/1.0.0/download";

    /// What a location is read as: `FORM URL CHECKSUM //SUB`, an `oci://` source, or the code of the fault.
    #[track_caller]
    fn check(text: &str, want: &str) {
        let web = WebClient::new(HttpClient::new(HttpOptions::default(), Arc::new(NoReporter)).unwrap());
        let from = FROM.parse().unwrap();
        let got = match ModuleLocation::parse(text, (&from, &from), &web) {
            Ok(ModuleLocation::Oci(source)) => source.to_string(),
            Ok(ModuleLocation::Archive(ModuleArchive { url, form, checksum, subdir })) => {
                let checksum = checksum.map(|digest| format!(" {}", digest.algorithm_name())).unwrap_or_default();
                let subdir = if subdir.is_root() { String::new() } else { format!(" //{subdir}") };
                format!("{form:?} {url}{checksum}{subdir}")
            }
            Ok(ModuleLocation::Git(source, _)) => source.to_string(),
            Err(fault) => fault.code().to_owned(),
        };
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn archives_are_known_by_their_end_or_by_an_argument() {
        check("https://x.example/a.zip", "Zip https://x.example/a.zip");
        check("https://x.example/a.TAR.GZ", "TarGz https://x.example/a.TAR.GZ");
        check("https::https://x.example/a.tgz", "TarGz https://x.example/a.tgz");
        check("https://x.example/a?archive=zip", "Zip https://x.example/a");
        check("https://x.example/a.zip?archive=tar.gz", "TarGz https://x.example/a.zip");
        check("https://x.example/a?sig=a%2Fb&archive=tgz&e=1+2", "TarGz https://x.example/a?sig=a%2Fb&e=1+2");
        check("https://x.example/a.zip//m/*?archive=zip", "Zip https://x.example/a.zip //m/*");
        check("https://x.example/a.tar.xz", "module-archive-form");
        check("https://x.example/a.tar.bz2?x=1", "module-archive-form");
        check("https://x.example/a", "module-archive-form");
        check("https://x.example/a.zip?archive=false", "module-archive-form");
        check("https://x.example/zip", "module-archive-form");
    }

    #[test]
    fn a_checksum_must_be_one_that_can_be_verified() {
        let (short, long) = ("a".repeat(64), "B".repeat(128));
        check(&format!("https://x.example/a.zip?checksum=sha256:{short}"), "Zip https://x.example/a.zip sha256");
        check(&format!("https://x.example/a.zip?checksum={short}&x=1"), "Zip https://x.example/a.zip?x=1 sha256");
        check(&format!("https://x.example/a.zip?checksum={long}"), "Zip https://x.example/a.zip sha512");
        check("https://x.example/a.zip?checksum=", "Zip https://x.example/a.zip");
        for text in ["md5:d41d8cd98f00b204e9800998ecf8427e", "sha256:abc", "file:https://x.example/SHA256SUMS", "abc"] {
            check(&format!("https://x.example/a.zip?checksum={text}"), "module-checksum");
        }
    }

    #[test]
    fn relative_locations_begin_with_a_slash_or_dots() {
        check("/a.zip", "Zip https://registry.example.com/a.zip");
        check("./a.zip//sub", "Zip https://registry.example.com/v1/modules/acme/network/aws/1.0.0/a.zip //sub");
        check("../a.zip?archive=zip", "Zip https://registry.example.com/v1/modules/acme/network/aws/a.zip");
        check("a.zip", "module-location-invalid");
        check("//evil.example/a.zip", "module-location-invalid");
        check("./a.zip//../../x", "module-archive-form");
    }

    #[test]
    fn repositories_in_oci_and_what_is_neither() {
        check("oci://x.example/acme/network//sub?tag=1.0.0", "oci://x.example/acme/network//sub?tag=1.0.0");
        check("oci://x.example/a?tag=1&digest=2", "module-location-invalid");
        for (git, want) in [
            ("git::https://x.example/a.git?ref=v1", "git::https://x.example/a.git?ref=v1"),
            ("git::ssh://git@x.example/a.git", "git::ssh://git@x.example/a.git"),
            ("git@github.com:acme/a.git", "git::ssh://git@github.com/acme/a.git"),
            ("github.com/acme/network//sub?ref=v1", "git::https://github.com/acme/network.git//sub?ref=v1"),
            ("git::file:///srv/a.git", "module-location-kind"),
            ("git::http://x.example/a.git", "module-location-invalid"),
            ("git://x.example/a.git", "module-location-invalid"),
            ("git::https://127.0.0.1/a.git", "private-host"),
            ("git::ssh://git@10.0.0.1/a.git", "private-host"),
            ("git::https://x.example/a.git?ref=-x", "module-location-invalid"),
            ("ssh://git@x.example/a", "module-location-invalid"),
        ] {
            check(git, want);
        }
        for other in [
            "s3::https://s3.amazonaws.com/bucket/a.zip",
            "bucket.s3.eu-west-1.amazonaws.com/a.zip",
            "gcs::https://www.googleapis.com/storage/v1/b/a.zip",
            "www.googleapis.com/storage/v1/b/a.zip",
            "hg::https://x.example/a",
            "file:///etc",
            "ftp://x.example/a.zip",
        ] {
            check(other, "module-location-kind");
        }
        check("acme/network/aws", "module-location-invalid");
        check("registry.example.com/acme/network/aws", "module-location-invalid");
        check("", "module-location-invalid");
        check(&format!("https://x.example/{}.zip", "a".repeat(LONGEST)), "module-location-invalid");
    }

    #[test]
    fn no_registry_leads_nearer_than_itself_or_to_plain_http() {
        check("http://x.example/a.zip", "module-location-invalid");
        check("https://127.0.0.1/a.zip", "private-host");
        check("https://10.0.0.1:8443/a.zip", "private-host");
        check("oci://127.0.0.1:5000/acme/network", "private-host");
        check("oci://localhost/acme/network", "private-host");
    }

    #[test]
    fn a_user_info_stays_with_the_archive() {
        check("https://u:p@x.example/a.zip", "Zip https://u:p@x.example/a.zip");
    }
}
