//! The texts that a part of an address can be, read character by character.

use std::collections::BTreeMap;

use crate::Symbol;

/// Which texts a part of an address may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PartRange {
    Fixed(String),
    /// Any that its grammar allows, except these.
    Open(Vec<String>),
}

/// How far the text of a part has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PartRead {
    /// Where the grammar is; 0 before the first character.
    at: u8,
    /// The node of the excluded texts; `None` if what was read begins none of them.
    excluded: Option<u16>,
}

/// The grammar of a part without the excluded texts.
///
/// Letters outside ASCII are taken for small ones. It may allow a text that no address has, never the other way
/// round, except hosts that have punycode.
pub(super) struct PartGrammar {
    symbol: Symbol,
    is_of_module: bool,
    excluded: Vec<ExcludedNode>,
}

#[derive(Default)]
struct ExcludedNode {
    next: BTreeMap<char, u16>,
    end: ExcludedEnd,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ExcludedEnd {
    #[default]
    None,
    /// The text to here is excluded.
    Whole,
    /// Every text that begins so.
    Beginning,
}

const START: PartRead = PartRead { at: 0, excluded: Some(0) };

impl PartGrammar {
    /// The grammar of this part of a provider or a module, without these texts.
    pub(super) fn new(symbol: Symbol, is_of_module: bool, excluded: &[String]) -> Self {
        let mut grammar = Self { symbol, is_of_module, excluded: vec![ExcludedNode::default()] };
        for text in excluded {
            grammar.exclude(text, ExcludedEnd::Whole);
        }
        if symbol == Symbol::Type {
            grammar.exclude("terraform-", ExcludedEnd::Beginning);
            grammar.exclude("opentofu-", ExcludedEnd::Beginning);
        }
        grammar
    }

    fn exclude(&mut self, text: &str, end: ExcludedEnd) {
        let mut node = 0;
        for character in text.chars() {
            let new = u16::try_from(self.excluded.len()).unwrap_or(u16::MAX);
            let next = *self.excluded[usize::from(node)].next.entry(character).or_insert(new);
            if next == new {
                self.excluded.push(ExcludedNode::default());
            }
            node = next;
        }
        self.excluded[usize::from(node)].end = end;
    }

    /// The characters that tell the excluded texts from others.
    pub(super) fn letters(&self) -> impl Iterator<Item = char> {
        self.excluded.iter().flat_map(|node| node.next.keys().copied())
    }

    /// After one more character; `None` if no such part goes on so. `None` as the beginning.
    pub(super) fn read(&self, so_far: Option<PartRead>, next: char) -> Option<PartRead> {
        let before = so_far.unwrap_or(START);
        let at = self.step(before.at, next)?;
        let node = before.excluded.and_then(|node| self.excluded[usize::from(node)].next.get(&next).copied());
        let is_dead = node.is_some_and(|node| self.excluded[usize::from(node)].end == ExcludedEnd::Beginning);
        (!is_dead).then_some(PartRead { at, excluded: node })
    }

    /// Whether a part can end here.
    pub(super) fn can_end(&self, read: PartRead) -> bool {
        let is_excluded = |node: u16| self.excluded[usize::from(node)].end != ExcludedEnd::None;
        self.is_end(read.at) && !read.excluded.is_some_and(is_excluded)
    }

    /// Whether the part can be this text.
    pub(super) fn allows(&self, text: &str) -> bool {
        let read = text.chars().try_fold(None, |read, next| self.read(read, next).map(Some));
        read.flatten().is_some_and(|read| self.can_end(read))
    }

    fn step(&self, at: u8, next: char) -> Option<u8> {
        let is_small = next.is_ascii_lowercase() || (!next.is_ascii() && next.is_alphanumeric());
        let is_digit = next.is_ascii_digit();
        match (self.symbol, self.is_of_module) {
            (Symbol::Hostname, _) => host_step(at, next),
            (Symbol::TargetSystem, _) => (is_digit || next.is_ascii_lowercase()).then_some(1),
            // 1 after a letter or digit, 2 after a dash or underscore.
            (_, true) => match (at, next) {
                _ if next.is_ascii_alphanumeric() => Some(1),
                (1 | 2, '-' | '_') => Some(2),
                _ => None,
            },
            // 3 after the one dash that is the namespace of old providers. An underscore of a namespace is a letter.
            (symbol, false) => match (at, next) {
                (0..=2, '_') if symbol == Symbol::Namespace => Some(1),
                (0..=2, _) if is_small || is_digit => Some(1),
                (1, '-') => Some(2),
                (0, '-') if symbol == Symbol::Namespace => Some(3),
                _ => None,
            },
        }
    }

