//! The steps of a run as a table with a bar for each: when it was, how long it took, how it went.

use std::collections::HashSet;

use super::html::Html;
use super::length;
use crate::control::notebook::{Kept, Kind, RunNote};
use crate::model::{SpanId, Timestamp};

/// Width of a bar's picture, in units of its own.
const WIDE: u64 = 1000;

/// Writes the steps in the order of their ends; `under` writes what stands under one, and says whether anything does.
pub(super) fn write(
    html: &mut Html,
    run: &RunNote,
    proof: &HashSet<SpanId>,
    under: impl Fn(&mut Html, SpanId) -> bool,
) {
    let mut lines: Vec<&Kept> = run.lines.iter().collect();
    lines.sort_by_key(|kept| (kept.line.end, kept.line.start));
    let begin = lines
        .iter()
        .map(|kept| kept.line.start)
        .min()
        .unwrap_or_default();
    let end = lines
        .iter()
        .map(|kept| kept.line.end)
        .max()
        .unwrap_or_default();
    html.raw("<div class=\"wide\"><table><thead><tr><th class=\"number\">#</th><th class=\"number extra\">at</th>")
        .raw("<th>step</th><th>outcome</th><th class=\"number\">took</th><th class=\"bar\">when</th></tr></thead><tbody>");
    for kept in lines {
        if html.is_full() {
            break;
        }
        let mut beneath = Html::default();
        let judged = under(&mut beneath, kept.line.span);
        row(
            html,
            kept,
            (begin, end),
            (judged, proof.contains(&kept.line.span)),
        );
        html.append(beneath);
    }
    html.raw("</tbody></table></div>");
}

fn row(html: &mut Html, kept: &Kept, span: (Timestamp, Timestamp), (judged, proof): (bool, bool)) {
    let line = &kept.line;
    html.raw(match (judged, proof) {
        (true, _) => "<tr class=\"judged\">",
        (false, true) => "<tr class=\"proof\">",
        (false, false) => "<tr>",
    });
    html.cell("number quiet", &line.number.to_string());
    html.cell("number quiet extra", &length(line.start.since(span.0)));
    html.raw("<td class=\"name\">");
    html.raw(match kept.kind {
        Kind::Tool => "<code>",
        Kind::Model | Kind::Agent => "<span class=\"quiet\">",
    });
    html.text(&line.what);
    html.raw(match kept.kind {
        Kind::Tool => "</code>",
        Kind::Model | Kind::Agent => "</span>",
    });
    if let Some(who) = &line.who {
        html.raw(" <span class=\"quiet extra\">")
            .text(who)
            .raw("</span>");
    }
    html.raw("</td>");
    html.cell(if line.failed { "failed" } else { "quiet" }, line.how);
    html.cell("number quiet", &length(line.end.since(line.start)));
    html.raw("<td class=\"bar\">");
    bar(html, kept, span);
    html.raw("</td></tr>");
}

/// A picture of when the step was within its run.
fn bar(html: &mut Html, kept: &Kept, (begin, end): (Timestamp, Timestamp)) {
    let whole = end.since(begin).as_nanos().max(1);
    let place = |at: Timestamp| -> u64 {
        let part = at.since(begin).as_nanos() * u128::from(WIDE) / whole;
        u64::try_from(part).unwrap_or(WIDE).min(WIDE)
    };
    let from = place(kept.line.start).min(WIDE - 4);
    let wide = place(kept.line.end).saturating_sub(from).max(4);
    let class = match (kept.line.failed, kept.kind) {
        (true, _) => "failed",
        (false, Kind::Tool) => "ok",
        (false, _) => "",
    };
    html.raw("<svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect class=\"")
        .raw(class)
        .raw("\" y=\"2\" height=\"6\" x=\"");
    html.value(from)
        .raw("\" width=\"")
        .value(wide)
        .raw("\"/></svg>");
}
