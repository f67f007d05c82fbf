//! Topics of the documentation assistant.

use super::{Assistant, BLANK_TOPIC, ConversationTopic, DocPage, KnownError};

const DOCS: ConversationTopic = ConversationTopic { app: Assistant::Docs, ..BLANK_TOPIC };

pub(super) const PAGES: &[DocPage] = &[
    (
        "doc-exports-v2",
        "Export jobs",
        "POST /v2/export-jobs starts an export job; poll it until its state is done, then fetch the link.",
    ),
    (
        "doc-exports-v1",
        "Exports (version 1)",
        "POST /v1/export returns the rows at once. Version 1 was switched off in spring and answers 410.",
    ),
    (
        "doc-pagination",
        "Pagination",
        "Lists return next_cursor; pass it as cursor until it is null. Pages hold up to 200 items.",
    ),
    (
        "doc-rate-limits",
        "Rate limits",
        "Each token may make 600 requests a minute. A 429 answer carries Retry-After in seconds.",
    ),
    (
        "doc-webhooks",
        "Webhooks",
        "We sign every delivery with HMAC-SHA256 in the Signature header and retry for a day.",
    ),
    (
        "doc-auth-tokens",
        "Access tokens",
        "Tokens are made under Settings > API. Send them as a Bearer header; scopes limit what they may do.",
    ),
    (
        "doc-uploads",
        "Uploading files",
        "Files over 8 MB are uploaded in parts: start, send the parts, finish with the list of their sums.",
    ),
    (
        "doc-errors",
        "Errors",
        "Errors are problem documents with type, title, status and a request id.",
    ),
    (
        "doc-sdk-python",
        "Python library",
        "pip install the library, create a Client with your token, and iterate over pages.",
    ),
    ("doc-glossary", "Glossary", "Words that the documentation uses, from board to workspace."),
    ("doc-changelog", "Changes", "What changed in the API, newest first."),
    ("doc-quickstart", "Quick start", "Make a token, send the first request, read the answer."),
    ("doc-filters", "Filters", "Filters are written field:operator:value and joined with commas."),
    (
        "doc-sandbox",
        "Sandbox",
        "The sandbox has its own address and tokens and is emptied every night.",
    ),
];

