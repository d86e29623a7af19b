//! Texts that must not be printed.

use std::fmt;

use zeroize::Zeroize as _;

/// A password, a token or another text that must not be printed. It has no `Display`, its `Debug` is masked, and its
/// memory is wiped when it is dropped. A comparison of two secrets of one length always takes the same time.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// A secret with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, only for a request's header or body, a file of credentials or a helper.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        let (one, other) = (self.0.as_bytes(), other.0.as_bytes());
        let differences = one.iter().zip(other).fold(0, |differences, (one, other)| differences | (one ^ other));
        one.len() == other.len() && std::hint::black_box(differences) == 0
    }
}

impl Eq for Secret {}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_printed() {
        assert_eq!(format!("{:?}", Secret::new("hunter2")), "Secret(***)");
    }

    #[test]
    fn secrets_are_compared_as_texts() {
        let same = |one: &str, other: &str| Secret::new(one) == Secret::new(other);
        assert!(same("", "") && same("hunter2", "hunter2"));
        assert!(!same("hunter2", "hunter3") && !same("hunter2", "hunter") && !same("hunter", "hunter2"));
    }
}
