//! Extracts SQL from an answer and parses it within bounds.

use sqlparser::ast::Statement;
use sqlparser::dialect::{
    BigQueryDialect, Dialect, GenericDialect, MsSqlDialect, MySqlDialect, PostgreSqlDialect,
    SnowflakeDialect,
};
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

const MAX_STATEMENT_BYTES: usize = 20_000;
/// Parsing and walking are recursive, and each operator may add a level. These limits keep an
/// unoptimised build inside a 2 MiB stack.
const MAX_TOKENS: usize = 4_000;
const MAX_OPERATORS: usize = 150;
const MAX_RECURSION_DEPTH: usize = 20;

/// Returns the SQL of an answer without its code fence; `None` for any other text.
pub(in crate::suggestions) fn extract_statement(answer: &str) -> Option<&str> {
    let inside = answer.split("```").nth(1).unwrap_or(answer);
    let inside = inside.strip_prefix("sql").or(inside.strip_prefix("SQL")).unwrap_or(inside);
    let text = inside.trim();
    let mut start = text;
    // Comments may precede the first keyword.
    while let Some(comment) = start.strip_prefix("--") {
        start = comment.split_once('\n')?.1.trim_start();
    }
    while let Some(comment) = start.strip_prefix("/*") {
        start = comment.split_once("*/")?.1.trim_start();
    }
    let first = start.trim_start_matches(['(', ' ']).split(|c: char| !c.is_alphabetic()).next()?;
    let keywords = ["select", "with", "insert", "update", "delete"];
    let short = text.len() <= MAX_STATEMENT_BYTES;
    (short && keywords.iter().any(|word| first.eq_ignore_ascii_case(word))).then_some(text)
}

/// Parses with the first dialect that accepts the text.
pub(super) fn parse_statements(sql: &str) -> Option<Vec<Statement>> {
    let dialects: [&dyn Dialect; 6] = [
        &GenericDialect {},
        &PostgreSqlDialect {},
        &MySqlDialect {},
        &MsSqlDialect {},
        &BigQueryDialect {},
        &SnowflakeDialect {},
    ];
    dialects.into_iter().find_map(|dialect| parse_dialect(dialect, sql))
}

fn parse_dialect(dialect: &dyn Dialect, sql: &str) -> Option<Vec<Statement>> {
    let tokens = Tokenizer::new(dialect, sql).tokenize().ok()?;
    let operators = tokens.iter().filter(|token| may_nest(token)).count();
    if tokens.len() > MAX_TOKENS || operators > MAX_OPERATORS {
        return None;
    }
    let mut parser =
        Parser::new(dialect).with_recursion_limit(MAX_RECURSION_DEPTH).with_tokens(tokens);
    parser.parse_statements().ok().filter(|statements| !statements.is_empty())
}

fn may_nest(token: &Token) -> bool {
    if let Token::Word(word) = token {
        use Keyword::{AND, CASE, EXCEPT, INTERSECT, IS, LIKE, NOT, OR, UNION};
        return [AND, CASE, EXCEPT, INTERSECT, IS, LIKE, NOT, OR, UNION].contains(&word.keyword);
    }
    let marks = [Token::Comma, Token::Period, Token::SemiColon, Token::RParen];
    let is_literal =
        matches!(token, Token::Whitespace(_) | Token::Number(..) | Token::SingleQuotedString(_));
    !is_literal && !marks.contains(token)
}
