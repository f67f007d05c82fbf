//! Determines the address of the client behind reverse proxies.
//!
//! Forwarded headers are valid only from the networks in `server.trusted_proxies`. They are removed
//! from all other requests, so that no handler reads a forged header.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use ipnet::IpNet;

const FORWARDED: &str = "forwarded";
const FORWARDED_FOR: &str = "x-forwarded-for";
/// Headers by which proxies describe the client's connection.
const FORWARDED_HEADERS: [&str; 7] = [
    FORWARDED,
    FORWARDED_FOR,
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
    "x-forwarded-server",
    "x-real-ip",
];

/// Networks of the proxies whose forwarded headers are valid. Empty by default.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Arc<[IpNet]>);

impl TrustedProxies {
    /// Parses addresses and networks, separated by commas. The error is the invalid part.
    pub fn parse(networks: &str) -> Result<Self, String> {
        let parts = networks.split(',').map(str::trim).filter(|part| !part.is_empty());
        let parse = |part: &str| {
            let address = || part.parse::<IpAddr>().map(IpNet::from);
            part.parse::<IpNet>().or_else(|_| address()).map_err(|_| part.to_owned())
        };
        Ok(Self(parts.map(parse).collect::<Result<_, _>>()?))
    }

    fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }

    /// The last address of the chain that is no trusted proxy. A client can forge every entry to
    /// the left of the ones that trusted proxies appended.
    fn find_client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer;
        for entry in forwarded_chain(headers).into_iter().rev() {
            if !self.contains(client) {
                break;
            }
            // A proxy may hide the address ("unknown"). The proxy itself then counts.
            let Some(address) = entry else { break };
            client = address;
        }
        client
    }
}

/// The client of a request, stored as an extension.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClientAddress {
    /// `None` for requests without a connection, such as in-process calls.
    pub(crate) address: Option<IpAddr>,
    /// True when the request had a forwarded header, valid or not.
    pub(crate) is_forwarded: bool,
}

/// Attaches a [`ClientAddress`] and removes forwarded headers of other peers than trusted proxies.
pub(crate) async fn resolve_client(
    State(trusted): State<TrustedProxies>,
    mut request: Request,
    next: Next,
) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    let peer = peer.map(|peer| peer.to_canonical());
    let headers = request.headers_mut();
    let is_forwarded = FORWARDED_HEADERS.iter().any(|name| headers.contains_key(*name));
    let is_trusted = peer.is_some_and(|peer| trusted.contains(peer));
    let address = match peer {
        Some(peer) if is_trusted => Some(trusted.find_client(peer, headers)),
        peer => peer,
    };
    if is_forwarded && !is_trusted {
        for name in FORWARDED_HEADERS {
            headers.remove(name);
        }
    }
    request.extensions_mut().insert(ClientAddress { address, is_forwarded });
    next.run(request).await
}

/// The addresses of `X-Forwarded-For`, else of `Forwarded`, from the client to the last proxy.
fn forwarded_chain(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let values = |name: &str| -> Vec<String> {
        let texts = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default());
        texts.flat_map(|text| text.split(',')).map(|part| part.trim().to_owned()).collect()
    };
    let chain = values(FORWARDED_FOR);
    if !chain.is_empty() {
        return chain.iter().map(|entry| parse_node(entry)).collect();
    }
    values(FORWARDED).iter().map(|element| parse_node(for_parameter(element))).collect()
}

/// The `for` parameter of an element of `Forwarded`.
fn for_parameter(element: &str) -> &str {
    let parameters = element.split(';').filter_map(|pair| pair.trim().split_once('='));
    let mut values = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("for"));
    values.next().map_or("", |(_, value)| value.trim().trim_matches('"'))
}

/// Parses an address with or without a port.
fn parse_node(text: &str) -> Option<IpAddr> {
    let plain = || text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
    let with_port = || text.parse::<SocketAddr>().map(|address| address.ip()).ok();
    plain().or_else(with_port).map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(headers: &[(&'static str, &'static str)], expected: &str) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let trusted = TrustedProxies::parse("10.0.0.0/8, 127.0.0.1, fd00::/8").unwrap();
        let found = trusted.find_client("10.1.1.1".parse().unwrap(), &map);
        assert_eq!(found.to_string(), expected, "{headers:?}");
    }

    #[test]
    fn client_is_the_last_address_that_is_no_trusted_proxy() {
        check(&[], "10.1.1.1");
        check(&[("x-forwarded-for", "203.0.113.9")], "203.0.113.9");
        check(&[("x-forwarded-for", "1.2.3.4, 203.0.113.9, 10.2.2.2")], "203.0.113.9");
        check(&[("x-forwarded-for", "1.2.3.4"), ("x-forwarded-for", "203.0.113.9")], "203.0.113.9");
        check(&[("x-forwarded-for", "10.3.3.3, 10.2.2.2")], "10.3.3.3");
        check(&[("x-forwarded-for", "203.0.113.9:4711")], "203.0.113.9");
        check(&[("x-forwarded-for", "[2001:db8::1]:80, fd00::1")], "2001:db8::1");
        check(&[("x-forwarded-for", "::ffff:203.0.113.9")], "203.0.113.9");
    }

    #[test]
    fn hidden_or_malformed_entries_end_the_chain() {
        check(&[("x-forwarded-for", "1.2.3.4, unknown")], "10.1.1.1");
        check(&[("x-forwarded-for", "1.2.3.4, unknown, 10.2.2.2")], "10.2.2.2");
        check(&[("x-forwarded-for", "")], "10.1.1.1");
    }

    #[test]
    fn forwarded_is_read_when_x_forwarded_for_is_missing() {
        check(&[("forwarded", "for=1.2.3.4;proto=https, For=\"[2001:db8::2]:47\"")], "2001:db8::2");
        check(&[("forwarded", "proto=https;for=203.0.113.9")], "203.0.113.9");
        check(&[("forwarded", "for=1.2.3.4"), ("x-forwarded-for", "5.6.7.8")], "5.6.7.8");
        check(&[("forwarded", "for=_hidden")], "10.1.1.1");
    }

    #[test]
    fn networks_are_addresses_or_prefixes() {
        assert!(TrustedProxies::parse(" ").unwrap().0.is_empty());
        assert_eq!(TrustedProxies::parse("10.0.0.0/8,proxy").unwrap_err(), "proxy");
        assert_eq!(TrustedProxies::parse("10.0.0.0/40").unwrap_err(), "10.0.0.0/40");
    }
}
