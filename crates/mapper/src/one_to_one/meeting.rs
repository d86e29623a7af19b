//! Two addresses whose places are one text: found by reading the text as both at once.
//!
//! ```text
//! two rows --what is equal in all texts is left out--> what must be read --breadth first, both at once--> parts of two addresses
//! ```

use std::collections::{BTreeSet, HashMap, VecDeque};

use super::parts::{PartGrammar, PartRead, samples};
use super::regions::AddressRegion;
use super::rows::{PlaceRow, RowItem};
use crate::TemplateOf;

/// The addresses of a region, and their places.
pub(super) struct MappedRegion {
    pub(super) region: AddressRegion,
    pub(super) row: PlaceRow,
    /// The rule, and the number of its place.
    pub(super) from: (usize, usize),
}

/// What a search finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchEnd {
    /// No two addresses have one place.
    Nothing,
    /// Two addresses, which the caller has seen.
    Meeting,
    /// Texts that both could have, but no two addresses: it is not known.
    Unclear,
}

/// How often the search comes to one state, to try other texts there.
const VISITS: u8 = 4;

/// The most steps of one search.
const STEPS: usize = 50_000;

/// Looks for two addresses, one of each, with one place. `different` says that any two of them are different addresses;
/// otherwise they must differ in a part that the text has. `is_meeting` looks at the parts of two addresses.
pub(super) fn search(
    of: TemplateOf,
    (one, other): (&MappedRegion, &MappedRegion),
    different: bool,
    is_meeting: &dyn Fn(&[String], &[String]) -> bool,
) -> SearchEnd {
    let Some(rest) = Remaining::of(&one.row, &other.row) else { return SearchEnd::Nothing };
    let pair = RegionPair { of, one, other, rest: &rest };
    if rest.one.is_empty() && rest.other.is_empty() {
        let is_found = different && pair.try_texts(&[], is_meeting);
        return if is_found || !different {
            if is_found { SearchEnd::Meeting } else { SearchEnd::Nothing }
        } else {
            SearchEnd::Unclear
        };
    }
    pair.read(different, is_meeting)
}

/// What is left of two rows without what is equal in both whatever the text is.
struct Remaining {
    one: Vec<RowItem>,
    other: Vec<RowItem>,
    /// The parts that both addresses have in common then.
    shared: BTreeSet<usize>,
}

impl Remaining {
    /// `None` if the texts are never equal.
    fn of(one: &PlaceRow, other: &PlaceRow) -> Option<Self> {
        if one.is_of_registry != other.is_of_registry || one.segments.len() != other.segments.len() {
            return None;
        }
        let mut pairs: Vec<(&[RowItem], &[RowItem])> =
            one.segments.iter().zip(&other.segments).map(|(one, other)| (one.as_slice(), other.as_slice())).collect();
        let mut shared = BTreeSet::new();
        loop {
            let before = shared.len();
            for (one, other) in &mut pairs {
                cut(one, other, &shared)?;
                if let ([RowItem::Part(part)], [RowItem::Part(same)]) = (*one, *other)
                    && part == same
                {
                    shared.insert(*part);
                    (*one, *other) = (&[], &[]);
                }
            }
            if shared.len() == before {
                break;
            }
        }
        let open: Vec<_> = pairs.into_iter().filter(|(one, _)| !one.is_empty()).collect();
        let joined = |side: Vec<&[RowItem]>| side.join(&RowItem::Character('/'));
        let (one, other) = open.into_iter().unzip();
        Some(Self { one: joined(one), other: joined(other), shared })
    }
}

/// Cuts off what is equal at both ends. `None` if the texts are never equal.
fn cut(one: &mut &[RowItem], other: &mut &[RowItem], shared: &BTreeSet<usize>) -> Option<()> {
    let is_same = |left: &RowItem, right: &RowItem| match (left, right) {
        (RowItem::Character(left), RowItem::Character(right)) => Some(left == right),
        (RowItem::Part(left), RowItem::Part(right)) if left == right && shared.contains(left) => Some(true),
        _ => None,
    };
    while let ([left, left_rest @ ..], [right, right_rest @ ..]) = (*one, *other) {
        match is_same(left, right) {
            Some(true) => (*one, *other) = (left_rest, right_rest),
            Some(false) => return None,
            None => break,
        }
    }
    while let ([left_rest @ .., left], [right_rest @ .., right]) = (*one, *other) {
        match is_same(left, right) {
            Some(true) => (*one, *other) = (left_rest, right_rest),
            Some(false) => return None,
            None => break,
        }
    }
    // No part is empty.
    (one.is_empty() == other.is_empty()).then_some(())
}

