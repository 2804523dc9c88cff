#include "proprio/recording/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "proprio/core/error.h"
#include "proprio/core/text.h"

namespace proprio {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kDegree = kPi / 180.0;

struct Row {
  const char* name;
  const char* si;
  double factor;
  double offset = 0.0;
};

constexpr Row kUnits[] = {
    {"rad", "rad", 1.0},
    {"mrad", "rad", 1e-3},
    {"urad", "rad", 1e-6},
    {"deg", "rad", kDegree},
    {"degree", "rad", kDegree},
    {"degrees", "rad", kDegree},
    {"\xc2\xb0", "rad", kDegree},
    {"arcmin", "rad", kDegree / 60.0},
    {"arcsec", "rad", kDegree / 3600.0},
    {"turn", "rad", 2.0 * kPi},
    {"turns", "rad", 2.0 * kPi},
    {"rev", "rad", 2.0 * kPi},
    {"m", "m", 1.0},
    {"cm", "m", 1e-2},
    {"mm", "m", 1e-3},
    {"um", "m", 1e-6},
    {"in", "m", 0.0254},
    {"rad/s", "rad/s", 1.0},
    {"mrad/s", "rad/s", 1e-3},
    {"deg/s", "rad/s", kDegree},
    {"\xc2\xb0/s", "rad/s", kDegree},
    {"turn/s", "rad/s", 2.0 * kPi},
    {"rev/s", "rad/s", 2.0 * kPi},
    {"rpm", "rad/s", 2.0 * kPi / 60.0},
    {"rev/min", "rad/s", 2.0 * kPi / 60.0},
    {"m/s", "m/s", 1.0},
    {"mm/s", "m/s", 1e-3},
    {"rad/s2", "rad/s^2", 1.0},
    {"deg/s2", "rad/s^2", kDegree},
    {"\xc2\xb0/s2", "rad/s^2", kDegree},
    {"turn/s2", "rad/s^2", 2.0 * kPi},
    {"m/s2", "m/s^2", 1.0},
    {"mm/s2", "m/s^2", 1e-3},
    {"g", "m/s^2", 9.80665},
    {"mg", "m/s^2", 9.80665e-3},
    {"Nm", "N m", 1.0},
    {"mNm", "N m", 1e-3},
    {"uNm", "N m", 1e-6},
    {"kNm", "N m", 1e3},
    {"Ncm", "N m", 1e-2},
    {"Nmm", "N m", 1e-3},
    {"kgfm", "N m", 9.80665},
    {"lbfft", "N m", 1.3558179483314004},
    {"lbfin", "N m", 0.1129848290276167},
    {"N", "N", 1.0},
    {"mN", "N", 1e-3},
    {"kN", "N", 1e3},
    {"kgf", "N", 9.80665},
    {"lbf", "N", 4.4482216152605},
    {"A", "A", 1.0},
    {"mA", "A", 1e-3},
    {"V", "V", 1.0},
    {"mV", "V", 1e-3},
    {"T", "T", 1.0},
    {"mT", "T", 1e-3},
    {"uT", "T", 1e-6},
    {"G", "T", 1e-4},
    {"degC", "degC", 1.0},
    {"\xc2\xb0"
     "C",
     "degC", 1.0},
    {"K", "degC", 1.0, -273.15},
    {"s", "s", 1.0},
    {"sec", "s", 1.0},
    {"ms", "s", 1e-3},
    {"us", "s", 1e-6},
    {"\xc2\xb5s", "s", 1e-6},
    {"ns", "s", 1e-9},
    {"min", "s", 60.0},
};

// Other spellings, which messages do not list.
struct Spelling {
  const char *text, *name;
};
constexpr Spelling kSpellings[] = {
    {"Grad", "deg"},      {"Deg", "deg"},        {"DEG", "deg"},         {"RAD", "rad"},
    {"Rad", "rad"},       {"radian", "rad"},     {"radians", "rad"},     {"rad/sec", "rad/s"},
    {"deg/sec", "deg/s"}, {"degree/s", "deg/s"}, {"degrees/s", "deg/s"}, {"RPM", "rpm"},
    {"1/min", "rpm"},     {"rad/s/s", "rad/s2"}, {"deg/s/s", "deg/s2"},  {"rad/sec2", "rad/s2"},
    {"N-m", "Nm"},        {"Amp", "A"},          {"Amps", "A"},          {"seconds", "s"},
    {"msec", "ms"},       {"usec", "us"},        {"nsec", "ns"},         {"deg/sec2", "deg/s2"}};

// "N m", "N*m", "N.m", "N·m" -> "Nm"; "m/s^2" and "m/s²" -> "m/s2"
std::string keyOf(const std::string& text) {
  std::string key;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\xc2\xb7") == 0) {
      ++i;
    } else if (text.compare(i, 2, "\xc2\xb2") == 0) {
      key += '2';
      ++i;
    } else if (std::string(" *.^").find(text[i]) == std::string::npos) {
      key += text[i];
    }
  }
  return key;
}

const Row* findRow(const std::string& text) {
  std::string key = keyOf(text);
  for (const Spelling& other : kSpellings) {
    if (key == other.text) key = other.name;
  }
  const auto* const found = std::find_if(std::begin(kUnits), std::end(kUnits),
                                         [&](const Row& row) { return key == row.name; });
  return found == std::end(kUnits) ? nullptr : found;
}

}  // namespace

std::optional<Unit> findUnit(const std::string& text) {
  const Row* row = findRow(text);
  if (row == nullptr) return std::nullopt;
  return Unit{row->si, row->factor, row->offset};
}

std::vector<std::string> knownUnits(const std::string& si) {
  std::vector<std::string> names;
  for (const Row& row : kUnits) {
    if (si.empty() || si == row.si) names.emplace_back(row.name);
  }
  return names;
}

Unit requireUnit(const std::string& text, const std::string& si, const std::string& what) {
  const auto unit = findUnit(text);
  if (!unit) {
    throw Error(
        fmt::format("{} has the unknown unit {}, expected one of {}; other signals need "
                    "`scale`, without a unit",
                    what, inQuotes(text), fmt::join(knownUnits(si), ", ")));
  }
  if (!si.empty() && unit->si != si) {
    throw Error(fmt::format("{} has the unit {}, which is not one of {}: expected {}", what,
                            inQuotes(text), inQuotes(si), fmt::join(knownUnits(si), ", ")));
  }
  return *unit;
}

}  // namespace proprio
