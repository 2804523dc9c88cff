#include "proprio/core/atomic_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "proprio/core/error.h"
#include "proprio/core/testing/temp_folder.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;

class AtomicFile : public ::testing::Test {
 protected:
  size_t fileCount() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  testing::TempFolder own_;
  const fs::path& folder_ = own_.path();
};

// What is written is read back byte for byte, zero bytes and line ends of every kind included, and
// no temporary file stays behind.
TEST_F(AtomicFile, WritesAndReads) {
  const std::string path = folder_ / "a.bin";
  const std::string content("a\r\nb\0c\n", 7);
  writeFileAtomically(path, "first");
  writeFileAtomically(path, content);
  EXPECT_EQ(readFile(path), content);
  EXPECT_EQ(fileCount(), 1u);
}

// Permissions of the replaced file are kept, and a link stays a link.
TEST_F(AtomicFile, KeepsPermissionsAndLinks) {
  const fs::path path = folder_ / "a.txt", link = folder_ / "link.txt";
  writeFileAtomically(path, "old");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(path, link);
  writeFileAtomically(link, "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(readFile(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

// Failures name the file and the reason, and leave nothing behind.
TEST_F(AtomicFile, FailuresSpeak) {
  const auto message = [](auto&& action) {
    try {
      action();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string missing = folder_ / "none" / "a.txt";
  EXPECT_NE(message([&] { writeFileAtomically(missing, "x"); }).find("No such file"),
            std::string::npos);
  EXPECT_NE(message([&] { readFile(missing); }).find(missing), std::string::npos);
  EXPECT_NE(message([&] { readFile(folder_); }).find("is a folder"), std::string::npos);
  EXPECT_NE(message([&] { writeFileAtomically(folder_, "x"); }).find("cannot be written"),
            std::string::npos);
  writeFileAtomically(folder_ / "large", std::string(100, 'x'));
  EXPECT_NE(message([&] { readFile(folder_ / "large", 99); }).find("too large"), std::string::npos);
  EXPECT_EQ(fileCount(), 1u);
}

}  // namespace
}  // namespace proprio
