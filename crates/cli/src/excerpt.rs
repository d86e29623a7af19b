//! Lines of a file with a place in them underlined.

use std::ops::Range;

use tofu_oci_mapper::config::{CliConfigProblem, CliConfigReading, Effect, MASK, secrets_in_line};
use tofu_oci_types::{TextPosition, is_unprintable, printable};
use unicode_width::UnicodeWidthChar as _;

/// How many columns of a source line are shown.
const WIDTH: usize = 100;

/// The place of a problem with its line, what to write instead, and what `OpenTofu` does.
pub(crate) fn of_problem(reading: &CliConfigReading, problem: &CliConfigProblem) -> String {
    let mut out = String::new();
    if let Some(file) = problem.file.and_then(|file| reading.files.get(file)) {
        let path = file.path.display().to_string();
        match &problem.span {
            Some(span) => out.push_str(&excerpt(&path, &file.text, span)),
            None => out.push_str(&format!("  --> {}\n", printable(&path))),
        }
    }
    if let Some(instead) = &problem.instead {
        out.push_str(&format!("  = instead: {}\n", printable(instead)));
    }
    let nothing_left = reading.config.installation.as_ref().is_some_and(|block| block.methods.is_empty());
    let others = match problem.effect {
        Effect::MethodDropped if nothing_left => "; no other is left, so that no provider can be installed",
        Effect::MethodDropped => "; the others serve",
        _ => "",
    };
    out.push_str(&format!("  = OpenTofu {}: {}{others}\n", reading.release, problem.consequence()));
    out
}

/// The line of a place, with the place underlined and secrets masked. Tabs are one space wide, and a long line is cut
/// around the place: `--> PATH:LINE:COLUMN` and three more lines.
pub(crate) fn excerpt(path: &str, text: &str, span: &Range<usize>) -> String {
    of_span(path, text, span, |_| true)
}

/// The same with all of the place shown: the caller knows that it holds no secret.
pub(crate) fn excerpt_in_full(path: &str, text: &str, span: &Range<usize>) -> String {
    of_span(path, text, span, |secret| secret.end <= span.start || secret.start >= span.end)
}

fn of_span(path: &str, text: &str, span: &Range<usize>, is_masked: impl Fn(&Range<usize>) -> bool) -> String {
    let start = text.floor_char_boundary(span.start);
    let from = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    let to = text.get(start..).and_then(|rest| rest.find('\n')).map_or(text.len(), |length| start + length);
    let end = text.floor_char_boundary(span.end).clamp(start, to);
    let place = TextPosition::of(text, start);
    let line = text.get(from..to).unwrap_or_default().trim_end_matches('\r');
    let (mut cells, mut secrets) = (cells(line), secrets_in_line(text, from..from + line.len()));
    secrets.retain(is_masked);
    let (mut first, mut last) = (start - from, end - from);
    // From the back, so that the places before a secret stay right.
    for secret in secrets.into_iter().rev() {
        let secret = secret.start - from..secret.end - from;
        cells.retain(|cell| !secret.contains(&cell.at) || cell.at == secret.start);
        if let Some(cell) = cells.iter_mut().find(|cell| cell.at == secret.start) {
            *cell = Cell { at: secret.start, shown: MASK.to_owned(), width: 3 };
        }
        // A place inside a secret is the secret.
        if secret.contains(&first) {
            first = secret.start;
        }
        if secret.contains(&last) {
            last = secret.end;
        }
    }
    let column = |offset: usize| -> usize { cells.iter().filter(|cell| cell.at < offset).map(|cell| cell.width).sum() };
    let (left, right) = (column(first), column(last).max(column(first) + 1));
    let (shown, cut) = window(&cells, left);
    let total: usize = shown.iter().map(|cell| cell.width).sum();
    let left = left - cut + usize::from(cut > 0);
    let carets = (right - cut + usize::from(cut > 0)).min(total).max(left + 1) - left;
    let number = place.line.to_string();
    let margin = " ".repeat(number.len());
    let source: String = shown.iter().map(|cell| cell.shown.as_str()).collect();
    format!(
        "{margin} --> {}:{place}\n{margin} |\n{number} | {}\n{margin} | {}{}\n",
        printable(path),
        source.trim_end(),
        " ".repeat(left),
        "^".repeat(carets)
    )
}

/// A character as it is shown.
#[derive(Clone)]
struct Cell {
    at: usize,
    shown: String,
    width: usize,
}

fn cells(line: &str) -> Vec<Cell> {
    line.char_indices()
        .map(|(at, character)| match character {
            '\t' => Cell { at, shown: " ".to_owned(), width: 1 },
            character if is_unprintable(character) => Cell { at, shown: "\u{fffd}".to_owned(), width: 1 },
            character => Cell { at, shown: character.to_string(), width: character.width().unwrap_or(0) },
        })
        .collect()
}

/// The part of a long line around a column, and how many columns were cut off before it. An ellipsis marks each cut.
fn window(cells: &[Cell], column: usize) -> (Vec<Cell>, usize) {
    let total: usize = cells.iter().map(|cell| cell.width).sum();
    if total <= WIDTH {
        return (cells.to_vec(), 0);
    }
    let start = column.saturating_sub(WIDTH / 3).min(total - WIDTH);
    let ellipsis = Cell { at: 0, shown: "…".to_owned(), width: 1 };
    let (mut at, mut cut, mut shown) = (0, 0, Vec::new());
    let mut more = false;
    for cell in cells {
        if at < start {
            cut = at + cell.width;
        } else if at + cell.width <= start + WIDTH {
            shown.push(cell.clone());
        } else {
            more = true;
        }
        at += cell.width;
    }
    if cut > 0 {
        shown.insert(0, ellipsis.clone());
    }
    if more {
        shown.push(ellipsis);
    }
    (shown, cut)
}

#[cfg(test)]
mod tests;
