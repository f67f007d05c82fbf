//! Sums equal the totals of units after any sequence of events.

use learn::experiment::{LifecycleAction, Metric, compute_results, next_step};
use serde_json::{Value, json};

use super::test_world::{TestWorld, completion, parse_id};

const USERS: u64 = 20;
const STEPS: u64 = 160;

/// Pseudo-random numbers (xorshift).
struct TestRng(u64);

impl TestRng {
    fn next_u64(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn next_below(&mut self, sides: u64) -> u64 {
        (self.next_u64() >> 11) % sides
    }
}

/// One experiment for each metric, by turn and by unit, each with guardrails on other metrics.
fn experiment_definitions() -> Vec<(String, Value)> {
    let metrics = Metric::ALL_METRICS.into_iter().filter(|metric| *metric != Metric::Reward);
    let words: Vec<&str> = metrics.map(Metric::word).collect();
    let mut all = Vec::new();
    for (n, word) in words.iter().enumerate() {
        let by = if n % 2 == 0 { "unit" } else { "turn" };
        let guarded = [words[(n + 1) % words.len()], words[(n + 3) % words.len()]];
        let guardrails: Vec<Value> =
            guarded.iter().map(|metric| json!({"metric": metric, "limit": 1})).collect();
        let mut more = json!({"metric": word, "by": by, "guardrails": guardrails});
        if n % 3 == 1 {
            more["rollout"] = json!({"steps": [50, 100], "margin": 9});
        }
        if n % 3 == 2 {
            more["adaptive"] = json!({});
        }
        all.push((format!("x{n}"), more));
    }
    all
}

async fn check_experiment(world: &TestWorld, id: &str) {
    let (by_sum, by_unit) = world.load_both_evidences(id).await;
    assert_eq!(by_sum, by_unit, "{id}");
    let view = world.load_view(id).await;
    // NaN is not equal to itself, so the text is compared, too.
    let text = |evidence| format!("{:?}", compute_results(&view.definition, view.status, evidence));
    assert_eq!(text(&by_sum), text(&by_unit), "{id}");
    let step = view.rollout.map(|state| {
        let step = |evidence| next_step(&view.definition, &state, evidence);
        (step(&by_sum), step(&by_unit))
    });
    assert!(step.is_none_or(|(by_sum, by_unit)| by_sum == by_unit), "{id}");
}

struct RandomTrial {
    world: TestWorld,
    rng: TestRng,
    experiments: Vec<(String, Value)>,
    /// Number of turns per user.
    turns: Vec<u64>,
}

impl RandomTrial {
    async fn new(seed: u64) -> Self {
        let (world, rng) = (TestWorld::new().await, TestRng(seed));
        let turns = vec![0; USERS as usize];
        let mut trial = Self { world, rng, experiments: experiment_definitions(), turns };
        // Some turns lie in the past.
        for user in 0..USERS / 2 {
            for _ in 0..trial.rng.next_below(4) {
                trial.complete_turn(user).await;
            }
        }
        trial.world.clock.advance_secs(1_000);
        for (id, more) in &trial.experiments {
            trial.world.start_experiment(id, more).await;
        }
        trial
    }

    async fn complete_turn(&mut self, user: u64) {
        let n = &mut self.turns[user as usize];
        self.world.complete_turn(&format!("u{user}"), *n, completion(self.rng.next_u64())).await;
        *n += 1;
    }

    /// A random event of a random user.
    async fn random_step(&mut self, may_move: bool) {
        self.world.clock.advance_secs(self.rng.next_below(20) as i64);
        let user = self.rng.next_below(USERS);
        let (name, turns) = (format!("u{user}"), self.turns[user as usize]);
        let id = &self.experiments[self.rng.next_below(self.experiments.len() as u64) as usize].0;
        match self.rng.next_below(10) {
            0..4 => {
                for (id, _) in &self.experiments {
                    self.world.assign_variant(id, &name).await;
                }
            }
            4..7 => self.complete_turn(user).await,
            7..9 if turns > 0 => {
                let words = [json!("ok"), json!("not_ok"), json!("neutral"), Value::Null];
                let word = words[self.rng.next_below(4) as usize].clone();
                self.world.set_reaction(&name, self.rng.next_below(turns), word).await;
            }
            _ if may_move => {
                let weights = [1.0, self.rng.next_below(4) as f64, self.rng.next_below(4) as f64];
                self.world.move_shares(id, &weights).await;
            }
            _ => check_experiment(&self.world, id).await,
        }
    }

    /// Checks all experiments. Returns the number of units over all of them.
    async fn check_all(&self) -> u64 {
        let mut seen = 0;
        for (id, _) in &self.experiments {
            check_experiment(&self.world, id).await;
            seen += self.world.load_both_evidences(id).await.0.exposed_units().iter().sum::<u64>();
        }
        seen
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sums_match_units_bit_for_bit_after_random_events() {
    for seed in [0x9e37_79b9_7f4a_7c15, 0x2545_f491_4f6c_dd1d] {
        let mut trial = RandomTrial::new(seed).await;
        for step in 0..STEPS {
            trial.random_step(step > STEPS / 3).await;
        }
        let over = parse_id(&trial.experiments[0].0);
        let engine = &trial.world.engine;
        engine
            .experiments
            .apply_action(&trial.world.scope, &over, LifecycleAction::Complete, None)
            .await
            .unwrap();
        for user in 0..USERS {
            trial.complete_turn(user).await;
        }
        let seen = trial.check_all().await;
        assert!(seen > USERS * 4, "{seen}: too few units for a meaningful test");
        let rebuilt = trial.world.engine.rebuild(|_, _| {}).await.unwrap();
        assert!(!rebuilt.changed, "a rebuild changes nothing");
        assert_eq!(trial.check_all().await, seen);
    }
}
