//! Why reading ends early.

use std::ops::Range;

use tofu_oci_types::TextPosition;

use super::scanner::Hcl1Token;
use crate::SyntaxErrorKind;
use crate::cursor::ScanFault;

/// Why reading ends early.
#[derive(Debug)]
pub(super) enum Hcl1Stop {
    /// The text ended where HCL 1 accepts it.
    End,
    /// A mistake, and the position that HCL 1 gives with it.
    Mistake(Box<ScanFault>, Option<TextPosition>),
}

impl Hcl1Stop {
    pub(super) fn at(token: &Hcl1Token, kind: SyntaxErrorKind, span: Range<usize>, message: impl Into<String>) -> Self {
        let fault = ScanFault { message: message.into(), span, kind };
        Self::Mistake(Box::new(fault), Some(token.position))
    }

    /// HCL 1 names the place of the innermost list first, then that of the mistake.
    pub(super) fn in_list(self, open: &Hcl1Token) -> Self {
        match self {
            Self::End => Self::End,
            Self::Mistake(fault, _) => Self::Mistake(fault, Some(open.position)),
        }
    }
}
