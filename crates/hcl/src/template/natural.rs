//! Whole numbers of any size, with what [`super::number`] needs of them.

use std::cmp::Ordering;

/// A whole number from 0; the least significant digit first, and no zero at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Natural(Vec<u32>);

impl Natural {
    pub(super) fn from(mut value: u64) -> Self {
        let mut digits = Vec::new();
        while value > 0 {
            digits.push(low(value));
            value >>= 32;
        }
        Self(digits)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn is_odd(&self) -> bool {
        self.bit(0)
    }

    pub(super) fn bit(&self, index: usize) -> bool {
        self.0.get(index / 32).is_some_and(|digit| digit >> (index % 32) & 1 == 1)
    }

    /// How many bits it takes.
    pub(super) fn bits(&self) -> usize {
        let Some(last) = self.0.last() else { return 0 };
        self.0.len() * 32 - last.leading_zeros() as usize
    }

    /// How many zero bits it ends in; 0 for zero.
    pub(super) fn trailing_zeros(&self) -> usize {
        let zeros = self.0.iter().take_while(|digit| **digit == 0).count();
        zeros * 32 + self.0.get(zeros).map_or(0, |digit| digit.trailing_zeros() as usize)
    }

    fn trimmed(mut self) -> Self {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    pub(super) fn shifted_left(&self, bits: usize) -> Self {
        let mut digits = vec![0; bits / 32];
        let shift = bits % 32;
        let mut carry = 0;
        for digit in &self.0 {
            let wide = u64::from(*digit) << shift | carry;
            digits.push(low(wide));
            carry = wide >> 32;
        }
        digits.push(low(carry));
        Self(digits).trimmed()
    }

    pub(super) fn shifted_right(&self, bits: usize) -> Self {
        let (skip, shift) = (bits / 32, bits % 32);
        let digits = self.0.get(skip..).unwrap_or_default();
        let next = digits.iter().skip(1).chain([&0]);
        let pairs = digits.iter().zip(next);
        Self(pairs.map(|(digit, next)| low((u64::from(*next) << 32 | u64::from(*digit)) >> shift)).collect()).trimmed()
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let (long, short) = if self.0.len() >= other.0.len() { (self, other) } else { (other, self) };
        let mut carry = 0;
        let mut digits: Vec<u32> = Vec::with_capacity(long.0.len() + 1);
        for (index, digit) in long.0.iter().enumerate() {
            let sum = u64::from(*digit) + short.0.get(index).map_or(0, |digit| u64::from(*digit)) + carry;
            digits.push(low(sum));
            carry = sum >> 32;
        }
        digits.push(low(carry));
        Self(digits).trimmed()
    }

    /// The difference to a number that is not larger.
    pub(super) fn minus(&self, other: &Self) -> Self {
        let mut borrow = 0;
        let digits = self.0.iter().enumerate().map(|(index, digit)| {
            let taken = other.0.get(index).map_or(0, |digit| i64::from(*digit)) + borrow;
            let difference = i64::from(*digit) - taken;
            borrow = i64::from(difference < 0);
            low((difference + (borrow << 32)).unsigned_abs())
        });
        Self(digits.collect()).trimmed()
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        let mut digits = vec![0_u32; self.0.len() + other.0.len()];
        for (at, left) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (index, right) in other.0.iter().enumerate() {
                let product = u64::from(*left) * u64::from(*right) + u64::from(digits[at + index]) + carry;
                digits[at + index] = low(product);
                carry = product >> 32;
            }
            digits[at + other.0.len()] = low(carry);
        }
        Self(digits).trimmed()
    }

    pub(super) fn power(base: u64, exponent: usize) -> Self {
        let (mut result, mut square, mut left) = (Self::from(1), Self::from(base), exponent);
        while left > 0 {
            if left % 2 == 1 {
                result = result.times(&square);
            }
            left /= 2;
            if left > 0 {
                square = square.times(&square);
            }
        }
        result
    }

    /// The quotient, rounded down, and whether something remains. `divisor` is not zero.
    pub(super) fn divided(&self, divisor: &Self) -> (Self, bool) {
        let mut quotient = vec![0_u32; self.0.len()];
        let mut remainder = Self::default();
        for index in (0..self.bits()).rev() {
            remainder = remainder.shifted_left(1);
            if self.bit(index) {
                remainder = remainder.plus(&Self::from(1));
            }
            if remainder.order(divisor) != Ordering::Less {
                remainder = remainder.minus(divisor);
                quotient[index / 32] |= 1 << (index % 32);
            }
        }
        (Self(quotient).trimmed(), !remainder.is_zero())
    }

    pub(super) fn order(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    /// The value, where it fits.
    pub(super) fn to_usize(&self) -> Option<usize> {
        let wide = match self.0.as_slice() {
            [] => 0,
            [low] => u64::from(*low),
            [low, high] => u64::from(*high) << 32 | u64::from(*low),
            _ => return None,
        };
        usize::try_from(wide).ok()
    }

    /// Reads decimal digits.
    pub(super) fn from_decimal(digits: &str) -> Self {
        let mut result = Self::default();
        for chunk in digits.as_bytes().chunks(9) {
            let value = chunk.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
            result = result.times(&Self::power(10, chunk.len())).plus(&Self::from(value));
        }
        result
    }

    /// Its decimal digits; none for zero.
    pub(super) fn to_decimal(&self) -> String {
        const CHUNK: u64 = 1_000_000_000;
        let mut digits = self.0.clone();
        let mut chunks = Vec::new();
        while !digits.is_empty() {
            let mut remainder = 0;
            for digit in digits.iter_mut().rev() {
                let wide = remainder << 32 | u64::from(*digit);
                *digit = low(wide / CHUNK);
                remainder = wide % CHUNK;
            }
            chunks.push(remainder);
            while digits.last() == Some(&0) {
                digits.pop();
            }
        }
        let text: String = chunks.iter().rev().map(|chunk| format!("{chunk:09}")).collect();
        text.trim_start_matches('0').to_owned()
    }
}

/// The lower half.
fn low(wide: u64) -> u32 {
    u32::try_from(wide & u64::from(u32::MAX)).unwrap_or_default()
}
