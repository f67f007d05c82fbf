//! The parameters of a statement, and the batches of rows that they form.

use super::value::{ToSql, ValueRef};

/// Parameters in the order of their numbers: a tuple, an array or a list.
pub trait Params {
    fn bind<T>(self, run: impl FnOnce(&[ValueRef<'_>]) -> T) -> T;
}

/// The rule by which rows of one table are sent together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowBatch {
    /// A part of a row. The parts of a row are merged, so that it is written once. These rows are
    /// sent first.
    Part(RowPart),
    /// A row of a statement for many rows, which takes one array per column. The order within a
    /// batch is unspecified.
    Each(&'static str),
}

/// Columns of a row, in the order of the statement's parameters. The first one is the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowPart {
    pub table: &'static str,
    /// True when the statement inserts the row. New rows are sent first, other rows second.
    pub is_new: bool,
    pub columns: &'static [&'static str],
}

macro_rules! tuples {
    ($($($name:ident)+;)*) => {$(
        impl<$($name: ToSql),+> Params for ($($name,)+) {
            fn bind<T>(self, run: impl FnOnce(&[ValueRef<'_>]) -> T) -> T {
                #[expect(non_snake_case, reason = "one name for a type and its value")]
                let ($($name,)+) = self;
                run(&[$($name.to_sql()),+])
            }
        }
    )*};
}

tuples! {
    A1;
    A1 A2;
    A1 A2 A3;
    A1 A2 A3 A4;
    A1 A2 A3 A4 A5;
    A1 A2 A3 A4 A5 A6;
    A1 A2 A3 A4 A5 A6 A7;
    A1 A2 A3 A4 A5 A6 A7 A8;
    A1 A2 A3 A4 A5 A6 A7 A8 A9;
    A1 A2 A3 A4 A5 A6 A7 A8 A9 A10;
    A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11;
    A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12;
    A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12 A13;
    A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12 A13 A14;
}

impl<V: ToSql, const N: usize> Params for [V; N] {
    fn bind<T>(self, run: impl FnOnce(&[ValueRef<'_>]) -> T) -> T {
        run(&self.each_ref().map(ToSql::to_sql))
    }
}

impl Params for () {
    fn bind<T>(self, run: impl FnOnce(&[ValueRef<'_>]) -> T) -> T {
        run(&[])
    }
}

impl Params for &[&dyn ToSql] {
    fn bind<T>(self, run: impl FnOnce(&[ValueRef<'_>]) -> T) -> T {
        let values: Vec<ValueRef<'_>> = self.iter().map(|value| value.to_sql()).collect();
        run(&values)
    }
}

impl<V: ToSql> Params for Vec<V> {
    fn bind<T>(self, run: impl FnOnce(&[ValueRef<'_>]) -> T) -> T {
        run(&self.iter().map(ToSql::to_sql).collect::<Vec<_>>())
    }
}

/// Parameters whose number is known only at run time.
pub fn params_from_iter<V: ToSql>(values: impl IntoIterator<Item = V>) -> Vec<V> {
    values.into_iter().collect()
}
