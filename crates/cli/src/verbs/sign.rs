//! `sign`, and the lines that other verbs print about signatures.

use tofu_oci_packer::{Attachment, AttachmentState, Rename, SignAddress, SignReport, SignRequest, Signing};
use tofu_oci_trust::SignatureForm;
use tofu_oci_types::{ProviderAddr, ReleaseName, Version};

use super::context::{Context, tagged};
use super::magic_address::magic_address;
use super::typed::typed;
use crate::args::{SignArgs, full_address};
use crate::connect::{End, From};
use crate::diagnostic::Diagnostic;
use crate::identity;
use crate::invocation;
use crate::page::Page;
use crate::printer;
use crate::report::json_event;
use crate::signing_key::{self, KeyPassword};
use crate::subject;

/// Signs a release where it is.
pub(crate) async fn sign(context: &Context, args: &SignArgs) -> Result<(), Diagnostic> {
    let SignTarget { end, version, address } = target(args)?;
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
        address: address.map_or(SignAddress::Annotated { otherwise }, SignAddress::Given),
        rename: if args.rename { Rename::Allow } else { Rename::Refuse },
        signing: Signing { key: &key, forms: args.format.forms() },
    };
    let report = tofu_oci_packer::sign(store.as_ref(), &request, context.reporter.as_ref()).await?;
    print(context, &report);
    Ok(())
}

/// Which release to sign.
struct SignTarget {
    end: End,
    version: Version,
    /// The provider, if the arguments name it.
    address: Option<ProviderAddr>,
}

fn target(args: &SignArgs) -> Result<SignTarget, Diagnostic> {
    let ReleaseName::Provider { address, constraints } = subject::read(&args.target)? else {
        if typed(args.from.as_deref(), "TOFU_OCI_FROM") {
            return Err(Diagnostic::usage(format!("`{}` is the place, and --from names another one", args.target))
                .hint("omit --from, or write HOST/NAMESPACE/TYPE@VERSION"));
        }
        let (end, version) = subject::release_at(&args.target, args.version.as_ref())?;
        return Ok(SignTarget { end, version, address: args.address.clone() });
    };
    let version = subject::exact(&address, &constraints)?;
    subject::one_version(&args.target, Some(version.clone()), args.version.as_ref())?;
    let text = args.target.split('@').next().unwrap_or_default();
    let Some(from) = &args.from else {
        return Err(Diagnostic::usage(format!("`{}` names a provider, and not where the release is", args.target))
            .hint(format!(
                "write {} --from REPOSITORY, or {}",
                invocation::with_all_options(&format!("sign {text}@{version}")),
                invocation::with_all_options(&format!("sign REPOSITORY:{version}")),
            )));
    };
    let in_full = full_address(text).map_err(|problem| {
        Diagnostic::usage(format!("`{text}` is the address that the signature will name")).hint(problem)
    })?;
    if let Some(other) = args.address.as_ref().filter(|other| **other != in_full) {
        return Err(Diagnostic::usage(format!("`{}` names a provider, and --address {other}", args.target))
            .hint("name the provider once"));
    }
    Ok(SignTarget { end: From::parse(from)?.end(&address)?, version, address: Some(address) })
}

/// Standard input holds one password at most.
pub(crate) fn one_password(of_key: bool, of_login: bool) -> Result<(), Diagnostic> {
    if !(of_key && of_login) {
        return Ok(());
    }
    Err(Diagnostic::usage("--password-stdin and --key-password-stdin both read standard input")
        .hint("give the password of the key in COSIGN_PASSWORD"))
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
