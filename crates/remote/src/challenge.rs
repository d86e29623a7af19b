//! What a registry that answers 401 wants to see. Pure.

/// One challenge of a `WWW-Authenticate` header.
///
/// Spec: RFC 9110, section 11.6.1; unquoted values are taken up to the next comma or space, as token servers in use
/// write them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AuthChallenge {
    /// The scheme in lower case.
    pub(crate) scheme: String,
    parameters: Vec<(String, String)>,
}

impl AuthChallenge {
    /// The value of a parameter, by its name in lower case; the first one if there are several.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Every challenge of every header, in order.
pub(crate) fn parse<'a>(headers: impl IntoIterator<Item = &'a str>) -> Vec<AuthChallenge> {
    let mut challenges = Vec::new();
    for header in headers {
        let mut scanner = ChallengeScanner { rest: header };
        let mut current: Option<AuthChallenge> = None;
        while let Some(word) = scanner.word() {
            match (scanner.value(), &mut current) {
                (Some(value), Some(challenge)) => challenge.parameters.push((word.to_ascii_lowercase(), value)),
                (Some(_), None) => {}
                (None, _) => {
                    challenges.extend(current.take());
                    current = Some(AuthChallenge { scheme: word.to_ascii_lowercase(), parameters: Vec::new() });
                }
            }
        }
        challenges.extend(current);
    }
    challenges
}

struct ChallengeScanner<'a> {
    rest: &'a str,
}

impl<'a> ChallengeScanner<'a> {
    /// The next token; separators and anything that cannot begin one are skipped.
    fn word(&mut self) -> Option<&'a str> {
        let token = |character: char| !matches!(character, ',' | '=' | '"') && !character.is_whitespace();
        let start = self.rest.find(token)?;
        let rest = &self.rest[start..];
        let end = rest.find(|character| !token(character)).unwrap_or(rest.len());
        self.rest = &rest[end..];
        Some(&rest[..end])
    }

    /// The value after `=`, if one follows.
    fn value(&mut self) -> Option<String> {
        let rest = self.rest.trim_start().strip_prefix('=')?.trim_start();
        if let Some(quoted) = rest.strip_prefix('"') {
            return Some(self.quoted(quoted));
        }
        let end = rest.find(|character: char| character == ',' || character.is_whitespace()).unwrap_or(rest.len());
        self.rest = &rest[end..];
        Some(rest[..end].to_owned())
    }

    fn quoted(&mut self, quoted: &'a str) -> String {
        let mut value = String::new();
        let mut characters = quoted.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    self.rest = &quoted[at + 1..];
                    return value;
                }
                '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
                _ => value.push(character),
            }
        }
        self.rest = "";
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(headers: &[&str], want: &[(&str, &[(&str, &str)])]) {
        let got = parse(headers.iter().copied());
        let got: Vec<(&str, Vec<(&str, &str)>)> = got
            .iter()
            .map(|challenge| {
                let parameters = challenge.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                (challenge.scheme.as_str(), parameters.collect())
            })
            .collect();
        let want: Vec<(&str, Vec<(&str, &str)>)> =
            want.iter().map(|(scheme, parameters)| (*scheme, parameters.to_vec())).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn bearer_with_everything() {
        check(
            &[r#"Bearer realm="https://a.test/token?x=1,2",service="a.test",scope="repository:x:pull,push""#],
            &[(
                "bearer",
                &[("realm", "https://a.test/token?x=1,2"), ("service", "a.test"), ("scope", "repository:x:pull,push")],
            )],
        );
    }

    #[test]
    fn several_challenges_in_one_line_and_in_several() {
        check(
            &[r#"Basic realm="lab", BEARER Realm = "https://t", error="invalid_token", odd=1"#, "Negotiate"],
            &[
                ("basic", &[("realm", "lab")]),
                ("bearer", &[("realm", "https://t"), ("error", "invalid_token"), ("odd", "1")]),
                ("negotiate", &[]),
            ],
        );
    }

    #[test]
    fn escapes_unquoted_values_and_rubbish() {
        check(&[r#"Basic realm="a \"b\" c""#], &[("basic", &[("realm", r#"a "b" c"#)])]);
        check(&["Bearer realm=https://t/x,service=s"], &[("bearer", &[("realm", "https://t/x"), ("service", "s")])]);
        check(&["", ",,,", "\"", "=x"], &[("x", &[])]);
        check(&[r#"Bearer realm="never ends"#], &[("bearer", &[("realm", "never ends")])]);
    }
}
