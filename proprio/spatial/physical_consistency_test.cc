#include "proprio/spatial/physical_consistency.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <limits>
#include <string>
#include <vector>

#include "proprio/core/error.h"
#include "proprio/numerics/dense.h"
#include "proprio/spatial/solids.h"
#include "proprio/spatial/testing/test_utilities.h"

namespace proprio {
namespace {

using testing::randomBody;
using testing::randomPose;

constexpr double kConsistencyRound = 1e-12;

InertialParameters bodyOf(std::initializer_list<double> ten) {
  Vector10d x;
  Eigen::Index k = 0;
  for (double value : ten) x[k++] = value;
  return InertialParameters::fromVector(x);
}

// Bodies made of masses exist, wherever their frame is.
TEST(PhysicalConsistency, RealBodiesAreConsistent) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 50; ++trial) {
    const auto body = transformed(randomPose(rng), randomBody(rng));
    EXPECT_TRUE(consistencyMargins(body).physical());
    EXPECT_TRUE(consistencyMargins(body).fullyConsistent());
  }
}

// A positive definite inertia that violates the triangle inequality is physical, but no body.
TEST(PhysicalConsistency, TriangleInequality) {
  const Matrix3d I_C = Vector3d(0.1, 0.1, 0.3).asDiagonal();
  const auto margins = consistencyMargins(InertialParameters::fromCom(1.0, {0.2, -0.4, 1.0}, I_C));
  EXPECT_TRUE(margins.physical());
  EXPECT_FALSE(margins.fullyConsistent());
  EXPECT_NEAR(margins.central_inertia, 0.1, kConsistencyRound);
  EXPECT_NEAR(margins.triangle, (0.1 + 0.1 - 0.3) / 2.0, kConsistencyRound);
  EXPECT_LT(margins.pseudo_inertia, 0.0);
}

// Margins of a known box: mass, smallest principal inertia, smallest second moment.
TEST(PhysicalConsistency, MarginsOfABox) {
  const auto margins = consistencyMargins(boxInertia(12.0, {1.0, 2.0, 3.0}));
  EXPECT_EQ(margins.mass, 12.0);
  EXPECT_NEAR(margins.central_inertia, 1.0 + 4.0, kConsistencyRound);
  EXPECT_NEAR(margins.triangle, 1.0, kConsistencyRound);
  EXPECT_NEAR(margins.pseudo_inertia, 1.0, kConsistencyRound);
}

// The weaker condition is that of the 6x6 inertia, the stronger one implies it.
TEST(PhysicalConsistency, WeakConditionIsTheSixBySixMatrix) {
  int physical = 0, full = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    Vector10d x = Vector10d::Random();
    x[0] += 1.0;
    x.segment<3>(1) *= 0.5;
    for (Eigen::Index k : {4, 7, 9}) x[k] += 1.2;
    const auto body = InertialParameters::fromVector(x);
    const auto margins = consistencyMargins(body);
    const double smallest = symmetricEigen(body.matrix()).values[0];
    EXPECT_EQ(margins.physical(), smallest > 0.0);
    EXPECT_EQ(margins.fullyConsistent(), margins.pseudo_inertia > 0.0);
    EXPECT_TRUE(margins.physical() || !margins.fullyConsistent());
    physical += margins.physical();
    full += margins.fullyConsistent();
  }
  // the sample contains all three kinds
  EXPECT_GT(full, 20);
  EXPECT_GT(physical, full + 20);
  EXPECT_LT(physical, 1980);
}

