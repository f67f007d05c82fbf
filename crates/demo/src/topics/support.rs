//! Topics of the support assistant.

use super::{BLANK_TOPIC, ConversationTopic, KnownError};

const SUPPORT: ConversationTopic = BLANK_TOPIC;

pub(super) const TOPICS: &[ConversationTopic] = &[
    ConversationTopic {
        intent: "schedule_report",
        questions: &[
            "When does my {period} {report} report go out if I schedule it for {hour}:00?",
            "I set the {report} report to {hour}:00, at what time will my team in {city} get it?",
            "What time does the scheduled {report} digest arrive?",
            "My {period} summary is set to {hour}:00. Is that local time?",
            "At which hour will the {report} e-mail be sent to us in {city}?",
            "We need the {report} report before our {hour}:00 stand-up in {city}. When is it sent?",
        ],
        rephrasings: &[
            "So at what local time will the {report} report be in our inbox?",
            "I mean {city} time: when is the {report} report sent?",
            "Once more: when does the {report} report arrive for us?",
        ],
        follow_ups: &[
            "And can I send the {report} report to two groups?",
            "Can the {report} report skip weekends?",
            "Is there a way to send the {report} report as {format}?",
        ],
        good: &[
            "Schedules follow your workspace's time zone, which is set to {city}. At {hour}:00 {city} time the {report} report is sent; change the zone under Settings > Workspace > Region.",
            "It goes out at {hour}:00 in the time zone of your workspace ({city}). If colleagues sit elsewhere, each can choose an own zone in their profile.",
            "At {hour}:00 local time in {city}. The {period} {report} report takes up to five minutes to build, so expect it shortly after.",
        ],
        bad: &[
            "The {report} report is sent at {hour}:00 UTC.",
            "Scheduled reports run at {hour}:00 UTC every time, so your {period} report will arrive at {hour}:00 UTC.",
            "It will be delivered at {hour}:00 (UTC). There is nothing else to set.",
        ],
        complaints: &[
            "That's wrong, the report came at another hour: you gave me UTC, we are in {city}.",
            "No, {hour}:00 UTC is not {city} time. The time zone is wrong.",
            "That is the wrong time zone. Our workspace is set to {city}, not UTC.",
            "This is not correct, the hour is in UTC and I asked for local time.",
            "Wrong. You answered in UTC again, I need the time zone of {city}.",
            "No, that's not right: the time zone is ignored, we work on {city} time.",
            "You got the time zone wrong, nobody in {city} works in UTC.",
            "Incorrect, it ignores our time zone setting and shows UTC.",
        ],
        known_error: Some(KnownError::TimeZone),
        weight: 2.4,
        ..SUPPORT
    },
    ConversationTopic {
        intent: "billing_invoice",
        questions: &[
            "Where can I find the invoice for {month}?",
            "I need a copy of our {month} invoice for the accountants.",
            "How do I put our VAT number on the {month} invoice?",
            "Why is the {month} invoice higher than the one before?",
            "Can you resend the invoice of {month} to our bookkeeping?",
        ],
        rephrasings: &[
            "I am looking for the PDF of the {month} bill, where is it?",
            "Where do I download what we were charged in {month}?",
        ],
        follow_ups: &[
            "Can invoices go to a second address as well?",
            "How do I switch to yearly billing?",
            "And how do I change the card on file?",
        ],
        good: &[
            "All invoices are under Settings > Billing > History; open {month} and choose Download PDF. Only owners and billing admins see that page.",
            "You find {month} in Settings > Billing > History. The VAT number from Billing details is printed on every invoice from then on, and you can reissue {month} with one click.",
            "The {month} invoice includes {n} seats that were added during the month, charged for the remaining days. The line items are listed in Billing > History.",
        ],
        bad: &[
            "Invoices are sent by e-mail only and cannot be downloaded.",
            "Please contact your bank for a copy of the {month} payment.",
            "Your plan has no invoices; only the yearly plan does.",
        ],
        weight: 1.6,
        ..SUPPORT
    },
    ConversationTopic {
        intent: "login",
        questions: &[
            "I can't log in since this morning, it says my session expired.",
            "How do I reset two-factor authentication after losing my phone?",
            "The sign-in link in the e-mail does not open anything.",
            "Can we make single sign-on mandatory for the whole team?",
            "A colleague left. How do I end all of their sessions?",
        ],
        rephrasings: &[
            "I still cannot sign in, what else can I try?",
            "How do I get back into my account without the second factor?",
        ],
        follow_ups: &[
            "How long are sessions valid by default?",
            "Can I see from where somebody signed in?",
        ],
        good: &[
            "An expired session is renewed by signing in again in a private window; if that works, clear the cookies of the usual one. Sessions end after {n} days without use.",
            "An owner can reset the second factor under People > the person > Security > Reset. You then set it up anew at the next sign-in.",
            "Under Security > Sign-in you can require single sign-on for everybody; owners keep a password as a way back in.",
            "Open People, choose the person and press End all sessions. It takes effect within a minute, tokens included.",
        ],
        bad: &[
            "Please create a new account with another e-mail address.",
            "Two-factor authentication cannot be reset by anybody.",
            "Sessions cannot be ended; they run out after a year.",
        ],
        weight: 1.4,
        ..SUPPORT
    },
    ConversationTopic {
        intent: "export_data",
        questions: &[
            "How can I export the {report} table as {format}?",
            "Is it possible to get all of our {report} data out as {format}?",
            "The {format} export stops after a few thousand rows, why?",
            "Where is the button to download the {report} view?",
        ],
        rephrasings: &[
            "I want a {format} file of the whole {report} view, how?",
            "How do I download {report} completely, not just the page I see?",
        ],
        follow_ups: &[
            "Can I schedule that export?",
            "Does the export keep my filters?",
            "How large may an export be?",
        ],
        good: &[
            "Open {report}, press the three dots and choose Export > {format}. Your filters are kept, and files over {n}0 MB arrive as a link by e-mail.",
            "What you saw is the preview, which ends at 5000 rows. Choose Export > {format} > All rows; the file is built in the background and you are told when it is ready.",
            "Exports of {report} are under Data > Exports. Pick {format} and the date range; the last {n} exports stay there for a week.",
        ],
        bad: &[
            "Exports are not available in this product.",
            "Take a screenshot of the {report} table and convert it to {format}.",
            "Only our staff can export {report}; please wait for a call.",
        ],
        weight: 1.5,
        ..SUPPORT
    },
    ConversationTopic {
        intent: "notifications",
        questions: &[
            "How do I stop the notifications about {report}?",
            "We get every alert twice, what is going on?",
            "Can I get a message only when {report} drops by more than {n}0 percent?",
            "Nobody on my team receives the mention e-mails.",
        ],
        rephrasings: &["I just want fewer {report} alerts, where do I set that?"],
        follow_ups: &["Can alerts go to a chat channel?", "Is there a quiet time setting?"],
        good: &[
            "Each person chooses under Profile > Notifications; turn {report} off there. Owners can set the default for new people.",
            "Two rules watch {report}: one of yours and one of the workspace. Delete either under Alerts > Rules and the double message is gone.",
            "Create a rule under Alerts > New, choose {report}, condition 'falls by more than' and {n}0 %. It is checked every {n} minutes.",
        ],
        bad: &[
            "Notifications are required and cannot be changed.",
            "You can block our e-mail address in your mail program.",
        ],
        weight: 1.1,
        ..SUPPORT
    },
    ConversationTopic {
        intent: "roles",
        questions: &[
            "What can an editor do that a viewer can't?",
            "How do I let {n} contractors see the {report} board and nothing else?",
            "Who in my workspace is allowed to delete dashboards?",
            "How do I hand over ownership of the workspace?",
        ],
        rephrasings: &["Which role is right for somebody who only looks at {report}?"],
        follow_ups: &["Can roles be given to groups?", "Does a viewer need a paid seat?"],
        good: &[
            "Viewers read and comment; editors also change boards and queries; admins manage people and billing. The table under People > Roles lists every right.",
            "Invite them as guests and share only the {report} board with them. Guests see nothing that was not shared and do not use a seat.",
            "Owners and the editor who made a dashboard can delete it; deleted ones stay in the bin for {n}0 days.",
            "Under Settings > Workspace > Ownership choose the new owner; both of you confirm by e-mail.",
        ],
        bad: &[
            "All roles are the same; the names are only labels.",
            "You cannot change roles after somebody was invited.",
        ],
        weight: 0.9,
        ..SUPPORT
    },
];
