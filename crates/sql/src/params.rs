//! The parameters of a statement, and the batches of rows that they form.

use super::value::{ToSql, ValueRef};

/// Parameters in the order of their numbers: a tuple, an array or a list.
pub trait Params {
    fn bind<T>(self, run: impl FnOnce(&[ValueRef<'_>]) -> T) -> T;
}

/// The order in which batched rows are sent. Each variant holds the statement for many rows, which
/// takes one array per column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowBatch {
    /// New rows that other rows refer to or change: sent first.
    New(&'static str),
    /// Rows that complete new rows: sent second.
    First(&'static str),
    /// All other rows. The order within a batch is unspecified.
    Each(&'static str),
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
