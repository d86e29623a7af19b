//! Values.
//!
//! Spec: cty 1.18, "The cty type system", and the conversions of package `convert`.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization as _;

/// A value that an expression can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateValue {
    /// Not known.
    Unknown,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Number(i64),
    /// A number with a fraction in its shortest spelling; no operator computes with it.
    Fraction(String),
    /// A text, in Unicode's normal form C.
    String(String),
    /// What `[…]` makes.
    Tuple(Vec<TemplateValue>),
    /// What `{…}` makes.
    Object(BTreeMap<String, TemplateValue>),
}

/// The type of a value that is not made of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Bool,
    Number,
    String,
}

/// The significant digits that a fraction keeps for certain.
const DIGITS: usize = 15;

impl TemplateValue {
    pub(super) fn text(text: &str) -> Self {
        Self::String(if text.is_ascii() { text.to_owned() } else { text.nfc().collect() })
    }

    /// The number that a text is; `None` if it is none, has more digits than fit, or is a zero with a sign.
    pub(super) fn number(text: &str) -> Option<Self> {
        if let Ok(number) = text.parse()
            && number != 0
        {
            return Some(Self::Number(number));
        }
        let digits = text.split(['e', 'E']).next().unwrap_or_default().trim_start_matches(['+', '-', '0', '.']);
        let is_exact = digits.chars().filter(char::is_ascii_digit).count() <= DIGITS;
        let is_decimal = text.contains(|letter: char| letter.is_ascii_digit());
        let number = text.parse::<f64>().ok().filter(|number| is_decimal && is_exact && number.is_finite())?;
        let number = number.to_string();
        if number == "-0" {
            return None;
        }
        Some(number.parse().map_or(Self::Fraction(number), Self::Number))
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// Whether the two are equal; `Unknown` if that is not known.
    pub(super) fn equals(&self, other: &Self) -> Self {
        if self.is_open() || other.is_open() { Self::Unknown } else { Self::Bool(self == other) }
    }

    /// Whether a part of it is not known.
    fn is_open(&self) -> bool {
        match self {
            Self::Unknown => true,
            Self::Tuple(items) => items.iter().any(Self::is_open),
            Self::Object(items) => items.values().any(Self::is_open),
            _ => false,
        }
    }

    /// Its type for messages, with the article.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Unknown => "a value of unknown type",
            Self::Null => "null",
            Self::Bool(_) => "a truth value",
            Self::Number(_) | Self::Fraction(_) => "a number",
            Self::String(_) => "a text",
            Self::Tuple(_) => "a list",
            Self::Object(_) => "an object",
        }
    }

    /// Converts a result to a text, as for a whole template: numbers and truth values are written out, null stays null.
    ///
    /// # Errors
    /// If it is a list or an object. The text says which.
    pub fn into_text(self) -> Result<Self, String> {
        self.into_type(Type::String)
    }

    /// Converts a value to a type. Null and what is unknown stay what they are.
    ///
    /// # Errors
    /// If it cannot be of that type. The text says why.
    pub fn into_type(self, of: Type) -> Result<Self, String> {
        match (self, of) {
            (value @ (Self::Unknown | Self::Null), _)
            | (value @ Self::Bool(_), Type::Bool)
            | (value @ (Self::Number(_) | Self::Fraction(_)), Type::Number)
            | (value @ Self::String(_), Type::String) => Ok(value),
            (Self::Bool(value), Type::String) => Ok(Self::String(value.to_string())),
            (Self::Number(value), Type::String) => Ok(Self::String(value.to_string())),
            (Self::Fraction(text), Type::String) => Ok(Self::String(text)),
            (Self::String(text), Type::Number) => {
                Self::number(&text).ok_or_else(|| format!("a number is needed, not \"{text}\""))
            }
            (Self::String(text), Type::Bool) => match text.as_str() {
                "true" | "1" => Ok(Self::Bool(true)),
                "false" | "0" => Ok(Self::Bool(false)),
                _ => Err(format!("true or false is needed, not \"{text}\"")),
            },
            (value, of) => Err(format!("{} is needed, not {}", of.name(), value.kind())),
        }
    }
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Self::Bool => "a truth value",
            Self::Number => "a number",
            Self::String => "a text",
        }
    }
}
