//! The requests to a token server, made as often as they must be.

use async_trait::async_trait;
use tofu_oci_http::{
    HeldUrl, HttpAnswer, HttpRequest, MAX_REDIRECTS, Protection, RedirectFault, Requester, TimeLimit, WebFault,
    host_of, named_address, next_hop, same_origin, shown_url,
};
use tofu_oci_store::{AccessFault, StoreError};
use tofu_oci_types::NetworkFault;
use url::Url;

use crate::exchange::{Exchange, TokenOutcome};
use crate::fault::{redirect_rule, too_long, unreachable};
use crate::network::RegistryNetwork;
use crate::realm::{RealmRefusal, check_realm};
use crate::token_request::{Asker, Sending, TOKEN_LIMIT, TokenRequest};
use crate::words::ErrorWords;

/// A request for a token on its way.
struct TokenRequester<'a> {
    request: &'a TokenRequest<'a>,
    network: &'a RegistryNetwork,
    sending: &'a Sending,
}

impl TokenRequest<'_> {
    /// The final answer, after as many attempts as the policy allows. The body of a good one has been read.
    pub(crate) async fn send(&self, network: &RegistryNetwork, sending: &Sending) -> Result<HttpAnswer, StoreError> {
        let request = HttpRequest {
            method: sending.method.clone(),
            to: self.held(network, sending.url.clone())?,
            accept: "application/json",
            authorization: sending.authorization.clone(),
            headers: Vec::new(),
            form: sending.form.clone(),
            limit: TOKEN_LIMIT,
            time: TimeLimit::WithoutProgress,
        };
        let requester = TokenRequester { request: self, network, sending };
        network.http.get(&request, &mut network.http.attempts(), &requester).await
    }

    /// The realm as the registry may name it.
    fn held(&self, network: &RegistryNetwork, realm: Url) -> Result<HeldUrl, StoreError> {
        held_realm(network, self.registry, realm).map_err(|refusal| self.forbidden(network, refusal))
    }
}

/// A token server that is not where it may be.
fn private_realm(realm: &Url) -> RealmRefusal {
    let place = "is on this machine or in a private network, and the registry is elsewhere";
    RealmRefusal::new(AccessFault::RealmPrivateAddress, format!("the token server {} {place}", host_of(realm)))
}

/// A token server that `from` names. It is no nearer than that host, unless the user names it.
fn held_realm(network: &RegistryNetwork, from: &HeldUrl, realm: Url) -> Result<HeldUrl, RealmRefusal> {
    if network.hosts.named.token.contain(&realm) {
        return Ok(HeldUrl::anywhere(realm));
    }
    network.http.held(from, realm.clone()).map_err(|_| private_realm(&realm))
}

impl TokenRequester<'_> {
    fn saw(&self, url: &Url, status: Option<u16>, words: Option<String>, outcome: impl FnOnce() -> TokenOutcome) {
        self.request.saw(self.network, self.sending, url, status, words, outcome);
    }

    /// Where a redirect leads, if it passes the rules of a realm. A request that shows a secret stays within the origin:
    /// without the secret the answer would be an anonymous token.
    fn check_redirect(&self, from: &HeldUrl, location: &str) -> Result<HeldUrl, RealmRefusal> {
        let refused = |fault: RedirectFault| {
            let problem = format!("the token server redirects: {fault}");
            RealmRefusal::new(redirect_rule(&fault).unwrap_or(AccessFault::RealmScheme), problem)
        };
        let to = named_address(&from.url, location).map_err(refused)?;
        if !same_origin(&to, &from.url) && !matches!(self.request.asker, Asker::Nobody) {
            let problem = format!("the token server redirects a login to another origin, {}", host_of(&to));
            return Err(RealmRefusal::new(AccessFault::TokenRedirect, problem));
        }
        let hosts = &self.network.hosts;
        check_realm(&to, &self.request.registry.url, &hosts.named)?;
        let to = next_hop(&from.url, location, &hosts.plain_rule(&from.url, Protection::Tls)).map_err(refused)?;
        held_realm(self.network, from, to)
    }
}

#[async_trait]
impl Requester for TokenRequester<'_> {
    type RequestError = StoreError;

    fn next(&self, from: &HeldUrl, answer: &HttpAnswer, location: &str) -> Result<HeldUrl, StoreError> {
        let to = named_address(&from.url, location).map_or_else(|_| String::from("no address"), |to| shown_url(&to));
        self.saw(&from.url, Some(answer.status()), None, || TokenOutcome::Elsewhere { to });
        let next =
            self.check_redirect(from, location).map_err(|refusal| self.request.forbidden(self.network, refusal))?;
        self.network.saw(|| Exchange::Redirected {
            from: shown_url(&from.url),
            to: shown_url(&next.url),
            shown_there: self.sending.shown.clone(),
        });
        Ok(next)
    }

    fn wants(&self, answer: &HttpAnswer) -> bool {
        answer.status() == 200
    }

    async fn refused(&self, mut answer: HttpAnswer) -> StoreError {
        let status = answer.status();
        let words = ErrorWords::read(&mut answer, self.network.scrubber()).await.of_token_server();
        self.saw(answer.url(), Some(status), words.clone(), || TokenOutcome::None(format!("status {status}")));
        self.request.no_token(status, words.as_deref())
    }

    fn no_document(&self, url: &Url, fault: WebFault) -> StoreError {
        let place = self.request.place;
        match fault {
            WebFault::Network(mut problem) => {
                self.saw(url, None, None, || TokenOutcome::None(problem.text.clone()));
                if problem.fault == NetworkFault::PrivateAddress {
                    return self.request.forbidden(self.network, private_realm(url));
                }
                problem.text = format!("the token server {}: {}", host_of(&self.sending.url), problem.text);
                unreachable(place.clone(), problem)
            }
            WebFault::TooLarge(_) => self.request.too_large(self.network, self.sending, url),
            WebFault::Encoded(encoding) => {
                let server = host_of(&self.sending.url);
                let problem =
                    format!("the answer of the token server {server} comes with the content encoding {encoding}");
                StoreError::NoToken { place: place.clone(), fault: AccessFault::TokenNotJson, problem }
            }
            WebFault::TooManyRedirects => {
                let problem = format!("the token server redirects more than {MAX_REDIRECTS} times");
                StoreError::Forbidden { place: place.clone(), fault: None, host: None, problem }
            }
            WebFault::Wait(asked) => too_long(place.clone(), asked),
            other => {
                let problem = format!("the token server {}: {other}", host_of(&self.sending.url));
                StoreError::Malformed { place: place.clone(), problem }
            }
        }
    }
}
