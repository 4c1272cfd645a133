//! `/debug/sessionz`: what is open and what was lately, one line a session.

use std::collections::{BTreeSet, HashMap};

use super::html::Html;
use super::{Asked, Zpages, ago, end, session_page};
use crate::control::notebook::{RUNS_MAX, RunNote};
use crate::model::{AnomalyType, Severity};

impl Zpages {
    pub(super) fn sessions(&self, asked: &Asked<'_>) -> String {
        let mut html = self.begin("Sessions", "sessionz", true, asked);
        let runs = self.read(|notebook| notebook.runs());
        let status = (self.ask)().status;
        html.raw("<p class=\"quiet\">");
        html.counted(status.open_runs, "run").raw(" open, ");
        html.counted(status.conversations, "conversation")
            .raw(" remembered, ");
        html.counted(status.held_spans, "span").raw(" held. ");
        html.counted(runs.len() as u64, "run")
            .raw(" shown (at most ")
            .value(RUNS_MAX)
            .raw(" are kept).</p>");
        if runs.is_empty() {
            html.raw("<p>Nothing has come yet. Point the exporter of an agent here: <code>OTEL_EXPORTER_OTLP_ENDPOINT</code>, see ")
                .raw("<a href=\"servicez\">what listens where</a>.</p>");
            return end(html);
        }
        html.raw("<div class=\"wide\"><table><thead><tr><th>session</th><th>service</th>")
            .raw("<th class=\"extra\">agent</th><th class=\"number extra\">runs</th>")
            .raw("<th class=\"number\">steps</th><th>found</th>")
            .raw("<th class=\"extra\">not assessed</th><th>heard of</th></tr></thead><tbody>");
        for session in grouped(&runs) {
            if html.is_full() {
                break;
            }
            row(&mut html, &session, asked);
        }
        html.raw("</tbody></table></div>");
        end(html)
    }
}

/// The runs of one session of one service.
struct Session<'a> {
    latest: &'a RunNote,
    agent: Option<&'a str>,
    runs: u64,
    steps: u64,
    found: u64,
    worst: Option<Severity>,
    lacking: BTreeSet<AnomalyType>,
    open: bool,
}

/// Sessions in the order of their latest runs.
fn grouped(runs: &[RunNote]) -> Vec<Session<'_>> {
    let mut places: HashMap<(&str, &str), usize> = HashMap::new();
    let mut sessions: Vec<Session<'_>> = Vec::new();
    for run in runs {
        let key = (&*run.session, &*run.service);
        let place = *places.entry(key).or_insert(sessions.len());
        if place == sessions.len() {
            sessions.push(Session {
                latest: run,
                agent: None,
                runs: 0,
                steps: 0,
                found: 0,
                worst: None,
                lacking: BTreeSet::new(),
                open: false,
            });
        }
        let Some(session) = sessions.get_mut(place) else {
            continue;
        };
        session.agent = session.agent.or(run.agent.as_deref());
        session.runs += 1;
        session.steps += run.steps;
        session.found += run.found;
        session.worst = session.worst.max(run.worst());
        let lacking = run.not_assessed.iter().map(|(anomaly, _)| *anomaly);
        session.lacking.extend(lacking);
        session.open |= run.closed.is_none();
    }
    sessions
}

fn row(html: &mut Html, session: &Session<'_>, asked: &Asked<'_>) {
    let run = session.latest;
    let href = session_page(&run.session, &run.service);
    html.raw("<tr><td class=\"name\"><a")
        .attribute("href", &href);
    html.raw(">").text(&run.session).raw("</a></td>");
    html.cell("name", &run.service);
    html.cell("name extra", session.agent.unwrap_or_default());
    html.cell("number extra", &session.runs.to_string());
    html.cell("number", &session.steps.to_string());
    html.raw("<td>");
    found(html, session.found, session.worst);
    html.raw("</td>");
    let lacking = match session.lacking.len() {
        0 if session.open => "told at the end".to_owned(),
        0 => String::new(),
        1 => "1 type".to_owned(),
        types => format!("{types} types"),
    };
    html.cell("quiet extra", &lacking);
    let state = if session.open { "open, " } else { "" };
    let heard = ago(run.last, asked.now);
    html.cell("quiet when", &format!("{state}{heard}"));
    html.raw("</tr>");
}

/// How much was found, coloured by the worst of it.
fn found(html: &mut Html, count: u64, worst: Option<Severity>) {
    let Some(worst) = worst else {
        html.raw("<span class=\"quiet\">nothing</span>");
        return;
    };
    html.raw("<span class=\"tag ").raw(worst.name()).raw("\">");
    html.value(count).raw(" ").raw(worst.name()).raw("</span>");
}
