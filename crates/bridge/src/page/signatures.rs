//! Who signed a release, in words.

use maud::{Markup, html};
use tofu_oci_fetch::SignatureStanding;

use super::words::{counted, foreign};

/// In two or three words, for a table.
pub(super) fn short(standing: &SignatureStanding) -> Markup {
    match standing {
        SignatureStanding::Signed { by } => html! { span.good { (foreign(&by.join(", "))) } },
        SignatureStanding::SignedBefore => html! { span.good { "signed before" } },
        SignatureStanding::Refused { .. } => html! { span.mark.warn { "refused" } },
        SignatureStanding::NotJudged { found: 0 } | SignatureStanding::Unsigned => html! { "unsigned" },
        SignatureStanding::NotJudged { .. } => html! { "not checked" },
    }
}

/// In a sentence.
pub(super) fn long(standing: &SignatureStanding) -> Markup {
    match standing {
        SignatureStanding::Signed { by } => {
            html! { "By " b { (foreign(&by.join(", "))) } ". This server has verified it." }
        }
        SignatureStanding::SignedBefore => html! { "By a key that this server knew when it saw the release first." },
        SignatureStanding::Unsigned => html! { "By no key that this server trusts; its policy accepts that." },
        SignatureStanding::Refused { code } => {
            html! { "The trust policy of this server refuses the release (" code { (code) } ")." }
        }
        SignatureStanding::NotJudged { found: 0 } => html! { "No signature lies beside the release." },
        SignatureStanding::NotJudged { found } => {
            html! { (counted(*found as u64, "signature")) " found, not verified: this server has no key of the publisher." }
        }
    }
}
