//! The CLI configuration as it decides where providers are: what the arguments add to it, and why a run refuses it.

use std::path::PathBuf;

use tofu_oci_logins::Access;
use tofu_oci_mapper::config::{MainFileOrigin, Methods};
use tofu_oci_source::{ConfiguredMethods, CredentialErrors};
use tofu_oci_types::ProviderAddr;

use crate::args::LookupArgs;
use crate::diagnostic::Diagnostic;
use crate::environment::{ReadConfig, RealFiles};
use crate::exit::Exit;
use crate::invocation;

/// What the user's files say, errors and all. `not_asked` are folders that are not looked into.
pub(crate) fn configured(
    read: &ReadConfig,
    lookup: &LookupArgs,
    not_asked: &[PathBuf],
) -> Result<ConfiguredMethods, Diagnostic> {
    let ReadConfig { environment, reading } = read;
    let hidden = not_asked.iter().map(|dir| environment.launch_dir.join(dir)).collect();
    let suffix = lookup.magic_suffix.as_ref().map(|text| text.parse()).transpose();
    let suffix = suffix.map_err(|error| Diagnostic::of(Exit::Usage, &error))?;
    let mut configured = ConfiguredMethods::new(reading, environment, &RealFiles, hidden, suffix);
    if !lookup.plugin_dir.is_empty() {
        configured.methods = Methods::of_plugin_dirs(&lookup.plugin_dir, environment);
    }
    Ok(configured)
}

/// Refuses files with errors; `OpenTofu` would go on.
pub(crate) fn refuse(configured: &ConfiguredMethods, access: &Access) -> Result<(), Diagnostic> {
    let ambient = matches!(access, Access::Ambient { .. });
    let credentials = if ambient { CredentialErrors::Count } else { CredentialErrors::AreIgnored };
    let errors = configured.errors(credentials);
    let Some(problem) = errors.first().copied() else { return Ok(()) };
    let diagnostic = Diagnostic::configuration(&configured.reading, problem, errors.len() - 1);
    // Errors about credentials, and the variable of the plugin cache, count with --from too.
    let of_credentials = ambient && configured.reading.credential_errors().any(|other| other == problem);
    if of_credentials || problem.code == "plugin-cache-dir" {
        return Err(diagnostic);
    }
    let named = configured.reading.located.main.as_ref().map(|main| &main.origin);
    Err(match invocation::verb() {
        "run" if matches!(named, Some(MainFileOrigin::Option(_))) => diagnostic,
        "run" => diagnostic.hint("`run` reads another file, and that alone, with --cli-config FILE"),
        _ => diagnostic.hint("with --from REPOSITORY provider_installation is not looked at"),
    })
}

/// No method is for the address.
pub(super) fn no_method(configured: &ConfiguredMethods, address: &ProviderAddr) -> Diagnostic {
    if address.is_builtin() {
        return Diagnostic::new(Exit::Fixable, format!("{address} is part of OpenTofu and Terraform themselves"))
            .code("built-in-provider")
            .hint("there is nothing to install; omit it");
    }
    let diagnostic =
        Diagnostic::new(Exit::Fixable, format!("no installation method is for {address}")).code("provider-not-found");
    match &configured.reading.config.installation {
        Some(installation) => {
            let path = configured.reading.files.get(installation.file).map(|file| file.path.display().to_string());
            diagnostic
                .cause(format!("the provider_installation in {} names other providers", path.unwrap_or_default()))
                .hint(format!(
                    "`{}` says of each method why",
                    invocation::command(&format!("resolve {address} --explain"))
                ))
        }
        None => diagnostic,
    }
    .hint("say where it is with --from REPOSITORY, or --from 'REGISTRY/${namespace}/${type}'")
}
