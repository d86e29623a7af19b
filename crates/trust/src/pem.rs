//! PEM: what lies between `-----BEGIN X-----` and `-----END X-----`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

/// The largest key file that is read, in bytes.
pub(crate) const LIMIT: usize = 64 * 1024;

/// One block; its content is wiped when it is dropped, because it may be a private key.
pub(crate) struct PemBlock {
    pub(crate) label: String,
    pub(crate) content: Zeroizing<Vec<u8>>,
}

/// The blocks of a file, in its order; text around them is not looked at.
///
/// Spec: RFC 7468, section 2 (the lax form: lines of any length).
pub(crate) fn blocks(file: &[u8]) -> Result<Vec<PemBlock>, String> {
    if file.len() > LIMIT {
        return Err(format!("the file has {} bytes, and at most {LIMIT} are read", file.len()));
    }
    let mut blocks = Vec::new();
    let mut lines = file.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    while let Some(line) = lines.next() {
        let Some(label) = boundary(line, b"-----BEGIN ") else { continue };
        // As large as the file, so that it never grows and leaves no copy of itself in memory.
        let mut digits = Zeroizing::new(Vec::with_capacity(file.len()));
        loop {
            let line = lines.next().ok_or_else(|| format!("`-----BEGIN {label}-----` has no end"))?;
            if let Some(end) = boundary(line, b"-----END ") {
                if end != label {
                    return Err(format!("`-----BEGIN {label}-----` ends with `-----END {end}-----`"));
                }
                break;
            }
            if line.contains(&b':') {
                return Err("it is encrypted by OpenSSL's old form (a header line `Proc-Type`)".to_owned());
            }
            digits.extend(line.iter().filter(|byte| !byte.is_ascii_whitespace()));
        }
        let mut content = Zeroizing::new(vec![0; digits.len() / 4 * 3 + 3]);
        let length =
            STANDARD.decode_slice(&*digits, &mut content).map_err(|_| format!("the block `{label}` is not base64"))?;
        content.truncate(length);
        blocks.push(PemBlock { label, content });
    }
    Ok(blocks)
}

fn boundary(line: &[u8], begin: &[u8]) -> Option<String> {
    let label = line.strip_prefix(begin)?.strip_suffix(b"-----")?;
    let plain = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ';
    label.iter().all(plain).then(|| String::from_utf8_lossy(label).into_owned())
}

/// The PEM text of `content`, in lines of 64 characters.
pub(crate) fn encode(label: &str, content: &[u8]) -> String {
    let digits = STANDARD.encode(content);
    let lines = digits.as_bytes().chunks(64).map(String::from_utf8_lossy);
    let body = lines.fold(String::new(), |body, line| body + &line + "\n");
    format!("-----BEGIN {label}-----\n{body}-----END {label}-----\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, want: Result<&[(&str, &[u8])], &str>) {
        let got = blocks(file.as_bytes());
        let got: Result<Vec<(&str, &[u8])>, &str> = match &got {
            Ok(blocks) => Ok(blocks.iter().map(|block| (block.label.as_str(), &**block.content)).collect()),
            Err(problem) => Err(problem),
        };
        assert_eq!(got.as_deref(), want.as_ref().map(|blocks| *blocks), "{file}");
    }

    #[test]
    fn files() {
        check("", Ok(&[]));
        check("-----BEGIN A B-----\nAQID\n-----END A B-----\n", Ok(&[("A B", &[1, 2, 3])]));
        check("text\r\n-----BEGIN A-----\r\nAQ\r\nID\r\n-----END A-----", Ok(&[("A", &[1, 2, 3])]));
        let two = "-----BEGIN A-----\nAQ==\n-----END A-----\n-----BEGIN B-----\n-----END B-----\n";
        check(two, Ok(&[("A", &[1]), ("B", &[])]));
        check("-----BEGIN A-----\nAQID\n", Err("`-----BEGIN A-----` has no end"));
        check("-----BEGIN A-----\n-----END B-----\n", Err("`-----BEGIN A-----` ends with `-----END B-----`"));
        check("-----BEGIN A-----\nAR==\n-----END A-----\n", Err("the block `A` is not base64"));
        let old = "-----BEGIN A-----\nProc-Type: 4,ENCRYPTED\n\nAQID\n-----END A-----\n";
        check(old, Err("it is encrypted by OpenSSL's old form (a header line `Proc-Type`)"));
        check(&"x".repeat(LIMIT + 1), Err("the file has 65537 bytes, and at most 65536 are read"));
    }

    #[test]
    fn texts() {
        let text = encode("PUBLIC KEY", &[7; 50]);
        check(&text, Ok(&[("PUBLIC KEY", &[7; 50])]));
        assert!(text.lines().all(|line| line.len() <= 64));
    }
}
