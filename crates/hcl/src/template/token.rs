//! The smallest pieces of a template.

use std::ops::Range;

/// A token and its bytes in the template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TemplateToken {
    pub(super) kind: TemplateTokenKind,
    pub(super) span: Range<usize>,
}

/// Spec: HCL 2, hclsyntax specification, "Lexical Elements" and "Templates".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TemplateTokenKind {
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    OpenQuote,
    CloseQuote,
    /// `<<MARKER` with its end of line; `true` for `<<-`.
    OpenHeredoc(bool),
    CloseHeredoc,
    /// `${` or `${~`.
    Interpolation,
    /// `%{` or `%{~`.
    Directive,
    /// `}` or `~}` at the end of a sequence.
    SequenceEnd,
    /// A piece of text between quotes.
    QuotedText,
    /// A piece of text outside of quotes.
    Text,
    Number,
    Identifier,
    Star,
    Slash,
    Plus,
    Minus,
    Percent,
    Equal,
    DoubleEqual,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
    Not,
    Dot,
    Comma,
    Ellipsis,
    FatArrow,
    Question,
    Colon,
    DoubleColon,
    Newline,
    /// `true` if the comment includes the end of its line.
    Comment(bool),
    /// `&`, `|`, `^` or `~`, which are not operators here.
    Bitwise,
    Backtick,
    Apostrophe,
    Semicolon,
    /// An end of line between quotes.
    QuotedNewline,
    Invalid,
    End,
}

impl TemplateTokenKind {
    /// The opening token of a closing one; `None` for any other.
    pub(super) fn opener(self) -> Option<Self> {
        match self {
            Self::CloseParen => Some(Self::OpenParen),
            Self::CloseBracket => Some(Self::OpenBracket),
            Self::CloseBrace => Some(Self::OpenBrace),
            Self::CloseQuote => Some(Self::OpenQuote),
            Self::CloseHeredoc => Some(Self::OpenHeredoc(false)),
            Self::SequenceEnd => Some(Self::Interpolation),
            _ => None,
        }
    }

    /// The kind that counts when brackets are matched: both openers of sequences are one, and both heredocs.
    pub(super) fn bracket(self) -> Self {
        match self {
            Self::Directive => Self::Interpolation,
            Self::OpenHeredoc(_) => Self::OpenHeredoc(false),
            other => other,
        }
    }
}
