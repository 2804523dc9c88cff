#include "proprio/core/text_table.h"

#include <gtest/gtest.h>

#include <cmath>

namespace proprio {
namespace {

// Letters outside ASCII take one column, escape codes none.
TEST(TextTable, CountsWhatATerminalShows) {
  EXPECT_EQ(displayWidth("abc"), 3);
  EXPECT_EQ(displayWidth("├─ kg m²"), 8);
  EXPECT_EQ(displayWidth(inked("abc", Ink::kRed, true)), 3);
  EXPECT_EQ(displayWidth("关节 日本 팔 １"), 15);
  EXPECT_EQ(displayWidth("Gelenk äß ▲ ω"), 13);
  EXPECT_EQ(displayWidth(""), 0);
}

// Colour off leaves the text alone.
TEST(TextTable, PlainTextHasNoCodes) {
  EXPECT_EQ(inked("abc", Ink::kRed, false), "abc");
  EXPECT_EQ(inked("abc", Ink::kRed, true), "\x1b[31mabc\x1b[0m");
}

// Columns align left or right, empty columns vanish, no line ends with spaces.
TEST(TextTable, AlignsColumns) {
  TextTable table;
  table.header = {"name", "empty", "n"};
  table.right = {false, false, true};
  table.rows = {{"a", "", "1"}, {"longer", "", "100"}};
  EXPECT_EQ(table.text(false, 1),
            " name      n\n"
            " ──────  ───\n"
            " a         1\n"
            " longer  100\n");
}

// A table without rows prints nothing, rows may be shorter than the header.
TEST(TextTable, EmptyAndShortRows) {
  TextTable table;
  table.header = {"a", "b"};
  EXPECT_EQ(table.text(false), "");
  table.rows = {{"x"}};
  EXPECT_EQ(table.text(false, 0), "a\n─\nx\n");
}

// Lines break between words only, even where a word is too long for a line.
TEST(TextTable, WrapsWords) {
  EXPECT_EQ(wrapped("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(wrapped("overlong x", 3, 0), "overlong\nx");
  EXPECT_EQ(wrapped("", 10, 0), "");
}

// Numbers keep their significant digits and need no exponent in the usual range.
TEST(TextTable, ReadableNumbers) {
  EXPECT_EQ(readable(0.0), "0");
  EXPECT_EQ(readable(-0.0), "0");
  EXPECT_EQ(readable(3.14159), "3.142");
  EXPECT_EQ(readable(0.000123456), "0.0001235");
  EXPECT_EQ(readable(12345.6), "12345.6");
  EXPECT_EQ(readable(1.23456e-9), "1.23e-09");
  EXPECT_EQ(readable(1e9), "1e+09");
  EXPECT_EQ(readable(std::nan("")), "-");
}

}  // namespace
}  // namespace proprio
