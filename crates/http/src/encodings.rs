//! Where a text contains a secret, however it is encoded there. Pure.
//!
//! Text and secret are both decoded to their end: percent encoding with whatever set, escapes of JSON and HTML, one inside
//! another; blanks, line breaks and invisible characters are dropped. Each byte that remains keeps its original place.
//! So one comparison finds every way of writing the same secret, and no list of ways has to be complete.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use tofu_oci_types::{Secret, is_unprintable};
use zeroize::Zeroizing;

/// How many encodings around each other are taken off.
const DEEPEST: usize = 6;

/// Pieces of an encoded secret that are shorter would be found in ordinary words.
const SHORTEST_PIECE: usize = 4;

/// What characters mean that encodings treat differently.
#[derive(Clone, Copy)]
enum Alphabet {
    /// `+` is a blank, as in forms.
    Form,
    /// `+` and `-` are one character, and so are `/` and `_`.
    Base64,
}

/// A text with the place in the original that each byte came from.
struct DecodedText {
    bytes: Zeroizing<Vec<u8>>,
    places: Vec<Range<usize>>,
}

/// A secret as it is sought: its forms, decoded once, since every text of a run is compared with them.
pub(crate) struct SoughtSecret {
    /// By `Form`, then by `Base64`.
    forms: [Vec<Zeroizing<Vec<u8>>>; 2],
}

impl SoughtSecret {
    pub(crate) fn new(secret: &str) -> Self {
        let forms = forms(secret);
        let decoded = |alphabet| {
            let mut decoded: Vec<Zeroizing<Vec<u8>>> = Vec::new();
            for view in forms.iter().flat_map(|form| views(form.expose(), alphabet)) {
                if !view.bytes.is_empty() && !decoded.contains(&view.bytes) {
                    decoded.push(view.bytes);
                }
            }
            decoded
        };
        Self { forms: [Alphabet::Form, Alphabet::Base64].map(decoded) }
    }
}

/// The forms of a secret that decoding does not bring back to it: base64 at each of its three alignments, and hexadecimal.
/// With the secret itself.
fn forms(secret: &str) -> Vec<Secret> {
    let mut forms = vec![Secret::new(secret)];
    for (before, first) in [(0, 0), (1, 2), (2, 3)] {
        let mut bytes = Zeroizing::new(vec![0; before]);
        bytes.extend_from_slice(secret.as_bytes());
        let encoded = Zeroizing::new(STANDARD_NO_PAD.encode(&*bytes));
        // Characters that hold bits of the text before or after the secret are not known.
        let piece = encoded.get(first..bytes.len() * 8 / 6).unwrap_or_default();
        if piece.len() >= SHORTEST_PIECE {
            forms.push(Secret::new(piece));
        }
    }
    let hex: Zeroizing<String> = Zeroizing::new(secret.bytes().map(|byte| format!("{byte:02x}")).collect());
    if hex.len() >= SHORTEST_PIECE {
        forms.push(Secret::new(hex.to_uppercase()));
        forms.push(Secret::new(hex.as_str()));
    }
    forms
}

/// The places of a text that contain one of these secrets, in order, none touching another. If the text was cut off, and
/// ends with `…`, the beginning of a secret is found too.
pub(crate) fn places<'a>(text: &str, secrets: &(impl Iterator<Item = &'a SoughtSecret> + Clone)) -> Vec<Range<usize>> {
    if secrets.clone().next().is_none() {
        return Vec::new();
    }
    let is_cut = text.ends_with('…');
    let text = text.trim_end_matches('…');
    let mut found: Vec<Range<usize>> = Vec::new();
    for (nth, alphabet) in [Alphabet::Form, Alphabet::Base64].into_iter().enumerate() {
        let views = views(text, alphabet);
        for wanted in secrets.clone().flat_map(|secret| &secret.forms[nth]) {
            for view in &views {
                view.find(wanted, is_cut, &mut found);
            }
        }
    }
    found.sort_by_key(|place| (place.start, place.end));
    found.dedup_by(|next, last| {
        let meets = next.start <= last.end;
        if meets {
            last.end = last.end.max(next.end);
        }
        meets
    });
    found
}

/// The text as it is and after each round of decoding. The first rounds take off all encodings or one of them, since a
/// secret may itself look like an encoded text.
fn views(text: &str, alphabet: Alphabet) -> Vec<DecodedText> {
    let bytes = Zeroizing::new(text.as_bytes().to_vec());
    let mut views = vec![DecodedText { places: (0..bytes.len()).map(|at| at..at + 1).collect(), bytes }];
    let mut from = 0;
    for round in 0..DEEPEST {
        let decoders: &[&[Decoder]] = if round < 2 { &[&ALL, &[percent], &[backslash], &[entity]] } else { &[&ALL] };
        let to = views.len();
        for at in from..to {
            for decoders in decoders {
                let next = views[at].decoded(alphabet, decoders);
                if views.iter().all(|view| view.bytes != next.bytes) {
                    views.push(next);
                }
            }
        }
        from = to;
    }
    views
}

