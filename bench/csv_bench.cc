// proprio_csv_bench: how fast numeric text is read, in MB/s of one core, beside a plain strtod loop
// over the same bytes in memory. Both see each file once per round, in turn; the best round counts.

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <vector>

#include "proprio/core/atomic_file.h"
#include "proprio/recording/csv_stream.h"
#include "timing.h"

namespace {

using proprio::bench::Candidate;

// 7 joints, three signals and time, numbers as `format` prints them
std::string table(const char* format, size_t bytes) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::string text = "time";
  for (int c = 1; c <= 21; ++c) text += fmt::format(",signal_{}", c);
  text += '\n';
  char cell[64];
  for (int row = 0; text.size() < bytes; ++row) {
    text += fmt::format("{}", row * 0.001);
    for (int c = 0; c < 21; ++c) {
      std::snprintf(cell, sizeof cell, format, normal(random));
      text += ',';
      text += cell;
    }
    text += '\n';
  }
  return text;
}

double withStrtod(const std::string& text) {
  double sum = 0.0;
  const char* p = text.c_str() + text.find('\n') + 1;
  while (*p != '\0') {
    char* end = nullptr;
    sum += std::strtod(p, &end);
    p = end + 1;  // the separator
  }
  return sum;
}

double withProprio(const std::string& path) {
  double sum = 0.0;
  proprio::streamCsv(path, {},
                     [&sum](const auto&, const proprio::CsvRows& rows) { sum += rows.sum(); });
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "/tmp";
  constexpr size_t kBytes = size_t{4} << 20;
  fmt::print(
      "| numbers | strtod loop, MB/s | proprio, from a file, MB/s | ratio |\n|---|---|---|---|\n");
  for (const auto& [name, format] : {std::pair{"6 digits", "%.6g"},
                                     {"9 decimals", "%.9f"},
                                     {"17 digits", "%.17g"},
                                     {"exponents", "%.8e"}}) {
    const std::string text = table(format, kBytes), path = folder + "/proprio_csv_bench.csv";
    proprio::writeFileAtomically(path, text);
    const auto megabytes = static_cast<double>(text.size()) * 1e-6;
    double a = 0.0, b = 0.0;
    Candidate plain{"strtod", [&] { a = withStrtod(text); }, megabytes};
    Candidate ours{"proprio", [&] { b = withProprio(path); }, megabytes};
    proprio::bench::timeInterleaved({&plain, &ours}, 31);
    if (std::abs(a - b) > 1e-9 * std::abs(a)) fmt::print("the sums differ: {} {}\n", a, b);
    fmt::print("| {} | {:.0f} | {:.0f} | {:.1f} |\n", name, 1e9 / plain.nanoseconds,
               1e9 / ours.nanoseconds, plain.nanoseconds / ours.nanoseconds);
    std::remove(path.c_str());
  }
  return 0;
}
