//! What people read, built so that foreign text cannot act on a terminal, a log or a CI system.
//!
//! The printer takes a [`Page`] and nothing else for people. A page is made of [`Line`]s, a line of pieces, and a piece is
//! escaped by [`printable`] when it is added: a line break or an escape sequence in a file name, a media type or an error
//! stays inside its line and is shown. Line breaks come from the page alone, colours from [`Line::styled`] alone.
//!
//! CI systems obey lines: `::error::` at the start of one, after blanks too, and `##[` or `##vso[` anywhere. A line that
//! would be such a command gets one of its characters escaped. Spec: actions/runner, `ActionCommand`; Azure Pipelines and
//! `TeamCity`, logging commands.

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};

use anstyle::Style;
use tofu_oci_types::printable;
use unicode_width::UnicodeWidthStr as _;

use crate::terminal::{self, WIDEST};

/// How many columns an explanation takes. Tests may have a terminal of any width.
fn width() -> usize {
    if cfg!(test) { WIDEST } else { terminal::page_columns() }
}

/// How many columns a table may take: those of the terminal, or any number.
fn terminal_width() -> usize {
    let columns = if cfg!(test) { None } else { terminal::stdout_columns() };
    columns.unwrap_or(usize::MAX)
}

/// The least width of a column whose cells are broken at words.
const LEAST_COLUMN: usize = 20;

/// One line: pieces of text, some of them coloured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line(Vec<(Style, String)>);

/// Lines for people.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page(Vec<Line>);

impl Line {
    /// A line of plain text.
    pub(crate) fn of(text: impl Display) -> Self {
        Self::default().plain(text)
    }

    /// The same with more text.
    pub(crate) fn plain(self, text: impl Display) -> Self {
        self.styled(Style::new(), text)
    }

    /// The same with more text in this style.
    pub(crate) fn styled(mut self, style: Style, text: impl Display) -> Self {
        self.0.push((style, printable(&text.to_string()).into_owned()));
        self
    }

    /// The same without blanks at its end.
    pub(crate) fn trimmed(mut self) -> Self {
        while let Some((_, text)) = self.0.last_mut() {
            text.truncate(text.trim_end().len());
            if !text.is_empty() {
                break;
            }
            self.0.pop();
        }
        self
    }

    /// The same with the pieces of another line after its own.
    pub(crate) fn joined(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().cloned());
        self
    }

    /// The same with a text before it.
    pub(crate) fn after(self, lead: &str) -> Self {
        Self::of(lead).joined(&self)
    }

    /// How many columns of a terminal it takes.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.width()).sum()
    }

    /// The same as no CI system takes it for a command.
    fn disarmed(&self) -> Cow<'_, Self> {
        let text: String = self.0.iter().map(|(_, text)| text.as_str()).collect();
        if disarmed(&text) == text {
            return Cow::Borrowed(self);
        }
        // In a command of two colours the colours are worth less than the command is.
        let style = self.0.first().map(|(style, _)| *style).filter(|_| self.0.len() == 1).unwrap_or_default();
        Cow::Owned(Self(vec![(style, disarmed(&text).into_owned())]))
    }
}

/// The text with blanks after it, so that it takes this many columns of a terminal.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// `1 version`, `3 versions`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The first texts, and how many more there are: `a, b and 3 older` with `and` and `older`.
pub(crate) fn first_of<T: Display>(texts: &[T], most: usize, (and, what): (&str, &str)) -> String {
    let named = texts.iter().take(most).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match texts.len().saturating_sub(most) {
        0 => named,
        more => format!("{named}{and} {more} {what}"),
    }
}

/// A line without commands for CI systems.
pub(crate) fn disarmed(line: &str) -> Cow<'_, str> {
    let start = line.len() - line.trim_start().len();
    let (blanks, rest) = line.split_at(start);
    let mut line = match rest.strip_prefix("::") {
        Some(rest) => Cow::Owned(format!("{blanks}\\u{{3a}}:{rest}")),
        None => Cow::Borrowed(line),
    };
    for command in ["##[", "##vso[", "##teamcity["] {
        if line.contains(command) {
            line = Cow::Owned(line.replace(command, &command.replacen("##", "#\\u{23}", 1)));
        }
    }
    line
}

