//! Which source of a module is a git repository, and which address or `ref` never reaches git.

use std::fmt;
use std::str::FromStr;

use url::Url;

use tofu_oci_fault::Fault;

use super::other::OtherModuleSource;
use super::subdir::{self, Subdir};
use crate::masked;

/// The longest reference, in bytes.
const LONGEST: usize = 250;

/// A package in a git repository: its address, the branch, tag or commit, and the folder in it.
///
/// ```text
/// git::https://example.com/network.git//dns?ref=v1.4.0
/// git@github.com:acme/network.git      github.com/acme/network/dns?ref=v1.4.0     git::ssh://git@example.com/network.git
/// ```
///
/// The argument `depth` is accepted and changes nothing: which files a commit has does not depend on it.
///
/// `Display` and `Debug` show no user information. Spec: `OpenTofu` 1.12, getmodules; go-getter's detectors and `GitGetter`.
#[derive(Clone, PartialEq, Eq)]
pub struct GitModuleSource {
    url: Url,
    transport: GitTransport,
    reference: Option<GitReference>,
    subdir: Subdir,
}

/// How a git repository is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitTransport {
    /// `https:`
    Https,
    /// `http:`, which anyone on the way can change.
    Http,
    /// `ssh:`, and `USER@HOST:PATH`.
    Ssh,
    /// `git:`, which anyone on the way can change.
    Git,
    /// `file:`, a repository on this machine.
    File,
}

/// A branch, a tag or a commit. It never begins with `-`, and has only characters that names in git can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitReference(String);

