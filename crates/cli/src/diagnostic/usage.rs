//! Mistakes in the arguments.

use super::Diagnostic;
use crate::invocation;

impl From<&clap::Error> for Diagnostic {
    /// Its first paragraph, and its tips as hints.
    fn from(error: &clap::Error) -> Self {
        let text = anstream::adapter::strip_str(&error.render().to_string()).to_string();
        let mut parts = text.split("\n\n").map(str::trim).filter(|part| !part.is_empty());
        let first = parts.next().unwrap_or_default();
        let diagnostic = Self::usage(first.strip_prefix("error:").unwrap_or(first).trim());
        let hint = |part: &str| ["tip: ", "hint: "].iter().find_map(|word| part.strip_prefix(word)).map(str::to_owned);
        diagnostic.more_hints(parts.filter_map(hint))
    }
}

impl Diagnostic {
    /// The same, and that a variable gives the value, if it is not the option that does.
    pub(crate) fn of_variable(self, variable: &str, option: &str, value: &str) -> Self {
        let is_set = !invocation::says(option) && std::env::var(variable).is_ok_and(|set| set == value);
        if is_set { self.hint(format!("the variable {variable} says so: change it, or unset it")) } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_in_the_arguments_is_an_error_with_its_tip() {
        let error = crate::args::command().try_get_matches_from(["tofu-oci", "versions", "x", "--jsn"]).unwrap_err();
        let diagnostic = Diagnostic::from(&error);
        assert_eq!((diagnostic.text(), diagnostic.stable_name()), ("unexpected argument '--jsn' found", "usage"));
        assert_eq!(diagnostic.hints(), ["a similar argument exists: '--json'"]);
    }
}
