//! From tokens to items, before flattening.

use std::ops::Range;

use tofu_oci_types::TextPosition;

use super::scanner::{JsonScanner, JsonToken, JsonTokenKind};
use crate::HclSyntax;
use crate::cursor::ScanFault;
use crate::text;
use crate::{HclBody, HclItem, HclKey, HclValue, MAX_DEPTH, Overlooked, SyntaxError, SyntaxErrorKind};

/// Why reading ends early.
#[derive(Debug)]
enum JsonStop {
    /// The text ended, which HCL 1 accepts.
    End,
    Mistake(Box<Mistake>),
}

#[derive(Debug)]
struct Mistake {
    fault: ScanFault,
    /// HCL 1 gives a position for a wrong value only.
    reported: Option<TextPosition>,
}

/// Reads the outermost object of `text`.
pub(super) fn parse(text: &[u8]) -> Result<(HclBody, Vec<Overlooked>), SyntaxError> {
    let mut scanner = JsonScanner::new(text);
    let token = scanner.token();
    let mut parser = JsonParser { scanner, token, depth: 0, inner_list: None, overlooked: Vec::new() };
    let result = match parser.token.kind {
        JsonTokenKind::OpenBrace => parser.object(),
        _ => Err(parser.mistake(SyntaxErrorKind::Unexpected, "an object belongs here", None)),
    };
    if let Some((fault, reported)) = parser.scanner.into_fault() {
        return Err(error(text, fault, reported));
    }
    match result {
        Ok((body, span)) => {
            let behind = text.get(span.end..).unwrap_or_default().trim_ascii();
            if !behind.is_empty() && parser.token.kind == JsonTokenKind::CloseBrace {
                let end = text.trim_ascii_end().len();
                let message = "what follows the outermost object is not read".to_owned();
                parser.overlooked.push(Overlooked { message, span: end - behind.len()..end });
            }
            Ok((body, parser.overlooked))
        }
        Err(JsonStop::End) => Ok((HclBody::default(), parser.overlooked)),
        Err(JsonStop::Mistake(mistake)) => {
            Err(error(text, diagnose(mistake.fault, parser.inner_list), mistake.reported))
        }
    }
}

/// Reports a list in a list before any other mistake.
fn diagnose(fault: ScanFault, inner_list: Option<Range<usize>>) -> ScanFault {
    match inner_list {
        Some(span) if span.start < fault.span.start && fault.kind != SyntaxErrorKind::TooDeep => {
            let message = "a list cannot stand in a list".to_owned();
            ScanFault { message, span, kind: SyntaxErrorKind::Misplaced }
        }
        _ => fault,
    }
}

fn error(text: &[u8], fault: ScanFault, reported: Option<TextPosition>) -> SyntaxError {
    let start = fault.span.start.min(text.len());
    let span = start..fault.span.end.clamp(start, text.len());
    SyntaxError { message: fault.message, span, reported, kind: fault.kind }
}

struct JsonParser<'a> {
    scanner: JsonScanner<'a>,
    token: JsonToken,
    depth: usize,
    /// The first list in a list: HCL 1 takes its end for that of the outer one.
    inner_list: Option<Range<usize>>,
    overlooked: Vec<Overlooked>,
}

