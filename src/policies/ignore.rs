//! Findings that somebody has looked at and accepted (DESIGN 8, `processors.anomaly.ignore`).

use crate::model::Report;

/// The line to paste under `processors.anomaly.ignore` so that findings like this one are not told any more.
/// `until: YYYY-MM-DD` may be added; the reason is for whoever reads it next.
pub fn ignore_line(report: &Report) -> String {
    format!(
        "- {{type: {}, fingerprint: {:016x}, reason: \"why this is fine\"}}",
        report.finding.anomaly, report.fingerprint,
    )
}