impl Page {
    /// A page of one line.
    pub(crate) fn of(text: impl Display) -> Self {
        let mut page = Self::default();
        page.line(text);
        page
    }

    /// Adds a line of plain text.
    pub(crate) fn line(&mut self, text: impl Display) {
        self.push(Line::of(text));
    }

    pub(crate) fn push(&mut self, line: Line) {
        self.0.push(line);
    }

    /// Adds an empty line.
    pub(crate) fn gap(&mut self) {
        self.0.push(Line::default());
    }

    /// Adds a text whose line breaks are its own, such as the excerpt of a file, each line after `indent`.
    pub(crate) fn block(&mut self, indent: &str, text: &str) {
        if !text.is_empty() {
            let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
            lines.for_each(|line| self.line(format_args!("{indent}{line}")));
        }
    }

    /// Adds rows in columns, below their names. If a terminal is narrower, the last column is broken at words.
    pub(crate) fn table<const N: usize>(&mut self, head: [&str; N], rows: impl IntoIterator<Item = [String; N]>) {
        let rows = std::iter::once(head.map(str::to_owned)).chain(rows);
        let rows: Vec<[String; N]> = rows.map(|row| row.map(|cell| printable(&cell).into_owned())).collect();
        let width = |nth: usize| rows.iter().map(|row| row[nth].width()).max().unwrap_or_default();
        let widths: Vec<usize> = (0..N).map(width).collect();
        let before: usize = widths.iter().take(N - 1).map(|width| width + 2).sum();
        let columns = terminal_width().max(before + LEAST_COLUMN);
        for row in &rows {
            let cells = row.iter().zip(&widths).take(N - 1);
            let lead: String = cells.map(|(cell, width)| padded(cell, *width) + "  ").collect();
            self.broken(&lead, &Line::of(&row[N - 1]), columns);
        }
    }

    /// Adds another page.
    pub(crate) fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Adds a name and a text beside it, broken at words and continued below itself.
    pub(crate) fn row(&mut self, indent: &str, name: &str, text: impl Display) {
        self.row_of(indent, name, &Line::of(text));
    }

    /// The same, if there is a text.
    pub(crate) fn row_if(&mut self, indent: &str, name: &str, text: Option<impl Display>) {
        if let Some(text) = text {
            self.row(indent, name, text);
        }
    }

    /// Adds a name and a line beside it, broken at words and continued below itself.
    pub(crate) fn row_of(&mut self, indent: &str, name: &str, text: &Line) {
        self.broken(&format!("{indent}{}  ", padded(&printable(name), 8)), text, width());
    }

    /// Adds a text after `lead`, broken at words that would go beyond a column, and continued below itself.
    fn broken(&mut self, lead: &str, text: &Line, columns: usize) {
        let gap = " ".repeat(lead.width());
        let mut line = Line::of(lead);
        for (style, piece) in &text.0 {
            for (nth, word) in piece.split(' ').enumerate() {
                if nth == 0 {
                    line = line.styled(*style, word);
                } else if line.width() + 1 + word.width() <= columns {
                    line = line.styled(*style, format_args!(" {word}"));
                } else {
                    self.push(std::mem::replace(&mut line, Line::of(&gap)));
                    line = line.styled(*style, word);
                }
            }
        }
        self.push(line.trimmed());
    }

    /// The same lines, all in one style.
    pub(crate) fn in_style(mut self, style: Style) -> Self {
        self.0.iter_mut().flat_map(|line| &mut line.0).for_each(|(old, _)| *old = style);
        self
    }

    pub(crate) fn coloured(&self) -> String {
        let mut out = String::new();
        for line in &self.0 {
            for (style, text) in &line.disarmed().0 {
                // Writing to a String cannot fail.
                let _ = write!(out, "{style}{text}{style:#}");
            }
            out.push('\n');
        }
        out
    }

