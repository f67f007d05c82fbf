//! Phrases that try to override a model's instructions.

/// A verb with an object near it. German puts the verb last, so the object may come first.
#[rustfmt::skip]
pub(super) const OVERRIDE_VERBS_AND_OBJECTS: &[(&str, &str)] = &[
    ("ignore ignoring disregard disregarding forget override overrule bypass circumvent discard drop skip neglect",
     "instruction instructions prompt prompts rule rules guideline guidelines directive directives constraint \
      constraints restriction restrictions safety policy policies programming training system"),
    ("reveal disclose leak print repeat show display output tell give expose dump share summarize write send",
     "prompt prompts instruction instructions password passwords secret secrets credentials apikey token tokens \
      confidential system hidden"),
    ("ignoriere ignorier ignorieren ignoriert vergiss vergesse vergessen missachte missachten umgehe umgehen \
      überschreibe überschreiben verwirf",
     "anweisung anweisungen instruktion instruktionen regel regeln vorgabe vorgaben richtlinie richtlinien befehl \
      befehle prompt systemprompt"),
    ("zeige zeig verrate verrat nenne nenn gib wiederhole drucke offenbare veröffentliche",
     "anweisungen systemprompt systemanweisungen prompt passwort passwörter geheimnis geheimnisse zugangsdaten"),
    ("ignore ignorez ignorer oublie oubliez oublier contourne contournez néglige négligez",
     "instruction instructions consigne consignes règle règles directive directives prompt invite"),
    ("révèle révélez montre montrez affiche affichez répète répétez donne donnez divulgue divulguez",
     "prompt système instructions consignes secret secrets motdepasse invite"),
    ("ignora ignore ignorad ignorar olvida olvide olvidar omite omita desobedece descarta",
     "instrucción instrucciones regla reglas orden órdenes indicación indicaciones directriz directrices prompt"),
    ("revela revele muestra muestre imprime imprima repite repita dime diga divulga",
     "prompt sistema instrucciones secreto secretos contraseña contraseñas"),
    ("ignora ignori ignorate ignorare dimentica dimentichi dimenticate trascura trascurate",
     "istruzione istruzioni regola regole direttiva direttive comandi prompt"),
    ("ignore ignora ignorem ignorar esqueça esquece esqueçam desconsidere desconsidera",
     "instrução instruções regra regras diretriz diretrizes ordens prompt"),
    ("negeer negeert negeren vergeet vergeten",
     "instructie instructies regel regels richtlijn richtlijnen opdrachten aanwijzingen prompt"),
    ("игнорируй игнорируйте проигнорируй проигнорируйте игнорировать забудь забудьте",
     "инструкция инструкции инструкцию инструкций указания указаний правила правил команды промпт"),
];

