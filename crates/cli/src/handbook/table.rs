//! Tables beside each other in columns, or below each other if the columns would be too narrow.

use anstyle::Style;

use super::words::{Word, columns, words, wrapped};
use crate::page::{Line, Page};

/// The blanks between two columns.
const GAP: usize = 2;

/// The most lines that a row may take in columns.
const HIGHEST: usize = 6;

/// The rows in columns if they are readable so, else one cell below the other.
pub(super) fn page(rows: &[Vec<&str>], width: usize) -> Page {
    let Some((head, body)) = rows.split_first() else { return Page::default() };
    let parsed: Vec<Vec<Vec<Word>>> = rows
        .iter()
        .enumerate()
        .map(|(nth, row)| {
            row.iter()
                .map(|cell| words(&bare(cell), if nth == 0 { Style::new().bold() } else { Style::new() }))
                .collect()
        })
        .collect();
    let Some(widths) = widths(&parsed, width) else { return below(head, body, width) };
    let mut page = Page::default();
    for (nth, row) in parsed.iter().enumerate() {
        let cells: Vec<Vec<Line>> = row.iter().zip(&widths).map(|(cell, width)| wrapped(cell, *width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or_default();
        if height > HIGHEST {
            return below(head, body, width);
        }
        for line in 0..height {
            page.push(row_line(&cells, &widths, line).trimmed());
        }
        if nth == 0 {
            let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            page.line(rules.join(&" ".repeat(GAP)));
        }
    }
    page
}

/// The text of a cell. One that is a name is without its backticks: the column sets it apart.
fn bare(cell: &str) -> String {
    let name = cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`')).filter(|cell| !cell.contains('`'));
    name.unwrap_or(cell).replace("\\|", "|")
}

/// One line across all cells.
fn row_line(cells: &[Vec<Line>], widths: &[usize], nth: usize) -> Line {
    let mut line = Line::default();
    let mut due = 0;
    for (cell, width) in cells.iter().zip(widths) {
        if let Some(part) = cell.get(nth) {
            let gap = due - line.width();
            line = line.plain(" ".repeat(gap)).joined(part);
        }
        due += width + GAP;
    }
    line
}

/// The width of each column; `None` if the longest words need more than there is.
fn widths(rows: &[Vec<Vec<Word>>], width: usize) -> Option<Vec<usize>> {
    let count = rows.iter().map(Vec::len).max()?;
    let most = |measure: &dyn Fn(&[Word]) -> usize| -> Vec<usize> {
        (0..count)
            .map(|nth| rows.iter().filter_map(|row| row.get(nth)).map(|cell| measure(cell)).max().unwrap_or(0))
            .collect()
    };
    let natural = most(&|cell| cell.iter().map(|word| columns(word) + 1).sum::<usize>().saturating_sub(1));
    let room = width.checked_sub(GAP * (count - 1))?;
    if natural.iter().sum::<usize>() <= room {
        return Some(natural);
    }
    let least = most(&|cell| cell.iter().map(columns).max().unwrap_or(0));
    let mut left = room.checked_sub(least.iter().sum())?;
    // Narrow columns get what they want first; the others share the rest.
    let mut widths = least;
    let mut wanting: Vec<usize> = (0..count).filter(|nth| natural[*nth] > widths[*nth]).collect();
    wanting.sort_by_key(|nth| natural[*nth] - widths[*nth]);
    while !wanting.is_empty() {
        let nth = wanting[0];
        let fair = left / wanting.len();
        let more = (natural[nth] - widths[nth]).min(fair);
        widths[nth] += more;
        left -= more;
        wanting.remove(0);
    }
    Some(widths)
}

/// Each row as its first cell, with the others and the names of their columns below it.
fn below(head: &[&str], rows: &[Vec<&str>], width: usize) -> Page {
    let mut page = Page::default();
    for (nth, row) in rows.iter().enumerate() {
        if nth > 0 {
            page.gap();
        }
        let Some((first, others)) = row.split_first() else { continue };
        for line in wrapped(&words(&bare(first), Style::new().bold()), width) {
            page.push(line);
        }
        for (cell, name) in others.iter().zip(&head[1..]).filter(|(cell, _)| !cell.is_empty()) {
            let cell = cell.replace("\\|", "|");
            let text = if name.is_empty() { cell } else { format!("{name}: {cell}") };
            for (nth, line) in wrapped(&words(&text, Style::new()), width - 4).into_iter().enumerate() {
                page.push(line.after(if nth == 0 { "  " } else { "    " }));
            }
        }
    }
    page
}
