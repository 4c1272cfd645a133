//! Log records of others: read once, completely, before they are answered for, and passed on as they came.
//!
//! Invariant: as for spans, a record that a strict reader behind us would choke on is cut out, so that it does not
//! take its whole request along. Ids that are absent or zero are no fault: such a record belongs to no span.

use bytes::Bytes;

use super::Limits;
use super::check::Gathered;
use super::cuts::without;
use super::fields::log_record;
use super::malformed::{BodyError, Fault, Malformed, Reason};
use super::read::{Items, Reader, Words};
use super::scan::{check_entry, check_value, text};
use super::value::Value;
use super::views::{Attributes, ResourceView, ScopeView};
use super::wire::{Fields, Wire};
use crate::model::{SpanId, Timestamp, TraceId};

/// A good log record on its way past.
#[derive(Clone, Copy, Debug)]
pub struct SeenRecord<'a> {
    /// Its position in [`Records::body`].
    pub index: u32,
    /// What sent it.
    pub resource: &'a ResourceView<'a>,
    /// What made it.
    pub scope: &'a ScopeView<'a>,
    /// The record.
    pub record: &'a RecordView<'a>,
}

/// A body of log records that was read.
#[derive(Clone, Debug)]
pub struct Records {
    /// The same buffer when nothing was malformed, else a new one without what was.
    pub body: Bytes,
    /// Log records in it.
    pub records: u32,
    /// What was cut out.
    pub malformed: Malformed,
}

/// One log record. All texts are UTF-8.
#[derive(Clone, Copy, Debug)]
pub struct RecordView<'a> {
    trace_id: Option<TraceId>,
    span_id: Option<SpanId>,
    time: Timestamp,
    observed: Timestamp,
    severity: u64,
    event_name: &'a str,
    body: Value<'a>,
    attributes: &'a [(&'a str, Value<'a>)],
}

impl<'a> RecordView<'a> {
    /// The trace it belongs to, if any.
    pub fn trace_id(&self) -> Option<TraceId> {
        self.trace_id
    }

    /// The span it belongs to, if any.
    pub fn span_id(&self) -> Option<SpanId> {
        self.span_id
    }

    /// When it happened, as sent; where that is not said, when it was seen first.
    pub fn time(&self) -> Timestamp {
        if self.time == Timestamp::ZERO {
            self.observed
        } else {
            self.time
        }
    }

    /// Its severity number; 0 when not sent.
    pub fn severity(&self) -> u64 {
        self.severity
    }

    /// The kind of event; empty when the record is none, or says so elsewhere.
    pub fn event_name(&self) -> &'a str {
        self.event_name
    }

    /// Its body; [`Value::Empty`] when not sent.
    pub fn body(&self) -> Value<'a> {
        self.body
    }

    /// Its first attributes, up to [`Limits::attributes_per_span`].
    pub fn attributes(&self) -> Attributes<'a> {
        self.attributes.iter().copied()
    }

    /// The value of the first attribute with this key.
    pub fn attribute(&self, key: &str) -> Option<Value<'a>> {
        let found = self.attributes.iter().find(|(name, _)| *name == key);
        found.map(|(_, value)| *value)
    }
}

/// Reads an ExportLogsServiceRequest and calls `visit` for each good record in wire order; else as [`super::read`].
///
/// # Errors
/// The body, a ResourceLogs or a ScopeLogs cannot be taken apart; what `visit` saw must be forgotten.
pub fn read_records(body: Bytes, visit: impl FnMut(&SeenRecord<'_>)) -> Result<Records, BodyError> {
    let limits = Limits::default();
    let items = RecordItems {
        visit,
        attributes: Vec::new(),
    };
    let mut reader = Reader::new(&limits, items);
    reader.body(&body)?;
    let (records, malformed, cuts) = reader.end();
    Ok(Records {
        body: without(body, &cuts)?,
        records,
        malformed,
    })
}

struct RecordItems<'a, F> {
    visit: F,
    attributes: Gathered<'a>,
}

impl<'a, F: FnMut(&SeenRecord<'_>)> Items<'a> for RecordItems<'a, F> {
    const WORDS: Words = Words {
        resources: "resourceLogs",
        scopes: "scopeLogs",
        items: "logRecords",
    };

