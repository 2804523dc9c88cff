#include <fmt/format.h>

#include "proprio/report/drawing_internal.h"

namespace proprio {
namespace {

constexpr double kHtmlColumnsPerPx = 4.0;  // the reader may enlarge

// The picture is the data: the script reads the paths of the SVG back and asks the plots which
// numbers their edges stand for.
constexpr const char* kScript = R"js("use strict";
const make = (name, attributes, text) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) e.setAttribute(key, attributes[key]);
  if (text !== undefined) e.textContent = text;
  return e;
};
const minus = text => text.replace("-", "\u2212");
const shown = (value, span) => {
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && span < 1e-4)) return minus(value.toExponential(3));
  return minus(value.toFixed(Math.min(8, Math.max(0, 3 - Math.floor(Math.log10(span))))));
};
const linearTicks = (low, high, most) => {
  const decade = 10 ** Math.floor(Math.log10((high - low) / most) - 1);
  let before = [];
  for (const factor of [1, 2, 5, 10, 20, 50, 100, 200]) {
    const step = factor * decade, a = Math.ceil(low / step - 1e-9), b = Math.floor(high / step + 1e-9);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), ticks = [];
    if (b - a > 100) continue;
    for (let k = a; k <= b; ++k)
      ticks.push([k * step, minus(digits > 6 || Math.abs(high) >= 1e6 ? (k * step).toExponential(2) : (k * step).toFixed(digits))]);
    if (ticks.length <= most) return ticks.length > 1 ? ticks : before;
    before = ticks;
  }
  return before;
};
const logTicks = (low, high, most) => {
  const ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); ++e)
    for (const factor of high / low > 30 ? [1] : [1, 2, 5])
      if (factor * 10 ** e >= low && factor * 10 ** e <= high) ticks.push([factor * 10 ** e, "" + +(factor * 10 ** e).toPrecision(3)]);
  const every = Math.ceil(ticks.length / most);
  return ticks.length > 1 ? ticks.filter((_, i) => i % every === 0) : linearTicks(low, high, most);
};

