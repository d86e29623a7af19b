//! A failed access as a diagnostic.

use tofu_oci_explain::access::{AccessAdvice, AccessFailure, ProbeOutcome};

use crate::diagnostic::{Diagnostic, remedy_text};
use crate::exit::Exit;

pub(super) fn diagnostic(repository: &str, failure: AccessFailure, ended: &ProbeOutcome<'_>) -> Diagnostic {
    match (failure.advice, ended) {
        (None, ProbeOutcome::Asked(Err(error))) => Diagnostic::from(error).settled(),
        (None, ProbeOutcome::Refused(refusal)) => Diagnostic::from(*refusal),
        (advice, _) => {
            let diagnostic = Diagnostic::new(Exit::Fixable, format!("{repository}: {}", failure.reason));
            let diagnostic = failure.code.iter().fold(diagnostic, Diagnostic::code);
            diagnostic.more_hints(advice.iter().flatten().map(hint))
        }
    }
}

fn hint(advice: &AccessAdvice) -> String {
    match advice {
        AccessAdvice::Remedy(remedy) => remedy_text(remedy),
        AccessAdvice::FromError(hint) => hint.clone(),
        AccessAdvice::LoginOf { source } => format!("the login is that of {source}"),
        AccessAdvice::HelperOf { source } => format!("the helper is named by {source}"),
        AccessAdvice::TokenGrants(granted) if granted.is_empty() => "the token grants nothing".to_owned(),
        AccessAdvice::TokenGrants(granted) => format!("the token grants {} alone", granted.join(" ")),
        AccessAdvice::AskOwner { caller, verb } => {
            format!("ask the owner of the repository to let {caller} {verb}, or log in as somebody else")
        }
        AccessAdvice::AskOwnerForRight { verb } => {
            format!("ask the owner of the repository for the right to {verb}, or log in as somebody else")
        }
        AccessAdvice::UnknownScheme => {
            "no login helps there; check that this is the registry you mean, or ask its operator".to_owned()
        }
        AccessAdvice::TokenRefused => {
            "check the name: registries also answer so about a repository that does not exist, or that this login may not see"
                .to_owned()
        }
        AccessAdvice::FinalAnswer { program, source } => {
            format!("what {program} says is final: {source} is not tried")
        }
        AccessAdvice::CheckName => {
            "check the name; some registries say the same to those who may not read the repository".to_owned()
        }
        AccessAdvice::AskForPush => "before a first push, ask with --push".to_owned(),
    }
}
