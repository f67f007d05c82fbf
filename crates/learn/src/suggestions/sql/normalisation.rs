//! Normal form of a statement: lower-case unquoted names, resolved aliases, columns on the left, and
//! single-element lists as equality. Equal conditions render as equal text.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, Ident, ObjectName, ObjectNamePart, Query, Statement, TableFactor,
    UnaryOperator, Visit, VisitMut, Visitor, VisitorMut, visit_expressions, visit_expressions_mut,
};

#[derive(Default)]
pub(super) struct SqlNames {
    tables: BTreeMap<String, Option<String>>,
    queries: Vec<String>,
}

impl SqlNames {
    pub(super) fn is_query(&self, name: &str) -> bool {
        self.queries.iter().any(|query| query == name)
    }

    fn add_alias(&mut self, alias: String, table: &str) {
        let known = self.tables.entry(alias).or_insert_with(|| Some(table.to_owned()));
        // An alias used for two tables is ambiguous.
        if known.as_deref() != Some(table) {
            *known = None;
        }
    }
}

impl Visitor for SqlNames {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let named = query.with.iter().flat_map(|with| &with.cte_tables);
        self.queries.extend(named.map(|cte| cte.alias.name.value.to_lowercase()));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias: Some(alias), .. } = table {
            self.add_alias(alias.name.value.to_lowercase(), &table_name(name));
        }
        ControlFlow::Continue(())
    }
}

/// Lower-case table name without its schema.
pub(super) fn table_name(name: &ObjectName) -> String {
    let last = name.0.last().and_then(ObjectNamePart::as_ident);
    last.map_or_else(|| name.to_string(), |ident| ident.value.clone()).to_lowercase()
}

pub(super) fn normalise_statements(statements: &mut Vec<Statement>) -> SqlNames {
    let mut names = SqlNames::default();
    let _ = Visit::visit(&*statements, &mut names);
    let _ = VisitMut::visit(statements, &mut Normaliser { names: &names });
    names
}

struct Normaliser<'n> {
    names: &'n SqlNames,
}

impl VisitorMut for Normaliser<'_> {
    type Break = ();

    fn pre_visit_ident(&mut self, ident: &mut Ident) -> ControlFlow<()> {
        ident.value = ident.value.to_lowercase();
        ident.quote_style = None;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expr {
            let last_two = parts.len().saturating_sub(2);
            parts.drain(..last_two);
            let stands_for = parts.first().and_then(|first| self.names.tables.get(&first.value));
            if let (Some(Some(table)), Some(first)) = (stands_for, parts.first_mut()) {
                first.value.clone_from(table);
            }
        }
        unwrap_nested(expr);
        simplify_in_list(expr);
        put_column_first(expr);
        simplify_negation(expr);
        ControlFlow::Continue(())
    }
}

/// Removes parentheses around anything but an operation.
fn unwrap_nested(expr: &mut Expr) {
    if let Expr::Nested(inner) = expr
        && !matches!(**inner, Expr::BinaryOp { .. } | Expr::UnaryOp { .. })
    {
        *expr = *take_expr(inner);
    }
}

/// Rewrites `a IN ('x')` to `a = 'x'` and sorts longer lists.
fn simplify_in_list(expr: &mut Expr) {
    let Expr::InList { expr: left, list, negated } = expr else { return };
    list.sort_by_key(ToString::to_string);
    list.dedup();
    if let [only] = list.as_mut_slice() {
        let op = if *negated { BinaryOperator::NotEq } else { BinaryOperator::Eq };
        *expr = Expr::BinaryOp { left: take_expr(left), op, right: take_expr(only) };
    }
}

/// Rewrites `5 < a` to `a > 5`.
fn put_column_first(expr: &mut Expr) {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    let Expr::BinaryOp { left, op, right } = expr else { return };
    let mirror = [(Eq, Eq), (NotEq, NotEq), (Lt, Gt), (Gt, Lt), (LtEq, GtEq), (GtEq, LtEq)];
    let Some((_, mirrored)) = mirror.into_iter().find(|(from, _)| from == op) else { return };
    let is_value = |side: &Expr| matches!(side, Expr::Value(_));
    if is_value(left) && !is_value(right) {
        std::mem::swap(left, right);
        *op = mirrored;
    }
}

/// Rewrites `NOT a = b` to `a <> b`.
fn simplify_negation(expr: &mut Expr) {
    let Expr::UnaryOp { op: UnaryOperator::Not, expr: inner } = expr else { return };
    let mut inside: &mut Expr = inner;
    while let Expr::Nested(deeper) = inside {
        inside = deeper;
    }
    if let Expr::BinaryOp { left, op, right } = inside
        && (*op == BinaryOperator::Eq || *op == BinaryOperator::NotEq)
    {
        let equal = *op == BinaryOperator::Eq;
        let op = if equal { BinaryOperator::NotEq } else { BinaryOperator::Eq };
        *expr = Expr::BinaryOp { left: take_expr(left), op, right: take_expr(right) };
    }
}

/// Takes an expression out of one that is about to be replaced.
fn take_expr(expr: &mut Expr) -> Box<Expr> {
    Box::new(std::mem::replace(expr, Expr::Identifier(Ident::new(""))))
}

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