/// Two regions, and what their texts must have in common.
struct RegionPair<'a> {
    of: TemplateOf,
    one: &'a MappedRegion,
    other: &'a MappedRegion,
    rest: &'a Remaining,
}

/// Where one reading is: the next item, and how far it has been read.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ReadAt {
    item: usize,
    read: Option<PartRead>,
}

/// What a reading did with a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadStep {
    Character,
    Within(usize),
    EndOf(usize),
}

/// A character of the text, and where both readings are after it.
struct ReadNode {
    before: Option<usize>,
    character: char,
    at: [ReadAt; 2],
    is_apart: bool,
}

impl RegionPair<'_> {
    /// Reads breadth first, so that the shortest text is found.
    fn read(&self, different: bool, is_meeting: &dyn Fn(&[String], &[String]) -> bool) -> SearchEnd {
        let rows = [self.rest.one.as_slice(), self.rest.other.as_slice()];
        let grammars = [self.one, self.other].map(|side| self.grammars(side));
        let (alphabet, fresh) = self.alphabet(&grammars);
        let start = ReadAt { item: 0, read: None };
        let mut nodes = vec![ReadNode { before: None, character: ' ', at: [start; 2], is_apart: false }];
        let mut visits: HashMap<([ReadAt; 2], bool), u8> = HashMap::new();
        let mut queue = VecDeque::from([0]);
        let mut was_spoiled = false;
        while let Some(number) = queue.pop_front() {
            let (at, was_apart) = (nodes[number].at, nodes[number].is_apart);
            for &character in &alphabet {
                let one = after(rows[0], &grammars[0], at[0], character);
                let other = after(rows[1], &grammars[1], at[1], character);
                for ((one, did_one), (other, did_other)) in
                    one.iter().flatten().flat_map(|one| other.iter().flatten().map(move |other| (*one, *other)))
                {
                    let is_apart = was_apart || did_one != did_other;
                    let visited = visits.entry(([one, other], is_apart)).or_default();
                    if *visited == VISITS {
                        continue;
                    }
                    *visited += 1;
                    if nodes.len() == STEPS {
                        return SearchEnd::Unclear;
                    }
                    nodes.push(ReadNode { before: Some(number), character, at: [one, other], is_apart });
                    let node = nodes.len() - 1;
                    if one.item < rows[0].len() || other.item < rows[1].len() {
                        queue.push_back(node);
                    } else if different || is_apart {
                        let path = path(&nodes, node);
                        if self.try_texts(&with_letters(&path, &fresh), is_meeting) || self.try_texts(&path, is_meeting)
                        {
                            return SearchEnd::Meeting;
                        }
                        was_spoiled = true;
                    }
                }
            }
        }
        if was_spoiled { SearchEnd::Unclear } else { SearchEnd::Nothing }
    }

    fn grammars(&self, side: &MappedRegion) -> Vec<Option<PartGrammar>> {
        (0..side.region.parts.len()).map(|part| side.region.grammar(self.of, part)).collect()
    }

    /// The characters that can matter, and letters of which one stands for all of them.
    fn alphabet(&self, grammars: &[Vec<Option<PartGrammar>>; 2]) -> (Vec<char>, Vec<char>) {
        let items = self.rest.one.iter().chain(&self.rest.other);
        let mut used: BTreeSet<char> = items
            .filter_map(|item| match item {
                RowItem::Character(character) => Some(*character),
                RowItem::Part(_) => None,
            })
            .collect();
        used.extend(grammars.iter().flatten().flatten().flat_map(PartGrammar::letters));
        let fresh: Vec<char> = ('a'..='z').filter(|letter| !used.contains(letter)).collect();
        used.extend(fresh.first().copied().into_iter().chain("-._:5".chars()));
        if !self.one.row.is_of_registry {
            used.insert('A');
        }
        // Letters first: what is found is for people.
        let (letters, others): (Vec<char>, Vec<char>) = used.into_iter().partition(char::is_ascii_lowercase);
        (letters.into_iter().chain(others).collect(), fresh)
    }

    /// Whether the parts that both readings of a text found are those of two addresses with one place.
    fn try_texts(&self, path: &[(char, [usize; 2])], is_meeting: &dyn Fn(&[String], &[String]) -> bool) -> bool {
        let sides = [(self.one, &self.rest.one, 0), (self.other, &self.rest.other, 1)];
        let [Some(mut one), Some(mut other)] = sides.map(|(side, items, nth)| parts_read(side, items, path, nth))
        else {
            return false;
        };
        for (part, (left, right)) in one.iter_mut().zip(&mut other).enumerate() {
            let allows = |side: &MappedRegion, text: &String| side.region.allows(self.of, part, text);
            let symbol = self.of.symbols()[part];
            if self.rest.shared.contains(&part) {
                let text = left.clone().or_else(|| right.clone()).or_else(|| {
                    samples(symbol).take(1000).find(|text| allows(self.one, text) && allows(self.other, text))
                });
                (*left, *right) = (text.clone(), text);
                continue;
            }
            // What no text has is chosen so that the addresses differ.
            let own = |side: &MappedRegion, unlike: Option<&String>| match side.region.fixed(self.of, symbol) {
                Some(fixed) => Some(fixed.to_owned()),
                None => samples(symbol).take(1000).find(|text| allows(side, text) && Some(text) != unlike),
            };
            if left.is_none() {
                *left = own(
                    self.one,
                    right.as_ref().or(self.other.region.fixed(self.of, symbol).map(str::to_owned).as_ref()),
                );
            }
            if right.is_none() {
                *right = own(self.other, left.as_ref());
            }
        }
        let whole = |parts: Vec<Option<String>>| parts.into_iter().collect::<Option<Vec<String>>>();
        matches!((whole(one), whole(other)), (Some(one), Some(other)) if is_meeting(&one, &other))
    }
}