impl JsonParser<'_> {
    fn next(&mut self) -> JsonTokenKind {
        self.token = self.scanner.token();
        self.token.kind
    }

    /// The object whose brace is the token. HCL 1 accepts anything at its end.
    fn object(&mut self) -> Result<(HclBody, Range<usize>), JsonStop> {
        let start = self.token.span.start;
        let depth = self.depth;
        self.enter()?;
        let mut body = HclBody::default();
        loop {
            match self.item() {
                Ok(item) => body.items.push(item),
                Err(JsonStop::End) => break,
                Err(JsonStop::Mistake(mistake)) => {
                    // Right before a closing brace, HCL 1 drops any mistake together with its member.
                    if self.token.kind != JsonTokenKind::CloseBrace || mistake.fault.kind == SyntaxErrorKind::TooDeep {
                        return Err(JsonStop::Mistake(mistake));
                    }
                    // The brace itself is right after a comma or in an empty object.
                    if mistake.fault.span != self.token.span {
                        self.overlooked.push(Overlooked { message: mistake.fault.message, span: mistake.fault.span });
                    }
                    break;
                }
            }
            if self.next() != JsonTokenKind::Comma {
                break;
            }
        }
        self.depth = depth;
        if self.token.kind != JsonTokenKind::CloseBrace {
            self.overlook_end(start);
        }
        Ok((body, start..self.token.span.end.max(start)))
    }

    /// HCL 1 takes anything for the end of the object whose brace stands at `start`.
    fn overlook_end(&mut self, start: usize) {
        let (span, message) = match self.token.kind {
            JsonTokenKind::End => (start..start + 1, "this brace is not closed; its `}` is missing"),
            _ => (self.token.span.clone(), "a comma or `}` is missing before this, which is taken for the end"),
        };
        self.overlooked.push(Overlooked { message: message.to_owned(), span });
    }

    fn item(&mut self) -> Result<HclItem, JsonStop> {
        let mut keys = Vec::new();
        loop {
            match self.next() {
                JsonTokenKind::String => keys.push(self.key()),
                JsonTokenKind::Colon if !keys.is_empty() => break,
                JsonTokenKind::End => return Err(JsonStop::End),
                _ => return Err(self.no_key(&keys)),
            }
        }
        let value = self.value()?;
        let start = keys.first().map_or(0, |key| key.span.start);
        let span = start..value.span().end.max(start);
        Ok(HclItem { keys, assigned: true, value, span, brace: None })
    }

    fn no_key(&self, keys: &[HclKey]) -> JsonStop {
        if let (Some(first), Some(last)) = (keys.first(), keys.last()) {
            let fault = ScanFault {
                message: "a name needs `: VALUE` after it".to_owned(),
                span: first.span.start..last.span.end,
                kind: SyntaxErrorKind::MissingValue,
            };
            return JsonStop::Mistake(Box::new(Mistake { fault, reported: None }));
        }
        let (kind, message) = match self.token.kind {
            JsonTokenKind::Comma => (SyntaxErrorKind::Misplaced, "a comma can stand only after an item"),
            JsonTokenKind::Colon => (SyntaxErrorKind::Unexpected, "a name in quotes belongs before `:`"),
            _ => (SyntaxErrorKind::Unexpected, "a name in quotes belongs here"),
        };
        self.mistake(kind, message, None)
    }

    fn key(&self) -> HclKey {
        let text = self.text();
        let written = || String::from_utf8_lossy(self.scanner.bytes(self.token.span.clone())).into_owned();
        let value = if text.fault.is_some() { written() } else { text.value };
        HclKey { text: value, quoted: true, json: true, span: text.span, fault: text.fault }
    }

    fn value(&mut self) -> Result<HclValue, JsonStop> {
        match self.next() {
            JsonTokenKind::Number
            | JsonTokenKind::Float
            | JsonTokenKind::Bool
            | JsonTokenKind::Null
            | JsonTokenKind::String => Ok(self.literal()),
            JsonTokenKind::OpenBrace => self.object().map(|(body, span)| HclValue::Object(body, span)),
            JsonTokenKind::OpenList => self.list(),
            JsonTokenKind::End => Err(JsonStop::End),
            _ => {
                let message = "a value belongs after the `:`";
                Err(self.mistake(SyntaxErrorKind::MissingValue, message, Some(self.token.position)))
            }
        }
    }

    /// The list whose bracket is the token. HCL 1 skips `true`, `false` and the brackets of lists inside it, so the
    /// first closing bracket ends it.
    fn list(&mut self) -> Result<HclValue, JsonStop> {
        let start = self.token.span.start;
        self.enter()?;
        let mut values = Vec::new();
        loop {
            match self.next() {
                JsonTokenKind::Number | JsonTokenKind::Float | JsonTokenKind::String => values.push(self.literal()),
                JsonTokenKind::Comma => {}
                JsonTokenKind::Bool => {
                    let message = "`true` and `false` count for nothing in a list".to_owned();
                    self.overlooked.push(Overlooked { message, span: self.token.span.clone() });
                }
                JsonTokenKind::OpenList => {
                    self.inner_list.get_or_insert(self.token.span.clone());
                    let message =
                        "a list in a list counts for nothing, and its end is that of the outer one".to_owned();
                    self.overlooked.push(Overlooked { message, span: self.token.span.clone() });
                }
                JsonTokenKind::OpenBrace => {
                    values.push(self.object().map(|(body, span)| HclValue::Object(body, span))?);
                }
                JsonTokenKind::CloseList => {
                    self.depth -= 1;
                    return Ok(HclValue::List(values, start..self.token.span.end));
                }
                JsonTokenKind::End | JsonTokenKind::CloseBrace | JsonTokenKind::Colon => {
                    let fault = ScanFault {
                        message: "this list is not closed; its `]` is missing".to_owned(),
                        span: start..start + 1,
                        kind: SyntaxErrorKind::UnclosedBracket,
                    };
                    return Err(JsonStop::Mistake(Box::new(Mistake { fault, reported: None })));
                }
                kind => {
                    let (kind, message) = match kind {
                        JsonTokenKind::Null => (SyntaxErrorKind::Misplaced, "`null` cannot stand in a list"),
                        _ => (SyntaxErrorKind::Unexpected, "a value belongs here"),
                    };
                    return Err(self.mistake(kind, message, None));
                }
            }
        }
    }

    fn enter(&mut self) -> Result<(), JsonStop> {
        self.depth += 1;
        if self.depth <= MAX_DEPTH {
            return Ok(());
        }
        let message = format!("objects and lists stand in each other more than {MAX_DEPTH} deep");
        Err(self.mistake(SyntaxErrorKind::TooDeep, message, None))
    }

    fn literal(&self) -> HclValue {
        let span = self.token.span.clone();
        let written = || String::from_utf8_lossy(self.scanner.bytes(span.clone())).into_owned();
        match self.token.kind {
            JsonTokenKind::Number => HclValue::Number { text: written(), span },
            JsonTokenKind::Float => HclValue::Float { text: written(), span },
            JsonTokenKind::Bool => HclValue::Bool { value: written() == "true", span },
            JsonTokenKind::Null => HclValue::Null { span },
            _ => HclValue::String(self.text()),
        }
    }

    fn text(&self) -> crate::Text {
        let span = self.token.span.clone();
        text::quoted(self.scanner.bytes(span.clone()), HclSyntax::Json, span.start, &|offset| offset)
    }

    fn mistake(&self, kind: SyntaxErrorKind, message: impl Into<String>, reported: Option<TextPosition>) -> JsonStop {
        let fault = ScanFault { message: message.into(), span: self.token.span.clone(), kind };
        JsonStop::Mistake(Box::new(Mistake { fault, reported }))
    }
}
