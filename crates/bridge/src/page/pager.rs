//! Lists in parts.

use maud::{Markup, html};

/// A part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListPart {
    /// Which part, from 1.
    number: usize,
    /// How many entries a part has.
    size: usize,
    /// How many entries the list has.
    pub(super) all: usize,
}

impl ListPart {
    /// The part with this number, or the nearest one that exists; a list without entries has one part.
    pub(super) fn new(number: usize, size: usize, all: usize) -> Self {
        Self { number: number.clamp(1, all.div_ceil(size).max(1)), size, all }
    }

    pub(super) fn of<T>(self, entries: &[T]) -> &[T] {
        let start = (self.number - 1) * self.size;
        &entries[start..(start + self.size).min(self.all)]
    }

    fn last(self) -> usize {
        self.all.div_ceil(self.size)
    }
}

/// The links to the parts beside this one; nothing if it is the only one.
pub(super) fn pager(part: &ListPart, link: impl Fn(usize) -> String) -> Markup {
    let number = part.number;
    html! {
        @if part.last() > 1 {
            nav.pager aria-label="Pages" {
                @if number > 1 { a rel="prev" href=(link(number - 1)) { "Previous" } }
                span { "Page " (number) " of " (part.last()) }
                @if number < part.last() { a rel="next" href=(link(number + 1)) { "Next" } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(number: usize, all: usize, want: &[usize]) {
        let entries: Vec<usize> = (1..=all).collect();
        assert_eq!(ListPart::new(number, 3, all).of(&entries), want);
    }

    #[test]
    fn every_number_names_a_part() {
        check(1, 7, &[1, 2, 3]);
        check(3, 7, &[7]);
        check(0, 7, &[1, 2, 3]);
        check(usize::MAX, 7, &[7]);
        check(2, 6, &[4, 5, 6]);
        check(1, 0, &[]);
    }
}
