//! Whatever happens, in whatever order: sums say what the units say.

use learn::experiment::{LifecycleAction, Metric, compute_results, next_step};
use serde_json::{Value, json};

use super::world::{World, answer, id_of};

const USERS: u64 = 20;
const STEPS: u64 = 160;

/// Numbers that look like chance.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, sides: u64) -> u64 {
        (self.roll() >> 11) % sides
    }
}

/// One for each metric, by turn and by unit, each with guardrails of others.
fn experiments() -> Vec<(String, Value)> {
    let metrics = Metric::ALL.into_iter().filter(|metric| *metric != Metric::Reward);
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

async fn check(world: &World, id: &str) {
    let (by_sum, by_unit) = world.both(id).await;
    assert_eq!(by_sum, by_unit, "{id}");
    let view = world.view(id).await;
    // `==` is not enough for numbers that are none: also as text.
    let said = |evidence| format!("{:?}", compute_results(&view.definition, view.status, evidence));
    assert_eq!(said(&by_sum), said(&by_unit), "{id}");
    let step = view.rollout.map(|state| {
        let step = |evidence| next_step(&view.definition, &state, evidence);
        (step(&by_sum), step(&by_unit))
    });
    assert!(step.is_none_or(|(by_sum, by_unit)| by_sum == by_unit), "{id}");
}

/// All that happens, and to whom.
struct Play {
    world: World,
    dice: Dice,
    experiments: Vec<(String, Value)>,
    /// How many turns each user had.
    turns: Vec<u64>,
}

impl Play {
    async fn new(seed: u64) -> Self {
        let (world, dice) = (World::new().await, Dice(seed));
        let turns = vec![0; USERS as usize];
        let mut play = Self { world, dice, experiments: experiments(), turns };
        // Some have a time before.
        for user in 0..USERS / 2 {
            for _ in 0..play.dice.below(4) {
                play.turn(user).await;
            }
        }
        play.world.clock.advance_secs(1_000);
        for (id, more) in &play.experiments {
            play.world.run(id, more).await;
        }
        play
    }

    async fn turn(&mut self, user: u64) {
        let n = &mut self.turns[user as usize];
        self.world.turn(&format!("u{user}"), *n, answer(self.dice.roll())).await;
        *n += 1;
    }

    /// Something, to somebody.
    async fn step(&mut self, may_move: bool) {
        self.world.clock.advance_secs(self.dice.below(20) as i64);
        let user = self.dice.below(USERS);
        let (name, turns) = (format!("u{user}"), self.turns[user as usize]);
        let id = &self.experiments[self.dice.below(self.experiments.len() as u64) as usize].0;
        match self.dice.below(10) {
            0..4 => {
                for (id, _) in &self.experiments {
                    self.world.assign(id, &name).await;
                }
            }
            4..7 => self.turn(user).await,
            7..9 if turns > 0 => {
                let words = [json!("ok"), json!("not_ok"), json!("neutral"), Value::Null];
                let word = words[self.dice.below(4) as usize].clone();
                self.world.react(&name, self.dice.below(turns), word).await;
            }
            _ if may_move => {
                let weights = [1.0, self.dice.below(4) as f64, self.dice.below(4) as f64];
                self.world.shift(id, &weights).await;
            }
            _ => check(&self.world, id).await,
        }
    }

    /// Answers how many units there are, over all experiments.
    async fn check_all(&self) -> u64 {
        let mut seen = 0;
        for (id, _) in &self.experiments {
            check(&self.world, id).await;
            seen += self.world.both(id).await.0.exposed_units().iter().sum::<u64>();
        }
        seen
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sums_and_units_agree_bit_for_bit_whatever_happens() {
    for seed in [0x9e37_79b9_7f4a_7c15, 0x2545_f491_4f6c_dd1d] {
        let mut play = Play::new(seed).await;
        for step in 0..STEPS {
            play.step(step > STEPS / 3).await;
        }
        let over = id_of(&play.experiments[0].0);
        let engine = &play.world.engine;
        engine
            .experiments
            .act_on_experiment(&play.world.scope, &over, LifecycleAction::Complete, None)
            .await
            .unwrap();
        for user in 0..USERS {
            play.turn(user).await;
        }
        let seen = play.check_all().await;
        assert!(seen > USERS * 4, "{seen}: too little happened to say anything");
        let rebuilt = play.world.engine.rebuild(|_, _| {}).await.unwrap();
        assert!(!rebuilt.changed, "a rebuild finds the same");
        assert_eq!(play.check_all().await, seen);
    }
}
