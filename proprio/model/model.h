#pragma once

/// The robot as declared: an undirected graph of links and joints with frames, sensors, drives and
/// friction declarations. No link is privileged: `Tree` (tree.h) compiles a model for one base.
/// Indices of links, joints and degrees of freedom do not depend on the base.
///
/// A Model is filled through its plain fields and then passed through `finalize`, which checks it
/// and fills the derived fields; after that it is treated as immutable and shared.

#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "proprio/core/error.h"
#include "proprio/model/friction.h"
#include "proprio/model/signal_declaration.h"
#include "proprio/spatial/inertial_parameters.h"
#include "proprio/spatial/pose.h"

namespace proprio {

enum class ShapeKind { kBox, kCylinder, kSphere, kMesh, kCapsule };

/// Collision or visual geometry of a link.
struct Shape {
  ShapeKind kind = ShapeKind::kBox;
  Pose X_LG;  ///< geometry frame in the link frame
  /// box: edge lengths; cylinder: radius, length; sphere: radius; capsule: radius, length of its
  /// cylindrical part
  Vector3d size = Vector3d::Zero();
  std::string mesh;  ///< path as written in the file
  Vector3d mesh_scale = Vector3d::Ones();
  bool collision = true;  ///< false: visual
};

/// A rigid part of a link that came from a lumped fixed joint; the link's inertia includes it.
struct LinkPart {
  std::string name;
  Pose X_LP;
  InertialParameters inertia;  ///< in the part's own frame
};

struct Link {
  std::string name;
  bool has_inertial = false;  ///< the description states an inertia
  /// The URDF leaves out products of inertia, which are then zero; other programs refuse that.
  bool products_left_out = false;
  InertialParameters inertia;  ///< in the link frame, lumped parts included
  Pose X_LI;                   ///< the inertial frame as written (URDF <inertial><origin>)
  std::vector<LinkPart> parts;
  std::vector<Shape> shapes;
  FileLocation location;
};

enum class JointType { kFixed, kRevolute, kContinuous, kPrismatic, kPlanar, kFloating };

/// Velocity degrees of freedom: 0, 1, 1, 1, 3, 6.
int velocityCount(JointType type);
/// Position coordinates: 0, 1, 1, 1, 3, 7 (floating: position, quaternion x y z w).
int positionCount(JointType type);
const char* toString(JointType type);

constexpr double kNotStated = std::numeric_limits<double>::quiet_NaN();

struct JointLimits {
  double lower = kNotStated, upper = kNotStated;        ///< rad or m
  double velocity = kNotStated;                         ///< rad/s or m/s
  double effort = kNotStated;                           ///< N m or N
  double acceleration = kNotStated;                     ///< rad/s^2 or m/s^2
  bool lower_left_out = false, upper_left_out = false;  ///< by a URDF with the other one: it is 0
};

/// This joint follows another one: q = ratio * q_leader + offset.
struct Mimic {
  std::string leader;
  double ratio = 1.0;
  double offset = 0.0;
};

struct Drive {
  bool declared = false;  ///< then its rotor inertia is a parameter
  double rotor_inertia =
      0.0;  ///< reflected to the joint: ratio^2 * motor inertia, kg m^2 (kg if prismatic)
  double gear_ratio = 1.0;  ///< motor turns per joint turn, with sign
  double gain = 1.0;        ///< N m at the joint per unit of the recorded drive signal
  double torque_limit = kNotStated;
  /// Elasticity between rotor and link: tau = stiffness (theta - q) + damping (theta' - q'), with
  /// the rotor angle theta reflected to the joint. Not stated: rigid.
  double stiffness = kNotStated;  ///< N m/rad
  double damping = 0.0;           ///< N m s/rad
  bool gain_declared = false;
};

/// Gains of a joint's servo; what they multiply depends on the robot's ControlKind.
struct JointControl {
  bool declared = false;
  double kp = 0.0, ki = 0.0, kd = 0.0;
  double integral_limit = kNotStated;  ///< largest contribution of the integral, drive units
};

/// How the joints are driven to their references (servo/servo.h).
enum class ControlKind { kPid, kCascade, kComputedTorque };
enum class FeedForward { kNone, kGravity, kModel };
const char* toString(ControlKind kind);
const char* toString(FeedForward kind);

struct Control {
  ControlKind kind = ControlKind::kPid;
  FeedForward feed_forward = FeedForward::kNone;
  double rate = 5000.0;                 ///< Hz
  double velocity_filter = kNotStated;  ///< Hz, of the differentiated position; not stated: none
  double bandwidth = 10.0;              ///< Hz, for joints without declared gains
};

/// Elastic element parallel to the joint: tau = stiffness (q - rest).
struct Spring {
  bool declared = false;
  double stiffness = 0.0;
  double rest = 0.0;
};

/// A value of a joint that stands elsewhere than the joint itself: robot.yaml wins over the URDF.
struct StatedValue {
  std::string key;  ///< as in robot.yaml, below the joint: "mimic", "limits.lower"
  FileLocation location;
};

/// Between links `first` and `second` (URDF: parent and child):
/// X_first_second(q) = X_FJ * motion(q) * X_JS.
/// motion: rotation by q about `axis`, translation by q along it; planar: translation by (q0, q1)
/// along the first two columns of rotationWithZAlong(axis), then rotation by q2 about axis;
/// floating: the pose itself.
struct Joint {
  std::string name;
  JointType type = JointType::kFixed;
  int first = -1;
  int second = -1;
  Pose X_FJ;
  Pose X_JS;
  Vector3d axis =
      Vector3d::UnitX();  ///< unit vector in the joint frame; planar: the plane's normal
  JointLimits limits;
  std::optional<Mimic> mimic;
  Drive drive;
  FrictionModel friction;
  Spring spring;
  JointControl control;
  /// Of a floating joint that is one only in the equations: it stays at the identity, and the rows
  /// of its six coordinates are the wrench that a force-torque sensor on it measures
  /// (identification/sensed_wrenches.h).
  bool sensed = false;
  FileLocation location;
  std::vector<StatedValue> stated;  ///< what robot.yaml says about it, and where
  // filled by finalize; mimic joints have the indices of their (free) leader
  int position_index = -1;  ///< into the shape positions s, -1 for fixed joints
  int velocity_index = -1;  ///< into the shape velocities, -1 for fixed joints
  double mimic_ratio =
      1.0;  ///< q = mimic_ratio * s[position_index] + mimic_offset, chains resolved
  double mimic_offset = 0.0;
};

/// A named frame fixed to a link.
struct Frame {
  std::string name;
  int link = -1;
  Pose X_LF;
  FileLocation location = {};
};

/// What a coupling column multiplies.
enum class Signal { kAcceleration, kVelocity, kSignVelocity, kPosition, kOne };

/// One entry of a declared column: in the torque row of `joint` stands signal(sum_k weights[k]
/// x[joints[k]]), x = joint acceleration, velocity or position.
struct CouplingTerm {
  int joint = -1;
  Signal signal = Signal::kVelocity;
  std::vector<int> joints;
  std::vector<double> weights;
};

/// A parameter whose regressor column is declared term by term (for example the coupled TX40
/// wrist).
struct CouplingColumn {
  std::string name;
  std::string unit;
  double value = 0.0;
  std::vector<CouplingTerm> terms;
  FileLocation location = {};
};

/// q_motor = matrix * q_joint over the listed joints; tau_joint = matrix^T tau_motor. Full column
/// rank; more motors than joints where a coupled joint is locked.
struct Transmission {
  std::vector<int> joints;
  Eigen::MatrixXd matrix;
};

enum class SensorKind {
  kForceTorque,
  kAccelerometer,
  kGyroscope,
  kMagnetometer,
  kOrientation,
  kEncoder,
  kJointTorque,
  kSkin
};
const char* toString(SensorKind kind);

/// Force-torque: on the fixed joint `joint`, frame X_LS on `link` (one side of it), `sign` = +1
/// when it measures the wrench acting on `link` from the other side. IMU parts: on `link`. Encoder,
/// joint torque: on `joint`. Skin: cells on `link`.
struct Sensor {
  std::string name;
  SensorKind kind = SensorKind::kAccelerometer;
  int link = -1;
  int joint = -1;
  Pose X_LS;
  double sign = 1.0;
  double noise = 0.0;                    ///< standard deviation per axis, sensor's unit
  double quantisation = 0.0;             ///< step of the reading, 0: none
  std::vector<double> bias;              ///< added to every axis; empty: none
  std::vector<Vector3d> cell_positions;  ///< skin, in the link frame
  std::vector<Vector3d> cell_normals;
  FileLocation location = {};
};

/// Numbers in one reading: 6 force_torque, 3 IMU vectors, 4 orientation (x, y, z, w), 1 encoder and
/// joint torque, one per skin cell.
size_t sensorAxes(const Sensor& sensor);

/// Where "package://name/..." paths of meshes are looked for.
struct PackageRoot {
  std::string name;
  std::string folder;
};

/// A line of a data sheet (manufacturer, reach, ...): shown and compared, never computed with.
struct InfoEntry {
  std::string name;
  std::string value;
};

struct Model {
  std::string name;
  std::vector<Link> links;
  std::vector<Joint> joints;
  std::vector<Frame> frames;
  std::vector<Sensor> sensors;
  std::vector<CouplingColumn> couplings;
  std::optional<Transmission> transmission;
  std::optional<RecordingDeclaration> recording;  ///< how its logs are laid out
  Control control;
  Vector3d gravity = Vector3d(0.0, 0.0, -9.81);  ///< acceleration in the world frame
  int base = 0;                                  ///< default base link
  bool floating = false;                         ///< base free in space by default
  Pose X_WB;                                     ///< base mounting when fixed
  std::string source;                            ///< file it came from; empty if built in memory
  std::string urdf;                              ///< URDF file behind it; empty if there is none
  std::vector<PackageRoot> packages;
  std::vector<InfoEntry> info;

