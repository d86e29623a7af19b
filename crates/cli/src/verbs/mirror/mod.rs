//! `mirror`.

mod failure;
mod keys;
mod model;
pub(super) mod rules;
mod text;
mod upstream;

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use tofu_oci_archive::Limits;
use tofu_oci_http::WebClient;
use tofu_oci_logins::Access;
use tofu_oci_mirror::{
    AttestationRule, Attestations, Carrying, Destination, DestinationName, MirrorJob, MirrorLine, MirrorMode, Prune,
    found_keys,
};
use tofu_oci_packer::{Forms, Signing};
use tofu_oci_source::Source;
use tofu_oci_store::ComparedBy;
use tofu_oci_trust::PrivateKey;
use tofu_oci_types::{Constraints, Moment, Place, ProviderAddr};

use super::context::Context;
use super::sign::one_password;
use crate::args::MirrorArgs;
use crate::connect::Connector;
use crate::destination::{self, BundleShape};
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::report::JsonLines;
use crate::signing_key::{self, KeyPassword};
pub(super) use failure::{counts, exit_of, failures, or_failure, row_name};
use model::{MirrorEvent, MirrorSummary};
use rules::MirrorInput;
pub(super) use text::{GONE, REINSTATED, REPLACED, denied};
use upstream::UpstreamSources;

/// Brings the wanted providers to their destination, or says what that would do. A bundle gets them beside what it has.
pub(crate) async fn mirror(context: &Context, args: &MirrorArgs) -> Result<Exit, Diagnostic> {
    carry(context, args, BundleShape::default()).await
}

/// The same with a bundle of this shape.
pub(super) async fn carry(context: &Context, args: &MirrorArgs, bundle: BundleShape) -> Result<Exit, Diagnostic> {
    one_password(args.carry.key_password_stdin, args.carry.access.identity.password_stdin)?;
    let input = rules::input(context, args)?;
    let Some(to) = input.to.as_ref().filter(|_| !args.print_trust) else {
        return print_trust(context, args, &input).await;
    };
    if args.prune && matches!(to, DestinationName::Static(_) | DestinationName::Bundle(_)) {
        return Err(no_withdrawals(to));
    }
    if args.carry.sign_key.is_some() && matches!(to, DestinationName::Static(_)) {
        return Err(Diagnostic::usage(format!("--sign-key signs releases of repositories, and {to} holds none"))
            .hint("omit --sign-key, or mirror to a repository, oci:DIR or bundle:FILE"));
    }
    if args.verify && !to.is_folder() {
        return Err(Diagnostic::usage(format!("--verify reads what lies in oci:DIR or static:DIR, and not {to}"))
            .hint("`tofu-oci check --deep` reads the packages of a repository"));
    }
    let upstream = UpstreamSources::open(context, args, &input.sources).await?;
    let key = key_of(context, args).await?;
    let compared = if args.verify { ComparedBy::Digests } else { ComparedBy::Sizes };
    let destination = destination::open(upstream.connector(), to.clone(), &input.trust, (bundle, compared))?;
    let claim = |address: &ProviderAddr| Ok(Some(destination.claim(address)?));
    let providers = providers(&upstream, &input.rules, claim).await?;
    let attestations = attestations(&input.attestations, &input.dir, upstream.connector())?;
    let job = MirrorJob { attestations: attestations.as_ref(), ..job(args, &input, &providers, destination.as_ref()) };
    if args.plan {
        let lines = job.plan(context.reporter.as_ref()).await;
        return Ok(print(context, MirrorMode::Plan, lines));
    }
    let lines = run(context, args, &input, &job, key.as_ref()).await;
    let finished = destination.finish(context.reporter.as_ref()).await;
    // The report names what was carried, also if the flush failed.
    let outcome = print(context, MirrorMode::Run, lines);
    finished?;
    Ok(outcome)
}

/// Why nothing is pruned in files.
pub(super) fn no_withdrawals(to: &dyn Display) -> Diagnostic {
    Diagnostic::usage(format!("--prune withdraws versions, and {to} cannot say that one is withdrawn"))
        .hint("delete its files, or mirror to a repository or oci:DIR")
}

/// Prints the keys of the upstream. A destination, if there is one, is not an upstream; nothing else of it counts.
async fn print_trust(context: &Context, args: &MirrorArgs, input: &MirrorInput) -> Result<Exit, Diagnostic> {
    let upstream = UpstreamSources::open(context, args, &input.sources).await?;
    let how = (BundleShape::default(), ComparedBy::Sizes);
    let open = |to: &DestinationName| destination::open(upstream.connector(), to.clone(), &input.trust, how);
    let destination = input.to.as_ref().map(open).transpose()?;
    // Nothing goes there, so that two providers may have one place.
    let place = |address: &ProviderAddr| match &destination {
        Some(to) => Ok(Some(to.place(address)?)),
        None => Ok(None),
    };
    let providers = providers(&upstream, &input.rules, place).await?;
    keys::print(context, found_keys(&input.rules, &providers, SystemTime::now()).await)
}

