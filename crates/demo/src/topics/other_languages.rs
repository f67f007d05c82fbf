//! Support topics in German and Spanish.

use super::{BLANK_TOPIC, ConversationTopic, KnownError};
use crate::people::Language;

const GERMAN: ConversationTopic = ConversationTopic { language: Language::De, ..BLANK_TOPIC };
const SPANISH: ConversationTopic = ConversationTopic { language: Language::Es, ..GERMAN };

pub(super) const TOPICS: &[ConversationTopic] = &[
    ConversationTopic {
        intent: "billing_invoice",
        questions: &[
            "Wo finde ich die Rechnung für {month}?",
            "Wie kommt unsere Steuernummer auf die Rechnung?",
            "Warum ist die Rechnung im {month} höher als sonst?",
        ],
        rephrasings: &["Ich suche das PDF der Rechnung von {month}, wo liegt es?"],
        follow_ups: &["Kann die Rechnung auch an eine zweite Adresse gehen?"],
        good: &[
            "Unter Einstellungen > Abrechnung > Verlauf liegt die Rechnung für {month} als PDF. Sichtbar ist sie für Inhaber und Abrechnungsverwalter.",
            "Im {month} kamen {n} Plätze dazu, anteilig berechnet. Die Posten stehen im Verlauf der Abrechnung.",
        ],
        bad: &[
            "Rechnungen gibt es nur auf Papier.",
            "Bitte fragen Sie Ihre Bank nach der Rechnung.",
        ],
        ..GERMAN
    },
    ConversationTopic {
        intent: "schedule_report",
        questions: &[
            "Um wie viel Uhr kommt der geplante Bericht {report} an?",
            "Ich habe den Bericht auf {hour}:00 gestellt. Ist das unsere Ortszeit?",
        ],
        rephrasings: &["Noch einmal: Wann kommt der Bericht in {city} an?"],
        follow_ups: &["Kann der Bericht am Wochenende ausfallen?"],
        good: &[
            "Er wird um {hour}:00 Uhr in der Zeitzone Ihres Arbeitsbereichs ({city}) verschickt.",
        ],
        bad: &["Der Bericht wird um {hour}:00 UTC verschickt."],
        complaints: &[
            "Das ist falsch, die Zeitzone stimmt nicht. Wir sind in {city}, nicht in UTC.",
            "Nein, das ist UTC. Unsere Zeitzone ist {city}.",
            "Falsche Zeitzone, ich brauche die Ortszeit.",
        ],
        known_error: Some(KnownError::TimeZone),
        ..GERMAN
    },
    ConversationTopic {
        intent: "login",
        questions: &[
            "Ich kann mich seit heute früh nicht mehr anmelden.",
            "Wie setze ich die zweite Stufe der Anmeldung zurück?",
        ],
        rephrasings: &["Die Anmeldung geht immer noch nicht, was kann ich tun?"],
        follow_ups: &["Wie lange bleibt man angemeldet?"],
        good: &[
            "Melden Sie sich in einem privaten Fenster neu an; geht es dort, löschen Sie die Cookies des anderen.",
            "Ein Inhaber setzt die zweite Stufe unter Personen > Sicherheit zurück.",
        ],
        bad: &["Legen Sie bitte ein neues Konto an."],
        ..GERMAN
    },
    ConversationTopic {
        intent: "export_data",
        questions: &[
            "¿Cómo exporto la tabla {report} como {format}?",
            "¿Por qué la exportación se corta después de unas miles de filas?",
        ],
        rephrasings: &["Quiero un archivo {format} con todos los datos, ¿cómo se hace?"],
        follow_ups: &["¿Se puede programar la exportación?"],
        good: &[
            "Abre {report}, pulsa los tres puntos y elige Exportar > {format}. Se conservan los filtros.",
            "Lo que viste es la vista previa. Elige Exportar > Todas las filas y recibirás un aviso cuando esté listo.",
        ],
        bad: &["No se puede exportar nada.", "Haz una captura de pantalla de la tabla."],
        ..SPANISH
    },
    ConversationTopic {
        intent: "billing_invoice",
        questions: &[
            "¿Dónde está la factura de {month}?",
            "¿Por qué la factura de {month} es más alta?",
        ],
        rephrasings: &["Busco el PDF de la factura de {month}."],
        follow_ups: &["¿Puedo cambiar la tarjeta?"],
        good: &[
            "Está en Ajustes > Facturación > Historial; abre {month} y elige Descargar PDF.",
            "En {month} se añadieron {n} puestos, cobrados por los días restantes.",
        ],
        bad: &["Las facturas solo se envían por correo postal."],
        ..SPANISH
    },
    ConversationTopic {
        intent: "schedule_report",
        questions: &[
            "¿A qué hora llega el informe {report} programado?",
            "He puesto el informe a las {hour}:00, ¿es hora local?",
        ],
        rephrasings: &["Entonces, ¿a qué hora llega el informe en {city}?"],
        follow_ups: &["¿Se puede omitir el fin de semana?"],
        good: &["A las {hour}:00 en la zona horaria de tu espacio de trabajo ({city})."],
        bad: &["El informe se envía a las {hour}:00 UTC."],
        complaints: &[
            "No, está mal: eso es UTC y nuestra zona horaria es {city}.",
            "La zona horaria es incorrecta, no usamos UTC.",
        ],
        known_error: Some(KnownError::TimeZone),
        ..SPANISH
    },
];
