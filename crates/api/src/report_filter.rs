//! Query parameters that select the turns of a quality report.

use axum::extract::Query;
use engine::{QualityQuery, QualityUsers};
use model::{Project, Tenant, Timestamp, UserId, Window};
use serde::Deserialize;

use crate::error::Problem;
use crate::params::{self, ParamKind, QueryParams};
use crate::scope::RequestScope;

const ATTRIBUTE_PREFIX: &str = "attr.";
const MAX_ATTRIBUTES: usize = 10;

#[derive(Debug, Deserialize)]
struct Fields {
    project: Option<String>,
    model: Option<String>,
    prompt: Option<String>,
    user_id: Option<String>,
    period_days: Option<u32>,
    start: Option<String>,
    end: Option<String>,
    bucket: Option<String>,
}

/// Returns the length and the offset of a bucket in hours. Weeks begin on a Monday, and the Unix
/// epoch was a Thursday.
fn parse_bucket(word: Option<String>) -> Result<(u32, u32), Problem> {
    let sizes = |word: &str| match word {
        "hour" => Some((1, 0)),
        "day" => Some((24, 0)),
        "week" => Some((168, 72)),
        _ => None,
    };
    let found = params::parse_word("bucket", word, sizes, &["hour", "day", "week"])?;
    Ok(found.unwrap_or((24, 0)))
}

/// Parses the parameters of a report. `days` is the default length of its period.
pub(crate) fn parse_filter(
    scope: &RequestScope,
    tenant: &str,
    parameters: QueryParams,
    now: Timestamp,
    days: u32,
) -> Result<QualityQuery, Problem> {
    let (attributes, parameters) = take_attributes(parameters)?;
    let known = [
        ("project", ParamKind::Text),
        ("model", ParamKind::Text),
        ("prompt", ParamKind::Text),
        ("user_id", ParamKind::Text),
        ("period_days", ParamKind::Scalar),
        ("start", ParamKind::Text),
        ("end", ParamKind::Text),
        ("bucket", ParamKind::Text),
    ];
    let fields: Fields = params::decode_query(parameters, &known)?;
    let (tenant, project) = resolve_tenant(scope, tenant, fields.project.as_deref())?;
    let window = parse_window(&fields, now, days)?;
    let user = params::parse_optional_id("user_id", fields.user_id, UserId::new)?;
    let users = match (user, attributes.is_empty()) {
        (Some(_), false) => {
            let detail =
                "user_id is given together with attr.*, expected either a user or attributes";
            return Err(Problem::invalid("user_id", detail));
        }
        (Some(user), true) => Some(QualityUsers::One(user)),
        (None, false) => Some(QualityUsers::With(attributes)),
        (None, true) => None,
    };
    let (bucket_hours, bucket_shift) = parse_bucket(fields.bucket)?;
    let (model, prompt) = (fields.model, fields.prompt);
    Ok(QualityQuery { tenant, project, window, model, prompt, users, bucket_hours, bucket_shift })
}

/// Separates attributes such as `attr.plan=pro` from the other parameters.
fn take_attributes(
    parameters: QueryParams,
) -> Result<(Vec<(String, String)>, QueryParams), Problem> {
    let Query(all) = parameters.map_err(|_| {
        Problem::invalid("query", "query: the query string is malformed, expected name=value pairs")
    })?;
    let is_attribute = |(name, _): &(String, String)| name.starts_with(ATTRIBUTE_PREFIX);
    let (attributes, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_attribute);
    if attributes.len() > MAX_ATTRIBUTES {
        let detail =
            format!("attr has {} attributes, expected at most {MAX_ATTRIBUTES}", attributes.len());
        return Err(Problem::invalid("attr", detail));
    }
    if attributes.iter().any(|(name, _)| name[ATTRIBUTE_PREFIX.len()..].trim().is_empty()) {
        let detail = "attr. has no name, expected one as in attr.plan=pro";
        return Err(Problem::invalid(ATTRIBUTE_PREFIX, detail));
    }
    let name = |(name, value): (String, String)| (name[ATTRIBUTE_PREFIX.len()..].to_owned(), value);
    Ok((attributes.into_iter().map(name).collect(), Ok(Query(others))))
}

fn parse_window(fields: &Fields, now: Timestamp, days: u32) -> Result<Window, Problem> {
    let start =
        fields.start.as_deref().map(|text| params::parse_time("start", text)).transpose()?;
    let end = fields.end.as_deref().map(|text| params::parse_time("end", text)).transpose()?;
    if fields.period_days.is_some() && start.is_some() {
        let detail = "period_days is given together with start, expected either of them";
        return Err(Problem::invalid("period_days", detail));
    }
    let end = end.unwrap_or(now);
    let start = match start {
        Some(start) => start,
        None => {
            let days = fields.period_days.unwrap_or(days);
            if !(1..=3650).contains(&days) {
                let detail = format!("period_days is {days}, expected 1 to 3650");
                return Err(Problem::invalid("period_days", detail));
            }
            end.plus_secs(-i64::from(days) * 86_400)
        }
    };
    if start > end {
        return Err(Problem::invalid(
            "end",
            format!("end is {end}, expected a time after start {start}"),
        ));
    }
    Ok(Window { start, end })
}

/// Resolves the tenant of a path and the project of the query, the key or a header. `None` selects
/// all projects.
pub(crate) fn resolve_tenant(
    scope: &RequestScope,
    tenant: &str,
    project: Option<&str>,
) -> Result<(Tenant, Option<Project>), Problem> {
    let default = scope.explicit_project().map(|project| project.as_str().to_owned());
    let wanted = project.map(str::to_owned).or(default);
    let named = wanted.clone().unwrap_or_else(|| scope.get().project.as_str().to_owned());
    let found = scope.resolve_path(tenant, &named)?;
    Ok((found.tenant, wanted.map(|_| found.project)))
}
