//! One `oci_mirror` more, or one less, in a file of the configuration: the other bytes of the file stay.
//!
//! ```text
//! MirrorChange --of_block--> [PlannedMethod] --spliced--> text --is_read_back--> checked on every release
//! ```
//!
//! A method that is for a part of the pattern keeps that part. Every other method excludes the pattern, so that one
//! method alone serves each provider.

use tofu_oci_hcl::HclSyntax;
use tofu_oci_types::{Pattern, TofuRelease};

use super::splice::{PlannedMethod, appended, spliced, without_block};
use super::written::{has, read_snippet};
use super::{Installation, MEASURED, Method, MethodKind, NotReadBack, WrittenMethod, write_methods};

/// A change of `provider_installation`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MirrorChange {
    /// The providers of the pattern come from the repositories of the template, as the file is to have it.
    Add(Pattern, String),
    /// No `oci_mirror` is for the pattern.
    Remove(Pattern),
}

/// The text of a file after a change; `None` if the file already says what it would say.
///
/// `installation` is the block in `text`, which is in the native syntax and has no errors; `None` if no file has one.
///
/// # Errors
/// If a measured release would read the methods differently from what was meant.
pub fn edit_mirrors(
    text: &str,
    installation: Option<&Installation>,
    change: &MirrorChange,
) -> Result<Option<String>, NotReadBack> {
    let (after, was, wanted) = match (installation, change) {
        (Some(there), _) => {
            let Some(planned) = of_block(there, change) else { return Ok(None) };
            let after = spliced(text, there, &planned).ok_or(NotReadBack::Methods)?;
            if is_as_without(there, &planned)
                && let Some(there) = read_snippet(&after, TofuRelease::V1_13).config.installation
                && let Some(after) = without_block(&after, &there)
            {
                return Ok(Some(after));
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
    if releases.all(|release| reads(&after, &wanted, release)) { Ok(Some(after)) } else { Err(NotReadBack::Methods) }
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
    let template_of = |method: &Method| match &method.kind {
        MethodKind::OciMirror { template } => Some(template.as_str().to_owned()),
        _ => None,
    };
    let is_so = |method: &Method| {
        template_of(method).as_deref() == Some(template)
            && method.selector.include.iter().any(|include| include.covers(pattern))
            && !method.selector.exclude.iter().any(|exclude| exclude.covers(pattern))
    };
    let is_for_it_alone = |method: &Method| {
        template_of(method).is_some() && matches!(method.selector.include.as_slice(), [one] if is(one, pattern))
    };
    let methods = there.methods.iter();
    let server = methods.clone().position(is_so).or_else(|| methods.clone().position(is_for_it_alone));
    let mut planned = Vec::new();
    let mut kept = Vec::new();
    for (at, method) in methods.enumerate() {
        let written = WrittenMethod::of(method)?;
        let include = &method.selector.include;
        if server == Some(at) {
            planned.push((Some(at), written.with_template(template)));
            continue;
        }
        kept.extend(include.iter().filter(|include| pattern.covers(include) && !is(include, pattern)));
        let is_for_all = include.is_empty() || include.iter().any(|include| include.covers(pattern));
        let taken = if is_for_all { vec![pattern] } else { Vec::new() };
        planned.push((Some(at), written.excluding(also(&method.exclude, &taken))));
    }
    if server.is_none() {
        let include = vec![pattern.to_string()];
        let mirror = WrittenMethod::OciMirror { template: template.to_owned(), include, exclude: Vec::new() };
        planned.insert(0, (None, mirror));
    }
    let (_, mirror) = planned.get_mut(server.unwrap_or(0))?;
    let exclude = also(mirror.patterns().1, &kept);
    *mirror = mirror.clone().excluding(exclude);
    Some(planned)
}

fn removed(there: &Installation, pattern: &Pattern) -> Option<Vec<PlannedMethod>> {
    let is_for_it = |method: &Method| {
        matches!(method.kind, MethodKind::OciMirror { .. })
            && method.selector.include.iter().any(|one| is(one, pattern))
    };
    if !there.methods.iter().any(is_for_it) {
        return None;
    }
    // Methods that are for parts of the pattern keep these.
    let others = there.methods.iter().flat_map(|method| &method.selector.include);
    let parts: Vec<&Pattern> = others.filter(|part| pattern.covers(part) && !is(part, pattern)).collect();
    let mut planned = Vec::new();
    for (at, method) in there.methods.iter().enumerate() {
        let written = WrittenMethod::of(method)?;
        if is_for_it(method) {
            let include = without(&method.include, &method.selector.include, pattern);
            if !include.is_empty() {
                planned.push((Some(at), written.including(include)));
            }
            continue;
        }
        let mut exclude = without(&method.exclude, &method.selector.exclude, pattern);
        if exclude.len() < method.exclude.len() {
            let others: Vec<&Pattern> =
                parts.iter().copied().filter(|part| !method.selector.include.contains(part)).collect();
            exclude = also(&exclude, &others);
        }
        planned.push((Some(at), written.excluding(exclude)));
    }
    Some(planned)
}

/// The patterns of a list, as they are written, without this one.
fn without(written: &[String], read: &[Pattern], pattern: &Pattern) -> Vec<String> {
    written.iter().zip(read).filter(|(_, read)| !is(read, pattern)).map(|(written, _)| written.clone()).collect()
}

/// A list of patterns with those of others that it does not cover yet.
fn also(written: &[String], others: &[&Pattern]) -> Vec<String> {
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

/// Whether the methods are those that `OpenTofu` has without the block, apart from implicit folders.
fn is_as_without(there: &Installation, planned: &[PlannedMethod]) -> bool {
    let direct = WrittenMethod::Direct { include: Vec::new(), exclude: Vec::new(), retries: None };
    there.dev_overrides.is_empty() && matches!(planned, [(_, method)] if *method == direct)
}

#[cfg(test)]
mod tests;
