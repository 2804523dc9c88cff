#pragma once

/// Parameters of a model: values in a named layout, never a bare vector.
///
/// Order, fixed once: for every link (by link index) [m, mcx, mcy, mcz, Ixx, Ixy, Ixz, Iyy, Iyz,
/// Izz] about the link-frame origin; then for every joint (by joint index) rotor inertia if a drive
/// is declared, friction terms in declared order, spring stiffness and preload (= -stiffness *
/// rest) if declared; then the coupling columns.

#include <memory>
#include <string>
#include <vector>

#include "proprio/model/model.h"

namespace proprio {

enum class ParameterKind {
  kInertial,
  kRotorInertia,
  kFriction,
  kSpringStiffness,
  kSpringPreload,
  kCoupling
};

struct ParameterInfo {
  ParameterKind kind = ParameterKind::kInertial;
  std::string name;  ///< "forearm.Ixx", "elbow.viscous", "Iam6"
  std::string unit;
  int link = -1;   ///< kInertial
  int joint = -1;  ///< joint parameters
  int component =
      0;  ///< kInertial: 0..9; kFriction: index of the term; kCoupling: index of the column
};

/// Names of the ten inertial parameters in order: "m", "mcx", ..., "Izz".
extern const char* const kInertialNames[10];

class ParameterLayout {
 public:
  explicit ParameterLayout(std::shared_ptr<const Model> model);
  int size() const { return static_cast<int>(infos_.size()); }
  const ParameterInfo& operator[](int index) const { return infos_[static_cast<size_t>(index)]; }
  int linkOffset(int link) const { return 10 * link; }
  /// First parameter of a joint, and how many it has.
  int jointOffset(int joint) const { return joint_offset_[static_cast<size_t>(joint)]; }
  int jointCount(int joint) const { return joint_count_[static_cast<size_t>(joint)]; }
  int couplingOffset() const { return coupling_offset_; }
  int inertialSize() const { return 10 * static_cast<int>(model_->links.size()); }
  /// -1 if there is no parameter of that name.
  int index(const std::string& name) const;
  const Model& model() const { return *model_; }

 private:
  std::shared_ptr<const Model> model_;
  std::vector<ParameterInfo> infos_;
  std::vector<int> joint_offset_, joint_count_;
  int coupling_offset_ = 0;
};

/// Values in a layout. T is double or Dual (dynamics/dual.h).
template <class T>
struct ParametersOf {
  std::shared_ptr<const ParameterLayout> layout;
  std::vector<T> values;
};
using Parameters = ParametersOf<double>;

/// The values that the model declares, with a layout of their own.
Parameters declaredParameters(std::shared_ptr<const Model> model);
/// The ten numbers of a link as a body; and back.
InertialParameters linkInertia(const Parameters& parameters, int link);
void setLinkInertia(Parameters& parameters, int link, const InertialParameters& inertia);
/// The model with the parameters' values written into its links, drives, friction terms and
/// couplings.
Model modelWithParameters(const Parameters& parameters);

}  // namespace proprio
