//! One rule or one code of a page: a heading of its own, or a row of a table.

use super::markdown::PageBlock;

/// The blocks that explain a name: a heading with what follows, or every row of a table, since a code may end several verbs.
pub(super) fn find<'a>(blocks: &[PageBlock<'a>], name: &str) -> Option<Vec<PageBlock<'a>>> {
    let of_heading =
        blocks.iter().position(|block| matches!(block, PageBlock::Heading(_, text) if code(text) == Some(name)));
    if let Some(at) = of_heading {
        let rest = blocks[at + 1..].iter().take_while(|block| !matches!(block, PageBlock::Heading(..)));
        return Some(blocks[at..=at].iter().chain(rest).cloned().collect());
    }
    let mut found = Vec::new();
    for block in blocks {
        let PageBlock::Table(rows) = block else { continue };
        let Some((head, rows)) = rows.split_first() else { continue };
        for row in rows.iter().filter(|row| row.first().is_some_and(|cell| names_in(cell).any(|one| one == name))) {
            let others = head.iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty());
            found.push(PageBlock::Heading(3, row[0]));
            found.extend(others.map(|(title, cell)| PageBlock::Item("-", format!("{title}: {cell}"))));
        }
    }
    (!found.is_empty()).then_some(found)
}

pub(super) fn names(blocks: &[PageBlock<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    for block in blocks {
        match block {
            PageBlock::Heading(_, text) => found.extend(code(text).map(str::to_owned)),
            PageBlock::Table(rows) => {
                let cells = rows.iter().skip(1).filter_map(|row| row.first());
                found.extend(cells.flat_map(|cell| names_in(cell).map(str::to_owned).collect::<Vec<_>>()));
            }
            PageBlock::Paragraph(_) | PageBlock::Item(..) | PageBlock::Code(_) => {}
        }
    }
    found
}

fn code(text: &str) -> Option<&str> {
    text.strip_prefix('`')?.strip_suffix('`').filter(|text| !text.contains('`'))
}

/// The names in a cell that consists of names.
fn names_in(cell: &str) -> impl Iterator<Item = &str> {
    let is_name = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b':')
    };
    cell.split(", ").filter_map(code).filter(move |name| is_name(name))
}
