//! Decimal numbers that fit into 128 bits: exact, or refused.
//!
//! HCL 2 rounds to 512 bits. No repository address has such a number, so a number that does not fit is an error here,
//! with the code `number-out-of-range`: see the differences in `docs/configuration.md`.
//!
//! Spec: cty 1.18, "Numbers".

use std::cmp::Ordering;
use std::fmt;

/// A number: `coefficient / 10^scale`, with the smallest scale that gives it.
///
/// `Display` gives its decimal digits, never with an exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    coefficient: i128,
    scale: u32,
}

/// Why there is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NumberError {
    /// A text of another form.
    #[error("this is not a number")]
    Invalid,
    /// Zero divided by zero.
    #[error("zero divided by zero is not a number")]
    Undefined,
    /// More digits than fit, or endlessly many.
    #[error("this number is out of range: a number has at most {DIGITS} digits")]
    OutOfRange,
}

impl NumberError {
    /// The stable code of an operation that fails so.
    pub(super) fn code(self) -> &'static str {
        if self == Self::OutOfRange { "number-out-of-range" } else { "operation-failed" }
    }
}

/// The decimal digits that always fit.
const DIGITS: u32 = 38;

/// `value * 10^exponent`.
fn scaled(value: i128, exponent: u32) -> Result<i128, NumberError> {
    let power = 10_i128.checked_pow(exponent);
    power.and_then(|power| value.checked_mul(power)).ok_or(NumberError::OutOfRange)
}

impl Number {
    fn new(mut coefficient: i128, mut scale: u32) -> Result<Self, NumberError> {
        while scale > 0 && coefficient % 10 == 0 {
            coefficient /= 10;
            // Zero has no digits to lose.
            scale = if coefficient == 0 { 0 } else { scale - 1 };
        }
        if scale <= DIGITS { Ok(Self { coefficient, scale }) } else { Err(NumberError::OutOfRange) }
    }

    /// Reads a number: digits, at most one point, and an exponent of ten (`e`), or of two (`p`) that is not negative.
    pub(super) fn parse(text: &str) -> Result<Self, NumberError> {
        let (sign, text) = match text.strip_prefix('-') {
            Some(rest) => ("-", rest),
            None => ("", text.strip_prefix('+').unwrap_or(text)),
        };
        let end = text.find(|character: char| !(character.is_ascii_digit() || character == '.')).unwrap_or(text.len());
        let (digits, exponent) = text.split_at(end);
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        if part.contains('.') || whole.len() + part.len() == 0 {
            return Err(NumberError::Invalid);
        }
        let (mut tens, mut twos) = (0, 0);
        match exponent.chars().next() {
            None => {}
            Some('e' | 'E') => tens = exponent_value(&exponent[1..])?,
            Some('p' | 'P') => twos = exponent_value(&exponent[1..])?,
            Some(_) => return Err(NumberError::Invalid),
        }
        let part = part.trim_end_matches('0');
        let coefficient: i128 = format!("{sign}{whole}{part}0").parse().map_err(|_| NumberError::OutOfRange)?;
        let two = u32::try_from(twos).ok().and_then(|twos| 2_i128.checked_pow(twos));
        let coefficient = two.and_then(|two| (coefficient / 10).checked_mul(two)).ok_or(NumberError::OutOfRange)?;
        if coefficient == 0 {
            return Self::new(0, 0);
        }
        let tens = tens - i64::try_from(part.len()).map_err(|_| NumberError::OutOfRange)?;
        let shift = u32::try_from(tens.unsigned_abs()).map_err(|_| NumberError::OutOfRange)?;
        if tens < 0 { Self::new(coefficient, shift) } else { Self::new(scaled(coefficient, shift)?, 0) }
    }

    /// A place in a list.
    pub(super) fn from_index(index: usize) -> Self {
        Self { coefficient: i128::try_from(index).unwrap_or(i128::MAX), scale: 0 }
    }

    /// The place in a list that it means; `None` if it is negative, has a fraction or is too large.
    pub(super) fn to_index(self) -> Option<usize> {
        if self.is_whole() { usize::try_from(self.coefficient).ok() } else { None }
    }

    pub(super) fn is_whole(self) -> bool {
        self.scale == 0
    }

    pub(super) fn is_negative(self) -> bool {
        self.coefficient < 0
    }

    pub(super) fn negated(self) -> Result<Self, NumberError> {
        Self::new(self.coefficient.checked_neg().ok_or(NumberError::OutOfRange)?, self.scale)
    }

    /// The coefficients of both for one scale, and the scale.
    fn aligned(self, other: Self) -> Result<(i128, i128, u32), NumberError> {
        let scale = self.scale.max(other.scale);
        Ok((scaled(self.coefficient, scale - self.scale)?, scaled(other.coefficient, scale - other.scale)?, scale))
    }

    pub(super) fn plus(self, other: Self) -> Result<Self, NumberError> {
        let (left, right, scale) = self.aligned(other)?;
        Self::new(left.checked_add(right).ok_or(NumberError::OutOfRange)?, scale)
    }

    pub(super) fn times(self, other: Self) -> Result<Self, NumberError> {
        let product = self.coefficient.checked_mul(other.coefficient);
        Self::new(product.ok_or(NumberError::OutOfRange)?, self.scale + other.scale)
    }

    pub(super) fn divided(self, other: Self) -> Result<Self, NumberError> {
        let (mut left, right, _) = self.aligned(other)?;
        if right == 0 {
            return Err(if left == 0 { NumberError::Undefined } else { NumberError::OutOfRange });
        }
        let mut scale = 0;
        while left.checked_rem(right).ok_or(NumberError::OutOfRange)? != 0 {
            left = scaled(left, 1)?;
            scale += 1;
        }
        Self::new(left / right, scale)
    }

    /// What a division leaves, with the sign of this number; the number itself for a division by zero.
    pub(super) fn modulo(self, other: Self) -> Result<Self, NumberError> {
        let (left, right, scale) = self.aligned(other)?;
        Self::new(if right == 0 { left } else { left.checked_rem(right).unwrap_or(0) }, scale)
    }

    pub(super) fn order(self, other: Self) -> Ordering {
        // The whole part, and what follows the point with `DIGITS` digits: both fit.
        let parts = |number: Self| {
            let unit = 10_i128.pow(number.scale);
            (number.coefficient / unit, number.coefficient % unit * 10_i128.pow(DIGITS - number.scale))
        };
        parts(self).cmp(&parts(other))
    }
}

fn exponent_value(text: &str) -> Result<i64, NumberError> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NumberError::Invalid);
    }
    text.parse::<i32>().map(i64::from).map_err(|_| NumberError::OutOfRange)
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.coefficient < 0 { "-" } else { "" };
        let scale = self.scale as usize;
        let digits = format!("{:0>width$}", self.coefficient.unsigned_abs(), width = scale + 1);
        let (whole, part) = digits.split_at(digits.len() - scale);
        write!(f, "{sign}{whole}{}{part}", if scale > 0 { "." } else { "" })
    }
}
