//! Signatures by a certificate that a program of the caller's gets: what is signed, and whether it was.

use std::fmt;

use async_trait::async_trait;
use tofu_oci_trust::{MadeBy, SIGN_PREDICATE, SignedContent};

use crate::{AttachedFile, SignError};

/// Signs statements without a key.
#[async_trait]
pub trait KeylessSigner: fmt::Debug + Send + Sync {
    /// A Sigstore bundle v0.3 with this in-toto statement.
    ///
    /// # Errors
    /// What went wrong, in words without a secret.
    async fn sign(&self, statement: &[u8]) -> Result<Vec<u8>, String>;
}

/// A signature of this content.
///
/// # Errors
/// [`SignError::Keyless`] if the program makes no signature, or if the signature says something else.
pub(crate) async fn signed_by(
    signer: &dyn KeylessSigner,
    content: SignedContent<'_>,
) -> Result<AttachedFile, SignError> {
    let failed = |problem: String| SignError::Keyless { problem };
    let bundle = signer.sign(&content.to_statement()).await.map_err(failed)?;
    let bundle = AttachedFile::bundle(&bundle).map_err(failed)?;
    if is_of(&bundle, content) { Ok(bundle) } else { Err(failed("the bundle says something else".to_owned())) }
}

fn is_of(bundle: &AttachedFile, content: SignedContent<'_>) -> bool {
    bundle.peek().is_some_and(|peek| {
        peek.made_by == MadeBy::Certificate
            && peek.statement.predicate_type == SIGN_PREDICATE
            && peek.statement.subjects.iter().any(|subject| content.is(subject))
    })
}
