// Writes the Prometheus expressions of a dashboard as recording rules, with its variables filled in.
import { readFileSync } from "node:fs";

const dashboard = JSON.parse(readFileSync(process.argv[2], "utf8"));
const rules = [];
for (const panel of dashboard.panels) {
  for (const target of panel.targets ?? []) {
    if (!target.expr) continue;
    const expr = target.expr.replaceAll("$__rate_interval", "5m").replace(/\$[a-z]+/g, ".*");
    rules.push({ record: `panel:${panel.id}_${target.refId}`, expr });
  }
}
if (rules.length === 0) throw new Error("no expression");
// JSON is YAML.
console.log(JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
