/* Draws the figures of a page, follows the reader's theme, hands figures out as PNG and SVG.
 *
 * Belongs here: when and where figures are drawn. Does not belong here: what they show; Vega (the script before this).
 */
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("figure-data").textContent);
  const plots = [...document.querySelectorAll("[data-plot]")];
  const views = new Map();
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  for (const element of document.querySelectorAll("[data-needs-script]")) element.hidden = false;

  const rowsOf = (columns) => {
    const names = Object.keys(columns);
    const length = names.length && columns[names[0]].length;
    return Array.from({ length }, (_, n) => Object.fromEntries(names.map((name) => [name, columns[name][n]])));
  };

  const specOf = (name) => {
    const { form, datasets, ...own } = data.figures[name];
    const rows = Object.entries(datasets).map(([set, columns]) => [set, rowsOf(columns)]);
    return { ...structuredClone(data.forms[form]), ...structuredClone(own), datasets: Object.fromEntries(rows) };
  };

  // A figure that leaves a layer empty is meant to: Vega's warnings of it are left out, errors are not.
  const drawIn = (element, spec, theme) => window.valleywatchDraw(element, spec, { theme, logLevel: 1 });

  /** An image of a figure, in light whatever the reader's theme is. */
  const picture = async (spec, kind, scale) => {
    const away = document.createElement("div");
    away.className = "away";
    document.body.append(away);
    try {
      const view = await drawIn(away, spec, "light");
      const url = await view.toImageURL(kind, scale);
      view.finalize();
      return url;
    } finally {
      away.remove();
    }
  };

  const draw = async (plot) => {
    views.get(plot)?.finalize();
    const view = await drawIn(plot, specOf(plot.dataset.plot), dark.matches ? "dark" : "light");
    views.set(plot, view);
    if (dark.matches) {
      // Paper is white: what a dark page prints is a picture that the screen does not show.
      const image = document.createElement("img");
      image.className = "paper";
      image.alt = "";
      image.src = await picture({ ...specOf(plot.dataset.plot), width: plot.clientWidth }, "svg", 1);
      plot.append(image);
    }
    const weight = document.querySelector("input[name=weight]:checked");
    if (plot.dataset.plot === "hit_rates_by_hour" && weight) await view.signal("weight", weight.value).runAsync();
  };

  // One after the other, so that the page stays answerable. Of a fleet's sparklines first those that somebody comes near,
  // the others one by one after them: all are there when the page is printed.
  let last = Promise.resolve();
  const queue = (plot) => {
    const drawn = last.then(() => draw(plot)).then(() => plot.setAttribute("data-drawn", ""));
    last = drawn.catch(() => plot.replaceChildren("This figure cannot be drawn here; the tables say what it would."));
    return drawn; // a failure stays in the console
  };
  const PAUSE_MS = 20; // what the reader does meanwhile goes first
  const waiting = new Set(plots.filter((plot) => plot.classList.contains("spark")));
  const take = (plot) => {
    waiting.delete(plot);
    near.unobserve(plot.closest("tr"));
    return queue(plot);
  };
  const near = new IntersectionObserver(
    (entries) => {
      for (const entry of entries.filter((one) => one.isIntersecting)) take(entry.target.querySelector("[data-plot]"));
    },
    { rootMargin: "600px" },
  );
  const takeNext = () => {
    const [next] = waiting;
    if (next !== undefined) take(next).finally(() => setTimeout(takeNext, PAUSE_MS));
  };
  for (const plot of plots) {
    if (waiting.has(plot)) near.observe(plot.closest("tr"));
    else queue(plot);
  }
  setTimeout(takeNext, PAUSE_MS);
  dark.addEventListener("change", () => [...views.keys()].forEach(queue));

  for (const input of document.querySelectorAll("input[name=weight]")) {
    input.addEventListener("change", () => {
      const plot = document.querySelector("[data-plot=hit_rates_by_hour]");
      if (plot && views.has(plot)) views.get(plot).signal("weight", input.value).runAsync();
    });
  }

  // What is handed out is the same whatever the reader's window and theme are: light, 720 px, its title in the picture.
  const handOut = async (plot, kind) => {
    const spec = specOf(plot.dataset.plot);
    const link = document.createElement("a");
    link.href = await picture({ ...spec, width: 720, title: { text: spec.usermeta.title } }, kind, 2);
    link.download = `${document.body.dataset.anchor}-${plot.dataset.plot}.${kind}`;
    link.click();
  };
  for (const plot of plots.filter((one) => !one.classList.contains("spark"))) {
    const buttons = document.createElement("div");
    buttons.className = "buttons";
    const title = plot.closest("figure").querySelector("h3").textContent;
    for (const kind of ["png", "svg"]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = kind.toUpperCase();
      button.setAttribute("aria-label", `${kind.toUpperCase()} of the figure “${title}”`);
      button.addEventListener("click", () => handOut(plot, kind));
      buttons.append(button);
    }
    plot.closest("figure").querySelector(".figure-head").append(buttons);
  }
})();
