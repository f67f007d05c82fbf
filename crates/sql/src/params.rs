//! The parameters of a statement.

use super::value::{ToSql, ValueRef};

/// Parameters in the order of their numbers: a tuple, an array or a list.
pub trait Params {
    fn with<T>(self, run: impl FnOnce(&[ValueRef<'_>]) -> T) -> T;
}

macro_rules! tuples {
    ($($($name:ident)+;)*) => {$(
        impl<$($name: ToSql),+> Params for ($($name,)+) {
            fn with<T>(self, run: impl FnOnce(&[ValueRef<'_>]) -> T) -> T {
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
    fn with<T>(self, run: impl FnOnce(&[ValueRef<'_>]) -> T) -> T {
        run(&self.each_ref().map(ToSql::to_sql))
    }
}

impl Params for () {
    fn with<T>(self, run: impl FnOnce(&[ValueRef<'_>]) -> T) -> T {
        run(&[])
    }
}

impl Params for &[&dyn ToSql] {
    fn with<T>(self, run: impl FnOnce(&[ValueRef<'_>]) -> T) -> T {
        let values: Vec<ValueRef<'_>> = self.iter().map(|value| value.to_sql()).collect();
        run(&values)
    }
}

/// A list whose length is known only at run time.
pub struct Listed<V>(Vec<V>);

pub fn params_from_iter<V: ToSql>(values: impl IntoIterator<Item = V>) -> Listed<V> {
    Listed(values.into_iter().collect())
}

impl<V: ToSql> Params for Listed<V> {
    fn with<T>(self, run: impl FnOnce(&[ValueRef<'_>]) -> T) -> T {
        let values: Vec<ValueRef<'_>> = self.0.iter().map(ToSql::to_sql).collect();
        run(&values)
    }
}
