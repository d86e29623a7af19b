//! What the words of the cases mean that are about an answer of any server.

use tofu_oci_testkit::{Answer, Fault, RequestHead};

/// The host that a request names, in lower case.
pub(super) fn host_of(head: &RequestHead) -> String {
    let host = head.headers.get("host").map(|host| String::from_utf8_lossy(host.as_bytes()).to_ascii_lowercase());
    host.unwrap_or_default()
}

/// A status, an error code, both in either order, or another fault.
pub(super) fn fault(word: &str) -> Fault {
    match word {
        "broken-json" => Fault::Answer(Answer::new(200).header("Content-Type", "application/json").body(r#"{"a": ["#)),
        "html" => Fault::Answer(Answer::new(200).header("Content-Type", "text/html").body("<html>hello</html>")),
        "reset" => Fault::Disconnect,
        "timeout" => Fault::Hang,
        "cut" => Fault::CutBody(5),
        _ => {
            let (status, code): (Vec<&str>, Vec<&str>) = word.split('-').partition(|part| part.parse::<u16>().is_ok());
            let shouted = code.iter().all(|code| code.chars().all(|letter| !letter.is_ascii_lowercase()));
            assert!(code.len() < 2 && shouted, "unknown fault: {word}");
            let status = status.first().and_then(|status| status.parse().ok()).unwrap_or(404);
            match code.first() {
                Some(code) => Fault::status(status, code),
                None => Fault::Answer(Answer::new(status)),
            }
        }
    }
}
