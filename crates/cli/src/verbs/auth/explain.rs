//! `auth explain`: the files are read, the registry is asked, and all of it is told.

use std::sync::Arc;

use tofu_oci_credentials::opentofu::{HeldCredential, predict};
use tofu_oci_credentials::{Choice, Credential};
use tofu_oci_remote::{Exchange, Ping, Shown, Want};
use tofu_oci_store::StoreError;
use tofu_oci_types::{NoReporter, Reporter, RepositoryRef};

use super::configuration::Configuration;
use super::model::{Action, Helper, HelperOutcome};
use super::tell::{Asks, Ended, Found, tell};
use super::text;
use super::wire::Record;
use crate::args::{AuthExplainArgs, Network};
use crate::complaint::Complaint;
use crate::connect::{self, End};
use crate::credentials::{Access, Heard, HelperRun, Wallet};
use crate::environment::environment;
use crate::printer;
use crate::report::json_line;
use crate::verbs::Context;

/// Explains the access to a repository.
///
/// # Errors
/// When access would fail, after all that is known about it.
pub(crate) async fn explain(context: &Context, args: &AuthExplainArgs) -> Result<(), Complaint> {
    let repository = match End::parse(&args.repository)? {
        End::Registry(repository) => repository,
        End::Layout(_) => {
            return Err(Complaint::usage("nobody asks a directory for credentials")
                .hint("name a repository of a registry, such as ghcr.io/acme/opentofu-provider-widget"));
        }
    };
    let access = args.identity.access(&[repository.registry()], None)?;
    let wallet = Arc::new(match &access {
        Access::Ambient { .. } => Wallet::read_lenient(None)?,
        Access::Anonymous => Wallet::anonymous(),
        Access::As { registry, username, password } => {
            Wallet::given(registry, username, password.clone(), Wallet::anonymous())
        }
    });
    let asks = match &access {
        Access::Ambient { .. } => Asks::Files,
        Access::Anonymous => Asks::Nobody,
        Access::As { username, .. } => Asks::User(username),
    };
    let account = wallet.policy().look_up(&repository);
    // Where the arguments say who asks, nothing is read.
    let configuration = match asks {
        Asks::Files => Some(Configuration::read(&environment(None)?)),
        Asks::Nobody | Asks::User(_) => None,
    };
    let faults = configuration.as_ref().map(Configuration::faults).unwrap_or_default();
    let prediction = predict(wallet.policy(), &faults, &repository);
    let action = if args.push { Action::Push } else { Action::Pull };
    let (ended, exchanges, root) = if let Some(refusal) = wallet.refusal() {
        (Ended::Refused(refusal.clone()), Vec::new(), None)
    } else {
        let record = Arc::new(Record::default());
        let credentials: Arc<Wallet> = Arc::clone(&wallet);
        let client = connect::client(&args.network, credentials, Some(record.clone()), &context.reporter)?;
        let want = if args.push { Want::Push } else { Want::Pull };
        let probed = client.probe(&repository, want).await;
        let exchanges = record.take();
        // A login that was refused is not shown once more: that could lock the account. OpenTofu does not push.
        let root = match (&probed, action) {
            (Ok(_), Action::Pull) => Some(root(&args.network, &wallet, &repository, &exchanges).await?),
            _ => None,
        };
        (Ended::Asked(probed), exchanges, root)
    };
    let runs = wallet.calls();
    let (told, complaint) = tell(Found {
        action,
        asks,
        configuration: configuration.map(|read| read.files(&account)).unwrap_or_default(),
        policy: wallet.policy(),
        held: held(&account.choice, &runs),
        account: &account,
        closed: wallet.closed(),
        unread: wallet.unread(),
        prediction: &prediction,
        helpers: runs.iter().map(helper).collect(),
        exchanges,
        root,
        ended,
    });
    if context.json {
        json_line(&told);
    } else {
        printer::stdout(&text::render(&told));
    }
    complaint.map_or(Ok(()), Err)
}

/// The answer to `/v2/`, which some releases of `OpenTofu` ask for first. Only what was shown before is shown there.
async fn root(
    network: &Network,
    wallet: &Arc<Wallet>,
    repository: &RepositoryRef,
    exchanges: &[Exchange],
) -> Result<Result<Ping, StoreError>, Complaint> {
    let shown = exchanges.iter().any(|exchange| match exchange {
        Exchange::Registry { shown, .. } | Exchange::Token { shown, .. } => *shown != Shown::Nothing,
        _ => false,
    });
    let credential = if shown { wallet.answer(repository).await.unwrap_or_default() } else { None };
    // Once is enough: nothing depends on it here.
    let network = Network { attempts: 1, ..network.clone() };
    let reporter: Arc<dyn Reporter> = Arc::new(NoReporter);
    let credentials: Arc<Wallet> = Arc::clone(wallet);
    let client = connect::client(&network, credentials, None, &reporter)?;
    Ok(client.ping(repository.registry(), credential.as_ref()).await)
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
