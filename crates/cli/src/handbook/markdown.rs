//! The Markdown that the pages of `docs/` use: no nested lists, no quotes, no HTML except comments.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PageBlock<'a> {
    /// A heading and its level, from 1.
    Heading(usize, &'a str),
    /// A paragraph, its lines joined.
    Paragraph(String),
    /// An item of a list: its mark, `-` or `1.`, and its text.
    Item(&'a str, String),
    Code(Vec<&'a str>),
    /// A table: its head, then its rows.
    Table(Vec<Vec<&'a str>>),
}

/// The blocks of a page.
pub(super) fn blocks(text: &str) -> Vec<PageBlock<'_>> {
    let mut blocks: Vec<PageBlock<'_>> = Vec::new();
    let mut lines = text.lines().peekable();
    // Whether the next line can continue a paragraph or an item.
    let mut open = false;
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            let code = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            blocks.push(PageBlock::Code(code));
            open = false;
        } else if line.starts_with("<!--") {
            let mut last = line;
            while !last.contains("-->") {
                let Some(next) = lines.next() else { break };
                last = next;
            }
            open = false;
        } else if let Some((level, heading)) = heading(line) {
            blocks.push(PageBlock::Heading(level, heading));
            open = false;
        } else if line.starts_with('|') {
            let mut rows = vec![cells(line)];
            while let Some(line) = lines.next_if(|line| line.starts_with('|')) {
                rows.push(cells(line));
            }
            rows.retain(|row| !row.iter().all(|cell| cell.bytes().all(|byte| matches!(byte, b'-' | b':'))));
            blocks.push(PageBlock::Table(rows));
            open = false;
        } else if line.trim().is_empty() {
            open = false;
        } else if let Some((mark, text)) = item(line) {
            blocks.push(PageBlock::Item(mark, text.to_owned()));
            open = true;
        } else {
            match blocks.last_mut() {
                Some(PageBlock::Paragraph(text) | PageBlock::Item(_, text)) if open => {
                    text.push(' ');
                    text.push_str(line.trim());
                }
                _ => blocks.push(PageBlock::Paragraph(line.trim().to_owned())),
            }
            open = true;
        }
    }
    blocks
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    Some((level, text.strip_prefix(' ')?)).filter(|_| level > 0)
}

/// The mark and the text of an item of a list.
fn item(line: &str) -> Option<(&str, &str)> {
    let (mark, text) = line.split_once(' ')?;
    let is_number = mark.strip_suffix('.').is_some_and(|number| number.parse::<u8>().is_ok());
    (mark == "-" || is_number).then_some((mark, text))
}

/// The cells of a row; a `|` in code does not end a cell.
fn cells(line: &str) -> Vec<&str> {
    let line = line.trim().trim_start_matches('|');
    let line = line.strip_suffix('|').unwrap_or(line);
    let (mut cells, mut start, mut is_code) = (Vec::new(), 0, false);
    for (at, character) in line.char_indices() {
        match character {
            '`' => is_code = !is_code,
            '|' if !is_code => {
                cells.push(line[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    cells.push(line[start..].trim());
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_taken_apart() {
        let page = "<!-- not\nshown -->\n# A `b`\n\nOne\ntwo.\n- x\n  y\n\n1. z\n\n```console\n$ a\n\nb\n```\n| h | `i|j` |\n|---|:--|\n| k | |\n";
        let want = [
            PageBlock::Heading(1, "A `b`"),
            PageBlock::Paragraph("One two.".to_owned()),
            PageBlock::Item("-", "x y".to_owned()),
            PageBlock::Item("1.", "z".to_owned()),
            PageBlock::Code(vec!["$ a", "", "b"]),
            PageBlock::Table(vec![vec!["h", "`i|j`"], vec!["k", ""]]),
        ];
        assert_eq!(blocks(page), want);
    }
}
