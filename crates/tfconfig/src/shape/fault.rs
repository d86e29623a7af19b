//! What `OpenTofu` refuses in a block, before the place is known as line and column.

/// Something that `OpenTofu` refuses when it reads a file.
pub(super) struct ShapeFault {
    /// The byte offset of the place.
    pub(super) offset: usize,
    /// A stable kebab-case name.
    pub(super) code: &'static str,
    pub(super) message: String,
    /// What to write instead.
    pub(super) instead: String,
}

impl ShapeFault {
    /// An argument that the block does not have.
    pub(super) fn argument(offset: usize, name: &str, inside: &str) -> Self {
        let message = format!("{inside} has no argument `{name}`");
        Self { offset, code: "no-such-argument", message, instead: "check the name, or remove it".to_owned() }
    }

    /// An argument that stands where it means nothing; `why` follows its name.
    pub(super) fn misplaced(offset: usize, name: &str, why: &str) -> Self {
        let message = format!("`{name}` {why}");
        Self { offset, code: "no-such-argument", message, instead: "remove it".to_owned() }
    }

    /// A block that cannot stand there.
    pub(super) fn block(offset: usize, kind: &str, inside: &str) -> Self {
        let message = format!("{inside} has no block `{kind}`");
        Self { offset, code: "no-such-block", message, instead: "check the name, or remove the block".to_owned() }
    }

    /// An argument or block that is not there.
    pub(super) fn missing(offset: usize, name: &str, inside: &str) -> Self {
        let message = format!("{inside} must have `{name}`");
        Self { offset, code: "missing-argument", message, instead: format!("add `{name}`") }
    }

    /// Labels that are missing or too many.
    pub(super) fn labels(offset: usize, kind: &str, labels: &[&str]) -> Self {
        let (wanted, instead) = match labels {
            [] => ("no label".to_owned(), format!("write `{kind} {{`")),
            names => {
                let shown: String = names.iter().map(|name| format!(" \"{}\"", name.to_uppercase())).collect();
                let count = if names.len() == 1 { "one label" } else { "two labels" };
                (format!("{count} ({})", names.join(" and ")), format!("write `{kind}{shown} {{`"))
            }
        };
        Self { offset, code: "wrong-labels", message: format!("a `{kind}` block has {wanted}"), instead }
    }

    /// A name that cannot be one.
    pub(super) fn name(offset: usize, name: &str, why: &str) -> Self {
        let instead = "choose another name of letters, digits, `_` and `-` that begins with a letter or `_`".to_owned();
        Self { offset, code: "invalid-name", message: format!("`{name}` {why}"), instead }
    }

    /// A second argument or block where one can be.
    pub(super) fn twice(offset: usize, name: &str, inside: &str) -> Self {
        let message = format!("{inside} has `{name}` twice");
        Self { offset, code: "duplicate-argument", message, instead: "keep one of the two".to_owned() }
    }

    /// An argument with a value that it cannot have.
    pub(super) fn value(offset: usize, message: String, instead: &str) -> Self {
        Self { offset, code: "invalid-value", message, instead: instead.to_owned() }
    }
}
