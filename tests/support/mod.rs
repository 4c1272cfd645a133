//! A small library for tests that drive the real binary: start it, send to it, be its backend, take
//! apart what came out.
//!
//! Nothing here uses the code under test: what is compared is compared by other means.
#![expect(
    dead_code,
    unreachable_pub,
    reason = "each test file that includes this library uses a part of it"
)]

pub mod backend;
pub mod certificates;
pub mod collector;
pub mod grpc;
pub mod http;
pub mod secure;
pub mod senders;
pub mod wire;
