//! Which git repository may be fetched, and where git connects to if an answer or a submodule named the repository.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, OnceLock};

use tofu_oci_http::{NamedHost, WebClient};
use tofu_oci_types::{GitModuleSource, GitTransport};
use url::Url;

use super::access::LocationAccess;
use super::error::LocationFault;
use super::git_program::{GitNamer, GitProgram};
use super::location::admitted;

/// A repository that may be fetched, and the program that fetches it.
#[derive(Clone)]
pub struct GitCheckout {
    source: GitModuleSource,
    program: Arc<dyn GitProgram>,
    web: WebClient,
    /// The address whose answer names the repository; `None` if the user wrote it.
    from: Option<Url>,
    access: LocationAccess,
    /// Which logins its submodules may be shown.
    submodules: LocationAccess,
    /// Where its host was found, as git has it.
    pinned: Arc<OnceLock<String>>,
}

impl GitCheckout {
    /// A repository that the user named. If others read what comes, its submodules are read without a login, and not on this
    /// machine.
    pub fn written(
        source: GitModuleSource,
        program: Arc<dyn GitProgram>,
        web: WebClient,
        submodules: LocationAccess,
    ) -> Self {
        Self { source, program, web, from: None, access: LocationAccess::User, submodules, pinned: Arc::default() }
    }

    /// A repository that the answer of `from` names.
    ///
    /// # Errors
    /// If that host must not name it: it is on this machine, nearer than the host, or reached without protection.
    pub fn named(
        source: GitModuleSource,
        program: Arc<dyn GitProgram>,
        web: WebClient,
        from: &Url,
    ) -> Result<Self, LocationFault> {
        admitted(&source, from, &web)?;
        let (from, access, submodules) = (Some(from.clone()), LocationAccess::User, LocationAccess::User);
        Ok(Self { source, program, web, from, access, submodules, pinned: Arc::default() })
    }

    /// The same with this access, and so for its submodules.
    ///
    /// # Errors
    /// [`LocationFault::Login`] if nothing can be read over ssh without a login.
    pub fn with_access(self, access: LocationAccess) -> Result<Self, LocationFault> {
        match (access, self.source.transport()) {
            (LocationAccess::Anonymous, GitTransport::Ssh) => Err(LocationFault::Login),
            _ => Ok(Self { access, submodules: access, ..self }),
        }
    }

    /// Which logins it may be shown.
    pub fn access(&self) -> LocationAccess {
        self.access
    }

    /// The repository.
    pub fn source(&self) -> &GitModuleSource {
        &self.source
    }

    pub fn program(&self) -> &dyn GitProgram {
        &*self.program
    }

    /// Looks the host up before git does, which follows any name by itself.
    ///
    /// # Errors
    /// If the host that named the repository must not name it: it is nearer than that host.
    pub async fn admit(&self) -> Result<(), LocationFault> {
        let (Some(from), Some(host)) = (&self.from, self.source.host()) else { return Ok(()) };
        match self.web.named_host(from, &host).await {
            NamedHost::TooNear => return Err(LocationFault::PrivateHost { host }),
            NamedHost::At(found) if self.source.transport() != GitTransport::Ssh => {
                // Another task may have set it first.
                let _ = pinned(self.source.url(), &found).map(|pinned| self.pinned.set(pinned));
            }
            NamedHost::At(_) | NamedHost::Anywhere => {}
        }
        Ok(())
    }

    /// Where git is to connect to instead of looking the host up again, as its `http.curloptResolve` has it; `None` if it may be
    /// anywhere, and before [`GitCheckout::admit`].
    pub fn pinned(&self) -> Option<&str> {
        self.pinned.get().map(String::as_str)
    }

    /// Who named the repository.
    pub fn named_by(&self) -> GitNamer {
        if self.from.is_none() { GitNamer::User } else { GitNamer::Other }
    }

    /// A submodule of it.
    ///
    /// # Errors
    /// If this repository must not name it. A repository on this machine may name others there.
    pub fn submodule(&self, source: GitModuleSource) -> Result<Self, LocationFault> {
        let (own, other) = (self.source.transport(), source.transport());
        let is_lent = self.submodules == LocationAccess::User;
        if own == GitTransport::File && other == GitTransport::File && self.from.is_none() && is_lent {
            return Ok(Self { source, ..self.clone() });
        }
        // A repository on this machine is one that the user named: it may name what this machine reaches.
        let host = self.source.host().unwrap_or_else(|| "localhost".to_owned());
        let from = Url::parse(&format!("https://{host}/")).map_err(|error| LocationFault::Invalid {
            problem: format!("the host of its repository is not one of an address: {error}"),
        })?;
        // Neither the registry nor this repository may lead nearer than itself.
        if let Some(registry) = &self.from {
            Self::named(source.clone(), Arc::clone(&self.program), self.web.clone(), registry)?;
        }
        Self::named(source, Arc::clone(&self.program), self.web.clone(), &from)?.with_access(self.submodules)
    }
}

