//! Which providers a verb works on: those of its arguments, or those of the configuration; what it says if they are not
//! known.

use tofu_oci_lockfile::LockFile;
use tofu_oci_tfconfig::{ConfigFolder, MissingModule, TfConfigError, configuration};
use tofu_oci_types::{Constraints, Event, ProviderAddr};

use super::context::Context;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::invocation;
use crate::subject;

/// The addresses of the configuration.
pub(super) fn required(
    context: &Context,
    folder: &ConfigFolder,
) -> Result<Vec<(ProviderAddr, Constraints)>, TfConfigError> {
    required_but(context, folder, |_| false)
}

/// The same without a warning about missing modules whose sources the caller reads itself.
pub(super) fn required_but(
    context: &Context,
    folder: &ConfigFolder,
    is_read: impl Fn(&str) -> bool,
) -> Result<Vec<(ProviderAddr, Constraints)>, TfConfigError> {
    let found = configuration(folder)?;
    warn_of_arguments(context, found.by_variables);
    for module in found.missing_modules.iter().filter(|module| !is_read(&module.source)) {
        warn_of_missing(context, module);
    }
    Ok(found.requirements.into_iter().map(|required| (required.address, required.constraints)).collect())
}

/// What makes a module known: `OpenTofu` evaluates what is not evaluated here.
fn get(module: &MissingModule) -> &'static str {
    if module.is_computed {
        "run `tofu get` or `terraform get` first; TF_VAR_NAME sets a variable that the source needs"
    } else {
        "run `tofu get` or `terraform get` first"
    }
}

/// Warns of a module whose providers are not known.
pub(super) fn warn_of_missing(context: &Context, module: &MissingModule) {
    let text = format!("{}, so its providers are not known", module.why());
    context.reporter.event(&Event::warning("missing-module", text).with_hint(get(module)));
}

/// Warns of values on the command line of `OpenTofu`, which are not read, if they can change which modules there are.
pub(super) fn warn_of_arguments(context: &Context, by_variables: bool) {
    let says = |name: &&&str| {
        let arguments = std::env::var(name).unwrap_or_default();
        let mut words = arguments.split_whitespace().map(|word| word.trim_start_matches(['"', '\'']));
        words.any(|word| word.starts_with('-') && word.trim_start_matches('-').starts_with("var"))
    };
    if let Some(name) = ["TF_CLI_ARGS", "TF_CLI_ARGS_init"].iter().find(says)
        && by_variables
    {
        let text = format!(
            "{name} sets variables, and tofu-oci does not read it; the source of a module depends on variables"
        );
        let hint = "set them as TF_VAR_NAME or in terraform.tfvars";
        context.reporter.event(&Event::warning("arguments-not-read", text).with_hint(hint));
    }
}

/// The modules of a configuration that are not installed.
pub(super) fn missing_modules(folder: &ConfigFolder) -> Vec<MissingModule> {
    configuration(folder).map(|found| found.missing_modules).unwrap_or_default()
}

/// Why a configuration requires no provider: it needs none, or its modules are not known.
pub(super) fn nothing_required(folder: &ConfigFolder) -> Diagnostic {
    let dir = folder.dir.display();
    let diagnostic = match missing_modules(folder).first() {
        None => Diagnostic::usage(format!("the configuration in {dir} requires no providers")),
        Some(module) => {
            Diagnostic::usage(format!("what the configuration in {dir} requires is not known: {}", module.why()))
                .code("missing-module")
                .hint(get(module))
        }
    };
    match invocation::name_a_provider() {
        Some(hint) => diagnostic.hint(hint).hint("or the directory of the configuration: --chdir DIR"),
        None => diagnostic,
    }
}

/// The addresses of the command line, each with what was written after its `@`; repeated ones add up.
pub(super) fn given(providers: &[String]) -> Result<Vec<(ProviderAddr, Constraints)>, Diagnostic> {
    let mut wanted: Vec<(ProviderAddr, Constraints)> = Vec::new();
    for (number, text) in providers.iter().enumerate() {
        let (address, constraints) = subject::provider(text).map_err(|diagnostic| {
            let before = number.checked_sub(1).and_then(|before| providers.get(before));
            match before.filter(|before| !before.contains('@') && text.parse::<Constraints>().is_ok()) {
                Some(before) => Diagnostic::usage(diagnostic.text())
                    .hint(format!("to say which version, join the two by an @: {before}@'{text}'")),
                None => diagnostic,
            }
        })?;
        match wanted.iter_mut().find(|(known, _)| *known == address) {
            Some((_, known)) => *known = known.and(&constraints),
            None => wanted.push((address, constraints)),
        }
    }
    Ok(wanted)
}

/// Refuses what `OpenTofu` would: this run does what `init` or `providers lock` does.
pub(super) fn demand_opentofu(wanted: &[(ProviderAddr, Constraints)], lock: &LockFile) -> Result<(), Diagnostic> {
    for address in wanted.iter().map(|(address, _)| address).chain(lock.iter().map(|(address, _)| address)) {
        address.clone().for_opentofu().map_err(|error| {
            Diagnostic::of(Exit::Usage, &error)
                .hint("for Terraform: tofu-oci install --vendor, tofu-oci install --into DIR, or tofu-oci run -- terraform init")
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(providers: &[&str], want: &[(&str, &str)]) {
        let providers: Vec<String> = providers.iter().map(ToString::to_string).collect();
        let got: Vec<(String, String)> = given(&providers)
            .expect("well-formed")
            .into_iter()
            .map(|(address, constraints)| (address.to_string(), constraints.to_string()))
            .collect();
        let want: Vec<(String, String)> =
            want.iter().map(|(address, constraints)| ((*address).to_owned(), (*constraints).to_owned())).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn an_at_sign_without_a_version_does_not_mean_the_newest() {
        let diagnostic = given(&["example.com/acme/widget@".to_owned()]).expect_err("an unset variable, most likely");
        assert_eq!(diagnostic.exit(), Exit::Usage);
    }

    #[test]
    fn an_address_may_carry_constraints_and_repeats_add_up() {
        check(&["example.com/acme/widget"], &[("example.com/acme/widget", "")]);
        check(&["example.com/acme/widget@1.4.0"], &[("example.com/acme/widget", "1.4.0")]);
        check(
            &["example.com/acme/widget@>= 1.2", "example.com/acme/widget@< 2.0"],
            &[("example.com/acme/widget", ">= 1.2.0, < 2.0.0")],
        );
    }
}
