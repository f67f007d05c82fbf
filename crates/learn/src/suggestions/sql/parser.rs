//! From an answer to a statement: takes it out of its fence and parses it, within bounds.

use sqlparser::ast::Statement;
use sqlparser::dialect::{
    BigQueryDialect, Dialect, GenericDialect, MsSqlDialect, MySqlDialect, PostgreSqlDialect,
    SnowflakeDialect,
};
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

/// Longer statements are not looked at.
const LONGEST: usize = 20_000;
/// A statement is a tree that is parsed and walked by recursion, and each operator may make it one
/// deeper. With these the stack of a thread of 2 MiB is enough even without optimisation.
const MOST_TOKENS: usize = 4_000;
const MOST_OPERATORS: usize = 150;
const DEEPEST: usize = 20;

/// The SQL in an answer, out of its fence; `None` when it does not begin like a statement.
pub(in crate::suggestions) fn statement_of(answer: &str) -> Option<&str> {
    let inside = answer.split("```").nth(1).unwrap_or(answer);
    let inside = inside.strip_prefix("sql").or(inside.strip_prefix("SQL")).unwrap_or(inside);
    let text = inside.trim();
    let mut begin = text;
    // Comments may stand before the first word.
    while let Some(comment) = begin.strip_prefix("--") {
        begin = comment.split_once('\n')?.1.trim_start();
    }
    while let Some(comment) = begin.strip_prefix("/*") {
        begin = comment.split_once("*/")?.1.trim_start();
    }
    let first = begin.trim_start_matches(['(', ' ']).split(|c: char| !c.is_alphabetic()).next()?;
    let opens = ["select", "with", "insert", "update", "delete"];
    let short = text.len() <= LONGEST;
    (short && opens.iter().any(|word| first.eq_ignore_ascii_case(word))).then_some(text)
}

/// The statements of a text in the first dialect that reads it.
pub(super) fn parsed(sql: &str) -> Option<Vec<Statement>> {
    let dialects: [&dyn Dialect; 6] = [
        &GenericDialect {},
        &PostgreSqlDialect {},
        &MySqlDialect {},
        &MsSqlDialect {},
        &BigQueryDialect {},
        &SnowflakeDialect {},
    ];
    dialects.into_iter().find_map(|dialect| parsed_as(dialect, sql))
}

fn parsed_as(dialect: &dyn Dialect, sql: &str) -> Option<Vec<Statement>> {
    let tokens = Tokenizer::new(dialect, sql).tokenize().ok()?;
    let operators = tokens.iter().filter(|token| may_nest(token)).count();
    if tokens.len() > MOST_TOKENS || operators > MOST_OPERATORS {
        return None;
    }
    let mut parser = Parser::new(dialect).with_recursion_limit(DEEPEST).with_tokens(tokens);
    parser.parse_statements().ok().filter(|statements| !statements.is_empty())
}

fn may_nest(token: &Token) -> bool {
    if let Token::Word(word) = token {
        let nests = [
            Keyword::AND,
            Keyword::OR,
            Keyword::NOT,
            Keyword::UNION,
            Keyword::EXCEPT,
            Keyword::INTERSECT,
            Keyword::IS,
            Keyword::LIKE,
            Keyword::CASE,
        ];
        return nests.contains(&word.keyword);
    }
    let marks = [Token::Comma, Token::Period, Token::SemiColon, Token::RParen];
    let plain =
        matches!(token, Token::Whitespace(_) | Token::Number(..) | Token::SingleQuotedString(_));
    !plain && !marks.contains(token)
}
