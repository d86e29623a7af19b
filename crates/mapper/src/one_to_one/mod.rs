//! Whether two addresses get one repository or folder by the user's rules.
//!
//! ```text
//! patterns --regions--> addresses that every rule treats as one --PlaceRow--> the texts of their places
//! two of these --search--> two addresses with one place, or none
//! ```
//!
//! What is found is tried with the rules themselves, so a pair that is named does meet.

mod kinds;
mod meeting;
mod parts;
mod regions;
mod rows;
#[cfg(test)]
mod tests;

use tofu_oci_fault::Fault;
use tofu_oci_types::{Hostname, Place, Predecessors};

pub use self::kinds::provider_and_module_in_one_place;
use self::meeting::{MappedRegion, SearchEnd, search};
use self::parts::PartRange;
use self::regions::AddressRegion;
use self::rows::{ComputedPlace, PlaceRow};
#[cfg(test)]
use crate::TemplatePlace;
use crate::{Symbol, TemplateAddress, TemplateOf, TemplateRepositories};

/// A rule that sends addresses to places.
pub struct AddressRule<'a, A: TemplateAddress> {
    /// Those of include and of exclude.
    patterns: Vec<&'a A::Pattern>,
    /// Where the addresses go.
    places: Vec<TemplateRepositories<A>>,
}

impl<'a, A: TemplateAddress> AddressRule<'a, A> {
    /// A rule for the addresses of `include` without those of `exclude`.
    pub fn new(
        include: &'a [A::Pattern],
        exclude: &'a [A::Pattern],
        places: impl IntoIterator<Item = TemplateRepositories<A>>,
    ) -> Self {
        Self { patterns: include.iter().chain(exclude).collect(), places: places.into_iter().collect() }
    }
}

/// Why rules may not be used together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum NotOneToOne {
    /// two providers, two modules, or a provider and a module would have one repository; the message names them
    #[error("{} two {}s to one {}: {first} and {second} both get {place}", sends(templates), of.noun(), kind(place))]
    #[fault(
        "same-place",
        todo = "write `/` between the symbols of the template, mention those that the patterns \
            leave open, write a rule for each namespace, or give modules a path of their own"
    )]
    Meeting {
        first: String,
        second: String,
        place: Place,
        /// The rules of both, each with the number of its place; the first one is not after the second.
        rules: [(usize, usize); 2],
        templates: [String; 2],
        /// What would make the template tell the two apart.
        remedy: String,
        of: TemplateOf,
    },
    /// a template computes with a part of the address, or has one several times, so that it is not known that each
    /// address gets a repository of its own
    #[error("`{template}` computes with the parts of an address, so it is not known that each {} gets a place of its own", of.noun())]
    #[fault(
        "computed-place",
        todo = "write text and symbols alone, in a rule for each case; comparisons with a text, \
            such as `namespace == \"acme\"`, are judged"
    )]
    Computed { rule: (usize, usize), template: String, of: TemplateOf },
    #[error("tofu-oci cannot tell whether {} two {}s to one place", sends(templates), of.noun())]
    #[fault(code = "computed-place")]
    Unclear {
        /// The rule, and the number of its place; of two, the later one.
        rule: (usize, usize),
        /// The templates of the places that could be one.
        templates: [String; 2],
        of: TemplateOf,
    },
}

fn sends([first, second]: &[String; 2]) -> String {
    if first == second { format!("`{first}` sends") } else { format!("`{first}` and `{second}` send") }
}

fn kind(place: &Place) -> &'static str {
    if place.repository().is_some() { "repository" } else { "folder" }
}

impl NotOneToOne {
    /// The rule that is at fault, and the number of its place; of two, the later one.
    pub fn rule(&self) -> (usize, usize) {
        match self {
            Self::Meeting { rules: [_, rule], .. } | Self::Computed { rule, .. } | Self::Unclear { rule, .. } => *rule,
        }
    }

    /// What to write instead, as the beginning of a sentence.
    pub fn instead(&self) -> String {
        match self {
            Self::Meeting { remedy, .. } => remedy.clone(),
            Self::Computed { of, .. } => {
                format!("write a template of text and symbols alone, such as {}, in a rule for each case", of.example())
            }
            Self::Unclear { of, .. } => {
                format!("write each symbol once, with / between the symbols, such as {}", of.example())
            }
        }
    }
}

