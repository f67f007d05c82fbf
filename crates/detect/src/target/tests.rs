//! Conversations, a remark and the turn it concerns, in both modes.

use std::time::Duration;

use model::{CorrectionType, TurnId, Verdict, VerdictStatus};

use super::{
    PastTurn, Target, TargetCandidate, TargetRule, answer_head, find_named_turn, find_target,
    may_name_earlier_turn, may_target_earlier_turn, rank_candidates,
};
use crate::answer::Answer;
use crate::utterance::Utterance;
use crate::verdict::{Exchange, Mode, VerdictRule, detect_verdict};
use VerdictStatus::{Accepted, Neutral, Rejected};

type Turn = (&'static str, &'static str, VerdictStatus);

const LOGIN_DIAGRAM: &str = "Here is the flow:\n```mermaid\nsequenceDiagram\n  User->>Server: login\n  \
    Server-->>User: token\n```";
const CORRECTED_LOGIN_DIAGRAM: &str = "Sorry about that. Here is a corrected version:\n```mermaid\n\
    sequenceDiagram\n  participant User\n  User->>Server: login(name, password)\n```";
const DEPLOYMENT_DIAGRAM: &str =
    "```mermaid\ngraph TD\n  LoadBalancer-->App\n  App-->Database\n```";

const DIAGRAM_TURNS: &[Turn] = &[
    ("Draw a sequence diagram of the login flow", LOGIN_DIAGRAM, Rejected),
    ("That diagram is wrong, it does not render", CORRECTED_LOGIN_DIAGRAM, Neutral),
    ("Now draw the deployment diagram", DEPLOYMENT_DIAGRAM, Neutral),
];

const QUERY_TURNS: &[Turn] = &[
    ("What is the capital of France?", "The capital of France is Paris.", Accepted),
    (
        "Write a SQL query for orders per customer",
        "```sql\nSELECT customer, count(*) FROM orders GROUP BY customer\n```",
        Rejected,
    ),
    (
        "That query returns nothing, fix it",
        "I changed the join:\n```sql\nSELECT c.name, count(*) FROM customers c LEFT JOIN orders o\n```",
        Neutral,
    ),
];

const LAPTOP_TURNS: &[Turn] = &[
    ("Which bag fits a 14 inch laptop?", "The Osprey Nebula fits most of them.", Accepted),
    (
        "find laptops under $1000",
        "Here are three business laptops under $1000: the Lenovo ThinkPad E14 ($849), the Dell \
         Latitude 3440 ($799) and the HP ProBook 445 ($899).",
        Neutral,
    ),
];

const BAKERY_TURNS: &[Turn] = &[
    ("How do I centre a div?", "Use flexbox: `display: flex; justify-content: center`.", Accepted),
    (
        "Suggest names for a bakery",
        "1. Crumb & Co\n2. The Daily Loaf\n3. Flour Power\n\nTell me which you like!",
        Neutral,
    ),
];

const SERVER_TURNS: &[Turn] = &[
    (
        "How do I restart a kubernetes pod?",
        "Delete the pod: `kubectl delete pod NAME`. The deployment starts a new one.",
        Accepted,
    ),
    (
        "How do I see the logs of a container?",
        "Use `kubectl logs POD -c CONTAINER`; add -f to follow.",
        Neutral,
    ),
];

const MIXED_TURNS: &[Turn] = &[
    ("Give me a recipe for lentil soup", "Fry onions, add lentils and stock, simmer.", Neutral),
    ("Draw a sequence diagram of the login flow", LOGIN_DIAGRAM, Neutral),
    ("Write a poem about autumn leaves", "Leaves of gold, leaves of red, drift and fall.", Neutral),
    ("What is the weather in Rome?", "Sunny, 24 degrees, light wind from the west.", Neutral),
];

fn detect_with_mode(mode: Mode, turns: &[Turn], message: &Utterance) -> Verdict {
    let (question, answer, _) = turns.last().unwrap();
    let question = Utterance::read(question);
    let answer = Answer::read(Some(&question), answer);
    let exchange = Exchange {
        question: Some(&question),
        answer: Some(&answer),
        gap: Some(Duration::from_secs(60)),
        ..Exchange::new(message)
    };
    detect_verdict(&VerdictRule { mode, ..VerdictRule::default() }, &exchange)
}

