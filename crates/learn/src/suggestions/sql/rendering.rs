//! Expressions of a tidied statement as text that is the same for the same meaning.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, Ident, visit_expressions, visit_expressions_mut};

/// The conditions that must all hold.
pub(super) fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    split(expr, &BinaryOperator::And)
}

fn split<'e>(expr: &'e Expr, by: &BinaryOperator) -> Vec<&'e Expr> {
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

/// One condition as text: alternatives sorted, subqueries left out (they have facts of their own).
pub(super) fn rendered(condition: &Expr) -> String {
    if let Expr::InSubquery { expr, negated, .. } = condition {
        let not = if *negated { "NOT " } else { "" };
        return format!("{} {not}IN (subquery)", bare(expr));
    }
    if let Expr::Exists { negated, .. } = condition {
        return if *negated { "NOT EXISTS (subquery)" } else { "EXISTS (subquery)" }.to_owned();
    }
    let alternatives = split(condition, &BinaryOperator::Or);
    if alternatives.len() > 1 {
        let mut texts: Vec<String> = alternatives
            .into_iter()
            .map(|one| {
                let all = conjuncts(one);
                let mut texts: Vec<String> = all.into_iter().map(bare).collect();
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
    if both_columns { sides_sorted(condition) } else { bare(condition) }
}

/// `b = a` is `a = b`.
pub(super) fn sides_sorted(condition: &Expr) -> String {
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

/// As text, columns without their tables: a statement with one table more would name them all
/// differently.
pub(super) fn bare(expr: &Expr) -> String {
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

/// The columns of a condition, without those of a query in it.
pub(super) fn columns(expr: &Expr) -> String {
    if let Expr::InSubquery { expr, .. } = expr {
        return columns(expr);
    }
    if matches!(expr, Expr::Exists { .. }) {
        return String::new();
    }
    let mut names = BTreeSet::new();
    let _ = visit_expressions(expr, |inner| {
        if is_column(inner) {
            names.insert(bare(inner));
        }
        ControlFlow::<()>::Continue(())
    });
    names.into_iter().collect::<Vec<_>>().join(", ")
}
