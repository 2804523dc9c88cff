#include "proprio/recording/channel_selection.h"

#include <gtest/gtest.h>

#include "proprio/core/error.h"

namespace proprio {
namespace {

// Names and patterns choose columns in their order, each once; what matches nothing is named.
TEST(ChannelSelection, NamesAndPatterns) {
  Recording recording;
  recording.source = "log";
  for (const char* name : {"q_1", "tau_1", "q_2", "a[3]"}) {
    recording.channels.emplace_back();
    recording.channels.back().name = name;
  }
  recording.values.resize(2, 4);
  recording.values << 1, 2, 3, 4, 5, 6, 7, 8;
  const Recording chosen = withChannels(recording, {"tau_1", "q_*", "a[3]", "q_2"});
  ASSERT_EQ(chosen.channels.size(), 4u);
  EXPECT_EQ(chosen.channels[0].name, "tau_1");
  EXPECT_EQ(chosen.channels[3].name, "a[3]");
  EXPECT_EQ(chosen.values.row(1), Eigen::RowVector4d(6, 5, 7, 8));
  try {
    withChannels(recording, {"q_l"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("log: there is no channel 'q_l'; did you mean"), 0u);
  }
}

}  // namespace
}  // namespace proprio