/// 1-based turn number, 1 being the oldest; 0 when no turn is meant.
fn find_turn_number(turns: &[Turn], verdict: &Verdict, message: &Utterance) -> usize {
    let ids: Vec<TurnId> = (1..=turns.len()).map(|n| TurnId::new(n.to_string()).unwrap()).collect();
    let past: Vec<PastTurn<'_>> = turns
        .iter()
        .zip(&ids)
        .rev()
        .zip(1..)
        .map(|(((question, answer, status), turn), n)| PastTurn {
            turn,
            question,
            answer,
            age: Duration::from_secs(120 * n),
            status: *status,
        })
        .collect();
    let rule = TargetRule::default();
    let found = find_target(&rule, verdict, message, &past);
    if !may_target_earlier_turn(verdict, message, &past[0]) {
        assert_eq!(found, Target::Previous, "{}", message.original());
    }
    match found {
        Target::Previous => turns.len(),
        Target::Earlier(located) => located.turn.as_str().parse().unwrap(),
        Target::NoTurn => 0,
    }
}

#[track_caller]
fn check(turns: &[Turn], rows: &[(&str, VerdictStatus, usize)]) {
    let mut wrong = Vec::new();
    for (text, status, expected) in rows {
        for mode in [Mode::Rules, Mode::Model] {
            let message = Utterance::read(text);
            let verdict = detect_with_mode(mode, turns, &message);
            let found = find_turn_number(turns, &verdict, &message);
            let clear = verdict.confidence.get() >= 0.7;
            if (verdict.status, clear, found) != (*status, true, *expected) {
                let (status, rule) = (verdict.status, &verdict.rule);
                let sure = verdict.confidence.get();
                wrong.push(format!("{mode:?} {text}: {status:?} {sure:.2} {rule}, turn {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn ordinal_with_noun_selects_the_matching_turn() {
    check(
        DIAGRAM_TURNS,
        &[
            ("The first diagram was fine, it was my mistake", Accepted, 1),
            ("my mistake, the first diagram was correct", Accepted, 1),
            ("Oops, the original diagram renders fine, my bad", Accepted, 1),
            ("The first diagram was fine", Accepted, 1),
            ("sorry, I was wrong about it, the first sequence diagram is right", Accepted, 1),
            ("nevermind, my fault, the login diagram works", Accepted, 1),
            ("the second diagram was perfect", Accepted, 2),
            ("ignore me, it was my mistake, the first version works", Accepted, 1),
            ("sorry, the first answer was correct after all", Accepted, 1),
            ("the first flowchart was wrong", Rejected, 1),
            ("The first diagram was not right", Rejected, 1),
            ("I don't think the first diagram was correct", Rejected, 1),
            ("the second diagram was wrong", Rejected, 2),
            ("The third diagram doesn't work", Rejected, 3),
            ("the last diagram is wrong", Rejected, 3),
            ("Ah the previous diagram also worked fine. It was my issue.", Accepted, 1),
            ("Apologies, your first diagram was actually perfectly fine.", Accepted, 1),
            ("The login diagram was right after all, thanks", Accepted, 1),
            ("I liked the first diagram, thanks", Accepted, 1),
            ("the previous diagram was wrong", Rejected, 2),
            ("your previous answer was wrong", Rejected, 3),
            ("your last answer was wrong", Rejected, 3),
            ("the fifth answer was wrong", Rejected, 3),
        ],
    );
    check(
        &DIAGRAM_TURNS[..2],
        &[
            ("The first diagram was fine, it was my mistake", Accepted, 1),
            ("Ah the previous diagram also worked fine. It was my issue.", Accepted, 1),
            ("the one before was right, my mistake", Accepted, 1),
            ("the diagram from before was fine, I misread it", Accepted, 1),
            ("sorry, your previous answer was correct, my bad", Accepted, 1),
        ],
    );
}

#[test]
fn ordinal_counts_attempts_at_one_task_separately() {
    check(
        QUERY_TURNS,
        &[
            ("actually your first SQL was right", Accepted, 2),
            ("my bad, the original query was right", Accepted, 2),
            ("false alarm, the first version works", Accepted, 2),
            ("the previous version was fine, my mistake", Accepted, 2),
            ("Oh I was wrong, your first answer was correct", Accepted, 2),
            ("no wait, the first query was right, I misread the output", Accepted, 2),
            ("your second query is wrong", Rejected, 3),
            ("no, the first query didn't work either", Rejected, 2),
            ("your answer about France was wrong", Rejected, 1),
            ("The customers table is missing", Rejected, 3),
        ],
    );
}

#[test]
fn complaint_about_a_later_answer_targets_the_last_turn() {
    check(
        DIAGRAM_TURNS,
        &[
            ("the first diagram was fine but this one is broken", Rejected, 3),
            ("The first diagram was right, this one is wrong", Rejected, 3),
            ("the original diagram was better, go back to it", Rejected, 3),
            ("the first diagram was fine, why did you change it?", Rejected, 3),
        ],
    );
}

#[test]
fn ordinal_after_a_list_targets_the_last_turn() {
    check(LAPTOP_TURNS, &[("the first one is too expensive", Rejected, 2)]);
    check(LAPTOP_TURNS, &[("the first laptop is terrible", Rejected, 2)]);
    check(LAPTOP_TURNS, &[("the second option is perfect, thanks", Accepted, 2)]);
    check(BAKERY_TURNS, &[("the first one is awful", Rejected, 2)]);
    check(BAKERY_TURNS, &[("I love the second one, thanks", Accepted, 2)]);
    check(BAKERY_TURNS, &[("The third name is perfect", Accepted, 2)]);
    let trains = [MIXED_TURNS[0], ("Trains to Bern?", "At 7:00 or at 8:00. Which one?", Neutral)];
    check(&trains, &[("the first one is perfect, thanks", Accepted, 2)]);
    check(&trains, &[("the lentil one is perfect, thanks", Accepted, 2)]);
}

#[test]
fn named_subject_selects_the_turn_that_mentions_it() {
    check(
        MIXED_TURNS,
        &[
            ("the login diagram was wrong", Rejected, 2),
            ("The lentil soup was awful", Rejected, 1),
            ("Thanks for the lentil soup recipe, it was great", Accepted, 1),
            ("the poem about autumn was lovely", Accepted, 3),
            ("Your login sequence diagram doesn't work", Rejected, 2),
            ("your earlier answer about the soup was wrong", Rejected, 1),
            ("The weather in Rome was wrong", Rejected, 4),
        ],
    );
}

#[test]
fn unmentioned_subject_targets_no_turn() {
    check(
        SERVER_TURNS,
        &[
            ("The soup recipe was awful", Rejected, 0),
            ("the first wedding photo was terrible", Rejected, 0),
            ("The container logs were useless", Rejected, 2),
            ("the whole thing is useless", Rejected, 2),
            ("Thanks for the quick help", Accepted, 2),
        ],
    );
}

#[test]
fn bare_remarks_and_corrections_target_the_last_turn() {
    check(
        MIXED_TURNS,
        &[
            ("no, wrong", Rejected, 4),
            ("thanks!", Accepted, 4),
            ("that's not what I asked", Rejected, 4),
            ("No, I meant the weather in Paris, not Rome", Rejected, 4),
            ("That diagram is wrong, it does not render", Rejected, 4),
            ("Perfect, thanks a lot", Accepted, 4),
            ("I asked about the login flow, that is wrong", Rejected, 4),
        ],
    );
    check(
        &[("write a sort function", "```js\narr.sort()\n```", Neutral)],
        &[("No, I wanted Python", Rejected, 1)],
    );
    check(
        &[
            ("show quarterly costs", "Q1: 3, Q2: 4", Neutral),
            ("show me revenue", "January: 10, February: 12", Neutral),
        ],
        &[("No, I meant the quarterly revenue, not monthly", Rejected, 2)],
    );
}

#[test]
fn messages_without_judged_reference_need_no_earlier_turns() {
    for text in [
        "Now draw the first diagram in colour",
        "Tell me more about the first one",
        "And what about the second diagram?",
        "Never mind",
        "What should I feed my hamster?",
        "What is the weather in Rome?",
        "No, the second one",
        "hmm",
        "my bad",
        "Great, now explain the first diagram",
    ] {
        for mode in [Mode::Rules, Mode::Model] {
            let message = Utterance::read(text);
            let verdict = detect_with_mode(mode, MIXED_TURNS, &message);
            let turn = TurnId::new("last").unwrap();
            let (question, answer, status) = *MIXED_TURNS.last().unwrap();
            let age = Duration::ZERO;
            let last = PastTurn { turn: &turn, question, answer, age, status };
            assert!(!may_target_earlier_turn(&verdict, &message, &last), "{mode:?} {text}");
        }
    }
}

#[test]
fn ordinal_references_resolve_in_nine_languages() {
    check(
        DIAGRAM_TURNS,
        &[
            ("Das erste Diagramm war richtig, mein Fehler", Accepted, 1),
            ("El primer diagrama estaba bien, fue mi error", Accepted, 1),
            ("le premier diagramme était bon, c'était ma faute", Accepted, 1),
            ("o primeiro diagrama estava certo, erro meu", Accepted, 1),
            ("il primo diagramma era giusto, errore mio", Accepted, 1),
            ("het eerste diagram was goed, mijn fout", Accepted, 1),
            ("最初の図は正しかったです、私の間違いでした", Accepted, 1),
            ("第一个图是对的，是我的错", Accepted, 1),
            ("El diagrama anterior estaba bien, fue culpa mía", Accepted, 1),
            ("das vorherige Diagramm war in Ordnung, es lag an mir", Accepted, 1),
            ("le diagramme précédent marchait, au temps pour moi", Accepted, 1),
            ("Das zweite Diagramm funktioniert nicht", Rejected, 2),
        ],
    );
}

/// The older questions resemble the correction as much as the last one does.
#[test]
fn repeated_correction_targets_the_last_turn_each_time() {
    let text = "No, I meant gaming laptops, not business laptops";
    let answer = "Here are business laptops: the ThinkPad E14, the Latitude 3440 and the ProBook.";
    let mut turns = vec![("find gaming laptops", answer, Neutral)];
    for n in 1..=3 {
        check(&turns, &[(text, Rejected, n), ("The gaming laptops are wrong", Rejected, n)]);
        turns[n - 1].2 = Rejected;
        turns.push((text, answer, Neutral));
    }
}

#[test]
fn turn_with_the_same_verdict_is_not_selected() {
    let mut turns = MIXED_TURNS.to_vec();
    turns[1].2 = Rejected;
    let message = Utterance::read("the login diagram was wrong");
    let verdict = detect_with_mode(Mode::Rules, &turns, &message);
    assert_ne!(find_turn_number(&turns, &verdict, &message), 2);
}

#[test]
fn conversation_without_turns_has_no_target() {
    let message = Utterance::read("that's wrong");
    let verdict = detect_verdict(&VerdictRule::default(), &Exchange::new(&message));
    assert_eq!(find_target(&TargetRule::default(), &verdict, &message, &[]), Target::NoTurn);
}

#[test]
fn answer_head_is_cut_at_500_characters() {
    assert_eq!(answer_head("short"), "short");
    assert_eq!(answer_head(&"é".repeat(100_000)).chars().count(), 500);
}

#[test]
fn equal_scores_select_the_newer_turn() {
    let turns = [
        ("sales in March", "10", Neutral),
        ("sales in March", "11", Neutral),
        MIXED_TURNS[3],
        MIXED_TURNS[2],
    ];
    check(&turns, &[("the March sales are wrong", Rejected, 2)]);
}

#[test]
fn rank_candidates_drops_old_and_dissimilar_turns() {
    const DAY: u64 = 24 * 60 * 60;
    let ranked = |remark: &str, turns: &[(&str, u64)]| -> Vec<String> {
        let embed = |text: &str| embed::built_in().embed(text);
        let ids: Vec<TurnId> =
            (0..turns.len()).map(|n| TurnId::new(format!("t{n}")).unwrap()).collect();
        let vectors: Vec<_> = turns.iter().map(|(text, _)| embed(text)).collect();
        let candidates: Vec<TargetCandidate<'_>> = (0..turns.len())
            .map(|n| TargetCandidate {
                turn: &ids[n],
                question: &vectors[n],
                answer: None,
                age: Duration::from_secs(turns[n].1),
            })
            .collect();
        let found = rank_candidates(&TargetRule::default(), &embed(remark), &candidates);
        found.into_iter().map(|l| l.turn.to_string()).collect()
    };
    let diagram =
        [("draw the sequence diagram of the login", 3_600), ("what is for lunch today", 60)];
    assert_eq!(ranked("the login diagram was fine", &diagram)[0], "t0");
    let sales = [("sales in March", 8 * DAY), ("sales in March", 60)];
    assert_eq!(ranked("the March sales were wrong", &sales), ["t1", "t0"]);
    let soup = "the soup recipe was great";
    assert!(ranked(soup, &[("restart the kubernetes pod", 30 * DAY)]).is_empty());
    assert!(ranked("sales in March", &[("sales in March", 366 * DAY)]).is_empty());
    assert!(ranked("", &[("sales", 0)]).is_empty());
}

const WORK_TURNS: &[Turn] = &[
    (
        "Draw the login flow as a diagram",
        "User -> API: POST /login. API -> Auth: exchange the cookie for a token.",
        Neutral,
    ),
    ("Mail to Nora that the review moves to Monday", "Hi Nora, the review is on Tuesday.", Neutral),
    (
        "Table of the office rents",
        "Leeds 4,150, York 2,980, Hull 1,760. Together 8,890 a month.",
        Neutral,
    ),
    ("Which port does the queue use?", "The broker listens on port 5672.", Neutral),
];

const SHOP_TURNS: &[Turn] = &[
    ("Wie lange gilt die Garantie der Pumpe?", "Die Garantie gilt 24 Monate.", Neutral),
    ("Schreib eine Absage an Herrn Weber", "Sehr geehrter Herr Weber, leider nein.", Neutral),
    ("Welcher Schlauch passt?", "Der Schlauch S12 passt an alle Modelle.", Neutral),
];

/// The turn found when the status is given, or 0. The verdict is explicit.
fn find_given(turns: &[Turn], status: VerdictStatus, text: &str) -> usize {
    let message = Utterance::read(text);
    let verdict = detect_with_mode(Mode::Rules, turns, &message);
    let rejected = status == Rejected;
    let verdict = Verdict {
        status,
        rule: "given".to_owned(),
        correction_type: rejected.then_some(CorrectionType::Explicit),
        behaviour: None,
        ..verdict
    };
    find_turn_number(turns, &verdict, &message)
}

#[track_caller]
fn check_given(turns: &[Turn], rows: &[(&str, VerdictStatus, usize)]) {
    let found = rows.iter().map(|(text, status, _)| find_given(turns, *status, text));
    let wrong: Vec<_> =
        rows.iter().zip(found).filter(|((_, _, turn), found)| turn != found).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn words_of_an_earlier_turn_select_it() {
    check_given(
        WORK_TURNS,
        &[
            // A kind of artefact, by its own name, behind "your", by a synonym.
            ("Ah, the login flow diagram was wrong, the token comes first", Rejected, 1),
            ("your mail has the wrong day in it", Rejected, 2),
            ("flowchart skips the logout step", Rejected, 1),
            // A name, a number, a number word.
            ("Nora says she never got a date", Rejected, 2),
            ("2,980 must be an old figure, we pay 3,200", Rejected, 3),
            ("York went up in spring, the rent there is higher", Rejected, 3),
            // What follows a "but" is judged.
            ("the port is right, but the table leaves out Bath", Rejected, 3),
            ("thanks, Nora liked the mail", Accepted, 2),
            // A word with a related meaning.
            ("the landlord wants another sum for Hull", Rejected, 3),
            // The last turn: its words, words that no turn holds, a problem that persists.
            ("5672 is closed here", Rejected, 4),
            ("nothing answers there", Rejected, 4),
            ("still no diagram of any port", Rejected, 4),
        ],
    );
    check_given(
        SHOP_TURNS,
        &[
            ("24 Monate stimmt nicht, im Heft stehen 36", Rejected, 1),
            ("deine Absage klingt viel zu hart", Rejected, 2),
            ("Herr Weber hat sich über die Absage gefreut", Accepted, 2),
            ("der S12 passt nicht an meine", Rejected, 3),
        ],
    );
}

#[test]
fn words_select_a_turn_in_other_languages() {
    let rows: &[(&[Turn], &str, VerdictStatus)] = &[
        (
            &[
                ("Necesito una receta de gazpacho", "Tomates, pepino, ajo y aceite.", Neutral),
                ("¿Qué vino le va?", "Un albariño frío.", Neutral),
            ],
            "a tu receta le falta el pimiento",
            Rejected,
        ),
        (
            &[
                ("Un vélo pour ville ?", "Le Riverside 500, 380 euros.", Neutral),
                ("Un casque ?", "Le Urban 900 protège bien.", Neutral),
            ],
            "le Riverside est en rupture partout",
            Rejected,
        ),
        (
            &[
                ("Zaproponuj plan treningu", "Poniedziałek bieg, środa siłownia.", Neutral),
                ("Co jeść przed biegiem?", "Banan godzinę wcześniej.", Neutral),
            ],
            "plan treningu jest dla mnie za ciężki",
            Rejected,
        ),
        (
            &[
                ("Напиши письмо Ольге", "Здравствуйте, Ольга! Встреча в среду.", Neutral),
                ("Какой кабинет?", "Кабинет 214 на втором этаже.", Neutral),
            ],
            "письмо Ольге получилось отличное",
            Accepted,
        ),
        (
            &[
                ("おすすめのカメラは?", "ルミナスの小型機が軽いです。", Neutral),
                ("三脚は?", "旅行用なら一キロ以下です。", Neutral),
            ],
            "カメラ、もう売っていませんでした",
            Rejected,
        ),
        (
            &[
                ("帮我写一份健身计划", "周一跑步,周三游泳。", Neutral),
                ("早餐吃什么", "燕麦和鸡蛋。", Neutral),
            ],
            "健身计划太难了",
            Rejected,
        ),
    ];
    for (turns, text, status) in rows {
        assert_eq!(find_given(turns, *status, text), 1, "{text}");
    }
}

#[test]
fn order_words_select_a_turn_without_a_verb_that_judges() {
    check_given(
        WORK_TURNS,
        &[
            ("what you said at the start does not hold for us", Rejected, 1),
            ("the second thing you gave me got sent back", Rejected, 2),
            ("second to last one counts Hull twice", Rejected, 3),
            ("lo primero que me diste no sirve", Rejected, 1),
            ("deine zweite Auskunft ist überholt", Rejected, 2),
        ],
    );
}

/// The message of each row is judged before its verdict is known.
#[test]
fn named_turn_is_found_without_a_verdict() {
    let rows = [
        ("Ah, the login flow diagram was wrong, the token comes first", Some("1")),
        ("the 2,980 should be 3,200 (rents)", Some("3")),
        ("Now draw the diagram for the mail service", None),
        ("and the table for March?", None),
        ("Can you explain the login flow?", None),
        ("thanks!", None),
        ("no, wrong", None),
    ];
    let ids: Vec<TurnId> =
        (1..=WORK_TURNS.len()).map(|n| TurnId::new(n.to_string()).unwrap()).collect();
    let past: Vec<PastTurn<'_>> = WORK_TURNS
        .iter()
        .zip(&ids)
        .rev()
        .map(|((question, answer, status), turn)| PastTurn {
            turn,
            question,
            answer,
            age: Duration::from_secs(60),
            status: *status,
        })
        .collect();
    for (text, expected) in rows {
        let message = Utterance::read(text);
        let found = find_named_turn(&TargetRule::default(), &message, &past);
        let found = found.as_ref().map(|found| found.turn.as_str());
        assert_eq!(found, expected, "{text}");
        let may_name = may_name_earlier_turn(&message, &past[0]);
        assert!(may_name || found.is_none(), "{text}");
    }
}

#[test]
fn remark_that_fits_two_turns_equally_selects_neither() {
    let turns = [
        ("limit for attachments", "25 megabytes for each.", Neutral),
        ("limit for the mailbox", "50 gigabytes for each.", Neutral),
        ("who may change it", "An administrator.", Neutral),
    ];
    assert_ne!(find_given(&turns, Rejected, "the limit was raised in spring"), 1);
    assert_ne!(find_given(&turns, Rejected, "the limit was raised in spring"), 2);
}

#[test]
fn message_is_judged_with_the_turn_that_it_names() {
    let turns = [WORK_TURNS[0], WORK_TURNS[3]];
    let message = Utterance::read("Ah, the login flow diagram was wrong, the token comes first");
    for mode in [Mode::Rules, Mode::Model] {
        let verdict = detect_with_mode(mode, &turns[..1], &message);
        assert_eq!((verdict.status, verdict.confidence.get() >= 0.7), (Rejected, true), "{mode:?}");
        assert_eq!(find_turn_number(&turns, &verdict, &message), 1, "{mode:?}");
    }
}

#[test]
fn choice_among_items_names_no_answer() {
    const TURNS: &[Turn] = &[
        (
            "find laptops under $1000",
            "Here are laptops for you: Latitude 3440, ThinkPad E14.",
            Rejected,
        ),
        ("gaming laptops", "Gaming laptops under $1000 are the Nitro 5 and the Legion 5.", Neutral),
    ];
    let ids: Vec<TurnId> =
        (0..TURNS.len()).map(|n| TurnId::new(format!("t{n}")).unwrap()).collect();
    let past: Vec<PastTurn<'_>> = TURNS
        .iter()
        .zip(&ids)
        .rev()
        .map(|((question, answer, status), turn)| PastTurn {
            turn,
            question,
            answer,
            age: Duration::from_secs(60),
            status: *status,
        })
        .collect();
    for message in ["Perfect, thank you! I'll take the first one.", "the second one then"] {
        let message = Utterance::read(message);
        assert_eq!(find_named_turn(&TargetRule::default(), &message, &past), None);
    }
}
