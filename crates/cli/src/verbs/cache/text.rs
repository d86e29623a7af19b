//! What `cache` prints for people.

use tofu_oci_fetch::{CacheHealth, CacheInfo, KeptPackage, PruneAct, Pruned};
use tofu_oci_types::Moment;

use super::model::bytes;
use crate::page::{Page, counted};
use crate::report::human_bytes;

pub(super) fn info(info: &CacheInfo) -> Page {
    let mut page = Page::default();
    table(&info.packages, &mut page);
    page.line(format_args!("{} in {}", sum(&info.packages), info.dir.display()));
    if let Some(lower) = &info.lower {
        page.line(format_args!("below it, read only: {}", lower.display()));
    }
    page
}

/// What was removed.
pub(super) fn pruned(pruned: &Pruned, act: PruneAct) -> Page {
    let mut page = Page::default();
    table(&pruned.removed, &mut page);
    let (done, left) = match act {
        PruneAct::Remove => ("removed", "left"),
        PruneAct::Report => ("would be removed", "would be left"),
    };
    page.line(format_args!("{} {done}, {} {left}", sum(&pruned.removed), sum(&pruned.kept)));
    page
}

/// What was damaged.
pub(super) fn health(health: &CacheHealth) -> Page {
    let mut page = Page::default();
    for damaged in &health.damaged {
        page.line(format_args!("damaged, and removed: {}", damaged.package.name));
        page.line(format_args!("  {}", damaged.file.display()));
    }
    page.line(format_args!("{} intact", sum(&health.sound)));
    page
}

fn table(packages: &[KeptPackage], page: &mut Page) {
    if packages.is_empty() {
        return;
    }
    let head = ["package", "size", "last used"];
    let row = |package: &KeptPackage| {
        [package.name.clone(), human_bytes(package.bytes), Moment::from(package.last_used).day()]
    };
    page.table(head, packages.iter().map(row));
    page.gap();
}

fn sum(packages: &[KeptPackage]) -> String {
    format!("{} ({})", counted(packages.len(), "package"), human_bytes(bytes(packages)))
}