/// Collects these providers of a configuration in a bundle, which the caller completes. Their places are asked as this user.
pub(super) async fn collect(
    context: &Context,
    args: &MirrorArgs,
    (required, access): (Vec<(ProviderAddr, Constraints)>, Access),
    bundle: &dyn Destination,
    key: Option<&PrivateKey>,
) -> Result<Vec<MirrorLine>, Diagnostic> {
    let input = rules::input_with(args, required)?;
    let upstream = UpstreamSources::asked_for(context, args, access)?;
    let providers = providers(&upstream, &input.rules, |address| Ok(Some(bundle.claim(address)?))).await?;
    let job = job(args, &input, &providers, bundle);
    Ok(run(context, args, &input, &job, key).await)
}

/// The key that signs what is carried, if there is one.
pub(super) async fn key_of(context: &Context, args: &MirrorArgs) -> Result<Option<PrivateKey>, Diagnostic> {
    let Some(key) = &args.carry.sign_key else { return Ok(None) };
    let password = KeyPassword::of(args.carry.key_password_stdin);
    Ok(Some(signing_key::load(key, password, context.reporter.as_ref()).await?))
}

fn job<'a>(
    args: &MirrorArgs,
    input: &'a MirrorInput,
    providers: &'a [(ProviderAddr, Arc<dyn Source>)],
    destination: &'a dyn Destination,
) -> MirrorJob<'a> {
    let (prune, now) = (pruning(args.prune), Moment::from(SystemTime::now()));
    MirrorJob { rules: &input.rules, providers, destination, prune, trust: &input.trust, attestations: None, now }
}

/// What `--prune` asks for.
pub(super) fn pruning(is_asked: bool) -> Prune {
    if is_asked { Prune::Withdraw } else { Prune::Keep }
}

async fn run(
    context: &Context,
    args: &MirrorArgs,
    input: &MirrorInput,
    job: &MirrorJob<'_>,
    key: Option<&PrivateKey>,
) -> Vec<MirrorLine> {
    let (limits, work_dir, trust) = (Limits::default(), std::env::temp_dir(), &input.trust);
    let signing = key.map(|key| Signing { key, forms: Forms::Bundle });
    let how = Carrying { trust, signing, limits: &limits, jobs: usize::from(args.carry.jobs), work_dir: &work_dir };
    job.run(&how, context.reporter.as_ref()).await
}

/// The places of attestations that rules in this folder name; `None` if they name none.
pub(super) fn attestations(
    rules: &[AttestationRule],
    dir: &Path,
    connector: &Connector,
) -> Result<Option<Attestations>, Diagnostic> {
    if rules.is_empty() {
        return Ok(None);
    }
    let web = WebClient::new(Arc::clone(connector.client()?.http()));
    Ok(Some(Attestations::open(rules.to_vec(), dir.to_owned(), web)?))
}

/// Every provider that the rules name, once, with the place that it comes from; `place` is where it goes.
async fn providers(
    upstream: &UpstreamSources,
    rules: &tofu_oci_mirror::MirrorRules,
    place: impl Fn(&ProviderAddr) -> Result<Option<Place>, Diagnostic>,
) -> Result<Vec<(ProviderAddr, Arc<dyn Source>)>, Diagnostic> {
    let mut providers = Vec::new();
    for address in upstream.addresses(rules).await? {
        let place = place(&address).map_err(|error| error.exiting(Exit::Usage))?;
        let source = upstream.source(&address, place.as_ref())?;
        providers.push((address, source));
    }
    Ok(providers)
}

/// Prints the report. What failed has its line, and the exit code says so.
pub(super) fn print(context: &Context, mode: MirrorMode, lines: Vec<MirrorLine>) -> Exit {
    let is_problem = lines.iter().any(MirrorLine::is_problem);
    let rows: Vec<model::Row> = lines.into_iter().map(|line| model::Row::of(context, line)).collect();
    let summary = MirrorSummary::of(mode, &rows);
    let line = if mode == MirrorMode::Plan { MirrorEvent::MirrorPlan } else { MirrorEvent::Mirror };
    let lines = |lines: &JsonLines| lines.add_all(rows.iter().map(line).chain([MirrorEvent::MirrorSummary(&summary)]));
    context.emit_all(lines, || text::page(mode, &rows, &summary));
    if is_problem { exit_of(rows.iter().filter_map(|row| row.outcome.as_ref().err())) } else { Exit::Done }
}
