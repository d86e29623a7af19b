//! Numbers as the language has them: binary, with up to 512 bits, rounded to the nearest even.
//!
//! Spec: cty 1.18, "Numbers"; Go 1.26, `math/big.Float`.

use std::cmp::Ordering;
use std::fmt;

use super::natural::Natural;

/// A number.
///
/// `Display` gives the fewest decimal digits that still mean this number and no other, never with an exponent.
#[derive(Clone, Debug)]
pub struct Number {
    negative: bool,
    size: Size,
    /// How many bits it is rounded to.
    precision: usize,
}

#[derive(Clone, Debug)]
enum Size {
    /// `mantissa * 2^exponent`; the mantissa is odd or zero.
    Finite {
        mantissa: Natural,
        exponent: i64,
    },
    Infinite,
}

const PRECISION: usize = 512;
/// Larger and smaller numbers than `2^LIMIT` and `2^-LIMIT` are refused: nobody means them.
const LIMIT: i64 = 1 << 16;
const DECIMAL_LIMIT: i64 = 4_000;

impl Number {
    fn finite(negative: bool, mantissa: &Natural, exponent: i64, precision: usize) -> Option<Self> {
        Self::rounded(negative, mantissa, exponent, precision, false)
    }

    /// Rounds to `precision`. `more` says that the true value is a little larger than the mantissa tells.
    fn rounded(negative: bool, mantissa: &Natural, exponent: i64, precision: usize, more: bool) -> Option<Self> {
        let excess = mantissa.bits().saturating_sub(precision);
        let mut result = mantissa.shifted_right(excess);
        if excess > 0 && mantissa.bit(excess - 1) {
            let above_half = more || mantissa.trailing_zeros() < excess - 1;
            if above_half || result.is_odd() {
                result = result.plus(&Natural::from(1));
            }
        }
        let zeros = result.trailing_zeros();
        let exponent = exponent + i64::try_from(excess + zeros).ok()?;
        let mantissa = result.shifted_right(zeros);
        let exponent = if mantissa.is_zero() { 0 } else { exponent };
        let top = exponent + i64::try_from(mantissa.bits()).ok()?;
        (exponent >= -LIMIT && top <= LIMIT).then_some(Self {
            negative,
            size: Size::Finite { mantissa, exponent },
            precision,
        })
    }

    fn infinite(negative: bool) -> Self {
        Self { negative, size: Size::Infinite, precision: PRECISION }
    }

