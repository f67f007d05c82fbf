//! Remarks that speak to the model instead of about its answer.
//!
//! "Ignore previous instructions", "you are now …", "reveal the system prompt": whoever writes that
//! wants it to end up in a prompt. Such a text becomes no part of an instruction, however many say
//! it. A list knows what was thought of and no more: a suggestion is read by a person before it is used.

/// A verb and, in the few words after it, an object: both make an order. German puts the verb last, so
/// the object may come first too.
const OVERRIDING: &[(&str, &str)] = &[
    // English
    (
        "ignore ignoring disregard disregarding forget override overrule bypass circumvent discard drop skip neglect",
        "instruction instructions prompt prompts rule rules guideline guidelines directive directives constraint \
         constraints restriction restrictions safety policy policies programming training system",
    ),
    (
        "reveal disclose leak print repeat show display output tell give expose dump share summarize write send",
        "prompt prompts instruction instructions password passwords secret secrets credentials apikey token tokens \
         confidential system hidden",
    ),
    // German
    (
        "ignoriere ignorier ignorieren ignoriert vergiss vergesse vergessen missachte missachten umgehe umgehen \
         überschreibe überschreiben verwirf",
        "anweisung anweisungen instruktion instruktionen regel regeln vorgabe vorgaben richtlinie richtlinien befehl \
         befehle prompt systemprompt",
    ),
    (
        "zeige zeig verrate verrat nenne nenn gib wiederhole drucke offenbare veröffentliche",
        "anweisungen systemprompt systemanweisungen prompt passwort passwörter geheimnis geheimnisse zugangsdaten",
    ),
    // French
    (
        "ignore ignorez ignorer oublie oubliez oublier contourne contournez néglige négligez",
        "instruction instructions consigne consignes règle règles directive directives prompt invite",
    ),
    (
        "révèle révélez montre montrez affiche affichez répète répétez donne donnez divulgue divulguez",
        "prompt système instructions consignes secret secrets motdepasse invite",
    ),
    // Spanish
    (
        "ignora ignore ignorad ignorar olvida olvide olvidar omite omita desobedece descarta",
        "instrucción instrucciones regla reglas orden órdenes indicación indicaciones directriz directrices prompt",
    ),
    (
        "revela revele muestra muestre imprime imprima repite repita dime diga divulga",
        "prompt sistema instrucciones secreto secretos contraseña contraseñas",
    ),
];

/// An object may come so many words after its verb, or before it.
const REACH: usize = 6;

/// What says it all by itself.
const PHRASES: &[&str] = &[
    // English
    "you are now",
    "you re now",
    "from now on",
    "pretend to be",
    "pretend you",
    "act as",
    "act like",
    "roleplay as",
    "role play as",
    "you must now",
    "your new task",
    "your new role",
    "new instructions",
    "new instruction",
    "updated instructions",
    "system prompt",
    "system message",
    "developer mode",
    "dan mode",
    "jailbreak",
    "jail break",
    "do anything now",
    "as an ai",
    "you are an ai",
    "you are a language model",
    "dear ai",
    "hey ai",
    "attention ai",
    "language model",
    "previous instructions",
    "prior instructions",
    "above instructions",
    "earlier instructions",
    "everything above",
    "everything before this",
    "all of the above and",
    "end of prompt",
    "begin prompt",
    "follow these instructions",
    "follow my instructions",
    "follow the instructions",
    "obey me",
    "obey the",
    "respond only with",
    "reply only with",
    "answer only with",
    "reply with exactly",
    "respond with exactly",
    "repeat after me",
    "no longer bound",
    "without restrictions",
    "unrestricted mode",
    "base64",
    "run this command",
    "execute the following",
    "execute this",
    "run the following",
    "call the tool",
    "use the tool",
    // German
    "du bist jetzt",
    "du bist nun",
    "sie sind jetzt",
    "ab jetzt",
    "von nun an",
    "ab sofort bist",
    "tu so als",
    "tue so als",
    "verhalte dich wie",
    "spiele die rolle",
    "neue anweisung",
    "neue anweisungen",
    "bisherigen anweisungen",
    "vorherigen anweisungen",
    "vorherige anweisungen",
    "obigen anweisungen",
    "alle anweisungen",
    "als ki",
    "sprachmodell",
    "antworte nur mit",
    "antworte ausschließlich mit",
    "führe folgenden",
    "führe den befehl",
    "entwicklermodus",
    "system anweisungen",
    // French
    "tu es maintenant",
    "vous êtes maintenant",
    "désormais tu",
    "désormais vous",
    "à partir de maintenant",
    "fais comme si",
    "faites comme si",
    "agis comme",
    "agissez comme",
    "comporte toi comme",
    "nouvelles instructions",
    "nouvelle instruction",
    "instructions précédentes",
    "consignes précédentes",
    "en tant qu ia",
    "modèle de langage",
    "réponds uniquement par",
    "répondez uniquement par",
    "exécute la commande",
    "exécutez",
    "invite système",
    "mode développeur",
    // Spanish
    "ahora eres",
    "ahora usted es",
    "a partir de ahora",
    "desde ahora",
    "de ahora en adelante",
    "actúa como",
    "actúe como",
    "finge ser",
    "finge que",
    "haz como si",
    "compórtate como",
    "nuevas instrucciones",
    "nueva instrucción",
    "instrucciones anteriores",
    "reglas anteriores",
    "como ia",
    "modelo de lenguaje",
    "responde solo con",
    "responda solo con",
    "responde únicamente con",
    "ejecuta el",
    "ejecute el",
    "modo desarrollador",
];

