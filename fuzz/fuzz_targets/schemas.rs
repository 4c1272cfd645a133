//! Any text as a schema, any text behind the first zero byte as arguments: no panic, an end, and a breach
//! exactly where one is said.
#![no_main]

use agent_sentinel::model::{Breach, Fit, Shape};
use agent_sentinel::schemas::compile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (schema, arguments) = text.split_once('\0').unwrap_or((text, text));
    let Some(schema) = compile(schema) else {
        return;
    };
    for strict in [false, true] {
        let (fit, breach) = schema.check(arguments, strict);
        assert_eq!(matches!(fit, Fit::Breaks { .. }), breach.is_some());
        assert!(breach.is_none_or(|breach| breach.pointer.len() <= Breach::POINTER_MAX));
    }
});