  // filled by finalize
  int position_count =
      0;  ///< size of the shape positions s (mimic joints follow, they do not count)
  int velocity_count = 0;  ///< size of the shape velocities
  std::vector<std::vector<int>> joints_of_link;

  // a plain value; written out because these are large, so that they are compiled once
  Model();
  Model(const Model&);
  Model(Model&&) noexcept;
  Model& operator=(const Model&);
  Model& operator=(Model&&) noexcept;
  ~Model();

  int linkIndex(const std::string& link_name) const;    ///< -1 if there is none
  int jointIndex(const std::string& joint_name) const;  ///< -1 if there is none
  int frameIndex(const std::string& frame_name) const;  ///< -1 if there is none
};

/// Checks the graph (at least one link, unique names, connected and acyclic, unit axes, mimic
/// leaders that exist and do not loop, finite numbers) and fills the derived fields. Drive,
/// friction and spring of fixed joints are dropped; friction terms without a name get one. @throws
/// Error that names link or joint.
Model finalize(Model model);

/// Where the first of these values that robot.yaml states stands; the joint's own place if it
/// states none of them.
const FileLocation& whereStated(const Joint& joint, std::initializer_list<std::string> keys);

/// The link's inertia without its lumped parts.
InertialParameters ownInertia(const Link& link);

/// Index of a link or joint. @throws Error with the nearest existing names when there is none.
int requireLink(const Model& model, const std::string& name);
int requireJoint(const Model& model, const std::string& name);

// ---- derived models: each function returns a new finalized model ----

/// Merges links across fixed joints; merged links become frames and parts. Fixed joints that carry
/// a force-torque sensor, or that `keep` names, stay.
Model lumpFixedJoints(const Model& model, const std::vector<std::string>& keep = {});

struct JointValue {
  std::string joint;
  double position = 0.0;
  FileLocation location = {};  ///< where it is asked for
};
/// Joints frozen at given positions: they become fixed joints.
Model lockJoints(const Model& model, const std::vector<JointValue>& locked);

/// Adds a link rigidly attached to `link`, or removes it again.
Model attachPayload(const Model& model, const std::string& payload_name, const std::string& link,
                    const Pose& X_LP, const InertialParameters& payload);
Model detachPayload(const Model& model, const std::string& payload_name);

/// The same robot with another base link, free in space or mounted at X_WB.
Model withBase(const Model& model, const std::string& link, bool floating, const Pose& X_WB = {});

/// Every plain sign of the joints' friction replaced by tanh(gain v), for what needs slopes; signs
/// in coupling columns stay as they are.
Model withSmoothSigns(const Model& model, double gain);

}  // namespace proprio
