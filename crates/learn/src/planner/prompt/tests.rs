//! The text for prompts.

use model::{Contrast, CorrectionType, Strategy, TurnId, UnitInterval, Verdict, VerdictStatus};
use serde_json::json;

use crate::planner::{
    ContextFormat, JudgedPreviousTurn, PastExchange, PlannerContext, PlannerInput, UserPreferences,
    build_planner_context,
};
use VerdictStatus::{Accepted, Neutral, Rejected};

/// The context of turn 1234, whose message judges turn 1233.
fn prompt(status: VerdictStatus, confidence: f64, preferences: &UserPreferences) -> PlannerContext {
    let [now, then] = ["1234", "1233"].map(|id| TurnId::new(id).unwrap());
    let question = "laptops under $1000";
    let params = json!({"query": question}).as_object().cloned().unwrap();
    let strategy = Strategy { name: "commerce_search".to_owned(), params };
    let side = |text: &str| Some(text.to_owned());
    let contrast = Contrast { wants: side("gaming laptops"), instead_of: side("business laptops") };
    let confidence = UnitInterval::new(confidence).unwrap();
    let rejected = status == Rejected;
    let verdict = Verdict {
        status,
        confidence,
        correction_type: rejected.then_some(CorrectionType::Explicit),
        user_said: rejected.then(|| "No, I meant gaming laptops\n# now".to_owned()),
        evidence: Vec::new(),
        contrast: rejected.then_some(contrast),
        rule: "test".to_owned(),
        dissatisfied: None,
        behaviour: None,
    };
    let (judged, answer) = (&verdict, Some("Here are three."));
    build_planner_context(&PlannerInput {
        format: ContextFormat::Prompt,
        turn: &now,
        message: "hi",
        judged: Some(JudgedPreviousTurn {
            turn: &then,
            question,
            strategy: Some(&strategy),
            verdict: judged,
        }),
        unclear: None,
        rejection_streak: 0,
        conversation: &[PastExchange {
            turn: &then,
            question,
            answer,
            status,
            confidence,
            strategy: Some("commerce_search"),
        }],
        preferences,
    })
}

#[test]
fn prompt_has_no_empty_section_and_no_id() {
    let found = prompt(Rejected, 0.9, &UserPreferences::default());
    let expected = "\
### Feedback on the previous answer
The user rejected the answer: \"No, I meant gaming laptops # now\"
Question: \"laptops under $1000\"
Strategy: commerce_search with query \"laptops under $1000\"
Problem: Wanted gaming laptops, got business laptops

### Instructions
- Do NOT reuse the strategy of the previous answer
- User wants GAMING laptops, not business laptops
- Adjust search query to be specific: \"gaming laptops under $1000\"

### Conversation so far
- User asked \"laptops under $1000\", answered \"Here are three.\" with commerce_search (rejected)
";
    assert_eq!(found.markdown, expected);
}

#[test]
fn weak_acceptance_is_not_shown_in_a_prompt() {
    let preferences = UserPreferences {
        accepted_strategies: vec![("faq".to_owned(), 2)],
        ..UserPreferences::default()
    };
    for (status, confidence, is_shown) in
        [(Accepted, 0.69, false), (Accepted, 0.7, true), (Neutral, 0.5, false)]
    {
        let text = prompt(status, confidence, &preferences).markdown;
        assert_eq!(text.contains("The user accepted the answer."), is_shown, "{text}");
        assert_eq!(text.contains("(accepted)"), is_shown, "{text}");
        assert_eq!(text.contains("### Instructions"), is_shown, "{text}");
        assert!(
            text.ends_with("### Preferences of the user\n- Accepted strategies: faq (2 times)\n")
        );
    }
}

#[test]
fn first_turn_without_preferences_needs_no_prompt() {
    let turn = TurnId::new("t1").unwrap();
    let found = build_planner_context(&PlannerInput {
        format: ContextFormat::Prompt,
        turn: &turn,
        message: "Which laptops are light?",
        judged: None,
        unclear: None,
        rejection_streak: 0,
        conversation: &[],
        preferences: &UserPreferences::default(),
    });
    assert_eq!(found.markdown, "");
}
