//! Unpacks gzip bodies, with a limit on the unpacked size that is checked while unpacking.

use std::io::Read;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, header};
use flate2::read::GzDecoder;

use crate::error::Problem;

const CHUNK_BYTES: usize = 64 * 1024;
const TOO_LARGE: &str = "the unpacked body exceeds the size limit of this route; send less at \
    once, or raise max_body_kib (for batches max_batch_mib) in section [server]";

/// The largest unpacked body of a route, as an extension of its requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnpackedLimit(pub(crate) usize);

/// True for a body in gzip. Refuses every other coding.
pub(crate) fn is_gzip(headers: &HeaderMap) -> Result<bool, Problem> {
    let is = |value: &HeaderValue, name: &[u8]| value.as_bytes().eq_ignore_ascii_case(name);
    let mut codings =
        headers.get_all(header::CONTENT_ENCODING).iter().filter(|value| !is(value, b"identity"));
    match (codings.next(), codings.next()) {
        (None, _) => Ok(false),
        (Some(one), None) if is(one, b"gzip") => Ok(true),
        (Some(_), _) => Err(Problem::wrong_media_type(
            "the body has a Content-Encoding other than gzip; send it in gzip or uncompressed",
        )),
    }
}

/// Unpacks a body. Its memory is bounded by the limit, whatever the body claims.
pub(crate) fn unpack_gzip(packed: &[u8], limit: usize) -> Result<Bytes, Problem> {
    // The last four bytes are the unpacked size, modulo 2^32.
    let claimed = packed.last_chunk::<4>().map_or(0, |size| u32::from_le_bytes(*size) as usize);
    let mut unpacked = Vec::with_capacity(claimed.min(limit));
    let mut reader = GzDecoder::new(packed);
    loop {
        let before = unpacked.len();
        let read = reader.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut unpacked);
        read.map_err(|_| Problem::malformed("the body is not valid gzip"))?;
        if unpacked.len() > limit {
            return Err(Problem::too_large(TOO_LARGE));
        }
        if unpacked.len() == before {
            return Ok(unpacked.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use axum::http::StatusCode;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn pack(body: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn limit_applies_to_the_unpacked_size() {
        let body = vec![b'x'; 100_000];
        let packed = pack(&body);
        assert_eq!(unpack_gzip(&packed, body.len()).unwrap(), body);
        let refused = unpack_gzip(&packed, body.len() - 1).unwrap_err();
        assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE);
        let mut lying = packed.clone();
        let end = lying.len() - 4;
        lying[end..].copy_from_slice(&1_u32.to_le_bytes());
        let refused = unpack_gzip(&lying, 50_000).unwrap_err();
        assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE);
        for damaged in [&packed[..20], b"", b"plain"] {
            let refused = unpack_gzip(damaged, body.len()).unwrap_err();
            assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{damaged:?}");
        }
    }

    #[test]
    fn only_gzip_and_identity_are_known() {
        let check = |codings: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for coding in codings {
                headers.append(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
            }
            is_gzip(&headers).ok()
        };
        assert_eq!(check(&[]), Some(false));
        assert_eq!(check(&["identity"]), Some(false));
        assert_eq!(check(&["GZIP"]), Some(true));
        for refused in [&["br"][..], &["gzip, gzip"], &["gzip", "gzip"], &["deflate"]] {
            assert_eq!(check(refused), None, "{refused:?}");
        }
    }
}
