use super::*;

fn check(question: &str, response: &str, expected: Option<ErrorType>) {
    let question = Utterance::read(question);
    let answer = Answer::read(Some(&question), response);
    let completed = CompletedAnswer {
        status: TurnStatus::Success,
        error: None,
        question: Some(&question),
        response,
        answer: &answer,
    };
    let found = detect_failure(&FailureRule::default(), &completed);
    assert_eq!(found.error_type, expected, "{response} ({})", answer.refusal_probability);
    assert_eq!(found.confidence.get() > 0.0, expected.is_some());
    for evidence in found.evidence {
        assert!(response.get(evidence.start..evidence.end).is_some());
    }
}

#[test]
fn refusals_are_detected_in_several_phrasings() {
    for refusal in [
        "I can't assist with that.",
        "I'm sorry, but I cannot help with that request.",
        "I cannot fulfill your request. I'm just an AI, it's not within my programming to provide this.",
        "Ich kann Ihnen dabei leider nicht helfen.",
        "As an AI language model, I am not able to provide personal information about private individuals.",
    ] {
        check("How do I get my neighbour's phone number?", refusal, Some(ErrorType::ModelRefusal));
    }
}

#[test]
fn harmless_answers_are_not_failures() {
    for answer in [
        "I cannot recommend this highly enough: the museum is wonderful, and entry is free on Sundays.",
        "I cannot stress enough how important it is to back up first. Then run the migration with `migrate up`.",
        "I apologize for the confusion! The corrected query is:\n```sql\nSELECT 1\n```",
        "Wrap it in a try block:\n```python\ntry:\n    run()\nexcept Exception as e:\n    print(f\"Error: {e}\")\n```",
        "He replied \"I'm sorry, but I can't\" and left the room, which is why the scene works so well.",
        "Error handling in Rust is done with Result: return Err early and use the question mark.",
        "I cannot stress enough how important it is to use a password manager.",
        "I can’t overstate how useful indexes are; add one on user_id.",
        "Connection refused means nothing listens on that port. Start the server first.",
        "An error occurred in your calculation on line 3: the sum is 12.",
        "Rate limit exceeded errors come from too many calls; wait and try again.",
    ] {
        check("Tell me about it in some detail please", answer, None);
    }
}

#[test]
fn short_answers_fail_unless_they_answer_directly() {
    check("What is 6 times 7?", "42", None);
    check("Is Paris the capital of France?", "Yes.", None);
    check("What is 6 times 7?", "...", Some(ErrorType::EmptyResponse));
    check(&"explain in depth ".repeat(20), "ok", Some(ErrorType::EmptyResponse));
    check("What is 6 times 7?", "  \n ", Some(ErrorType::EmptyResponse));
}

#[test]
fn printed_errors_are_detected_as_error_text() {
    for text in [
        "Error: connection refused",
        "Traceback (most recent call last):\n  File \"a.py\"",
        "{\"error\": {\"code\": 500}}",
        "An error occurred while processing your request.",
    ] {
        check("show my orders", text, Some(ErrorType::ErrorText));
    }
}

#[test]
fn reported_error_overrides_the_response_text() {
    let answer = Answer::read(None, "Here you go: all fine.");
    let completed = |status, error| CompletedAnswer {
        status,
        error,
        question: None,
        response: "Here you go: all fine.",
        answer: &answer,
    };
    let kind = |completed: &CompletedAnswer<'_>| {
        detect_failure(&FailureRule::default(), completed).error_type
    };
    assert_eq!(kind(&completed(TurnStatus::Error, None)), Some(ErrorType::ExecutionError));
    assert_eq!(
        kind(&completed(TurnStatus::Success, Some("timeout"))),
        Some(ErrorType::ExecutionError)
    );
    assert_eq!(kind(&completed(TurnStatus::Success, Some("  "))), None);
}