/// Refuses rules by which two addresses get one place. `counts` says whether the rule of this number counts for an address.
///
/// # Errors
/// Two addresses that would meet, or a template that cannot be judged.
pub fn check_one_to_one<A: TemplateAddress>(
    rules: &[AddressRule<'_, A>],
    counts: &dyn Fn(usize, &A) -> bool,
    predecessors: &Predecessors,
) -> Result<(), NotOneToOne> {
    let places: Vec<&[TemplateRepositories<A>]> = rules.iter().map(|rule| rule.places.as_slice()).collect();
    RuleSet { places, counts, predecessors }.check(regions_of(rules, counts, predecessors))
}

/// The regions of all addresses, each with the rules that count for it.
fn regions_of<A: TemplateAddress>(
    rules: &[AddressRule<'_, A>],
    counts: &dyn Fn(usize, &A) -> bool,
    predecessors: &Predecessors,
) -> Vec<(AddressRegion, usize)> {
    let patterns = rules.iter().flat_map(|rule| rule.patterns.iter().copied());
    let regions = regions::regions::<A>(patterns, &|one, other| are_one_host(predecessors, one, other));
    let of_rules = regions.iter().filter_map(|region| Some((region, address_of::<A>(&region.example(A::OF))?)));
    let of_rules = of_rules.flat_map(|(region, example)| {
        let numbers = (0..rules.len()).filter(move |number| counts(*number, &example));
        numbers.map(|number| (region.clone(), number))
    });
    of_rules.collect()
}

/// The same for one template without patterns. It must tell apart whatever it mentions; addresses that differ elsewhere are for
/// the caller to compare.
///
/// # Errors
/// As [`check_one_to_one`].
pub fn check_mentioned<A: TemplateAddress>(repositories: &TemplateRepositories<A>) -> Result<(), NotOneToOne> {
    let mentioned = repositories.template().symbols();
    let part = |symbol: &Symbol| {
        if mentioned.contains(symbol) {
            PartRange::Open(Vec::new())
        } else {
            PartRange::Fixed(symbol.sample().to_owned())
        }
    };
    let region = AddressRegion { parts: A::OF.symbols().iter().map(part).collect() };
    let places = vec![std::slice::from_ref(repositories)];
    RuleSet { places, counts: &|_, _| true, predecessors: Predecessors::NONE }.check(vec![(region, 0)])
}

struct RuleSet<'a, A: TemplateAddress> {
    places: Vec<&'a [TemplateRepositories<A>]>,
    counts: &'a dyn Fn(usize, &A) -> bool,
    predecessors: &'a Predecessors,
}

impl<A: TemplateAddress> RuleSet<'_, A> {
    /// Two addresses that meet count before a template that cannot be judged.
    fn check(&self, regions: Vec<(AddressRegion, usize)>) -> Result<(), NotOneToOne> {
        let (mut mapped, mut unknown) = (Vec::new(), None);
        for (region, rule) in regions {
            for (number, repositories) in self.places[rule].iter().enumerate() {
                let from = (rule, number);
                match rows_of(repositories, &region) {
                    Ok(rows) => mapped.extend(rows.into_iter().map(|(region, row)| MappedRegion { region, row, from })),
                    Err(ComputedPlace) => {
                        unknown.get_or_insert_with(|| self.computed(from));
                    }
                }
            }
        }
        mapped.sort_by_key(|mapped| mapped.from);
        for (number, other) in mapped.iter().enumerate() {
            for one in &mapped[..=number] {
                match self.check_pair(one, other) {
                    Err(meeting @ NotOneToOne::Meeting { .. }) => return Err(meeting),
                    Err(unclear) => {
                        unknown.get_or_insert(unclear);
                    }
                    Ok(()) => {}
                }
            }
        }
        unknown.map_or(Ok(()), Err)
    }

    fn check_pair(&self, one: &MappedRegion, other: &MappedRegion) -> Result<(), NotOneToOne> {
        let meeting = std::cell::RefCell::new(None);
        let is_meeting = |first: &[String], second: &[String]| {
            let found = self.meeting((one, first), (other, second));
            let is_found = found.is_some();
            *meeting.borrow_mut() = found;
            is_found
        };
        match search(A::OF, (one, other), self.differ(one, other), &is_meeting) {
            SearchEnd::Nothing => Ok(()),
            SearchEnd::Meeting => meeting.into_inner().map_or(Ok(()), Err),
            SearchEnd::Unclear => {
                let templates = self.templates([one, other]).map(ToString::to_string);
                Err(NotOneToOne::Unclear { rule: other.from, templates, of: A::OF })
            }
        }
    }

    /// Whether any address of one region is another one than any of the other, or can be chosen so without a change of its place.
    fn differ(&self, one: &MappedRegion, other: &MappedRegion) -> bool {
        let is_free = |side: &MappedRegion, part: usize| side.region.parts[part].is_open() && !side.row.mentions(part);
        (0..A::OF.symbols().len()).any(|part| match (&one.region.parts[part], &other.region.parts[part]) {
            (PartRange::Fixed(left), PartRange::Fixed(right)) => {
                let is_host = A::OF.symbols()[part] == Symbol::Hostname;
                left != right && !(is_host && are_one_host(self.predecessors, left, right))
            }
            _ => is_free(one, part) || is_free(other, part),
        })
    }

    /// What the two addresses are an example of, if they are two and have one place by these rules.
    fn meeting(
        &self,
        (one, first): (&MappedRegion, &[String]),
        (other, second): (&MappedRegion, &[String]),
    ) -> Option<NotOneToOne> {
        let (first, second) = (address_of::<A>(first)?, address_of::<A>(second)?);
        if first.is_same(&second, self.predecessors) {
            return None;
        }
        let place = |address: &A, mapped: &MappedRegion| {
            let (rule, number) = mapped.from;
            let counts = (self.counts)(rule, address);
            let place = self.places[rule][number].place(address).ok().filter(|_| counts);
            place.map(Place::from)
        };
        let (place, same) = (place(&first, one)?, place(&second, other)?);
        if place != same {
            return None;
        }
        let repositories = self.templates([one, other]);
        let remedy = remedy(repositories, &first, &second);
        Some(NotOneToOne::Meeting {
            first: first.to_string(),
            second: second.to_string(),
            place,
            rules: [one.from, other.from],
            templates: repositories.map(ToString::to_string),
            remedy,
            of: A::OF,
        })
    }

    fn templates(&self, of: [&MappedRegion; 2]) -> [&TemplateRepositories<A>; 2] {
        of.map(|mapped| &self.places[mapped.from.0][mapped.from.1])
    }

    fn computed(&self, rule: (usize, usize)) -> NotOneToOne {
        NotOneToOne::Computed { rule, template: self.places[rule.0][rule.1].to_string(), of: A::OF }
    }
}

