//! `/debug/sessionz?id=...`: one session, a run after another, where it broke, and why.

use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::Full;

use super::html::Html;
use super::{Asked, Zpages, ago, content, end, timeline};
use crate::control::notebook::{LINES_MAX, RUNS_SHOWN, RunNote, Told};
use crate::engine::CloseReason;
use crate::model::{EpisodeState, Fact, Report, SpanId};

impl Zpages {
    pub(super) fn session(&self, id: &str, asked: &Asked<'_>) -> Response<Full<Bytes>> {
        let service = asked.value("service");
        let runs = self.read(|notebook| notebook.session(id, service.as_deref()));
        let mut html = self.begin("Session", "sessionz", false, asked);
        html.raw("<p><code>").text(id).raw("</code></p>");
        if runs.is_empty() {
            html.raw("<p>Nothing is kept of this session (any more). <a href=\"sessionz\">All sessions</a></p>");
            return content(StatusCode::NOT_FOUND, "text/html; charset=utf-8", end(html));
        }
        if runs.len() == RUNS_SHOWN {
            html.raw("<p class=\"quiet\">Its last ").value(RUNS_SHOWN);
            html.raw(" runs.</p>");
        }
        for run in &runs {
            if html.is_full() {
                break;
            }
            self.run(&mut html, run, asked);
        }
        content(StatusCode::OK, "text/html; charset=utf-8", end(html))
    }

    fn run(&self, html: &mut Html, run: &RunNote, asked: &Asked<'_>) {
        html.raw("<h2>Run <code>").value(run.trace);
        html.raw("</code></h2><p class=\"quiet\">")
            .text(&run.service);
        if let Some(agent) = &run.agent {
            html.raw(" - agent ").text(agent);
        }
        let state = run.closed.map_or("open", CloseReason::name);
        html.raw(" - ").text(&state.replace('_', " "));
        html.raw(" - heard of ").text(&ago(run.last, asked.now));
        html.raw("</p>");
        if !run.not_assessed.is_empty() {
            html.raw("<p class=\"quiet\">Not assessed: ");
            html.text(&lacking(run)).raw("</p>");
        } else if run.closed.is_none() {
            html.raw(
                "<p class=\"quiet\">What could not be assessed is told when the run is closed.</p>",
            );
        }
        if run.steps > run.lines.len() as u64 {
            html.raw("<p class=\"quiet\">The last ")
                .value(LINES_MAX)
                .raw(" of ");
            html.value(run.steps).raw(" steps.</p>");
        }
        let judged: Vec<(SpanId, &Told)> = run
            .findings
            .iter()
            .filter_map(|told| Some((told.report.finding.judged()?.span, told)))
            .collect();
        let proof: HashSet<SpanId> = run
            .findings
            .iter()
            .flat_map(|told| told.report.finding.members.iter().map(|member| member.span))
            .collect();
        timeline::write(html, run, &proof, |html, span| {
            let here = judged.iter().filter(|(step, _)| *step == span);
            here.map(|(_, told)| Self::finding(html, &told.report))
                .count()
                > 0
        });
    }

    /// A row under the step that shows it: what was found, the rule, the numbers, what it cost.
    fn finding(html: &mut Html, report: &Report) {
        let finding = &report.finding;
        html.raw("<tr class=\"finding\"><td colspan=\"6\"><span class=\"tag ");
        html.raw(report.severity.name())
            .raw("\">")
            .raw(finding.anomaly.name())
            .raw("</span> <b>");
        html.text(&finding.message)
            .raw("</b><br><span class=\"quiet\">");
        html.text(&about(report)).raw("</span><br>");
        if let Some(link) = &report.trace_url {
            // Only what was configured gets here; other schemes than a browser's own for pages are no links.
            if link.starts_with("https://") || link.starts_with("http://") {
                html.raw("<a rel=\"noreferrer\"")
                    .attribute("href", link)
                    .raw(">open the trace</a> - ");
            }
        }
        html.raw("<a")
            .attribute("href", &format!("anomalyz?type={}", finding.anomaly.name()));
        html.raw(">others like it</a></td></tr>");
    }
}

/// Types that could not be judged, by what was lacking.
fn lacking(run: &RunNote) -> String {
    let mut by_lack: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (anomaly, lacks) in &run.not_assessed {
        let words: Vec<&str> = lacks.iter().map(|lack| lack.words()).collect();
        let types = by_lack.entry(words.join(", ")).or_default();
        types.push(anomaly.name());
    }
    let parts: Vec<String> = by_lack
        .into_iter()
        .map(|(lack, types)| format!("{} ({lack})", types.join(", ")))
        .collect();
    parts.join("; ")
}

/// Rule, reason, counts and waste in a line.
fn about(report: &Report) -> String {
    let finding = &report.finding;
    let mut parts = vec![format!(
        "{}, {}",
        report.severity.name(),
        finding.rule_name()
    )];
    parts.extend(finding.reason.map(str::to_owned));
    parts.push(format!("{} confidence", finding.confidence.name()));
    if report.state == EpisodeState::Raised {
        parts.push("raised".to_owned());
    }
    let numbers = finding.facts.iter().filter_map(|(name, fact)| {
        let value = match fact {
            Fact::Int(number) => number.to_string(),
            Fact::Float(number) => format!("{number:.3}"),
            Fact::Class(word) => word.to_string(),
            Fact::Bool(yes) => yes.to_string(),
            // Names and paths are shown on spans as `evidence` allows; here the sentence has to do.
            Fact::Text(_) | Fact::Path(_) | Fact::Span(_) => return None,
        };
        Some(match name.strip_suffix("_ms") {
            Some(name) => format!("{} {value} ms", name.replace('_', " ")),
            None => format!("{} {value}", name.replace('_', " ")),
        })
    });
    parts.extend(numbers);
    let waste = report.waste;
    parts.push(format!(
        "cost since it began: {} calls, {} ms",
        waste.calls, waste.ms
    ));
    parts.extend(waste.tokens.map(|tokens| format!("{tokens} tokens")));
    parts.extend(waste.cost_usd.map(|dollars| format!("${dollars:.4}")));
    parts.join(" - ")
}