    /// Reads a number: digits, at most one point, an exponent of ten (`e`) or of two (`p`); or `Inf`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if matches!(text, "Inf" | "inf") {
            return Some(Self::infinite(negative));
        }
        let end = text.find(|character: char| !(character.is_ascii_digit() || character == '.')).unwrap_or(text.len());
        let (digits, exponent) = text.split_at(end);
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        if part.contains('.') || whole.len() + part.len() == 0 {
            return None;
        }
        let (mut tens, mut twos) = (-i64::try_from(part.len()).ok()?, 0);
        match exponent.chars().next() {
            None => {}
            Some('e' | 'E') => tens += exponent_value(&exponent[1..])?,
            Some('p' | 'P') => twos = exponent_value(&exponent[1..])?,
            Some(_) => return None,
        }
        let mantissa = Natural::from_decimal(&format!("{whole}{part}"));
        if mantissa.is_zero() {
            return Self::finite(negative, &mantissa, 0, PRECISION);
        }
        let power = Natural::power(5, usize::try_from(tens.unsigned_abs()).ok()?);
        if tens >= 0 {
            return Self::finite(negative, &mantissa.times(&power), tens + twos, PRECISION);
        }
        quotient(negative, (&mantissa, tens + twos), (&power, 0), PRECISION)
    }

    /// A place in a list.
    pub(super) fn from_index(index: usize) -> Self {
        let value = u64::try_from(index).unwrap_or(u64::MAX);
        let mantissa = Natural::from(value);
        let zeros = mantissa.trailing_zeros();
        let exponent = i64::try_from(zeros).unwrap_or_default();
        Self {
            negative: false,
            size: Size::Finite { mantissa: mantissa.shifted_right(zeros), exponent },
            precision: 64,
        }
    }

    /// The place in a list that it means; nothing for what is negative, broken or too large.
    pub(super) fn to_index(&self) -> Option<usize> {
        match &self.size {
            Size::Finite { mantissa, .. } if mantissa.is_zero() => Some(0),
            Size::Finite { mantissa, exponent } if !self.negative => {
                let shift = usize::try_from(*exponent).ok().filter(|shift| *shift < 64)?;
                mantissa.shifted_left(shift).to_usize()
            }
            _ => None,
        }
    }

    fn is_zero(&self) -> bool {
        matches!(&self.size, Size::Finite { mantissa, .. } if mantissa.is_zero())
    }

    pub(super) fn is_whole(&self) -> bool {
        matches!(&self.size, Size::Finite { exponent, .. } if *exponent >= 0)
    }

    pub(super) fn is_negative(&self) -> bool {
        self.negative && !self.is_zero()
    }

    pub(super) fn negated(&self) -> Self {
        Self { negative: !self.negative, ..self.clone() }
    }

    /// The sum; nothing where there is none that could be written.
    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        let precision = self.precision.max(other.precision);
        let (left, right) = match (&self.size, &other.size) {
            (Size::Infinite, Size::Infinite) if self.negative != other.negative => return None,
            (Size::Infinite, _) => return Some(self.clone()),
            (_, Size::Infinite) => return Some(other.clone()),
            (
                Size::Finite { mantissa: left, exponent: left_exponent },
                Size::Finite { mantissa: right, exponent: right_exponent },
            ) => ((left, *left_exponent), (right, *right_exponent)),
        };
        let exponent = left.1.min(right.1);
        let left = left.0.shifted_left(usize::try_from(left.1 - exponent).ok()?);
        let right = right.0.shifted_left(usize::try_from(right.1 - exponent).ok()?);
        if self.negative == other.negative {
            return Self::finite(self.negative, &left.plus(&right), exponent, precision);
        }
        match left.order(&right) {
            Ordering::Equal => Self::finite(false, &Natural::default(), 0, precision),
            Ordering::Greater => Self::finite(self.negative, &left.minus(&right), exponent, precision),
            Ordering::Less => Self::finite(other.negative, &right.minus(&left), exponent, precision),
        }
    }

    /// The product; nothing where there is none that could be written.
    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        let negative = self.negative != other.negative;
        let (
            Size::Finite { mantissa: left, exponent: left_exponent },
            Size::Finite { mantissa: right, exponent: right_exponent },
        ) = (&self.size, &other.size)
        else {
            return (!self.is_zero() && !other.is_zero()).then(|| Self::infinite(negative));
        };
        let mut result = Self::finite(negative, &left.times(right), left_exponent + right_exponent, PRECISION)?;
        let needed = match &result.size {
            Size::Finite { mantissa, .. } => mantissa.bits(),
            Size::Infinite => 0,
        };
        result.precision = self.precision.max(other.precision).max(needed);
        Some(result)
    }

    /// The quotient, infinite for a division by zero; nothing where there is none that could be written.
    pub(super) fn divided(&self, other: &Self) -> Option<Self> {
        let negative = self.negative != other.negative;
        let precision = self.precision.max(other.precision);
        match (&self.size, &other.size) {
            (Size::Infinite, Size::Infinite) => None,
            (Size::Infinite, _) => Some(Self::infinite(negative)),
            (_, Size::Infinite) => Self::finite(negative, &Natural::default(), 0, precision),
            _ if other.is_zero() => (!self.is_zero()).then(|| Self::infinite(negative)),
            (
                Size::Finite { mantissa: left, exponent: left_exponent },
                Size::Finite { mantissa: right, exponent: right_exponent },
            ) => quotient(negative, (left, *left_exponent), (right, *right_exponent), precision),
        }
    }

    /// What a division leaves, with the sign of this number; the number itself for a division by zero.
    pub(super) fn modulo(&self, other: &Self) -> Option<Self> {
        if other.is_zero() {
            return Some(self.clone());
        }
        if matches!(self.size, Size::Infinite) || matches!(other.size, Size::Infinite) {
            return None;
        }
        let quotient = self.divided(other)?;
        let Size::Finite { mantissa, exponent } = &quotient.size else { return None };
        let whole = match usize::try_from(*exponent) {
            Ok(shift) => mantissa.shifted_left(shift),
            Err(_) => mantissa.shifted_right(usize::try_from(exponent.unsigned_abs()).ok()?),
        };
        let whole = Self::finite(quotient.negative && !whole.is_zero(), &whole, 0, self.precision)?;
        let product = whole.times(other)?.to_precision(self.precision)?;
        self.plus(&product.negated())?.to_precision(self.precision)
    }

    fn to_precision(&self, precision: usize) -> Option<Self> {
        match &self.size {
            Size::Finite { mantissa, exponent } => Self::finite(self.negative, mantissa, *exponent, precision),
            Size::Infinite => Some(self.clone()),
        }
    }

    pub(super) fn order(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.is_zero(), number.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let (left, right) = (sign(self), sign(other));
        if left != right || left == 0 {
            return left.cmp(&right);
        }
        let larger = match (&self.size, &other.size) {
            (Size::Infinite, Size::Infinite) => Ordering::Equal,
            (Size::Infinite, _) => Ordering::Greater,
            (_, Size::Infinite) => Ordering::Less,
            (Size::Finite { .. }, Size::Finite { .. }) => self.size_order(other),
        };
        if left < 0 { larger.reverse() } else { larger }
    }

    fn size_order(&self, other: &Self) -> Ordering {
        let (
            Size::Finite { mantissa: left, exponent: left_exponent },
            Size::Finite { mantissa: right, exponent: right_exponent },
        ) = (&self.size, &other.size)
        else {
            return Ordering::Equal;
        };
        let exponent = *left_exponent.min(right_exponent);
        let aligned =
            |mantissa: &Natural, own: i64| mantissa.shifted_left(usize::try_from(own - exponent).unwrap_or_default());
        aligned(left, *left_exponent).order(&aligned(right, *right_exponent))
    }
}

