//! The plainest gRPC client: one call with one message.

use std::io::Write as _;
use std::net::SocketAddr;

use bytes::{BufMut, Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

/// Status code and message of a call of `path` at `address` with `message`, squeezed if `gzip`.
pub async fn call(address: SocketAddr, path: &str, message: &[u8], gzip: bool) -> (u32, Bytes) {
    let message = if gzip {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(message).unwrap();
        out.finish().unwrap()
    } else {
        message.to_vec()
    };
    let mut framed = BytesMut::new();
    framed.put_u8(u8::from(gzip));
    framed.put_u32(u32::try_from(message.len()).unwrap());
    framed.put_slice(&message);
    let mut request = http::Request::post(format!("http://{address}{path}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    if gzip {
        request = request.header("grpc-encoding", "gzip");
    }
    let request = request.body(Full::new(framed.freeze())).unwrap();
    let client = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http();
    let response = client.request(request).await.unwrap();
    let mut headers = response.headers().clone();
    let body = response.into_body().collect().await.unwrap();
    headers.extend(body.trailers().cloned().unwrap_or_default());
    let code = headers.get("grpc-status").unwrap().to_str().unwrap();
    let body = body.to_bytes();
    let answer = if body.len() > 5 {
        body.slice(5..)
    } else {
        Bytes::new()
    };
    (code.parse().unwrap(), answer)
}
