//! Where releases are carried to, opened.

use std::path::PathBuf;
use std::sync::Arc;

use tofu_oci_fetch::Trust;
use tofu_oci_mapper::{TemplateOf, TemplateRepositories};
use tofu_oci_mirror::{
    BundleFile, Destination, DestinationName, ExistingReleases, InvalidDestination, OpenStore, Repositories, StaticTree,
};
use tofu_oci_store::{ComparedBy, DirStore, Store};
use tofu_oci_types::Place;

use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::ends::{demand_no_version, demand_template, is_tar, template_instead, without_oci};
use crate::exit::Exit;

/// Reads what `--to` names.
pub(crate) fn parse(text: &str) -> Result<DestinationName, Diagnostic> {
    if text.starts_with(['.', '/']) {
        return Err(Diagnostic::usage(format!("`{text}` is a path, and does not say what is written there"))
            .code("destination-without-kind")
            .hint(format!("write oci:{text}, static:{text} or bundle:{text}")));
    }
    if is_tar(text) && !text.contains(':') {
        return Err(Diagnostic::usage(format!("`{text}` does not say what is written there"))
            .code("destination-without-kind")
            .hint(format!("a bundle is written bundle:{text}")));
    }
    let text = &*without_oci(text);
    if text.starts_with("oci:") {
        demand_template(text, TemplateOf::Providers).and_then(|()| demand_no_version(text))?;
    }
    text.parse().map_err(|error: InvalidDestination| {
        let diagnostic = Diagnostic::of(Exit::Usage, &error).code(error.code());
        let diagnostic = match &error {
            InvalidDestination::Template(template) if text.contains('/') => diagnostic.hint(template_instead(template)),
            _ => diagnostic.hint("write 'REGISTRY/${namespace}/${type}', oci:DIR, static:DIR or bundle:FILE"),
        };
        diagnostic.hint("quote a template with ' for your shell: it would take ${…} for a variable of its own")
    })
}

/// The same for any number of providers. It refuses a template that gives two of them one repository.
pub(crate) fn parse_for_any(text: &str) -> Result<DestinationName, Diagnostic> {
    let name = parse(text)?;
    match name.check_one_to_one() {
        Ok(()) => Ok(name),
        Err(error) => Err(Diagnostic::usage(error.to_string()).code(error.code()).hint(error.instead())),
    }
}

/// How a bundle is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BundleShape {
    /// The largest file, in bytes.
    pub(crate) max_part: u64,
    /// What becomes of the bundle that is there.
    pub(crate) existing: ExistingReleases,
}

impl Default for BundleShape {
    fn default() -> Self {
        Self { max_part: u64::MAX, existing: ExistingReleases::Keep }
    }
}

/// Opens a destination. Nothing is asked yet, and nothing is written.
pub(crate) fn open(
    connector: &Connector,
    name: DestinationName,
    trust: &Trust,
    (bundle, compared): (BundleShape, ComparedBy),
) -> Result<Box<dyn Destination>, Diagnostic> {
    Ok(match name {
        DestinationName::Repositories(repositories) => {
            let open = match &repositories {
                TemplateRepositories::Registry(_) => connector.stores()?,
                TemplateRepositories::Layouts(_) => connector.layouts(),
            };
            let repositories = Repositories::new(repositories, open).shared_by(trust.policy.predecessors().clone());
            Box::new(repositories.comparing(compared))
        }
        DestinationName::Static(dir) => Box::new(StaticTree::new(dir, connector.waiting().0).comparing(compared)),
        DestinationName::Bundle(file) => {
            Box::new(BundleFile::new(file, bundle.max_part, bundle.existing, connector.waiting().0)?)
        }
    })
}

impl Connector {
    /// Opens repositories of registries, and image layouts.
    pub(crate) fn repositories(&self) -> Result<OpenStore, Diagnostic> {
        let (stores, layouts) = (self.stores()?, self.layouts());
        Ok(Arc::new(move |place: &Place| match place {
            Place::Layout(_) => layouts(place),
            _ => stores(place),
        }))
    }

    /// Opens repositories of registries.
    fn stores(&self) -> Result<OpenStore, Diagnostic> {
        let client = self.client()?;
        Ok(Arc::new(move |place: &Place| {
            let repository = place.repository().expect("a template for registries names repositories");
            Ok(Arc::new(client.store(repository.clone())) as Arc<dyn Store>)
        }))
    }

    /// Opens image layouts; the first write makes them.
    fn layouts(&self) -> OpenStore {
        let (waiter, reporter) = self.waiting();
        Arc::new(move |place: &Place| {
            let Place::Layout(dir) = place else { unreachable!("a template for layouts names folders") };
            let store = DirStore::create_on_write(PathBuf::from(dir))?;
            Ok(Arc::new(store.waiting(waiter.clone(), Arc::clone(&reporter))) as Arc<dyn Store>)
        })
    }
}
