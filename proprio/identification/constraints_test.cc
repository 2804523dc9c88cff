#include "proprio/identification/constraints.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/identification/consistent_least_squares.h"
#include "proprio/identification/testing/consistent_robots.h"
#include "proprio/model/lint.h"
#include "proprio/model/urdf_reader.h"
#include "proprio/spatial/pseudo_inertia.h"

namespace proprio {
namespace {

using testing::KnownProblem;
using testing::knownProblem;
using testing::treeOf;

/// A torso with two mirrored arms of two joints; the left forearm carries a fixed tool.
constexpr const char* kTwoArms = R"(<robot name="two_arms">
  <link name="torso"/>
  <link name="left_upper"><inertial><origin xyz="0 0.05 -0.15"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.021" izz="0.004" ixy="0.001" ixz="0" iyz="0.001"/></inertial>
    <collision><origin xyz="0 0.05 -0.15"/><geometry><box size="0.1 0.12 0.3"/></geometry></collision>
  </link>
  <link name="left_fore"><inertial><origin xyz="0.02 0.03 -0.1"/><mass value="1"/>
    <inertia ixx="0.006" iyy="0.0065" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -0.12"/><geometry><cylinder radius="0.05" length="0.3"/></geometry>
    </collision></link>
  <link name="tool"><inertial><mass value="0.3"/>
    <inertia ixx="0.0002" iyy="0.0002" izz="0.0002" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right_upper"><inertial><origin xyz="0 -0.05 -0.15"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.021" izz="0.004" ixy="-0.001" ixz="0" iyz="-0.001"/></inertial>
    <collision><origin xyz="0 -0.05 -0.15"/><geometry><box size="0.1 0.12 0.3"/></geometry></collision>
  </link>
  <link name="right_fore"><inertial><origin xyz="0.02 -0.03 -0.1"/><mass value="1"/>
    <inertia ixx="0.006" iyy="0.0065" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.2"/></geometry></collision></link>
  <joint name="l1" type="revolute"><parent link="torso"/><child link="left_upper"/>
    <origin xyz="0 0.2 0.4"/><axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" velocity="5" effort="50"/></joint>
  <joint name="l2" type="revolute"><parent link="left_upper"/><child link="left_fore"/>
    <origin xyz="0 0 -0.3"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" velocity="5" effort="50"/></joint>
  <joint name="fixed" type="fixed"><parent link="left_fore"/><child link="tool"/>
    <origin xyz="0 0 -0.25"/></joint>
  <joint name="r1" type="revolute"><parent link="torso"/><child link="right_upper"/>
    <origin xyz="0 -0.2 0.4"/><axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" velocity="5" effort="50"/></joint>
  <joint name="r2" type="revolute"><parent link="right_upper"/><child link="right_fore"/>
    <origin xyz="0 0 -0.3"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" velocity="5" effort="50"/></joint>
</robot>)";

std::shared_ptr<const Tree> twoArms() {
  return std::make_shared<const Tree>(
      std::make_shared<const Model>(lumpFixedJoints(readUrdfText(kTwoArms))));
}

double massOf(const KnownProblem& known, const Estimate& estimate, const std::string& link) {
  return estimate.chi[10 * requireLink(known.problem.tree->model(), link)];
}

/// Claim: bounds on masses are kept, and reached where the data pull beyond them.
TEST(Constraints, MassBounds) {
  const KnownProblem known =
      knownProblem(treeOf("tx40"), {.samples = 200, .noise = 1.0, .difference = 0.5});
  const Model& model = known.problem.tree->model();
  const Estimate free = identify("pc-wls", known.problem);
  const int link = static_cast<int>(model.links.size()) - 1;
  const std::string name = model.links[static_cast<size_t>(link)].name;
  const double mass = free.chi[10 * link];
  double total = 0.0;
  for (int i = 0; i < known.problem.layout->inertialSize(); i += 10)
    total += i / 10 == known.problem.tree->baseLink() ? 0.0 : free.chi[i];
  for (const char* method : {"pc-wls", "manifold", "log-cholesky", "pc-sqp"}) {
    MethodOptions options;
    options.constraints.masses = {{name, 1.2 * mass, 2.0 * mass}};
    options.constraints.total_mass_upper = 0.9 * total;
    const Estimate bounded = identify(method, known.problem, options);
    EXPECT_GE(bounded.chi[10 * link], 1.2 * mass * (1.0 - 1e-6)) << method;
    double sum = 0.0;
    for (int i = 0; i < known.problem.layout->inertialSize(); i += 10)
      sum += i / 10 == known.problem.tree->baseLink() ? 0.0 : bounded.chi[i];
    EXPECT_LE(sum, 0.9 * total * (1.0 + 1e-6)) << method;
    EXPECT_GT(testing::smallestMargin(known.problem, bounded.chi), 0.0) << method;
  }
}

/// Claim: a frozen link keeps its prior to the last bit, the others move.
TEST(Constraints, FrozenLinks) {
  const auto tree = twoArms();
  const KnownProblem known = knownProblem(tree, {.samples = 100, .noise = 0.1, .difference = 0.4});
  MethodOptions options;
  options.constraints.frozen = {"left_upper"};
  const Estimate estimate = identify("pc-wls", known.problem, options);
  const int frozen = requireLink(tree->model(), "left_upper");
  EXPECT_EQ(estimate.chi.segment<10>(10 * frozen), known.problem.prior.segment<10>(10 * frozen));
  EXPECT_NE(massOf(known, estimate, "right_fore"),
            known.problem.prior[10 * requireLink(tree->model(), "right_fore")]);
}

/// Claim: declared mirror images stay mirror images: products of inertia and centres with the sign
/// of the mirrored axis turned, everything else equal.
TEST(Constraints, SymmetricLinks) {
  const auto tree = twoArms();
  const KnownProblem known = knownProblem(tree, {.samples = 100, .noise = 0.5, .difference = 0.4});
  MethodOptions options;
  options.constraints.symmetric = {{"left_upper", "right_upper"}};
  const Estimate estimate = identify("pc-wls", known.problem, options);
  const int left = requireLink(tree->model(), "left_upper");
  const int right = requireLink(tree->model(), "right_upper");
  Vector10d mirrored = estimate.chi.segment<10>(10 * left);
  for (const int i : {2, 5, 8}) mirrored[i] = -mirrored[i];  // mcy, Ixy, Iyz
  EXPECT_LT((mirrored - estimate.chi.segment<10>(10 * right)).norm(), 1e-12);
  EXPECT_GT(testing::smallestMargin(known.problem, estimate.chi), 0.0);
  options.constraints.symmetric.push_back({"right_upper", "left_fore"});
  EXPECT_THROW(identify("pc-wls", known.problem, options), Error);
}

/// Claim: centres of mass stay inside the shapes; the mass inside the ellipsoid around them.
TEST(Constraints, MassInsideTheShapes) {
  const auto tree = twoArms();
  const KnownProblem known =
      knownProblem(tree, {.samples = 15, .noise = 2.0, .difference = 1.0, .seed = 3});
  MethodOptions options;
  options.constraints.com_in_shapes = true;
  const Eigen::MatrixX3d normals = hullDirections();
  for (const char* method : {"pc-wls", "manifold"}) {
    const Estimate estimate = identify(method, known.problem, options);
    for (const char* name : {"left_upper", "right_upper", "left_fore", "right_fore"}) {
      const int link = requireLink(tree->model(), name);
      const auto body = InertialParameters::fromVector(estimate.chi.segment<10>(10 * link));
      const Eigen::VectorXd support = supportOfShapes(tree->model(), link, normals);
      EXPECT_LT((normals * body.com() - support).maxCoeff(), 1e-6) << method << " " << name;
    }
  }
  options.constraints.com_in_shapes = false;
  options.constraints.mass_in_ellipsoid = true;
  const Estimate estimate = identify("pc-wls", known.problem, options);
  const int box = requireLink(tree->model(), "left_upper");
  const auto body = InertialParameters::fromVector(estimate.chi.segment<10>(10 * box));
  // tr(D Q) = m - sum of the second moments about the box's centre over the squared half axes
  const Vector3d centre(0.0, 0.05, -0.15), half(0.05, 0.06, 0.15);
  const Eigen::Matrix4d D = pseudoInertia(transformed(Pose{Matrix3d::Identity(), -centre}, body));
  double inside = body.mass;
  for (int i = 0; i < 3; ++i) inside -= D(i, i) / (3.0 * half[i] * half[i]);
  EXPECT_GT(inside, -1e-8 * body.mass);
}

/// Claim: the support function of each kind of shape is that of its corners.
TEST(Constraints, SupportOfShapes) {
  const auto tree = twoArms();
  const Model& model = tree->model();
  Eigen::MatrixX3d normals(2, 3);
  normals << 1, 0, 0, 0, 0.6, -0.8;
  const auto support = [&](const char* link) {
    return supportOfShapes(model, requireLink(model, link), normals);
  };
  EXPECT_NEAR(support("left_upper")[0], 0.05, 1e-12);
  EXPECT_NEAR(support("left_upper")[1], 0.6 * 0.11 + 0.8 * 0.3, 1e-12);
  EXPECT_NEAR(support("left_fore")[0], 0.05, 1e-12);
  EXPECT_NEAR(support("left_fore")[1], 0.6 * 0.05 + 0.8 * 0.27, 1e-12);
  EXPECT_NEAR(support("right_fore")[1], 0.2, 1e-12);
  EXPECT_EQ(support("torso").size(), 0);
}

/// Claim: |offset| <= Coulomb friction where it is asked for; rotors and friction are never
/// negative.
TEST(Constraints, OffsetBelowCoulomb) {
  const KnownProblem known =
      knownProblem(treeOf("iiwa14"), {.samples = 40, .noise = 5.0, .difference = 0.5});
  const ParameterLayout& layout = *known.problem.layout;
  MethodOptions options;
  options.constraints.offset_below_coulomb = true;
  const Estimate estimate = identify("pc-wls", known.problem, options);
  int compared = 0;
  for (const Joint& joint : known.problem.tree->model().joints) {
    const int offset = layout.index(joint.name + ".offset");
    const int coulomb = layout.index(joint.name + ".coulomb");
    const int viscous = layout.index(joint.name + ".viscous");
    if (viscous >= 0) {
      EXPECT_GE(estimate.chi[viscous], 0.0);
    }
    if (offset < 0 || coulomb < 0) continue;
    EXPECT_LE(std::abs(estimate.chi[offset]), estimate.chi[coulomb] + 1e-6);
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

/// Claim: the mirror map of a body is that of its pseudo-inertia, and its own inverse.
TEST(Constraints, CongruenceMap) {
  Eigen::Matrix4d H = Eigen::Matrix4d::Identity();
  H(1, 1) = -1.0;
  H(0, 3) = 0.0;
  const Matrix10d map = congruenceMap(H);
  EXPECT_LT((map * map - Matrix10d::Identity()).norm(), 1e-14);
  const auto body = InertialParameters::fromCom(
      2.0, Vector3d(0.1, 0.2, 0.3), Vector3d(0.3, 0.4, 0.5).asDiagonal().toDenseMatrix());
  const auto mirrored = InertialParameters::fromVector(map * body.vector());
  EXPECT_LT((mirrored.com() - Vector3d(0.1, -0.2, 0.3)).norm(), 1e-14);
}

/// Claim: names of priors are read, and misspelt ones refused with the nearest.
TEST(Constraints, PriorNames) {
  for (const char* name : {"none", "euclidean", "entropic", "pullback"})
    EXPECT_STREQ(toString(priorKind(name)), name);
  EXPECT_THROW(priorKind("pulback"), Error);
}

}  // namespace
}  // namespace proprio
