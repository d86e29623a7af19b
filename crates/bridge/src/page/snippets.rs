//! What a user pastes to install a provider or module from here.

use maud::{Markup, html};
use tofu_oci_hcl::{hcl1_string, hcl2_string};
use tofu_oci_types::{Hostname, ModuleAddr, ProviderAddr, Version};

use crate::{BridgeSettings, HostService};

/// What a user replaces by the token.
const TOKEN: &str = "YOUR-TOKEN";

/// What decides how clients find a provider here.
#[derive(Clone, Copy)]
pub(super) struct ClientSetup<'a> {
    pub(super) settings: &'a BridgeSettings,
    /// Whether clients need a token.
    pub(super) restricted: bool,
}

/// A constraint that gives the version and what is compatible with it.
///
/// Clients take a prerelease only if the constraint is exactly that version.
pub(super) fn from_version(version: &Version) -> String {
    let [major, minor, patch] = version.numbers();
    match version.prerelease() {
        "" => format!("~> {major}.{minor}.{patch}"),
        prerelease => format!("{major}.{minor}.{patch}-{prerelease}"),
    }
}

/// A constraint that gives the newest version now, and later ones as far as they are compatible.
pub(super) fn from_newest(version: &Version) -> String {
    let [major, minor, _] = version.numbers();
    // Before 1.0.0 any minor version may break what used the last one.
    if major > 0 && !version.is_prerelease() { format!("~> {major}.{minor}") } else { from_version(version) }
}

impl ClientSetup<'_> {
    /// The steps for Terraform and for `OpenTofu`.
    pub(super) fn steps(&self, address: &ProviderAddr, constraint: Option<&str>) -> Markup {
        let cli = self.cli_configuration(address);
        html! {
            ol.steps {
                li {
                    p { "In the configuration, for Terraform and OpenTofu alike:" }
                    (snippet("Configuration", &required_providers(address, constraint)))
                }
                @if cli.is_empty() {
                    li {
                        p {
                            "Nothing else is to be configured: " code { (self.finder(address)) }
                            " is the provider registry of this server."
                        }
                    }
                } @else {
                    li {
                        p {
                            "In the CLI configuration: " code { "~/.terraformrc" } " for Terraform, " code { "~/.tofurc" }
                            " for OpenTofu (on Windows " code { "terraform.rc" } " and " code { "tofu.rc" } " in "
                            code { "%APPDATA%" } "):"
                        }
                        (snippet("CLI configuration", &cli))
                        @if !self.is_own(address) {
                            p.aside {
                                "If the file has a " code { "provider_installation" }
                                " block, put these methods into it: only one block counts."
                            }
                        }
                    }
                }
                li { p { code { "terraform init" } " or " code { "tofu init" } } }
            }
            (self.without_tls())
        }
    }

    pub(super) fn module_steps(&self, address: &ModuleAddr, constraint: Option<&str>) -> Markup {
        let cli = self.module_cli_configuration(address);
        html! {
            ol.steps {
                li {
                    p { "In the configuration, for Terraform and OpenTofu alike:" }
                    (snippet("Configuration", &module_call(address, constraint)))
                }
                @if cli.is_empty() {
                    li {
                        p {
                            "Nothing else is to be configured: " code { (address.hostname().display()) }
                            " is the module registry of this server."
                        }
                    }
                } @else {
                    li {
                        p {
                            "In the CLI configuration: " code { "~/.terraformrc" } " for Terraform, " code { "~/.tofurc" }
                            " for OpenTofu:"
                        }
                        (snippet("CLI configuration", &cli))
                        @if !self.is_own_modules(address.hostname()) {
                            p.aside {
                                "A " code { "host" } " block replaces all services of the host: providers of it then need a method of "
                                code { "provider_installation" } "."
                            }
                        }
                    }
                }
                li { p { code { "terraform init" } " or " code { "tofu init" } } }
            }
            (self.without_tls())
        }
    }

    /// The block and the login that a client needs for a module; empty if it needs none.
    fn module_cli_configuration(&self, address: &ModuleAddr) -> String {
        let login = login(&address.hostname().display());
        let services = format!(
            "host {} {{\n  services = {{\n    \"modules.v1\" = {}\n  }}\n}}\n",
            hcl1_string(&address.hostname().display()),
            hcl1_string(&self.settings.base.join(&format!("modules/{}/", address.hostname().as_str())))
        );
        let blocks = match (self.is_own_modules(address.hostname()), self.restricted) {
            (true, false) => vec![],
            (true, true) => vec![login],
            (false, false) => vec![services],
            (false, true) => vec![services, login],
        };
        blocks.join("\n")
    }

    fn is_own_modules(&self, host: &Hostname) -> bool {
        self.settings.own_host(host).is_some_and(|own| own.services.contains(&HostService::Modules))
    }

    fn without_tls(&self) -> Markup {
        html! {
            @if !self.settings.base.is_https() {
                p.notice {
                    "Clients refuse a server without TLS. The URL of this one is " code { (self.settings.base) } "."
                }
            }
        }
    }

    /// The methods and the login that a client needs; empty if it needs none.
    fn cli_configuration(&self, address: &ProviderAddr) -> String {
        let login = login(&self.finder(address));
        let blocks = match (self.is_own(address), self.restricted) {
            (true, false) => vec![],
            (true, true) => vec![login],
            (false, false) => vec![self.mirror(address)],
            (false, true) => vec![self.mirror(address), login],
        };
        blocks.join("\n")
    }

    fn mirror(&self, address: &ProviderAddr) -> String {
        let (url, address) = (hcl1_string(&self.settings.base.join("mirror/")), hcl1_string(&address.to_string()));
        format!(
            "provider_installation {{\n  network_mirror {{\n    url     = {url}\n    include = [{address}]\n  }}\n  \
             direct {{\n    exclude = [{address}]\n  }}\n}}\n"
        )
    }

    /// The host that a client asks for the provider, as its files name it.
    fn finder(&self, address: &ProviderAddr) -> String {
        if self.is_own(address) { address.hostname().display() } else { self.settings.base.authority().to_owned() }
    }

    fn is_own(&self, address: &ProviderAddr) -> bool {
        self.settings.own_host(address.hostname()).is_some()
    }
}

