//! The edits of a text that make its `provider_installation` say other methods: comments, order and layout stay.

use std::ops::Range;

use tofu_oci_hcl::{Duplicates, HclBody, HclItem, HclValue, hcl1_string};

use super::written::{native_list, native_method};
use super::{Installation, WrittenMethod};

/// A method as it is to be, and its place in the block as it is; `None` for a new one, which comes first.
pub(super) type PlannedMethod = (Option<usize>, WrittenMethod);

/// The text with these methods in its block; `None` if the text has no such block.
pub(super) fn spliced(text: &str, there: &Installation, planned: &[PlannedMethod]) -> Option<String> {
    let (block, body) = block(text, there)?;
    let mut splice = Splice { text, edits: Vec::new() };
    for (at, method) in there.methods.iter().enumerate() {
        let item = body.items.iter().find(|item| item.span == method.span)?;
        match planned.iter().find(|(from, _)| *from == Some(at)) {
            Some((_, wanted)) => splice.method(item, &WrittenMethod::of(method)?, wanted)?,
            None => splice.replace(whole_lines(text, &item.span), ""),
        }
    }
    let overrides = body.items.iter().rfind(|item| item.keys.first().is_some_and(|key| key.text == "dev_overrides"));
    let behind = match overrides {
        Some(item) => item.span.end,
        None => block.start + 1,
    };
    let unit = body.items.first().and_then(|item| indent_of(text, item.span.start)).unwrap_or("  ");
    for (_, new) in planned.iter().filter(|(from, _)| from.is_none()) {
        splice.new_method(behind, &native_method(new), unit);
    }
    Some(splice.done())
}

/// The text without the block and its blank line; `None` if the block holds a comment, or if the text has no such block.
pub(super) fn without_block(text: &str, there: &Installation) -> Option<String> {
    block(text, there)?;
    let written = text.get(there.span.clone())?;
    if ["#", "//", "/*"].iter().any(|comment| written.contains(comment)) {
        return None;
    }
    let lines = whole_lines(text, &there.span);
    let (before, after) = (&text[..lines.start], &text[lines.end..]);
    let gap =
        ["\r\n", "\n"].into_iter().find_map(|gap| before.strip_suffix(gap)).filter(|before| before.ends_with('\n'));
    Some(format!("{}{after}", gap.unwrap_or(before)))
}

/// The text with a block at its end, after a blank line.
pub(super) fn appended(text: &str, block: &str) -> String {
    let gap = match text {
        "" => "",
        _ if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{text}{}", with_breaks_of(text, format!("{gap}{block}")))
}

/// Ends the lines as the text does.
fn with_breaks_of(text: &str, lines: String) -> String {
    if text.contains("\r\n") { lines.replace('\n', "\r\n") } else { lines }
}

/// The braces of the block, and what it holds.
fn block(text: &str, there: &Installation) -> Option<(Range<usize>, HclBody)> {
    let document = tofu_oci_hcl::parse(text, Duplicates::Allowed).ok()?;
    let item = document.body.items.into_iter().find(|item| item.span == there.span)?;
    match item.value {
        HclValue::Object(body, braces) => Some((braces, body)),
        _ => None,
    }
}

struct Splice<'a> {
    text: &'a str,
    edits: Vec<(Range<usize>, String)>,
}

