#include "proprio/recording/signal_names.h"

#include <algorithm>

namespace proprio {
namespace {

struct Prefix {
  const char* text;
  Quantity quantity;
};

constexpr Prefix kPrefixes[] = {{"q", Quantity::kPosition},
                                {"v", Quantity::kVelocity},
                                {"a", Quantity::kAcceleration},
                                {"tau", Quantity::kTorque},
                                {"i", Quantity::kCurrent},
                                {"temp", Quantity::kTemperature},
                                {"f", Quantity::kForce},
                                {"m", Quantity::kMoment},
                                {"acc", Quantity::kLinearAcceleration},
                                {"gyro", Quantity::kAngularVelocity},
                                {"mag", Quantity::kMagneticField},
                                {"quat", Quantity::kOrientation},
                                {"contact", Quantity::kContact}};

bool startsWith(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

}  // namespace

std::vector<std::string> componentsOf(Quantity quantity) {
  switch (quantity) {
    case Quantity::kForce:
    case Quantity::kMoment:
    case Quantity::kLinearAcceleration:
    case Quantity::kAngularVelocity:
    case Quantity::kMagneticField:
      return {"x", "y", "z"};
    case Quantity::kOrientation:
      return {"x", "y", "z", "w"};
    default:
      return {};
  }
}

bool belongsToJoint(Quantity quantity) {
  switch (quantity) {
    case Quantity::kPosition:
    case Quantity::kVelocity:
    case Quantity::kAcceleration:
    case Quantity::kTorque:
    case Quantity::kCurrent:
    case Quantity::kTemperature:
      return true;
    default:
      return false;
  }
}

std::string signalName(Quantity quantity, Role role, const std::string& of,
                       const std::string& component) {
  for (const Prefix& prefix : kPrefixes) {
    if (prefix.quantity != quantity) continue;
    const char* infix = role == Role::kCommanded  ? "_des"
                        : role == Role::kTruth    ? "_true"
                        : role == Role::kExternal ? "_ext"
                                                  : "";
    return std::string(prefix.text) + infix + "_" + of + (component.empty() ? "" : "_" + component);
  }
  return "";
}

Channel channelNamed(const std::string& name) {
  Channel channel;
  channel.name = name;
  const size_t stroke = name.find('_');
  if (stroke == std::string::npos) return channel;
  const auto* const prefix =
      std::find_if(std::begin(kPrefixes), std::end(kPrefixes),
                   [&](const Prefix& p) { return name.compare(0, stroke, p.text) == 0; });
  if (prefix == std::end(kPrefixes)) return channel;

  std::string rest = name.substr(stroke + 1), component;
  Role role = Role::kMeasured;
  if (startsWith(rest, "des_")) role = Role::kCommanded;
  if (startsWith(rest, "true_")) role = Role::kTruth;
  if (startsWith(rest, "ext_")) role = Role::kExternal;
  if (role != Role::kMeasured) rest.erase(0, rest.find('_') + 1);
  const std::vector<std::string> components = componentsOf(prefix->quantity);
  if (!components.empty()) {
    const size_t last = rest.rfind('_');
    if (last == std::string::npos) return channel;
    component = rest.substr(last + 1);
    rest.resize(last);
    if (std::find(components.begin(), components.end(), component) == components.end())
      return channel;
  }
  if (rest.empty()) return channel;
  channel.quantity = prefix->quantity;
  channel.role = role;
  channel.of = rest;
  channel.component = component;
  return channel;
}

}  // namespace proprio
