//! What may be repeated of what a failing helper wrote. It may be a secret, or hold one, and a secret may look like words: so
//! nothing of it is repeated, and a phrase of the list below is named if it is in there.

/// What helpers in use are known to write, and people need to know. `docs/reference/credential-sources.md` lists them too.
///
/// Spec: docker-credential-helpers (osxkeychain, pass, secretservice, wincred), `gpg`, libsecret, amazon-ecr-credential-helper,
/// docker-credential-gcr.
pub(super) const KNOWN: [&str; 18] = [
    "credentials not found in native keychain",
    "no credentials server URL",
    "no credentials username",
    "pass not initialized",
    "password store is empty",
    "gpg: decryption failed: No secret key",
    "gpg: decryption failed",
    "Inappropriate ioctl for device",
    "Cannot autolaunch D-Bus without X11 $DISPLAY",
    "The name org.freedesktop.secrets was not provided by any .service files",
    "Cannot get secret of a locked object",
    "The specified item could not be found in the keychain",
    "User interaction is not allowed",
    "The user name or passphrase you entered is not correct",
    "keychain is locked",
    "no valid providers in chain",
    "token has expired",
    "You do not currently have an active account selected",
];

/// How a helper ended, and the known phrase that it wrote, if it wrote one.
pub(super) fn said(text: &str, exit: Option<i32>) -> String {
    let ended = exit.map_or_else(|| "a signal ended it".to_owned(), |code| format!("exit status {code}"));
    let text = text.trim();
    let lower = zeroize::Zeroizing::new(text.to_lowercase());
    match KNOWN.iter().find(|phrase| lower.contains(&phrase.to_lowercase())) {
        Some(phrase) => format!("{ended}: {phrase}"),
        None if text.is_empty() => ended,
        None => format!("{ended}; what it wrote may hold a secret and is not repeated"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIDDEN: &str = "exit status 2; what it wrote may hold a secret and is not repeated";

    #[track_caller]
    fn check(text: &str, want: &str) {
        assert_eq!(said(text, Some(2)), want, "{text}");
    }

    #[test]
    fn nothing_of_a_failing_helper_is_repeated() {
        for text in [
            "hunter",
            "correct horse battery staple",
            "the login of ada is hunter",
            "ada:LEAKED-SECRET-4",
            "{\"Secret\": \"x\"}",
            "the vault is shut\nsecond line",
            "\u{1b}[31mred\u{7}",
            "Error: isn't open, sorry!",
            "123456",
        ] {
            check(text, HIDDEN);
        }
    }

    #[test]
    fn a_known_phrase_is_named_in_the_words_of_the_list() {
        check("", "exit status 2");
        check(
            "exit status 2: gpg: decryption failed: No secret key: hunter",
            "exit status 2: gpg: decryption failed: No secret key",
        );
        check("Pass Not Initialized: hunter", "exit status 2: pass not initialized");
        check(
            "Credentials not found in native keychain (hunter)",
            "exit status 2: credentials not found in native keychain",
        );
        assert_eq!(said(" \n", None), "a signal ended it");
    }

    #[test]
    fn the_documentation_lists_every_phrase() {
        let documented = include_str!("../../../../docs/reference/credential-sources.md");
        let line = |phrase: &&str| documented.contains(&format!("`{phrase}`"));
        assert!(KNOWN.iter().all(&line), "{:?}", KNOWN.iter().find(|phrase| !line(phrase)));
    }
}
