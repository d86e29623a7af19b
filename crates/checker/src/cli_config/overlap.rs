//! Methods that take the same providers.
//!
//! All methods that match are asked for versions; the first one that matches is then asked for the package, and an
//! `oci_mirror` or `network_mirror` does not let a later one serve what it lacks.
//!
//! Spec: measured on 1.10 to 1.13 (how methods are combined).

use super::view::{ReleaseView, each};
use super::{CliConfigFacts, CliConfigFinding};
use crate::FindingLevel;
use tofu_oci_mapper::Pattern;
use tofu_oci_mapper::config::{Method, MethodKind};
use tofu_oci_mapper::region::{covered, full, listed, meet, merged, region, without};
use tofu_oci_types::TextPosition;

pub(super) fn findings(facts: &CliConfigFacts<'_>) -> Vec<CliConfigFinding> {
    each(facts, |view| {
        let mut found = Vec::new();
        for (index, later) in view.explicit().iter().enumerate() {
            let earlier = view.explicit().get(..index).unwrap_or_default();
            found.extend(unreachable(view, earlier, later));
            for first in earlier {
                found.extend(if is_stubborn(first) { overlap(view, first, later) } else { order(view, first, later) });
            }
        }
        found
    })
}

/// Whether a method aborts instead of leaving a package to a later one.
fn is_stubborn(method: &Method) -> bool {
    matches!(method.kind, MethodKind::OciMirror { .. } | MethodKind::NetworkMirror { .. })
}

/// A method in one line: `direct in line 7`, with its file if that is another one.
fn place(view: &ReleaseView<'_>, from: &Method, method: &Method) -> String {
    let line = method.file.and_then(|file| view.reading.files.get(file)).map(|file| {
        let line = TextPosition::of(&file.text, method.span.start).line;
        if from.file == method.file { format!("line {line}") } else { format!("{}:{line}", file.path.display()) }
    });
    format!("{} in {}", method.kind.name(), line.unwrap_or_default())
}

fn overlap(view: &ReleaseView<'_>, first: &Method, later: &Method) -> Vec<CliConfigFinding> {
    let both = meet(&first.selector, &later.selector);
    if both.is_empty() {
        return Vec::new();
    }
    let (name, other) = (first.kind.name(), place(view, first, later));
    let mut which = listed(&both);
    let mut but: Vec<String> = Vec::new();
    for pattern in both.iter().flat_map(|pattern| without(pattern, &[&first.selector, &later.selector])).map(full) {
        if !but.contains(&pattern) {
            but.push(pattern);
        }
    }
    if !but.is_empty() {
        which = format!("{which} but {}", but.join(", "));
    }
    let code = if name == "oci_mirror" { "tag-not-found" } else { "mirror-version-missing" };
    let detail = match later.kind {
        MethodKind::Direct { .. } => format!(
            "init aborts ({code}) for each of these providers that the {name} lacks, although direct has it\nit aborts \
             for the others too on the day their registry publishes a newer version than the {name} has, unless one is \
             pinned"
        ),
        _ => format!(
            "init aborts ({code}) for each version of these providers that only {} has; it works as long as the {name} \
             has everything that the other has",
            later.kind.name()
        ),
    };
    let finding = CliConfigFinding::new(
        "mirror-overlap",
        FindingLevel::Warning,
        format!("{other} takes providers of this {name} too: {which}"),
    )
    .at(view.head(first))
    .detail(detail)
    .instead(apart(view, first, later, &both, &other));
    vec![finding]
}

/// How to separate two methods.
fn apart(view: &ReleaseView<'_>, first: &Method, later: &Method, both: &[Pattern], other: &str) -> String {
    if region(&later.selector).iter().any(|pattern| !covered(pattern, both)) {
        return format!("{} in {other}", view.written(later, "exclude", &merged(&later.exclude, both)));
    }
    if first.include.is_empty() {
        format!(
            "an include with what the {} really has, and the same list as exclude in {other}; or leave {other} out",
            first.kind.name()
        )
    } else {
        format!("nothing for {other}, which has no provider of its own: leave it out, or put it first if it gives way")
    }
}

/// A method that gets no provider, because it selects none or because earlier mirrors take them all.
fn unreachable(view: &ReleaseView<'_>, earlier: &[Method], later: &Method) -> Vec<CliConfigFinding> {
    let own = region(&later.selector);
    let name = later.kind.name();
    let finding =
        |title: String| CliConfigFinding::new("unreachable-method", FindingLevel::Warning, title).at(view.head(later));
    if own.is_empty() {
        return vec![
            finding(format!("this {name} is for no provider: exclude covers all of include"))
                .detail("exclude beats include at every width, so that the method is never asked")
                .instead("a narrower exclude, or leave the method out"),
        ];
    }
    let stubborn = || earlier.iter().filter(|method| is_stubborn(method));
    let taken = |pattern: &Pattern| {
        stubborn().any(|first| {
            // The later method must exclude what the first one excludes within the pattern.
            let left = without(pattern, &[&first.selector]);
            let is_left = left.iter().any(|left| !covered(left, &later.selector.exclude));
            !is_left && covered(pattern, &meet(&first.selector, &later.selector))
        })
    };
    if !own.iter().all(taken) {
        return Vec::new();
    }
    let first = stubborn().find(|first| !meet(&first.selector, &later.selector).is_empty());
    let place = first.map(|first| place(view, later, first)).unwrap_or_default();
    vec![
        finding(format!("this {name} serves no provider: {place} takes them all, and never gives way"))
            .detail("it is asked for versions, and can fail then; its packages are never used. The order decides, not how narrow a pattern is")
            .instead("it first, or leave it out"),
    ]
}

/// A wide `direct` before a narrow method: the order decides. A `direct` after a folder is intended.
fn order(view: &ReleaseView<'_>, first: &Method, later: &Method) -> Vec<CliConfigFinding> {
    let (wide, narrow) = (region(&first.selector), region(&later.selector));
    let both = meet(&first.selector, &later.selector);
    let is_narrower =
        narrow.iter().all(|pattern| covered(pattern, &wide)) && !wide.iter().all(|pattern| covered(pattern, &narrow));
    if both.is_empty() || !is_narrower || !matches!(first.kind, MethodKind::Direct { .. }) {
        return Vec::new();
    }
    let (name, other) = (later.kind.name(), place(view, later, first));
    vec![
        CliConfigFinding::new(
            "order-decides",
            FindingLevel::Note,
            format!("{other} stands before this {name} and takes {} too", listed(&both)),
        )
        .at(view.head(later))
        .detail(format!(
            "what both have comes from {}: the order decides, not how narrow a pattern is",
            first.kind.name()
        ))
        .instead(format!("{} in {other}", view.written(first, "exclude", &merged(&first.exclude, &both)))),
    ]
}
