//! The connections, and one exchange over them.

use std::error::Error;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder, Identity, Proxy, Request, Response};
use tokio::time::Instant;
use url::Url;

use crate::body::Progress;
use crate::clean::{NetworkProblem, has_cause, is_near, is_refused, network_problem};
use crate::client::ClientError;
use crate::limits::Limits;
use crate::names::Resolver;
use crate::options::{ClientOptions, Proxies};
use crate::origin::is_loopback;
use crate::pacing::Pacing;
use crate::waiting::{Elapsed, Waiting};

/// Connections to the outside, perhaps through a proxy, and to this machine, never through one.
///
/// HTTP/1.1 only: one connection per parallel transfer is faster for blobs than streams of one HTTP/2 connection.
pub(crate) struct Http {
    outside: Client,
    /// Made when it is first needed: reading the system's certificates takes its time.
    local: OnceLock<Client>,
    options: ClientOptions,
    pacing: Arc<Pacing>,
    resolver: Resolver,
}

/// An exchange without an answer.
#[derive(Debug)]
pub(crate) struct NoAnswer {
    pub(crate) problem: NetworkProblem,
    /// Whether the same will happen next time: a certificate that is not trusted, nobody there on this machine.
    pub(crate) lasting: bool,
}

impl Http {
    pub(crate) fn new(options: &ClientOptions) -> Result<Self, ClientError> {
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Losing the race against another thread is fine: there is a provider then.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let certificates = certificates(options)?;
        let identity = identity(options)?;
        let resolver = Resolver::new(Arc::clone(&options.names));
        let outside = build(options, &certificates, identity.as_ref(), &resolver)?;
        Ok(Self { outside, local: OnceLock::new(), options: options.clone(), pacing: Arc::default(), resolver })
    }

    pub(crate) fn limits(&self) -> Limits {
        self.options.limits
    }

    pub(crate) fn options(&self) -> &ClientOptions {
        &self.options
    }

    pub(crate) fn now(&self) -> SystemTime {
        self.options.clock.now()
    }

    /// What is known of the hosts.
    pub(crate) fn pacing(&self) -> &Pacing {
        &self.pacing
    }

    /// What is known of names.
    pub(crate) fn resolver(&self) -> &Resolver {
        &self.resolver
    }

    fn client(&self, url: &Url) -> &Client {
        if !is_loopback(url) || self.options.proxies == Proxies::Direct {
            return &self.outside;
        }
        self.local.get_or_init(|| {
            let direct = ClientOptions { proxies: Proxies::Direct, ..self.options.clone() };
            // The same options have made a client before; what fails now is the system, and then that one serves.
            Self::new(&direct).map_or_else(|_| self.outside.clone(), |http| http.outside)
        })
    }

    /// Sends the request and waits for the head of the answer, for `left` at most. With a body, the wait begins anew
    /// whenever some of it has gone out.
    pub(crate) async fn execute(
        &self,
        request: Request,
        progress: &Progress,
        left: Duration,
        waiting: &Waiting,
    ) -> Result<Response, NoAnswer> {
        let url = request.url().clone();
        let start = Instant::now();
        let limit = if progress.has_body() { self.limits().taken } else { self.limits().first_byte }.min(left);
        let answer = waiting.until(limit, || progress.still_since(start), self.client(&url).execute(request)).await;
        match answer {
            Ok(Ok(response)) => {
                self.pacing.answered(&url);
                Ok(response)
            }
            Ok(Err(error)) => Err(self.no_answer(error, &url)),
            Err(Elapsed) => {
                let what = if progress.has_body() { progress.told() } else { "no answer came".to_owned() };
                Err(NoAnswer { problem: NetworkProblem::timed_out(&what, limit), lasting: false })
            }
        }
    }

    fn no_answer(&self, error: reqwest::Error, url: &Url) -> NoAnswer {
        // A host that was there a moment ago comes back; one that was never there does not.
        let refused_here = is_loopback(url) && has_cause(&error, &is_refused) && !self.pacing.was_reached(url);
        let lasting = refused_here || [untrusted, unknown_host, is_near].iter().any(|lasts| has_cause(&error, lasts));
        NoAnswer { lasting, problem: network_problem(error, self.now()) }
    }
}

