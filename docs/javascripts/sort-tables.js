// Tables of pages that have an element with data-sortable: a click on a heading sorts by its column,
// numbers before texts and cells without a value last; a second click reverses.
document.addEventListener("DOMContentLoaded", () => {
  if (!document.querySelector("[data-sortable]")) return;

  const read = (row, column) => row.cells[column].textContent.trim();
  const compare = (a, b) => {
    const [x, y] = [parseFloat(a), parseFloat(b)];
    if (!isNaN(x) && !isNaN(y)) return x - y;
    if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
    return a.localeCompare(b);
  };

  for (const table of document.querySelectorAll("article table")) {
    const headings = table.tHead.rows[0].cells;
    for (const [column, heading] of [...headings].entries()) {
      heading.style.cursor = "pointer";
      heading.addEventListener("click", () => {
        const descending = heading.getAttribute("aria-sort") === "ascending";
        for (const other of headings) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
        const body = table.tBodies[0];
        const rows = [...body.rows].sort((a, b) => {
          const [x, y] = [read(a, column), read(b, column)];
          if (!x || !y) return Number(!x) - Number(!y);
          return descending ? compare(y, x) : compare(x, y);
        });
        body.append(...rows);
      });
    }
  }
});
