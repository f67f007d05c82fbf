//! Finds in one pass which characters a text has, so that most texts skip most patterns.

/// Bytes of which patterns need at least one.
const AT: u16 = 1;
const COLON: u16 = 1 << 1;
const DOT: u16 = 1 << 2;
const PERCENT: u16 = 1 << 3;
const AMPERSAND: u16 = 1 << 4;
const BRACKET: u16 = 1 << 5;
const WIDE: u16 = 1 << 6;
const BACKSLASH: u16 = 1 << 7;
const DIGIT: u16 = 1 << 8;
/// Part of a token such as an API key.
const TOKEN: u16 = 1 << 9;

static CLASSES: [u16; 256] = classes();

const fn classes() -> [u16; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let value = byte as u8;
        classes[byte] = match value {
            b'@' => AT,
            b':' => COLON | TOKEN,
            b'.' => DOT | TOKEN,
            b'%' => PERCENT,
            b'&' => AMPERSAND,
            b'(' | b'[' | b'{' | b'<' => BRACKET,
            b'\\' => BACKSLASH,
            b'0'..=b'9' => DIGIT | TOKEN,
            b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' | b'+' | b'/' | b'=' | b'~' => TOKEN,
            0x80.. => WIDE,
            _ => 0,
        };
        byte += 1;
    }
    classes
}

/// Contents of a text.
pub(super) struct Profile {
    seen: u16,
    pub(super) digits: usize,
    /// Length of the longest run of letters, digits and the signs within tokens.
    pub(super) longest_token: usize,
}

impl Profile {
    pub(super) fn new(text: &str) -> Self {
        let (mut seen, mut digits, mut run, mut longest_token) = (0, 0, 0, 0);
        for byte in text.bytes() {
            let class = CLASSES[usize::from(byte)];
            seen |= class;
            digits += usize::from(class >> 8 & 1);
            run = (run + 1) * usize::from(class >> 9 & 1);
            longest_token = longest_token.max(run);
        }
        Self { seen, digits, longest_token }
    }

    pub(super) fn has_at(&self) -> bool {
        self.seen & AT != 0
    }

    /// True when an e-mail address may be written without a plain `@`.
    pub(super) fn has_encoding(&self) -> bool {
        self.seen & (PERCENT | AMPERSAND | BRACKET | WIDE | BACKSLASH) != 0
    }

    pub(super) fn has_wide(&self) -> bool {
        self.seen & WIDE != 0
    }

    pub(super) fn has_colon(&self) -> bool {
        self.seen & COLON != 0
    }

    pub(super) fn has_dot(&self) -> bool {
        self.seen & DOT != 0
    }
}
