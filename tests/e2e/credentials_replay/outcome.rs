//! What arrived where and how it ended: as expected, and as it came.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;
use tofu_oci_testkit::{Arrival, ArrivalKind, ShownLogin};

use super::case::{Case, Expect, Observed, Texts};
use super::files::Call;
use super::scene::{Run, Scene};

/// Everything that is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// `user:password` at the registry.
    pub(super) basic: BTreeSet<String>,
    /// `user:password` at the token server.
    pub(super) token_basic: BTreeSet<String>,
    /// Refresh tokens at the token server.
    pub(super) token_refresh: BTreeSet<String>,
    /// Tokens at the registry that no token server gave.
    pub(super) access_token: BTreeSet<String>,
    /// Tokens at the registry that the case's token server gave, where the case says which.
    pub(super) token_used: BTreeSet<String>,
    /// What the target of a blob's redirect was shown.
    pub(super) redirect_target: Option<String>,
    /// The same of the token server's, unless that was the same again.
    pub(super) token_redirect_target: Option<String>,
    /// The code of the error, or that all went well.
    pub(super) error: Option<String>,
    pub(super) calls: Vec<Call>,
    pub(super) token_requests: usize,
}

impl Outcome {
    /// What the words of a case mean.
    pub(super) fn expected(case: &Case, expect: &Expect, observed: &Observed) -> Self {
        let bearer = expect.bearer_from.clone().unwrap_or_default();
        let missing = || (expect.anonymous && case.wants_basic()).then(|| "no-credentials-for-basic".to_owned());
        let text = |text: Option<&String>| text.cloned().unwrap_or_default();
        let stdin: Vec<String> = Texts::set(observed.helper_stdin.as_ref()).into_iter().collect();
        let call = |nth: usize| Call {
            name: text(observed.helper_name.as_ref()),
            argv: text(observed.helper_argv.as_ref()),
            stdin: text(stdin.get(nth).or_else(|| stdin.last())),
        };
        Self {
            basic: Texts::set(expect.basic.as_ref()),
            token_basic: Texts::set(bearer.basic.as_ref()),
            token_refresh: Texts::set(bearer.refresh.as_ref()),
            access_token: Texts::set(expect.access_token.as_ref()),
            token_used: Texts::set(expect.token_used.as_ref()),
            redirect_target: expect.redirect_target.clone(),
            token_redirect_target: expect.token_redirect_target.clone(),
            error: expect.error.as_deref().map(our_word).map(ToOwned::to_owned).or_else(missing),
            calls: (0..observed.helper_calls).map(call).collect(),
            token_requests: observed.token_requests,
        }
    }

    /// What came of a run with `--json`.
    ///
    /// # Errors
    /// Where the run contradicts itself: an end that fits no exit code.
    pub(super) fn came(scene: &Scene, run: &Run) -> Result<Self, String> {
        let at = |kinds: &[ArrivalKind]| -> Vec<&Arrival> {
            run.arrivals.iter().filter(|arrival| kinds.contains(&arrival.kind)).collect()
        };
        let registry = at(&[ArrivalKind::Ping, ArrivalKind::Tags, ArrivalKind::Manifest, ArrivalKind::Blob]);
        let (server, target) = (at(&[ArrivalKind::Token]), at(&[ArrivalKind::TokenTarget]));
        let issued = scene.mock.issued();
        let scripted = scripted_tokens(&scene.case);
        let (token_used, access_token) = bearers(&registry)
            .into_iter()
            .filter(|token| !issued.contains(token))
            .partition(|token| scripted.contains(token));
        let token_basic = basics(&server);
        let same_again = target
            .iter()
            .all(|arrival| matches!(&arrival.shown, ShownLogin::Basic(login) if token_basic.contains(login)));
        Ok(Self {
            basic: basics(&registry),
            token_refresh: server.iter().filter_map(|arrival| refresh(&arrival.shown)).collect(),
            access_token,
            token_used,
            redirect_target: shown(&at(&[ArrivalKind::Cdn])),
            token_redirect_target: if same_again { None } else { shown(&target) },
            error: ended(run)?,
            calls: run.calls.clone(),
            token_requests: server.len() + target.len(),
            token_basic,
        })
    }

