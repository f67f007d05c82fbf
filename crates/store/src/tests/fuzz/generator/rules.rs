//! Settings, experiments and erasures.

use model::{
    Calibration, Change, ClaimSpace, ExperimentId, ExperimentRule, ExperimentUnit, Exposure,
    Finding, Need, Rule, Scope, UserId, Write,
};
use serde_json::{Map, Value, json};

use super::{StoryGenerator, USERS};

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

impl StoryGenerator {
    pub(crate) fn rule(&mut self) -> Write {
        let settings = object(&json!({"days": self.dice.below(3)}));
        let rule = match self.dice.below(5) {
            0 => Rule::Privacy { settings },
            1 => Rule::Targets { settings },
            2 => Rule::Calibration(Calibration {
                slope: 1.0,
                offset: 0.5,
                labels: 9,
                error: (0.5, 0.25),
            }),
            3 => Rule::Router {
                name: self.dice.of_these(&["r1", "r2"]).into(),
                definition: settings,
            },
            _ => Rule::Profile { attributes: settings },
        };
        if matches!(rule, Rule::Privacy { .. } | Rule::Targets { .. }) {
            // Rules of a whole tenant are stored in its default project.
            self.scope.project = Scope::default().project;
        }
        let mut event = self.ruled(&rule);
        event.user = matches!(rule, Rule::Profile { .. }).then(|| self.user());
        self.write(event, &[])
    }

    fn experiment_id(&mut self) -> ExperimentId {
        ExperimentId::new(self.dice.of_these(&["x1", "x2"])).unwrap()
    }

    pub(crate) fn experiment(&mut self) -> Write {
        let experiment_id = self.experiment_id();
        let id = experiment_id.as_str().to_owned();
        match self.dice.below(5) {
            0 | 1 => {
                let unit =
                    self.dice.of_these(&[ExperimentUnit::User, ExperimentUnit::Conversation]);
                let metric = self.dice.of_these(&["error_rate", "cost", "satisfaction"]);
                let definition = object(&json!({
                    "name": "x", "metric": metric, "guardrails": [{"metric": "cost", "limit": 1}],
                    "variants": [{"name": "v0"}, {"name": "v1"}],
                }));
                let rule = ExperimentRule::Defined { experiment_id, unit, definition };
                let event = self.ruled(&Rule::Experiment(rule));
                self.write(event, &[(ClaimSpace::Experiment, &id)])
            }
            2 | 3 => {
                let status = self.dice.of_these(&["RUNNING", "RUNNING", "PAUSED", "COMPLETED"]);
                let (action, status) = ("act".to_owned(), status.to_owned());
                let needed = experiment_id.clone();
                let rule = ExperimentRule::Status { experiment_id, action, status };
                let event = self.ruled(&Rule::Experiment(rule));
                let mut write = self.write(event, &[]);
                let statuses = ["DRAFT", "RUNNING", "PAUSED"].map(str::to_owned).to_vec();
                write.needs.push(Need::Experiment { id: needed, statuses });
                write
            }
            _ => {
                let number = 1 + self.dice.below(2) as u32;
                let (shares, step) = (vec![0.5, 0.5], object(&json!({"to": 5})));
                let rule = ExperimentRule::Moved { experiment_id, number, shares, step };
                let event = self.ruled(&Rule::Experiment(rule));
                self.write(event, &[(ClaimSpace::Experiment, &format!("{id}/{number}"))])
            }
        }
    }

    pub(crate) fn expose(&mut self) -> Write {
        let experiment_id = self.experiment_id();
        let (index, moves) = (self.dice.below(2) as u32, self.dice.below(2) as u32);
        let variant = format!("v{index}");
        let id = experiment_id.clone();
        let exposure = Exposure { experiment_id, variant, index, moves };
        let mut found = self.found(&Finding::Exposure(exposure));
        found.user = self.maybe_user();
        found.conversation = self.dice.percent(70).then(|| self.conversation());
        let mut write = self.write(found, &[]);
        let statuses = vec!["RUNNING".to_owned()];
        write.needs =
            vec![Need::Experiment { id: id.clone(), statuses }, Need::OtherVariant(id, index)];
        write
    }

    pub(crate) fn erase(&mut self) -> Write {
        let user = UserId::new(self.dice.of_these(&USERS[..2])).unwrap();
        for ((scope, _), (_, owner)) in &mut self.opened {
            if *scope == self.scope && owner.as_ref() == Some(&user) {
                *owner = None;
            }
        }
        let event = self.ruled(&Rule::Erasure { events: 0, turns: 0 });
        let mut write = self.write(event, &[]);
        write.entry.changes = vec![Change::EraseUser(user)];
        write
    }
}
