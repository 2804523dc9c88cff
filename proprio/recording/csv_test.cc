#include "proprio/recording/csv.h"

#include <gtest/gtest.h>

#include "proprio/core/error.h"

namespace proprio {
namespace {

std::string messageOf(const std::string& text) {
  try {
    readCsvText(text, "t.csv");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Separators, quotes, CRLF, byte order mark, comments and empty lines do not change the numbers.
TEST(Csv, ReadsDialects) {
  for (const std::string text :
       {"a,b\n1,2\n3,-4e-3\n",
        "\xef\xbb\xbf"
        "a,b\r\n1,2\r\n\r\n3,-4e-3",
        "a;b\n1;2\n3;-4e-3\n", "# made by hand\n\"a\"\t b \n1\t2\n3\t -4e-3 \n"}) {
    const CsvTable table = readCsvText(text);
    EXPECT_EQ(table.names, (std::vector<std::string>{"a", "b"}));
    ASSERT_EQ(table.values.rows(), 2);
    EXPECT_EQ(table.values(1, 1), -0.004);
    EXPECT_EQ(table.column("b"), 1);
    EXPECT_EQ(table.column("c"), -1);
  }
  EXPECT_EQ(readCsvText("a,b\n").values.rows(), 0);
  EXPECT_EQ(readCsvText("a,b\n").values.cols(), 2);
}

// Every bad cell is named by row and column.
TEST(Csv, BadCells) {
  EXPECT_EQ(messageOf("a,b\n1,2\n3,x\n"),
            "t.csv:3:2: column 'b' has 'x', expected a finite number");
  EXPECT_EQ(messageOf("a,b\n1,\n").rfind("t.csv:2:2: ", 0), 0u);
  EXPECT_EQ(messageOf("a,b\n1,nan\n").rfind("t.csv:2:2: ", 0), 0u);
  EXPECT_EQ(messageOf("a,b\ninf,1\n").rfind("t.csv:2:1: ", 0), 0u);
  EXPECT_EQ(messageOf("a,b\n1\n").rfind("t.csv:2: this row has 1 cells, expected 2", 0), 0u);
  EXPECT_EQ(messageOf("a,b\n1,2,3\n").rfind("t.csv:2: ", 0), 0u);
  EXPECT_EQ(messageOf("a,a\n1,2\n").rfind("t.csv:1:2: ", 0), 0u);
  EXPECT_EQ(messageOf("a,\n1,2\n").rfind("t.csv:1:2: ", 0), 0u);
  EXPECT_EQ(messageOf("1,2\n3,4\n").rfind("t.csv:1:1: ", 0), 0u);
  EXPECT_EQ(messageOf("").rfind("t.csv: the file is empty", 0), 0u);
}

// What is written reads back as exactly the same numbers.
TEST(Csv, RoundTrip) {
  CsvTable table;
  table.names = {"x", "y"};
  table.values.resize(2, 2);
  table.values << 0.1, 1.0 / 3.0, -1e-300, 12345678.9;
  const CsvTable again = readCsvText(csvText(table));
  EXPECT_EQ(again.names, table.names);
  EXPECT_EQ(again.values, table.values);
}

}  // namespace
}  // namespace proprio
