//! `/debug/servicez`: this process: since when, what listens where, which pipelines.

use super::{Asked, Zpages, end, length};

impl Zpages {
    pub(super) fn service(&self, asked: &Asked<'_>) -> String {
        let mut html = self.begin("Service", "servicez", false, asked);
        let figures = (self.ask)();
        let version = env!("CARGO_PKG_VERSION");
        html.raw("<dl><dt>version</dt><dd>").raw(version);
        html.raw("</dd><dt>up for</dt><dd>")
            .text(&length(asked.now.since(self.facts.started)));
        html.raw("</dd><dt>spans</dt><dd>")
            .value(figures.counters.spans);
        html.raw("</dd><dt>steps of agents</dt><dd>")
            .value(figures.counters.steps);
        html.raw("</dd><dt>state</dt><dd>")
            .value(figures.status.state_bytes)
            .raw(" bytes</dd></dl>");
        html.raw("<h2>Listening</h2><table><tbody>");
        for (what, address) in &self.facts.listeners {
            html.raw("<tr>")
                .cell("", what)
                .cell("mono", address)
                .raw("</tr>");
        }
        html.raw("</tbody></table><h2>Pipelines</h2>");
        for pipeline in &self.facts.pipelines {
            html.raw("<p><code>").text(pipeline).raw("</code></p>");
        }
        end(html)
    }
}
