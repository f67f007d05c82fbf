//! A statement as a set of facts: what it reads, keeps, computes and shows, wherever it says so.
//!
//! Named queries and subqueries count like the statement around them: a condition is a condition.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, Join, JoinConstraint, JoinOperator, LimitClause, OrderByKind,
    OrderBySort, Query, Select, SelectItem, SetExpr, Statement, TableFactor, TopQuantity, Visit,
    Visitor, visit_expressions,
};

use super::normalisation::{Names, table_name, tidied};
use super::rendering::{bare, columns, conjuncts, rendered, sides_sorted};

/// Which part of a statement a fact is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::suggestions) enum Part {
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

/// One thing that a statement says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fact {
    pub(super) part: Part,
    /// As SQL.
    pub(super) text: String,
    /// What it says something about: columns or a table. Facts about the same can be exchanged.
    pub(super) about: String,
}

const AGGREGATES: &[&str] = &[
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "median",
    "stddev",
    "variance",
    "array_agg",
    "string_agg",
    "group_concat",
    "percentile_cont",
    "approx_count_distinct",
];

/// The facts of statements.
pub(super) fn facts_of(mut statements: Vec<Statement>) -> BTreeSet<Fact> {
    let names = tidied(&mut statements);
    let mut reader = Reader { names: &names, facts: BTreeSet::new() };
    let _ = statements.visit(&mut reader);
    reader.facts
}

struct Reader<'n> {
    names: &'n Names,
    facts: BTreeSet<Fact>,
}

impl Visitor for Reader<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if let Some(OrderByKind::Expressions(by)) = query.order_by.as_ref().map(|by| &by.kind) {
            let one = |by: &sqlparser::ast::OrderByExpr| {
                let down = by.options.sort == Some(OrderBySort::Desc);
                format!("{}{}", bare(&by.expr), if down { " DESC" } else { "" })
            };
            let text: Vec<String> = by.iter().map(one).collect();
            self.note(Part::Order, text.join(", "), String::new());
        }
        let limit = match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, .. }) => limit.as_ref(),
            Some(LimitClause::OffsetCommaLimit { limit, .. }) => Some(limit),
            None => None,
        };
        if let Some(limit) = limit {
            self.note(Part::Limit, limit.to_string(), String::new());
        }
        if let SetExpr::SetOperation { op, set_quantifier, .. } = query.body.as_ref() {
            let text = format!("{op} {set_quantifier}");
            self.note(Part::Combination, text.trim().to_owned(), String::new());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        match &select.distinct {
            Some(Distinct::Distinct) => {
                self.note(Part::Distinct, "DISTINCT".to_owned(), String::new());
            }
            Some(Distinct::On(by)) => {
                let by: Vec<String> = by.iter().map(bare).collect();
                let text = format!("DISTINCT ON ({})", by.join(", "));
                self.note(Part::Distinct, text, String::new());
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
            self.note(Part::Limit, format!("{rows}{percent}"), String::new());
        }
        select.projection.iter().for_each(|item| self.shown(item));
        for condition in select.selection.iter().flat_map(conjuncts) {
            self.condition(Part::Filter, condition);
        }
        for condition in select.having.iter().flat_map(conjuncts) {
            self.condition(Part::Having, condition);
        }
        if let GroupByExpr::Expressions(by, _) = &select.group_by {
            by.iter().for_each(|by| self.note(Part::Group, bare(by), String::new()));
        }
        select.from.iter().flat_map(|from| &from.joins).for_each(|join| self.joined(join));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, .. } = table {
            let name = table_name(name);
            if !self.names.is_query(&name) {
                self.note(Part::Table, name, String::new());
            }
        }
        ControlFlow::Continue(())
    }
}

impl Reader<'_> {
    fn note(&mut self, part: Part, text: String, about: String) {
        self.facts.insert(Fact { part, text, about });
    }

    fn shown(&mut self, item: &SelectItem) {
        let expr = match item {
            SelectItem::UnnamedExpr(expr)
            | SelectItem::ExprWithAlias { expr, .. }
            | SelectItem::ExprWithAliases { expr, .. } => expr,
            SelectItem::QualifiedWildcard(..) | SelectItem::Wildcard(_) => {
                return self.note(Part::Column, "*".to_owned(), String::new());
            }
        };
        let part = if is_aggregate(expr) { Part::Aggregate } else { Part::Column };
        self.note(part, bare(expr), String::new());
    }

    fn condition(&mut self, part: Part, condition: &Expr) {
        self.note(part, rendered(condition), columns(condition));
    }

    fn joined(&mut self, join: &Join) {
        let TableFactor::Table { name, .. } = &join.relation else { return };
        let table = table_name(name);
        let (kind, constraint) = kind_of(&join.join_operator);
        let text = match constraint {
            Some(JoinConstraint::On(on)) => {
                let on = conjuncts(on).into_iter().map(sides_sorted);
                format!("{kind} {table} ON {}", sorted(on).join(" AND "))
            }
            Some(JoinConstraint::Using(by)) => {
                let by = by.iter().map(table_name);
                format!("{kind} {table} USING ({})", sorted(by).join(", "))
            }
            Some(JoinConstraint::Natural) => format!("NATURAL {kind} {table}"),
            Some(JoinConstraint::None) | None => format!("{kind} {table}"),
        };
        self.note(Part::Join, text, table);
    }
}

fn sorted(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.collect();
    texts.sort_unstable();
    texts
}

fn kind_of(operator: &JoinOperator) -> (&'static str, Option<&JoinConstraint>) {
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
        // Over a window it is computed row by row.
        if let Expr::Function(function) = inner
            && function.over.is_none()
            && AGGREGATES.contains(&table_name(&function.name).as_str())
        {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    found.is_break()
}