fn login(host: &str) -> String {
    format!("credentials {} {{\n  token = {}\n}}\n", hcl1_string(host), hcl1_string(TOKEN))
}

/// A long line scrolls inside the box, by keyboard too.
fn snippet(label: &str, text: &str) -> Markup {
    html! { pre tabindex="0" role="region" aria-label=(label) { code { (text) } } }
}

fn required_providers(address: &ProviderAddr, constraint: Option<&str>) -> String {
    let name = address.provider_type();
    // A name that begins with a digit is not an identifier of the language.
    let name = if name.starts_with(|first: char| first.is_ascii_digit()) { hcl2_string(name) } else { name.to_owned() };
    let version = constraint.map(|text| format!("\n      version = {}", hcl2_string(text))).unwrap_or_default();
    let source = hcl2_string(&address.to_string());
    format!(
        "terraform {{\n  required_providers {{\n    {name} = {{\n      source  = {source}{version}\n    }}\n  }}\n}}\n"
    )
}

fn module_call(address: &ModuleAddr, constraint: Option<&str>) -> String {
    // A name of modules may begin with a digit; the label of a call may not.
    let name = address.name();
    let label =
        if name.starts_with(|first: char| first.is_ascii_digit()) { format!("m{name}") } else { name.to_owned() };
    let version = constraint.map(|text| format!("\n  version = {}", hcl2_string(text))).unwrap_or_default();
    let (label, source) = (hcl2_string(&label), hcl2_string(&address.to_string()));
    format!("module {label} {{\n  source  = {source}{version}\n}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tofu_oci_types::Scheme;

    use crate::OwnHost;

    #[track_caller]
    fn check(version: &str, newest: &str, this: &str) {
        let version = version.parse().unwrap();
        assert_eq!((from_newest(&version).as_str(), from_version(&version).as_str()), (newest, this));
    }

    #[test]
    fn a_constraint_admits_what_is_compatible() {
        check("1.4.2", "~> 1.4", "~> 1.4.2");
        check("0.4.2", "~> 0.4.2", "~> 0.4.2");
        check("2.0.0+build.5", "~> 2.0", "~> 2.0.0");
        check("2.0.0-beta.1", "2.0.0-beta.1", "2.0.0-beta.1");
        check("2.0.0-beta.1+build.5", "2.0.0-beta.1", "2.0.0-beta.1");
    }

    #[track_caller]
    fn configured(base: &str, address: &str, restricted: bool) -> String {
        let hosts = vec![OwnHost {
            hostname: "registry.acme.example".parse().unwrap(),
            repositories: None,
            services: vec![crate::HostService::Providers],
        }];
        let settings = BridgeSettings { base: base.parse().unwrap(), hosts, hashes: vec![Scheme::Zh], gives_way: true };
        let setup = ClientSetup { settings: &settings, restricted };
        setup.cli_configuration(&address.parse().unwrap())
    }

    #[test]
    fn a_provider_of_an_own_host_needs_at_most_a_token() {
        assert_eq!(configured("https://p.example/", "registry.acme.example/acme/widget", false), "");
        insta::assert_snapshot!(configured("https://p.example/", "registry.acme.example/acme/widget", true), @r#"
        credentials "registry.acme.example" {
          token = "YOUR-TOKEN"
        }
        "#);
    }

    #[test]
    fn a_provider_of_another_host_comes_through_the_mirror() {
        insta::assert_snapshot!(
            configured("https://p.example:8443/tofu/", "registry.terraform.io/hashicorp/random", true),
            @r#"
        provider_installation {
          network_mirror {
            url     = "https://p.example:8443/tofu/mirror/"
            include = ["registry.terraform.io/hashicorp/random"]
          }
          direct {
            exclude = ["registry.terraform.io/hashicorp/random"]
          }
        }

        credentials "p.example:8443" {
          token = "YOUR-TOKEN"
        }
        "#
        );
    }

    #[test]
    fn a_name_that_is_not_an_identifier_is_quoted() {
        let text = required_providers(&"example.com/acme/1widget".parse().unwrap(), Some("~> 1.0"));
        insta::assert_snapshot!(text, @r#"
        terraform {
          required_providers {
            "1widget" = {
              source  = "example.com/acme/1widget"
              version = "~> 1.0"
            }
          }
        }
        "#);
    }
}