/// Whether the name service says that there is no such host, as opposed to not answering now. The resolver's code is
/// not handed on, only its words: those of glibc, musl, macOS and Windows.
fn unknown_host(cause: &(dyn Error + 'static)) -> bool {
    const WORDS: &[&str] = &[
        "Name or service not known",
        "No address associated with hostname",
        "Name does not resolve",
        "nodename nor servname provided",
        "No such host is known",
    ];
    let text = cause.to_string();
    cause.is::<io::Error>() && WORDS.iter().any(|words| text.contains(words))
}

fn untrusted(cause: &(dyn Error + 'static)) -> bool {
    matches!(cause.downcast_ref(), Some(rustls::Error::InvalidCertificate(_)))
}

fn certificates(options: &ClientOptions) -> Result<Vec<Certificate>, ClientError> {
    let mut all = Vec::new();
    for pem in &options.ca_certificates {
        let invalid = |problem: String| ClientError::CaCertificate { problem };
        let some = Certificate::from_pem_bundle(pem)
            .map_err(|error| invalid(network_problem(error, options.clock.now()).text))?;
        if some.is_empty() {
            return Err(invalid("the file holds no PEM certificate".to_owned()));
        }
        all.extend(some);
    }
    Ok(all)
}

fn identity(options: &ClientOptions) -> Result<Option<Identity>, ClientError> {
    let Some(pem) = &options.client_identity else { return Ok(None) };
    let identity = Identity::from_pem(pem).map_err(|_| ClientError::ClientIdentity {
        problem: "it must hold a certificate and its private key in PEM".to_owned(),
    })?;
    Ok(Some(identity))
}

fn build(
    options: &ClientOptions,
    certificates: &[Certificate],
    identity: Option<&Identity>,
    resolver: &Resolver,
) -> Result<Client, ClientError> {
    let builder = || -> Result<ClientBuilder, ClientError> {
        let mut builder = Client::builder()
            .user_agent(&options.user_agent)
            .http1_only()
            .redirect(Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .connect_timeout(options.limits.connect)
            .dns_resolver(Arc::new(resolver.clone()))
            .tcp_nodelay(true);
        #[cfg(target_os = "linux")]
        {
            // The table of limits says how long a host may take nothing, not the kernel.
            builder = builder.tcp_user_timeout(None);
        }
        if let Some(identity) = identity {
            builder = builder.identity(identity.clone());
        }
        Ok(match &options.proxies {
            Proxies::Environment => builder,
            Proxies::Direct => builder.no_proxy(),
            Proxies::Fixed(address) => {
                let proxy = Proxy::all(address.as_str())
                    .map_err(|_| ClientError::Proxy { problem: "what was given is no address".to_owned() })?;
                builder.proxy(proxy)
            }
        })
    };
    let problem = match builder()?.tls_certs_merge(certificates.to_vec()).build() {
        Ok(client) => return Ok(client),
        Err(error) => network_problem(error, options.clock.now()).text,
    };
    // A machine without any system roots (a bare container) still reaches plain registries and those of `--ca-file`.
    if problem.contains("No CA certificates") {
        return builder()?
            .tls_certs_only(certificates.to_vec())
            .build()
            .map_err(|error| tls(network_problem(error, options.clock.now()).text));
    }
    Err(if certificates.is_empty() { tls(problem) } else { ClientError::CaCertificate { problem } })
}

fn tls(problem: String) -> ClientError {
    ClientError::Tls { problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &str, want: bool) {
        let error = io::Error::other(format!("failed to lookup address information: {words}"));
        assert_eq!(unknown_host(&error), want, "{words}");
    }

    #[test]
    fn a_misspelt_host_is_not_asked_for_again() {
        check("Name or service not known", true);
        check("nodename nor servname provided, or not known", true);
        check("Temporary failure in name resolution", false);
    }
}
