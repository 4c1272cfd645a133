//! Any bytes as a trace body: no panic, what is passed on reads clean, parts hold every span once.
#![no_main]

use agent_sentinel::model::{Patch, Release, Selection};
use agent_sentinel::otlp::{count_spans, halve, pack, pack_within, read, status, to_json};
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use smallvec::SmallVec;

fuzz_target!(|bytes: &[u8]| {
    let body = Bytes::copy_from_slice(bytes);
    let _ = status::decode_response(bytes);
    let _ = status::Status::from_protobuf(bytes);
    let _ = (to_json(bytes), halve(&body));
    let Ok(readout) = read(body, |seen| {
        for event in seen.span.events() {
            event.attributes().for_each(drop);
        }
        seen.span.links().for_each(drop);
    }) else {
        return;
    };
    let body = readout.body;
    let again = read(body.clone(), |_| {}).expect("what was read once");
    assert_eq!((again.spans, again.malformed.total()), (readout.spans, 0));
    assert_eq!(count_spans(&body), readout.spans);
    to_json(&body).expect("a clean body");

    let release = |spans, patches| Release {
        body: body.clone(),
        spans,
        count: readout.spans,
        patches,
        synthetic: false,
    };
    if readout.spans > 1 {
        let middle = readout.spans / 2;
        for range in [0..middle, middle..readout.spans] {
            let part = release(
                Selection::Ranges(SmallVec::from_iter([range.clone()])),
                vec![],
            );
            assert_eq!(count_spans(&pack(&part)) as usize, range.len());
        }
    }
    let patch = Patch {
        span: readout.spans / 2,
        bytes: Bytes::from_static(&[0x4a, 0]),
    };
    let marked = release(Selection::All, vec![patch]);
    assert_eq!(count_spans(&pack(&marked)), readout.spans);
    let pieces = pack_within(&marked, 64);
    assert_eq!(
        pieces.iter().map(|piece| piece.spans).sum::<u32>(),
        readout.spans
    );
});
