//! `sign`, and the lines that other verbs print about signatures.

use tofu_oci_packer::{Attachment, AttachmentState, Rename, SignAddress, SignReport, SignRequest, Signing};
use tofu_oci_trust::SignatureForm;
use tofu_oci_types::Version;

use super::context::{Context, tagged};
use super::magic_address::magic_address;
use crate::args::SignArgs;
use crate::connect::End;
use crate::diagnostic::Diagnostic;
use crate::identity;
use crate::invocation;
use crate::page::Page;
use crate::printer;
use crate::report::json_event;
use crate::signing_key::{self, KeyPassword};

/// Signs a release where it is.
pub(crate) async fn sign(context: &Context, args: &SignArgs) -> Result<(), Diagnostic> {
    let (end, version) = target(&args.target, args.version.as_ref())?;
    one_password(args.key_password_stdin, args.identity.password_stdin)?;
    let named: Vec<&str> = identity::of_end(&end).into_iter().collect();
    let access = args.identity.access(&named, None).await?;
    let connector = context.connector(&args.network, access);
    if let End::Layout(_) = &end {
        // Signing must not create a missing directory.
        connector.source(&end)?;
    }
    let store = connector.destination(&end)?;
    let password = KeyPassword::of(args.key_password_stdin);
    let key = signing_key::load(&args.key, password, context.reporter.as_ref()).await?;
    let otherwise = match &end {
        End::Registry(repository) => magic_address(repository),
        End::Layout(_) => None,
    };
    let request = SignRequest {
        version: &version,
        address: args.address.clone().map_or(SignAddress::Annotated { otherwise }, SignAddress::Given),
        rename: if args.rename { Rename::Allow } else { Rename::Refuse },
        signing: Signing { key: &key, forms: args.sign_format.forms() },
    };
    let report = tofu_oci_packer::sign(store.as_ref(), &request, context.reporter.as_ref()).await?;
    print(context, &report);
    Ok(())
}

/// Standard input holds one password at most.
pub(crate) fn one_password(of_key: bool, of_login: bool) -> Result<(), Diagnostic> {
    if !(of_key && of_login) {
        return Ok(());
    }
    Err(Diagnostic::usage("--password-stdin and --key-password-stdin both read standard input")
        .hint("give the password of the key in COSIGN_PASSWORD"))
}

/// The end and the version of `REPOSITORY:VERSION`, `oci:DIR:VERSION`, or of either beside `--version`.
fn target(text: &str, given: Option<&Version>) -> Result<(End, Version), Diagnostic> {
    if let Some(version) = given {
        return match split(text) {
            Some((_, found)) if found == *version => target(text, None),
            Some((_, found)) => {
                Err(Diagnostic::usage(format!("`{text}` names version {found}, and --version {version}"))
                    .hint("name the version once"))
            }
            None => Ok((End::parse(text)?, version.clone())),
        };
    }
    let Some((place, version)) = split(text) else {
        // A wrong place is reported first.
        End::parse(text)?;
        return Err(Diagnostic::usage(format!("`{text}` names no version"))
            .hint(format!("write {text}:VERSION, such as {text}:1.4.0"))
            .hint(format!(
                "`{}` lists what is there",
                invocation::command(&format!("versions {}", invocation::quoted(text)))
            )));
    };
    Ok((End::parse(place)?, version))
}

/// The place, and the version after its last colon, written as a version or as its tag.
fn split(text: &str) -> Option<(&str, Version)> {
    let (place, tag) = text.rsplit_once(':')?;
    let version: Version = tag.replace('_', "+").parse().ok()?;
    // `127.0.0.1:5000` is a registry, not version 5000.0.0.
    (version.to_string().replace('+', "_") == tag.replace('+', "_")).then_some((place, version))
}

fn print(context: &Context, report: &SignReport) {
    if context.json {
        return json_event("signed", report);
    }
    let SignReport { address, version, place, tag, index, .. } = report;
    let there = tagged(place, tag);
    let mut page = Page::of(if report.unchanged {
        format!("{address} {version} at {there} is signed by this key already")
    } else {
        format!("signed {address} {version} at {there}")
    });
    page.line(format_args!("  index {index}"));
    page.append(attachments(&report.attachments));
    printer::stdout(&page);
}

/// The key that signed, and what refers to a release, one line each.
pub(crate) fn attachments(attachments: &[Attachment]) -> Page {
    let key = attachments.iter().find_map(|attachment| attachment.key.as_ref());
    let mut page = Page::default();
    if let Some(key) = key {
        page.line(format_args!("  key {key}"));
    }
    for attachment in attachments {
        page.line(format_args!("  {}", line(attachment)));
    }
    page
}

fn line(attachment: &Attachment) -> String {
    let state = match attachment.state {
        AttachmentState::Missing => "would attach",
        AttachmentState::Attached => "attached",
        AttachmentState::Present => "present",
    };
    let what = match (attachment.form, &attachment.tag) {
        (SignatureForm::Sums, _) => format!("{} as {}", attachment.files.join(", "), attachment.manifest),
        (_, Some(tag)) => format!("signature at the tag {tag}"),
        (_, None) => format!("signature {}", attachment.manifest),
    };
    format!("{state:<8} {what}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    #[track_caller]
    fn check(text: &str, given: Option<&str>, want: Result<(&str, &str), &str>) {
        let given = given.map(|text| text.parse().expect("a version of this test"));
        let got = target(text, given.as_ref());
        let got = got.map(|(end, version)| (end.to_string(), version.to_string()));
        match (got, want) {
            (Ok((end, version)), Ok(want)) => assert_eq!((end.as_str(), version.as_str()), want),
            (Err(diagnostic), Err(want)) => {
                assert_eq!((diagnostic.text(), diagnostic.exit()), (want, Exit::Usage), "{text}");
            }
            (got, want) => panic!("{text}: {got:?}, not {want:?}"),
        }
    }

    #[test]
    fn a_target_names_a_place_and_a_version() {
        check("ghcr.io/acme/widget:1.4.0", None, Ok(("ghcr.io/acme/widget", "1.4.0")));
        check("127.0.0.1:5000/acme/widget:1.4.0-rc.1", None, Ok(("127.0.0.1:5000/acme/widget", "1.4.0-rc.1")));
        check("ghcr.io/acme/widget:1.4.0_b", None, Ok(("ghcr.io/acme/widget", "1.4.0+b")));
        check("ghcr.io/acme/widget:1.4.0+b", None, Ok(("ghcr.io/acme/widget", "1.4.0+b")));
        check("oci:dir:1.4.0", None, Ok(("oci:dir", "1.4.0")));
        check("oci:C:/dir:1.4.0", None, Ok(("oci:C:/dir", "1.4.0")));
        check("oci:dir", Some("1.4.0"), Ok(("oci:dir", "1.4.0")));
        check("ghcr.io/acme/widget:1.4.0", Some("1.4.0"), Ok(("ghcr.io/acme/widget", "1.4.0")));
    }

    #[test]
    fn a_target_without_a_version_is_refused() {
        check("127.0.0.1:5000/acme/widget", None, Err("`127.0.0.1:5000/acme/widget` names no version"));
        check("oci:dir", None, Err("`oci:dir` names no version"));
        check("oci:dir:1.4", None, Err("`oci:dir:1.4` names no version"));
        let two = "`ghcr.io/acme/widget:1.4.0` names version 1.4.0, and --version 1.5.0";
        check("ghcr.io/acme/widget:1.4.0", Some("1.5.0"), Err(two));
    }
}
