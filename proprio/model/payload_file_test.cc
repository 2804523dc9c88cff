#include "proprio/model/payload_file.h"

#include <gtest/gtest.h>

#include "proprio/core/error.h"
#include "proprio/model/robot_reader.h"

namespace proprio {
namespace {

// A file of a payload says what the same lines under `payloads` of a robot.yaml say.
TEST(PayloadFile, IsAnEntryOfPayloads) {
  const std::string robot = R"(version: 1
dh: {convention: modified, joints: [{name: one, a: 0, alpha: 0, d: 0.1}]}
)";
  const std::string entry = R"(name: disc
link: link_1
xyz: [0.1, 0.2, 0.3]
rpy: [0, 0.5, 0]
mass: 2
com: [0, 0, 0.04]
inertia_at_com: [0.003, 0, 0, 0.003, 0, 0.005]
)";
  std::string nested = "payloads:\n  - ";
  for (const char c : entry) nested += c == '\n' ? std::string("\n    ") : std::string(1, c);
  const PayloadFile payload = readPayloadText(entry);
  EXPECT_TRUE(payload.inertia_declared);
  const Model declared = readRobotYamlText(robot + nested);
  const Model attached = lumpFixedJoints(attachPayload(readRobotYamlText(robot), payload.name,
                                                       payload.link, payload.X_LP, payload.body));
  const int link = declared.linkIndex("link_1");
  ASSERT_GE(link, 0);
  EXPECT_EQ(declared.links[static_cast<size_t>(link)].inertia.vector(),
            attached.links[static_cast<size_t>(attached.linkIndex("link_1"))].inertia.vector());
}

// Mass and centre alone are enough, and it is told that the inertia is not known.
TEST(PayloadFile, WithoutInertia) {
  const PayloadFile payload = readPayloadText("{name: bar, link: tool, mass: 1.5, com: [0, 0, 1]}");
  EXPECT_FALSE(payload.inertia_declared);
  EXPECT_EQ(payload.body.com(), Vector3d(0, 0, 1));
}

// What is missing or misspelt is named with its line.
TEST(PayloadFile, Mistakes) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      readPayloadText(text, "load.yaml");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("{name: bar, link: tool}").find("mass"), std::string::npos);
  EXPECT_NE(message("name: bar\nlink: tool\nmass: 1\ncentre: [0, 0, 1]\n").find("load.yaml:4"),
            std::string::npos)
      << message("name: bar\nlink: tool\nmass: 1\ncentre: [0, 0, 1]\n");
  EXPECT_NE(message("name: [").find("load.yaml"), std::string::npos);
  EXPECT_NE(message("").find("load.yaml"), std::string::npos);
}

}  // namespace
}  // namespace proprio
