//! Signatures by a certificate that a program of the caller's gets: what is signed, and whether it was.

use std::fmt;

use async_trait::async_trait;
use tofu_oci_trust::{MadeBy, SIGN_PREDICATE, SignedContent};

use super::Signing;
use crate::{AttachedFile, SignError};

/// Who signs.
#[derive(Clone, Copy, Debug)]
pub enum Signer<'a> {
    /// A key, in these forms.
    Key(Signing<'a>),
    /// Whoever a certificate is issued to. Each time is another signature.
    Keyless(&'a dyn KeylessSigner),
}

impl<'a> Signer<'a> {
    /// The key and the forms; `None` without a key.
    pub(crate) fn signing(self) -> Option<Signing<'a>> {
        if let Self::Key(signing) = self { Some(signing) } else { None }
    }

    /// The signature of this content that goes beside it as a file; empty for a key.
    pub(crate) async fn files(
        self,
        content: SignedContent<'_>,
        note: Option<&str>,
    ) -> Result<Vec<AttachedFile>, SignError> {
        match self {
            Self::Key(_) => Ok(Vec::new()),
            // Also if a signature is there: whoever may write to the repository may have put it there.
            Self::Keyless(signer) => Ok(vec![signed_by(signer, content, note).await?]),
        }
    }

    /// Whether it signs without a key.
    pub(crate) fn is_keyless(self) -> bool {
        matches!(self, Self::Keyless(_))
    }
}

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
async fn signed_by(
    signer: &dyn KeylessSigner,
    content: SignedContent<'_>,
    note: Option<&str>,
) -> Result<AttachedFile, SignError> {
    let failed = |problem: String| SignError::Keyless { problem };
    let bundle = signer.sign(&content.to_statement(note)).await.map_err(failed)?;
    let bundle = AttachedFile::bundle(&bundle).map_err(failed)?;
    if is_of(&bundle, content, note) { Ok(bundle) } else { Err(failed("the bundle says something else".to_owned())) }
}

fn is_of(bundle: &AttachedFile, content: SignedContent<'_>, note: Option<&str>) -> bool {
    bundle.peek().is_some_and(|peek| {
        peek.made_by == MadeBy::Certificate
            && peek.statement.predicate_type == SIGN_PREDICATE
            && peek.statement.subjects.iter().any(|subject| content.is(subject) && subject.note.as_deref() == note)
    })
}
