/* Sorting and filtering the table of deployments.
 *
 * Belongs here: order and visibility of rows. Does not belong here: what is in them.
 */
"use strict";

(() => {
  const table = document.getElementById("fleet");
  const body = table.tBodies[0];
  const rows = [...body.rows].filter((row) => row.dataset.state !== undefined);
  const field = document.getElementById("filter");
  const state = document.getElementById("filter-state");
  const said = document.getElementById("filtered");

  const keyOf = (row, column, kind) => {
    const cell = row.cells[column];
    if (kind === "number") {
      const datum = cell.querySelector("data");
      return datum === null ? null : Number(datum.value);
    }
    return cell.querySelector("time")?.dateTime ?? cell.dataset.key ?? cell.textContent.trim();
  };

  const sort = (header, direction) => {
    const column = header.cellIndex;
    const sign = direction === "ascending" ? 1 : -1;
    const keyed = rows.map((row) => [keyOf(row, column, header.dataset.sort), row]);
    // What is not known comes last in either direction.
    keyed.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (typeof a === "number" ? a - b : a.localeCompare(b, "en"));
    });
    body.append(...keyed.map(([, row]) => row));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", direction);
  };

  for (const header of table.tHead.querySelectorAll("th[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => {
      const first = header.dataset.sort === "number" ? "descending" : "ascending";
      const other = first === "descending" ? "ascending" : "descending";
      sort(header, header.getAttribute("aria-sort") === first ? other : first);
    });
  }

  const filter = () => {
    const wanted = field.value.trim().toLocaleLowerCase();
    let shown = 0;
    for (const row of rows) {
      const isMatch = row.cells[0].textContent.toLocaleLowerCase().includes(wanted);
      row.hidden = !(isMatch && (state.value === "" || row.dataset.state === state.value));
      shown += row.hidden ? 0 : 1;
    }
    said.value = `${shown} of ${rows.length} shown`;
  };
  field.addEventListener("input", filter);
  state.addEventListener("change", filter);
  field.form.addEventListener("submit", (event) => event.preventDefault());
  filter();
})();
