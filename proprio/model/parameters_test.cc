#include "proprio/model/parameters.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "proprio/model/testing/model_parts.h"
#include "proprio/model/testing/random_model.h"

namespace proprio {
namespace {

// Three links, two joints with everything that gives a parameter, one coupling column.
Model smallModel() {
  Model model = serialChain(2);
  model.joints[0].drive = {true, 0.3};
  addFriction(model.joints[0], 1.0, 2.0, 0.1);
  model.joints[1].type = JointType::kPrismatic;
  model.joints[1].drive = {true, 7.0};
  model.joints[1].friction.terms = {{FrictionTermKind::kViscous, "viscous", 5.0}};
  model.joints[1].spring = {true, 40.0, 0.25};
  model.couplings = {{"fvm", "N m s/rad", 0.9, {{0, Signal::kVelocity, {1}, {1.0}}}}};
  return finalize(model);
}

// The order is links, then joints (rotor, friction, spring), then couplings; names and units say
// what each is.
TEST(Parameters, LayoutIsFixedOnce) {
  const Parameters p = declaredParameters(sharedModel(smallModel()));
  const ParameterLayout& layout = *p.layout;
  ASSERT_EQ(layout.size(), 30 + 4 + 4 + 1);
  EXPECT_EQ(layout.inertialSize(), 30);
  EXPECT_EQ(layout.linkOffset(2), 20);
  EXPECT_EQ(layout.jointOffset(0), 30);
  EXPECT_EQ(layout.jointCount(0), 4);
  EXPECT_EQ(layout.jointOffset(1), 34);
  EXPECT_EQ(layout.jointCount(1), 4);
  EXPECT_EQ(layout.couplingOffset(), 38);
  const struct {
    const char *name, *unit;
    double value;
  } expected[] = {{"joint_1.rotor_inertia", "kg m^2", 0.3},
                  {"joint_1.viscous", "N m s/rad", 1.0},
                  {"joint_1.coulomb", "N m", 2.0},
                  {"joint_1.offset", "N m", 0.1},
                  {"joint_2.rotor_inertia", "kg", 7.0},
                  {"joint_2.viscous", "N s/m", 5.0},
                  {"joint_2.spring_stiffness", "N/m", 40.0},
                  {"joint_2.spring_preload", "N", -10.0},
                  {"fvm", "N m s/rad", 0.9}};
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(layout[30 + i].name, expected[i].name);
    EXPECT_EQ(layout[30 + i].unit, expected[i].unit);
    EXPECT_EQ(p.values[30 + i], expected[i].value);
    EXPECT_EQ(layout.index(expected[i].name), 30 + i);
  }
  EXPECT_EQ(layout[11].name, "link_1.mcx");
  EXPECT_EQ(layout[11].unit, "kg m");
  EXPECT_EQ(layout.index("link_2.Ixz"), 26);
  EXPECT_EQ(layout.index("link_2.Iyy"), 27);
  EXPECT_EQ(layout.index("link_2.nothing"), -1);
}

// On any model names are unique, point back to their link or joint, and the ten numbers are those
// of the link.
TEST(Parameters, LayoutsOfRandomModelsAreConsistent) {
  for (const RandomModelOptions& options : randomModelFamilies()) {
    const Parameters p = declaredParameters(sharedModel(randomModel(3, options)));
    const ParameterLayout& layout = *p.layout;
    const Model& model = layout.model();
    std::set<std::string> names;
    for (int i = 0; i < layout.size(); ++i) {
      names.insert(layout[i].name);
      if (layout[i].kind == ParameterKind::kInertial) {
        EXPECT_EQ(i, layout.linkOffset(layout[i].link) + layout[i].component);
      } else {
        const int first = layout.jointOffset(layout[i].joint);
        EXPECT_TRUE(i >= first && i < first + layout.jointCount(layout[i].joint));
      }
    }
    EXPECT_EQ(static_cast<int>(names.size()), layout.size());
    for (size_t i = 0; i < model.links.size(); ++i) {
      EXPECT_EQ(linkInertia(p, static_cast<int>(i)).vector(), model.links[i].inertia.vector());
    }
  }
}

// Values written into the model and declared again are the same values.
TEST(Parameters, WriteBackIsTheInverseOfDeclaring) {
  Parameters p = declaredParameters(sharedModel(smallModel()));
  RandomModelSource source(4);
  for (double& value : p.values) value += source.uniform(0.1, 0.2);
  const Parameters again = declaredParameters(sharedModel(modelWithParameters(p)));
  ASSERT_EQ(again.values.size(), p.values.size());
  for (size_t i = 0; i < p.values.size(); ++i) {
    EXPECT_NEAR(again.values[i], p.values[i], 1e-14 * std::abs(p.values[i]))
        << (*p.layout)[static_cast<int>(i)].name;
  }
}

// Setting a link's inertia touches its ten numbers and no other.
TEST(Parameters, SetLinkInertia) {
  Parameters p = declaredParameters(sharedModel(smallModel()));
  const Parameters before = p;
  const InertialParameters inertia = RandomModelSource(5).inertia();
  setLinkInertia(p, 1, inertia);
  EXPECT_EQ(linkInertia(p, 1).vector(), inertia.vector());
  for (size_t i = 0; i < p.values.size(); ++i) {
    if (i >= 10 && i < 20) continue;
    EXPECT_EQ(p.values[i], before.values[i]);
  }
}

// Wrong sizes, links that do not exist, missing models and impossible springs are refused in words.
TEST(Parameters, RefusesNonsense) {
  Parameters p = declaredParameters(sharedModel(smallModel()));
  EXPECT_THROW(linkInertia(p, 3), Error);
  EXPECT_THROW(linkInertia(p, -1), Error);
  EXPECT_THROW(declaredParameters(nullptr), Error);
  EXPECT_THROW(linkInertia(Parameters{}, 0), Error);
  p.values[p.layout->index("joint_2.spring_stiffness")] = 0.0;
  EXPECT_THROW(modelWithParameters(p), Error);
  p.values[p.layout->index("joint_2.spring_preload")] = 0.0;
  EXPECT_NO_THROW(modelWithParameters(p));
  p.values[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(modelWithParameters(p), Error);
  p.values.pop_back();
  EXPECT_THROW(modelWithParameters(p), Error);
  EXPECT_THROW(setLinkInertia(p, 0, {}), Error);
  Model twice = smallModel();
  twice.couplings[0].name = "joint_1.viscous";
  EXPECT_THROW(declaredParameters(sharedModel(twice)), Error);
}

}  // namespace
}  // namespace proprio