/// Remarks begin with these when they order what to write.
const OPENINGS: &[&str] = &[
    "output",
    "print",
    "repeat",
    "reveal",
    "pretend",
    "execute",
    "translate the",
    "write a",
    "write the",
    "write me",
    "say",
    "system",
    "assistant",
    "user",
    "human",
    "gib aus",
    "gebe aus",
    "drucke",
    "wiederhole",
    "sag",
    "schreibe",
    "imprime",
    "imprima",
    "repite",
    "repita",
    "escribe",
    "escriba",
    "di",
    "diga",
    "affiche",
    "affichez",
    "imprimez",
    "répète",
    "répétez",
    "écris",
    "écrivez",
    "dis",
    "dites",
];

/// Forms of a prompt, and ways out of the text.
const MARKS: &[&str] = &[
    "<|",
    "|>",
    "[inst",
    "[/inst",
    "<<sys",
    "</",
    "<system",
    "<s>",
    "###",
    "```",
    "system:",
    "assistant:",
    "user:",
    "human:",
    "{{",
    "}}",
    "http://",
    "https://",
    "ftp://",
    "javascript:",
    "data:text",
    "-----begin",
];

/// Written without spaces, or with something between all letters.
const RUN_TOGETHER: &[&str] = &[
    "ignoreprevious",
    "ignoreallprevious",
    "ignoreallinstructions",
    "ignoreyourinstructions",
    "ignoretheabove",
    "ignoreabove",
    "disregardprevious",
    "disregardall",
    "disregardtheabove",
    "forgetallprevious",
    "forgeteverything",
    "forgetyour",
    "systemprompt",
    "previousinstructions",
    "youarenow",
    "developermode",
    "jailbreak",
    "ignorieredievorherigen",
    "ignorierealle",
    "vergissalles",
    "ignorelesinstructions",
    "oublietout",
    "ignoralasinstrucciones",
    "olvidatodo",
];

/// Whether a text speaks to the model. Case, accents that are written apart, invisible characters and letters that look like
/// others do not hide it.
pub(super) fn is_order(text: &str) -> bool {
    let text: String = text.chars().filter(|c| !is_invisible(*c)).map(as_latin).collect();
    let lower = text.to_lowercase();
    if MARKS.iter().any(|mark| lower.contains(mark)) {
        return true;
    }
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let line = format!(" {} ", words.join(" "));
    let together: String = words.concat();
    let opening = |opening: &&&str| line.starts_with(&format!(" {opening} "));
    PHRASES.iter().any(|phrase| line.contains(&format!(" {phrase} ")))
        || OPENINGS.iter().any(|word| opening(&word))
        || RUN_TOGETHER.iter().any(|run| together.contains(run))
        || OVERRIDING.iter().any(|(verbs, objects)| reaches(&words, verbs, objects))
}

fn reaches(words: &[&str], verbs: &str, objects: &str) -> bool {
    let is_in = |list: &str, word: &str| list.split_whitespace().any(|one| one == word);
    words.iter().enumerate().filter(|(_, word)| is_in(verbs, word)).any(|(at, _)| {
        let (first, last) = (at.saturating_sub(REACH), words.len().min(at + REACH + 1));
        words[first..last].iter().any(|word| is_in(objects, word))
    })
}

/// What nobody sees and a model may read.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
        | '\u{feff}' | '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e007f}')
}

/// Letters of other alphabets that look like Latin ones, and wide ones.
fn as_latin(c: char) -> char {
    match c {
        'а' | 'α' => 'a',
        'е' | 'ε' => 'e',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'с' => 'c',
        'у' => 'y',
        'х' => 'x',
        'і' | 'ι' => 'i',
        'ѕ' => 's',
        'І' => 'I',
        'Ѕ' => 'S',
        'А' => 'A',
        'Е' => 'E',
        'О' => 'O',
        '\u{ff01}'..='\u{ff5e}' => {
            char::from_u32(u32::from(c) - 0xff01 + u32::from('!')).unwrap_or(c)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests;
