//! Which versions of a module a run takes, by the rules.

use std::collections::BTreeSet;

use tofu_oci_source::Listing;
use tofu_oci_types::{ModuleAddr, Place, Version};

use super::error::ModuleMirrorError;
use super::job::{MirrorMode, ModuleMirrorJob};
use super::pick::ModuleOrigin;
use crate::MinAge;
use crate::destination::first_seen::FirstSeen;
use crate::pull::lists::PullLists;
use crate::rules::ProviderRule;
use crate::select::{MirrorChoice, SelectedVersion};

impl ModuleMirrorJob<'_> {
    /// The versions of a list that are wanted, and those that the rules keep out, ascending. When they were first seen is
    /// remembered beside the destination, if an age is demanded.
    pub(super) async fn chosen(
        &self,
        address: &ModuleAddr,
        origin: &ModuleOrigin,
        offered: &[Version],
    ) -> Result<Vec<SelectedVersion>, ModuleMirrorError> {
        let ModuleOrigin::Registry { constraints, latest } = origin else {
            let wanted =
                |version| SelectedVersion { version, platforms: BTreeSet::new(), choice: MirrorChoice::Wanted };
            return Ok(origin.choose(offered).into_iter().rev().map(wanted).collect());
        };
        let lists = PullLists::new(address, self.rules, self.reporter);
        let (mut present, mut record) = (Vec::new(), None);
        // A bundle is written for the day, and remembers nothing.
        if self.rules.min_age != MinAge::default() && !matches!(self.destination.place(address)?, Place::Bundle(_)) {
            let store = self.destination.store(address)?;
            present = match store.tags().await {
                Ok(tags) => Listing::in_store(&*store, &tags).await?.versions,
                Err(error) if error.is_not_found() => Vec::new(),
                Err(error) => return Err(error.into()),
            };
            let news = if self.mode == MirrorMode::Plan { &[] } else { offered };
            record = lists.remembered(|| Ok(FirstSeen::in_store(store, address)), news).await?;
        }
        let rule =
            ProviderRule { versions: constraints.clone(), latest: *latest, ..ProviderRule::all_of(address.clone()) };
        Ok(lists.selected(rule, (offered, &present.iter().collect()), record.as_ref()).versions)
    }
}