/// Phrases that are sufficient by themselves.
#[rustfmt::skip]
pub(super) const INJECTION_PHRASES: &[&str] = &[
    "you are now", "you re now", "from now on", "pretend to be", "pretend you", "act as", "act like", "roleplay as",
    "role play as", "you must now", "your new task", "your new role", "new instructions", "new instruction",
    "updated instructions", "system prompt", "system message", "developer mode", "dan mode", "jailbreak",
    "jail break", "do anything now", "as an ai", "you are an ai", "you are a language model", "dear ai", "hey ai",
    "attention ai", "language model", "previous instructions", "prior instructions", "above instructions",
    "earlier instructions", "everything above", "everything before this", "all of the above and", "end of prompt",
    "begin prompt", "follow these instructions", "follow my instructions", "follow the instructions", "obey me",
    "obey the", "respond only with", "reply only with", "answer only with", "reply with exactly",
    "respond with exactly", "repeat after me", "no longer bound", "without restrictions", "unrestricted mode",
    "base64", "run this command", "execute the following", "execute this", "run the following", "call the tool",
    "use the tool", "your instructions have changed", "instructions have changed", "instructions have been updated",
    "don t listen to", "dont listen to", "do not listen to", "tell every user", "tell every customer",
    "tell all users", "tell all customers", "tell all the users", "tell all the customers", "tell each user",
    "tell each customer", "tell your users", "tell your customers",
    "du bist jetzt", "du bist nun", "sie sind jetzt", "ab jetzt", "von nun an", "ab sofort bist", "tu so als",
    "tue so als", "verhalte dich wie", "spiele die rolle", "neue anweisung", "neue anweisungen",
    "bisherigen anweisungen", "vorherigen anweisungen", "vorherige anweisungen", "obigen anweisungen",
    "alle anweisungen", "als ki", "sprachmodell", "antworte nur mit", "antworte ausschließlich mit",
    "führe folgenden", "führe den befehl", "entwicklermodus", "system anweisungen",
    "tu es maintenant", "vous êtes maintenant", "désormais tu", "désormais vous", "à partir de maintenant",
    "fais comme si", "faites comme si", "agis comme", "agissez comme", "comporte toi comme",
    "nouvelles instructions", "nouvelle instruction", "instructions précédentes", "consignes précédentes",
    "en tant qu ia", "modèle de langage", "réponds uniquement par", "répondez uniquement par", "exécute la commande",
    "exécutez", "invite système", "mode développeur", "tout ce qui précède", "oubliez ce qui précède",
    "ignorez ce qui précède", "ignore ce qui précède", "n écoute pas", "n écoutez pas",
    "ahora eres", "ahora usted es", "a partir de ahora", "desde ahora", "de ahora en adelante", "actúa como",
    "actúe como", "finge ser", "finge que", "haz como si", "compórtate como", "nuevas instrucciones",
    "nueva instrucción", "instrucciones anteriores", "reglas anteriores", "como ia", "modelo de lenguaje",
    "responde solo con", "responda solo con", "responde únicamente con", "ejecuta el", "ejecute el",
    "modo desarrollador", "todo lo anterior",
    "d ora in poi", "ora sei", "istruzioni precedenti", "precedenti istruzioni", "nuove istruzioni",
    "tutto quanto sopra", "fingi di essere",
    "agora você é", "a partir de agora", "de agora em diante", "instruções anteriores", "novas instruções",
    "tudo acima", "finja ser",
    "je bent nu", "vanaf nu", "vorige instructies", "eerdere instructies", "nieuwe instructies", "doe alsof je",
    "ты теперь", "теперь ты", "с этого момента", "предыдущие инструкции", "предыдущих инструкций",
    "новые инструкции", "всё вышесказанное",
];

/// Openings of remarks that dictate what to write.
#[rustfmt::skip]
pub(super) const COMMAND_OPENINGS: &[&str] = &[
    "output", "print", "repeat", "reveal", "pretend", "execute", "translate the", "write a", "write the", "write me",
    "say", "system", "assistant", "user", "human", "gib aus", "gebe aus", "drucke", "wiederhole", "sag", "schreibe",
    "imprime", "imprima", "repite", "repita", "escribe", "escriba", "di", "diga", "affiche", "affichez", "imprimez",
    "répète", "répétez", "écris", "écrivez", "dis", "dites",
];

/// Markers of prompt formats and text delimiters.
#[rustfmt::skip]
pub(super) const PROMPT_MARKERS: &[&str] = &[
    "<|", "|>", "[inst", "[/inst", "<<sys", "</", "<system", "<s>", "###", "```", "system:", "assistant:", "user:",
    "human:", "{{", "}}", "http://", "https://", "www.", "ftp://", "javascript:", "data:text", "-----begin",
];

/// Phrases without spaces, to match words split or joined on purpose.
#[rustfmt::skip]
pub(super) const UNSPACED_PHRASES: &[&str] = &[
    "ignoreprevious", "ignoreallprevious", "ignoreallinstructions", "ignoreyourinstructions", "ignoretheabove",
    "ignoreabove", "disregardprevious", "disregardall", "disregardtheabove", "forgetallprevious", "forgeteverything",
    "forgetyour", "systemprompt", "previousinstructions", "youarenow", "developermode", "jailbreak",
    "ignorieredievorherigen", "ignorierealle", "vergissalles", "ignorelesinstructions", "oublietout",
    "ignoralasinstrucciones", "olvidatodo",
];