impl Splice<'_> {
    fn replace(&mut self, range: Range<usize>, with: impl Into<String>) {
        self.edits.push((range, with.into()));
    }

    fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at..at, text);
    }

    /// The text after all edits, which do not overlap.
    fn done(mut self) -> String {
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let mut after = self.text.to_owned();
        for (range, with) in self.edits.into_iter().rev() {
            after.replace_range(range, &with_breaks_of(self.text, with));
        }
        after
    }

    /// Where the line of a place ends, before its line break. A comment belongs to the line in which it begins.
    fn line_end(&self, at: usize) -> usize {
        let mut end = at;
        loop {
            let rest = &self.text[end..];
            end += if rest.is_empty() || rest.starts_with('\n') || rest.starts_with("\r\n") {
                return end;
            } else if rest.starts_with('#') || rest.starts_with("//") {
                rest.find('\n').map_or(rest.len(), |end| end - usize::from(rest[..end].ends_with('\r')))
            } else if let Some(comment) = rest.strip_prefix("/*") {
                comment.find("*/").map_or(rest.len(), |length| length + 4)
            } else if rest.starts_with('"') {
                string_length(rest)
            } else {
                rest.chars().next().map_or(0, char::len_utf8)
            };
        }
    }

    fn method(&mut self, item: &HclItem, was: &WrittenMethod, wanted: &WrittenMethod) -> Option<()> {
        let HclValue::Object(body, braces) = &item.value else { return None };
        let argument =
            |name: &str| body.items.iter().find(|item| item.keys.first().is_some_and(|key| key.text == name));
        if let (WrittenMethod::OciMirror { template: was, .. }, WrittenMethod::OciMirror { template, .. }) =
            (was, wanted)
            && was != template
        {
            self.replace(argument("repository_template")?.value.span(), hcl1_string(template));
        }
        let ((include, exclude), (new_include, new_exclude)) = (was.patterns(), wanted.patterns());
        for (name, was, wanted) in [("include", include, new_include), ("exclude", exclude, new_exclude)] {
            match argument(name) {
                _ if was == wanted => {}
                Some(item) if wanted.is_empty() && self.is_alone(item, braces) => {
                    self.replace(braces.start + 1..braces.end - 1, "");
                }
                Some(item) if wanted.is_empty() => self.replace(whole_lines(self.text, &item.span), ""),
                Some(item) => self.list(&item.value, was, wanted)?,
                None => self.new_argument(item, body, braces, name, &native_list(wanted)),
            }
        }
        Some(())
    }

    /// Whether nothing else stands between the braces.
    fn is_alone(&self, item: &HclItem, braces: &Range<usize>) -> bool {
        let around = [braces.start + 1..item.span.start, item.span.end..braces.end - 1];
        around.into_iter().all(|range| self.text[range].trim().is_empty())
    }

    /// Elements less, each with its own line if it has one, and elements more, after the last one; what cannot be told
    /// apart so is written again.
    fn list(&mut self, value: &HclValue, was: &[String], wanted: &[String]) -> Option<()> {
        let HclValue::List(elements, brackets) = value else { return None };
        let gone: Vec<Range<usize>> = was
            .iter()
            .zip(elements)
            .filter(|(text, _)| !wanted.contains(text))
            .map(|(_, element)| element.span())
            .collect();
        let new: Vec<String> = wanted.iter().filter(|text| !was.contains(text)).map(|text| hcl1_string(text)).collect();
        let last = was.iter().zip(elements).rfind(|(text, _)| wanted.contains(text)).map(|(_, element)| element.span());
        let with_comma = |own: &Range<usize>| {
            let rest = &self.text[own.end..];
            let left = rest.trim_start_matches([' ', '\t']).strip_prefix(',').unwrap_or(rest);
            own.start..own.end + rest.len() - left.len()
        };
        let lines: Vec<Range<usize>> = gone.iter().map(|own| whole_lines(self.text, &with_comma(own))).collect();
        let own_lines = lines.iter().all(|line| self.text[line.clone()].ends_with('\n'));
        match (gone.as_slice(), last) {
            (_, Some(last)) if own_lines => {
                for line in lines {
                    self.replace(line, "");
                }
                if !new.is_empty() {
                    self.elements(&last, brackets, &new);
                }
            }
            ([own], Some(_)) if new.is_empty() => {
                let at = elements.iter().position(|element| element.span() == *own)?;
                let span = |at: usize| elements.get(at).map(HclValue::span);
                match (span(at + 1), at.checked_sub(1).and_then(span)) {
                    (Some(next), _) => self.replace(own.start..next.start, ""),
                    (None, Some(before)) => self.replace(before.end..own.end, ""),
                    (None, None) => {}
                }
            }
            _ => self.replace(brackets.clone(), native_list(wanted)),
        }
        Some(())
    }

    /// New elements after the last one: in its line, or in lines of their own if that one has a line of its own.
    fn elements(&mut self, last: &Range<usize>, brackets: &Range<usize>, elements: &[String]) {
        let has_comma = self.text[last.end..].trim_start_matches([' ', '\t']).starts_with(',');
        let line_end = self.line_end(last.end);
        let own_line = indent_of(self.text, last.start).filter(|_| line_end < brackets.end);
        match own_line {
            Some(indent) => {
                if !has_comma {
                    self.insert(last.end, ",");
                }
                let lines = elements.join(&format!(",\n{indent}"));
                let comma = if has_comma { "," } else { "" };
                self.insert(line_end, format!("\n{indent}{lines}{comma}"));
            }
            None => self.insert(last.end, format!(", {}", elements.join(", "))),
        }
    }

    fn new_argument(&mut self, method: &HclItem, body: &HclBody, braces: &Range<usize>, name: &str, value: &str) {
        let close = braces.end - 1;
        let outer = indent_of(self.text, method.span.start).unwrap_or("  ");
        let last = body.items.last();
        let inner = last.and_then(|item| indent_of(self.text, item.span.start));
        let inner = inner.map_or_else(|| format!("{outer}  "), str::to_owned);
        // As wide as the name before it is written, if that one is long enough.
        let width = last.map_or(0, |item| {
            let head = &self.text[item.span.start..item.value.span().start];
            head.find('=').map_or(0, |at| head[..at].trim_end_matches('\t').len().saturating_sub(1))
        });
        let line = format!("\n{inner}{name:<width$} = {value}");
        let behind = last.map_or(braces.start + 1, |item| item.span.end);
        match self.line_end(behind) {
            end if end < close => self.insert(end, line),
            _ => {
                let blank = self.text[behind..close].len() - self.text[behind..close].trim_end().len();
                self.replace(close - blank..close, format!("{line}\n{outer}"));
            }
        }
    }

    /// A block after the line of `behind`, or in a line of its own right there.
    fn new_method(&mut self, behind: usize, method: &str, unit: &str) {
        let indented = |line: &str| {
            let content = line.trim_start_matches(' ');
            format!("{}{content}\n", unit.repeat((line.len() - content.len()) / 2))
        };
        let method: String = method.lines().map(indented).collect();
        let end = self.line_end(behind);
        let rest = self.text[behind..end].trim_start();
        if rest.is_empty() || rest.starts_with('#') || rest.starts_with("//") {
            self.insert(end, format!("\n{}", method.trim_end()));
        } else {
            let blank = self.text[behind..end].len() - rest.len();
            self.replace(behind..behind + blank, format!("\n{method}{unit}"));
        }
    }
}

/// How long a string is with its quotes; to the end of its line if that does not close it.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, letter)| {
        let ends = matches!(letter, '"' | '\n') && (!escaped || *letter == '\n');
        escaped = *letter == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, letter)| if letter == '"' { at + 1 } else { at })
}

/// What stands before a place in its line, if it is blank.
fn indent_of(text: &str, at: usize) -> Option<&str> {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    line.trim().is_empty().then_some(line)
}

/// A span with the rest of its lines and the line break, as far as these are blank.
fn whole_lines(text: &str, span: &Range<usize>) -> Range<usize> {
    let before = &text[..span.start];
    let Some(indent) = indent_of(text, span.start) else { return span.clone() };
    let rest = text[span.end..].trim_start_matches([' ', '\t']);
    let rest = match rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')) {
        Some(rest) => rest,
        None if rest.is_empty() => rest,
        None => return span.clone(),
    };
    before.len() - indent.len()..text.len() - rest.len()
}