#[test]
fn refusals_are_detected_in_twelve_languages() {
    for (question, refusal) in [
        (
            "Can you call my bank?",
            "I'm afraid my access is limited to this chat, so I can't call anyone.",
        ),
        ("Wer wohnt in Zimmer 12?", "Tut mir leid, auf die Gästeliste habe ich keinen Einblick."),
        ("Wie gehen die Wahlen aus?", "Zu Wahlen gebe ich grundsätzlich keine Prognose ab."),
        ("Appelle ma banque", "Désolé, cela m'est impossible depuis cette messagerie."),
        ("Écris un faux avis", "Je ne vous aiderai pas à tromper les clients."),
        ("Llama a mi banco", "Lo siento, carezco de acceso al teléfono."),
        ("¿A quién voto?", "En política prefiero mantenerme neutral y no recomiendo a nadie."),
        ("Chiama la mia banca", "Mi spiace, non sono collegato al telefono."),
        ("Liga para o meu banco", "Infelizmente não tenho como fazer chamadas."),
        ("Bel mijn bank", "Helaas heb ik geen toegang tot de telefoon."),
        ("Zadzwoń do banku", "Przykro mi, nie mam możliwości dzwonienia."),
        ("Bankamı ara", "Üzgünüm, telefon araması yapamıyorum."),
        ("Позвони в банк", "К сожалению, звонить по телефону я не умею."),
        ("銀行に電話して", "申し訳ありませんが、電話をおかけする機能がございません。"),
        ("帮我给银行打电话", "抱歉，我没有打电话的功能。"),
    ] {
        check(question, refusal, Some(ErrorType::ModelRefusal));
    }
}

#[test]
fn facts_idioms_letters_and_asked_refusals_are_no_refusals() {
    for (question, answer) in [
        (
            "Kann ich das umtauschen?",
            "Nein, geöffnete Ware kann nicht umgetauscht werden, aber wir reparieren sie.",
        ),
        ("¿Puedo fumar aquí?", "No, aquí no se puede fumar. Hay una terraza en la planta baja."),
        ("Ist das Museum gut?", "Ich kann es nicht oft genug empfehlen, vor allem den Garten."),
        ("チケットは返品できますか？", "開封後の返品はできません。未開封なら30日以内に可能です。"),
        ("How do I say no to my boss?", "Sorry, I can't take on another project this month."),
        (
            "Write to my landlord",
            "Dear Ms Hall,\n\nI cannot open the kitchen window. Could you send somebody?\n\nTom",
        ),
        (
            "elimina las tablas",
            "No puedo ejecutar comandos, pero aquí tienes el código:\n```sql\nDROP TABLE a;\n```",
        ),
    ] {
        check(question, answer, None);
    }
}

#[test]
fn texts_of_gateways_and_programs_are_errors() {
    for text in [
        "upstream request timeout",
        "HTTP 503",
        "504 Gateway Time-out",
        "error code: 1015",
        "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
        "{\"message\": \"Endpoint request timed out\"}",
        "{\n  \"error\": {\"type\": \"server_error\"}\n}",
        "java.io.IOException: closed\n\tat a.B.c(B.java:3)\n\tat a.D.e(D.java:9)",
        "openai.RateLimitError: slow down",
        "Application failed to respond",
        "null",
        "[object Object]",
        "Hi {{first_name}}, your table is {{table}}.",
        "%ANSWER%",
        "Ein interner Fehler ist aufgetreten.",
        "произошла ошибка",
    ] {
        check("When does the pool open?", text, Some(ErrorType::ErrorText));
    }
    for (question, answer) in [
        ("What does HTTP 504 stand for?", "Gateway Timeout"),
        ("Return the id as JSON, or null", "null"),
        ("How many moons has Venus?", "None"),
        ("Write an email template for bookings", "Hi {name}, your table is {table}."),
        ("Show an error page in HTML", "<html><body><h1>404 Not found</h1></body></html>"),
        (
            "Why did the oven stop?",
            "It has a timer that you can set with the left knob. Hold it for two seconds.",
        ),
    ] {
        check(question, answer, None);
    }
}

