//! Decomposes a statement into facts: tables, conditions, aggregates and columns.
//!
//! CTEs and subqueries contribute facts like the outer statement.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, Join, JoinConstraint, JoinOperator, LimitClause, OrderByKind,
    OrderBySort, Query, Select, SelectItem, SetExpr, Statement, TableFactor, TopQuantity, Visit,
    Visitor, visit_expressions,
};

use super::normalisation::{SqlNames, normalise_statements, table_name};
use super::rendering::{
    list_columns, render_condition, render_sorted_sides, render_unqualified, split_conjuncts,
};

/// Clause of a fact. The order is by effect on the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::suggestions) enum ClauseKind {
    Filter,
    Table,
    Join,
    Aggregate,
    Distinct,
    Group,
    Having,
    Column,
    Order,
    Limit,
    Combination,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SqlFact {
    pub(super) part: ClauseKind,
    pub(super) text: String,
    /// The columns or the table it concerns. Facts about the same can replace each other.
    pub(super) about: String,
}

#[rustfmt::skip]
const AGGREGATE_FUNCTIONS: &[&str] = &[
    "count", "sum", "avg", "min", "max", "median", "stddev", "variance", "array_agg", "string_agg",
    "group_concat", "percentile_cont", "approx_count_distinct",
];

pub(super) fn extract_facts(mut statements: Vec<Statement>) -> BTreeSet<SqlFact> {
    let names = normalise_statements(&mut statements);
    let mut reader = FactCollector { names: &names, facts: BTreeSet::new() };
    let _ = statements.visit(&mut reader);
    reader.facts
}

struct FactCollector<'n> {
    names: &'n SqlNames,
    facts: BTreeSet<SqlFact>,
}

impl Visitor for FactCollector<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if let Some(OrderByKind::Expressions(by)) = query.order_by.as_ref().map(|by| &by.kind) {
            let one = |by: &sqlparser::ast::OrderByExpr| {
                let descending = by.options.sort == Some(OrderBySort::Desc);
                format!("{}{}", render_unqualified(&by.expr), if descending { " DESC" } else { "" })
            };
            let text: Vec<String> = by.iter().map(one).collect();
            self.add_fact(ClauseKind::Order, text.join(", "), String::new());
        }
        let limit = match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, .. }) => limit.as_ref(),
            Some(LimitClause::OffsetCommaLimit { limit, .. }) => Some(limit),
            None => None,
        };
        if let Some(limit) = limit {
            self.add_fact(ClauseKind::Limit, limit.to_string(), String::new());
        }
        if let SetExpr::SetOperation { op, set_quantifier, .. } = query.body.as_ref() {
            let text = format!("{op} {set_quantifier}");
            self.add_fact(ClauseKind::Combination, text.trim().to_owned(), String::new());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        match &select.distinct {
            Some(Distinct::Distinct) => {
                self.add_fact(ClauseKind::Distinct, "DISTINCT".to_owned(), String::new());
            }
            Some(Distinct::On(by)) => {
                let by: Vec<String> = by.iter().map(render_unqualified).collect();
                let text = format!("DISTINCT ON ({})", by.join(", "));
                self.add_fact(ClauseKind::Distinct, text, String::new());
            }
            Some(Distinct::All) | None => {}
        }
        if let Some(top) = &select.top
            && let Some(quantity) = &top.quantity
        {
            let rows = match quantity {
                TopQuantity::Expr(rows) => rows.to_string(),
                TopQuantity::Constant(rows) => rows.to_string(),
            };
            let percent = if top.percent { " PERCENT" } else { "" };
            self.add_fact(ClauseKind::Limit, format!("{rows}{percent}"), String::new());
        }
        select.projection.iter().for_each(|item| self.add_projection(item));
        for condition in select.selection.iter().flat_map(split_conjuncts) {
            self.add_condition(ClauseKind::Filter, condition);
        }
        for condition in select.having.iter().flat_map(split_conjuncts) {
            self.add_condition(ClauseKind::Having, condition);
        }
        if let GroupByExpr::Expressions(by, _) = &select.group_by {
            by.iter().for_each(|by| {
                self.add_fact(ClauseKind::Group, render_unqualified(by), String::new())
            });
        }
        select.from.iter().flat_map(|from| &from.joins).for_each(|join| self.add_join(join));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, .. } = table {
            let name = table_name(name);
            if !self.names.is_query(&name) {
                self.add_fact(ClauseKind::Table, name, String::new());
            }
        }
        ControlFlow::Continue(())
    }
}

