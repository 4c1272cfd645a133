//! The body of an answer: one buffer, and trailers for gRPC.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

/// At most one buffer and one set of trailers.
#[derive(Debug, Default)]
pub(super) struct Reply {
    data: Option<Bytes>,
    trailers: Option<HeaderMap>,
}

impl Reply {
    /// A body without trailers.
    pub(super) fn whole(data: impl Into<Bytes>) -> Self {
        let data = data.into();
        Self {
            data: (!data.is_empty()).then_some(data),
            trailers: None,
        }
    }

    /// A body and what follows it.
    pub(super) fn with_trailers(data: Bytes, trailers: HeaderMap) -> Self {
        Self {
            data: Some(data),
            trailers: Some(trailers),
        }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let data = self.data.take().map(Frame::data);
        let frame = data.or_else(|| self.trailers.take().map(Frame::trailers));
        Poll::Ready(frame.map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_none() && self.trailers.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let bytes = self.data.as_ref().map_or(0, Bytes::len);
        SizeHint::with_exact(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}
