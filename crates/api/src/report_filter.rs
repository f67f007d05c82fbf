//! Query parameters that select the turns of a quality report.

use axum::extract::Query;
use engine::{QualityQuery, QualityUsers, ReactionTime};
use model::{Project, Tenant, Timestamp, UserId, Window};

use crate::error::Problem;
use crate::params::{self, ParamKind, QueryFields, QueryParams};
use crate::scope::RequestScope;

const ATTRIBUTE_PREFIX: &str = "attr.";
const MAX_ATTRIBUTES: usize = 10;

/// Returns the length and the offset of a bucket in hours. Weeks begin on a Monday, and the Unix
/// epoch was a Thursday.
fn parse_bucket(word: Option<String>) -> Result<(u32, u32), Problem> {
    let sizes = |word: &str| match word {
        "hour" => Some((1, 0)),
        "day" => Some((24, 0)),
        "week" => Some((168, 72)),
        _ => None,
    };
    let found = params::parse_optional_word("bucket", word, sizes, &["hour", "day", "week"])?;
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
    let mut query = params::read_query(parameters, &known)?;
    let project: Option<String> = query.take("project")?;
    let (tenant, project) = resolve_tenant(scope, tenant, project.as_deref())?;
    let window = parse_window(&mut query, now, days)?;
    let user = params::parse_optional_id("user_id", query.take("user_id")?, UserId::new)?;
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
    let (bucket_hours, bucket_shift) = parse_bucket(query.take("bucket")?)?;
    let (model, prompt) = (query.take("model")?, query.take("prompt")?);
    Ok(QualityQuery {
        tenant,
        project,
        window,
        model,
        prompt,
        users,
        by: ReactionTime::default(),
        bucket_hours,
        bucket_shift,
    })
}

/// Like `parse_filter`, for reports on satisfaction: `by` selects the time of a reaction.
pub(crate) fn parse_quality_filter(
    scope: &RequestScope,
    tenant: &str,
    parameters: QueryParams,
    now: Timestamp,
    days: u32,
) -> Result<QualityQuery, Problem> {
    let all = params::read_pairs(parameters)?;
    let (by, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(name, _)| name == "by");
    let times = |word: &str| match word {
        "turn" => Some(ReactionTime::Turn),
        "reaction" => Some(ReactionTime::Reaction),
        _ => None,
    };
    let by = by.into_iter().next_back().map(|(_, word)| word);
    let by = params::parse_optional_word("by", by, times, &["turn", "reaction"])?;
    let query = parse_filter(scope, tenant, Ok(Query(others)), now, days)?;
    Ok(QualityQuery { by: by.unwrap_or_default(), ..query })
}

/// Separates attributes such as `attr.plan=pro` from the other parameters.
fn take_attributes(
    parameters: QueryParams,
) -> Result<(Vec<(String, String)>, QueryParams), Problem> {
    let all = params::read_pairs(parameters)?;
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

fn parse_window(query: &mut QueryFields, now: Timestamp, days: u32) -> Result<Window, Problem> {
    let start = query.take_time("start")?;
    let end = query.take_time("end")?.unwrap_or(now);
    let period_days = query.take("period_days")?;
    let start = match start {
        Some(_) if period_days.is_some() => {
            let detail = "period_days is given together with start, expected either of them";
            return Err(Problem::invalid("period_days", detail));
        }
        Some(start) => start,
        None => params::days_before("period_days", end, period_days.unwrap_or(days))?,
    };
    params::check_window(start, end)
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
