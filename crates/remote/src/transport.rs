//! One request, made as often as it must be.
//!
//! ```text
//! attempt --no answer, 408, 429, 5xx--> wait --> attempt from the first address     (requests that may be repeated)
//!         --3xx--> next address, by the rules of redirects
//!         --401 on the registry's own origin--> again with what the challenge asks for, until that was obtained for this request;
//!               then once more if there is another credential by now
//!         --anything else--> answer
//! ```

use reqwest::Method;
use reqwest::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderValue, LOCATION};
use std::sync::Arc;
use tofu_oci_http::{
    AddressScope, Attempts, HeldUrl, HttpAnswer, MAX_REDIRECTS, NetworkProblem, NoAnswer, NoRetry, RedirectFault,
    RetryAfter, Setback, clean, host_of, is_transient, next_hop, same_origin, shown_url,
};
use tofu_oci_store::StoreError;
use tofu_oci_types::{Event, NetworkFault, Place};
use tokio::time::Instant;
use url::Url;

use crate::answer::RegistryAnswer;
use crate::authority::{Reply, ShownProof};
use crate::call::{CallTarget, CredentialChoice, RedirectPolicy, RegistryCall, Repeat};
use crate::client::RegistryClient;
use crate::exchange::{Exchange, ShownCredential, shown_challenge};
use crate::fault::{self, too_long, unreachable};

/// Most bytes of warnings that are shown in a run.
const WARNINGS_LIMIT: usize = 4096;

/// Most challenges that one attempt answers: with what is known, with what another request obtained meanwhile, and with what
/// this request obtains. The bound ends a registry that asks for a password and for a token in turn.
const MOST_CHALLENGES: usize = 3;

/// One attempt's outcome.
enum AttemptOutcome {
    Answer(Box<RegistryAnswer>),
    NoAnswer(NoAnswer),
}

/// The address of an attempt, after some redirects.
struct Hop {
    to: HeldUrl,
    /// Whether the registry's own origin has been left; it is not trusted again then.
    crossed: bool,
    count: usize,
}

impl RegistryClient {
    /// Makes the request. Every final answer comes back, whatever its status.
    pub(crate) async fn send(&self, call: &RegistryCall<'_>) -> Result<RegistryAnswer, StoreError> {
        self.send_within(call, &mut self.http().attempts()).await
    }

    /// The same, within the attempts and the time that are left of these.
    pub(crate) async fn send_within(
        &self,
        call: &RegistryCall<'_>,
        attempts: &mut Attempts,
    ) -> Result<RegistryAnswer, StoreError> {
        let place = call.access.subject.place();
        let started = Instant::now();
        let root = self.root(call).await.map_err(|problem| unreachable(place.clone(), problem))?;
        attempts.spend(started.elapsed());
        // The registry may be anywhere; what it names is no nearer than it.
        let start = match &call.target {
            CallTarget::Registry(path) => root
                .join(path)
                .map(HeldUrl::anywhere)
                .map_err(|error| unreachable(place.clone(), NetworkProblem::no_address(error)))?,
            CallTarget::Address(named) => named.clone(),
        };
        loop {
            let outcome = self.attempt(call, &root, &start, &place, attempts).await?;
            let (host, after, reason) = match &outcome {
                AttemptOutcome::Answer(answer) if is_transient(answer.status()) => {
                    (host_of(answer.url()), answer.retry_after(), format!("status {}", answer.status()))
                }
                AttemptOutcome::NoAnswer(no_answer) if !no_answer.lasting => {
                    (host_of(&start.url), RetryAfter::Nothing, no_answer.problem.text.clone())
                }
                _ => (String::new(), RetryAfter::Nothing, String::new()),
            };
            let may_repeat = match call.repeat {
                Repeat::Yes => true,
                Repeat::IfRefused => matches!(after, RetryAfter::Slower(_)),
                Repeat::No => false,
            };
            if may_repeat && !reason.is_empty() {
                let request = format!("{} {}{}", call.method, host_of(&start.url), start.url.path());
                match self.http().retry(attempts, Setback { request, host, after, reason: &reason }).await {
                    Ok(()) => continue,
                    Err(NoRetry::TooLong(asked)) => return Err(too_long(place, asked)),
                    Err(NoRetry::GiveUp) => {}
                }
            }
            return match outcome {
                AttemptOutcome::Answer(answer) => Ok(*answer),
                AttemptOutcome::NoAnswer(no_answer) => Err(unreachable(place, no_answer.problem)),
            };
        }
    }