/// Takes one encoding off a text's first character: how many bytes it takes, and what it means.
type Decoder = fn(&[u8]) -> Option<(usize, Vec<u8>)>;

const ALL: [Decoder; 3] = [percent, backslash, entity];

impl DecodedText {
    fn find(&self, wanted: &[u8], is_cut: bool, found: &mut Vec<Range<usize>>) {
        if self.bytes.is_empty() {
            return;
        }
        let mut from = 0;
        while let Some(at) = position(self.bytes.get(from..).unwrap_or_default(), wanted) {
            let (first, last) = (from + at, from + at + wanted.len() - 1);
            found.push(self.places[first].start..self.places[last].end);
            from = last + 1;
        }
        if is_cut {
            let longest = wanted.len().min(self.bytes.len() + 1) - 1;
            let begun = (SHORTEST_PIECE..=longest).rev().find(|length| self.bytes.ends_with(&wanted[..*length]));
            found.extend(
                begun.map(|length| self.places[self.bytes.len() - length].start..self.places[self.bytes.len() - 1].end),
            );
        }
    }

    /// One encoding less.
    fn decoded(&self, alphabet: Alphabet, decoders: &[Decoder]) -> Self {
        let mut next = Self { bytes: Zeroizing::new(Vec::with_capacity(self.bytes.len())), places: Vec::new() };
        let mut at = 0;
        while let Some(rest) = self.bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let (length, meant) =
                decoders.iter().find_map(|decoder| decoder(rest)).unwrap_or_else(|| plain(rest, alphabet));
            let place = self.places[at].start..self.places[at + length - 1].end;
            next.places.extend(std::iter::repeat_n(place, meant.len()));
            next.bytes.extend_from_slice(&meant);
            at += length;
        }
        next
    }
}

fn position(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

/// `%2F`, `%2f`.
fn percent(rest: &[u8]) -> Option<(usize, Vec<u8>)> {
    let code = rest.strip_prefix(b"%").and_then(|rest| hex(rest.get(..2)?))?;
    Some((3, vec![u8::try_from(code).ok()?]))
}

/// `\/`, `\"`, `\u002f`, `\x2f`, `\n`; half a pair of a character beyond U+FFFF comes with the other half.
fn backslash(rest: &[u8]) -> Option<(usize, Vec<u8>)> {
    let rest = rest.strip_prefix(b"\\")?;
    match rest.first()? {
        b'n' | b'r' | b't' | b'b' | b'f' => Some((2, Vec::new())),
        b'x' => hex(rest.get(1..3)?).map(|code| (4, character(code))),
        b'u' => {
            let high = hex(rest.get(1..5)?)?;
            let low = rest.get(5..7).filter(|mark| *mark == b"\\u").and_then(|_| hex(rest.get(7..11)?));
            match low.filter(|low| (0xd800..0xdc00).contains(&high) && (0xdc00..0xe000).contains(low)) {
                Some(low) => Some((12, character(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)))),
                None => Some((6, character(high))),
            }
        }
        other if other.is_ascii_punctuation() => Some((2, vec![*other])),
        _ => None,
    }
}

/// `&amp;`, `&#47;`, `&#x2F;`.
fn entity(rest: &[u8]) -> Option<(usize, Vec<u8>)> {
    const NAMED: [(&str, char); 31] = [
        ("amp", '&'),
        ("lt", '<'),
        ("gt", '>'),
        ("quot", '"'),
        ("apos", '\''),
        ("sol", '/'),
        ("plus", '+'),
        ("equals", '='),
        ("colon", ':'),
        ("num", '#'),
        ("percnt", '%'),
        ("excl", '!'),
        ("dollar", '$'),
        ("lpar", '('),
        ("rpar", ')'),
        ("ast", '*'),
        ("comma", ','),
        ("period", '.'),
        ("semi", ';'),
        ("quest", '?'),
        ("commat", '@'),
        ("lsqb", '['),
        ("bsol", '\\'),
        ("rsqb", ']'),
        ("Hat", '^'),
        ("lowbar", '_'),
        ("grave", '`'),
        ("lbrace", '{'),
        ("verbar", '|'),
        ("rbrace", '}'),
        ("nbsp", ' '),
    ];
    let inner = rest.strip_prefix(b"&")?;
    let end = inner.iter().take(10).position(|byte| *byte == b';')?;
    let name = std::str::from_utf8(inner.get(..end)?).ok()?;
    let meant = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(number) => character(hex(number.as_bytes())?),
            None => character(number.parse().ok()?),
        },
        None => character(u32::from(NAMED.iter().find(|(known, _)| *known == name)?.1)),
    };
    Some((end + 2, meant))
}

