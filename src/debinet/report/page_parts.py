"""Style and script of pages: no network; readable on paper, on a phone and in the dark."""

STYLE = """
:root { color-scheme: light dark; --line: #8885; --soft: #8881;
  --ok: #1b7837; --look: #8a5a00; --bad: #b2182b; }
@media (prefers-color-scheme: dark) { :root { --ok: #7fce8f; --look: #f0c060; --bad: #ff8f88; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2.2rem; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .4rem; opacity: .8; }
th, td { padding: .25rem .8rem; text-align: right; border-bottom: 1px solid var(--line); }
th[scope=row], th:first-child { text-align: left; font-weight: 600; overflow-wrap: anywhere; }
table.words td, table.words th { text-align: left; vertical-align: top; }
thead th { position: sticky; top: 0; background: Canvas; }
thead button { font: inherit; font-weight: 600; color: inherit; background: none; border: 0;
  padding: 0; cursor: pointer; }
thead button::after { content: "\\2195"; opacity: .4; padding-left: .3em; }
th[aria-sort=ascending] button::after { content: "\\2191"; opacity: 1; }
th[aria-sort=descending] button::after { content: "\\2193"; opacity: 1; }
tbody tr:hover { background: var(--soft); }
label.filter { display: block; margin: .6rem 0; }
label.filter input { font: inherit; padding: .2rem .5rem; width: 100%; max-width: 20rem; }
pre { white-space: pre-wrap; padding: .8rem; border: 1px solid var(--line); border-radius: .4rem; }
img { max-width: min(100%, 46rem); height: auto; background: white; border-radius: .4rem; }
div.wide { overflow: auto; max-height: 80vh; }
.ok { color: var(--ok); } .look { color: var(--look); } .bad { color: var(--bad); }
.verdict { font-weight: 700; white-space: nowrap; }
@media print { body { max-width: none; margin: 0; font-size: 11pt; } div.wide { max-height: none; }
  label.filter, thead button::after { display: none; } h2, tr, img { break-inside: avoid; } }
"""

# Sorting and filtering are added to a table that is complete without them.
SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const value = (row, j) => {
    const cell = row.cells[j], given = cell.dataset.value;
    return given === undefined ? cell.textContent : Number(given);
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? (Number.isNaN(a) ? 1 : Number.isNaN(b) ? -1 : a - b)
      : String(a).localeCompare(String(b), undefined, { numeric: true });
  heads.forEach((head, j) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent || "name";
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].sort((a, b) => compare(value(a, j), value(b, j)));
      body.append(...(up ? rows : rows.reverse()));
    });
  });
  if (body.rows.length < 12) continue;
  const label = document.createElement("label"), input = document.createElement("input");
  label.className = "filter";
  input.type = "search";
  input.placeholder = "part of a name";
  label.append("Show only ", input);
  table.parentElement.before(label);
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    for (const row of body.rows)
      row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
  });
}
"""
