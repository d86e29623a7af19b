//! Blocks become lines of a terminal.

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use super::markdown::Block;
use super::table;
use super::words::{Word, words};
use crate::page::{Line, Page};

/// The page, for lines of this many columns.
pub(super) fn page(blocks: &[Block<'_>], width: usize) -> Page {
    let mut page = Page::default();
    for (nth, block) in blocks.iter().enumerate() {
        let follows_item = nth > 0 && matches!((&blocks[nth - 1], block), (Block::Item(..), Block::Item(..)));
        if nth > 0 && !follows_item {
            page.gap();
        }
        match block {
            Block::Heading(level, text) => heading(&mut page, *level, text, width),
            Block::Paragraph(text) => add(&mut page, "", "", wrapped(&words(text, Style::new()), width)),
            Block::Item(mark, text) => {
                let first = format!("  {mark} ");
                let rest = " ".repeat(first.len());
                let lines = wrapped(&words(text, Style::new()), width.saturating_sub(first.len()));
                add(&mut page, &first, &rest, lines);
            }
            Block::Code(lines) => lines.iter().for_each(|line| page.line(format_args!("    {line}"))),
            Block::Table(rows) => page.append(table::page(rows, width)),
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

/// The words in lines of at most this many columns; a longer word has a line of its own.
pub(super) fn wrapped(words: &[Word], width: usize) -> Vec<Line> {
    let mut lines = vec![Line::default()];
    let mut used = 0;
    for word in words {
        let columns = columns(word);
        if used > 0 && used + 1 + columns > width {
            lines.push(Line::default());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            let mut grown = std::mem::take(line);
            if used > 0 {
                // A blank between two words of one style belongs to both.
                grown = grown.plain(" ");
                used += 1;
            }
            *line = word.iter().fold(grown, |line, (style, text)| line.styled(*style, text));
        }
        used += columns;
    }
    lines
}

/// How many columns a word takes.
pub(super) fn columns(word: &Word) -> usize {
    word.iter().map(|(_, text)| text.width()).sum()
}