/// A character as it is; a blank or an invisible character means nothing.
fn plain(rest: &[u8], alphabet: Alphabet) -> (usize, Vec<u8>) {
    let length = match rest.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => 1,
    };
    match rest.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok()?.chars().next()) {
        Some(one) => (
            length,
            match (alphabet, one) {
                (Alphabet::Form, '+') => Vec::new(),
                (Alphabet::Base64, '+') => vec![b'-'],
                (Alphabet::Base64, '/') => vec![b'_'],
                _ => character(u32::from(one)),
            },
        ),
        None => (1, vec![rest.first().copied().unwrap_or_default()]),
    }
}

fn character(code: u32) -> Vec<u8> {
    match char::from_u32(code) {
        Some(one) if one.is_whitespace() || is_unprintable(one) => Vec::new(),
        Some(one) => one.to_string().into_bytes(),
        None => Vec::new(),
    }
}

fn hex(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok()?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};

    use super::*;

    const SECRET: &str = "pä/ss+wörd?>\"<&\\%41 =x~";

    /// The text with what was found of the secret taken out.
    fn left(secret: &str, text: &str) -> String {
        let secrets = [SoughtSecret::new(secret)];
        let (mut left, mut from) = (String::new(), 0);
        for place in places(text, &secrets.iter()) {
            left.push_str(&text[from..place.start]);
            from = place.end;
        }
        left + &text[from..]
    }

    #[track_caller]
    fn check(encoded: &str) {
        assert_eq!(
            left(SECRET, &format!("before {encoded} after")).replace(['=', ' ', '\n', '\u{200b}'], ""),
            "beforeafter",
            "{encoded}"
        );
    }

    fn percent_encoded(text: &str, kept: &[u8], upper: bool) -> String {
        let one = |byte: u8| match byte {
            byte if byte.is_ascii_alphanumeric() || kept.contains(&byte) => char::from(byte).to_string(),
            byte if upper => format!("%{byte:02X}"),
            byte => format!("%{byte:02x}"),
        };
        text.bytes().map(one).collect()
    }

    #[test]
    fn a_secret_is_found_in_every_percent_encoding() {
        for kept in [&b""[..], b"/", b"-._~", b"/-._~!$&'()*,;=:@"] {
            for upper in [true, false] {
                let once = percent_encoded(SECRET, kept, upper);
                check(&once);
                check(&once.replace("%20", "+"));
                check(&percent_encoded(&once, kept, upper));
                check(&percent_encoded(&percent_encoded(&once, b"", upper), kept, upper));
            }
        }
    }

    #[test]
    fn a_secret_is_found_escaped_for_json_and_html() {
        let json = serde_json::to_string(SECRET).unwrap();
        let json = &json[1..json.len() - 1];
        let all: String = SECRET.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
        let html = SECRET.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
        let numbers: String = SECRET.chars().map(|one| format!("&#{};", u32::from(one))).collect();
        let hex: String = SECRET.chars().map(|one| format!("&#x{:X};", u32::from(one))).collect();
        for text in [SECRET, json, &json.replace('/', "\\/"), &all, &html, &numbers, &hex] {
            check(text);
            check(&percent_encoded(text, b"/", false));
            check(&text.replace('&', "&amp;"));
            check(&text.replace('\\', "\\\\"));
        }
        check(&SECRET.chars().map(|one| format!("{one}\n")).collect::<String>());
        check(&SECRET.chars().map(|one| format!("{one}\u{200b}")).collect::<String>());
    }

    #[test]
    fn a_secret_is_found_in_base64_wherever_it_begins() {
        for before in ["", "a", "ab", "ada:"] {
            for after in ["", "z", "zz"] {
                let login = format!("{before}{SECRET}{after}");
                let encodings = [
                    STANDARD.encode(&login),
                    STANDARD_NO_PAD.encode(&login),
                    URL_SAFE.encode(&login),
                    URL_SAFE_NO_PAD.encode(&login),
                ];
                for encoded in encodings {
                    for text in [encoded.clone(), percent_encoded(&encoded, b"", true), encoded.replace('/', "\\/")] {
                        let left = left(SECRET, &text);
                        assert!(left.len() <= text.len() / 3 && left.len() < 30, "{before} {text}: {left}");
                    }
                }
            }
        }
        assert_eq!(left("hunter2", "68756e74657232 is hex"), " is hex");
    }

    #[test]
    fn half_a_secret_at_the_end_of_a_cut_text_is_found() {
        assert_eq!(left("correct-horse", "it was correct-ho…"), "it was …");
        assert_eq!(left("correct-horse", "it was correct-ho"), "it was correct-ho");
        assert_eq!(left("correct-horse", "it was correct-horse…"), "it was …");
    }

    #[test]
    fn ordinary_text_is_left() {
        for text in ["", "no such blob: 100% of a & b \\ c", "é%zz &unknown; \\q %e", "&#99999999; \\ud800 …"] {
            assert_eq!(left("hunter2", text), text);
        }
    }
}
