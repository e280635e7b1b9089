import type { Summary } from "../run/expected.ts";
import { toCounts, wordOf } from "./to-table.ts";

const STYLE = `body{font:15px/1.5 system-ui;max-width:70rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #ddd}
.FAILED,.KIT,.stale{color:#b00020;font-weight:600}.failed,.expected{color:#8a5a00}.passed{color:#1b7a2f}.skipped{color:#666}
pre{white-space:pre-wrap;margin:.2rem 0 0}`;

/** Returns the report as one self-contained HTML page. */
export function toHtml(summary: Summary, title: string): string {
  const rows = summary.verdicts.map((verdict) => {
    const word = wordOf(verdict, summary);
    const reason = verdict.reason === undefined ? "" : `<pre>${escape(verdict.reason)}</pre>`;
    const cells = [
      `<td class="${word}">${word}</td>`,
      `<td>${verdict.level}</td>`,
      `<td><code>${escape(verdict.id)}</code></td>`,
    ];
    return `<tr>${cells.join("")}<td>${escape(verdict.sentence)}${reason}</td><td>${verdict.ms} ms</td></tr>`;
  });
  const stale = summary.stale.map(
    (id) => `<p class="stale">${escape(id)} is expected to fail, but passed or does not exist.</p>`,
  );
  const head = `<title>${escape(title)}</title><style>${STYLE}</style><h1>${escape(title)}</h1>`;
  const counts = toCounts(summary).map((line) => `<p>${escape(line)}</p>`);
  const titles = "<tr><th>verdict</th><th>level</th><th>check</th><th>sentence</th><th>time</th></tr>";
  return `<!doctype html><html lang="en"><meta charset="utf-8">${head}${counts.join("")}${stale.join("")}
<table>${titles}
${rows.join("\n")}
</table></html>
`;
}

function escape(text: string): string {
  const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replaceAll(/[&<>"]/g, (sign) => entities[sign] ?? sign);
}
