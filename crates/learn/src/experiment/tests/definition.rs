//! Definitions and lifecycle.

use serde_json::{Value, json};

use super::super::*;

fn valid_definition() -> Value {
    json!({
        "name": "prompt v2", "unit": "user", "metric": "satisfaction",
        "variants": [
            {"name": "control", "weight": 1, "payload": {"prompt": "a"}},
            {"name": "treatment", "weight": 1, "payload": {"prompt": "b"}},
        ],
        "guardrails": [{"metric": "error_rate", "limit": 0.05}],
        "rollout": {"steps": [1, 5, 25, 50, 100], "margin": 0.01},
    })
}

/// Sets a value at a JSON pointer and returns the validation error.
fn validation_error(pointer: &str, value: Value) -> String {
    let mut json_value = valid_definition();
    *json_value.pointer_mut(pointer).unwrap() = value;
    let read: ExperimentDefinition = match serde_json::from_value(json_value) {
        Ok(definition) => definition,
        Err(error) => return error.to_string(),
    };
    read.validate().map_or_else(|error| error.to_string(), |()| "fine".to_owned())
}

#[test]
fn documented_definition_is_accepted() {
    let definition: ExperimentDefinition = serde_json::from_value(valid_definition()).unwrap();
    assert_eq!(definition.validate(), Ok(()));
    assert_eq!((definition.alpha, definition.by), (0.05, MetricBy::Turn));
    let again = serde_json::to_value(&definition).unwrap();
    assert_eq!(serde_json::from_value::<ExperimentDefinition>(again).unwrap(), definition);
}

