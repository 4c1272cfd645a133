//! Any bytes as OTLP/JSON: no panic, and what is taken comes back the same when written and taken again.
#![no_main]

use agent_sentinel::otlp::{read, status, to_json, transcode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = status::decode_response_json(bytes);
    let _ = status::Status::from_json(bytes);
    let Ok(body) = transcode(bytes) else {
        return;
    };
    let readout = read(body, |_| {}).expect("we frame what we write");
    let json = to_json(&readout.body).expect("a clean body");
    let back = transcode(json.as_bytes()).expect("our own writing");
    assert_eq!(to_json(&back).as_deref(), Ok(json.as_str()));
});