class Plot {
  constructor(panel) {
    const element = panel.querySelector("svg.plot");
    const number = name => +element.getAttribute(name);
    Object.assign(this, {panel, element, x: number("x"), y: number("y"), w: number("width"), h: number("height")});
    [this.x0, this.x1] = element.dataset.x.split(" ").map(Number);
    [this.y0, this.y1] = element.dataset.y.split(" ").map(Number);
    this.xlog = element.dataset.log.includes("x");
    this.ylog = element.dataset.log.includes("y");
    this.zoomable = "zoom" in element.dataset;
    this.quiet = "quiet" in element.dataset;
    this.view = {u: 0, v: 0, w: this.w, h: this.h};
    this.groups = {x: panel.querySelector(".ticks-x"), y: panel.querySelector(".ticks-y"), notes: panel.querySelector(".ticks-notes")};
    this.before = {x: this.groups.x?.innerHTML, y: this.groups.y?.innerHTML};
    this.cross = make("path", {class: "s2", "stroke-width": 0.7, "pointer-events": "none"});
    this.text = make("text", {class: "s0", "font-size": 10, "text-anchor": "end", "stroke-width": 3, "paint-order": "stroke", "pointer-events": "none", x: this.x + this.w - 3, y: this.y + 11});
    this.box = make("path", {class: "f5", opacity: 0.2, "pointer-events": "none"});
    panel.append(this.cross, this.text, this.box);
  }
  xAt(u) { const t = u / this.w; return this.xlog ? this.x0 * (this.x1 / this.x0) ** t : this.x0 + (this.x1 - this.x0) * t; }
  yAt(v) { const t = 1 - v / this.h; return this.ylog ? this.y0 * (this.y1 / this.y0) ** t : this.y0 + (this.y1 - this.y0) * t; }
  uOf(x) { return this.w * (this.xlog ? Math.log(x / this.x0) / Math.log(this.x1 / this.x0) : (x - this.x0) / (this.x1 - this.x0)); }
  vOf(y) { return this.h * (1 - (this.ylog ? Math.log(y / this.y0) / Math.log(this.y1 / this.y0) : (y - this.y0) / (this.y1 - this.y0))); }
  // points of the series, read once from their paths
  get series() {
    return this.read ??= [...this.element.querySelectorAll("path.d")].map(path => {
      const points = [];
      let x = 0, y = 0;
      for (const [, kind, a, b] of path.getAttribute("d").matchAll(/([Ml])(-?[\d.]+) ?(-?[\d.]+)/g)) {
        if (kind === "M") { x = +a; y = +b; points.push([x, y, 1]); } else { x += +a; y += +b; points.push([x, y, 0]); }
      }
      return {points, tone: path.classList[0].slice(1), pointed: path.matches(".line,.dot"),
              name: path.querySelector("title")?.textContent ?? ""};
    });
  }
  zoom(u, w) {
    if (!this.zoomable) return;
    let low = Infinity, high = -Infinity;
    for (const {points} of this.series)
      for (const [x, y] of points) if (x >= u && x <= u + w) { low = Math.min(low, y); high = Math.max(high, y); }
    if (!(high - low > 0.1)) { low = 0; high = this.h; }
    const pad = 0.06 * (high - low);
    this.view = {u, v: low - pad, w, h: high - low + 2 * pad};
    this.show();
  }
  reset() {
    this.view = {u: 0, v: 0, w: this.w, h: this.h};
    this.element.setAttribute("viewBox", `0 0 ${this.w} ${this.h}`);
    for (const axis of ["x", "y"]) if (this.groups[axis]) this.groups[axis].innerHTML = this.before[axis];
    if (this.groups.notes) this.groups.notes.style.display = "";
  }
  show() {
    const {u, v, w, h} = this.view;
    this.element.setAttribute("viewBox", `${u} ${v} ${w} ${h}`);
    if (this.groups.notes) this.groups.notes.style.display = "none";
    const stroke = (group, d) => group.append(make("path", {class: "s3", d}));
    const {x: gx, y: gy} = this.groups;
    gx.replaceChildren();
    gy.replaceChildren();
    for (const [value, label] of (this.xlog ? logTicks : linearTicks)(this.xAt(u), this.xAt(u + w), Math.max(2, Math.floor(this.w / 60)))) {
      const at = this.x + (this.uOf(value) - u) / w * this.w;
      stroke(gx, `M${at} ${this.y}v${this.h}`);
      if (!this.quiet) gx.append(make("text", {class: "f2", "font-size": 10, "text-anchor": "middle", x: at, y: this.y + this.h + 14}, label));
    }
    for (const [value, label] of (this.ylog ? logTicks : linearTicks)(this.yAt(v + h), this.yAt(v), Math.min(8, Math.max(2, Math.floor(this.h / 26))))) {
      const at = this.y + (this.vOf(value) - v) / h * this.h;
      stroke(gy, `M${this.x} ${at}h${this.w}`);
      gy.append(make("text", {class: "f2", "font-size": 10, "text-anchor": "end", x: this.x - 5, y: at + 3.5}, label));
    }
  }
  // values at a share of the width
  point(share, first) {
    this.text.replaceChildren();
    this.cross.setAttribute("d", share === null || !this.zoomable ? "M0 0" : `M${this.x + share * this.w} ${this.y}v${this.h}`);
    if (share === null || !this.zoomable) return;
    const u = this.view.u + share * this.view.w, span = Math.abs(this.xAt(this.view.u + this.view.w) - this.xAt(this.view.u));
    if (first) this.text.append(make("tspan", {class: "f2"}, shown(this.xAt(u), span)));
    for (const {points, tone, pointed} of this.series) {
      if (!pointed || points.length === 0) continue;
      let best = 0;
      for (let i = 1; i < points.length; ++i) if (Math.abs(points[i][0] - u) < Math.abs(points[best][0] - u)) best = i;
      let [x, y] = points[best];
      const other = points[x < u ? best + 1 : best - 1], broken = x < u ? other?.[2] : points[best][2];
      if (other && !broken && other[0] !== x) y += (other[1] - y) * (u - x) / (other[0] - x);
      this.text.append(make("tspan", {class: "f" + tone, dx: this.text.childNodes.length ? 7 : 0}, shown(this.yAt(y), Math.abs(this.yAt(this.view.v) - this.yAt(this.view.v + this.view.h)))));
    }
  }
  select(a, b) {
    this.box.setAttribute("d", a === null || !this.zoomable ? "M0 0" : `M${this.x + a * this.w} ${this.y}H${this.x + b * this.w}v${this.h}H${this.x + a * this.w}z`);
  }
}

