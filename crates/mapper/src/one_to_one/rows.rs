//! The text of a place as characters and parts of an address in a row, in the one spelling of the place.

use std::path::is_separator;

use tofu_oci_hcl::template::{NoPieces, TemplatePiece, TemplateValue};
use tofu_oci_types::Place;

use super::parts::PartRange;
use super::regions::AddressRegion;
use crate::{TemplateAddress, TemplateRepositories};

/// One character, or a part of the address by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowItem {
    Character(char),
    Part(usize),
}

/// The places of a region by one template: what stands between slashes.
#[derive(Clone, Debug)]
pub(super) struct PlaceRow {
    /// Whether it is one of a registry; otherwise a folder.
    pub(super) is_of_registry: bool,
    pub(super) segments: Vec<Vec<RowItem>>,
}

impl PlaceRow {
    /// The places of these addresses; `None` if none of them gets a place.
    ///
    /// # Errors
    /// If the template computes them.
    pub(super) fn of<A: TemplateAddress>(
        repositories: &TemplateRepositories<A>,
        region: &AddressRegion,
    ) -> Result<Option<Self>, ComputedPlace> {
        let known = |name: &str| {
            let symbol = A::OF.symbol(name)?;
            region.fixed(A::OF, symbol).map(|text| TemplateValue::String(text.to_owned()))
        };
        let pieces = match repositories.template().pieces(&known) {
            Ok(pieces) => pieces,
            Err(NoPieces::NoText) => return Ok(None),
            Err(NoPieces::Computed) => return Err(ComputedPlace),
        };
        let is_of_folder = matches!(repositories, TemplateRepositories::Layouts(_));
        let parts = |character: char| character == '/' || (is_of_folder && is_separator(character));
        let mut segments = vec![Vec::new()];
        for piece in pieces {
            let items: Vec<RowItem> = match piece {
                TemplatePiece::Text(text) => text.chars().map(RowItem::Character).collect(),
                TemplatePiece::Name(name) => {
                    let symbol = A::OF.symbols().iter().position(|symbol| symbol.name() == name);
                    symbol.map(RowItem::Part).into_iter().collect()
                }
            };
            for item in items {
                match (item, segments.last_mut()) {
                    (RowItem::Character(character), _) if parts(character) => segments.push(Vec::new()),
                    (item, Some(segment)) => segment.push(item),
                    (_, None) => {}
                }
            }
        }
        match repositories {
            TemplateRepositories::Registry(_) => of_registry(segments),
            TemplateRepositories::Layouts(_) => Ok(Some(of_folder(segments))),
        }
    }

    /// Whether a part of the address is in the text.
    pub(super) fn mentions(&self, part: usize) -> bool {
        self.segments.iter().flatten().any(|item| *item == RowItem::Part(part))
    }
}

/// The template computes the text, so that it is not known which places it gives.
#[derive(Debug)]
pub(super) struct ComputedPlace;

fn of_registry(mut segments: Vec<Vec<RowItem>>) -> Result<Option<PlaceRow>, ComputedPlace> {
    let [registry, path @ ..] = segments.as_mut_slice() else { return Ok(None) };
    let Some(last) = path.last_mut() else { return Ok(None) };
    // What follows is a tag or a digest, and only an empty one is admitted.
    let end = last.iter().position(|item| matches!(item, RowItem::Character(':' | '@')));
    last.truncate(end.unwrap_or(last.len()));
    let in_names = |item: &RowItem| match item {
        RowItem::Part(_) => true,
        RowItem::Character(character) => matches!(character, 'a'..='z' | '0'..='9' | '.' | '_' | '-'),
    };
    if path.iter().any(|segment| segment.is_empty() || !segment.iter().all(in_names)) {
        return Ok(None);
    }
    *registry = one_spelling(registry)?;
    Ok(Some(PlaceRow { is_of_registry: true, segments }))
}

/// The registry in the spelling that all of its spellings share.
fn one_spelling(registry: &[RowItem]) -> Result<Vec<RowItem>, ComputedPlace> {
    let text = |items: &[RowItem]| -> Option<String> {
        let character = |item: &RowItem| match item {
            RowItem::Character(character) => Some(*character),
            RowItem::Part(_) => None,
        };
        items.iter().map(character).collect()
    };
    if let Some(host) = text(registry) {
        let host = Place::Host(host.strip_suffix(':').unwrap_or(&host).to_owned()).canonical().to_string();
        return Ok(host.chars().map(RowItem::Character).collect());
    }
    // Hosts that are one registry, such as `a.test` and `a.test:80`, are of one owner.
    if let [RowItem::Part(_)] = registry {
        return Ok(registry.to_vec());
    }
    // Below a domain each text is a host of its own; elsewhere it could be an address in one of many spellings.
    let last = registry.iter().rposition(|item| matches!(item, RowItem::Part(_))).map_or(0, |last| last + 1);
    let below = text(&registry[last..]).filter(|domain| domain.starts_with('.'));
    let host = below.as_deref().map(|domain| Place::Host(format!("x{domain}")).canonical().to_string());
    let is_plain = |host: &String| host.contains(|character: char| character.is_ascii_lowercase());
    match host.filter(is_plain).and_then(|host| host.strip_prefix('x').map(str::to_owned)) {
        Some(domain) => {
            let before = registry[..last].iter().map(|item| match item {
                RowItem::Character(character) => RowItem::Character(character.to_ascii_lowercase()),
                part @ RowItem::Part(_) => *part,
            });
            Ok(before.chain(domain.chars().map(RowItem::Character)).collect())
        }
        None => Err(ComputedPlace),
    }
}

/// A folder without `.`, empty parts and `PART/..`; no part of an address is one of these.
///
/// The case of letters counts. If it did not, no folders could be kept for the modules of several namespaces, whose names may
/// differ by case alone. On a file system that ignores case, `Acme` and `acme` share a folder; there the packages say whose they
/// are.
fn of_folder(segments: Vec<Vec<RowItem>>) -> PlaceRow {
    let is = |segment: &[RowItem], text: &str| segment.iter().copied().eq(text.chars().map(RowItem::Character));
    let is_rooted = segments.len() > 1 && segments.first().is_some_and(Vec::is_empty);
    let mut kept: Vec<Vec<RowItem>> = Vec::new();
    for segment in segments {
        match kept.last() {
            _ if segment.is_empty() || is(&segment, ".") => {}
            Some(last) if is(&segment, "..") && !is(last, "..") => {
                kept.pop();
            }
            None if is(&segment, "..") && is_rooted => {}
            _ => kept.push(segment),
        }
    }
    if is_rooted {
        kept.insert(0, Vec::new());
    }
    PlaceRow { is_of_registry: false, segments: kept }
}

impl PartRange {
    /// Whether it may be several texts.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }
}
