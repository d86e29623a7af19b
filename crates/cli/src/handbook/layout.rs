//! Blocks become lines of a terminal.

use anstyle::Style;

use super::markdown::PageBlock;
use super::table;
use super::words::{words, wrapped};
use crate::page::{Line, Page};

/// The page, for lines of this many columns.
pub(super) fn page(blocks: &[PageBlock<'_>], width: usize) -> Page {
    let mut page = Page::default();
    for (nth, block) in blocks.iter().enumerate() {
        let follows_item = nth > 0 && matches!((&blocks[nth - 1], block), (PageBlock::Item(..), PageBlock::Item(..)));
        if nth > 0 && !follows_item {
            page.gap();
        }
        match block {
            PageBlock::Heading(level, text) => heading(&mut page, *level, text, width),
            PageBlock::Paragraph(text) => add(&mut page, "", "", wrapped(&words(text, Style::new()), width)),
            PageBlock::Item(mark, text) => {
                let first = format!("  {mark} ");
                let rest = " ".repeat(first.len());
                let lines = wrapped(&words(text, Style::new()), width.saturating_sub(first.len()));
                add(&mut page, &first, &rest, lines);
            }
            PageBlock::Code(lines) => lines.iter().for_each(|line| page.line(format_args!("    {line}"))),
            PageBlock::Table(rows) => page.append(table::page(rows, width)),
        }
    }
    page
}

/// A heading is bold; without colours its level shows too.
fn heading(page: &mut Page, level: usize, text: &str, width: usize) {
    let style = Style::new().bold();
    let lines = wrapped(&words(text, style), width);
    let longest = lines.iter().map(Line::width).max().unwrap_or_default();
    add(page, "", "", lines);
    match level {
        1 => page.line("=".repeat(longest)),
        2 => page.line("-".repeat(longest)),
        _ => {}
    }
}

fn add(page: &mut Page, first: &str, rest: &str, lines: Vec<Line>) {
    for (nth, line) in lines.into_iter().enumerate() {
        page.push(line.after(if nth == 0 { first } else { rest }));
    }
}