    fn item(
        &mut self,
        index: u32,
        limits: &Limits,
        resource: &ResourceView<'_>,
        scope: &ScopeView<'_>,
        bytes: &'a [u8],
    ) -> Result<(), Box<Fault>> {
        let record = check_record(bytes, limits, &mut self.attributes)?;
        (self.visit)(&SeenRecord {
            index,
            resource,
            scope,
            record: &record,
        });
        Ok(())
    }
}

fn check_record<'b, 'a: 'b>(
    bytes: &'a [u8],
    limits: &Limits,
    attributes: &'b mut Gathered<'a>,
) -> Result<RecordView<'b>, Box<Fault>> {
    attributes.clear();
    let (mut trace_id, mut span_id): (&[u8], &[u8]) = (&[], &[]);
    let mut record = RecordView {
        trace_id: None,
        span_id: None,
        time: Timestamp::ZERO,
        observed: Timestamp::ZERO,
        severity: 0,
        event_name: "",
        body: Value::Empty,
        attributes: &[],
    };
    let mut count = 0;
    for field in Fields::new(bytes) {
        let field = field?;
        match (field.number, field.wire) {
            (log_record::ATTRIBUTES, Wire::Bytes(bytes)) => {
                let entry = check_entry(bytes, limits.nesting)
                    .map_err(|fault| fault.within_item("attributes", count))?;
                if count < limits.attributes_per_span {
                    attributes.push(entry);
                }
                count += 1;
            }
            (log_record::BODY, Wire::Bytes(bytes)) => {
                // In pieces, which nobody sends, the last one is what is shown.
                record.body =
                    check_value(bytes, limits.nesting).map_err(|fault| fault.within("body"))?;
            }
            (log_record::EVENT_NAME, Wire::Bytes(bytes)) => {
                record.event_name = text(bytes).map_err(|fault| fault.within("eventName"))?;
            }
            (log_record::SEVERITY_TEXT, Wire::Bytes(bytes)) => {
                text(bytes).map_err(|fault| fault.within("severityText"))?;
            }
            (log_record::TRACE_ID, Wire::Bytes(id)) => trace_id = id,
            (log_record::SPAN_ID, Wire::Bytes(id)) => span_id = id,
            (log_record::TIME, Wire::Fixed64(nanos)) => {
                record.time = Timestamp::from_nanos(nanos);
            }
            (log_record::OBSERVED_TIME, Wire::Fixed64(nanos)) => {
                record.observed = Timestamp::from_nanos(nanos);
            }
            (log_record::SEVERITY_NUMBER, Wire::Varint(number)) => record.severity = number,
            (log_record::DROPPED_ATTRIBUTES_COUNT, Wire::Varint(_))
            | (log_record::FLAGS, Wire::Fixed32(_)) => {}
            // Number 4 was a name once.
            (log_record::TIME..=log_record::SEVERITY_TEXT, _)
            | (log_record::BODY..=log_record::EVENT_NAME, _) => {
                return Err(Fault::wire_type(field.number));
            }
            _ => {}
        }
    }
    id_length(Reason::TraceId, trace_id, 16).map_err(|fault| fault.within("traceId"))?;
    id_length(Reason::SpanId, span_id, 8).map_err(|fault| fault.within("spanId"))?;
    Ok(RecordView {
        trace_id: TraceId::from_slice(trace_id),
        span_id: SpanId::from_slice(span_id),
        attributes,
        ..record
    })
}

