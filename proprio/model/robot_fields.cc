#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "proprio/model/robot_fields_internal.h"

namespace proprio {
namespace {

using Type = FieldType;

// ---- short forms, so that the tables below read as tables ----

Field required(Field field) {
  field.required = true;
  return field;
}
Field above(double min, Field field) {
  field.min = min;
  field.above_min = true;
  return field;
}
Field atLeast(double min, Field field) {
  field.min = min;
  return field;
}
Field within(double min, double max, Field field) {
  field.min = min;
  field.max = max;
  return field;
}
Field list(const char* name, size_t count, const char* help) {
  return {name, Type::kNumbers, help, false, nullptr, {}, count};
}
Field choice(const char* name, std::vector<const char*> choices, const char* help) {
  return {name, Type::kChoice, help, false, nullptr, std::move(choices)};
}
Field object(const char* name, Type type, const char* table, const char* help) {
  return {name, type, help, false, table};
}
const Field kXyz = list("xyz", 3, "position, m");
const Field kRpy = {
    "rpy", Type::kAngles, "roll, pitch, yaw as in URDF: Rz(yaw) Ry(pitch) Rx(roll), rad",
    false, nullptr,       {},
    3};

const std::vector<FieldRule> kInertiaRules = {
    {FieldRule::Kind::kAtMostOne, {"first_moment", "com"}},
    {FieldRule::Kind::kAtMostOne, {"inertia", "inertia_at_com"}}};

std::vector<Field> withInertia(std::vector<Field> fields) {
  fields.push_back(required({"mass", Type::kNumber, "kg"}));
  fields.push_back(list("com", 3, "centre of mass in the frame of this body, m"));
  fields.push_back(list("first_moment", 3, "mass times centre of mass, kg m"));
  fields.push_back(
      list("inertia", 6, "Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the frame's origin, kg m^2"));
  fields.push_back(
      list("inertia_at_com", 6, "the same about the centre of mass, in the frame's axes, kg m^2"));
  return fields;
}

FieldTable robotTable() {
  Field version = required({"version", Type::kInteger, "of this format; 1"});
  version.min = version.max = 1;
  return {
      "robot",
      "A robot for proprio: kinematics from a URDF file or a DH table, and what URDF cannot say.",
      {version,
       {"name", Type::kString, "name of the robot; default: the URDF's"},
       {"urdf", Type::kString,
        "path of a URDF file, relative to this one; may contain $PROPRIO_DATA"},
       {"packages", Type::kStringMap, "folders of the package:// paths, relative to this file"},
       object("dh", Type::kObject, "dh",
              "kinematics and inertias as a DH table, instead of `urdf`"),
       object("base", Type::kObject, "base", "the base link and how it is mounted"),
       list("gravity", 3, "acceleration in the world frame, m/s^2; default 0, 0, -9.81"),
       {"lump_fixed", Type::kBoolean, "merge links across fixed joints; default true"},
       {"keep", Type::kStrings, "fixed joints that stay although lump_fixed is true"},
       object("joints", Type::kObjectMap, "joint",
              "by joint name: adds to or replaces what the URDF says"),
       {"exclude", Type::kStrings, "joints frozen at 0, or at their `locked` position"},
       object("couplings", Type::kObjects, "coupling",
              "parameters with a declared regressor column"),
       object("transmission", Type::kObject, "transmission", "map from joints to motors"),
       object("control", Type::kObject, "control", "how the joints follow their references"),
       object("frames", Type::kObjects, "frame", "named frames fixed to links"),
       object("payloads", Type::kObjects, "payload", "bodies rigidly attached to links"),
       object("sensors", Type::kObjects, "sensor", "where they are and what they measure"),
       object("recording", Type::kObject, "recording",
              "how its logs are laid out: which channel is which signal"),
       {"info", Type::kInfo,
        "data sheet values to show and compare (manufacturer, payload_kg, reach_m, "
        "mass_kg, ...); never computed with"}},
      {{FieldRule::Kind::kExactlyOne, {"urdf", "dh"}}}};
}

std::vector<FieldTable> kinematicTables() {
  const std::vector<const char*> types = {"revolute", "continuous", "prismatic", "fixed"};
  return {
      {"dh",
       "A serial chain. Link 0 is called base_link.",
       {required(choice("convention", {"modified", "classic"},
                        "modified (proximal, Khalil or Craig): Rx(alpha) Tx(a) Rz(theta+q) Tz(d); "
                        "classic (distal): "
                        "Rz(theta+q) Tz(d) Tx(a) Rx(alpha); prismatic joints add q to d")),
        object("base_offset", Type::kObject, "placement", "frame 0 in the base link"),
        required(object("joints", Type::kObjects, "dh_joint", "from the base to the tip")),
        object("links", Type::kObjectMap, "body", "inertias by link name")}},
      {"dh_joint",
       "One row of the DH table, with the link that the joint moves.",
       {required({"name", Type::kString, "of the joint"}),
        choice("type", types, "default revolute"),
        {"alpha", Type::kAngle, "rad; default 0"},
        {"a", Type::kNumber, "m; default 0"},
        {"d", Type::kNumber, "m; default 0"},
        {"theta", Type::kAngle, "rad; default 0"},
        {"link", Type::kString, "name of the link; default link_1, link_2, ..."},
        {"lower", Type::kAngle, "position limit, rad or m"},
        {"upper", Type::kAngle, "position limit, rad or m"},
        above(0, {"velocity", Type::kNumber, "limit, rad/s or m/s"}),
        atLeast(0, {"effort", Type::kNumber, "limit, N m or N; 0: no motor"}),
        above(0, {"acceleration", Type::kNumber, "limit, rad/s^2 or m/s^2"})}},
      {"body", "Inertia of a link, in the link frame.", withInertia({}), kInertiaRules},
      {"placement", "A pose; what is left out is zero.", {kXyz, kRpy}},
      {"base",
       "The base link and its mounting.",
       {{"link", Type::kString, "default: the root of the URDF, or base_link"},
        {"floating", Type::kBoolean, "free in space; default false"},
        kXyz,
        kRpy}},
  };
}

std::vector<FieldTable> jointTables() {
  return {
      {"joint",
       "What is known about a joint beyond its kinematics.",
       {object("drive", Type::kObject, "drive", "motor and gear"),
        object("friction", Type::kObject, "friction",
               "terms in this order become parameters; replaces the URDF's <dynamics>"),
        object("spring", Type::kObject, "spring", "elastic element parallel to the joint"),
        object("limits", Type::kObject, "limits", "those given here replace the URDF's"),
        object("mimic", Type::kObject, "mimic", "this joint follows another one"),
        object("control", Type::kObject, "joint_control", "gains of its servo"),
        {"locked", Type::kAngle, "the joint is frozen at this position, rad or m"}}},
      {"drive",
       "Motor and gear. A rotor inertia, also one of 0, makes it a parameter.",
       {{"rotor_inertia", Type::kNumber, "reflected to the joint, kg m^2 (kg if prismatic)"},
        {"motor_inertia", Type::kNumber,
         "at the motor: rotor_inertia = gear_ratio^2 motor_inertia, kg m^2"},
        {"gear_ratio", Type::kNumber, "motor turns per joint turn, with sign; default 1"},
        {"gain", Type::kNumber,
         "N m at the joint per unit of the recorded drive signal; default 1"},
        above(0, {"torque_limit", Type::kNumber, "at the joint, N m"}),
        above(0, {"stiffness", Type::kNumber,
                  "between rotor and link, N m/rad; makes the joint flexible in simulation"}),
        atLeast(0, {"damping", Type::kNumber, "beside that stiffness, N m s/rad; default 0"})},
       {{FieldRule::Kind::kAtMostOne, {"rotor_inertia", "motor_inertia"}}}},
      {"joint_control",
       "Gains. pid: drive units per rad, per rad s, per rad/s; cascade: kp in 1/s gives the "
       "velocity reference, kd (drive units per rad/s) and ki (per rad) act on the velocity "
       "error; computed_torque: 1/s^2, 1/s^3, 1/s. The drive's gain turns drive units into "
       "N m.",
       {required(atLeast(0, {"kp", Type::kNumber, "position"})),
        required(atLeast(0, {"kd", Type::kNumber, "velocity"})),
        atLeast(0, {"ki", Type::kNumber, "integral; default 0"}),
        above(0, {"integral_limit", Type::kNumber,
                  "largest contribution of the integral (anti-windup); default: none"})}},
      {"friction",
       "Terms coefficient * basis(v) with v the joint velocity and s(v) its sign, and friction "
       "with a state.",
       {{"viscous", Type::kNumber, "coefficient of v, N m s/rad"},
        {"coulomb", Type::kNumber, "coefficient of s(v), N m"},
        {"offset", Type::kNumber, "constant torque, N m"},
        {"viscous_positive", Type::kNumber, "coefficient of v where v > 0"},
        {"viscous_negative", Type::kNumber, "coefficient of v where v < 0"},
        {"coulomb_positive", Type::kNumber, "coefficient of s(v) where v > 0"},
        {"coulomb_negative", Type::kNumber, "coefficient of s(v) where v < 0"},
        object("power", Type::kObjectOrList, "power_term", "abs(v)^exponent s(v)"),
        object("arctan", Type::kObjectOrList, "arctan_term", "atan(scale v)"),
        object("stribeck", Type::kObjectOrList, "stribeck_term",
               "exp(-abs(v / velocity)^exponent) s(v)"),
        object("smooth", Type::kObject, "smooth_sign", "how s(v) is realised"),
        object("dynamic", Type::kObject, "dynamic_friction",
               "friction with a state, for simulation")}},
      {"power_term",
       "coefficient abs(v)^exponent s(v).",
       {required({"coefficient", Type::kNumber, "N m (s/rad)^exponent"}),
        required(atLeast(0, {"exponent", Type::kNumber, "of abs(v)"}))}},
      {"arctan_term",
       "coefficient atan(scale v).",
       {required({"coefficient", Type::kNumber, "N m"}),
        required(above(0, {"scale", Type::kNumber, "s/rad"}))}},
      {"stribeck_term",
       "coefficient exp(-abs(v / velocity)^exponent) s(v).",
       {required({"coefficient", Type::kNumber, "N m"}),
        required(above(0, {"velocity", Type::kNumber, "Stribeck velocity, rad/s"})),
        above(0, {"exponent", Type::kNumber, "default 2"})}},
      {"smooth_sign",
       "s(v): sign(v), tanh(gain v) or 2/pi atan(gain v).",
       {required(choice("kind", {"sign", "tanh", "arctan"}, "the function")),
        above(0, {"gain", Type::kNumber, "s/rad; default 100"})}},
      {"dynamic_friction",
       "Friction with a state (bristles). The first names the model.",
       {required(choice("model", {"lugre", "dahl", "leuven"}, "the law")),
        required(above(0, {"sigma0", Type::kNumber, "bristle stiffness, N m/rad"})),
        atLeast(0, {"sigma1", Type::kNumber, "bristle damping, N m s/rad; default 0"}),
        atLeast(0, {"sigma2", Type::kNumber, "viscous friction, N m s/rad; default 0"}),
        required(above(0, {"coulomb", Type::kNumber, "N m"})),
        above(0, {"stiction", Type::kNumber, "break-away torque, N m; default: coulomb"}),
        above(0, {"stribeck_velocity", Type::kNumber, "rad/s; default 1"}),
        above(0, {"exponent", Type::kNumber, "default 2"}),
        within(1, 100, {"elements", Type::kInteger, "of the Leuven model; default 6"})},
       {},
       {{"model",
         {"lugre", "dahl"},
         {},
         {"sigma1", "sigma2", "stiction", "stribeck_velocity", "exponent"}}}},
      {"spring",
       "tau = stiffness (q - rest).",
       {required({"stiffness", Type::kNumber, "N m/rad"}),
        {"rest", Type::kAngle, "rad; default 0"}}},
      {"limits",
       "Limits of the joint.",
       {{"lower", Type::kAngle, "position, rad or m"},
        {"upper", Type::kAngle, "position, rad or m"},
        above(0, {"velocity", Type::kNumber, "rad/s or m/s"}),
        atLeast(0, {"effort", Type::kNumber, "N m or N; 0: no motor, the torque is zero"}),
        above(0, {"acceleration", Type::kNumber, "rad/s^2 or m/s^2"})}},
      {"mimic",
       "q = ratio q_joint + offset.",
       {required({"joint", Type::kString, "the joint to follow"}),
        {"ratio", Type::kNumber, "default 1"},
        {"offset", Type::kAngle, "default 0"}}},
  };
}

std::vector<FieldTable> attachedTables() {
  Field cells{"cells", Type::kRows,
              "skin: position and outward normal of each cell in the link frame"};
  cells.count = 6;
  return {
      {"coupling",
       "A parameter whose regressor column is declared entry by entry.",
       {required({"name", Type::kString, "of the parameter"}),
        {"unit", Type::kString, "for display"},
        {"value", Type::kNumber, "default 0"},
        required(
            object("terms", Type::kObjects, "coupling_term", "non-zero entries of the column"))}},
      {"coupling_term",
       "In the torque row of `joint` stands signal(of).",
       {required({"joint", Type::kString, "torque row"}),
        required(choice("signal", {"acceleration", "velocity", "sign_velocity", "position", "one"},
                        "sign_velocity is sign of the weighted sum; one needs no `of`")),
        {"of", Type::kWeights, "a joint, or the weights of a sum over joints"}},
       {},
       {{"signal", {"acceleration", "velocity", "sign_velocity", "position"}, {"of"}, {}}}},
      {"transmission",
       "q_motor = matrix q_joint, tau_joint = matrix^T tau_motor.",
       {required({"joints", Type::kStrings, "columns of the matrix"}),
        required({"matrix", Type::kRows, "one row per motor"})}},
      {"control",
       "Joints without gains of their own get automatic ones: critically damped, with the mass "
       "matrix at the start of the motion.",
       {choice("kind", {"pid", "cascade", "computed_torque"},
               "pid (default): kp, ki, kd on position and velocity errors; cascade: position "
               "loop around a velocity loop; computed_torque: inverse dynamics of the model"),
        choice("feed_forward", {"none", "gravity", "model"},
               "torque added along the reference: none (default), gravity, or the whole inverse "
               "dynamics with friction"),
        above(0, {"rate", Type::kNumber, "of the control, Hz; default 5000"}),
        above(0, {"velocity_filter", Type::kNumber,
                  "first-order cut-off of the differentiated position, Hz; default: none"}),
        above(0, {"bandwidth", Type::kNumber, "of automatic gains, Hz; default 10"})}},
      {"frame",
       "A named frame.",
       {required({"name", Type::kString, "of the frame"}),
        required({"link", Type::kString, "it is fixed to"}), kXyz, kRpy}},
      {"payload", "A body rigidly attached to a link; inertia in the payload's frame.",
       withInertia({required({"name", Type::kString, "of the payload"}),
                    required({"link", Type::kString, "it is attached to"}), kXyz, kRpy}),
       kInertiaRules},
      {"sensor",
       "A sensor. The `joint` of a force_torque sensor is fixed. The parts of an imu have "
       "different units: where their noise, quantisation or bias matters, declare an "
       "accelerometer and a gyroscope instead.",
       {required({"name", Type::kString, "of the sensor"}),
        required(choice("type",
                        {"force_torque", "imu", "accelerometer", "gyroscope", "magnetometer",
                         "orientation", "encoder", "joint_torque", "skin"},
                        "imu stands for its parts, called NAME.accelerometer and so on")),
        {"joint", Type::kString, "that it sits on"},
        {"link", Type::kString,
         "that it sits on; force_torque: the side of the joint that carries its frame, default "
         "the child"},
        kXyz,
        kRpy,
        {"sign", Type::kNumber,
         "force_torque: 1 (default) if it measures the wrench acting on `link` from the other "
         "side, -1 if the opposite"},
        {"parts",
         Type::kChoices,
         "imu: default accelerometer, gyroscope",
         false,
         nullptr,
         {"accelerometer", "gyroscope", "magnetometer", "orientation"}},
        atLeast(0, {"noise", Type::kNumber,
                    "standard deviation per axis in the sensor's unit; default 0"}),
        above(0, {"quantisation", Type::kNumber, "step of the reading; default: none"}),
        {"bias", Type::kNumbers, "added to every axis, as many numbers as the sensor has axes"},
        cells},
       {},
       {{"type",
         {"force_torque"},
         {"joint"},
         {"link", "xyz", "rpy", "sign", "noise", "quantisation", "bias"},
         6},
        {"type", {"imu"}, {"link"}, {"xyz", "rpy", "parts"}},
        {"type",
         {"accelerometer", "gyroscope", "magnetometer"},
         {"link"},
         {"xyz", "rpy", "noise", "quantisation", "bias"},
         3},
        {"type", {"orientation"}, {"link"}, {"xyz", "rpy", "noise", "quantisation", "bias"}, 4},
        {"type", {"encoder", "joint_torque"}, {"joint"}, {"noise", "quantisation", "bias"}, 1},
        {"type", {"skin"}, {"link", "cells"}, {"noise", "quantisation"}}}},
  };
}

std::vector<FieldTable> recordingTables() {
  const Field file = {"file", Type::kString,
                      "name of the file, may contain * and ?; for logs of several files"};
  const Field topic = {"topic", Type::kString, "topic of a bag, group of an archive"};
  const Field columns = atLeast(
      1,
      {"columns", Type::kNumber, "for text with one value per line: so many values make a sample"});
  return {
      {"recording",
       "The layout of this robot's logs (docs/recording.md). A log is a file, or a folder with the "
       "files that the signals name.",
       {above(0, {"rate", Type::kNumber, "Hz, for logs without time stamps"}),
        object("time", Type::kObject, "time_channel",
               "the time stamps, where their name does not say so"),
        object("join", Type::kObject, "join",
               "how signals with different time stamps come together; without it they are refused"),
        list("rows", 2, "first and last sample used, counted from 1; default all"),
        object("signals", Type::kObjects, "signal",
               "what the channels are; default: by the names of the joints")}},
      {"time_channel",
       "Where the time stamps are.",
       {file,
        topic,
        {"channel", Type::kTexts, "its name, or its number from 1; default: the only one"},
        choice("unit", {"s", "ms", "us", "ns"}, "default: as the file says, or s"),
        columns}},
      {"join",
       "Every other stream is brought to the time stamps of the first signal.",
       {required(choice("method", {"nearest", "linear"},
                        "take the nearest sample, or interpolate between two")),
        required(above(
            0, {"limit", Type::kNumber, "s; where no sample is so near, the value is missing"}))}},
      {"signal",
       "Channels of one kind, one per joint or one per component of a sensor.",
       {required(choice("quantity",
                        {"position", "velocity", "acceleration", "torque", "current", "temperature",
                         "wrench", "force", "moment", "linear_acceleration", "angular_velocity",
                         "magnetic_field", "orientation", "contact"},
                        "current times the joint's drive.gain is its torque; wrench is force, then "
                        "moment")),
        choice("role", {"measured", "commanded", "truth", "external"},
               "default measured; external: torque or wrench of the surroundings on the robot"),
        choice("side", {"joint", "motor"},
               "motor: brought to the joints by `transmission`, or else by the drives' gear_ratio; "
               "default joint"),
        file,
        topic,
        {"channels", Type::kTexts,
         "names or numbers (from 1) in the order of the joints; or an array; or a pattern with "
         "{joint}, {n} (1, 2, ...) or {i} (0, 1, ...); default: by the names of the joints, "
         "otherwise all in order"},
        {"joints", Type::kStrings, "default: all that move, in the order of the model"},
        {"sensor", Type::kString, "that measures it, for all but joint signals"},
        {"unit", Type::kString,
         "of the file: rad, deg, turn, mm, N m, mA, ...; default: as the file says, or SI"},
        {"scale", Type::kNumberOrList, "factor on the recorded values, one or one per channel"},
        {"offset", Type::kNumberOrList,
         "added at the joint, in SI, one or one per joint; may be pi/2 and the like"},
        {"delay", Type::kNumber,
         "s by which it was recorded too late; whole samples, unless joined linearly; default 0"},
        columns}},
  };
}

}  // namespace

const std::vector<FieldTable>& robotFields() {
  static const std::vector<FieldTable> tables = [] {
    std::vector<FieldTable> all = {robotTable()};
    for (const auto& part :
         {kinematicTables(), jointTables(), attachedTables(), recordingTables()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return tables;
}

const FieldTable& robotFieldTable(const std::string& name) {
  for (const FieldTable& table : robotFields()) {
    if (table.name == name) return table;
  }
  throw std::logic_error("no table of fields called " + name);
}

const FieldCase* caseOf(const FieldTable& table, const std::string& value) {
  for (const FieldCase& one : table.cases) {
    if (std::find(one.values.begin(), one.values.end(), value) != one.values.end()) return &one;
  }
  return nullptr;
}

bool belongs(const FieldTable& table, const FieldCase& one, const std::string& field) {
  for (const auto* names : {&one.required, &one.optional}) {
    if (std::find(names->begin(), names->end(), field) != names->end()) return true;
  }
  return std::any_of(table.fields.begin(), table.fields.end(),
                     [&](const Field& f) { return f.required && field == f.name; });
}

std::string expectation(const Field& field) {
  std::string range;
  if (field.min == field.max) {
    range = fmt::format(" {}", field.min);
  } else if (field.max < std::numeric_limits<double>::infinity()) {
    range = fmt::format(" from {} to {}", field.min, field.max);
  } else if (field.above_min) {
    range = fmt::format(" above {}", field.min);
  } else if (field.min > -std::numeric_limits<double>::infinity()) {
    range = fmt::format(" of at least {}", field.min);
  }
  const std::string choices = fmt::format("{}", fmt::join(field.choices, ", "));
  switch (field.type) {
    case Type::kNumber:
      return "a number" + range;
    case Type::kAngle:
      return "a number or a text such as pi/2";
    case Type::kInteger:
      return (field.min == field.max ? "the integer" : "an integer") + range;
    case Type::kBoolean:
      return "true or false";
    case Type::kString:
      return "a text";
    case Type::kChoice:
      return "one of " + choices;
    case Type::kNumbers:
      return field.count > 0 ? fmt::format("a list of {} numbers", field.count)
                             : "a list of numbers";
    case Type::kAngles:
      return fmt::format("a list of {} numbers or texts such as pi/2", field.count);
    case Type::kRows:
      return field.count > 0 ? fmt::format("a list of lists of {} numbers", field.count)
                             : "a list of lists of numbers, all of the same length";
    case Type::kStrings:
      return "a list of texts";
    case Type::kTexts:
      return "a text or number, or a list of them";
    case Type::kNumberOrList:
      return "a number or a list of numbers, or texts such as pi/2";
    case Type::kChoices:
      return "a list of some of " + choices;
    case Type::kStringMap:
      return "a mapping from names to texts";
    case Type::kInfo:
      return "a mapping from names to texts or numbers";
    case Type::kWeights:
      return "a joint name or a mapping from joint names to numbers";
    case Type::kObject:
      return "a mapping";
    case Type::kObjects:
      return "a list of mappings";
    case Type::kObjectOrList:
      return "a mapping or a list of mappings";
    case Type::kObjectMap:
      return "a mapping from names to mappings";
  }
  return "a value";
}

}  // namespace proprio
