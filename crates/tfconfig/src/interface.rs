//! What a module takes and gives.

use std::path::Path;

use tofu_oci_types::{Constraints, ProviderAddr, masked};

use crate::error::TfConfigError;
use crate::module;

/// What a module takes and gives, each list sorted by name. Its texts are foreign, and no longer than its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleInterface {
    pub inputs: Vec<ModuleInput>,
    pub outputs: Vec<ModuleOutput>,
    /// The providers of its `required_providers`.
    pub providers: Vec<ModuleProvider>,
    /// The sources of the modules that it calls, each once, without secrets.
    pub calls: Vec<String>,
}

/// An input variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleInput {
    pub name: String,
    /// Its type as it is written.
    pub type_text: Option<String>,
    /// What it is, if that is a plain text.
    pub description: Option<String>,
    /// The value that it has without the caller, as it is written; `None` if the caller must give one.
    pub default: Option<String>,
    /// Whether its value is kept out of outputs.
    pub sensitive: bool,
}

/// An output value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleOutput {
    pub name: String,
    /// What it is, if that is a plain text.
    pub description: Option<String>,
    /// Whether its value is kept out of outputs.
    pub sensitive: bool,
}

/// A provider that a module requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleProvider {
    /// Its name in the module.
    pub local_name: String,
    pub address: ProviderAddr,
    /// The versions that the module admits.
    pub constraints: Constraints,
}

/// What the module in `dir` takes and gives; `None` if there is no configuration in it.
///
/// # Errors
/// What cannot be read, with its place.
///
/// Spec: `OpenTofu` 1.12, `configs.NewModule`; files of both syntaxes, override files among them.
pub fn module_interface(dir: &Path) -> Result<Option<ModuleInterface>, TfConfigError> {
    let Some(module) = module::read(dir)? else { return Ok(None) };
    let inputs = module.variables.into_values().map(|variable| ModuleInput {
        name: variable.name,
        type_text: variable.type_text,
        description: variable.description,
        default: variable.default,
        sensitive: variable.sensitive.unwrap_or(false),
    });
    let outputs = module.outputs.into_values().map(|output| ModuleOutput {
        name: output.name,
        description: output.description,
        sensitive: output.sensitive.unwrap_or(false),
    });
    let providers = module.required.into_values().map(|entry| ModuleProvider {
        local_name: entry.name,
        address: entry.address,
        constraints: entry.constraints,
    });
    let sources = module.calls.into_values().filter_map(|call| call.source);
    let mut calls: Vec<String> = sources.map(|source| masked(&source.text)).collect();
    calls.sort();
    calls.dedup();
    Ok(Some(ModuleInterface {
        inputs: inputs.collect(),
        outputs: outputs.collect(),
        providers: providers.collect(),
        calls,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line for each input, output, provider and call.
    #[track_caller]
    fn lines(files: &[(&str, &str)]) -> String {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let found = module_interface(dir.path()).expect("it is read").expect("a configuration");
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let secret = |is_secret: bool| if is_secret { " secret" } else { "" };
        let mut lines = Vec::new();
        for input in found.inputs {
            let (type_text, default) = (or_none(input.type_text), or_none(input.default));
            let described = or_none(input.description);
            lines.push(format!("in {}: {type_text} = {default} ({described}){}", input.name, secret(input.sensitive)));
        }
        for output in found.outputs {
            let described = or_none(output.description);
            lines.push(format!("out {} ({described}){}", output.name, secret(output.sensitive)));
        }
        for provider in found.providers {
            lines.push(format!("provider {} {} {}", provider.local_name, provider.address, provider.constraints));
        }
        lines.extend(found.calls.into_iter().map(|call| format!("calls {call}")));
        lines.join("\n")
    }

    #[test]
    fn inputs_outputs_providers_and_calls_are_read() {
        let text = r#"
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
  }
}
variable "cidr" {
  description = "The range."
  type        = object({ a = string, b = optional(number, 3) })
}
variable "names" {
  type    = list(string)
  default = ["a", "b"]
}
variable "password" {
  description = <<-EOT
    Two
    lines
  EOT
  sensitive   = true
  default     = null
}
variable "computed" {
  description = "${path.module}"
}
output "id" {
  value       = 1
  description = "The id."
}
output "token" {
  value     = 2
  sensitive = true
}
module "a" {
  source = "./a"
}
module "b" {
  source = "git::https://u:hunter2@example.com/x.git"
}
module "c" {
  source = "./a"
}
"#;
        insta::assert_snapshot!(lines(&[("main.tf", text)]), @r#"
        in cidr: object({ a = string, b = optional(number, 3) }) = - (The range.)
        in computed: - = - (-)
        in names: list(string) = ["a", "b"] (-)
        in password: - = null (Two
        lines
        ) secret
        out id (The id.)
        out token (-) secret
        provider aws registry.opentofu.org/hashicorp/aws ~> 5.0
        calls ./a
        calls git::https://***@example.com/x.git
        "#);
    }

    #[test]
    fn json_and_overrides_are_read_as_opentofu_reads_them() {
        let json = r#"{"variable": {"a": {"type": "string", "default": {"x": [1, true]}}, "b": {}}}"#;
        let over = "variable \"a\" {\n  description = \"new\"\n  sensitive = true\n}\nvariable \"z\" {}\n";
        insta::assert_snapshot!(lines(&[("main.tf.json", json), ("a_override.tf", over)]), @r"
        in a: string = { x = [1, true] } (new) secret
        in b: - = - (-)
        ");
    }

    #[test]
    fn a_folder_without_a_configuration_has_no_interface() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("README.md"), "# x").unwrap();
        assert_eq!(module_interface(dir.path()).expect("it is read"), None);
    }
}