for (const chart of document.querySelectorAll("svg.chart")) {
  const plots = [...chart.querySelectorAll("g.panel")].map(panel => new Plot(panel));
  const shared = "shared" in chart.dataset;
  let start = null;
  // the plot under the pointer (or the one where a drag began) and the share of its width
  const locate = event => {
    const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse());
    const plot = start?.plot ?? plots.find(q => p.x >= q.x && p.x <= q.x + q.w && p.y >= q.y && p.y <= q.y + q.h);
    return plot && {plot, share: Math.min(1, Math.max(0, (p.x - plot.x) / plot.w))};
  };
  const partners = plot => shared ? plots : [plot];
  const clear = () => plots.forEach(plot => { plot.point(null); plot.select(null); });
  chart.addEventListener("pointermove", event => {
    clear();
    const at = locate(event);
    if (!at) return;
    for (const plot of partners(at.plot)) {
      plot.point(at.share, plot === at.plot);
      if (start) plot.select(Math.min(start.share, at.share), Math.max(start.share, at.share));
    }
  });
  chart.addEventListener("pointerleave", () => { start = null; clear(); });
  chart.addEventListener("pointerdown", event => { start = event.button === 0 ? locate(event) ?? null : null; if (start) event.preventDefault(); });
  chart.addEventListener("pointerup", event => {
    const at = start && locate(event), from = start?.share;
    start = null;
    if (!at) return;
    const a = Math.min(from, at.share), b = Math.max(from, at.share);
    if ((b - a) * at.plot.w < 4) return;
    for (const plot of partners(at.plot)) plot.zoom(plot.view.u + a * plot.view.w, (b - a) * plot.view.w);
    clear();
  });
  chart.addEventListener("dblclick", () => { plots.forEach(plot => plot.reset()); clear(); });
}
for (const hint of document.querySelectorAll(".hint")) hint.textContent = "Drag to enlarge a part, double-click to see all.";
)js";

constexpr const char* kPageStyle =
    "body{margin:1.5rem auto;padding:0 1rem;max-width:1200px;font:14px sans-serif;"
    "color:#1c2024;background:#fff}\n"
    "h1{font-size:1.3rem}\n.hint{color:#60666d;min-height:1.2em}\n"
    ".chart{display:block;max-width:100%;height:auto;margin:0 auto 1.5rem;touch-action:pan-y;"
    "user-select:none}\n.plot{cursor:crosshair}\n"
    "@media (prefers-color-scheme:dark){body{color:#e6e8ea;background:#1b1d1f}"
    ".hint{color:#a2a8ae}}\n";

}  // namespace

const char* chartScript() { return kScript; }

std::string html(const std::vector<Figure>& figures, const std::string& title) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>\n{1}{2}</style>\n</head>\n<body>\n",
      xmlEscaped(title), kPageStyle, svgStyle());
  const bool told = figures.size() == 1 && figures[0].title == title;  // by the figure itself
  if (!title.empty() && !told) page += "<h1>" + xmlEscaped(title) + "</h1>\n";
  page += "<p class=\"hint\"></p>\n";
  for (const Figure& figure : figures) page += svgElement(figure, kHtmlColumnsPerPx, false);
  return page + "<script>\n" + kScript + "</script>\n</body>\n</html>\n";
}

}  // namespace proprio