    /// The registry's root. To find it, a registry of this machine is called first.
    async fn root(&self, call: &RegistryCall<'_>) -> Result<Url, NetworkProblem> {
        let registry = call.access.subject.registry();
        let root = self.network.hosts.root(registry).await;
        if let Ok(root) = &root
            && self.network.hosts.took_a_call(registry)
        {
            self.http().note_reached(root);
        }
        if let (Err(problem), CallTarget::Registry(path)) = (&root, &call.target) {
            let path = path.split('?').next().unwrap_or_default();
            self.network.saw(|| Exchange::NoAnswer {
                method: call.method.to_string(),
                url: format!("https://{registry}{path}"),
                shown: ShownCredential::Nothing,
                problem: problem.text.clone(),
            });
        }
        root
    }

    async fn attempt(
        &self,
        call: &RegistryCall<'_>,
        root: &Url,
        start: &HeldUrl,
        place: &Place,
        attempts: &mut Attempts,
    ) -> Result<AttemptOutcome, StoreError> {
        let forbidden = |fault: &RedirectFault| fault::forbidden(place.clone(), fault, fault.to_string());
        let mut hop = Hop { to: start.clone(), crossed: !same_origin(&start.url, root), count: 0 };
        let mut proof = None;
        if call.credential != CredentialChoice::Never && !hop.crossed {
            proof = self.authority.proof(&self.network, root, call.access).await?;
        }
        let mut challenges = MOST_CHALLENGES;
        let mut may_renew = true;
        loop {
            let shown = proof.as_ref().filter(|_| !hop.crossed);
            let shown_value = shown.map(|proof| &proof.value);
            let head = match self.exchange(call, &hop.to, shown_value, place, attempts).await? {
                Ok(head) => head,
                Err(mut no_answer) => {
                    self.network.saw(|| Exchange::NoAnswer {
                        method: call.method.to_string(),
                        url: shown_url(&hop.to.url),
                        shown: shown.map_or(ShownCredential::Nothing, |proof| proof.shown.clone()),
                        problem: no_answer.problem.text.clone(),
                    });
                    if no_answer.problem.fault == NetworkFault::PrivateAddress
                        && hop.to.nearest != AddressScope::Machine
                    {
                        return Err(forbidden(&RedirectFault::PrivateHost(host_of(&hop.to.url))));
                    }
                    if hop.crossed {
                        no_answer.problem.text = format!("{}: {}", host_of(&hop.to.url), no_answer.problem.text);
                    }
                    return Ok(AttemptOutcome::NoAnswer(no_answer));
                }
            };
            let request = format!("{} {}", call.method, start.url.path());
            let mut answer = RegistryAnswer::new(head, Arc::clone(self.http()), place.clone(), request);
            answer.crossed = hop.crossed;
            answer.shown = shown.map_or(ShownCredential::Nothing, |proof| proof.shown.clone());
            answer.named = shown.is_some_and(|proof| proof.named);
            answer.short = shown.is_some_and(|proof| proof.short);
            self.saw_answer(call, &hop.to.url, &mut answer).await;
            self.note_warnings(root, &answer);
            if answer.status() == 401 && !hop.crossed && call.credential == CredentialChoice::WhenAsked {
                let reply = async || self.authority.challenged(&self.network, root, call.access, &answer, shown).await;
                let mut next = if challenges > 0 { reply().await? } else { Reply::Nothing(None) };
                if let (Reply::Nothing(_), Some(refused), true) = (&next, shown, may_renew) {
                    may_renew = false;
                    if self.authority.renew(&self.network, call.access, refused).await? {
                        next = reply().await?;
                    }
                }
                match next {
                    Reply::Show(next) => {
                        // What was obtained for this very challenge and is refused, is refused for good.
                        challenges = if next.fresh { 0 } else { challenges.saturating_sub(1) };
                        proof = Some(next);
                        continue;
                    }
                    Reply::Nothing(lack) => answer.lack = lack,
                }
            }
            match self.redirect(call, &start.url, &hop, &answer) {
                Ok(None) => return Ok(AttemptOutcome::Answer(Box::new(answer))),
                Ok(Some(next)) => {
                    hop.crossed |= !same_origin(&next.url, root);
                    hop.count += 1;
                    self.saw_redirect(&hop, &next.url, proof.as_ref());
                    hop.to = next;
                }
                Err(fault) => return Err(forbidden(&fault)),
            }
        }
    }

