#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "proprio/core/text_table.h"
#include "proprio/report/drawing_internal.h"
#include "proprio/report/report_page_internal.h"

namespace proprio {

const char* pageStyle() {
  return R"css(:root{color-scheme:light dark;--paper:#fff;--ink:#1c2024;--muted:#60666d;--line:#dfe3e8;--card:#f7f8fa;
--good:#0a7f3f;--good-soft:#e4f5eb;--bad:#c2321f;--bad-soft:#fdecea;--warn:#8a5a00;--warn-soft:#fff4d6;
--before:#d98200;--after:#0072b2;--bar:#cfe3f1;--bar-before:#f7e3bd}
@media (prefers-color-scheme:dark){:root{--paper:#1b1d1f;--ink:#e6e8ea;--muted:#a2a8ae;--line:#3a3f45;--card:#232629;
--good:#5fd08f;--good-soft:#173324;--bad:#ff8674;--bad-soft:#3d1d19;--warn:#f0c060;--warn-soft:#3a2f12;
--before:#f0a732;--after:#56b4e9;--bar:#1f4258;--bar-before:#4d3a14}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem 1rem 4rem;max-width:1160px;font:15px/1.5 system-ui,"Segoe UI",Roboto,sans-serif;
color:var(--ink);background:var(--paper)}
h1{font-size:1.7rem;line-height:1.2;margin:0}h2{font-size:1.25rem;margin:2.4rem 0 .4rem;padding-top:.6rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.2rem 0 .3rem}
p{margin:.4rem 0;max-width:76ch}.muted,.hint{color:var(--muted)}.hint{min-height:1.5em;margin:.2rem 0}
a{color:var(--after)}nav{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;margin:1rem 0;font-size:.93rem}nav a{text-decoration:none}
.verdict{margin:1.1rem 0;padding:1rem 1.2rem;border-radius:8px;border-left:6px solid}
.verdict p{max-width:90ch;font-size:1.05rem}.verdict ul{margin:.5rem 0 0;padding-left:1.2rem}
.verdict.good{background:var(--good-soft);border-color:var(--good)}.verdict.bad{background:var(--bad-soft);border-color:var(--bad)}
.verdict.partly{background:var(--warn-soft);border-color:var(--warn)}.partly>strong{color:var(--warn)}.verdict .remarks{font-size:.92rem}.bad>ul{font-weight:600}
.verdict strong{font-size:1.15rem;letter-spacing:.02em}.good>strong{color:var(--good)}.bad>strong{color:var(--bad)}
.numbers{display:grid;grid-template-columns:repeat(4,1fr);gap:.7rem;margin:1rem 0}
.numbers div{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.65rem .85rem}
.numbers b{display:block;font-size:1.45rem;line-height:1.25;font-variant-numeric:tabular-nums}
.numbers span{color:var(--muted);font-size:.86rem}
.scroll{overflow-x:auto;margin:.6rem 0}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.22rem .65rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{font-weight:600;white-space:normal;color:var(--muted);border-bottom:2px solid var(--line);vertical-align:bottom}
td.l,th.l{text-align:left}td.wrap{white-space:normal}tr.total td{font-weight:600}tr[data-link]:hover{background:var(--card)}
td .bar{display:block;min-width:4.2rem;padding:0 .25rem;border-radius:3px}
.badge{display:inline-block;padding:0 .5em;border-radius:1em;font-size:.84em}
.badge.good{color:var(--good);background:var(--good-soft)}.badge.bad{color:var(--bad);background:var(--bad-soft)}
.badge.warn{color:var(--warn);background:var(--warn-soft)}.badge.plain{color:var(--muted);background:var(--card)}
.before{color:var(--before)}.after{color:var(--after)}.data{font-weight:600}.combination{color:inherit}.prior{color:var(--muted);font-style:italic}
.pair{display:flex;flex-wrap:wrap;gap:1rem 2rem;align-items:flex-start}.pair>div{flex:1 1 440px;min-width:0}.groups{columns:2 520px;column-gap:2rem}
.groups>div{break-inside:avoid;margin-bottom:.9rem}.groups td.l{max-width:7.5rem;overflow:hidden;text-overflow:ellipsis}.groups .scroll{margin:0}
.groups table{width:100%;font-size:.83rem}.groups th,.groups td{padding:.2rem .3rem}
.groups td:last-child{min-width:4rem}
.spark{display:block;width:100%;height:16px}
.spark line{stroke:var(--line)}.spark .ci{stroke:var(--after);stroke-width:2;opacity:.6}.spark .old{fill:none;stroke:var(--before);stroke-width:1.6}.spark .new{fill:var(--after)}
.charts{overflow-x:auto}.chart{display:block;max-width:100%;min-width:680px;height:auto;margin:.3rem 0 1rem;touch-action:pan-y;user-select:none}
.plot{cursor:crosshair}summary{cursor:pointer;font-weight:600;margin:.6rem 0}code{font-size:.86em;word-break:break-all}
ul.findings{list-style:none;padding:0;margin:.3rem 0}ul.findings li{margin:.15rem 0}
@media print{body{max-width:none;padding:0;font-size:11px}nav,.hint,.switches{display:none}h2{break-after:avoid}.chart,.numbers,.verdict,.scene{break-inside:avoid}
.chart{min-width:0}.scroll,.charts{overflow:visible}details{display:block}}
@media (max-width:800px){.numbers{grid-template-columns:repeat(2,1fr)}}
@media (max-width:560px){body{padding:1rem .7rem 3rem;font-size:14px}.numbers b{font-size:1.2rem}h1{font-size:1.35rem}th,td{padding:.2rem .45rem}}
)css";
}

std::string htmlNumber(double value, int digits) {
  if (!std::isfinite(value)) return "–";
  const double size = std::abs(value);
  std::string text = size < 1e6 && size >= std::pow(10.0, digits) ? fmt::format("{:.0f}", value)
                                                                  : readable(value, digits);
  for (size_t at = 0; (at = text.find('-', at)) != std::string::npos;) text.replace(at, 1, "−");
  return text;
}

std::string HtmlTable::html() const {
  const auto cell = [this](const char* tag, size_t column, const std::string& content) {
    const bool left = column < align.size() && align[column] == 'l';
    return fmt::format("<{0}{1}>{2}</{0}>", tag, left ? " class=\"l\"" : "", content);
  };
  std::string out =
      fmt::format("<div class=\"scroll\"><table{}>\n<thead><tr>",
                  style.empty() ? std::string() : fmt::format(" class=\"{}\"", style));
  for (size_t c = 0; c < header.size(); ++c) out += cell("th", c, header[c]);
  out += "</tr></thead>\n<tbody>\n";
  for (size_t r = 0; r < rows.size(); ++r) {
    out += "<tr" + (r < row_attributes.size() ? row_attributes[r] : std::string()) + ">";
    for (size_t c = 0; c < rows[r].size(); ++c) out += cell("td", c, rows[r][c]);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string barCell(const std::string& text, double share, const char* colour) {
  if (!std::isfinite(share)) return text;
  const int percent = static_cast<int>(std::lround(100.0 * std::clamp(share, 0.0, 1.0)));
  return fmt::format(
      "<span class=\"bar\" style=\"background:linear-gradient(to left,var(--{}) {}%,transparent "
      "0)\">{}</span>",
      colour, percent, text);
}

std::string badge(const std::string& text, const char* colour) {
  return fmt::format("<span class=\"badge {}\">{}</span>", colour, xmlEscaped(text));
}

std::string section(const char* id, const std::string& title, const std::string& content) {
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, xmlEscaped(title),
                     content);
}

std::string remark(const std::string& text) {
  return "<p class=\"muted\">" + xmlEscaped(text) + "</p>\n";
}

std::string bulletList(const std::vector<std::string>& sentences) {
  if (sentences.empty()) return {};
  std::string out = "<ul>\n";
  for (const std::string& sentence : sentences) out += "<li>" + xmlEscaped(sentence) + "</li>\n";
  return out + "</ul>\n";
}

}  // namespace proprio