/// Whether two hosts' addresses count as one.
fn are_one_host(predecessors: &Predecessors, one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(Hostname::with_punycode);
    matches!((one, other), (Ok(one), Ok(other)) if predecessors.same(&one, &other))
}

/// The addresses of a region with their places, as many regions as conditions make of it.
fn rows_of<A: TemplateAddress>(
    repositories: &TemplateRepositories<A>,
    region: &AddressRegion,
) -> Result<Vec<(AddressRegion, PlaceRow)>, ComputedPlace> {
    let cases = repositories.template().cases();
    let mut rows = Vec::new();
    for region in region.split(A::OF, &cases).ok_or(ComputedPlace)? {
        match PlaceRow::of(repositories, &region) {
            Ok(row) => rows.extend(row.map(|row| (region, row))),
            Err(computed) if region.is_open() => return Err(computed),
            Err(_) => {}
        }
    }
    Ok(rows)
}

/// The address with these parts, if it is one and has them as they are.
fn address_of<A: TemplateAddress>(parts: &[String]) -> Option<A> {
    let written: Vec<String> = A::OF
        .symbols()
        .iter()
        .zip(parts)
        .map(|(symbol, part)| match symbol {
            // Punycode is for the wire; addresses are written in Unicode.
            Symbol::Hostname => Hostname::with_punycode(part).map_or_else(|_| part.clone(), |host| host.display()),
            _ => part.clone(),
        })
        .collect();
    let address: A = written.join("/").parse().ok()?;
    A::OF.symbols().iter().zip(parts).all(|(symbol, part)| address.part(*symbol) == part).then_some(address)
}

/// What to write so that the two addresses get places of their own.
fn remedy<A: TemplateAddress>(repositories: [&TemplateRepositories<A>; 2], first: &A, second: &A) -> String {
    let [one, other] = repositories;
    let differing: Vec<Symbol> =
        A::OF.symbols().iter().copied().filter(|symbol| first.part(*symbol) != second.part(*symbol)).collect();
    let hosts =
        if differing == [Symbol::Hostname] { "; or name the hosts with --predecessor if they are one" } else { "" };
    if one != other {
        let example = A::OF.example();
        return format!("give each rule a path of its own, and write / between the symbols, as in {example}{hosts}");
    }
    let mentioned = one.template().symbols();
    if let Some(symbol) = differing.iter().find(|symbol| !mentioned.contains(symbol)) {
        let name = symbol.name();
        // A pattern that names the system names all parts.
        let or = match symbol {
            Symbol::TargetSystem => "name each module in `include`, as HOST/NAMESPACE/NAME/SYSTEM".to_owned(),
            _ => format!("let `include` name exactly one {name}"),
        };
        return format!("write ${{{name}}} somewhere in it, or {or}{hosts}");
    }
    let parted = parted(one).unwrap_or_else(|| A::OF.example().to_owned());
    format!("write / between the symbols, as in {parted}; or a rule for each namespace")
}

/// The same with `/` between the symbols, if that is one to one over what it mentions.
fn parted<A: TemplateAddress>(repositories: &TemplateRepositories<A>) -> Option<String> {
    let kind = match repositories {
        TemplateRepositories::Registry(_) => "",
        TemplateRepositories::Layouts(_) => "oci:",
    };
    let text = format!("{kind}{}", repositories.template().parted()?);
    let parted: TemplateRepositories<A> = text.parse().ok().filter(|parted| parted != repositories)?;
    check_mentioned(&parted).is_ok().then_some(text)
}