pub(super) const TOPICS: &[ConversationTopic] = &[
    ConversationTopic {
        intent: "api_export",
        questions: &[
            "How do I export {report} with the API?",
            "Which endpoint starts an export of {report} as {format}?",
            "I want to pull all {report} rows every night through the API.",
            "What is the call to download {report} as {format}?",
            "Can I trigger a {format} export from a script?",
        ],
        rephrasings: &[
            "What is the current endpoint for exporting {report}?",
            "Please show the export call for {report} that works today.",
        ],
        follow_ups: &[
            "How often may I poll the job?",
            "How long is the link valid?",
            "Does the export job accept filters?",
        ],
        good: &[
            "Start an export job with `POST /v2/export-jobs` and `{\"view\": \"{report}\", \"format\": \"{format}\"}`, poll the export job until its state is `done`, then fetch the link it gives you.",
            "Use export jobs: `POST /v2/export-jobs` returns an id; `GET /v2/export-jobs/ID` says `done` with a link after about {n} seconds for {report}.",
        ],
        bad: &[
            "Call `POST /v1/export` with `view={report}`; the rows come back at once.",
            "Exports (version 1): `POST /v1/export?view={report}&format={format}` returns the rows directly.",
            "Send `POST /v1/export` with your token and the answer holds all {report} rows as {format}.",
        ],
        complaints: &[
            "That endpoint is deprecated: /v1/export answers 410 Gone.",
            "No, /v1/export is deprecated and switched off, I get 410.",
            "This doesn't work, version 1 of the export endpoint is deprecated.",
            "Wrong, that endpoint is the deprecated one. /v1/export returns 410 since spring.",
            "You named a deprecated endpoint again, v1 export is gone.",
            "That's outdated, the v1 export endpoint is deprecated and no longer exists.",
            "Not correct: POST /v1/export is deprecated and fails with 410.",
            "That call fails, the export endpoint you gave is the deprecated v1 one.",
        ],
        known_error: Some(KnownError::OldApi),
        pages: &["doc-exports-v2", "doc-exports-v1"],
        weight: 2.2,
        ..DOCS
    },
    ConversationTopic {
        intent: "api_pagination",
        questions: &[
            "How do I get more than the first page of {report}?",
            "What is the largest page size of the list endpoints?",
            "My loop over {report} never ends, how does the cursor work?",
            "Is there offset pagination?",
        ],
        rephrasings: &["How do I page through all of {report}?"],
        follow_ups: &["Is the order stable while I page?", "Can I page backwards?"],
        good: &[
            "Pagination works by cursor: pass `next_cursor` from the answer as `cursor` until it is null. A page holds up to 200 items.",
            "Lists return `next_cursor`. When it is null you have everything; your loop probably sends an empty cursor, which starts over.",
            "Pagination is by cursor, so pages stay right while {report} grows; an offset would repeat or skip rows.",
        ],
        bad: &[
            "Add `offset={n}00` to the address to jump to a page.",
            "The API returns everything at once, there are no pages.",
        ],
        pages: &["doc-pagination"],
        weight: 1.3,
        ..DOCS
    },
    ConversationTopic {
        intent: "api_limits",
        questions: &[
            "What are the rate limits?",
            "We get 429 with {n} workers, how fast may we go?",
            "Is the limit per token or per workspace?",
            "How should a client wait after too many requests?",
        ],
        rephrasings: &["How many requests a minute are allowed?"],
        follow_ups: &["Can the limit be raised for a migration?", "Do failed requests count?"],
        good: &[
            "Rate limits are per token: 600 requests a minute. After a 429, wait as many seconds as `Retry-After` says.",
            "Each token may make 600 requests a minute. With {n} workers give each its share, and honour `Retry-After` on 429 answers.",
        ],
        bad: &[
            "There are no limits, send as much as you like.",
            "After a 429 your account is blocked for a day; contact sales.",
        ],
        pages: &["doc-rate-limits", "doc-errors"],
        weight: 1.1,
        ..DOCS
    },
    ConversationTopic {
        intent: "api_webhooks",
        questions: &[
            "How do I verify that a webhook really comes from you?",
            "What happens when my webhook endpoint is down?",
            "Which header has the signature of a delivery?",
            "Are webhook deliveries in order?",
        ],
        rephrasings: &["How is the signature of a webhook computed?"],
        follow_ups: &["Which address do deliveries come from?", "Can I send a test delivery?"],
        good: &[
            "Webhooks are signed: compute HMAC-SHA256 over the raw body with your secret and compare it with the `Signature` header in constant time.",
            "We retry webhooks for a day with growing pauses; after that the delivery is listed as failed and you can send it again.",
            "Deliveries of webhooks may arrive twice or out of order; use the event id to tell, and its time to sort.",
        ],
        bad: &[
            "Compare the sender's address; webhooks are not signed.",
            "If your endpoint is down the event is lost.",
        ],
        pages: &["doc-webhooks"],
        weight: 1.0,
        ..DOCS
    },
    ConversationTopic {
        intent: "api_auth",
        questions: &[
            "Where do I create an API token?",
            "Which scope does a token need to read {report}?",
            "Can a token be limited to one project?",
            "How do I rotate tokens without downtime?",
        ],
        rephrasings: &["How do I make a token that may only read {report}?"],
        follow_ups: &["Do tokens expire?", "Can I see when a token was last used?"],
        good: &[
            "Access tokens are made under Settings > API. Give it the scope `{report}:read` and send it as a Bearer header.",
            "Make a second access token, deploy it, then revoke the first: both are valid meanwhile, so nothing stops.",
            "Yes: choose the project when you make the access token; its scopes then count for that project alone.",
        ],
        bad: &[
            "Use your password as the token.",
            "Tokens cannot be limited; every token may do everything.",
        ],
        pages: &["doc-auth-tokens"],
        weight: 1.0,
        ..DOCS
    },
    ConversationTopic {
        intent: "api_upload",
        questions: &[
            "How do I upload a file of {n}00 MB?",
            "The upload fails at 8 MB, is that a limit?",
            "Can an interrupted upload be continued?",
        ],
        rephrasings: &["What are the steps to upload a large file in parts?"],
        follow_ups: &["How long are unfinished uploads kept?"],
        good: &[
            "Uploading files over 8 MB goes in parts: start the upload, send the parts, finish with the list of their sums. A part that failed is simply sent again.",
            "Yes, 8 MB is the most for one request. Larger files are uploaded in parts, and an interrupted one continues with the parts that are missing.",
        ],
        bad: &[
            "Compress the file until it is smaller than 8 MB.",
            "Large files cannot be uploaded.",
        ],
        pages: &["doc-uploads"],
        weight: 0.8,
        ..DOCS
    },
];
