//! `auth explain`: reads the files, asks the registry, and prints the explanation; of a host its token.

mod hints;
mod host;
#[cfg(test)]
mod tests;
mod text;

use std::sync::Arc;

use tofu_oci_credentials::opentofu::predict;
use tofu_oci_explain::access::{
    AccessFindings, Caller, CredentialConfiguration, ExchangeLog, ExplainedRun, ProbeOutcome, held_credential,
};
use tofu_oci_logins::{Access, CredentialResolver, HostMachine};
use tofu_oci_remote::AccessKind;

use crate::args::AuthExplainArgs;
use crate::connect::{self, user_credentials};
use crate::diagnostic::Diagnostic;
use crate::ends::End;
use crate::environment::ReadConfig;
use crate::helper_program::RealMachine;
use crate::subject;
use crate::verbs::context::Context;

/// Explains the access to a repository. If access would fail, it fails after the explanation is printed.
pub(crate) async fn explain(context: &Context, args: &AuthExplainArgs) -> Result<(), Diagnostic> {
    if let Some(host) = host::named(&args.repository) {
        return host::explain(context, args, &host).await;
    }
    // Access does not depend on the version.
    let repository = match subject::place(&args.repository)? {
        (End::Registry(repository), _) => repository,
        (End::Layout(_), _) => {
            return Err(Diagnostic::usage("a directory needs no credentials")
                .hint("name a repository of a registry, such as ghcr.io/acme/opentofu-provider-widget"));
        }
    };
    let access = args.access.identity.access(&[repository.registry()], None).await?;
    // If the arguments say who asks, no file is read.
    let mut config = None;
    let machine: Arc<dyn HostMachine> = Arc::new(RealMachine(args.access.network.timeout));
    let resolver = Arc::new(CredentialResolver::by(&machine, &access, |chdir| {
        Ok::<_, Diagnostic>(user_credentials(config.insert(ReadConfig::read(chdir)?), args.access.network.timeout))
    })?);
    let asks = match &access {
        Access::Ambient { .. } => Caller::Files,
        Access::Anonymous => Caller::Anonymous,
        Access::As { username, .. } => Caller::User(username),
    };
    let lookup = resolver.policy().look_up(&repository);
    let configuration = config.as_ref().map(|read| CredentialConfiguration::new(&read.environment, &read.reading));
    let faults = configuration.as_ref().map(CredentialConfiguration::faults).unwrap_or_default();
    let prediction = predict(resolver.policy(), &faults, &repository);
    let action = if args.push { AccessKind::Push } else { AccessKind::Pull };
    let log = Arc::new(ExchangeLog::default());
    let (ended, exchanges, root) = if let Some(refusal) = resolver.refusal() {
        (ProbeOutcome::Refused(refusal), Vec::new(), None)
    } else {
        let credentials: Arc<CredentialResolver> = Arc::clone(&resolver);
        let client = connect::client(&args.access.network, credentials, Some(log.clone()), &context.reporter)?;
        let probed = client.probe(&repository, action).await;
        let exchanges = log.take();
        // What OpenTofu up to 1.12 asks for first. It does not push, and knows nothing of who was given here.
        let root = match (&probed, action, asks) {
            (Ok(_), AccessKind::Pull, Caller::Files) => Some(client.ping(repository.registry()).await),
            _ => None,
        };
        (ProbeOutcome::Asked(probed), exchanges, root)
    };
    let root_exchanges = log.take();
    let runs = resolver.calls();
    let findings = AccessFindings {
        action,
        asks,
        configuration: configuration.map(|read| read.files(&lookup)).unwrap_or_default(),
        policy: resolver.policy(),
        held: held_credential(&lookup.choice, &runs),
        lookup: &lookup,
        closed: resolver.closed(),
        overlooked: resolver.overlooked(),
        prediction: &prediction,
        faults: &faults,
        helpers: runs.iter().map(ExplainedRun::from).collect(),
        exchanges,
        root,
        root_exchanges,
        ended,
    };
    let (explanation, failure) = tofu_oci_explain::access::explain(&findings);
    context.emit(&explanation, || text::render(&explanation));
    failure.map_or(Ok(()), |failure| Err(hints::diagnostic(&explanation.repository, failure, &findings.ended)))
}
