//! `bundle`: releases in one file.

mod show;

use tofu_oci_archive::Limits;
use tofu_oci_mirror::{BundledModules, Carrying, DestinationName, ExistingReleases, load_bundle};
use tofu_oci_source::{BundleSource, Source as _};
use tofu_oci_types::Event;

use super::context::Context;
use super::install::working_dir;
use super::mirror::{Mode, carry, print};
use crate::args::{BundleCreateArgs, BundleLoadArgs, MirrorArgs};
use crate::destination::{self, BundleShape};
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::identity::of_from;

pub(crate) use show::show;

/// Writes a bundle with what was asked for: `mirror` with another destination.
pub(crate) async fn create(context: &Context, args: BundleCreateArgs) -> Result<Exit, Diagnostic> {
    let shape =
        BundleShape { max_part: args.max_size.map_or(u64::MAX, |size| size.0), existing: ExistingReleases::Drop };
    let mirror = MirrorArgs {
        to: Some(DestinationName::Bundle(args.file).to_string()),
        min_age: None,
        plan: false,
        prune: false,
        print_trust: false,
        carry: args.carry,
    };
    carry(context, &mirror, shape).await
}

/// Brings the releases of a bundle to a destination, once all of them have been judged.
pub(crate) async fn load(context: &Context, args: &BundleLoadArgs) -> Result<Exit, Diagnostic> {
    let to = destination::parse(&args.destination)?;
    if let DestinationName::Bundle(_) = to {
        return Err(Diagnostic::usage("a bundle is not loaded into a bundle")
            .hint("to put it into another one: tofu-oci mirror ADDR --from bundle:FILE --to bundle:OTHER"));
    }
    let trust = crate::trust::load(&args.trust, &working_dir(None)?)?;
    let registry = match &to {
        DestinationName::Registry(_) => of_from(Some(&args.destination))?,
        _ => None,
    };
    let access = args.identity.access(&registry.as_deref().into_iter().collect::<Vec<_>>(), None).await?;
    let connector = context.connector(&args.network, access);
    let destination = destination::open(&connector, to, BundleShape::default())?;
    let (limits, work_dir) = (Limits::default(), std::env::temp_dir());
    let jobs = usize::from(args.jobs);
    let how = Carrying { trust: &trust, signing: None, limits: &limits, jobs, work_dir: &work_dir };
    let bundle = BundleSource::new(&args.file);
    let modules = BundledModules::new(bundle.bundle().await?.clone()).addresses().len();
    if modules > 0 {
        let word = if modules == 1 { "module" } else { "modules" };
        let text = format!("{} holds {modules} {word} too, which `bundle load` does not load", bundle.place());
        let hint = format!("load them: tofu-oci module mirror --from bundle:{} --to TEMPLATE", args.file.display());
        context.reporter.event(&Event::note("bundled-modules", text).with_hint(hint));
    }
    let lines = load_bundle(&bundle, destination.as_ref(), &how, context.reporter.as_ref()).await?;
    Ok(print(context, Mode::Run, lines))
}
