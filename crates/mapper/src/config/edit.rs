//! One `oci_mirror` more, or one less, in a file of the configuration: the other bytes of the file stay.
//!
//! ```text
//! MirrorChange --of_block--> [PlannedMethod] --spliced--> text --is_read_back--> checked on every release
//! ```
//!
//! A method that is for a part of the pattern keeps that part. Every other method excludes the pattern, so that one
//! method alone serves each provider.

use tofu_oci_hcl::HclSyntax;
use tofu_oci_types::{Hostname, Pattern, ProviderAddr, TofuRelease};

use super::splice::{PlannedMethod, appended, spliced, without_block};
use super::written::{has, read_snippet};
use super::{Installation, MEASURED, Method, MethodKind, WrittenMethod, write_methods};
use crate::Selector;

/// A change of `provider_installation`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MirrorChange {
    /// The providers of the pattern come from the repositories of the template, as the file is to have it.
    Add(Pattern, String),
    /// The `oci_mirror` that serves the pattern, and names it, does so no more.
    Remove(Pattern),
}

/// Why a file stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MirrorEditError {
    /// A measured release would read something else than was meant.
    #[error("OpenTofu would read the installation methods differently from what was meant")]
    NotReadBack,
    /// None would be left.
    #[error("provider_installation would have no method left, so that no provider could be installed")]
    NoMethod,
    /// Providers that a method is for now would have none.
    #[error("no method would be left for some providers that have one now, because methods exclude them")]
    NotServed,
}

/// The text of a file after a change; `None` if the file already says what it would say.
///
/// `installation` is the block in `text`, which is in the native syntax and has no errors; `None` if no file has one.
///
/// # Errors
/// If the change cannot be made without harm; the file then stays as it is.
pub fn edit_mirrors(
    text: &str,
    installation: Option<&Installation>,
    change: &MirrorChange,
) -> Result<Option<String>, MirrorEditError> {
    let (after, was, wanted) = match (installation, change) {
        (Some(there), _) => {
            let Some(planned) = of_block(there, change) else { return Ok(None) };
            demand_served(there, change, &planned)?;
            let after = spliced(text, there, &planned).ok_or(MirrorEditError::NotReadBack)?;
            if is_as_without(there, &planned)
                && let Some(there) = read_snippet(&after, TofuRelease::V1_13).config.installation
                && let Some(after) = without_block(&after, &there)
            {
                let is_gone = |release| read_snippet(&after, release).config.installation.is_none();
                return if MEASURED.into_iter().all(is_gone) {
                    Ok(Some(after))
                } else {
                    Err(MirrorEditError::NotReadBack)
                };
            }
            let all =
                |methods: Vec<WrittenMethod>| WrittenMethod::of_overrides(there).into_iter().chain(methods).collect();
            let was = there.methods.iter().filter_map(WrittenMethod::of).collect();
            (after, Some(all(was)), all(planned.into_iter().map(|(_, method)| method).collect()))
        }
        (None, MirrorChange::Add(pattern, template)) => {
            let wanted = new_methods(pattern, template);
            (appended(text, &write_methods(&wanted, HclSyntax::Native)), None, wanted)
        }
        (None, MirrorChange::Remove(_)) => return Ok(None),
    };
    let reads = |text: &str, methods: &[WrittenMethod], release| {
        let reading = read_snippet(text, release);
        reading.config.installation.is_some_and(|installation| has(&installation, methods))
    };
    // A release that reads the file as it is differently will read it differently after the change, too.
    let mut releases =
        MEASURED.into_iter().filter(|release| was.as_ref().is_none_or(|was: &Vec<_>| reads(text, was, *release)));
    if releases.all(|release| reads(&after, &wanted, release)) {
        Ok(Some(after))
    } else {
        Err(MirrorEditError::NotReadBack)
    }
}

/// The methods of a configuration that has none yet.
pub fn new_methods(pattern: &Pattern, template: &str) -> Vec<WrittenMethod> {
    let include = vec![pattern.to_string()];
    let direct = WrittenMethod::Direct { include: Vec::new(), exclude: include.clone(), retries: None };
    let mirror = WrittenMethod::OciMirror { template: template.to_owned(), include, exclude: Vec::new() };
    // For a mirror of every provider, `direct` would be for none.
    std::iter::once(mirror).chain(pattern.hostname().map(|_| direct)).collect()
}