// Boundary cases: a plate, a rod, a point and nothing at all are not strictly consistent; NaN
// never.
TEST(PhysicalConsistency, Edges) {
  EXPECT_FALSE(consistencyMargins(boxInertia(1.0, {1.0, 1.0, 0.0})).fullyConsistent());
  EXPECT_TRUE(consistencyMargins(boxInertia(1.0, {1.0, 1.0, 0.0})).physical());
  EXPECT_FALSE(consistencyMargins(boxInertia(1.0, {1.0, 0.0, 0.0})).physical());
  EXPECT_FALSE(consistencyMargins(boxInertia(1.0, Vector3d::Zero())).physical());
  EXPECT_FALSE(consistencyMargins(InertialParameters{}).physical());
  auto broken = boxInertia(1.0, Vector3d::Ones());
  EXPECT_FALSE(
      consistencyMargins(InertialParameters::fromVector(-1.0 * broken.vector())).physical());
  broken.inertia(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(consistencyMargins(broken).physical());
  EXPECT_FALSE(consistencyMargins(broken).fullyConsistent());
}

// A published standard parameter set of an industrial arm is impossible at links 3, 4 and 6,
// although masses and central inertias are positive; links 5 and 7 are possible up to the rounding
// of the print (Ardiani 2023, table 2.5; links 1 and 2 are incomplete there).
TEST(PhysicalConsistency, PublishedArmIsImpossibleAtThreeLinks) {
  struct Link {
    int number;
    InertialParameters body;  // M, MX, MY, MZ, XX, XY, XZ, YY, YZ, ZZ
    double pseudo_inertia;    // smallest eigenvalue, rounded
  };
  const std::vector<Link> links = {
      {3, bodyOf({86.4409, .0142, -.0348, -33.7425, 13.9618, .0062, .0087, 13.9613, -.0000, .0005}),
       -6e-3},
      {4, bodyOf({.2188, .0012, -.0004, .0011, .0044, -.0020, -.0026, .0065, .0039, .0083}), -3e-3},
      {5, bodyOf({5.0604, .0004, -.0862, -.4907, .0659, -.0009, .0043, .0591, -.0045, .0118}), 0.0},
      {6, bodyOf({.9919, -.0008, -.0818, .0100, .0094, .0016, -.0011, .0026, .0001, .0097}), -1e-3},
      {7, bodyOf({1.1130, -.0032, .0008, .0347, .0088, -.0000, -.0007, .0077, -.0002, .0013}),
       0.0}};
  // four decimals: 5e-5 in each of the nine entries of the second moment, worst case
  constexpr double kPrint = 1.5e-4;
  for (const Link& link : links) {
    const auto margins = consistencyMargins(link.body);
    EXPECT_TRUE(margins.physical()) << "link " << link.number;
    if (link.pseudo_inertia < 0.0) {
      EXPECT_FALSE(margins.fullyConsistent()) << "link " << link.number;
      EXPECT_LT(margins.triangle, -kPrint) << "link " << link.number;
      EXPECT_NEAR(margins.pseudo_inertia, link.pseudo_inertia, 5e-4) << "link " << link.number;
    } else {
      EXPECT_GT(margins.triangle, -kPrint) << "link " << link.number;
    }
  }
}

// Unconstrained identification of an arm gave impossible bodies in all five experiments, with the
// margins of Traversaro 2017, table 6.1; the constrained results sit on the boundary.
TEST(PhysicalConsistency, IdentifiedPayloadTable) {
  struct Row {
    std::string name;
    InertialParameters body;
    double central_inertia, triangle;
  };
  const std::vector<Row> unconstrained = {
      {"10 s", bodyOf({1.836, .062, .001, .208, .580, .593, -.541, 1.022, .190, -.129}), -.565,
       -.715},
      {"5 s", bodyOf({1.842, .061, .000, .206, .128, -.018, -.125, .125, .026, -.001}), -.080,
       -.089},
      {"2 s", bodyOf({1.852, .060, .001, .206, .065, .001, -.035, .066, .006, .007}), -.011,
       -.0135},
      {"1 s", bodyOf({1.820, .060, .002, .205, .032, .0014, -.017, .036, .002, .008}), -.0034,
       -.0049},
      {"0.5 s", bodyOf({1.843, .060, .005, .204, .033, .003, -.014, .035, .000, .008}), 0.0,
       -.0033}};
  for (const Row& row : unconstrained) {
    const auto margins = consistencyMargins(row.body);
    EXPECT_FALSE(margins.fullyConsistent()) << row.name;
    EXPECT_NEAR(margins.central_inertia, row.central_inertia, 6e-4) << row.name;
    EXPECT_NEAR(margins.triangle, row.triangle, 6e-4) << row.name;
  }
  const std::vector<Row> constrained = {
      {"10 s", bodyOf({1.836, .062, .001, .208, .215, .012, -.064, .227, .038, .028}), 0, -.0001},
      {"5 s", bodyOf({1.842, .060, .000, .206, .166, .001, -.089, .216, .001, .050}), 0, -.0002},
      {"2 s", bodyOf({1.852, .060, .001, .206, .067, .001, -.030, .086, .003, .014}), 0, -.0027},
      {"1 s", bodyOf({1.820, .060, .002, .205, .034, .001, -.015, .042, .001, .009}), 0, 0.0},
      {"0.5 s", bodyOf({1.844, .059, .004, .204, .037, .001, -.013, .039, .000, .008}), 0, -.0006}};
  for (const Row& row : constrained) {
    EXPECT_NEAR(consistencyMargins(row.body).triangle, row.triangle, 2e-4) << row.name;
  }
}

// The relative margin is 1 for the reference, scales with mass and does not depend on the frame.
TEST(PhysicalConsistency, RelativeMargin) {
  std::mt19937 rng(2);
  const auto reference = randomBody(rng), body = randomBody(rng);
  EXPECT_NEAR(relativeMargin(reference, reference), 1.0, 1e-10);
  const double margin = relativeMargin(body, reference);
  EXPECT_GT(margin, 0.0);
  const auto heavier = InertialParameters::fromVector(3.0 * body.vector());
  EXPECT_NEAR(relativeMargin(heavier, reference), 3.0 * margin, 1e-9);
  const Pose X = randomPose(rng);
  EXPECT_NEAR(relativeMargin(transformed(X, body), transformed(X, reference)), margin, 1e-9);
  const Matrix3d I_C = Vector3d(0.1, 0.1, 0.3).asDiagonal();
  const auto impossible = InertialParameters::fromCom(1.0, Vector3d::Zero(), I_C);
  EXPECT_LT(relativeMargin(impossible, reference), 0.0);
  EXPECT_THROW(relativeMargin(reference, impossible), Error);
}

}  // namespace
}  // namespace proprio
