// Writes a TypeScript file in which a dashboard is a literal of Grafana's own types: a key that Grafana does not know,
// or a value of another type, is an error of the compiler. What the types leave open (options and custom fields of a
// panel) is held against the types of its kind.
import { readFileSync } from "node:fs";

const dashboard = JSON.parse(readFileSync(process.argv[2], "utf8"));
const kinds = { timeseries: "TimeSeries", stat: "Stat", table: "Table" };
const types = "./node_modules/@grafana/schema/dist/types/raw/composable";

const out = ['import type { Dashboard } from "@grafana/schema";'];
for (const [kind, name] of Object.entries(kinds)) {
  out.push(`import type * as ${name} from "${types}/${kind}/panelcfg/x/types.gen";`);
}
// In JSON an enumeration is its value.
out.push(
  "type Json<T> = T extends string ? `${T}` : T extends (infer U)[] ? Json<U>[]" +
    " : T extends object ? { [K in keyof T]: Json<T[K]> } : T;",
);
out.push(`export const dashboard: Json<Dashboard> = ${JSON.stringify(dashboard)};`);
for (const panel of dashboard.panels) {
  if (panel.type === "row") continue;
  const name = kinds[panel.type];
  if (!name) throw new Error(`panel ${panel.id} is of a kind without types here: ${panel.type}`);
  out.push(`export const options${panel.id}: Json<${name}.Options> = ${JSON.stringify(panel.options)};`);
  const custom = panel.fieldConfig.defaults.custom;
  if (custom) out.push(`export const custom${panel.id}: Json<${name}.FieldConfig> = ${JSON.stringify(custom)};`);
}
console.log(out.join("\n"));