/// The methods after a change; `None` if they stay.
fn of_block(there: &Installation, change: &MirrorChange) -> Option<Vec<PlannedMethod>> {
    let planned = match change {
        MirrorChange::Add(pattern, template) => added(there, pattern, template),
        MirrorChange::Remove(pattern) => removed(there, pattern),
    }?;
    let stays = planned.len() == there.methods.len()
        && planned.iter().all(|(at, method)| {
            at.and_then(|at| WrittenMethod::of(there.methods.get(at)?)).is_some_and(|was| was == *method)
        });
    (!stays).then_some(planned)
}

fn added(there: &Installation, pattern: &Pattern, template: &str) -> Option<Vec<PlannedMethod>> {
    let mirror = WrittenMethod::OciMirror {
        template: template.to_owned(),
        include: vec![pattern.to_string()],
        exclude: Vec::new(),
    };
    let has_template =
        |method: &Method| matches!(&method.kind, MethodKind::OciMirror { template: one } if one.as_str() == template);
    let is_alone = |method: &Method| {
        matches!(method.kind, MethodKind::OciMirror { .. })
            && matches!(method.selector.include.as_slice(), [one] if is(one, pattern))
    };
    let covers = |list: &[Pattern]| list.iter().any(|one| one.covers(pattern));
    let is_so =
        |method: &Method| has_template(method) && covers(&method.selector.include) && !covers(&method.selector.exclude);
    let methods = || there.methods.iter();
    let server = methods()
        .position(|method| is_alone(method) && has_template(method))
        .or_else(|| methods().position(is_alone))
        .or_else(|| methods().position(is_so));
    let parts = |method: &'_ Method| -> Vec<Pattern> {
        method.selector.include.iter().filter(|part| pattern.covers(part) && !is(part, pattern)).cloned().collect()
    };
    let takes = |method: &Method| method.selector.include.is_empty() || covers(&method.selector.include);
    let others = methods().enumerate().filter(|(at, method)| Some(*at) != server && !takes(method));
    let kept: Vec<Pattern> = others.flat_map(|(_, method)| parts(method)).collect();
    let mut planned = Vec::new();
    for (at, method) in methods().enumerate() {
        let written = WrittenMethod::of(method)?;
        let exclude = if server == Some(at) {
            also(&without(&method.exclude, &method.selector.exclude, |one| one.covers(pattern)), &kept)
        } else if takes(method) {
            also(&method.exclude, std::slice::from_ref(pattern))
        } else {
            method.exclude.clone()
        };
        let written = if server == Some(at) { written.with_template(template) } else { written };
        planned.push((Some(at), written.excluding(exclude)));
    }
    if server.is_none() {
        planned.insert(0, (None, mirror.excluding(also(&[], &kept))));
    }
    Some(planned)
}

/// Takes away the mirrors that serve the pattern. A method that had been set aside for them serves it again.
fn removed(there: &Installation, pattern: &Pattern) -> Option<Vec<PlannedMethod>> {
    let covers = |list: &[Pattern]| list.iter().any(|one| one.covers(pattern));
    let names = |method: &Method| {
        matches!(method.kind, MethodKind::OciMirror { .. })
            && method.selector.include.iter().any(|one| is(one, pattern))
    };
    let serves = |method: &Method| names(method) && !covers(&method.selector.exclude);
    let is_any_serving = there.methods.iter().any(serves);
    let goes = |method: &Method| if is_any_serving { serves(method) } else { names(method) };
    if !there.methods.iter().any(goes) {
        return None;
    }
    let left = || there.methods.iter().enumerate().filter(|(_, method)| !goes(method));
    // The nearest method, of which the first, gets the pattern back, if nothing else keeps it away.
    let is_free = |method: &Method| method.selector.exclude.iter().all(|one| is(one, pattern) || !one.covers(pattern));
    let free = left().filter(|(_, method)| is_free(method));
    let back = free.min_by_key(|(_, method)| distance(&method.selector.include, pattern)).map(|(at, _)| at);
    // Methods that are for parts of the pattern keep these.
    let parts: Vec<&Pattern> = left()
        .flat_map(|(_, method)| &method.selector.include)
        .filter(|part| pattern.covers(part) && !is(part, pattern))
        .collect();
    let mut planned = Vec::new();
    for (at, method) in there.methods.iter().enumerate() {
        let written = WrittenMethod::of(method)?;
        if goes(method) {
            let include = without(&method.include, &method.selector.include, |one| is(one, pattern));
            if !include.is_empty() {
                planned.push((Some(at), written.including(include)));
            }
            continue;
        }
        let mut exclude = method.exclude.clone();
        if back == Some(at) {
            exclude = without(&exclude, &method.selector.exclude, |one| is(one, pattern));
        }
        if exclude.len() < method.exclude.len() {
            let others = parts.iter().filter(|part| !method.selector.include.contains(part));
            exclude = also(&exclude, &others.map(|part| (*part).clone()).collect::<Vec<_>>());
        }
        planned.push((Some(at), written.excluding(exclude)));
    }
    Some(planned)
}