    /// Where `auth explain` says something else than what came.
    pub(super) fn other_than_explained(&self, explained: &[Value]) -> Option<String> {
        let code = explained.iter().find_map(|line| line["code"].as_str()).map(|code| match code {
            // A repository that is not there is one without the provider.
            "registry-status:404" => "provider-not-found",
            other => other,
        });
        let exits: Vec<&Value> = explained.iter().map(|line| &line["exit"]).collect();
        let is_well = exits.iter().all(|exit| **exit == 0);
        let same = self.error.as_deref() == code && self.error.is_none() == is_well;
        (!same).then(|| format!("`auth explain` says {code:?} and exits with {exits:?}, and it was {:?}", self.error))
    }

    /// What is other than wanted, one line each.
    pub(super) fn other_than(&self, wanted: &Self) -> String {
        let lines = [
            line("basic", &wanted.basic, &self.basic),
            line("basic at the token server", &wanted.token_basic, &self.token_basic),
            line("refresh token", &wanted.token_refresh, &self.token_refresh),
            line("access token", &wanted.access_token, &self.access_token),
            line("token used", &wanted.token_used, &self.token_used),
            line("redirect target", &wanted.redirect_target, &self.redirect_target),
            line("token redirect target", &wanted.token_redirect_target, &self.token_redirect_target),
            line("error", &wanted.error, &self.error),
            line("helper calls", &wanted.calls, &self.calls),
            line("token requests", &wanted.token_requests, &self.token_requests),
        ];
        lines.concat()
    }
}

fn line<T: PartialEq + fmt::Debug>(what: &str, wanted: &T, came: &T) -> String {
    if wanted == came { String::new() } else { format!("\n    {what}: wanted {wanted:?}, came {came:?}") }
}

/// Our code for a measured one.
fn our_word(measured: &str) -> &str {
    match measured {
        "not-found" => "provider-not-found",
        // One outcome for both: neither names a server.
        "realm-relative" => "realm-scheme",
        other => other,
    }
}

/// The code of the error, or `None` on success.
fn ended(run: &Run) -> Result<Option<String>, String> {
    let mut lines = run.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let error = lines.rfind(|line| line["event"] == "error");
    let arrived = run.arrivals.len();
    match (run.code, error) {
        (Some(0), None) if run.is_there => Ok(None),
        (Some(1..=3), Some(_)) if run.is_there => Err("it failed, and left something behind".to_owned()),
        (Some(2), Some(_)) if arrived > 0 => Err(format!("wrong configuration, and {arrived} requests")),
        (Some(1..=3), Some(error)) => match error["code"].as_str() {
            Some(code) => Ok(Some(code.to_owned())),
            None => Ok(Some("without a code".to_owned())),
        },
        (code, error) => Err(format!("exit code {code:?}, error {error:?}, installed: {}", run.is_there)),
    }
}

fn basics(arrivals: &[&Arrival]) -> BTreeSet<String> {
    let login = |arrival: &&Arrival| match &arrival.shown {
        ShownLogin::Basic(login) => Some(login.clone()),
        ShownLogin::Other(other) => Some(format!("something else: {other}")),
        _ => None,
    };
    arrivals.iter().filter_map(login).collect()
}

fn bearers(arrivals: &[&Arrival]) -> BTreeSet<String> {
    let token = |arrival: &&Arrival| match &arrival.shown {
        ShownLogin::Bearer(token) => Some(token.clone()),
        _ => None,
    };
    arrivals.iter().filter_map(token).collect()
}

fn refresh(shown: &ShownLogin) -> Option<String> {
    match shown {
        ShownLogin::Refresh(token) => Some(token.clone()),
        _ => None,
    }
}

/// `anonymous`, or the login that was shown; empty if no request came.
fn shown(arrivals: &[&Arrival]) -> Option<String> {
    let word = |arrival: &&Arrival| match &arrival.shown {
        ShownLogin::Nothing => "anonymous".to_owned(),
        ShownLogin::Basic(login) => format!("basic {login}"),
        ShownLogin::Bearer(token) => format!("bearer {token}"),
        ShownLogin::Refresh(token) => format!("refresh {token}"),
        ShownLogin::Other(other) => format!("something else: {other}"),
    };
    let words: BTreeSet<String> = arrivals.iter().map(word).collect();
    (!words.is_empty()).then(|| words.into_iter().collect::<Vec<_>>().join(", "))
}

/// The tokens that the case's token server gives.
fn scripted_tokens(case: &Case) -> Vec<String> {
    let body = case.registry.token.body.as_ref();
    let member = |name: &str| body.and_then(|body| body[name].as_str()).map(ToOwned::to_owned);
    ["token", "access_token"].into_iter().filter_map(member).collect()
}
