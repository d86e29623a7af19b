//! `sign`, and the lines that other verbs print about signatures.

use tofu_oci_packer::{Attachment, AttachmentState, Rename, SignAddress, SignReport, SignRequest};
use tofu_oci_trust::{SignatureForm, VersionOf};
use tofu_oci_types::{ModuleName, ProviderAddr, ReleaseName, Version};

use super::context::{Context, tagged};
use super::magic_address::magic_address;
use super::typed::typed;
use crate::args::{SignArgs, full_address};
use crate::diagnostic::Diagnostic;
use crate::ends::{End, From};
use crate::invocation;
use crate::keyless::Cosign;
use crate::page::Page;
use crate::signing_key::{self, KeyPassword, NamedSigner};
use crate::subject;

pub(crate) async fn sign(context: &Context, args: &SignArgs) -> Result<(), Diagnostic> {
    let SignTarget { end, version, address } =
        target(&args.target, args.from.as_deref(), args.version.as_ref(), args.address.as_ref())?;
    one_password(args.key_password_stdin, args.access.identity.password_stdin)?;
    if args.key.is_none() && !args.keyless {
        return Err(no_key());
    }
    let connector = context.reach(&args.access, &[&end], None).await?;
    if let End::Layout(_) = &end {
        // Signing must not create a missing directory.
        connector.source(&end)?;
    }
    let store = connector.destination(&end)?;
    let password = KeyPassword::of(args.key_password_stdin);
    let signer = match &args.key {
        Some(key) => {
            let key = signing_key::load(key, password, context.reporter.as_ref()).await?;
            NamedSigner::Key(Box::new(key), args.sign_format.forms())
        }
        None => NamedSigner::Cosign(Cosign::find()?),
    };
    let request = SignRequest {
        version: &version,
        address,
        rename: if args.rename { Rename::Allow } else { Rename::Refuse },
        predecessors: &args.predecessors.all(),
        signer: signer.signer(),
        note: args.note.as_deref(),
    };
    let report = tofu_oci_packer::sign(store.as_ref(), &request, context.reporter.as_ref()).await?;
    store.persist().await?;
    context.emit(&report, || page(&report));
    Ok(())
}

fn no_key() -> Diagnostic {
    Diagnostic::usage("`sign` needs --key KEY or --keyless")
        .hint("`tofu-oci help keyless` says how to sign without a key")
}

/// A release in a place that is written to.
pub(super) struct SignTarget {
    pub(super) end: End,
    pub(super) version: Version,
    /// Where the provider's address comes from.
    pub(super) address: SignAddress,
}

/// What the argument `text` names, with the options `--from`, `--version` and `--address`.
pub(super) fn target(
    text: &str,
    from: Option<&str>,
    given: Option<&Version>,
    named: Option<&ProviderAddr>,
) -> Result<SignTarget, Diagnostic> {
    if text.contains('@')
        && let Ok(Some(ModuleName::Registry { constraints, .. })) = subject::module(text)
    {
        let version = constraints.exact().map_or_else(|| "VERSION".to_owned(), ToString::to_string);
        return Err(Diagnostic::usage(format!("`{text}` names a module, and not where it is"))
            .hint(format!("name its repository: {}", invocation::with_word(text, &format!("REPOSITORY:{version}")))));
    }
    let ReleaseName::Provider { address, constraints } = subject::read(text)? else {
        if typed(from, "TOFU_OCI_FROM") && text.parse::<ProviderAddr>().is_ok() {
            return Err(Diagnostic::usage(format!("`{text}` names no version of a provider"))
                .hint(format!("with --from, write {text}@VERSION, such as {text}@1.4.0")));
        }
        if typed(from, "TOFU_OCI_FROM") {
            return Err(subject::two_places(text));
        }
        let (end, version) = subject::release_at(text, given)?;
        let address = match (named, &end) {
            (Some(named), _) => SignAddress::Given(named.clone()),
            (None, End::Registry(repository)) => SignAddress::Annotated { otherwise: magic_address(repository) },
            (None, End::Layout(_)) => SignAddress::Annotated { otherwise: None },
        };
        return Ok(SignTarget { end, version, address });
    };
    let version = subject::exact(&address, &constraints)?;
    subject::one_version(text, Some(version.clone()), given)?;
    let written = text.split('@').next().unwrap_or_default();
    let Some(from) = from else {
        return Err(Diagnostic::usage(format!("`{text}` names a provider, and not where the release is")).hint(
            format!(
                "write {} --from REPOSITORY, or {}",
                invocation::with_word(text, &format!("{written}@{version}")),
                invocation::with_word(text, &format!("REPOSITORY:{version}")),
            ),
        ));
    };
    let in_full = full_address(written).map_err(|problem| {
        Diagnostic::usage(format!("`{written}` does not name the provider in full")).hint(problem)
    })?;
    if let Some(other) = named.filter(|other| **other != in_full) {
        return Err(Diagnostic::usage(format!("`{text}` names a provider, and --address {other}"))
            .hint("name the provider once"));
    }
    Ok(SignTarget { end: From::parse(from)?.end(&address)?, version, address: SignAddress::Given(address) })
}

/// Standard input holds one password at most.
pub(crate) fn one_password(of_key: bool, of_login: bool) -> Result<(), Diagnostic> {
    if !(of_key && of_login) {
        return Ok(());
    }
    Err(Diagnostic::usage("--password-stdin and --key-password-stdin both read standard input")
        .hint("give the password of the key in COSIGN_PASSWORD"))
}

fn page(report: &SignReport) -> Page {
    let SignReport { of, version, place, tag, index, .. } = report;
    let there = tagged(place, tag);
    let mut page = Page::of(if report.unchanged {
        format!("{of} {version} at {there} is signed by this key already")
    } else {
        format!("signed {of} {version} at {there}")
    });
    page.line(format_args!("  {} {index}", manifest_word(of)));
    page.append(attachments(&report.attachments));
    page
}

pub(super) fn manifest_word(of: &VersionOf) -> &'static str {
    match of {
        VersionOf::Provider { .. } => "index",
        VersionOf::Module => "manifest",
    }
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
        (SignatureForm::Sums | SignatureForm::File, _) => {
            format!("{} as {}", attachment.files.join(", "), attachment.manifest)
        }
        (SignatureForm::Notice, _) => format!("notice {}", attachment.manifest),
        (_, Some(tag)) => format!("signature at the tag {tag}"),
        (_, None) => format!("signature {}", attachment.manifest),
    };
    format!("{state:<8} {what}")
}
