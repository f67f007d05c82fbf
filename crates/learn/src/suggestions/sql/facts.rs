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

use super::normalisation::{
    SqlNames, list_columns, normalise_statements, render_condition, render_sorted_sides,
    render_unqualified, split_conjuncts, table_name,
};
use crate::text::list_contains;

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

impl ClauseKind {
    /// True when the text of a fact names its table.
    pub(in crate::suggestions) fn names_table(self) -> bool {
        match self {
            Self::Table | Self::Join => true,
            Self::Filter
            | Self::Aggregate
            | Self::Distinct
            | Self::Group
            | Self::Having
            | Self::Column
            | Self::Order
            | Self::Limit
            | Self::Combination => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SqlFact {
    pub(super) part: ClauseKind,
    pub(super) text: String,
    /// The columns or the table it concerns. Facts about the same can replace each other.
    pub(super) about: String,
}

const AGGREGATE_FUNCTIONS: &str = "count sum avg min max median stddev variance array_agg string_agg \
    group_concat percentile_cont approx_count_distinct";

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
            let keys = by.iter().map(|by| {
                let descending = by.options.sort == Some(OrderBySort::Desc);
                format!("{}{}", render_unqualified(&by.expr), if descending { " DESC" } else { "" })
            });
            self.add_fact(ClauseKind::Order, keys.collect::<Vec<String>>().join(", "));
        }
        let limit = match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, .. }) => limit.as_ref(),
            Some(LimitClause::OffsetCommaLimit { limit, .. }) => Some(limit),
            None => None,
        };
        if let Some(limit) = limit {
            self.add_fact(ClauseKind::Limit, limit.to_string());
        }
        if let SetExpr::SetOperation { op, set_quantifier, .. } = query.body.as_ref() {
            self.add_fact(ClauseKind::Combination, format!("{op} {set_quantifier}").trim());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        match &select.distinct {
            Some(Distinct::Distinct) => self.add_fact(ClauseKind::Distinct, "DISTINCT"),
            Some(Distinct::On(by)) => {
                let by: Vec<String> = by.iter().map(render_unqualified).collect();
                self.add_fact(ClauseKind::Distinct, format!("DISTINCT ON ({})", by.join(", ")));
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
            self.add_fact(ClauseKind::Limit, format!("{rows}{percent}"));
        }
        select.projection.iter().for_each(|item| self.add_projection(item));
        let conditions =
            [(ClauseKind::Filter, &select.selection), (ClauseKind::Having, &select.having)];
        for (part, condition) in conditions {
            for condition in condition.iter().flat_map(split_conjuncts) {
                let (text, about) = (render_condition(condition), list_columns(condition));
                self.facts.insert(SqlFact { part, text, about });
            }
        }
        if let GroupByExpr::Expressions(by, _) = &select.group_by {
            by.iter().for_each(|by| self.add_fact(ClauseKind::Group, render_unqualified(by)));
        }
        select.from.iter().flat_map(|from| &from.joins).for_each(|join| self.add_join(join));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, .. } = table {
            let name = table_name(name);
            if !self.names.is_query(&name) {
                self.add_fact(ClauseKind::Table, name);
            }
        }
        ControlFlow::Continue(())
    }
}

impl FactCollector<'_> {
    fn add_fact(&mut self, part: ClauseKind, text: impl Into<String>) {
        self.facts.insert(SqlFact { part, text: text.into(), about: String::new() });
    }

    fn add_projection(&mut self, item: &SelectItem) {
        let expr = match item {
            SelectItem::UnnamedExpr(expr)
            | SelectItem::ExprWithAlias { expr, .. }
            | SelectItem::ExprWithAliases { expr, .. } => expr,
            SelectItem::QualifiedWildcard(..) | SelectItem::Wildcard(_) => {
                return self.add_fact(ClauseKind::Column, "*");
            }
        };
        let part = if is_aggregate(expr) { ClauseKind::Aggregate } else { ClauseKind::Column };
        self.add_fact(part, render_unqualified(expr));
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
        self.facts.insert(SqlFact { part: ClauseKind::Join, text, about: table });
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
            && list_contains(AGGREGATE_FUNCTIONS, &table_name(&function.name))
        {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    found.is_break()
}
