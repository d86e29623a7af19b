//! Why reading ends early.

use std::ops::Range;

use super::scanner::Token;
use crate::cursor::Fault;
use crate::{Position, SyntaxErrorKind};

/// Why reading ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// The text ended where HCL 1 does not mind.
    End,
    /// A mistake, and the position that HCL 1 gives with it.
    Mistake(Box<Fault>, Option<Position>),
}

impl Stop {
    pub(super) fn at(token: &Token, kind: SyntaxErrorKind, span: Range<usize>, message: impl Into<String>) -> Self {
        let fault = Fault { message: message.into(), span, kind };
        Self::Mistake(Box::new(fault), Some(token.position))
    }

    /// HCL 1 names the place of the innermost list first, then that of the mistake.
    pub(super) fn in_list(self, open: &Token) -> Self {
        match self {
            Self::End => Self::End,
            Self::Mistake(fault, _) => Self::Mistake(fault, Some(open.position)),
        }
    }
}