impl FactCollector<'_> {
    fn add_fact(&mut self, part: ClauseKind, text: String, about: String) {
        self.facts.insert(SqlFact { part, text, about });
    }

    fn add_projection(&mut self, item: &SelectItem) {
        let expr = match item {
            SelectItem::UnnamedExpr(expr)
            | SelectItem::ExprWithAlias { expr, .. }
            | SelectItem::ExprWithAliases { expr, .. } => expr,
            SelectItem::QualifiedWildcard(..) | SelectItem::Wildcard(_) => {
                return self.add_fact(ClauseKind::Column, "*".to_owned(), String::new());
            }
        };
        let part = if is_aggregate(expr) { ClauseKind::Aggregate } else { ClauseKind::Column };
        self.add_fact(part, render_unqualified(expr), String::new());
    }

    fn add_condition(&mut self, part: ClauseKind, condition: &Expr) {
        self.add_fact(part, render_condition(condition), list_columns(condition));
    }

    fn add_join(&mut self, join: &Join) {
        let TableFactor::Table { name, .. } = &join.relation else { return };
        let table = table_name(name);
        let (kind, constraint) = join_kind(&join.join_operator);
        let text = match constraint {
            Some(JoinConstraint::On(on)) => {
                let on = split_conjuncts(on).into_iter().map(render_sorted_sides);
                format!("{kind} {table} ON {}", to_sorted(on).join(" AND "))
            }
            Some(JoinConstraint::Using(by)) => {
                let by = by.iter().map(table_name);
                format!("{kind} {table} USING ({})", to_sorted(by).join(", "))
            }
            Some(JoinConstraint::Natural) => format!("NATURAL {kind} {table}"),
            Some(JoinConstraint::None) | None => format!("{kind} {table}"),
        };
        self.add_fact(ClauseKind::Join, text, table);
    }
}

fn to_sorted(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.collect();
    texts.sort_unstable();
    texts
}

fn join_kind(operator: &JoinOperator) -> (&'static str, Option<&JoinConstraint>) {
    match operator {
        JoinOperator::Join(on) | JoinOperator::Inner(on) | JoinOperator::StraightJoin(on) => {
            ("JOIN", Some(on))
        }
        JoinOperator::Left(on) | JoinOperator::LeftOuter(on) => ("LEFT JOIN", Some(on)),
        JoinOperator::Right(on) | JoinOperator::RightOuter(on) => ("RIGHT JOIN", Some(on)),
        JoinOperator::FullOuter(on) => ("FULL JOIN", Some(on)),
        JoinOperator::CrossJoin(on) => ("CROSS JOIN", Some(on)),
        JoinOperator::Semi(on) | JoinOperator::LeftSemi(on) | JoinOperator::RightSemi(on) => {
            ("SEMI JOIN", Some(on))
        }
        JoinOperator::Anti(on) | JoinOperator::LeftAnti(on) | JoinOperator::RightAnti(on) => {
            ("ANTI JOIN", Some(on))
        }
        JoinOperator::AsOf { constraint, .. } => ("ASOF JOIN", Some(constraint)),
        JoinOperator::CrossApply | JoinOperator::OuterApply => ("APPLY", None),
        JoinOperator::ArrayJoin | JoinOperator::LeftArrayJoin | JoinOperator::InnerArrayJoin => {
            ("ARRAY JOIN", None)
        }
    }
}

fn is_aggregate(expr: &Expr) -> bool {
    let found = visit_expressions(expr, |inner| {
        // A window function is computed per row, so it is no aggregate.
        if let Expr::Function(function) = inner
            && function.over.is_none()
            && AGGREGATE_FUNCTIONS.contains(&table_name(&function.name).as_str())
        {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    found.is_break()
}
