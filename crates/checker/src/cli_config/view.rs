//! The facts for one release, and places in the files.

use std::ops::Range;

use tofu_oci_hcl::{Duplicates, HclBody, HclItem, HclSyntax, HclValue};

use super::{CliConfigFacts, CliConfigFinding, FoundAt};
use tofu_oci_mapper::Selector;
use tofu_oci_mapper::config::{CliConfigReading, ConfigFile, Method, MethodKind, Methods};
use tofu_oci_types::TofuRelease;

/// The facts for one release.
#[derive(Clone, Copy)]
pub(super) struct ReleaseView<'a> {
    pub(super) facts: &'a CliConfigFacts<'a>,
    pub(super) reading: &'a CliConfigReading,
    pub(super) methods: &'a Methods,
    pub(super) release: TofuRelease,
}

/// A value in a block, and the texts in it.
pub(super) struct Argument {
    pub(super) span: Range<usize>,
    /// A text, or those of a list: its bytes with the quotes, and its value.
    pub(super) texts: Vec<(Range<usize>, String)>,
}

impl<'a> ReleaseView<'a> {
    pub(super) fn all(facts: &'a CliConfigFacts<'a>) -> impl Iterator<Item = ReleaseView<'a>> {
        let readings = facts.readings.iter().zip(&facts.methods);
        readings.map(move |(reading, methods)| ReleaseView { facts, reading, methods, release: reading.release })
    }

    /// The methods of the file that count.
    pub(super) fn explicit(&self) -> &'a [Method] {
        if self.methods.explicit { &self.methods.list } else { &[] }
    }

    /// An argument as it is written in the file of a method.
    pub(super) fn written(&self, method: &Method, name: &str, value: &str) -> String {
        let file = method.file.and_then(|file| self.reading.files.get(file));
        if file.is_some_and(is_json) { format!("\"{name}\": {value}") } else { format!("{name} = {value}") }
    }

    /// The head of a method: its name.
    pub(super) fn head(&self, method: &Method) -> Option<FoundAt> {
        let file = self.reading.files.get(method.file?)?;
        let name = method.kind.name();
        let rest = file.text.get(method.span.clone())?;
        let start = method.span.start + rest.find(name).unwrap_or_default();
        Some(FoundAt::of(file, Some(start..start + name.len())))
    }

    pub(super) fn argument(&self, method: &Method, name: &str) -> Option<Argument> {
        let file = self.reading.files.get(method.file?)?;
        argument(&file.text, &method.span, name)
    }

    /// The place of an argument of a method, or its head if the argument is not found.
    pub(super) fn place(&self, method: &Method, name: &str) -> Option<FoundAt> {
        let file = self.reading.files.get(method.file?)?;
        let span = self.argument(method, name).map(|argument| argument.span);
        span.map(|span| FoundAt::of(file, Some(span))).or_else(|| self.head(method))
    }

    /// The place of a text in `include` or `exclude` of a method.
    pub(super) fn pattern(&self, method: &Method, name: &str, text: &str) -> Option<FoundAt> {
        let file = self.reading.files.get(method.file?)?;
        let argument = self.argument(method, name);
        let span = argument.and_then(|found| found.texts.into_iter().find(|(_, said)| said == text));
        span.map(|(span, _)| FoundAt::of(file, Some(span))).or_else(|| self.place(method, name))
    }

    /// The patterns of a method; for a dropped method, the texts as written.
    pub(super) fn selector(&self, method: &Method) -> Option<Selector> {
        if !matches!(method.kind, MethodKind::Unreadable { .. }) {
            return Selector::parse(&method.include, &method.exclude).ok();
        }
        let texts = |name| -> Vec<String> {
            let found = self.argument(method, name);
            found.into_iter().flat_map(|found| found.texts).map(|(_, text)| text).collect()
        };
        Selector::parse(&texts("include"), &texts("exclude")).ok()
    }
}

/// Whether a file is in the JSON form.
pub(super) fn is_json(file: &ConfigFile) -> bool {
    tofu_oci_hcl::parse(&file.text, Duplicates::Allowed).is_ok_and(|document| document.syntax == HclSyntax::Json)
}

/// Applies a rule to each release, and joins equal findings of several releases.
pub(super) fn each(
    facts: &CliConfigFacts<'_>,
    rule: impl Fn(&ReleaseView<'_>) -> Vec<CliConfigFinding>,
) -> Vec<CliConfigFinding> {
    let mut all: Vec<CliConfigFinding> = Vec::new();
    for view in ReleaseView::all(facts) {
        for finding in rule(&view) {
            match all.iter_mut().find(|known| known.is_same(&finding) && !known.releases.contains(&view.release)) {
                Some(known) => known.releases.push(view.release),
                None => all.push(CliConfigFinding { releases: vec![view.release], ..finding }),
            }
        }
    }
    all
}

/// The last argument of a name in the block that has exactly this span.
pub(super) fn argument(text: &str, block: &Range<usize>, name: &str) -> Option<Argument> {
    let document = tofu_oci_hcl::parse(text, Duplicates::Allowed).ok()?;
    let HclValue::Object(body, _) = &item(&document.body, block)?.value else { return None };
    let is_named = |item: &&HclItem| item.keys.first().is_some_and(|key| key.text.eq_ignore_ascii_case(name));
    let value = &body.items.iter().rev().find(is_named)?.value;
    let single = std::slice::from_ref(value);
    let list = if let HclValue::List(list, _) = value { list.as_slice() } else { single };
    let texts = list.iter().filter_map(|value| match value {
        HclValue::String(text) => Some((text.span.clone(), text.value.clone())),
        _ => None,
    });
    Some(Argument { span: value.span(), texts: texts.collect() })
}

fn item<'a>(body: &'a HclBody, span: &Range<usize>) -> Option<&'a HclItem> {
    body.items.iter().find_map(|candidate| match &candidate.value {
        HclValue::Object(..) if candidate.span == *span => Some(candidate),
        HclValue::Object(inner, _) if candidate.span.start <= span.start => item(inner, span),
        _ => None,
    })
}
