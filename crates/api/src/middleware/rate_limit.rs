//! So many requests per second and no more, where a key says so.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use model::Timestamp;

use crate::error::Problem;

/// Buckets that are kept at the most; full ones are forgotten first, since they say nothing.
const MOST_BUCKETS: usize = 10_000;

/// Counts requests by key and, for widgets, by client.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateLimits(Arc<Mutex<Buckets>>);

type Buckets = HashMap<(String, Option<IpAddr>), TokenBucket>;

/// A second's worth of requests that fills up again as time goes by.
#[derive(Clone, Copy, Debug)]
struct TokenBucket {
    left: f64,
    at: Timestamp,
    rate: f64,
}

impl TokenBucket {
    fn filled(self, now: Timestamp) -> Self {
        let secs = (now.as_micros() - self.at.as_micros()).max(0) as f64 / 1e6;
        Self { left: (self.left + secs * self.rate).min(self.rate), at: now, ..self }
    }
}

impl RateLimits {
    /// Takes one request out of the bucket, or says when there will be one.
    pub(crate) fn take(
        &self,
        key: &str,
        client: Option<IpAddr>,
        rate: u32,
        now: Timestamp,
    ) -> Result<(), Problem> {
        let rate = f64::from(rate.max(1));
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (key.to_owned(), client.map(network));
        if buckets.len() >= MOST_BUCKETS && !buckets.contains_key(&place) {
            buckets.retain(|_, bucket| bucket.filled(now).left < bucket.rate);
            if buckets.len() >= MOST_BUCKETS {
                // More clients than we can tell apart at once: nobody new until some are gone.
                return Err(Problem::too_many_requests(1));
            }
        }
        let full = TokenBucket { left: rate, at: now, rate };
        let bucket = buckets.entry(place).or_insert(full);
        *bucket = bucket.filled(now);
        if bucket.left < 1.0 {
            let secs = ((1.0 - bucket.left) / rate).ceil().max(1.0);
            return Err(Problem::too_many_requests(secs as u64));
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

/// Whoever has one address of the new kind has a whole network of them.
fn network(client: IpAddr) -> IpAddr {
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
    fn a_bucket_gives_its_rate_and_fills_up_again() {
        let limits = RateLimits::default();
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        let take = |key: &str, now| limits.take(key, None, 3, now).is_ok();
        assert_eq!([(); 5].map(|()| take("a", now)), [true, true, true, false, false]);
        assert!(take("b", now), "another key has its own");
        let later = now.plus_secs(1);
        assert_eq!([(); 4].map(|()| take("a", later)), [true, true, true, false]);
        assert!(!take("a", now), "a clock that goes back gives nothing");
    }
}
