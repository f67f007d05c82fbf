//! Topics of the SQL assistant.

use super::{Assistant, BLANK_TOPIC, ConversationTopic, KnownError};

const SQL: ConversationTopic = ConversationTopic { app: Assistant::Sql, ..BLANK_TOPIC };

pub(super) const TOPICS: &[ConversationTopic] = &[
    ConversationTopic {
        intent: "count_customers",
        questions: &[
            "How many customers do we have in {region}?",
            "Number of customers in {region} by plan",
            "How many customers joined in {region} in {month}?",
            "Customer count for {region}, please",
            "What share of our customers is in {region}?",
        ],
        rephrasings: &[
            "Count the active customers of {region} only.",
            "How many current customers are there in {region}?",
        ],
        follow_ups: &[
            "Now the same by plan.",
            "And how did that change since {month}?",
            "Add this to my dashboard, please.",
        ],
        good: &[
            "SELECT COUNT(*) FROM customers WHERE region = '{region}' AND archived = FALSE",
            "SELECT plan, COUNT(*) FROM customers WHERE region = '{region}' AND archived = FALSE GROUP BY plan",
        ],
        bad: &[
            "SELECT COUNT(*) FROM customers_all WHERE region = '{region}'",
            "SELECT plan, COUNT(*) FROM customers_all WHERE region = '{region}' GROUP BY plan",
        ],
        complaints: &[
            "No, that counts archived customers as well.",
            "Wrong table: customers_all includes archived customers.",
            "This is wrong, archived customers must not be counted.",
            "That's not right, please leave archived customers out.",
            "The number is too high, you counted archived customers again.",
            "Incorrect: use customers, not customers_all, which has the archived ones.",
            "You used the wrong table, customers_all has archived customers in it.",
            "No. Only customers that are not archived.",
        ],
        known_error: Some(KnownError::WrongTable),
        weight: 2.4,
        ..SQL
    },
    ConversationTopic {
        intent: "revenue",
        questions: &[
            "What was the revenue in {region} in {month}?",
            "Revenue by month for {region}",
            "Top {n} products by revenue in {month}",
            "Average order value in {region} since {month}",
        ],
        rephrasings: &["Show me the net revenue of {region} for {month}."],
        follow_ups: &[
            "Compare that with the month before.",
            "Break it down by product.",
            "Only new customers, please.",
        ],
        good: &[
            "SELECT SUM(amount - refunded) FROM orders WHERE region = '{region}' AND month = '{month}'",
            "SELECT month, SUM(amount - refunded) AS revenue FROM orders WHERE region = '{region}' GROUP BY month ORDER BY month",
            "SELECT product, SUM(amount - refunded) AS revenue FROM orders WHERE month = '{month}' GROUP BY product ORDER BY revenue DESC LIMIT {n}",
        ],
        bad: &[
            "SELECT SUM(amount) FROM orders WHERE region = '{region}'",
            "SELECT product FROM orders WHERE month = '{month}' LIMIT {n}",
        ],
        weight: 1.5,
        ..SQL
    },
    ConversationTopic {
        intent: "churn",
        questions: &[
            "Which customers in {region} cancelled in {month}?",
            "What is our churn rate for {month}?",
            "List customers without an order since {month}",
        ],
        rephrasings: &["Who left us in {month}?"],
        follow_ups: &["Group them by plan.", "How much revenue was that?"],
        good: &[
            "SELECT id, name FROM customers WHERE region = '{region}' AND cancelled_month = '{month}'",
            "SELECT 1.0 * COUNT(*) FILTER (WHERE cancelled_month = '{month}') / COUNT(*) AS churn FROM customers WHERE archived = FALSE",
        ],
        bad: &[
            "SELECT * FROM customers",
            "SELECT COUNT(*) FROM cancellations WHERE month > '{month}'",
        ],
        weight: 1.0,
        ..SQL
    },
    ConversationTopic {
        intent: "support_load",
        questions: &[
            "How many tickets were opened in {month}?",
            "Median time to first answer in {month} by team",
            "Which {n} topics have the most tickets?",
        ],
        rephrasings: &["Tickets of {month} by week, please."],
        follow_ups: &["Only those of enterprise customers.", "And how many were reopened?"],
        good: &[
            "SELECT COUNT(*) FROM tickets WHERE month = '{month}'",
            "SELECT team, percentile_cont(0.5) WITHIN GROUP (ORDER BY first_answer_minutes) FROM tickets WHERE month = '{month}' GROUP BY team",
            "SELECT topic, COUNT(*) AS tickets FROM tickets GROUP BY topic ORDER BY tickets DESC LIMIT {n}",
        ],
        bad: &[
            "SELECT AVG(id) FROM tickets WHERE month = '{month}'",
            "SELECT topic FROM ticket_topics ORDER BY topic LIMIT {n}",
        ],
        weight: 0.9,
        ..SQL
    },
];
