//! Environment variables that replace settings of the files.

use tofu_oci_types::Hostname;

use super::{Environment, Masked, TokenVariable};

const TOKEN: &str = "TF_TOKEN_";

/// `TF_TOKEN_*`: the tokens of hosts. A name that is not a host's is ignored, as in `OpenTofu`.
pub(super) fn tokens(environment: &Environment) -> Vec<TokenVariable> {
    let token = |(name, value): (&String, &String)| {
        let host = host(name.strip_prefix(TOKEN)?)?;
        Some(TokenVariable { host, variable: name.clone(), token: Masked::new(value) })
    };
    environment.vars.iter().filter_map(token).collect()
}

/// The host in a variable's name: `__` is a dash, `_` a dot. Punycode is as good as what it means.
fn host(name: &str) -> Option<Hostname> {
    Hostname::with_punycode(&name.replace("__", "-").replace('_', ".")).ok()
}

/// Whether a variable is on: neither empty nor `0`.
pub(super) fn is_on(environment: &Environment, name: &str) -> bool {
    environment.var(name).is_some_and(|value| value != "0")
}

/// The positive whole number of a variable; any other text is ignored.
pub(super) fn positive(environment: &Environment, name: &str) -> Option<i64> {
    environment.var(name)?.parse().ok().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, want: Option<&str>) {
        assert_eq!(host(name).as_ref().map(Hostname::as_str), want, "{name}");
    }

    #[test]
    fn underscores_stand_for_dots_and_dashes() {
        check("app_example_com", Some("app.example.com"));
        check("app.example.com", Some("app.example.com"));
        check("my__host_example_com", Some("my-host.example.com"));
        check("xn____fiq228c_com", Some("xn--fiq228c.com"));
        check("中国_com", Some("xn--fiqs8s.com"));
        check("", None);
        check("_", None);
    }
}