fn id_length(reason: Reason, id: &[u8], length: usize) -> Result<(), Box<Fault>> {
    if id.is_empty() || id.len() == length {
        return Ok(());
    }
    let what = format!("must be empty or {length} bytes, has {}", id.len());
    Err(Fault::new(reason, what))
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
    use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
    use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
    use prost::Message;

    use super::*;

    fn text(value: &str) -> Option<AnyValue> {
        Some(AnyValue {
            value: Some(any_value::Value::StringValue(value.to_owned())),
        })
    }

    fn record(number: u8) -> LogRecord {
        LogRecord {
            time_unix_nano: 5,
            observed_time_unix_nano: 6,
            severity_number: 9,
            severity_text: "INFO".to_owned(),
            body: text("said"),
            attributes: vec![KeyValue {
                key: "k".to_owned(),
                value: text("v"),
                ..KeyValue::default()
            }],
            trace_id: vec![1; 16],
            span_id: vec![number; 8],
            event_name: "an.event".to_owned(),
            ..LogRecord::default()
        }
    }

    fn body(log_records: Vec<LogRecord>) -> Bytes {
        let request = ExportLogsServiceRequest {
            resource_logs: vec![ResourceLogs {
                scope_logs: vec![ScopeLogs {
                    log_records,
                    ..ScopeLogs::default()
                }],
                ..ResourceLogs::default()
            }],
        };
        Bytes::from(request.encode_to_vec())
    }

    #[test]
    fn a_record_is_shown_and_its_body_is_the_very_buffer() {
        let sent = body(vec![record(2)]);
        let mut seen = 0;
        let read = read_records(sent.clone(), |one| {
            seen += 1;
            let record = one.record;
            assert_eq!(record.trace_id(), TraceId::from_slice(&[1; 16]));
            assert_eq!(record.span_id(), SpanId::from_slice(&[2; 8]));
            assert_eq!(record.time(), Timestamp::from_nanos(5));
            assert_eq!(record.severity(), 9);
            assert_eq!(record.event_name(), "an.event");
            assert_eq!(record.body(), Value::Str("said"));
            assert_eq!(record.attribute("k"), Some(Value::Str("v")));
            assert_eq!(record.attributes().count(), 1);
        });
        let read = read.unwrap();
        assert_eq!((seen, read.records), (1, 1));
        assert_eq!(read.body.as_ptr(), sent.as_ptr());
    }

    #[test]
    fn a_record_without_ids_belongs_to_no_span() {
        let none = LogRecord {
            trace_id: Vec::new(),
            span_id: vec![0; 8],
            time_unix_nano: 0,
            ..record(1)
        };
        let read = read_records(body(vec![none]), |one| {
            assert_eq!(one.record.trace_id(), None);
            assert_eq!(one.record.span_id(), None);
            assert_eq!(one.record.time(), Timestamp::from_nanos(6));
        });
        assert_eq!(read.unwrap().records, 1);
    }

    #[test]
    fn what_is_malformed_is_cut_out_alone() {
        let short = LogRecord {
            trace_id: vec![1; 3],
            ..record(1)
        };
        let read = read_records(body(vec![record(1), short, record(2)]), |_| {}).unwrap();
        assert_eq!(read.body, body(vec![record(1), record(2)]));
        assert_eq!((read.records, read.malformed.total()), (2, 1));
        assert_eq!(
            read.malformed.first.as_deref(),
            Some(
                "resourceLogs[0].scopeLogs[0].logRecords[1].traceId: must be empty or 16 bytes, has 3"
            )
        );
        let mut deep = text("bottom");
        for _ in 0..80 {
            let values = vec![deep.unwrap_or_default()];
            let list = opentelemetry_proto::tonic::common::v1::ArrayValue { values };
            deep = Some(AnyValue {
                value: Some(any_value::Value::ArrayValue(list)),
            });
        }
        let deep = LogRecord {
            body: deep,
            ..record(1)
        };
        let read = read_records(body(vec![deep, record(2)]), |_| {}).unwrap();
        assert_eq!(read.body, body(vec![record(2)]));
        assert_eq!(
            read.malformed.by_reason.first(),
            Some(&(Reason::Nesting, 1))
        );
    }

    #[test]
    fn what_cannot_be_taken_apart_is_refused_with_its_place() {
        let mut broken = body(vec![record(1)]).to_vec();
        broken.pop();
        let error = read_records(Bytes::from(broken), |_| {}).unwrap_err();
        assert_eq!(error.path(), "");
        let error = read_records(Bytes::from_static(&[10, 3, 18, 1, 0xff]), |_| {}).unwrap_err();
        assert_eq!(error.path(), "resourceLogs[0].scopeLogs[0]");
    }
}
