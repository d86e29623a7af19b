//! The repositories and places on disk that the settings name, opened anew for each question.

#![expect(clippy::result_large_err, reason = "errors are rare, and carry values for explanations")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::FutureExt as _;
use tofu_oci_bridge::ListProviders;
use tofu_oci_mapper::MapError;
use tofu_oci_mirror::{MirrorError, providers_in_tree};
use tofu_oci_source::{BundleSource, Chain, Failure, FolderSource, NotRead, OciSource, Source};
use tofu_oci_store::{DirStore, StoreError};
use tofu_oci_types::{Place, ProviderAddr};

use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::ends::{End, From, LAYOUT_MARK, layout_of};

pub(super) type OpenPlace = Arc<dyn Fn(&ProviderAddr) -> Result<Arc<dyn Source>, MapError> + Send + Sync>;

/// What opens the place of an address; `None` for a network mirror.
pub(super) fn open_place(from: From, connector: &Connector) -> Result<Option<OpenPlace>, Diagnostic> {
    let client = connector.client()?;
    let layout = |dir: &Path| Arc::new(OciSource::new(Arc::new(DirStore::open_later(dir)))) as Arc<dyn Source>;
    Ok(Some(match from {
        From::One(End::Registry(repository)) => {
            Arc::new(move |_| Ok(Arc::new(OciSource::new(Arc::new(client.store(repository.clone()))))))
        }
        From::One(End::Layout(dir)) => Arc::new(move |address| {
            let own = layout_of(&dir, address);
            Ok(if own.join(LAYOUT_MARK).exists() { layout(&own) } else { without_layout(&dir) })
        }),
        From::Repositories(template) => {
            Arc::new(move |address| Ok(Arc::new(OciSource::new(Arc::new(client.store(template.apply(address)?))))))
        }
        From::Layouts(template) => Arc::new(move |address| Ok(layout(template.render(address)?.as_ref()))),
        From::Many(Place::Bundle(file)) => Arc::new(move |_| Ok(Arc::new(BundleSource::new(&file)))),
        From::Many(Place::Folder(dir)) => Arc::new(move |_| Ok(Arc::new(FolderSource::tree(&dir, |_| true)))),
        From::Many(_) => return Ok(None),
    }))
}

/// A folder of layouts that has none of the provider; or a folder that is gone, which is an error: it may come back.
fn without_layout(dir: &Path) -> Arc<dyn Source> {
    if dir.is_dir() {
        return Arc::new(Chain::unmatched());
    }
    let failure = Failure::FolderMissing(format!("{} does not exist", dir.display()));
    Arc::new(NotRead::failing(Place::Layout(dir.to_owned()), failure))
}

/// What lists the providers of a place; `None` if it cannot list them.
pub(super) fn list_providers(from: &From) -> Option<ListProviders> {
    let tree = |dir: &PathBuf| -> ListProviders {
        let dir = dir.clone();
        Arc::new(move || {
            let dir = dir.clone();
            let list =
                move || providers_in_tree(&dir).map_err(|error| MirrorError::from(StoreError::io("list", &dir, error)));
            async move { tokio::task::spawn_blocking(list).await.expect("listing does not panic") }.boxed()
        })
    };
    match from {
        From::One(End::Layout(dir)) | From::Many(Place::Folder(dir)) => Some(tree(dir)),
        From::Many(Place::Bundle(file)) => {
            let file = file.clone();
            Some(Arc::new(move || {
                let bundle = BundleSource::new(&file);
                async move { bundle.providers().await.map_err(MirrorError::from) }.boxed()
            }))
        }
        From::One(End::Registry(_)) | From::Repositories(_) | From::Layouts(_) | From::Many(_) => None,
    }
}
