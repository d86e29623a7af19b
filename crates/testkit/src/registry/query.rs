//! Queries and forms, decoded.

/// All values of a name, in order.
pub(crate) fn values(query: &str, name: &str) -> Vec<String> {
    decode_form(query).into_iter().filter(|(known, _)| known == name).map(|(_, value)| value).collect()
}

/// The first value of a name.
pub(crate) fn value(query: &str, name: &str) -> Option<String> {
    values(query, name).into_iter().next()
}

/// `application/x-www-form-urlencoded` as pairs; bytes that are not UTF-8 become replacement characters.
pub(crate) fn decode_form(text: &str) -> Vec<(String, String)> {
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        })
        .collect()
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = |at: usize| tail.get(at).and_then(|digit| (*digit as char).to_digit(16));
        match (*first, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).expect("two hex digits fit a byte"));
                rest = &tail[2..];
                continue;
            }
            (b'+', ..) => bytes.push(b' '),
            (other, ..) => bytes.push(other),
        }
        rest = tail;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
