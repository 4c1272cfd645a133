//! `/debug/detectorz`: what is looked for, with which thresholds, what it found, and what it could not judge.

use super::html::Html;
use super::{Asked, Figures, Rule, Zpages, end};
use crate::model::Severity;

impl Zpages {
    pub(super) fn detectors(&self, asked: &Asked<'_>) -> String {
        let mut html = self.begin("Detectors", "detectorz", false, asked);
        let figures = (self.ask)();
        html.raw("<p class=\"quiet\">Counts are since the start. Not assessed: once for each run and lack; see the ")
            .raw("sessions for what was lacking.</p>")
            .raw("<div class=\"wide\"><table><thead><tr><th>type</th><th>looked for</th><th class=\"number\">found</th>")
            .raw("<th class=\"number\">not assessed</th><th class=\"number extra\">failures</th><th>keys</th></tr></thead><tbody>");
        for rule in &self.facts.rules {
            row(&mut html, rule, &figures);
        }
        html.raw("</tbody></table></div>");
        end(html)
    }
}

fn row(html: &mut Html, rule: &Rule, figures: &Figures) {
    let counters = &figures.counters;
    let of = |table: &[u64]| {
        table
            .get(usize::from(rule.anomaly as u8))
            .copied()
            .unwrap_or(0)
    };
    let found: u64 = Severity::ALL
        .into_iter()
        .map(|severity| counters.reports_of(rule.anomaly, severity))
        .sum();
    html.raw("<tr><td><a")
        .attribute("href", &format!("anomalyz?type={}", rule.anomaly.name()));
    html.raw("><code>")
        .raw(rule.anomaly.name())
        .raw("</code></a><br><span class=\"quiet\">");
    html.text(rule.summary).raw("</span></td>");
    html.cell(
        if rule.on { "" } else { "quiet" },
        if rule.on { rule.rules } else { "off" },
    );
    html.cell("number", &found.to_string());
    html.cell("number quiet", &of(&counters.not_assessed).to_string());
    let failures = of(&counters.detector_errors);
    html.cell(
        if failures > 0 {
            "number error extra"
        } else {
            "number quiet extra"
        },
        &failures.to_string(),
    );
    html.raw("<td class=\"mono quiet\">").text(rule.defaults);
    if !rule.set.is_empty() {
        html.raw("<br><b>set: ").text(&rule.set).raw("</b>");
    }
    html.raw("</td></tr>");
}
