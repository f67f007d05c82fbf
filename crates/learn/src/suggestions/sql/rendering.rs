//! Renders normalised expressions, so that equal conditions have equal text.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, Ident, visit_expressions, visit_expressions_mut};

/// Conditions joined by AND.
pub(super) fn split_conjuncts(expr: &Expr) -> Vec<&Expr> {
    split_operands(expr, &BinaryOperator::And)
}

fn split_operands<'e>(expr: &'e Expr, by: &BinaryOperator) -> Vec<&'e Expr> {
    let (mut open, mut parts) = (vec![expr], Vec::new());
    while let Some(expr) = open.pop() {
        if let Expr::Nested(inner) = expr {
            open.push(inner);
        } else if let Expr::BinaryOp { left, op, right } = expr
            && op == by
        {
            open.extend([&**right, &**left]);
        } else {
            parts.push(expr);
        }
    }
    parts
}

/// Sorts alternatives and elides subqueries, which contribute facts of their own.
pub(super) fn render_condition(condition: &Expr) -> String {
    if let Expr::InSubquery { expr, negated, .. } = condition {
        let not = if *negated { "NOT " } else { "" };
        return format!("{} {not}IN (subquery)", render_unqualified(expr));
    }
    if let Expr::Exists { negated, .. } = condition {
        return if *negated { "NOT EXISTS (subquery)" } else { "EXISTS (subquery)" }.to_owned();
    }
    let alternatives = split_operands(condition, &BinaryOperator::Or);
    if alternatives.len() > 1 {
        let mut texts: Vec<String> = alternatives
            .into_iter()
            .map(|one| {
                let all = split_conjuncts(one);
                let mut texts: Vec<String> = all.into_iter().map(render_unqualified).collect();
                texts.sort_unstable();
                texts.join(" AND ")
            })
            .collect();
        texts.sort_unstable();
        texts.dedup();
        return format!("({})", texts.join(" OR "));
    }
    let both_columns = matches!(condition, Expr::BinaryOp { left, right, .. }
        if is_column(left) && is_column(right));
    if both_columns { render_sorted_sides(condition) } else { render_unqualified(condition) }
}

/// Renders `b = a` as `a = b`.
pub(super) fn render_sorted_sides(condition: &Expr) -> String {
    let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = condition else {
        return condition.to_string();
    };
    let (left, right) = (left.to_string(), right.to_string());
    let (first, second) = if left <= right { (left, right) } else { (right, left) };
    format!("{first} = {second}")
}

fn is_column(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
}

/// Omits table names, which change whenever a table is added to the statement.
pub(super) fn render_unqualified(expr: &Expr) -> String {
    let mut expr = expr.clone();
    let _ = visit_expressions_mut(&mut expr, |inner| {
        if let Expr::CompoundIdentifier(parts) = inner {
            let last = parts.last().map_or_else(|| Ident::new(""), Clone::clone);
            *inner = Expr::Identifier(last);
        }
        ControlFlow::<()>::Continue(())
    });
    expr.to_string()
}

pub(super) fn list_columns(expr: &Expr) -> String {
    if let Expr::InSubquery { expr, .. } = expr {
        return list_columns(expr);
    }
    if matches!(expr, Expr::Exists { .. }) {
        return String::new();
    }
    let mut names = BTreeSet::new();
    let _ = visit_expressions(expr, |inner| {
        if is_column(inner) {
            names.insert(render_unqualified(inner));
        }
        ControlFlow::<()>::Continue(())
    });
    names.into_iter().collect::<Vec<_>>().join(", ")
}
