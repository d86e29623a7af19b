//! What people are told of a text: the lines in it, and why it is no JSON.

use super::Fault;

/// Where the lines of a text begin, to ask for the line of many values.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    /// Reads the text once.
    pub(crate) fn of(whole: &[u8]) -> Self {
        Self(whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect())
    }

    /// The line of an offset, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset) + 1
    }
}

impl Fault {
    /// Why the text that has this fault is no JSON, in a few words that quote nothing of it.
    pub(crate) fn reason(&self, whole: &[u8]) -> &'static str {
        let starts = Lines::of(whole).0;
        let start = self.line.checked_sub(2).and_then(|line| starts.get(line)).copied().unwrap_or(0);
        let at = start + self.column - 1;
        let before = whole[..at.min(whole.len())].trim_ascii_end().last();
        match (before, whole.get(at)) {
            (None, None) => "it is empty",
            (_, None) => "it ends in the middle",
            (Some(b','), Some(b'}' | b']')) => "there is a comma too many",
            (_, Some(byte)) if byte.is_ascii_control() => "it has a control character or a line break in a text",
            (Some(b'{' | b','), Some(byte)) if byte.is_ascii_alphanumeric() || *byte == b'\'' => {
                "a name is not in double quotes"
            }
            (Some(b'"' | b'}' | b']'), Some(b'"')) => "there is a comma missing",
            (Some(b'}'), Some(_)) => "something follows the end",
            _ => "this is not what JSON may have here",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Node;
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let fault = Node::parse(text.as_bytes()).err().expect("it is no JSON");
        assert_eq!(fault.reason(text.as_bytes()), want, "{text:?}");
    }

    #[test]
    fn reasons() {
        check("", "it is empty");
        check(" \n ", "it is empty");
        check("{\"a\": {\n", "it ends in the middle");
        check("{\n\"a\": 1,\n}", "there is a comma too many");
        check("{\"a\": [1, ]}", "there is a comma too many");
        check("{\"a\": \"x\ny\"}", "it has a control character or a line break in a text");
        check("{a: 1}", "a name is not in double quotes");
        check("{'a': 1}", "a name is not in double quotes");
        check("{\"a\": {}\n \"b\": {}}", "there is a comma missing");
        check("{\n} x", "something follows the end");
        check("not json", "this is not what JSON may have here");
        check("{\"a\" 1}", "this is not what JSON may have here");
        check("\u{feff}{}", "this is not what JSON may have here");
    }

    #[test]
    fn lines() {
        let lines = Lines::of(b"a\nb\n\nc");
        assert_eq!([0, 1, 2, 4, 5, 6].map(|offset| lines.line(offset)), [1, 1, 2, 3, 4, 4]);
        assert_eq!(Lines::of(b"").line(0), 1);
    }
}