/// `HOST:PORT:IP[,IP]`. A name that is unknown here leads to an address that no connection can be made to: git must not know it
/// a moment later. A proxy, which looks names up itself, is not told of this.
fn pinned(url: &Url, found: &[IpAddr]) -> Option<String> {
    let (host, port) = (url.host_str()?, url.port_or_known_default()?);
    let address = |address: &IpAddr| match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    };
    let found: Vec<String> = found.iter().map(address).collect();
    let found = if found.is_empty() { Ipv4Addr::BROADCAST.to_string() } else { found.join(",") };
    Some(format!("{host}:{port}:{found}"))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::IpAddr;

    use async_trait::async_trait;
    use tofu_oci_http::{HttpClient, HttpOptions, NameService};
    use tofu_oci_types::{ModuleSource, NoReporter};

    use super::super::git_program::{GitCommand, GitOutput, GitRunError};
    use super::*;

    struct NoGit;

    #[async_trait]
    impl GitProgram for NoGit {
        async fn run(&self, _: &GitCommand<'_>) -> Result<GitOutput, GitRunError> {
            unreachable!("no test of this module runs git")
        }
    }

    struct Names;

    #[async_trait]
    impl NameService for Names {
        async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
            let texts: &[&str] = match name {
                "near.test" => &["127.0.0.1"],
                "lan.test" | "registry.lan.test" => &["10.0.0.1"],
                "both.test" => &["93.184.216.34", "fd00::1"],
                "far.test" | "registry.test" => &["93.184.216.34"],
                _ => return Err(io::Error::new(io::ErrorKind::NotFound, "no such name")),
            };
            Ok(texts.iter().map(|text| text.parse().unwrap()).collect())
        }
    }

    /// The code of the refusal, or `ok` and the addresses that git gets.
    async fn admitted(source: &str, from: Option<&str>, allowed: &[&str]) -> String {
        let private_hosts = allowed.iter().map(ToString::to_string).collect();
        let options = HttpOptions { names: Arc::new(Names), private_hosts, ..HttpOptions::default() };
        let web = WebClient::new(HttpClient::new(options, Arc::new(NoReporter)).unwrap());
        let Ok(ModuleSource::Other(other)) = source.parse() else { panic!("{source} is not of git") };
        let git = GitModuleSource::of(&other).unwrap().unwrap();
        let checkout = match from {
            None => Ok(GitCheckout::written(git, Arc::new(NoGit), web, LocationAccess::User)),
            Some(host) => GitCheckout::named(git, Arc::new(NoGit), web, &format!("https://{host}/").parse().unwrap()),
        };
        let admitted = match checkout {
            Ok(checkout) => checkout.admit().await.map(|()| checkout),
            Err(fault) => Err(fault),
        };
        let told =
            |checkout: GitCheckout| format!("ok {}", checkout.pinned().unwrap_or_default()).trim_end().to_owned();
        admitted.map_or_else(|fault| fault.code().to_owned(), told)
    }

    #[tokio::test]
    async fn a_registry_does_not_send_git_to_a_name_that_leads_inward() {
        let check = async |source: &str, from: Option<&str>, want: &str| {
            assert_eq!(admitted(source, from, &[]).await, want, "{from:?} names {source}");
        };
        for inside in ["near.test", "lan.test", "both.test"] {
            for source in [format!("git::https://{inside}/a.git"), format!("git::ssh://git@{inside}:2222/a.git")] {
                check(&source, Some("registry.test"), "private-host").await;
                check(&source, Some("unknown.test"), "private-host").await;
                check(&source, None, "ok").await;
                assert_eq!(admitted(&source, Some("registry.test"), &[inside]).await, "ok");
            }
        }
        check("git::https://near.test/a.git", Some("registry.lan.test"), "private-host").await;
    }

    #[tokio::test]
    async fn git_looked_a_name_up_again_after_it_was_admitted() {
        let check = async |source: &str, from: &str, allowed: &[&str], want: &str| {
            assert_eq!(admitted(source, Some(from), allowed).await, want, "{from} names {source}");
        };
        check("git::https://far.test/a.git", "registry.test", &[], "ok far.test:443:93.184.216.34").await;
        check("git::https://far.test:8443/a.git", "far.test", &[], "ok far.test:8443:93.184.216.34").await;
        check("git::https://lan.test/a.git", "registry.lan.test", &[], "ok lan.test:443:10.0.0.1").await;
        check("git::https://both.test/a.git", "both.test", &[], "ok both.test:443:93.184.216.34,[fd00::1]").await;
        check("git::https://unknown.test/a.git", "registry.test", &[], "ok unknown.test:443:255.255.255.255").await;
        check("git::https://near.test/a.git", "registry.test", &["near.test"], "ok").await;
        check("git::https://1.1.1.1/a.git", "registry.test", &[], "ok").await;
        // Only curl can be told.
        check("git::ssh://git@far.test/a.git", "registry.test", &[], "ok").await;
    }
}