impl PartialEq for Number {
    /// Whole numbers are equal by value, broken ones where they are written alike.
    fn eq(&self, other: &Self) -> bool {
        if self.is_whole() || other.is_whole() {
            return self.is_whole() == other.is_whole() && self.order(other) == Ordering::Equal;
        }
        self.to_string() == other.to_string()
    }
}

impl Eq for Number {}

fn exponent_value(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse::<i64>().ok().filter(|value| value.abs() <= DECIMAL_LIMIT)
}

/// `left / right`, each with its exponent of two. `right` is not zero.
fn quotient(negative: bool, left: (&Natural, i64), right: (&Natural, i64), precision: usize) -> Option<Number> {
    let shift = (precision + 2 + right.0.bits()).saturating_sub(left.0.bits());
    let (mantissa, more) = left.0.shifted_left(shift).divided(right.0);
    let exponent = left.1 - right.1 - i64::try_from(shift).ok()?;
    Number::rounded(negative, &mantissa, exponent, precision, more)
}

/// Decimal digits, and where the point stands among them.
struct Decimal {
    digits: Vec<u8>,
    point: i64,
}

impl Decimal {
    fn of(mantissa: &Natural, exponent: i64) -> Self {
        let shift = usize::try_from(exponent.unsigned_abs()).unwrap_or_default();
        let whole =
            if exponent >= 0 { mantissa.shifted_left(shift) } else { mantissa.times(&Natural::power(5, shift)) };
        let text = whole.to_decimal();
        let point = i64::try_from(text.len()).unwrap_or_default() + exponent.min(0);
        Self { digits: text.trim_end_matches('0').bytes().collect(), point }
    }

    fn at(&self, index: usize) -> u8 {
        self.digits.get(index).copied().unwrap_or(b'0')
    }

    /// Keeps `length` digits of it, one more in the last place where `up` says so.
    fn cut(&mut self, length: usize, up: bool) {
        self.digits.truncate(length);
        if up {
            while self.digits.last() == Some(&b'9') {
                self.digits.pop();
            }
            if let Some(last) = self.digits.last_mut() {
                *last += 1;
            } else {
                self.digits.push(b'1');
                self.point += 1;
            }
        }
        while self.digits.last() == Some(&b'0') {
            self.digits.pop();
        }
    }

    /// Whether what is behind `length` digits is at least a half, an exact half counting by the digit before it.
    fn rounds_up(&self, length: usize) -> bool {
        match self.digits.get(length..) {
            None | Some([]) => false,
            Some([b'5']) => length > 0 && (self.digits[length - 1] - b'0') % 2 == 1,
            Some([first, ..]) => *first >= b'5',
        }
    }

    fn text(&self) -> String {
        let digits: String = self.digits.iter().map(|digit| char::from(*digit)).collect();
        match usize::try_from(self.point) {
            Ok(point) if point >= digits.len() => format!("{digits:0<point$}"),
            Ok(point) if point > 0 => format!("{}.{}", &digits[..point], &digits[point..]),
            _ => {
                let zeros = usize::try_from(self.point.unsigned_abs()).unwrap_or_default();
                format!("0.{}{digits}", "0".repeat(zeros))
            }
        }
    }
}

/// The fewest digits that lie nearer to the number than to its neighbours.
fn shortest(mantissa: &Natural, exponent: i64, precision: usize) -> Decimal {
    let shift = (precision + 1).saturating_sub(mantissa.bits());
    let mantissa = mantissa.shifted_left(shift);
    let exponent = exponent - i64::try_from(shift).unwrap_or_default();
    // Half of the last bit's worth away to each side lies the border to the neighbour.
    let one = Natural::from(1);
    let lower = Decimal::of(&mantissa.minus(&one), exponent);
    let upper = Decimal::of(&mantissa.plus(&one), exponent);
    let border_counts = !mantissa.bit(1);
    let mut result = Decimal::of(&mantissa, exponent);
    for index in 0..result.digits.len() {
        let (digit, below, above) = (result.at(index), lower.at(index), upper.at(index));
        let down = below != digit || border_counts && index + 1 == lower.digits.len();
        let up = digit != above && (border_counts || digit + 1 < above || index + 1 < upper.digits.len());
        if down || up {
            let round_up = if down && up { result.rounds_up(index + 1) } else { up };
            result.cut(index + 1, round_up);
            break;
        }
    }
    result
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.size {
            Size::Infinite => f.write_str(if self.negative { "-Inf" } else { "+Inf" }),
            Size::Finite { mantissa, exponent } => {
                if self.negative {
                    f.write_str("-")?;
                }
                if mantissa.is_zero() {
                    return f.write_str("0");
                }
                f.write_str(&shortest(mantissa, *exponent, self.precision).text())
            }
        }
    }
}
