//! A problem as the user sees it.

use std::ops::Range;

use tofu_oci_types::{is_unprintable, printable};

use super::{Effect, Problem, Reading, Severity, Stage, secrets};

/// How many columns of a source line are shown.
const WIDTH: usize = 100;

/// Plain text for people: what is wrong, where with the line underlined, what to write instead, what `OpenTofu` does.
///
/// Tabs are shown as one space and wide characters count twice, so that the carets stand right; a long line is cut
/// around the place. The values of arguments that hold secrets are masked.
pub fn render_problem(reading: &Reading, problem: &Problem) -> String {
    let word = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut out = format!("{word}: {} ({})\n", clean(&problem.message), problem.code);
    if let Some(file) = problem.file.and_then(|file| reading.files.get(file)) {
        match &problem.span {
            Some(span) => out.push_str(&excerpt(&file.path.display().to_string(), &file.text, span)),
            None => out.push_str(&format!("  --> {}\n", clean(&file.path.display().to_string()))),
        }
    }
    if let Some(instead) = &problem.instead {
        out.push_str(&format!("  = instead: {}\n", clean(instead)));
    }
    let nothing_left = reading.config.installation.as_ref().is_some_and(|block| block.methods.is_empty());
    let effect = effect(problem);
    let effect = if nothing_left { effect.replace(OTHERS, NO_OTHERS) } else { effect };
    out.push_str(&format!("  = OpenTofu {}: {effect}\n", reading.release));
    out
}

/// What is said of a method that is dropped, and where none is left.
const OTHERS: &str = "; the others serve";
const NO_OTHERS: &str = "; no other is left, so that no provider can be installed";

/// What `OpenTofu` says and does about a problem, as the end of a sentence.
pub(crate) fn effect(problem: &Problem) -> String {
    if problem.ours && problem.effect == Effect::SilentlyIgnored {
        return "says nothing, and ignores it".to_owned();
    }
    let what = match problem.effect {
        Effect::FileDropped => "goes on without this file",
        Effect::BlockIgnored => "goes on without this block",
        Effect::MethodDropped => "goes on without this method; the others serve",
        Effect::EntryIgnored => "goes on without this entry",
        Effect::KeptAnyway => "uses it all the same",
        Effect::FirstUsed => "uses the first one",
        Effect::Crash => "crashes",
        Effect::SilentlyIgnored => "ignores it",
    };
    let said = match (problem.severity, problem.stage, problem.reported) {
        _ if problem.ours => return what.to_owned(),
        (Severity::Warning, _, _) => "warns, and ".to_owned(),
        (Severity::Error, _, Some(line)) => format!("prints an error that names line {line}, and "),
        (Severity::Error, Stage::Load | Stage::Sources, None) => "prints an error that names no line, and ".to_owned(),
    };
    format!("{said}{what}")
}

/// The line of a place, with what is meant underlined and secrets masked: `--> PATH:LINE:COLUMN` and three more lines.
pub fn excerpt(path: &str, text: &str, span: &Range<usize>) -> String {
    let start = secrets::floor(text, span.start);
    let from = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    let to = text.get(start..).and_then(|rest| rest.find('\n')).map_or(text.len(), |length| start + length);
    let end = secrets::floor(text, span.end).clamp(start, to);
    let place = tofu_oci_hcl::position(text, start);
    let line = text.get(from..to).unwrap_or_default().trim_end_matches('\r');
    let (mut cells, secrets) = (cells(line), secrets::in_line(text, from..from + line.len()));
    let (mut first, mut last) = (start - from, end - from);
    // From the back, so that the places before a secret stay right.
    for secret in secrets.into_iter().rev() {
        let secret = secret.start - from..secret.end - from;
        cells.retain(|cell| !secret.contains(&cell.at) || cell.at == secret.start);
        if let Some(cell) = cells.iter_mut().find(|cell| cell.at == secret.start) {
            *cell = Cell { at: secret.start, shown: secrets::MASK.to_owned(), width: 3 };
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
        clean(path),
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
            character => Cell { at, shown: character.to_string(), width: width(character) },
        })
        .collect()
}

/// The part of a long line around a column, and how many columns were cut off before it. Where something is cut, an
/// ellipsis stands.
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

/// Columns that a character takes on a terminal.
fn width(character: char) -> usize {
    match u32::from(character) {
        0x300..=0x36f
        | 0x483..=0x489
        | 0x591..=0x5bd
        | 0x610..=0x61a
        | 0x64b..=0x65f
        | 0x1ab0..=0x1aff
        | 0x1dc0..=0x1dff
        | 0x20d0..=0x20ff
        | 0xfe00..=0xfe0f
        | 0xfe20..=0xfe2f => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0x33ff
        | 0x3400..=0x4dbf
        | 0x4e00..=0x9fff
        | 0xa000..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// A text whose characters change nothing around it.
pub(crate) fn clean(text: &str) -> String {
    printable(text).into_owned()
}
