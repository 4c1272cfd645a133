//! Metrics: counted and passed on. Nothing of them is read beyond the frames down to the data points.

use super::fields::{data, metric, request, resource_spans, scope_spans};
use super::malformed::{BodyError, Fault};
use super::wire::{Fields, Wire, WireError};

/// How many data points an ExportMetricsServiceRequest holds.
///
/// # Errors
/// Its frames, down to the metrics, cannot be taken apart.
pub fn check_metrics(body: &[u8]) -> Result<u64, BodyError> {
    let mut points = 0;
    each(body, request::RESOURCE_SPANS, &mut |resource| {
        each(resource, resource_spans::SCOPE_SPANS, &mut |scope| {
            each(scope, scope_spans::SPANS, &mut |metric| {
                points += points_of(metric)?;
                Ok(())
            })
        })
    })
    .map_err(|error| {
        let fault: Box<Fault> = error.into();
        BodyError::new("resourceMetrics".to_owned(), fault.what().to_owned())
    })?;
    Ok(points)
}

/// As [`check_metrics`], of a body that was checked; what cannot be read counts for nothing.
pub fn count_points(body: &[u8]) -> u64 {
    check_metrics(body).unwrap_or_default()
}

/// Hands every message under `number` to `visit`.
fn each(
    message: &[u8],
    number: u32,
    visit: &mut dyn FnMut(&[u8]) -> Result<(), WireError>,
) -> Result<(), WireError> {
    for field in Fields::new(message) {
        let field = field?;
        if field.number == number {
            match field.wire {
                Wire::Bytes(bytes) => visit(bytes)?,
                _ => return Err(WireError::Mismatch),
            }
        }
    }
    Ok(())
}

fn points_of(metric: &[u8]) -> Result<u64, WireError> {
    let mut points = 0;
    for field in Fields::new(metric) {
        let field = field?;
        if let (
            metric::GAUGE
            | metric::SUM
            | metric::HISTOGRAM
            | metric::EXPONENTIAL_HISTOGRAM
            | metric::SUMMARY,
            Wire::Bytes(bytes),
        ) = (field.number, field.wire)
        {
            each(bytes, data::POINTS, &mut |_| {
                points += 1;
                Ok(())
            })?;
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
    use opentelemetry_proto::tonic::metrics::v1::{
        Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics,
        ScopeMetrics, metric::Data,
    };
    use prost::Message;

    use super::*;

    #[test]
    fn points_are_counted_over_all_kinds() {
        let metric = |data| Metric {
            name: "m".to_owned(),
            data: Some(data),
            ..Metric::default()
        };
        let request = ExportMetricsServiceRequest {
            resource_metrics: vec![ResourceMetrics {
                scope_metrics: vec![ScopeMetrics {
                    metrics: vec![
                        metric(Data::Gauge(Gauge {
                            data_points: vec![NumberDataPoint::default(); 3],
                        })),
                        metric(Data::Histogram(Histogram {
                            data_points: vec![HistogramDataPoint::default(); 2],
                            aggregation_temporality: 2,
                        })),
                    ],
                    ..ScopeMetrics::default()
                }],
                ..ResourceMetrics::default()
            }],
        };
        let mut body = request.encode_to_vec();
        assert_eq!(check_metrics(&body), Ok(5));
        assert_eq!(check_metrics(&[]), Ok(0));
        body.pop();
        let error = check_metrics(&body).unwrap_err();
        assert_eq!(error.path(), "resourceMetrics");
        assert_eq!(count_points(&body), 0);
    }
}