/// A source that is meant for git and cannot be used. It quotes no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[error("`{input}` is not a git repository that can be fetched: {fault}")]
#[fault(of = fault)]
pub struct InvalidGitModuleSource {
    input: String,
    fault: GitSourceFault,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[fault(code = "git-address")]
enum GitSourceFault {
    #[error("it has the argument sshkey, and tofu-oci takes no keys out of addresses")]
    #[fault(code = "git-ssh-key")]
    SshKey,
    #[error("a checksum is for archives; ref=COMMIT names a commit")]
    Checksum,
    #[error("`{0}` is not the name of a branch, a tag or a commit")]
    #[fault(code = "git-reference")]
    Reference(String),
    #[error("it is not an address")]
    Address,
    #[error("its host or its user is not one that git may be given")]
    Host,
    #[error("git is asked by https, ssh, http, git and file, not by {0}")]
    Scheme(String),
    #[error("OpenTofu does not know ssh:// alone; write git::ssh://")]
    BareSsh,
}

impl GitReference {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it could be a commit, in full or shortened.
    pub fn is_hexadecimal(&self) -> bool {
        (4..=64).contains(&self.0.len()) && self.0.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

impl FromStr for GitReference {
    type Err = String;

    /// Spec: git-check-ref-format(1).
    fn from_str(text: &str) -> Result<Self, String> {
        let forbidden = |one: char| one.is_control() || one.is_whitespace() || "~^:?*[\\".contains(one);
        let parts = || {
            text.split('/')
                .all(|part| !part.is_empty() && !part.starts_with('.') && part.strip_suffix(".lock").is_none())
        };
        let is_name = !text.is_empty()
            && text.len() <= LONGEST
            && !text.starts_with('-')
            && !text.ends_with('.')
            && !text.contains(forbidden)
            && !text.contains("..")
            && !text.contains("@{")
            && parts();
        if is_name { Ok(Self(text.to_owned())) } else { Err(text.chars().take(LONGEST).collect()) }
    }
}

impl fmt::Display for GitReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl GitModuleSource {
    /// The repository that a source means; `None` if the source is of another kind.
    ///
    /// # Errors
    /// If git must not be asked for it: a key in the address, a reference that is no name, a host or user that a program
    /// could take for an option.
    pub fn of(source: &OtherModuleSource) -> Option<Result<Self, InvalidGitModuleSource>> {
        let (way, address) = match source.package().split_once("::") {
            Some((way, rest)) => (way, rest),
            None => ("", source.package()),
        };
        let is_scheme =
            |scheme: &str| address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        let is_git = match way {
            "git" => true,
            "" => {
                is_scheme("git://")
                    || is_scheme("ssh://")
                    || address.starts_with("git@")
                    || ["github.com/", "bitbucket.org/"].iter().any(|host| address.starts_with(host))
            }
            _ => false,
        };
        let invalid = |fault| InvalidGitModuleSource { input: masked(source.package()), fault };
        is_git.then(|| Self::read(way, address, source.subdir()).map_err(invalid))
    }

    /// The repository that a person names as `git::USER@HOST:PATH`; `None` if the text has another form.
    ///
    /// `OpenTofu` documents this form for any user, and installs it for the user `git` alone. So it is no source of a module block.
    ///
    /// # Errors
    /// As [`GitModuleSource::of`].
    pub(super) fn of_person(text: &str) -> Option<Result<Self, InvalidGitModuleSource>> {
        let (package, folder) = subdir::split(text.strip_prefix("git::")?);
        of_scp(package.split('?').next()?)?;
        let invalid = |fault| InvalidGitModuleSource { input: masked(text), fault };
        let subdir = Subdir::new(folder).map_err(|_| invalid(GitSourceFault::Address));
        Some(subdir.and_then(|subdir| Self::read("git", &package, &subdir).map_err(invalid)))
    }

    fn read(way: &str, address: &str, subdir: &Subdir) -> Result<Self, GitSourceFault> {
        if address.chars().any(char::is_control) {
            return Err(GitSourceFault::Address);
        }
        let (place, arguments) = address.split_once('?').unwrap_or((address, ""));
        let (place, subdir) = full_address(place, subdir);
        let mut url = Url::parse(&place).map_err(|_| GitSourceFault::Address)?;
        let transport = match url.scheme() {
            "https" => GitTransport::Https,
            "http" => GitTransport::Http,
            "ssh" if way.is_empty() && !address.starts_with("git@") => return Err(GitSourceFault::BareSsh),
            "ssh" => GitTransport::Ssh,
            "git" => GitTransport::Git,
            "file" => GitTransport::File,
            other => return Err(GitSourceFault::Scheme(other.to_owned())),
        };
        let reference = take_arguments(arguments, &mut url)?;
        url.set_fragment(None);
        check(&url, transport)?;
        Ok(Self { url, transport, reference, subdir })
    }

    /// What git is given. It may contain a password.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// How it is reached.
    pub fn transport(&self) -> GitTransport {
        self.transport
    }

    /// `HOST[:PORT]`; `None` for a repository on this machine.
    pub fn host(&self) -> Option<String> {
        let host = self.url.host_str().filter(|host| !host.is_empty())?;
        Some(self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
    }

    /// The branch, tag or commit; `None` for the branch that the repository names.
    pub fn reference(&self) -> Option<&GitReference> {
        self.reference.as_ref()
    }

    /// The folder in the package.
    pub fn subdir(&self) -> &Subdir {
        &self.subdir
    }

    /// The repository and reference of a submodule of this one. `address` is what its `.gitmodules` says; `./` and `../` are
    /// relative to this repository.
    ///
    /// # Errors
    /// As [`GitModuleSource::of`], and for an address that is not an address of the web or of ssh.
    ///
    /// Spec: git-submodule(1), `add`.
    pub fn submodule(&self, address: &str, commit: GitReference) -> Result<Self, InvalidGitModuleSource> {
        let invalid = |fault| InvalidGitModuleSource { input: masked(address), fault };
        let mut read = if address.starts_with("./") || address.starts_with("../") {
            let mut base = self.url.clone();
            base.set_query(None);
            let path = format!("{}/", base.path().trim_end_matches('/'));
            base.set_path(&path);
            let joined = base.join(address).map_err(|_| invalid(GitSourceFault::Address))?;
            Self::read("git", joined.as_str(), &Subdir::root())
        } else {
            Self::read("git", address, &Subdir::root())
        }
        .map_err(invalid)?;
        read.reference = Some(commit);
        Ok(read)
    }
}

/// The address with a scheme, and the folder: `github.com/a/b/c` means the folder `c` of `https://github.com/a/b.git`.
fn full_address(place: &str, subdir: &Subdir) -> (String, Subdir) {
    let with_suffix = |path: &str| format!("{}.git", path.strip_suffix(".git").unwrap_or(path));
    if let Some(path) = place.strip_prefix("github.com/") {
        let mut parts = path.splitn(3, '/');
        let (owner, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let inner = Subdir::new(parts.next().unwrap_or_default()).unwrap_or_default();
        return (with_suffix(&format!("https://github.com/{owner}/{name}")), inner.join(subdir));
    }
    if place.starts_with("bitbucket.org/") {
        return (with_suffix(&format!("https://{place}")), subdir.clone());
    }
    if let Some((user, host, path)) = of_scp(place) {
        return (format!("ssh://{user}@{host}/{}", path.strip_prefix('/').unwrap_or(path)), subdir.clone());
    }
    let scheme = if place.starts_with('/') { "file://" } else { "" };
    (format!("{scheme}{place}"), subdir.clone())
}

/// The user, host and path of `USER@HOST:PATH`, which git takes from any user.
///
/// Spec: git-clone(1), "GIT URLS".
fn of_scp(place: &str) -> Option<(&str, &str, &str)> {
    let (user, rest) = place.split_once('@')?;
    let (host, path) = rest.split_once(':')?;
    (!user.contains(['/', ':']) && !host.contains('/')).then_some((user, host, path))
}

/// Takes out the arguments that are go-getter's. The others stay with the address.
fn take_arguments(arguments: &str, url: &mut Url) -> Result<Option<GitReference>, GitSourceFault> {
    let (mut reference, mut kept) = (None, Vec::new());
    for argument in arguments.split('&').filter(|argument| !argument.is_empty()) {
        let Some((name, value)) = url::form_urlencoded::parse(argument.as_bytes()).next() else { continue };
        match &*name {
            "sshkey" if !value.is_empty() => return Err(GitSourceFault::SshKey),
            "checksum" => return Err(GitSourceFault::Checksum),
            "ref" if !value.is_empty() && reference.is_none() => {
                reference = Some(value.parse().map_err(GitSourceFault::Reference)?);
            }
            "ref" | "sshkey" | "depth" | "archive" | "filename" => {}
            _ => kept.push(argument),
        }
    }
    url.set_query(Some(kept.join("&")).as_deref().filter(|query| !query.is_empty()));
    Ok(reference)
}

/// What git must not be given: a host or user that ssh could take for an option or a shell for a command, and encoded line
/// breaks.
fn check(url: &Url, transport: GitTransport) -> Result<(), GitSourceFault> {
    let (host, user) = (url.host_str().unwrap_or_default(), url.username());
    let lower = url.as_str().to_ascii_lowercase();
    let is_hidden = ["%00", "%0a", "%0d"].iter().any(|code| lower.contains(code));
    if is_hidden || host.contains('%') || host.starts_with('-') || user.starts_with('-') || lower.contains("@-") {
        return Err(GitSourceFault::Host);
    }
    let local = transport == GitTransport::File;
    if (local && !host.is_empty()) || (!local && host.is_empty()) || url.path().len() < 2 {
        return Err(GitSourceFault::Host);
    }
    // A shell of the user's ssh configuration may see both.
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_address = address.is_some_and(|inner| inner.parse::<std::net::Ipv6Addr>().is_ok());
    if transport == GitTransport::Ssh && !(is_plain(user) && (is_plain(host) || is_address)) {
        return Err(GitSourceFault::Host);
    }
    Ok(())
}

impl fmt::Display for GitModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = masked(self.url.as_str());
        let (place, arguments) = shown.split_at(shown.find('?').unwrap_or(shown.len()));
        write!(f, "git::{place}{}{arguments}", self.subdir.suffix())?;
        match &self.reference {
            Some(reference) => write!(f, "{}ref={reference}", if arguments.is_empty() { '?' } else { '&' }),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for GitModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
