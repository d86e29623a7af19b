//! The conversation as it was witnessed, line by line.

use std::sync::{Mutex, PoisonError};

use tofu_oci_remote::{Exchange, ExchangeObserver, ShownCredential, TokenOutcome};

use super::model::{Step, StepKind};

/// Keeps everything that it is told.
#[derive(Default)]
pub(super) struct Record(Mutex<Vec<Exchange>>);

impl Record {
    /// What was seen since the last call.
    pub(super) fn take(&self) -> Vec<Exchange> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ExchangeObserver for Record {
    fn saw(&self, exchange: &Exchange) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(exchange.clone());
    }
}

/// One line for each exchange; the way that was taken shows in what comes after it.
pub(super) fn steps<'a>(exchanges: impl IntoIterator<Item = &'a Exchange>) -> Vec<Step> {
    exchanges.into_iter().filter_map(step).map(bare).collect()
}

/// A token server's refusal names the repository once more, which is told in the first line. The network does not.
fn bare(mut step: Step) -> Step {
    if step.kind == StepKind::Token
        && step.status.is_some()
        && step.said.is_none()
        && let Some((_, problem)) = step.problem.as_ref().and_then(|problem| problem.split_once(": "))
    {
        step.problem = Some(problem.to_owned());
    }
    step
}

fn step(exchange: &Exchange) -> Option<Step> {
    Some(match exchange {
        Exchange::Registry { method, url, status, shown, challenges, error } => Step {
            method: Some(method.clone()),
            url: Some(url.clone()),
            status: Some(*status),
            challenges: challenges.clone(),
            problem: error.clone(),
            ..Step::showing(StepKind::Registry, shown)
        },
        Exchange::NoAnswer { method, url, shown, problem } => Step {
            method: Some(method.clone()),
            url: Some(url.clone()),
            problem: Some(problem.clone()),
            ..Step::showing(StepKind::Registry, shown)
        },
        Exchange::Refused { code, problem } => {
            Step { code: Some(code.clone()), problem: Some(problem.clone()), ..Step::new(StepKind::Refused) }
        }
        Exchange::Redirected { to, shown_there, .. } => {
            Step { url: Some(to.clone()), ..Step::showing(StepKind::Redirect, shown_there) }
        }
        Exchange::Token { method, server, scopes, shown, status, error, outcome, .. } => {
            let step = Step {
                method: Some(method.clone()),
                url: Some(server.clone()),
                scopes: scopes.clone(),
                status: *status,
                said: error.clone(),
                ..Step::showing(StepKind::Token, shown)
            };
            match outcome {
                TokenOutcome::Token { seconds, granted } => {
                    Step { seconds: *seconds, granted: granted.clone(), ..step }
                }
                TokenOutcome::Elsewhere { to } => Step { problem: Some(format!("it redirects to {to}")), ..step },
                TokenOutcome::None(reason) => Step { problem: Some(error.as_ref().unwrap_or(reason).clone()), ..step },
            }
        }
        _ => return None,
    })
}

impl Step {
    fn new(kind: StepKind) -> Self {
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
            said: None,
        }
    }

    fn showing(kind: StepKind, shown: &ShownCredential) -> Self {
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
