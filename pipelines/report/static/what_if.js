/* The sliders: numbers in, answers of the model out.
 *
 * Belongs here: fields, their slides, what is written into the answers. Does not belong here: formulas (model.js).
 */
"use strict";

(() => {
  const start = JSON.parse(document.getElementById("what-if-data").textContent);
  const model = window.valleywatchModel;
  const traffic = start.traffic;
  const at = (id) => document.getElementById(id);
  const within = (value, most) => Math.min(Math.max(value, 0), most);
  // Where nothing is known the sliders begin at the article's own example.
  const asItIs = {
    "price-ratio": start.price_ratio ?? 0.1,
    slope: within(start.slope ?? 10 / 19, 0.99),
    "fixed-cost": start.fixed_cost ?? 0,
    "hit-rate": within(start.hit_rate ?? 0.5, 0.999),
  };
  const names = Object.keys(asItIs);
  const values = { ...asItIs };

  // As `display` writes them: only exactly 0 and 1 look like 0 % and 100 %; a minus is a minus.
  const NONE = "–";
  const share = (value) => (value === null ? NONE : `${(value * 100).toFixed(1)} %`);
  const index = (value) => (Number.isFinite(value) ? value.toFixed(3) : NONE);
  const money = (value) => {
    if (!Number.isFinite(value)) return NONE;
    const digits = Math.abs(value) < 10000 ? 2 : 0;
    const text = Math.abs(value).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return `${value < 0 && Number(text.replaceAll(",", "")) !== 0 ? "−" : ""}${text} ${traffic.currency}`;
  };
  const sides = { descending: "loses money", ascending: "earns money" };

  const write = (id, text, value) => {
    at(id).value = text;
    at(id).dataset.value = value ?? "";
  };

  const answer = (column, of) => {
    const valley = of.valley;
    write(`${column}-index`, index(of.index), of.index);
    write(`${column}-floor`, valley === null ? "no valley" : share(valley.floorHitRate), valley?.floorHitRate);
    write(`${column}-floor-index`, valley === null ? NONE : index(1 - valley.floorDepth), valley && 1 - valley.floorDepth);
    const exit = valley === null ? "no valley" : valley.exitHitRate === null ? "never" : share(valley.exitHitRate);
    write(`${column}-exit`, exit, valley?.exitHitRate);
    write(`${column}-side`, sides[of.side], of.side);
    write(`${column}-gain`, of.gain === null ? NONE : money(of.gain), of.gain);
  };

  const tell = () => {
    const [r, a, f, x] = names.map((name) => values[name]);
    answer("line", {
      index: model.revenueIndex(x, a, r),
      valley: model.lineValley(a, r),
      side: model.lineSide(x, a, r),
      gain: traffic && model.lineGain(traffic, { r, x, a }),
    });
    if (traffic === null) {
      for (const id of ["index", "floor", "floor-index", "exit", "side", "gain"]) write(`mix-${id}`, "not known", null);
      return;
    }
    const law = { ...traffic.law, f };
    const moved = model.moveToHitRate(traffic.moments, x);
    answer("mix", {
      index: model.mixIndex(law, moved, r),
      valley: model.mixValley(law, traffic.moments, r),
      side: model.mixSide(law, moved, r),
      gain: model.mixGain(traffic, { r, x, f }),
    });
  };

  const set = (name, value, from) => {
    values[name] = value;
    if (from !== at(name)) at(name).value = String(Number(value.toPrecision(6)));
    if (from !== at(`${name}-slider`)) at(`${name}-slider`).value = value;
  };

  for (const name of names) {
    const field = at(name);
    if (name === "fixed-cost") {
      const most = Math.max(0.1, 4 * asItIs[name]);
      at(`${name}-slider`).max = most;
      at(`${name}-slider`).step = most / 500;
      field.disabled = at(`${name}-slider`).disabled = traffic === null;
    }
    for (const input of [field, at(`${name}-slider`)]) {
      input.addEventListener("input", () => {
        const value = input.valueAsNumber;
        const isInside = value >= 0 && value <= Number(field.max);
        field.setAttribute("aria-invalid", String(!isInside));
        if (!isInside) return;
        set(name, value, input);
        tell();
      });
    }
  }
  const reset = () => {
    for (const name of names) {
      at(name).setAttribute("aria-invalid", "false");
      set(name, asItIs[name], null);
    }
    tell();
  };
  at("as-it-is").addEventListener("click", (event) => {
    event.preventDefault();
    reset();
  });
  reset();
})();
