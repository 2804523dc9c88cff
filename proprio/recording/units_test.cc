#include "proprio/recording/units.h"

#include <gtest/gtest.h>

#include "proprio/core/error.h"
#include "proprio/recording/signal_names.h"

namespace proprio {
namespace {

// A unit converts to SI by its definition, however it is written.
TEST(Units, Definitions) {
  EXPECT_DOUBLE_EQ(findUnit("deg")->factor * 180.0, 3.14159265358979323846);
  EXPECT_DOUBLE_EQ(findUnit("turn")->factor, findUnit("deg")->factor * 360.0);
  EXPECT_DOUBLE_EQ(findUnit("rpm")->factor * 60.0, findUnit("turn/s")->factor);
  EXPECT_DOUBLE_EQ(findUnit("lbf ft")->factor, findUnit("lbf in")->factor * 12.0);
  for (const char* text : {"N m", "Nm", "N*m", "N.m", "N\xc2\xb7m"}) {
    ASSERT_TRUE(findUnit(text)) << text;
    EXPECT_EQ(findUnit(text)->si, "N m");
  }
  EXPECT_EQ(findUnit("mNm")->factor, 1e-3);
  EXPECT_EQ(findUnit("m/s\xc2\xb2")->si, "m/s^2");
  EXPECT_EQ(findUnit("K")->factor * 300.0 + findUnit("K")->offset, 300.0 - 273.15);
  EXPECT_FALSE(findUnit("NM"));
  EXPECT_FALSE(findUnit(""));
}

// Every SI unit of a quantity is itself a unit of factor 1.
TEST(Units, KnowsTheUnitsOfQuantities) {
  for (int i = 0; i <= static_cast<int>(Quantity::kTemperature); ++i) {
    for (const bool prismatic : {false, true}) {
      const std::string si = unitOf(static_cast<Quantity>(i), prismatic);
      if (si.empty()) continue;
      ASSERT_TRUE(findUnit(si)) << si;
      EXPECT_EQ(findUnit(si)->si, si);
      EXPECT_EQ(findUnit(si)->factor, 1.0);
    }
  }
}

// An unknown unit, or one of another kind, is refused with the list of those that fit.
TEST(Units, Refusals) {
  try {
    requireUnit("degs", "rad", "channel 'q'");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what())
                  .rfind("channel 'q' has the unknown unit 'degs', expected "
                         "one of rad, mrad",
                         0),
              0u)
        << error.what();
  }
  EXPECT_THROW(requireUnit("N", "rad", "x"), Error);
  EXPECT_EQ(requireUnit("mm", "", "x").factor, 1e-3);
}

// Names say what a channel is, and back.
TEST(SignalNames, RoundTrip) {
  for (int i = 1; i <= static_cast<int>(Quantity::kTemperature); ++i) {
    const auto quantity = static_cast<Quantity>(i);
    for (const Role role : {Role::kMeasured, Role::kCommanded, Role::kTruth, Role::kExternal}) {
      std::vector<std::string> components = componentsOf(quantity);
      if (components.empty()) components = {""};
      for (const std::string& component : components) {
        const std::string name = signalName(quantity, role, "arm_1_joint", component);
        const Channel channel = channelNamed(name);
        EXPECT_EQ(channel.name, name);
        EXPECT_EQ(channel.quantity, quantity) << name;
        EXPECT_EQ(channel.role, role) << name;
        EXPECT_EQ(channel.of, "arm_1_joint") << name;
        EXPECT_EQ(channel.component, component) << name;
      }
    }
  }
  for (const char* name : {"x", "speed_a", "q_", "f_hand", "f_hand_q", "q_des_", ""})
    EXPECT_EQ(channelNamed(name).quantity, Quantity::kOther) << name;
}

}  // namespace
}  // namespace proprio
