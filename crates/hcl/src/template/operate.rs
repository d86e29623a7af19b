//! Operators on values.

use std::cmp::Ordering;

use super::ast::{BinaryOperator, UnaryOperator};
use super::fault::TemplateFault;
use super::number::{Number, NumberError};
use super::value::{TemplateValue, Type};

impl BinaryOperator {
    /// The type that both sides are converted to.
    pub(super) fn operands(self) -> Type {
        match self {
            Self::Or | Self::And => Type::Bool,
            Self::Equal | Self::NotEqual => Type::Any,
            _ => Type::Number,
        }
    }

    pub(super) fn result(self) -> Type {
        match self {
            Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::Modulo => Type::Number,
            _ => Type::Bool,
        }
    }
}

/// The result of `&&` or `||` if one side decides, and whether the faults of the left side count; `None` if both
/// sides are needed.
///
/// HCL takes null for false here as long as the other side is usable.
pub(super) fn decided(
    operator: BinaryOperator,
    left: &TemplateValue,
    right: &TemplateValue,
    left_faults: &[TemplateFault],
) -> Option<(TemplateValue, bool)> {
    let deciding = match operator {
        BinaryOperator::Or => true,
        BinaryOperator::And => false,
        _ => return None,
    };
    let decides = |value: &TemplateValue| value.is_known() && (*value == TemplateValue::Bool(true)) == deciding;
    let unknown = || TemplateValue::Present(Type::Bool);
    match (left.is_known(), right.is_known()) {
        (false, false) => left_faults.is_empty().then(|| (unknown(), true)),
        _ if decides(left) => Some((TemplateValue::Bool(deciding), true)),
        _ if decides(right) => Some((TemplateValue::Bool(deciding), false)),
        (false, true) => Some((unknown(), true)),
        (true, false) => Some((unknown(), false)),
        (true, true) => None,
    }
}

/// Why an operator has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum OperationError {
    #[error("an operator cannot work with null")]
    Null,
    #[error(transparent)]
    Number(#[from] NumberError),
}

impl OperationError {
    /// The stable code.
    pub(super) fn code(self) -> &'static str {
        if let Self::Number(error) = self { error.code() } else { "operation-failed" }
    }
}

/// Works the operator out.
pub(super) fn binary(
    operator: BinaryOperator,
    left: TemplateValue,
    right: TemplateValue,
) -> Result<TemplateValue, OperationError> {
    if let BinaryOperator::Equal | BinaryOperator::NotEqual = operator {
        let wanted = operator == BinaryOperator::Equal;
        return Ok(left
            .equals(&right)
            .map_or(TemplateValue::Present(Type::Bool), |equal| TemplateValue::Bool(equal == wanted)));
    }
    if left.is_null() || right.is_null() {
        return Err(OperationError::Null);
    }
    match (left, right) {
        (TemplateValue::Number(left), TemplateValue::Number(right)) => Ok(numbers(operator, left, right)?),
        (TemplateValue::Bool(left), TemplateValue::Bool(right)) => {
            Ok(TemplateValue::Bool(if operator == BinaryOperator::Or { left || right } else { left && right }))
        }
        _ => Ok(TemplateValue::Present(operator.result())),
    }
}

fn numbers(operator: BinaryOperator, left: Number, right: Number) -> Result<TemplateValue, NumberError> {
    let order = left.order(right);
    let result = match operator {
        BinaryOperator::Greater => return Ok(TemplateValue::Bool(order == Ordering::Greater)),
        BinaryOperator::Less => return Ok(TemplateValue::Bool(order == Ordering::Less)),
        BinaryOperator::GreaterOrEqual => return Ok(TemplateValue::Bool(order == Ordering::Greater || left == right)),
        BinaryOperator::LessOrEqual => return Ok(TemplateValue::Bool(order == Ordering::Less || left == right)),
        BinaryOperator::Add => left.plus(right),
        BinaryOperator::Subtract => left.plus(right.negated()?),
        BinaryOperator::Multiply => left.times(right),
        BinaryOperator::Divide => left.divided(right),
        _ => left.modulo(right),
    };
    result.map(TemplateValue::Number)
}

/// The type of the operand and of the result.
pub(super) fn operand(operator: UnaryOperator) -> Type {
    match operator {
        UnaryOperator::Negate => Type::Number,
        UnaryOperator::Not => Type::Bool,
    }
}

/// Works the operator out.
pub(super) fn unary(operator: UnaryOperator, value: &TemplateValue) -> Result<TemplateValue, OperationError> {
    match value {
        TemplateValue::Null(_) => Err(OperationError::Null),
        TemplateValue::Number(number) => Ok(TemplateValue::Number(number.negated()?)),
        TemplateValue::Bool(value) => Ok(TemplateValue::Bool(!value)),
        _ => Ok(TemplateValue::Present(operand(operator))),
    }
}
