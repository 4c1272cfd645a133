//! A span of our own for a finding whose span has left (DESIGN 3.7): never sent again, as most backends
//! drop, double or overwrite a second copy.
//!
//! Invariant: the same finding makes the same bytes, id included, so that what is delivered twice is one.

use std::hash::{BuildHasher, Hash, Hasher};

use bytes::Bytes;

use crate::model::{OUR_SCOPE, Report, SYNTHETIC, Service, SpanId};
use crate::otlp::{self, AttributeValue, Made, MadeBy, PatchWriter};

use super::mark::mark;
use super::{Bearer, Settings};

/// Key under which a link of ours says what its span is to the finding.
const ROLE: &str = "sentinel.link.role";

/// Who makes spans and records of our own.
pub(super) const US: MadeBy<'static> = MadeBy {
    name: OUR_SCOPE,
    version: env!("CARGO_PKG_VERSION"),
};

/// The request that holds the synthetic span of a report, and the span's id. `sender` is the resource of
/// the accused span as sent; without it the span is sent under the name of its service. `None` for a
/// finding that names no step.
pub fn synthetic(
    report: &Report,
    sender: Option<&[u8]>,
    settings: &Settings,
) -> Option<(SpanId, Bytes)> {
    let judged = report.finding.judged()?;
    let span = id_of(report)?;
    let at = report.at;
    // Its status stays unset, whatever is wanted of others: an error of ours would count in the user's error rates.
    let bearer = Bearer {
        start: at,
        end: at,
        unset: false,
    };
    let reports = std::slice::from_ref(report);
    let mut fields = PatchWriter::new()
        .attribute(SYNTHETIC, AttributeValue::Bool(true))
        .finish()
        .to_vec();
    fields.extend_from_slice(&mark(reports, None, bearer, false, settings));
    let mut links = vec![(judged.span, "judged")];
    links.extend(
        report
            .finding
            .members
            .first()
            .filter(|first| first.span != judged.span && first.trace == judged.trace)
            .map(|first| (first.span, "evidence")),
    );
    let made = Made {
        trace: judged.trace,
        span,
        parent: judged.span,
        name: &format!("anomaly {}", report.finding.anomaly),
        at,
        links: &links,
        role: ROLE,
        fields: &fields,
    };
    let body = match sender {
        Some(sender) => otlp::request_of(sender, US, &made),
        None => otlp::request_of(&service_alone(&report.service), US, &made),
    };
    Some((span, body))
}

/// Backends find spans by the name of their service: that much is always known.
pub(super) fn service_alone(service: &Service) -> Vec<u8> {
    let mut attributes = vec![("service.name", &*service.name)];
    if !service.namespace.is_empty() {
        attributes.push(("service.namespace", &*service.namespace));
    }
    otlp::sender(&attributes)
}

/// Made of trace, episode, state and judged step: the same in a replay, different for each time an episode
/// is raised.
fn id_of(report: &Report) -> Option<SpanId> {
    let judged = report.finding.judged()?;
    let mut hasher = foldhash::quality::FixedState::with_seed(0x1a7e_59a4).build_hasher();
    judged.trace.hash(&mut hasher);
    judged.span.hash(&mut hasher);
    report.episode.hash(&mut hasher);
    report.state.name().hash(&mut hasher);
    report.finding.reason.hash(&mut hasher);
    // An id of zeros is none.
    SpanId::from_slice(&hasher.finish().max(1).to_be_bytes())
}
