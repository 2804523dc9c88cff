#include <tuple>

#include "proprio/report/layout_internal.h"

namespace proprio {
namespace {

constexpr double kSwatch = 16.0, kLegendGap = 14.0;  // px

}  // namespace

std::vector<LegendEntry> legendOf(const Panel& panel) {
  std::vector<LegendEntry> entries;
  for (size_t i = 0; i < panel.series.size(); ++i) {
    const Series& series = panel.series[i];
    if (!series.label.empty())
      entries.push_back(
          {cleanText(series.label), toneOf(panel, i), series.mark, isDashed(panel, i)});
  }
  return entries;
}

std::vector<LegendEntry> commonLegend(const std::vector<std::vector<LegendEntry>>& legends) {
  std::vector<LegendEntry> all;
  size_t most = 0;
  const auto told = [](const std::vector<LegendEntry>& legend) { return !legend.empty(); };
  if (std::count_if(legends.begin(), legends.end(), told) < 2) return all;
  const auto look = [](const LegendEntry& e) {
    return std::make_tuple(e.tone, static_cast<int>(e.mark), e.dashed);
  };
  for (const std::vector<LegendEntry>& legend : legends) {
    most = std::max(most, legend.size());
    for (const LegendEntry& entry : legend) {
      bool known = false;
      for (const LegendEntry& other : all) {
        const bool same_label = other.label == entry.label;
        if (same_label != (look(other) == look(entry))) return {};
        known = known || same_label;
      }
      if (!known) all.push_back(entry);
    }
  }
  return all.size() == most ? all : std::vector<LegendEntry>{};
}

Legend legendRows(std::vector<LegendEntry> entries, double width) {
  double sum = 0.0, most = 0.0;
  for (LegendEntry& entry : entries) {
    entry.label = fitted(entry.label, kLabelSize, width - kSwatch - 4.0);
    entry.width = kSwatch + 4.0 + textWidth(entry.label, kLabelSize) + kLegendGap;
    sum += entry.width;
    most = std::max(most, entry.width);
  }
  const bool one_row = sum - kLegendGap <= width;  // otherwise in columns
  Legend rows;
  double used = 0.0;
  for (LegendEntry& entry : entries) {
    if (!one_row) entry.width = most;
    if (rows.empty() || used + entry.width - kLegendGap > width) {
      rows.emplace_back();
      used = 0.0;
    }
    used += entry.width;
    rows.back().push_back(entry);
  }
  return rows;
}

void drawLegend(const Legend& rows, double left, double top, std::vector<Item>& items) {
  for (size_t r = 0; r < rows.size(); ++r) {
    double x = left;
    const double base = top + kLegendRow * static_cast<double>(r) + 11.0, middle = base - 3.7;
    for (const LegendEntry& entry : rows[r]) {
      Item swatch = strokeItem({{x, middle}, {x + kSwatch, middle}}, entry.tone, 2.0);
      swatch.dashed = entry.dashed;
      if (entry.mark == Mark::kPoints) {
        swatch.kind = ItemKind::kDots;
        swatch.points = {{x + 0.5 * kSwatch, middle}};
        swatch.size = 5.0;
        swatch.data = true;
      } else if (entry.mark != Mark::kLine) {
        swatch.kind = ItemKind::kArea;
        swatch.opacity = entry.mark == Mark::kBand ? 0.3 : 1.0;
        swatch.points = {{x + 2.0, middle - 4.0},
                         {x + kSwatch, middle - 4.0},
                         {x + kSwatch, middle + 4.0},
                         {x + 2.0, middle + 4.0}};
      }
      items.push_back(swatch);
      items.push_back(textItem(entry.label, {x + kSwatch + 4.0, base}, kLabelSize, kInk));
      x += entry.width;
    }
  }
}

}  // namespace proprio