#[test]
fn invalid_definitions_name_field_and_expectation() {
    let twins = json!([{"name": "a"}, {"name": "a"}]);
    let rows = [
        ("/name", json!("  "), "name is 2 bytes"),
        ("/name", json!("a\nb"), "expected no control characters"),
        ("/variants", json!([]), "variants is 0 variants, expected 2 to 16"),
        ("/variants", json!([{"name": "a"}]), "variants is 1 variants"),
        ("/variants", twins, r#"variants[1].name is "a", expected a name that no other"#),
        ("/variants/1/weight", json!(-1), "variants[1].weight is -1"),
        ("/variants/0/weight", json!(0), "the first variant is the control"),
        ("/variants/1/weight", json!(0), "a weight above 0 for at least one treatment"),
        ("/metric", json!("joy"), r#""joy", expected one of satisfaction, error_rate"#),
        ("/guardrails/0/metric", json!("joy"), "expected one of satisfaction"),
        ("/guardrails/0/limit", json!(5), "from 0 to 1, because error_rate is a share"),
        ("/rollout/steps", json!([]), "rollout.steps is []"),
        ("/rollout/steps", json!([5, 5]), "ascending percentages"),
        ("/rollout/steps", json!([50, 25]), "ascending percentages"),
        ("/rollout/steps", json!([0, 25]), "above 0"),
        ("/rollout/steps", json!([5, 101]), "ascending percentages"),
        ("/rollout/margin", json!(-0.1), "rollout.margin is -0.1"),
        ("/rollout", json!({"margin": 0, "min_units": 99}), "rollout.min_units is 99, expected at"),
        ("/guardrails/0", json!({"metric": "latency", "limit": 20}), "fine"),
    ];
    for (pointer, value, expected) in rows {
        let error = validation_error(pointer, value.clone());
        assert!(error.contains(expected), "{pointer} = {value}: {error}");
    }
}

#[test]
fn non_finite_and_out_of_range_numbers_are_rejected() {
    let mut definition: ExperimentDefinition = serde_json::from_value(valid_definition()).unwrap();
    definition.variants[1].weight = f64::NAN;
    assert!(definition.validate().unwrap_err().to_string().contains("variants[1].weight is NaN"));
    definition.variants[1].weight = 1.0;
    definition.guardrails.push(definition.guardrails[0]);
    assert!(definition.validate().unwrap_err().to_string().contains("one guardrail for each"));
    definition.guardrails = vec![Guardrail { metric: Metric::Latency, limit: f64::INFINITY }];
    assert!(definition.validate().unwrap_err().to_string().contains("guardrails[0].limit is inf"));
    definition.guardrails.clear();
    definition.adaptive = Some(AdaptiveAllocation { min_share: Some(0.1) });
    assert!(
        definition.validate().unwrap_err().to_string().contains("rollout or adaptive, not both")
    );
    definition.rollout = None;
    assert_eq!(definition.validate(), Ok(()));
    for unfit in [0.0, 0.26, f64::NAN] {
        definition.adaptive = Some(AdaptiveAllocation { min_share: Some(unfit) });
        let error = definition.validate().unwrap_err().to_string();
        assert!(error.contains("adaptive.min_share") && error.contains("at most 0.25"), "{error}");
    }
    definition.adaptive = None;
    definition.alpha = 0.0;
    assert!(definition.validate().unwrap_err().to_string().contains("alpha is 0"));
    for unfit in [1e-300, 0.00009, 0.51, 1.0, f64::NAN] {
        definition.alpha = unfit;
        assert!(definition.validate().is_err(), "{unfit}");
    }
    for fit in [0.0001, 0.5] {
        definition.alpha = fit;
        assert!(definition.validate().is_ok(), "{fit}");
    }
}

#[test]
fn omitted_fields_take_their_defaults() {
    let mut json_value = valid_definition();
    json_value["rollout"] = json!({"margin": 0.01});
    let read: ExperimentDefinition = serde_json::from_value(json_value.clone()).unwrap();
    let usual = Rollout { steps: vec![1.0, 5.0, 25.0, 50.0, 100.0], margin: 0.01, min_units: 100 };
    assert_eq!(read.validate(), Ok(()));
    assert_eq!(read.rollout, Some(usual));
    json_value["rollout"] = Value::Null;
    json_value["adaptive"] = json!({});
    let read: ExperimentDefinition = serde_json::from_value(json_value.clone()).unwrap();
    assert_eq!((read.validate(), read.min_share()), (Ok(()), Some(0.05)));
    // At 0.05 each, less than half of the traffic could adapt.
    json_value["variants"] = (0..16).map(|n| json!({"name": n.to_string()})).collect();
    let read: ExperimentDefinition = serde_json::from_value(json_value).unwrap();
    assert_eq!((read.validate(), read.min_share()), (Ok(()), Some(1.0 / 32.0)));
    assert_eq!(
        serde_json::to_value(read.adaptive).unwrap(),
        json!({}),
        "older releases must be able to read it"
    );
}

#[test]
fn lifecycle_rejects_invalid_actions_and_lists_allowed_ones() {
    use LifecycleAction::{Archive, Complete, Pause, Resume, Start};
    let path = [Start, Pause, Resume, Pause, Complete, Archive];
    let end = path.into_iter().try_fold(ExperimentStatus::Draft, ExperimentStatus::apply_action);
    assert_eq!(end, Ok(ExperimentStatus::Archived));
    assert_eq!(ExperimentStatus::Running.apply_action(Complete), Ok(ExperimentStatus::Completed));
    let rows = [
        (
            ExperimentStatus::Draft,
            Pause,
            "cannot pause an experiment in status DRAFT; possible actions: start",
        ),
        (ExperimentStatus::Running, Start, "possible actions: pause or complete"),
        (ExperimentStatus::Completed, Resume, "possible actions: archive"),
        (ExperimentStatus::Archived, Start, "possible actions: none"),
    ];
    for (status, action, expected) in rows {
        let error = status.apply_action(action).unwrap_err().to_string();
        assert!(error.ends_with(expected), "{error}");
    }
    assert_eq!(serde_json::to_value(ExperimentStatus::Running).unwrap(), "RUNNING");
}

/// Names are stored and part of request paths; JSON must use the same ones.
#[test]
fn statuses_and_actions_round_trip_through_their_names() {
    for status in ExperimentStatus::ALL_STATUSES {
        assert_eq!(ExperimentStatus::from_word(status.word()), Some(status));
        assert_eq!(serde_json::to_value(status).unwrap(), status.word());
    }
    for action in LifecycleAction::ALL_ACTIONS {
        assert_eq!(LifecycleAction::from_word(action.word()), Some(action));
        assert_eq!(serde_json::to_value(action).unwrap(), action.word());
    }
    assert_eq!(
        (ExperimentStatus::from_word("running"), LifecycleAction::from_word("stop")),
        (None, None)
    );
}

#[test]
fn metrics_round_trip_through_their_names() {
    for metric in Metric::ALL_METRICS {
        assert_eq!(Metric::from_word(metric.word()), Ok(metric));
    }
    assert!(Metric::Latency.gain(2.0) < Metric::Latency.gain(1.0));
    assert!(Metric::Reward.gain(2.0) > Metric::Reward.gain(1.0));
}
