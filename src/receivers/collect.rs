//! Takes a request's body off the wire: within its size, within its time.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;

use super::intake::Intake;
use super::refusal::Refusal;
use super::shares::Held;

/// Most that is reserved on the word of a client.
const RESERVE_AT_MOST: usize = 16 << 20;

/// Most that is read of a body which was refused before it came: what SDKs send at a time.
const DRAIN_AT_MOST: usize = 1 << 20;
/// Longest that is waited for it.
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// Reads what is left of a body and keeps none of it; whether the connection can be used again: not when too much is
/// left, or it comes too slowly.
pub(super) async fn drain<B>(body: &mut B, time: Duration) -> bool
where
    B: Body<Data = Bytes> + Unpin,
{
    if body.is_end_stream() {
        return true;
    }
    let draining = async {
        let mut left = DRAIN_AT_MOST;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return false };
            let length = frame.data_ref().map_or(0, Bytes::len);
            let Some(rest) = left.checked_sub(length) else {
                return false;
            };
            left = rest;
        }
        true
    };
    tokio::time::timeout(time.min(DRAIN_TIME), draining)
        .await
        .unwrap_or(false)
}

/// Reads `body` whole. `expect` looks at the first piece and says how long the whole will be, or refuses
/// it; growth by doubling would copy a large body several times.
///
/// `held` is what the body has of the bytes that may arrive; it grows as they do.
pub(super) async fn collect<B>(
    body: B,
    (held, intake): (&mut Held, &Intake),
    limit: usize,
    time: Duration,
    expect: impl FnOnce(&[u8]) -> Result<usize, Refusal>,
) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let gathering = gather(body, (held, intake), limit, expect);
    match tokio::time::timeout(time, gathering).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Refusal::too_slow(time)),
    }
}

async fn gather<B>(
    mut body: B,
    (held, intake): (&mut Held, &Intake),
    limit: usize,
    expect: impl FnOnce(&[u8]) -> Result<usize, Refusal>,
) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let mut hold = |piece: &Bytes| {
        let grown = held.grow(piece.len());
        grown.map_err(|over| Refusal::too_many_arriving(over, intake.retry_after()))
    };
    let Some(first) = next(&mut body).await? else {
        return Ok(Bytes::new());
    };
    hold(&first)?;
    let expected = expect(&first)?;
    if first.len() > limit {
        return Err(Refusal::too_large(limit));
    }
    let Some(second) = next(&mut body).await? else {
        return Ok(first);
    };
    hold(&second)?;
    let mut whole = BytesMut::with_capacity(expected.min(limit).min(RESERVE_AT_MOST));
    whole.extend_from_slice(&first);
    let mut piece = Some(second);
    while let Some(data) = piece {
        if whole.len().saturating_add(data.len()) > limit {
            return Err(Refusal::too_large(limit));
        }
        whole.extend_from_slice(&data);
        piece = next(&mut body).await?;
        if let Some(piece) = &piece {
            hold(piece)?;
        }
    }
    Ok(whole.freeze())
}

/// The next piece that holds anything; trailers of requests say nothing to us.
async fn next<B>(body: &mut B) -> Result<Option<Bytes>, Refusal>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Refusal::cut_off(&error))?;
        match frame.into_data() {
            Ok(data) if !data.is_empty() => return Ok(Some(data)),
            _ => {}
        }
    }
    Ok(None)
}