    fn is_end(&self, at: u8) -> bool {
        match (self.symbol, self.is_of_module) {
            (Symbol::Hostname, true) => matches!(at, 12 | 15 | 41),
            (Symbol::Hostname, false) => matches!(at, 2 | 12 | 5 | 15 | 41),
            (_, _) => matches!(at, 1 | 3),
        }
    }
}

/// 1 in a label of digits, 2 in one with something else, 3 after its dash, 4 after the colon, 5 in the port; 10 more after a dot,
/// and 20, 30, 40 more in the later labels of what may become an IPv4 address.
fn host_step(at: u8, next: char) -> Option<u8> {
    let labels = at / 10 * 10;
    let named = labels.min(10);
    Some(match (at % 10, next) {
        (0 | 1, '0'..='9') => labels + 1,
        (0..=3, next) if next.is_ascii_lowercase() || next.is_ascii_digit() => named + 2,
        (1..=3, '-') => named + 3,
        (1, '.') if labels == 0 => 20,
        (1, '.') if matches!(labels, 20 | 30) => labels + 10,
        (1 | 2, '.') => 10,
        (1, ':') if labels == 40 => 14,
        (2, ':') => named + 4,
        (4, '1'..='9') | (5, '0'..='9') => labels + 5,
        _ => return None,
    })
}

/// Texts that the part of an address can be: first some that people know, and endlessly many.
pub(super) fn samples(symbol: Symbol) -> impl Iterator<Item = String> {
    let known: &[&str] = match symbol {
        Symbol::Hostname => &["registry.example.com", "other.example.com"],
        Symbol::Namespace => &["acme", "other"],
        Symbol::Type => &["zap", "widget"],
        Symbol::Name => &["network", "storage"],
        Symbol::TargetSystem => &["aws", "gcp"],
    };
    let known: Vec<String> = known.iter().map(|text| (*text).to_owned()).collect();
    let more = move |number: u32| match symbol {
        Symbol::Hostname => format!("x{number}.example.com"),
        _ => format!("x{number}"),
    };
    known.into_iter().chain((1..).map(more))
}

#[cfg(test)]
mod tests {
    use tofu_oci_types::{ModuleAddr, ProviderAddr};

    use super::*;
    use crate::TemplateAddress;

    /// Compares with the parsers of addresses: every text of these characters, up to a length.
    fn check<A: TemplateAddress>(symbol: Symbol, (longest, alphabet): (u8, &str), before: &str, after: &str) {
        let is_of_module = A::OF == crate::TemplateOf::Modules;
        let grammar = PartGrammar::new(symbol, is_of_module, &[]);
        let mut texts = vec![String::new()];
        for _ in 0..longest {
            texts = texts.iter().flat_map(|text| alphabet.chars().map(move |next| format!("{text}{next}"))).collect();
            for text in &texts {
                let parsed = format!("{before}{text}{after}").parse::<A>().ok();
                let is_part = parsed.is_some_and(|address| address.part(symbol) == text);
                assert_eq!(grammar.allows(text), is_part, "{symbol:?} {text}");
            }
        }
    }

    #[test]
    fn the_grammar_is_that_of_the_addresses() {
        check::<ProviderAddr>(Symbol::Namespace, (5, "a5-_A"), "", "/a");
        check::<ProviderAddr>(Symbol::Type, (5, "a5-_A"), "a/", "");
        check::<ModuleAddr>(Symbol::Namespace, (5, "a5-_A"), "", "/a/a");
        check::<ModuleAddr>(Symbol::Name, (5, "a5-_."), "a/", "/a");
        check::<ModuleAddr>(Symbol::TargetSystem, (5, "a5-_A"), "a/a/", "");
        check::<ProviderAddr>(Symbol::Hostname, (5, "a5.:"), "", "/a/a");
        check::<ModuleAddr>(Symbol::Hostname, (5, "a.-_"), "", "/a/a/a");
        check::<ProviderAddr>(Symbol::Hostname, (9, "1.:"), "", "/a/a");
        check::<ModuleAddr>(Symbol::Hostname, (8, "1."), "", "/a/a/a");
    }

    #[test]
    fn excluded_texts_and_prefixes_are_none() {
        let grammar = PartGrammar::new(Symbol::Type, false, &["ab".to_owned(), "abc".to_owned()]);
        for (text, want) in [
            ("a", true),
            ("ab", false),
            ("abc", false),
            ("abd", true),
            ("abcd", true),
            ("terraform", true),
            ("terraform-x", false),
            ("opentofu-", false),
            ("terraformx", true),
        ] {
            assert_eq!(grammar.allows(text), want, "{text}");
        }
    }
}