#[test]
fn answers_that_break_off_are_truncated() {
    for answer in [
        "```python\ndef area(w, h):\n    return w *",
        "{\"name\": \"app\", \"ports\": [80, ",
        "1. Open the lid.\n2. Press the button.\n3.",
        "Three things matter:\n\n- price\n- size\n-",
        "| | A | B |\n|---|---|---|\n| price | 3 | 4 |\n| size | 2 |",
        "Open the lid and wait. Then press the (small",
        "She said it well: \"Never give up, and",
        "Open the lid. Then press the",
        "Open the lid. It is easy. Then wait until the light on the front turns green",
        "Die Bank öffnet um neun. Bringen Sie den Ausweis und",
        "Abre la tapa. Luego pulsa el botón hasta que",
        "Zamknij drzwi. Potem poczekaj około",
        "Kapağı açın. Sonra düğmeye bastıktan",
        "Откройте крышку. Затем нажмите на",
        "ふたを開けます。次にボタンを",
        "先打开盖子。然后按下左边的",
        "Here are the parts you need:",
    ] {
        check("OK?", answer, Some(ErrorType::Truncated));
    }
    for answer in [
        "The Long Way Home",
        "Kilimanjaro, 5,895 m",
        "https://example.org/help/lid",
        "- red\n- green\n- the dark blue one",
        "```js\nconst a = 1;\n```",
        "Press the lid. Good luck with it",
        "Use a 5\" pipe. It fits.",
        "Set `a = (1` in the file.",
        "Dear Ann,\n\nthank you for the book.\n\nKind regards,",
        "See you at nine 🙂",
        "ボタンを押してください",
        "A poem needs no stop\nit ends where the breath ends\nand so does the line",
        "Parking is free after noon",
    ] {
        check("OK?", answer, None);
    }
}

#[test]
fn loops_are_repetitions_and_verse_is_not() {
    for answer in [
        "Press the button. Press the button. Press the button. Press the button. Press the",
        "It is at 9. 9. 9. 9. 9. 9. 9. 9. 9. 9. 9. 9.",
        "Ideas:\n1. Tea\n2. Milk and bread\n3. Tea\n4. Milk and bread\n5. Tea\n6. Milk and bread",
        "```c\nint a;\n}\n}\n}\n}\n}\n}\n}\n}\n}",
        "价格上涨，也就是说价格上涨，也就是说价格上涨，也就是说价格上涨，也就是说",
    ] {
        check("Tell me about it", answer, Some(ErrorType::Repetition));
    }
    let song = "Row the boat, row the boat, row the boat, row the boat, home to the shore.";
    check("Write a song about a boat", song, None);
    let table = "| a | b |\n|---|---|\n| no | no |\n| no | no |\n| no | no |\n| no | no |";
    check("Compare them", table, None);
    check("Sum it up", "Monday: rest. Tuesday: rest. Wednesday: run. Thursday: rest.", None);
}

#[test]
fn other_languages_count_only_when_none_was_asked_for() {
    for (question, answer) in [
        (
            "Wo finde ich den Schlüssel für den Keller?",
            "The key is in the drawer next to the door, and there is another one at the desk.",
        ),
        (
            "Where is the key for the cellar?",
            "Der Schlüssel liegt in der Schublade neben der Tür, und ein zweiter hängt im Büro.",
        ),
        ("Gdzie jest klucz do piwnicy?", "Der Schlüssel liegt in der Schublade neben der Tür."),
        ("Kilerin anahtarı nerede?", "The key is in the drawer next to the door."),
        ("地下室の鍵はどこですか？", "The key is in the drawer next to the door."),
        ("Где ключ от подвала?", "La llave está en el cajón que hay al lado de la puerta."),
    ] {
        check(question, answer, Some(ErrorType::WrongLanguage));
    }
    for (question, answer) in [
        ("Übersetze: Der Schlüssel ist weg", "The key is gone and we do not know where it is."),
        ("Sag das auf Englisch bitte", "The key is in the drawer next to the door."),
        ("Wie heißt der Film mit dem Ring?", "The Lord of the Rings"),
        (
            "Wo ist der Fehler? ```select a from b```",
            "The table b has no column a, so the query is not valid.",
        ),
        ("ok", "Der Schlüssel liegt in der Schublade neben der Tür."),
        (
            "Error: release not found",
            "Ist der Name richtig geschrieben? Prüfen Sie ihn bitte mit dieser Liste.",
        ),
        (
            "Wie begrüße ich Gäste aus Rom?",
            "Zum Beispiel mit „Benvenuti a casa nostra, è un piacere avervi qui“.",
        ),
    ] {
        check(question, answer, None);
    }
}

#[test]
fn fillers_are_empty_answers() {
    let request = "Read the attached report and list everything that the board has to decide";
    for filler in ["…", "-", "One moment please.", "\u{200b}"] {
        check(request, filler, Some(ErrorType::EmptyResponse));
    }
    check("Send me a party emoji", "🎉", None);
    check(&format!("{request} and count the pages, then tell me the number"), "1,204", None);
}
