#include "proprio/report/inertia_shares.h"

#include <gtest/gtest.h>

#include "proprio/core/random.h"
#include "proprio/spatial/physical_consistency.h"
#include "proprio/spatial/pseudo_inertia.h"
#include "proprio/spatial/solids.h"

namespace proprio {
namespace {

/// A box of 0.1 m to 0.3 m somewhere within 0.2 m.
InertialParameters someBox(double mass, std::uint64_t seed) {
  const auto number = [&](std::uint64_t index) { return uniformNumber(seed, 7, index); };
  const Vector3d size(0.1 + 0.2 * number(0), 0.1 + 0.2 * number(1), 0.1 + 0.2 * number(2));
  const Vector3d centre(0.4 * number(3) - 0.2, 0.4 * number(4) - 0.2, 0.4 * number(5) - 0.2);
  return InertialParameters::fromCom(mass, centre, boxInertia(mass, size).inertia);
}

InertialParameters ownShare(const InertialParameters& whole, const InertiaShares& shares) {
  InertialParameters own = whole;
  for (const InertialParameters& part : shares.parts) own = own - part;
  return own;
}

bool possibleBody(const InertialParameters& body) {
  return consistencyMargins(body).fullyConsistent();
}

// Claim: parts stay where the link without them is possible; an estimate that is the description
// gives the description.
TEST(InertiaShares, KeepsPartsThatFit) {
  const InertialParameters own = someBox(2.0, 1), part = someBox(0.3, 2);
  const InertialParameters heavier = InertialParameters::fromVector(1.3 * own.vector()) + part;
  for (const InertialParameters& whole : {own + part, heavier}) {
    const InertiaShares shares = divideInertia(whole, own, {{part}});
    EXPECT_TRUE(shares.kept);
    EXPECT_EQ(shares.parts[0].vector(), part.vector());
  }
}

// Claim: where they do not fit, link and parts are possible bodies whose masses all changed by the
// factor of the sum, whatever the sum is; and the sum is the estimate. Random bodies.
TEST(InertiaShares, ScalesAllAlike) {
  int moved = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const InertialParameters own = someBox(0.3, seed);
    const std::vector<FixedPart> parts = {
        {someBox(0.6, seed + 1000)}, {someBox(0.2, seed + 2000)}, {InertialParameters()}};
    const InertialParameters whole = someBox(0.4 + 0.01 * static_cast<double>(seed), seed + 3000);
    const InertiaShares shares = divideInertia(whole, own, parts);
    const InertialParameters rest = ownShare(whole, shares);
    EXPECT_TRUE(possibleBody(rest)) << seed;
    if (shares.kept) continue;
    ++moved;
    const double factor = whole.mass / 1.1;
    EXPECT_NEAR(shares.mass_factor, factor, 1e-12);
    EXPECT_NEAR(rest.mass, 0.3 * factor, 1e-12);
    EXPECT_NEAR(shares.parts[0].mass, 0.6 * factor, 1e-12);
    EXPECT_NEAR(shares.parts[1].mass, 0.2 * factor, 1e-12);
    EXPECT_TRUE(possibleBody(shares.parts[0]) && possibleBody(shares.parts[1])) << seed;
    EXPECT_TRUE(shares.parts[2].vector().isZero(0.0));
  }
  EXPECT_GT(moved, 100);
}

// Claim: a body that was only moved is moved: a sum displaced and turned by nothing else than a
// translation gives parts with that translation.
TEST(InertiaShares, FollowsATranslation) {
  const InertialParameters own, part = someBox(1.0, 5), other = someBox(0.5, 6);
  const Pose shift{Matrix3d::Identity(), Vector3d(0.01, -0.02, 0.03)};
  const InertialParameters whole = transformed(shift, part + other);
  const InertiaShares shares = divideInertia(whole, own, {{part}, {other}});
  ASSERT_FALSE(shares.kept);  // the link has no mass of its own
  EXPECT_LT((shares.parts[0].vector() - transformed(shift, part).vector()).norm(), 1e-13);
  EXPECT_LT((shares.parts[1].vector() - transformed(shift, other).vector()).norm(), 1e-13);
  EXPECT_LT(ownShare(whole, shares).vector().norm(), 1e-13);
}

// Claim: a link without declared mass is given what was found where its parts are next to nothing;
// a part that is said elsewhere stays whatever happens.
TEST(InertiaShares, KnowsWhatCannotBe) {
  const InertialParameters camera = someBox(0.01, 8), whole = someBox(3.0, 9);
  EXPECT_TRUE(divideInertia(whole, {}, {{camera}}).kept);
  const InertialParameters own = someBox(0.3, 10), heavy = someBox(2.0, 11);
  const InertialParameters light = InertialParameters::fromVector(0.5 * heavy.vector());
  const FixedPart payload{InertialParameters::fromVector(0.4 * heavy.vector()), false};
  const InertiaShares shares = divideInertia(light, own, {{heavy}, payload});
  EXPECT_FALSE(shares.kept);
  EXPECT_EQ(shares.parts[1].vector(), payload.inertia.vector());
  EXPECT_TRUE(possibleBody(ownShare(light, shares)));
}

}  // namespace
}  // namespace proprio
