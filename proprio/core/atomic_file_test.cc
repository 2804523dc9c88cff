#include "proprio/core/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <thread>

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

// A FIFO stays one and its reader gets the content, also through a link and beside other files.
TEST_F(AtomicFile, WritesThroughWhatIsNoFile) {
  const std::string fifo = folder_ / "fifo", link = folder_ / "link", plain = folder_ / "plain";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  fs::create_symlink(fifo, link);
  const auto received = [&](const std::function<void()>& write) {
    std::string content;
    std::thread reader([&] { content = readFile(fifo); });
    write();
    reader.join();
    return content;
  };
  EXPECT_EQ(received([&] { writeFileAtomically(fifo, "one"); }), "one");
  EXPECT_EQ(received([&] { writeFileAtomically(link, "two"); }), "two");
  EXPECT_EQ(received([&] { writeFilesTogether({{link, "three"}, {plain, "3"}}); }), "three");
  EXPECT_TRUE(fs::is_fifo(fifo));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(readFile(plain), "3");
  EXPECT_EQ(fileCount(), 3u);
}

// The file that standard output goes to is written to, behind what was printed before; renamed
// over, it would lose all that is printed.
TEST_F(AtomicFile, WritesToStandardOutput) {
  const std::string file = folder_ / "out.txt";
  const int saved = ::dup(STDOUT_FILENO);
  std::fflush(stdout);
  const int out = ::open(file.c_str(), O_WRONLY | O_CREAT, 0600);
  ::dup2(out, STDOUT_FILENO);
  std::printf("before ");
  writeFileAtomically("/dev/stdout", "content ");
  std::printf("after");
  std::fflush(stdout);
  ::dup2(saved, STDOUT_FILENO);
  ::close(out);
  ::close(saved);
  EXPECT_EQ(readFile(file), "before content after");
}

// A file that grows appears when it is finished, and not at all otherwise.
TEST_F(AtomicFile, GrowsUnseen) {
  const std::string path = folder_ / "a";
  writeFileAtomically(path, "old");
  {
    GrowingFile file(path);
    file.append("half");
  }
  EXPECT_EQ(readFile(path), "old");
  GrowingFile file(path);
  file.append("new ");
  file.append("content");
  EXPECT_EQ(readFile(path), "old");
  file.finish();
  EXPECT_EQ(readFile(path), "new content");
  EXPECT_EQ(fileCount(), 1u);
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

// Files that belong together are replaced together, and what is stale is removed; if one of them
// cannot be written none changes.
TEST_F(AtomicFile, WritesTogether) {
  const std::string a = folder_ / "a", b = folder_ / "b", old = folder_ / "old";
  writeFileAtomically(old, "stale");
  writeFilesTogether({{a, "1"}, {b, "1"}}, {old, folder_ / "never was"});
  EXPECT_EQ(readFile(a) + readFile(b), "11");
  EXPECT_EQ(fileCount(), 2u);
  EXPECT_THROW(writeFilesTogether({{a, "2"}, {folder_ / "none" / "b", "2"}}, {b}), Error);
  EXPECT_EQ(readFile(a) + readFile(b), "11");
  EXPECT_EQ(fileCount(), 2u);
}

// A signal at any time leaves no temporary file and no file of one generation beside one of
// another, and the exit code says which signal it was. A child writes pairs as fast as it can; the
// signal comes when a temporary file is seen, so that it hits the writing.
TEST_F(AtomicFile, SignalsLeaveNothingHalfWritten) {
  const std::string a = folder_ / "a", b = folder_ / "b";
  const auto temporaryThere = [&] {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".tmp") return true;
    }
    return false;
  };
  for (int round = 0; round < 20; ++round) {
    const int signal = round % 2 == 0 ? SIGINT : SIGTERM;
    writeFilesTogether({{a, "0"}, {b, "0"}});
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::signal(signal, SIG_DFL);  // where the tests run in the background of a script
      ::close(STDERR_FILENO);
      stopTidily();
      for (int generation = 1; generation < 1000000; ++generation) {
        const std::string content(100000, static_cast<char>('a' + generation % 26));
        writeFilesTogether({{a, content}, {b, content}});
      }
      ::_exit(0);
    }
    while (!temporaryThere()) ::usleep(100);
    ::usleep(static_cast<useconds_t>(300 * round));
    ::kill(child, signal);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 128 + signal);
    EXPECT_EQ(fileCount(), 2u);
    EXPECT_EQ(readFile(a), readFile(b)) << "round " << round;
  }
}

}  // namespace
}  // namespace proprio