/// How many parts the narrowest pattern that covers this one leaves open; more than any for a list without one.
fn distance(include: &[Pattern], pattern: &Pattern) -> usize {
    let open = |one: &Pattern| {
        [one.hostname().is_none(), one.namespace().is_none(), one.provider_type().is_none()]
            .into_iter()
            .filter(|open| *open)
            .count()
    };
    include.iter().filter(|one| one.covers(pattern)).map(open).min().unwrap_or(if include.is_empty() { 4 } else { 5 })
}

/// The patterns of a list, as they are written, without some.
fn without(written: &[String], read: &[Pattern], is_one: impl Fn(&Pattern) -> bool) -> Vec<String> {
    written.iter().zip(read).filter(|(_, read)| !is_one(read)).map(|(written, _)| written.clone()).collect()
}

/// A list of patterns with those of others that it does not cover yet.
fn also(written: &[String], others: &[Pattern]) -> Vec<String> {
    let mut list = written.to_vec();
    for other in others {
        if !list.iter().filter_map(|text| text.parse::<Pattern>().ok()).any(|one| one.covers(other)) {
            list.push(other.to_string());
        }
    }
    list
}

/// Whether both are for the same providers, however they are written.
fn is(one: &Pattern, other: &Pattern) -> bool {
    one.covers(other) && other.covers(one)
}

/// Refuses a change after which no method would be left, or after which none would be for providers that had one.
fn demand_served(
    there: &Installation,
    change: &MirrorChange,
    planned: &[PlannedMethod],
) -> Result<(), MirrorEditError> {
    let pattern = match change {
        MirrorChange::Add(pattern, _) => pattern,
        // What `config add` alone has written for every provider goes as a whole.
        MirrorChange::Remove(pattern) if planned.is_empty() && pattern.hostname().is_some() => {
            return Err(MirrorEditError::NoMethod);
        }
        MirrorChange::Remove(_) => return Ok(()),
    };
    let read = |list: &[String]| list.iter().filter_map(|text| text.parse().ok()).collect();
    let selector = |method: &WrittenMethod| {
        let (include, exclude) = method.patterns();
        Selector { include: read(include), exclude: read(exclude) }
    };
    let after: Vec<Selector> = planned.iter().map(|(_, method)| selector(method)).collect();
    let before: Vec<&Selector> = there.methods.iter().map(|method| &method.selector).collect();
    let named = before.iter().flat_map(|selector| selector.include.iter().chain(&selector.exclude));
    let is_lost = |of: &Pattern| {
        let Some(one) = example(of) else { return false };
        let had = is(of, pattern) || before.iter().any(|selector| selector.select(&one).is_in());
        had && !after.iter().any(|selector| selector.select(&one).is_in())
    };
    match named.chain([pattern]).find(|of| is_lost(of)) {
        Some(_) => Err(MirrorEditError::NotServed),
        None => Ok(()),
    }
}

/// A provider of the pattern that no narrower pattern names.
fn example(of: &Pattern) -> Option<ProviderAddr> {
    const OTHER: &str = "zzz";
    let hostname = of.hostname().cloned().unwrap_or_else(Hostname::default_registry);
    let (namespace, name) = (of.namespace().unwrap_or(OTHER), of.provider_type().unwrap_or(OTHER));
    format!("{hostname}/{namespace}/{name}").parse().ok()
}

/// Whether the methods are those that `OpenTofu` has without the block, apart from implicit folders.
fn is_as_without(there: &Installation, planned: &[PlannedMethod]) -> bool {
    let direct = WrittenMethod::Direct { include: Vec::new(), exclude: Vec::new(), retries: None };
    there.dev_overrides.is_empty() && planned.iter().all(|(_, method)| *method == direct) && planned.len() < 2
}

#[cfg(test)]
mod tests;