    /// The same without empty lines at its end.
    pub(crate) fn without_gap_at_end(mut self) -> Self {
        while self.0.last().is_some_and(|line| line.width() == 0) {
            self.0.pop();
        }
        self
    }

    /// Whether it has no line.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many bytes the text has, about.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().flat_map(|line| &line.0).map(|(_, text)| text.len()).sum()
    }
}

/// The text without colours.
impl Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.0 {
            line.disarmed().0.iter().try_for_each(|(_, text)| f.write_str(text))?;
            f.write_str("\n")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_continued_below_themselves() {
        let mut page = Page::default();
        page.row("    ", "offers", "1.10.0-beta.1, ".repeat(9));
        let text = page.to_string();
        assert!(text.lines().all(|line| line.width() <= WIDEST), "{text}");
        insta::assert_snapshot!(text, @"
            offers    1.10.0-beta.1, 1.10.0-beta.1, 1.10.0-beta.1, 1.10.0-beta.1, 1.10.0-beta.1,
                      1.10.0-beta.1, 1.10.0-beta.1, 1.10.0-beta.1, 1.10.0-beta.1,
        ");
    }

    #[test]
    fn wide_letters_take_two_columns_and_marks_none() {
        let mut page = Page::default();
        page.row("", "日本", format!("{}word", "語 ".repeat(34)));
        assert!(page.to_string().lines().all(|line| line.width() <= WIDEST), "{page}");
        assert!(page.to_string().starts_with("日本      語 "), "{page}");
        assert_eq!(padded("e\u{301}", 3), "e\u{301}  ");
    }

    #[test]
    fn a_row_may_be_coloured_and_breaks_as_if_it_were_not() {
        let long = "word ".repeat(30);
        let bold = Style::new().bold();
        let (mut plain, mut coloured) = (Page::default(), Page::default());
        plain.row("", "result", format_args!("a pull works, {long}"));
        let line = Line::of("a pull ").styled(bold, "works").plain(format_args!(", {long}"));
        coloured.row_of("", "result", &line);
        assert_eq!(coloured.to_string(), plain.to_string());
        assert!(coloured.coloured().contains("\x1b[1mworks\x1b[0m"), "{:?}", coloured.coloured());
    }

    #[test]
    fn foreign_text_begins_no_line_and_sends_no_escape() {
        let hostile = "a\nerror: forged\r\x1b[2J\u{202e}\u{9b}8m";
        let mut page = Page::of(hostile);
        page.row("  ", hostile, hostile);
        page.push(Line::default().styled(Style::new().bold(), hostile));
        let text = page.to_string();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(!text.replace('\n', "").contains(tofu_oci_types::is_unprintable), "{text:?}");
        // The only escapes are those of the style.
        assert_eq!(page.coloured().matches('\x1b').count(), 2, "{:?}", page.coloured());
    }

    #[track_caller]
    fn check(line: &str, want: &str) {
        assert_eq!(Page::of(line).to_string(), format!("{want}\n"));
    }

    #[test]
    fn no_line_is_a_command_of_a_ci_system() {
        check("::error::x", "\\u{3a}:error::x");
        check(" \u{a0} ::add-mask::x", " \u{a0} \\u{3a}:add-mask::x");
        check("a ::error::x", "a ::error::x");
        check("[::1]:5000/x", "[::1]:5000/x");
        check("x ##vso[task.x]y ##[error]z", "x #\\u{23}vso[task.x]y #\\u{23}[error]z");
        check("##teamcity[x]", "#\\u{23}teamcity[x]");
        let mut page = Page::default();
        page.push(Line::of(":").styled(Style::new().bold(), ":error::x"));
        page.row("", "", format_args!("{} ::error::x", "w".repeat(89)));
        assert!(!page.to_string().lines().any(|line| line.trim_start().starts_with("::")), "{page}");
    }
}
