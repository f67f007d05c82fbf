//! `uptake evaluate`

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Value, json};

use super::Common;
use super::ask::ask;

/// Estimate what another policy would have earned.
///
/// Over the choices of one of our routers (--router and --policy), or over the log of any other
/// system (--log and --target). Prints the estimates as JSON: ips, snips, dm and dr, each with its
/// interval of 95%.
#[derive(Debug, Args)]
#[command(after_help = "Files:
  --log     CSV with a header: action,position,reward,pscore and, if there is a model of the rewards,
            q_hat_logged_action,v_hat_target_policy
  --target  CSV without a header: a line for each action, a column for each position
  --policy  JSON: {\"kind\":\"fixed\",\"arm\":\"m1\"}, {\"kind\":\"random\"} or
            {\"kind\":\"weights\",\"weights\":{\"m1\":0.2,\"m2\":0.8}}

Examples:
  uptake evaluate --router chat --policy fixed.json
  uptake evaluate --log log.csv --target target.csv")]
pub(super) struct Evaluate {
    #[command(flatten)]
    common: Common,
    /// The router whose choices count.
    #[arg(long, requires = "policy", conflicts_with_all = ["log", "target"])]
    router: Option<String>,
    /// The policy in question.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Only choices since then.
    #[arg(long, value_name = "TIME", requires = "router")]
    since: Option<String>,
    /// Whose router.
    #[arg(long, default_value = "default")]
    tenant: String,
    /// Which project's.
    #[arg(long, default_value = "default")]
    project: String,
    /// The log of another system.
    #[arg(long, value_name = "FILE", requires = "target")]
    log: Option<PathBuf>,
    /// The chances of the policy in question.
    #[arg(long, value_name = "FILE", requires = "log")]
    target: Option<PathBuf>,
}

impl Evaluate {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let found = match (&self.log, &self.target, &self.router, &self.policy) {
            (Some(log), Some(target), ..) => {
                let found = engine::evaluate_files(&read(log)?, &read(target)?)?;
                json!(found)
            }
            (_, _, Some(router), Some(policy)) => {
                let policy: Value = serde_json::from_str(&read(policy)?)
                    .with_context(|| format!("{} is not JSON", policy.display()))?;
                let question = json!({"router": router, "policy": policy, "since": self.since});
                let (config, _) = self.common.load(Vec::new())?;
                let (tenant, project) = (&self.tenant, &self.project);
                let path = "/api/v1/policies/evaluate";
                ask(&config, |server| {
                    server.with_scope(Some(tenant), Some(project)).post(path, &question)
                })?
            }
            _ => bail!("nothing to evaluate; give --router and --policy, or --log and --target"),
        };
        println!("{found}");
        Ok(())
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
