#include "apps/simulate_surroundings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "proprio/core/error.h"
#include "proprio/core/text.h"

namespace proprio::apps {
namespace {

/// As many numbers as one of `counts` says.
std::vector<double> numbersIn(const std::string& text, const std::vector<size_t>& counts,
                              const std::string& what, const std::string& expected) {
  std::vector<double> numbers;
  for (const std::string& word : splitAt(text, ',')) {
    const std::optional<double> number = parseNumber(word);
    if (!number || !std::isfinite(*number)) {
      throw Error(fmt::format("{}: {} is not a finite number; expected {}", what, inQuotes(word),
                              expected));
    }
    numbers.push_back(*number);
  }
  if (std::find(counts.begin(), counts.end(), numbers.size()) == counts.end()) {
    throw Error(fmt::format("{} has {} numbers in {}; expected {}", what, numbers.size(),
                            inQuotes(text), expected));
  }
  return numbers;
}

/// A link, or a frame on it.
struct Place {
  int link = -1;
  Pose X_LF;
};

Place placeOf(const Model& model, const std::string& name, const std::string& what) {
  const int frame = model.frameIndex(name);
  if (frame >= 0) {
    const Frame& found = model.frames[static_cast<size_t>(frame)];
    return {found.link, found.X_LF};
  }
  const int link = model.linkIndex(name);
  if (link >= 0) return {link, {}};
  std::vector<std::string> names;
  for (const Link& l : model.links) names.push_back(l.name);
  for (const Frame& f : model.frames) names.push_back(f.name);
  throw Error(fmt::format("{}: there is no link or frame {}{}", what, inQuotes(name),
                          didYouMean(name, names)));
}

/// "PLACE:NUMBERS@START,END" in its parts.
struct Parts {
  std::string place, numbers;
  double start = 0.0;
  std::optional<double> end;
};

Parts partsOf(const std::string& text, const std::string& what) {
  Parts parts;
  const size_t at = text.find('@');
  const std::string front = text.substr(0, at);
  const size_t colon = front.find(':');
  parts.place = front.substr(0, colon);
  if (colon != std::string::npos) parts.numbers = front.substr(colon + 1);
  if (at == std::string::npos) return parts;
  const std::vector<double> times =
      numbersIn(text.substr(at + 1), {1, 2}, what, "START or START,END behind @, in s");
  parts.start = times[0];
  if (times.size() > 1) {
    parts.end = times[1];
    if (!(times[1] > times[0])) {
      throw Error(fmt::format("{} ends at {} s and begins at {} s; give an end after the start",
                              what, times[1], times[0]));
    }
  }
  return parts;
}

}  // namespace

std::vector<PayloadChange> payloadChanges(const Model& model, const std::string& text) {
  const std::string what = "--payload " + inQuotes(text);
  const Parts parts = partsOf(text, what);
  const Place place = placeOf(model, parts.place, what);
  std::vector<double> n = numbersIn(parts.numbers, {1, 4, 10}, what,
                                    "MASS, MASS,X,Y,Z or MASS,X,Y,Z,IXX,IXY,IXZ,IYY,IYZ,IZZ");
  n.resize(10, 0.0);
  if (!(n[0] >= 0.0)) {
    throw Error(fmt::format("{}: the mass is {} kg; give at least 0", what, n[0]));
  }
  Matrix3d inertia;
  inertia << n[4], n[5], n[6], n[5], n[7], n[8], n[6], n[8], n[9];
  const Matrix3d& R = place.X_LF.R;
  PayloadChange change;
  change.time = parts.start;
  change.link = place.link;
  change.payload = InertialParameters::fromCom(n[0], place.X_LF * Vector3d(n[1], n[2], n[3]),
                                               R * inertia * R.transpose());
  std::vector<PayloadChange> changes = {change};
  if (parts.end) changes.push_back({*parts.end, place.link, {}});
  return changes;
}

void sortPayloads(std::vector<PayloadChange>* changes) {
  std::stable_sort(changes->begin(), changes->end(),
                   [](const PayloadChange& a, const PayloadChange& b) {
                     const bool a_takes = a.payload.mass > 0.0, b_takes = b.payload.mass > 0.0;
                     return std::make_pair(a.time, a_takes) < std::make_pair(b.time, b_takes);
                   });
}

AppliedWrench pushOf(const Model& model, const std::string& text) {
  const std::string what = "--push " + inQuotes(text);
  const Parts parts = partsOf(text, what);
  const Place place = placeOf(model, parts.place, what);
  std::vector<double> n =
      numbersIn(parts.numbers, {3, 6}, what, "3 numbers (FX,FY,FZ), or 6 (with MX,MY,MZ behind)");
  n.resize(6, 0.0);
  AppliedWrench push;
  push.link = place.link;
  push.p_L = place.X_LF.p;
  push.force = Vector3d(n[0], n[1], n[2]);
  push.moment = Vector3d(n[3], n[4], n[5]);
  push.start = parts.start;
  if (parts.end) push.end = *parts.end;
  return push;
}

HalfSpace halfSpaceOf(const std::string& text) {
  const std::string what = "--half-space " + inQuotes(text);
  const std::vector<double> n =
      numbersIn(text, {4, 5}, what, "NX,NY,NZ,OFFSET or NX,NY,NZ,OFFSET,FRICTION");
  const Vector3d normal(n[0], n[1], n[2]);
  if (!(normal.norm() > 0.0)) throw Error(what + ": the normal is zero; give one with a direction");
  HalfSpace space;
  space.normal = normal.normalized();
  space.point = n[3] / normal.norm() * space.normal;
  if (n.size() > 4) {
    if (!(n[4] >= 0.0)) {
      throw Error(fmt::format("{}: the friction coefficient is {}; give at least 0", what, n[4]));
    }
    space.friction = n[4];
  }
  return space;
}

}  // namespace proprio::apps
