//! Where a JSON value ends, without recursion.

/// As deep as Go goes.
const DEEPEST: usize = 10_000;

/// The first offset from here that is no blank.
pub(super) fn blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

/// Where the value that starts here ends.
///
/// # Errors
/// The offset at which the text stops being JSON.
pub(super) fn value(text: &[u8], start: usize) -> Result<usize, usize> {
    let mut open: Vec<u8> = Vec::new();
    let mut at = start;
    loop {
        // Here a value starts, or its surrounding list or object ends at once.
        at = match text.get(at) {
            Some(bracket @ (b'{' | b'[')) => {
                open.push(*bracket);
                if open.len() > DEEPEST {
                    return Err(at);
                }
                let inside = blanks(text, at + 1);
                match (bracket, text.get(inside)) {
                    (b'{', Some(b'}')) | (b'[', Some(b']')) => inside,
                    (b'{', _) => {
                        at = member_name(text, inside)?;
                        continue;
                    }
                    _ => {
                        at = inside;
                        continue;
                    }
                }
            }
            Some(b'"') => string(text, at)?,
            Some(b'n') => word(text, at, b"null")?,
            Some(b't') => word(text, at, b"true")?,
            Some(b'f') => word(text, at, b"false")?,
            Some(b'-' | b'0'..=b'9') => number(text, at)?,
            _ => return Err(at),
        };
        // Here a value has ended: close what ends with it.
        loop {
            let Some(bracket) = open.last().copied() else { return Ok(at) };
            at = blanks(text, at);
            match (bracket, text.get(at)) {
                (b'{', Some(b'}')) | (b'[', Some(b']')) => {
                    open.pop();
                    at += 1;
                }
                (b'{', Some(b',')) => {
                    at = member_name(text, blanks(text, at + 1))?;
                    break;
                }
                (_, Some(b',')) => {
                    at = blanks(text, at + 1);
                    break;
                }
                _ => return Err(at),
            }
        }
    }
}

/// Behind `"name":` and blanks.
fn member_name(text: &[u8], at: usize) -> Result<usize, usize> {
    if text.get(at) != Some(&b'"') {
        return Err(at);
    }
    let colon = blanks(text, string(text, at)?);
    if text.get(colon) == Some(&b':') { Ok(blanks(text, colon + 1)) } else { Err(colon) }
}

fn string(text: &[u8], start: usize) -> Result<usize, usize> {
    let mut at = start + 1;
    loop {
        match text.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => {
                at = match text.get(at + 1) {
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at + 2,
                    Some(b'u') => {
                        let digits = text[at + 2..].iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count();
                        if digits < 4 {
                            return Err(at + 2 + digits);
                        }
                        at + 6
                    }
                    _ => return Err(at + 1),
                };
            }
            Some(byte) if *byte >= b' ' => at += 1,
            _ => return Err(at),
        }
    }
}

fn word(text: &[u8], start: usize, word: &[u8]) -> Result<usize, usize> {
    let same = text[start..].iter().zip(word).take_while(|(a, b)| a == b).count();
    if same == word.len() { Ok(start + same) } else { Err(start + same) }
}

fn number(text: &[u8], start: usize) -> Result<usize, usize> {
    let digits = |at: usize| {
        let count = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 { Err(at) } else { Ok(at + count) }
    };
    let mut at = start + usize::from(text[start] == b'-');
    at = if text.get(at) == Some(&b'0') { at + 1 } else { digits(at)? };
    if text.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(text.get(at), Some(b'+' | b'-')));
        at = digits(at)?;
    }
    Ok(at)
}
