#include "proprio/identification/constraints.h"

#include <gtest/gtest.h>

#include <cmath>

#include "proprio/identification/consistent_least_squares.h"
#include "proprio/identification/shape_hull.h"
#include "proprio/identification/testing/consistent_robots.h"
#include "proprio/identification/testing/two_arms.h"
#include "proprio/spatial/pseudo_inertia.h"

namespace proprio {
namespace {

using testing::KnownProblem;
using testing::knownProblem;
using testing::treeOf;
using testing::twoArms;

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

/// Claim: a mass may be asked for that is far from description and data (a hundred times both): the
/// bound is reached, and not called a contradiction.
TEST(Constraints, FarMassBounds) {
  const KnownProblem known =
      knownProblem(treeOf("planar_2r"), {.samples = 200, .noise = 0.01, .difference = 0.1});
  const int link = requireLink(known.problem.tree->model(), "forearm");
  for (const double times : {10.0, 100.0}) {
    const double mass = times * known.problem.prior[10 * link];
    MethodOptions options;
    options.constraints.masses = {{"forearm", mass, 1.5 * mass}};
    const Estimate bounded = identify("pc-wls", known.problem, options);
    EXPECT_NEAR(bounded.chi[10 * link], mass, 1e-4 * mass) << times;
    EXPECT_GT(testing::smallestMargin(known.problem, bounded.chi), 0.0) << times;
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

/// Claim: of a frozen link and its mirror image the frozen one stays as it is and the other becomes
/// its image, whichever is named first; two frozen ones have to be images of each other.
TEST(Constraints, FrozenAndSymmetric) {
  const auto tree = twoArms();
  KnownProblem known = knownProblem(tree, {.samples = 100, .noise = 0.5, .difference = 0.4});
  const int left = requireLink(tree->model(), "left_upper");
  const int right = requireLink(tree->model(), "right_upper");
  known.problem.prior.segment<10>(10 * right) *= 1.5;  // no longer images of each other
  for (const bool left_first : {true, false}) {
    for (const bool left_frozen : {true, false}) {
      MethodOptions options;
      options.constraints.symmetric = {{"left_upper", "right_upper"}};
      if (!left_first) options.constraints.symmetric = {{"right_upper", "left_upper"}};
      options.constraints.frozen = {left_frozen ? "left_upper" : "right_upper"};
      const Estimate estimate = identify("pc-wls", known.problem, options);
      const int frozen = left_frozen ? left : right, other = left_frozen ? right : left;
      EXPECT_EQ(estimate.chi.segment<10>(10 * frozen),
                known.problem.prior.segment<10>(10 * frozen));
      Vector10d mirrored = known.problem.prior.segment<10>(10 * frozen);
      for (const int i : {2, 5, 8}) mirrored[i] = -mirrored[i];
      EXPECT_LT((mirrored - estimate.chi.segment<10>(10 * other)).norm(), 1e-12);
    }
  }
  MethodOptions both;
  both.constraints.symmetric = {{"left_upper", "right_upper"}};
  both.constraints.frozen = {"left_upper", "right_upper"};
  try {
    identify("pc-wls", known.problem, both);
    ADD_FAILURE() << "contradicting frozen links were taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no mirror images"), std::string::npos)
        << error.what();
  }
  known.problem.prior.segment<10>(10 * right) /= 1.5;
  const Estimate kept = identify("pc-wls", known.problem, both);
  EXPECT_EQ(kept.chi.segment<10>(10 * left), known.problem.prior.segment<10>(10 * left));
  EXPECT_EQ(kept.chi.segment<10>(10 * right), known.problem.prior.segment<10>(10 * right));
}

/// Claim: centres of mass stay inside the shapes; the mass inside the ellipsoid around them.
TEST(Constraints, MassInsideTheShapes) {
  const auto tree = twoArms();
  const KnownProblem known =
      knownProblem(tree, {.samples = 15, .noise = 2.0, .difference = 1.0, .seed = 3});
  MethodOptions options;
  options.constraints.com_in_shapes = true;
  for (const char* method : {"pc-wls", "manifold"}) {
    const Estimate estimate = identify(method, known.problem, options);
    for (const char* name : {"left_upper", "right_upper", "left_fore", "right_fore"}) {
      const int link = requireLink(tree->model(), name);
      const auto body = InertialParameters::fromVector(estimate.chi.segment<10>(10 * link));
      const Eigen::MatrixX3d normals = hullNormals(tree->model(), link);
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
