//! Rate limits per key and per client address, as token buckets.
//!
//! Hand-written because each API key has its own rate, while `governor` has one per limiter.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use model::Timestamp;
use parking_lot::Mutex;

use crate::error::Problem;

/// Full buckets are evicted first, since a new bucket starts full.
const MAX_BUCKETS: usize = 10_000;

/// Buckets by key and, for widget keys, by client address.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateLimits(Arc<Mutex<Buckets>>);

type Buckets = HashMap<(String, Option<IpAddr>), TokenBucket>;

/// Holds at most one second's worth of requests and refills continuously.
#[derive(Clone, Copy, Debug)]
struct TokenBucket {
    tokens: f64,
    refilled_at: Timestamp,
    rate: f64,
}

impl TokenBucket {
    fn refill(self, now: Timestamp) -> Self {
        let secs = (now.as_micros() - self.refilled_at.as_micros()).max(0) as f64 / 1e6;
        Self { tokens: (self.tokens + secs * self.rate).min(self.rate), refilled_at: now, ..self }
    }
}

impl RateLimits {
    /// Takes one token. The error carries the seconds until the next one.
    pub(crate) fn take_token(
        &self,
        key: &str,
        client: Option<IpAddr>,
        rate: u32,
        now: Timestamp,
    ) -> Result<(), Problem> {
        let rate = f64::from(rate.max(1));
        let mut buckets = self.0.lock();
        let bucket_key = (key.to_owned(), client.map(client_network));
        if buckets.len() >= MAX_BUCKETS && !buckets.contains_key(&bucket_key) {
            buckets.retain(|_, bucket| bucket.refill(now).tokens < bucket.rate);
            if buckets.len() >= MAX_BUCKETS {
                // Clients without a bucket wait until one of the known clients has refilled.
                return Err(Problem::too_many_requests(1));
            }
        }
        let full = TokenBucket { tokens: rate, refilled_at: now, rate };
        let bucket = buckets.entry(bucket_key).or_insert(full);
        *bucket = bucket.refill(now);
        if bucket.tokens < 1.0 {
            let secs = ((1.0 - bucket.tokens) / rate).ceil().max(1.0);
            return Err(Problem::too_many_requests(secs as u64));
        }
        bucket.tokens -= 1.0;
        Ok(())
    }
}

/// An IPv6 client usually has a whole /64 network, so all of its addresses share a bucket.
fn client_network(client: IpAddr) -> IpAddr {
    match client {
        IpAddr::V4(_) => client,
        IpAddr::V6(address) => {
            let bits = address.to_bits() & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from_bits(bits))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_limit_allows_its_rate_per_second_and_refills() {
        let limits = RateLimits::default();
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        let take = |key: &str, now| limits.take_token(key, None, 3, now).is_ok();
        assert_eq!([(); 5].map(|()| take("a", now)), [true, true, true, false, false]);
        assert!(take("b", now), "another key has its own");
        let later = now.plus_secs(1);
        assert_eq!([(); 4].map(|()| take("a", later)), [true, true, true, false]);
        assert!(!take("a", now), "a clock that goes back gives nothing");
    }
}
