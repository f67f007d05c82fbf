use super::*;
use crate::answer::Answer;
use crate::utterance::Utterance;

/// Question, answer, message, and the expected sides.
type Row = (&'static str, &'static str, &'static str, Option<&'static str>, Option<&'static str>);

#[track_caller]
fn check(rows: &[Row]) {
    for (question, answer, message, wants, instead_of) in rows {
        let question = Utterance::read(question);
        let answer = Answer::read(Some(&question), answer);
        let message = Utterance::read(message);
        let exchange = Exchange {
            question: Some(&question),
            answer: Some(&answer),
            ..Exchange::new(&message)
        };
        let found = extract_contrast(&exchange).unwrap_or_default();
        let found = (found.wants.as_deref(), found.instead_of.as_deref());
        assert_eq!(found, (*wants, *instead_of), "{}", message.original());
    }
}

#[test]
fn both_sides_are_extracted_in_every_word_order() {
    let (question, answer) = ("find laptops", "Here are three business laptops.");
    let (wants, got) = (Some("gaming laptops"), Some("business laptops"));
    check(&[
        (question, answer, "No, I meant gaming laptops, not business laptops", wants, got),
        (question, answer, "gaming laptops instead of business laptops", wants, got),
        (question, answer, "instead of business laptops show me gaming laptops", wants, got),
        (question, answer, "not business laptops but gaming laptops", wants, got),
        (question, answer, "business laptops? I said gaming laptops", wants, got),
        (question, answer, "please replace the business laptops with gaming laptops", wants, got),
        (question, answer, "I prefer gaming laptops to business laptops", wants, got),
        (question, answer, "gaming laptops would be better than business laptops", wants, got),
        (question, answer, "I asked for gaming laptops, you gave me business laptops", wants, got),
        (question, answer, "should be gaming laptops and not business laptops", wants, got),
        (question, answer, "why business laptops when I need gaming laptops?", wants, got),
        (
            question,
            answer,
            "those are business laptops. Gaming laptops please",
            Some("Gaming laptops"),
            got,
        ),
        (question, answer, "you picked business laptops instead of gaming laptops", wants, got),
    ]);
}

#[test]
fn wanted_side_alone_is_extracted() {
    check(&[
        (
            "find laptops",
            "Three business laptops.",
            "No, I meant gaming laptops",
            Some("gaming laptops"),
            None,
        ),
        ("test it", "Here is a TestCase.", "use pytest instead", Some("pytest"), None),
        (
            "when is it due",
            "In Q2.",
            "the report for Q3 is what I need",
            Some("report for Q3"),
            None,
        ),
        ("convert it", "In Canadian dollars: 4", "US dollars obviously", Some("US dollars"), None),
        (
            "show shoes",
            "Trail shoes",
            "I run on asphalt so road shoes pls",
            Some("road shoes"),
            None,
        ),
        (
            "play music",
            "Playing jazz.",
            "hm ok but could I have something slower",
            Some("something slower"),
            None,
        ),
        // A bare fragment that neither the question nor a number supports may be a remark.
        ("route", "By bus.", "sorry, by train of course", None, None),
        ("route", "By bus.", "suspicious...", None, None),
    ]);
}

#[test]
fn answer_and_question_tell_the_sides_apart() {
    check(&[
        // The answer's word is what the user got, whatever the sentence says about it.
        (
            "plot signups",
            "Here is a pie chart.",
            "pie charts are useless. A trend line please",
            Some("trend line"),
            Some("pie charts"),
        ),
        (
            "charger",
            "A barrel-plug charger.",
            "my laptop has USB-C, the barrel one doesn't fit",
            None,
            Some("barrel"),
        ),
        ("earnings", "Gross revenue was 4M.", "net, not gross", Some("net"), Some("gross")),
        // A phrase that only the answer has is not what the user wants.
        ("earnings", "Gross revenue was 4M.", "I said gross revenue", None, None),
        (
            "write it",
            "Here with unittest.",
            "you used unittest, we use pytest here",
            Some("pytest"),
            Some("unittest"),
        ),
    ]);
}

#[test]
fn unwanted_side_alone_is_extracted() {
    check(&[
        ("example", "public class Main", "not the Java one", None, Some("Java one")),
        ("a cake", "Hazelnut cake.", "no nuts please", None, Some("nuts")),
        ("a party", "A barbecue.", "anything but a barbecue", None, Some("barbecue")),
        ("sort it", "Use bubble sort.", "bubble sort is overkill", None, Some("bubble sort")),
    ]);
}

#[test]
fn contrast_is_extracted_in_other_languages() {
    check(&[
        ("Umsatz?", "Brutto 4 Mio.", "Nicht brutto, sondern netto", Some("netto"), Some("brutto")),
        ("Flug", "Flug nach Bern", "Ich meinte Berlin", Some("Berlin"), None),
        ("musique", "Voici du rock", "du jazz plutôt que du rock", Some("jazz"), Some("du rock")),
        ("couleur", "En bleu.", "je voulais le rouge, pas le bleu", Some("rouge"), Some("le bleu")),
        (
            "hotel",
            "Un hotel en el centro",
            "en vez del centro quiero la playa",
            Some("playa"),
            Some("centro"),
        ),
        (
            "saldo",
            "Saldo lordo: 4",
            "mi serve il netto, non il lordo",
            Some("netto"),
            Some("il lordo"),
        ),
        ("saldo", "saldo bruto", "troca bruto por líquido", Some("líquido"), Some("bruto")),
        (
            "prijs",
            "Prijs in dollars",
            "euro's in plaats van dollars",
            Some("euro's"),
            Some("dollars"),
        ),
        (
            "faktury",
            "Faktury za marzec",
            "nie marzec tylko kwiecień",
            Some("kwiecień"),
            Some("marzec"),
        ),
        (
            "rapor",
            "Aylık rapor",
            "aylık değil haftalık rapor istedim",
            Some("haftalık rapor"),
            Some("aylık"),
        ),
        ("отчёт", "Отчёт за год", "вместо года нужен месяц", Some("месяц"), Some("года")),
        ("色", "赤にしました。", "赤ではなく青でお願いします", Some("青"), Some("赤")),
        ("訳して", "英語です。", "中国語でお願いします", Some("中国語"), None),
        ("天气", "北京晴。", "我问的是上海,不是北京", Some("上海"), Some("北京")),
        ("颜色", "红色。", "别用红色", None, Some("红色")),
    ]);
}

#[test]
fn questions_thanks_and_complaints_have_no_contrast() {
    let question = "is it ok to restart the pods?";
    let answer = "Yes, a rolling restart keeps one replica.";
    for message in [
        "is it safer to drain the node instead of restarting the pods?",
        "do people usually prefer a rolling restart rather than a full one?",
        "not bad, thanks",
        "I'd rather not say",
        "wrong!!!",
        "nope. try again",
        "this is not helpful at all",
        "great, so not a full restart then",
        "what if I use kubectl instead?",
        "Ist es besser, den Knoten zu leeren statt neu zu starten?",
        "Faut-il redémarrer plutôt que vider le nœud ?",
        "Prefiero no decirlo",
        "Non male, grazie",
        "não gostei muito",
        "teşekkürler, fena değil",
        "спасибо, неплохо",
        "谢谢，不错",
        "ありがとうございます",
        "",
        "…",
    ] {
        check(&[(question, answer, message, None, None)]);
    }
}