    /// Shows an answer to the observer. The words of a refusal are read for it.
    async fn saw_answer(&self, call: &RegistryCall<'_>, url: &Url, answer: &mut RegistryAnswer) {
        if self.network.observer.is_none() {
            return;
        }
        let error = if answer.status() >= 400 { answer.keep_words().await.first() } else { None };
        self.network.saw(|| Exchange::Registry {
            method: call.method.to_string(),
            url: shown_url(url),
            status: answer.status(),
            shown: answer.shown.clone(),
            challenges: answer.challenges().iter().map(|line| shown_challenge(line, self.network.scrubber())).collect(),
            error,
        });
    }

    fn saw_redirect(&self, hop: &Hop, next: &Url, proof: Option<&ShownProof>) {
        self.network.saw(|| Exchange::Redirected {
            from: shown_url(&hop.to.url),
            to: shown_url(next),
            shown_there: proof.filter(|_| !hop.crossed).map_or(ShownCredential::Nothing, |proof| proof.shown.clone()),
        });
    }

    async fn exchange(
        &self,
        call: &RegistryCall<'_>,
        to: &HeldUrl,
        authorization: Option<&HeaderValue>,
        place: &Place,
        attempts: &mut Attempts,
    ) -> Result<Result<HttpAnswer, NoAnswer>, StoreError> {
        self.http().pass(&to.url, attempts).await.map_err(|asked| too_long(place.clone(), asked))?;
        let (body, progress, failure) = call.body.open(place, self.http().limits().pace_floor).await?;
        let mut request = reqwest::Request::new(call.method.clone(), to.url.clone());
        *request.headers_mut() = call.headers.clone();
        if let Some(authorization) = authorization {
            self.network.scrubber().header(authorization);
            request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        let length = call.body.length().or_else(|| matches!(call.method, Method::POST | Method::PUT).then_some(0));
        if let Some(length) = length {
            request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
            *request.body_mut() = Some(body);
        }
        let answer = self.http().execute(request, to.nearest, &progress, attempts).await;
        match failure.take() {
            Some(error) if answer.is_err() => Err(error),
            _ => Ok(answer),
        }
    }

    /// Where the answer leads, if it is a redirect that this request may follow.
    fn redirect(
        &self,
        call: &RegistryCall<'_>,
        start: &Url,
        hop: &Hop,
        answer: &RegistryAnswer,
    ) -> Result<Option<HeldUrl>, RedirectFault> {
        let reading = matches!(call.method, Method::GET | Method::HEAD);
        let follows = match answer.status() {
            301..=303 => reading,
            307 | 308 => true,
            _ => false,
        };
        let Some(location) = answer.header(LOCATION.as_str()).filter(|_| follows) else { return Ok(None) };
        if hop.count >= MAX_REDIRECTS {
            return Err(RedirectFault::TooMany);
        }
        let rule = self.network.hosts.plain_rule(start, call.protection);
        let from = answer.held_url();
        if call.redirects == RedirectPolicy::WithinTheOrigin
            && !same_origin(&next_hop(&from.url, location, &rule)?, start)
        {
            return Ok(None);
        }
        self.http().next_hop(&from, location, &rule).map(Some)
    }

    /// Passes the registry's warnings on, each once.
    ///
    /// Spec: OCI distribution-spec 1.1.1, "Warnings".
    fn note_warnings(&self, root: &Url, answer: &RegistryAnswer) {
        if answer.crossed {
            return;
        }
        for warning in answer.headers("warning") {
            let Some(text) = warning.strip_prefix("299 - \"").and_then(|rest| rest.strip_suffix('"')) else { continue };
            let text = format!(
                "{} says: {}",
                host_of(root),
                clean(&self.network.scrubber().hide(&text.replace("\\\"", "\"")))
            );
            let mut known = self.warnings.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let size: usize = known.iter().map(String::len).sum();
            if size + text.len() <= WARNINGS_LIMIT && known.insert(text.clone()) {
                drop(known);
                self.http().reporter().event(&Event::note("registry-warning", text));
            }
        }
    }
}
