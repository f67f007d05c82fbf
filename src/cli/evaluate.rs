//! The command `uptake evaluate`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Value, json};

use super::Common;
use super::server_query::query_server;

/// Estimate the reward another routing policy would have earned (off-policy evaluation).
///
/// Evaluates a policy on the choices of a router (--router and --policy), or on the log of another
/// system (--log and --target). Prints the estimates ips, snips, dm and dr as JSON, each with its
/// 95% confidence interval.
#[derive(Debug, Args)]
#[command(after_help = "Files:
  --log     CSV with the header action,position,reward,pscore and, with a reward model,
            q_hat_logged_action,v_hat_target_policy
  --target  CSV without a header: one line per action, one column per position
  --policy  JSON: {\"kind\":\"fixed\",\"arm\":\"m1\"}, {\"kind\":\"random\"} or
            {\"kind\":\"weights\",\"weights\":{\"m1\":0.2,\"m2\":0.8}}

Examples:
  uptake evaluate --router chat --policy fixed.json
  uptake evaluate --log log.csv --target target.csv")]
pub(super) struct Evaluate {
    #[command(flatten)]
    common: Common,
    /// Router whose choices are evaluated.
    #[arg(long, requires = "policy", conflicts_with_all = ["log", "target"])]
    router: Option<String>,
    /// Policy to evaluate.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Only choices made since this time.
    #[arg(long, value_name = "TIME", requires = "router")]
    since: Option<String>,
    /// Tenant of the router.
    #[arg(long, default_value = "default")]
    tenant: String,
    /// Project of the router.
    #[arg(long, default_value = "default")]
    project: String,
    /// Log of another system.
    #[arg(long, value_name = "FILE", requires = "target")]
    log: Option<PathBuf>,
    /// Choice probabilities of the policy to evaluate.
    #[arg(long, value_name = "FILE", requires = "log")]
    target: Option<PathBuf>,
}

impl Evaluate {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let found = match (&self.log, &self.target, &self.router, &self.policy) {
            (Some(log), Some(target), ..) => {
                let found = engine::evaluate_files(&read_file(log)?, &read_file(target)?)?;
                json!(found)
            }
            (_, _, Some(router), Some(policy)) => {
                let policy: Value = serde_json::from_str(&read_file(policy)?)
                    .with_context(|| format!("{} is not JSON", policy.display()))?;
                let question = json!({"router": router, "policy": policy, "since": self.since});
                let (config, _) = self.common.load(Vec::new())?;
                let (tenant, project) = (&self.tenant, &self.project);
                let path = "/api/v1/policies/evaluate";
                query_server(&config, |server| {
                    server.with_scope(Some(tenant), Some(project)).post(path, &question)
                })?
            }
            _ => bail!("nothing to evaluate: pass --router and --policy, or --log and --target"),
        };
        println!("{found}");
        Ok(())
    }
}

fn read_file(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
