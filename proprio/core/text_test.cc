#include "proprio/core/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace proprio {
namespace {

// Every notation that robot files use is read; the value equals the compiler's own reading of the
// literal.
TEST(Text, ReadsNumbers) {
  EXPECT_EQ(parseNumber("1.5"), 1.5);
  EXPECT_EQ(parseNumber("\t+1.5e-3\r\n"), 1.5e-3);
  EXPECT_EQ(parseNumber("-.5"), -.5);
  EXPECT_EQ(parseNumber("5."), 5.0);
  EXPECT_EQ(parseNumber("1E5"), 1e5);
  EXPECT_EQ(parseNumber("0.1"), 0.1);
  EXPECT_EQ(parseNumber("1e-400"), 0.0);
  EXPECT_TRUE(std::isinf(parseNumber("-inf").value()));
  EXPECT_TRUE(std::isnan(parseNumber("nan").value()));
}

// What is not one plain number is refused, decimal commas and hexadecimal digits included.
TEST(Text, RefusesWhatIsNotANumber) {
  for (const char* text : {"", " ", "1,5", "1 2", "abc", "1.0m", "0x10", "1e400", "--1", "+-1",
                           "++1", "+", "-", "1e"}) {
    EXPECT_FALSE(parseNumber(text).has_value()) << "text: " << text;
  }
}

// Printing and reading gives the same bits, for the extremes too; negative zero prints as 0.
TEST(Text, NumbersSurviveARoundTrip) {
  using Limits = std::numeric_limits<double>;
  for (double x : {0.1, 1.0 / 3.0, 1e-320, Limits::max(), Limits::min(), -123456.789, 1e23}) {
    EXPECT_EQ(parseNumber(formatNumber(x)), x);
  }
  EXPECT_EQ(formatNumber(-0.0), "0");
  EXPECT_EQ(formatNumber(0.1), "0.1");
}

// Words are separated by any run of blanks; a text of blanks has none.
TEST(Text, SplitsWords) {
  EXPECT_EQ(splitWords(" 1\t2\r\n 3 "), (std::vector<std::string_view>{"1", "2", "3"}));
  EXPECT_TRUE(splitWords(" \n").empty());
}

// A misspelt name is answered with the right one; a strange name with a list of what exists.
TEST(Text, SuggestsNames) {
  const std::vector<std::string> names = {"shoulder", "elbow", "wrist"};
  EXPECT_EQ(didYouMean("elbo", names), "; did you mean 'elbow'?");
  EXPECT_EQ(didYouMean("wrsit", names), "; did you mean 'wrist'?");
  EXPECT_EQ(nearestNames("xzy", {"xyz", "rpy"}, 1), (std::vector<std::string>{"xyz"}));
  EXPECT_EQ(didYouMean("tail", names), "; there are 'shoulder', 'elbow', 'wrist'");
  EXPECT_EQ(didYouMean("tail", {}), "; there are none");
  EXPECT_EQ(nearestNames("link_2", {"link_1", "link_20", "base"}),
            (std::vector<std::string>{"link_1", "link_20"}));
}

// Quoted texts stay on one line and short, whatever was found in the file.
TEST(Text, QuotesSafely) {
  EXPECT_EQ(inQuotes("a\nb"), "'a b'");
  EXPECT_LT(inQuotes(std::string(1000, 'x')).size(), 70u);
}

// Claim: every separator ends a part, so that empty ones at the ends are kept.
TEST(Text, SplitsAtSeparators) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(splitAt("a:b", ':'), (Parts{"a", "b"}));
  EXPECT_EQ(splitAt(":b:", ':'), (Parts{"", "b", ""}));
  EXPECT_EQ(splitAt("", ':'), Parts{""});
}

}  // namespace
}  // namespace proprio
