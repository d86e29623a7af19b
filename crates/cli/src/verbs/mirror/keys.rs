//! A trust policy with the keys that were found upstream.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use tofu_oci_mirror::{FoundKey, FoundSigners, MirrorError, OtherSigner};
use tofu_oci_trust::{KeyId, MadeBy, claimed_key};
use tofu_oci_types::{Event, ProviderAddr, printable};

use super::exit_of;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::invocation;
use crate::page::Page;
use crate::printer;
use crate::verbs::context::Context;

/// What was found of each provider.
type Found = (ProviderAddr, Result<Vec<FoundKey>, Diagnostic>);

const HEAD: &str = "\
# The keys that sign the upstream releases today, as the upstream itself names them. Compare each
# fingerprint with what its publisher says elsewhere before you trust it.
";

/// Prints a `trust.toml`. A provider whose keys are not known is a comment in it, and an error afterwards. If no key is known,
/// nothing is printed.
pub(super) fn print(
    context: &Context,
    found: Vec<(ProviderAddr, Result<FoundSigners, MirrorError>)>,
) -> Result<Exit, Diagnostic> {
    let known = |(address, found): (ProviderAddr, Result<FoundSigners, MirrorError>)| {
        let keys = found.map_err(Diagnostic::from).and_then(|FoundSigners { version, keys, others }| {
            let Some(version) = version else { return Err(all_denied()) };
            let verified = format!("{address}@{version}");
            let others = described(&others);
            if keys.is_empty() {
                return Err(no_key(&verified, others.as_deref()));
            }
            if let Some(others) = others {
                let text = format!("{address} also has signatures by {others}, which the policy does not name");
                context.reporter.event(&Event::note("keys-not-carried", text).with_hint(write_them(&verified)));
            }
            Ok(keys)
        });
        (address, keys)
    };
    let found: Vec<Found> = found.into_iter().map(known).collect();
    if found.iter().any(|(_, keys)| keys.is_ok()) {
        let mut page = Page::default();
        page.block("", &policy(&found));
        printer::stdout(&page);
    }
    let unknown: Vec<_> = found.iter().filter_map(|(address, keys)| Some((address, keys.as_ref().err()?))).collect();
    let Some((_, first)) = unknown.first() else { return Ok(Exit::Done) };
    let names: Vec<String> = unknown.iter().map(|(address, _)| address.to_string()).collect();
    let exit = exit_of(unknown.iter().map(|(_, why)| *why));
    let mut diagnostic =
        Diagnostic::new(exit, format!("the keys of {} are not known", names.join(", "))).code(first.stable_name());
    for (address, why) in &unknown {
        let why = Diagnostic::clone(why).about(&address.to_string());
        let new: Vec<String> = why.hints().iter().filter(|hint| !diagnostic.hints().contains(hint)).cloned().collect();
        diagnostic = diagnostic.cause(why.text()).more_causes(why.causes()).more_hints(new);
    }
    Err(diagnostic)
}

fn all_denied() -> Diagnostic {
    Diagnostic::new(Exit::Fixable, "the rules keep out all of its versions")
        .code("no-matching-release")
        .hint("`deny` and `allow` of mirror.toml say which versions are mirrored")
}

fn no_key(verified: &str, others: Option<&str>) -> Diagnostic {
    let text = match others {
        Some(others) => format!("its newest version carries no key; it has signatures by {others}"),
        None => "its newest version has no signature, and no key".to_owned(),
    };
    let diagnostic = Diagnostic::new(Exit::Fixable, text).code("unsigned");
    match others {
        Some(_) => diagnostic.hint(write_them(verified)),
        None => diagnostic.hint("a rule with `unsigned = \"allow\"` takes it; see `tofu-oci help trust-policy`"),
    }
}

fn write_them(verified: &str) -> String {
    format!(
        "get the key from the publisher, and write it as a [[key]], or a certificate's signer as an [[identity]]; \
         `{}` shows the signatures, `tofu-oci help trust-policy` the file",
        invocation::command(&format!("verify {verified}"))
    )
}

