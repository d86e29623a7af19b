//! Git repositories that may be fetched.

use std::sync::Arc;

use tofu_oci_http::WebClient;
use tofu_oci_types::{GitModuleSource, GitTransport};
use url::Url;

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
}

impl GitCheckout {
    /// A repository that the user named.
    pub fn written(source: GitModuleSource, program: Arc<dyn GitProgram>, web: WebClient) -> Self {
        Self { source, program, web, from: None }
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
        Ok(Self { source, program, web, from: Some(from.clone()) })
    }

    /// The repository.
    pub fn source(&self) -> &GitModuleSource {
        &self.source
    }

    /// The program.
    pub fn program(&self) -> &dyn GitProgram {
        &*self.program
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
        if own == GitTransport::File && other == GitTransport::File && self.from.is_none() {
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
        Self::named(source, Arc::clone(&self.program), self.web.clone(), &from)
    }
}