/// Where a reading can be after one more character, and what it did.
fn after(
    row: &[RowItem],
    grammars: &[Option<PartGrammar>],
    at: ReadAt,
    character: char,
) -> [Option<(ReadAt, ReadStep)>; 2] {
    let next = ReadAt { item: at.item + 1, read: None };
    match row.get(at.item) {
        Some(RowItem::Character(own)) if *own == character => [Some((next, ReadStep::Character)), None],
        Some(RowItem::Part(part)) => {
            let Some(grammar) = &grammars[*part] else { return [None, None] };
            let Some(read) = grammar.read(at.read, character) else { return [None, None] };
            let end = grammar.can_end(read).then_some((next, ReadStep::EndOf(*part)));
            [Some((ReadAt { item: at.item, read: Some(read) }, ReadStep::Within(*part))), end]
        }
        _ => [None, None],
    }
}

/// The characters to a node, each with the items that it belongs to.
fn path(nodes: &[ReadNode], end: usize) -> Vec<(char, [usize; 2])> {
    let mut path = Vec::new();
    let mut node = &nodes[end];
    while let Some(before) = node.before {
        path.push((node.character, nodes[before].at.map(|at| at.item)));
        node = &nodes[before];
    }
    path.reverse();
    path
}

/// The same text with a letter of its own wherever any letter will do.
fn with_letters(path: &[(char, [usize; 2])], fresh: &[char]) -> Vec<(char, [usize; 2])> {
    let mut letters = fresh.iter().cycle();
    let own = |(character, items): &(char, [usize; 2])| match fresh.first() {
        Some(any) if any == character => (*letters.next().unwrap_or(any), *items),
        _ => (*character, *items),
    };
    path.iter().map(own).collect()
}

/// The parts that one reading found; `None` if a part that stands there twice is not the same text.
fn parts_read(
    side: &MappedRegion,
    items: &[RowItem],
    path: &[(char, [usize; 2])],
    nth: usize,
) -> Option<Vec<Option<String>>> {
    let mut parts: Vec<Option<String>> = vec![None; side.region.parts.len()];
    for (number, item) in items.iter().enumerate() {
        let RowItem::Part(part) = item else { continue };
        let text: String =
            path.iter().filter(|(_, items)| items[nth] == number).map(|(character, _)| character).collect();
        if parts[*part].as_ref().is_some_and(|known| *known != text) {
            return None;
        }
        parts[*part] = Some(text);
    }
    Some(parts)
}
