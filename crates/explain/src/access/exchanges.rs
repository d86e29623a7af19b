//! The conversation with the registry as it was observed, line by line.

use std::sync::{Mutex, PoisonError};

use tofu_oci_remote::{Exchange, ExchangeObserver, ShownCredential, TokenOutcome};

use crate::access::model::{ExchangeKind, ExchangeLine};

/// Records every exchange of a client.
#[derive(Default)]
pub struct ExchangeLog(Mutex<Vec<Exchange>>);

impl ExchangeLog {
    /// The exchanges since the last call.
    pub fn take(&self) -> Vec<Exchange> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ExchangeObserver for ExchangeLog {
    fn saw(&self, exchange: &Exchange) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(exchange.clone());
    }
}

/// One line for each exchange; the line after a redirect shows where it led.
pub(crate) fn lines<'a>(exchanges: impl IntoIterator<Item = &'a Exchange>) -> Vec<ExchangeLine> {
    exchanges.into_iter().filter_map(line).map(without_place).collect()
}

/// The error of a token server names the repository, as the first line of the explanation does. That of the network does not.
fn without_place(mut step: ExchangeLine) -> ExchangeLine {
    if step.kind == ExchangeKind::Token
        && step.status.is_some()
        && step.refusal.is_none()
        && let Some((_, problem)) = step.problem.as_ref().and_then(|problem| problem.split_once(": "))
    {
        step.problem = Some(problem.to_owned());
    }
    step
}

fn line(exchange: &Exchange) -> Option<ExchangeLine> {
    Some(match exchange {
        Exchange::Registry { method, url, status, shown, challenges, error } => ExchangeLine {
            method: Some(method.clone()),
            url: Some(url.clone()),
            status: Some(*status),
            challenges: challenges.clone(),
            problem: error.clone(),
            ..ExchangeLine::showing(ExchangeKind::Registry, shown)
        },
        Exchange::NoAnswer { method, url, shown, problem } => ExchangeLine {
            method: Some(method.clone()),
            url: Some(url.clone()),
            problem: Some(problem.clone()),
            ..ExchangeLine::showing(ExchangeKind::Registry, shown)
        },
        Exchange::Refused { code, problem } => ExchangeLine {
            code: Some(code.clone()),
            problem: Some(problem.clone()),
            ..ExchangeLine::new(ExchangeKind::Refused)
        },
        Exchange::Redirected { to, shown_there, .. } => {
            ExchangeLine { url: Some(to.clone()), ..ExchangeLine::showing(ExchangeKind::Redirect, shown_there) }
        }
        Exchange::Token { method, server, scopes, shown, status, error, outcome, .. } => {
            let step = ExchangeLine {
                method: Some(method.clone()),
                url: Some(server.clone()),
                scopes: scopes.clone(),
                status: *status,
                refusal: error.clone(),
                ..ExchangeLine::showing(ExchangeKind::Token, shown)
            };
            match outcome {
                TokenOutcome::Token { seconds, granted } => {
                    ExchangeLine { seconds: *seconds, granted: granted.clone(), ..step }
                }
                TokenOutcome::Elsewhere { to } => {
                    ExchangeLine { problem: Some(format!("it redirects to {to}")), ..step }
                }
                TokenOutcome::None(reason) => {
                    ExchangeLine { problem: Some(error.as_ref().unwrap_or(reason).clone()), ..step }
                }
            }
        }
        _ => return None,
    })
}

impl ExchangeLine {
    fn new(kind: ExchangeKind) -> Self {
        Self {
            kind,
            method: None,
            url: None,
            shown: None,
            username: None,
            scopes: Vec::new(),
            status: None,
            challenges: Vec::new(),
            granted: None,
            seconds: None,
            code: None,
            problem: None,
            refusal: None,
        }
    }

    fn showing(kind: ExchangeKind, shown: &ShownCredential) -> Self {
        let (word, username) = match shown {
            ShownCredential::Nothing => ("nothing", None),
            ShownCredential::Basic { username } => ("password", Some(username.clone())),
            ShownCredential::Token => ("token", None),
            ShownCredential::RegistryToken => ("access-token", None),
            ShownCredential::RefreshToken => ("identity-token", None),
        };
        Self { shown: Some(word), username, ..Self::new(kind) }
    }
}
