//! What may be repeated of a line that a failing helper wrote: it may be a secret, or hold one.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

use crate::Secret;

/// What stands for the words that are not repeated.
const LEFT_OUT: &str = "…";

/// A word of a language is hardly longer; a token is.
const LONGEST_WORD: usize = 24;

/// No year, port, code or line needs more digits. A one-time password does.
const LONGEST_NUMBER: usize = 4;

/// The most of a line that is looked at, in characters.
const LONGEST_LINE: usize = 200;

/// The first line of what a helper wrote, as far as it is harmless; how it ended where nothing of that is left.
/// `known` is a secret that the helper has been told, or has told.
pub(super) fn said(text: &str, exit: Option<i32>, known: Option<&Secret>) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let ended = exit.map_or_else(|| "a signal ended it".to_owned(), |code| format!("exit status {code}"));
    if line.is_empty() {
        return ended;
    }
    match harmless(line, known) {
        Some(line) if !text.contains('{') => line,
        _ => format!("{ended}; what it wrote may hold a secret and is not repeated"),
    }
}

/// The line with its harmless words alone; nothing where there is none.
fn harmless(line: &str, known: Option<&Secret>) -> Option<String> {
    let line = without(line, known);
    let short: String = line.chars().take(LONGEST_LINE).collect();
    let mut words: Vec<&str> = Vec::new();
    let mut named = false;
    for word in short.split_whitespace() {
        let fine = !named && is_harmless(word) && !known.is_some_and(|known| is_part(word, known));
        named = names_secret(word);
        match words.last() {
            _ if fine => words.push(word),
            Some(&LEFT_OUT) => {}
            _ => words.push(LEFT_OUT),
        }
    }
    words.iter().any(|word| *word != LEFT_OUT).then(|| words.join(" "))
}

/// The line without a known secret, as it is and in base64.
fn without(line: &str, known: Option<&Secret>) -> Zeroizing<String> {
    let mut line = Zeroizing::new(line.to_owned());
    let Some(known) = known.filter(|known| !known.is_empty()) else { return line };
    let secret = known.expose();
    for form in [secret.to_owned(), STANDARD_NO_PAD.encode(secret), URL_SAFE_NO_PAD.encode(secret)].map(Zeroizing::new)
    {
        line = Zeroizing::new(line.replace(form.as_str(), LEFT_OUT));
    }
    line
}

/// Whether a word is a piece of a secret, which may be one of several words.
fn is_part(word: &str, known: &Secret) -> bool {
    let word = Zeroizing::new(bare(word).to_lowercase());
    let known = Zeroizing::new(known.expose().to_lowercase());
    word.chars().count() > 2 && known.contains(word.as_str())
}

/// Whether a word announces that the next one is a secret: `password: …`.
fn names_secret(word: &str) -> bool {
    const NAMES: [&str; 6] = ["pass", "secret", "token", "key", "auth", "credential"];
    let word = word.to_lowercase();
    word.ends_with([':', '=']) && NAMES.iter().any(|name| word.contains(name))
}

/// A word of letters or a short number, with ordinary punctuation around it.
fn is_harmless(word: &str) -> bool {
    let bare = bare(word);
    let (letters, ending) = bare.split_once(['\'', '’']).unwrap_or((bare, ""));
    if !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit()) {
        return bare.len() <= LONGEST_NUMBER;
    }
    let count = letters.chars().count();
    // Capital letters in the middle are the look of a token.
    let capitals = letters.chars().skip(1).filter(|letter| letter.is_uppercase()).count();
    (1..=LONGEST_WORD).contains(&count)
        && letters.chars().all(char::is_alphabetic)
        && (capitals == 0 || (capitals == count - 1 && letters.starts_with(char::is_uppercase)))
        && ending.chars().count() <= 2
        && ending.chars().all(char::is_alphabetic)
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    let quotes = ['"', '\'', '`', '“', '”', '‘', '’', '«', '»'];
    let begun = word.trim_start_matches(['(', '[']).trim_start_matches(quotes);
    begun.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']']).trim_end_matches(quotes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIDDEN: &str = "exit status 2; what it wrote may hold a secret and is not repeated";

    #[track_caller]
    fn check(text: &str, want: &str) {
        assert_eq!(said(text, Some(2), None), want, "{text}");
    }

    #[track_caller]
    fn check_known(secret: &str, text: &str, want: &str) {
        assert_eq!(said(text, Some(2), Some(&Secret::new(secret))), want, "{text}");
    }

    #[test]
    fn a_secret_on_the_standard_output_of_a_failing_helper_is_not_repeated() {
        check("ada:LEAKED-SECRET-4", HIDDEN);
        check("token=LEAKED rejected", "… rejected");
        check("LEAKED/LEAKED was refused", "… was refused");
        check("bad login hunter2", "bad login …");
        check("no such code: 123456", "no such code: …");
        check("dckr_pat_abcDEF is no token", "… is no token");
        check("abcDEFghi is no token", "… is no token");
        check("the token abcdefghijklmnopqrstuvwxyz is old", "the token … is old");
        check("password: hunter", "password: …");
        check("Access-Token: hunter is old", "… is old");
        check("one-two three-four five", "… five");
        check("{\"Secret\": \"hunter\"}", HIDDEN);
        check("fine\n{\"Secret\": \"hunter\"}", HIDDEN);
        check("\u{1b}[31mred\u{7}", HIDDEN);
        check("se\u{200b}cret", HIDDEN);
        check("%68unter a+b a@b a.b a_b a'bcd", HIDDEN);
    }

    #[test]
    fn what_people_can_use_stays_readable() {
        check("the keyring is locked\nsecond line", "the keyring is locked");
        check("", "exit status 2");
        check("Error: the vault (of \"ada\") isn't open, sorry!", "Error: the vault (of \"ada\") isn't open, sorry!");
        check("exit status 7: gpg failed [2026]", "exit status 7: gpg failed [2026]");
        check("der Schlüssel fehlt", "der Schlüssel fehlt");
        check("HTTP 401 at https://vault.example", "HTTP 401 at …");
        check("Credentials not found in native keychain", "Credentials not found in native keychain");
        assert_eq!(said(" \n", None, None), "a signal ended it");
    }

    #[test]
    fn a_secret_that_the_helper_was_told_is_cut_out_whatever_it_looks_like() {
        check_known("hunter", "bad password hunter", "bad password …");
        check_known("hunter", "bad password Hunter.", "bad password …");
        check_known("hunter", "bad passwordhunter here", "bad … here");
        check_known("correct horse battery", "no: correct horse battery is bad", "no: … is bad");
        check_known("correct horse battery", "no: horse is bad", "no: … is bad");
        check_known("hunter", "aHVudGVy is bad", "… is bad");
        check_known("a", "a bad day yet", "… yet");
        check_known("", "the keyring is locked", "the keyring is locked");
    }
}
