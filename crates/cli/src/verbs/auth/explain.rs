//! `auth explain`: the files are read, the registry is asked, and all of it is told.

use std::sync::Arc;

use tofu_oci_credentials::opentofu::{HeldCredential, predict};
use tofu_oci_credentials::{Choice, Credential};
use tofu_oci_remote::Want;

use super::configuration::Configuration;
use super::model::{Action, Helper, HelperOutcome};
use super::tell::{Asks, Ended, Found, tell};
use super::text;
use super::wire::Record;
use crate::args::AuthExplainArgs;
use crate::connect::{self, End};
use crate::credentials::{Access, CredentialResolver, Heard, HelperRun};
use crate::diagnostic::Diagnostic;
use crate::environment::ReadConfig;
use crate::printer;
use crate::report::json_line;
use crate::verbs::Context;

/// Explains the access to a repository.
///
/// # Errors
/// When access would fail, after all that is known about it.
pub(crate) async fn explain(context: &Context, args: &AuthExplainArgs) -> Result<(), Diagnostic> {
    let repository = match End::parse(&args.repository)? {
        End::Registry(repository) => repository,
        End::Layout(_) => {
            return Err(Diagnostic::usage("a directory needs no credentials")
                .hint("name a repository of a registry, such as ghcr.io/acme/opentofu-provider-widget"));
        }
    };
    let access = args.identity.access(&[repository.registry()], None).await?;
    // Where the arguments say who asks, nothing is read.
    let mut config = None;
    let resolver = Arc::new(CredentialResolver::by(&access, |chdir| {
        Ok(CredentialResolver::read_lenient(config.insert(ReadConfig::read(chdir)?)))
    })?);
    let asks = match &access {
        Access::Ambient { .. } => Asks::Files,
        Access::Anonymous => Asks::Nobody,
        Access::As { username, .. } => Asks::User(username),
    };
    let account = resolver.policy().look_up(&repository);
    let configuration = config.as_ref().map(Configuration::new);
    let faults = configuration.as_ref().map(Configuration::faults).unwrap_or_default();
    let prediction = predict(resolver.policy(), &faults, &repository);
    let action = if args.push { Action::Push } else { Action::Pull };
    let record = Arc::new(Record::default());
    let (ended, exchanges, root) = if let Some(refusal) = resolver.refusal() {
        (Ended::Refused(refusal.clone()), Vec::new(), None)
    } else {
        let credentials: Arc<CredentialResolver> = Arc::clone(&resolver);
        let client = connect::client(&args.network, credentials, Some(record.clone()), &context.reporter)?;
        let want = if args.push { Want::Push } else { Want::Pull };
        let probed = client.probe(&repository, want).await;
        let exchanges = record.take();
        // What OpenTofu up to 1.12 asks for first. It does not push, and knows nothing of who was given here.
        let root = match (&probed, action, asks) {
            (Ok(_), Action::Pull, Asks::Files) => Some(client.ping(repository.registry()).await),
            _ => None,
        };
        (Ended::Asked(probed), exchanges, root)
    };
    let root_exchanges = record.take();
    let runs = resolver.calls();
    let (told, diagnostic) = tell(Found {
        action,
        asks,
        configuration: configuration.map(|read| read.files(&account)).unwrap_or_default(),
        policy: resolver.policy(),
        held: held(&account.choice, &runs),
        account: &account,
        closed: resolver.closed(),
        unread: resolver.unread(),
        prediction: &prediction,
        faults: &faults,
        helpers: runs.iter().map(helper).collect(),
        exchanges,
        root,
        root_exchanges,
        ended,
    });
    if context.json {
        json_line(&told);
    } else {
        printer::stdout(&text::render(&told));
    }
    diagnostic.map_or(Ok(()), Err)
}

/// What is known of the caller.
fn held(choice: &Choice, runs: &[HelperRun]) -> Option<HeldCredential> {
    match choice {
        Choice::Credential { credential, .. } => Some(match credential {
            Credential::Basic { .. } => HeldCredential::Password,
            Credential::IdentityToken(_) => HeldCredential::IdentityToken,
            Credential::RegistryToken(_) => HeldCredential::RegistryToken,
        }),
        Choice::Ask { .. } => runs.iter().find_map(|run| match run.heard {
            Heard::Login { .. } => Some(HeldCredential::PasswordFromHelper),
            Heard::IdentityToken => Some(HeldCredential::IdentityTokenFromHelper),
            Heard::NotFound | Heard::Empty | Heard::Failed(_) => None,
        }),
        Choice::Anonymous | Choice::Refused(_) => None,
    }
}

fn helper(run: &HelperRun) -> Helper {
    let (outcome, username, reason) = match &run.heard {
        Heard::Login { username } => (HelperOutcome::Credential, Some(username.clone()), None),
        Heard::IdentityToken => (HelperOutcome::Credential, None, None),
        Heard::NotFound => (HelperOutcome::NotFound, None, None),
        Heard::Empty => (HelperOutcome::Empty, None, None),
        Heard::Failed(fault) => (HelperOutcome::Failed, None, Some(fault.problem.clone())),
    };
    Helper { program: run.helper.program(), server: run.server.clone(), outcome, username, reason }
}