/// Who has made signatures that do not carry a key; `None` if there are no such signatures.
fn described(others: &[OtherSigner]) -> Option<String> {
    let mut shown: Vec<String> = others
        .iter()
        .map(|signer| match signer {
            OtherSigner::OpenPgp(issuer) => format!("the OpenPGP key {}", printable(issuer)),
            OtherSigner::Cosign(MadeBy::Key { hint: Some(hint) }) => {
                format!("the cosign key {}", printable(&claimed_key(hint)))
            }
            OtherSigner::Cosign(MadeBy::Key { hint: None }) => "a cosign key that they do not name".to_owned(),
            OtherSigner::Cosign(MadeBy::Certificate) => "a certificate".to_owned(),
        })
        .collect();
    shown.sort();
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// The text: every key once, and a rule for each set of providers with the same keys.
fn policy(found: &[Found]) -> String {
    let mut text = HEAD.to_owned();
    let mut keys: BTreeMap<&KeyId, &FoundKey> = BTreeMap::new();
    let mut rules: BTreeMap<BTreeSet<&KeyId>, Vec<&ProviderAddr>> = BTreeMap::new();
    for (address, outcome) in found {
        match outcome {
            Ok(of_address) => {
                rules.entry(of_address.iter().map(|key| &key.id).collect()).or_default().push(address);
                keys.extend(of_address.iter().map(|key| (&key.id, key)));
            }
            Err(why) => comment(&mut text, Diagnostic::clone(why).about(&address.to_string()).text()),
        }
    }
    for (id, key) in keys {
        text.push('\n');
        key.names.iter().for_each(|name| comment(&mut text, name));
        // Writing to a String cannot fail.
        let _ =
            writeln!(text, "[[key]]\nname = {}\npem = \"\"\"\n{}\"\"\"", quoted(&id.to_string()), lines(&key.armored));
    }
    for (ids, addresses) in rules {
        let list = |texts: Vec<String>| texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ");
        let providers = list(addresses.iter().map(ToString::to_string).collect());
        let names = list(ids.iter().map(ToString::to_string).collect());
        let _ = writeln!(text, "\n[[rule]]\nproviders = [{providers}]\nkeys = [{names}]");
    }
    text
}

fn comment(text: &mut String, line: &str) {
    let line: String = line.chars().filter(|one| !one.is_control()).collect();
    let _ = writeln!(text, "# {line}");
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// The lines of a multi-line string of TOML.
fn lines(text: &str) -> String {
    let line = |line: &str| format!("{}\n", escaped(line.trim_end()));
    text.trim().lines().map(line).collect()
}

/// Foreign text as a string of TOML holds it. An armored key has no control characters that mean anything.
fn escaped(text: &str) -> String {
    let kept = text.chars().filter(|one| !one.is_control());
    kept.collect::<String>().replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use tofu_oci_trust::Policy;

    use super::*;

    #[test]
    fn foreign_text_stays_within_its_string() {
        let id: KeyId = "openpgp:0123456789ABCDEF0123456789ABCDEF01234567".parse().unwrap();
        let armored = "-----BEGIN PGP PUBLIC KEY BLOCK-----\r\nComment: \"\"\"\n[[rule]] \\ \u{7}\n-----END".to_owned();
        let key = FoundKey { id, names: vec!["Zap\n[[rule]]".to_owned()], armored };
        let found = vec![("example.com/acme/zap".parse().unwrap(), Ok(vec![key]))];
        let text = policy(&found);
        // The policy reads as one key and one rule. The key itself cannot be used.
        let error = Policy::parse(&text).unwrap().resolve(|_| unreachable!()).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("the key \"openpgp:0123456789ABCDEF0123456789ABCDEF01234567\" cannot be used"),
            "{error}\n{text}"
        );
        assert_eq!(text.matches("\n[[rule]]\n").count(), 1, "{text}");
    }
}
