//! `check --registry`.

use std::time::SystemTime;

use tofu_oci_checker::{Group, ProbeError, ProbeRequest, probe};
use tofu_oci_types::RepositoryRef;

use super::checked::{Checked, Unjudged};
use crate::args::CheckArgs;
use crate::diagnostic::Diagnostic;
use crate::ends::End;
use crate::exit::Exit;
use crate::invocation;
use crate::page::{counted, first_of};
use crate::verbs::context::Context;

/// Tries everything in the scratch repository.
pub(super) async fn check(context: &Context, args: &CheckArgs, end: &End) -> Result<Checked, Diagnostic> {
    let End::Registry(repository) = end else {
        return Err(Diagnostic::usage(format!("--registry asks a registry, and {end} is a directory")).hint(format!(
            "name a scratch repository: {}",
            invocation::with_all_options("check REGISTRY/scratch/probe --registry")
        )));
    };
    let mount_from = args.mount_from.as_deref().map(|text| second(text, repository)).transpose()?;
    let client = context.reach(&args.access, &[end], args.chdir.as_deref()).await?.client()?;
    let scratch = client.raw(repository.clone());
    let other = mount_from.map(|other| client.raw(other));
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seed = format!("{:x}-{:x}", since.as_nanos(), std::process::id());
    let request = ProbeRequest { scratch: &scratch, mount_from: other.as_ref(), seed: &seed };
    let stop = async {
        let _ = context.stop.asked().await;
    };
    let report = probe(&request, stop).await.map_err(diagnostic)?;
    Ok(Checked {
        target: end.to_string(),
        looked_at: format!("{} made", counted(report.requests, "request")),
        groups: vec![Group::Registry],
        findings: report.findings.clone(),
        not_judged: report.not_judged.iter().map(|(what, said)| unjudged(what, said)).collect(),
        probe: Some(report),
        ..Checked::default()
    })
}

fn unjudged(what: &str, said: &str) -> Unjudged {
    let why = Diagnostic::new(Exit::Unexpected, said.to_owned())
        .code("not-judged")
        .hint("the registry failed, or refused this login; run the same command again later");
    Unjudged { place: what.to_owned(), version: None, platform: None, why }
}

fn second(text: &str, scratch: &RepositoryRef) -> Result<RepositoryRef, Diagnostic> {
    match End::parse(text)? {
        End::Registry(other) if other.registry() == scratch.registry() && other != *scratch => Ok(other),
        other => Err(Diagnostic::usage(format!("--mount-from takes another repository of {}", scratch.registry()))
            .cause(format!("{other} is none"))
            .hint("blobs are linked within one registry alone")),
    }
}

fn diagnostic(error: ProbeError) -> Diagnostic {
    match error {
        ProbeError::Store(error) => error.into(),
        error @ ProbeError::InUse { .. } => Diagnostic::of(Exit::Usage, &error)
            .hint("--registry writes to the repository; name one that holds nothing, such as REGISTRY/scratch/probe"),
        ProbeError::Interrupted => Diagnostic::new(Exit::Interrupted, "interrupted")
            .hint("everything that the probe had written is deleted again; run the same command again to begin anew"),
        ProbeError::Left { error, repository, left } => {
            let diagnostic = match *error {
                ProbeError::Interrupted => Diagnostic::new(Exit::Interrupted, "interrupted"),
                error => diagnostic(error),
            };
            diagnostic
                .cause(format!("left in {repository}: {}", first_of(&left, 5, (", and", "more"))))
                .hint("the next probe of this repository deletes old tags where the registry lets it")
        }
        error @ ProbeError::NoUpload { trouble: true, .. } => Diagnostic::of(Exit::Unexpected, &error)
            .hint("the registry has a problem of its own; run the same command again later"),
        error => Diagnostic::of(Exit::Fixable, &error)
            .code("probe-refused")
            .hint("a probe needs the right to push; `tofu-oci auth explain REPOSITORY --push` shows who you are there"),
    }
}
