//! `/debug/anomalyz`: the latest findings, newest first; `type`, `severity` and `service` in the query narrow them.

use super::html::{Html, encoded};
use super::{Asked, Zpages, ago, end, session_page};
use crate::control::notebook::{FINDINGS_MAX, Told};
use crate::model::Severity;

impl Zpages {
    pub(super) fn anomalies(&self, asked: &Asked<'_>) -> String {
        let mut html = self.begin("Anomalies", "anomalyz", true, asked);
        let wanted = Wanted {
            anomaly: asked.value("type"),
            severity: asked.value("severity"),
            service: asked.value("service"),
        };
        let all = self.read(|notebook| notebook.findings());
        let shown: Vec<&Told> = all.iter().filter(|told| wanted.takes(told)).collect();
        html.raw("<p class=\"quiet\">")
            .value(shown.len())
            .raw(" of the last ")
            .value(all.len());
        html.raw(" findings (at most ")
            .value(FINDINGS_MAX)
            .raw(" are kept). ");
        html.raw("Only ");
        for severity in Severity::ALL.into_iter().rev() {
            let name = severity.name();
            html.raw("<a href=\"?severity=").raw(name);
            html.raw("\">").raw(name).raw("</a>, ");
        }
        html.raw("or <a href=\"anomalyz\">all</a>.</p>");
        wanted.write(&mut html);
        if shown.is_empty() {
            html.raw("<p>Nothing was found. What could not be judged stands with each session, and in sum under ")
                .raw("<a href=\"detectorz\">detectors</a>.</p>");
            return end(html);
        }
        html.raw(
            "<div class=\"wide\"><table><thead><tr><th>when</th><th>what</th><th>finding</th>",
        )
        .raw("<th>session</th><th class=\"extra\">service</th></tr></thead><tbody>");
        for told in shown {
            if html.is_full() {
                break;
            }
            row(&mut html, told, asked);
        }
        html.raw("</tbody></table></div>");
        end(html)
    }
}

struct Wanted {
    anomaly: Option<String>,
    severity: Option<String>,
    service: Option<String>,
}

impl Wanted {
    fn takes(&self, told: &Told) -> bool {
        let report = &told.report;
        let is =
            |wanted: &Option<String>, value: &str| wanted.as_deref().is_none_or(|w| w == value);
        is(&self.anomaly, report.finding.anomaly.name())
            && is(&self.severity, report.severity.name())
            && is(&self.service, &report.service.name)
    }

    /// Says what the list is narrowed to.
    fn write(&self, html: &mut Html) {
        for (name, value) in [
            ("type", &self.anomaly),
            ("severity", &self.severity),
            ("service", &self.service),
        ] {
            if let Some(value) = value {
                html.raw("<p>Only ")
                    .raw(name)
                    .raw(" <code>")
                    .text(value)
                    .raw("</code></p>");
            }
        }
    }
}

fn row(html: &mut Html, told: &Told, asked: &Asked<'_>) {
    let report = &told.report;
    html.raw("<tr>")
        .cell("quiet when", &ago(told.at, asked.now));
    html.raw("<td><span class=\"tag ")
        .raw(report.severity.name())
        .raw("\">");
    html.raw(report.finding.anomaly.name()).raw("</span></td>");
    html.cell("name", &report.finding.message);
    let href = session_page(&report.session, &report.service.name);
    html.raw("<td class=\"name\"><a")
        .attribute("href", &href)
        .raw(">");
    html.text(&report.session)
        .raw("</a></td><td class=\"name extra\"><a");
    let href = format!("anomalyz?service={}", encoded(&report.service.name));
    html.attribute("href", &href)
        .raw(">")
        .text(&report.service.name)
        .raw("</a></td></tr>");
}
