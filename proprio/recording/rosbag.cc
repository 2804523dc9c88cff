#include "proprio/recording/rosbag.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>

#include "proprio/core/atomic_file.h"
#include "proprio/core/text.h"
#include "proprio/recording/byte_reader_internal.h"
#include "proprio/recording/compression_internal.h"
#include "proprio/recording/mcap_internal.h"
#include "proprio/recording/message_log_internal.h"

namespace proprio {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
constexpr uint64_t kLargestDatabase = uint64_t{1} << 33;  // 8 GiB, decompressed in memory
constexpr uint64_t kLargestMessage = uint64_t{1} << 30;

class Database {
 public:
  explicit Database(const std::string& path) : path_(path) {
    if (path.ends_with(".zstd")) {
      memory_ =
          decompressedUnsized(Compression::kZstd, MappedFile(path).bytes(), kLargestDatabase, path);
      requireWhole(memory_);
      openMemory();
    } else {
      requireWhole(MappedFile(path).bytes());
      open("file:" + escaped(fs::absolute(path).string()) + "?mode=ro&immutable=1");
    }
  }
  ~Database() { sqlite3_close(handle_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Error error(const std::string& what) const {
    return Error(fmt::format("{}: {}: {}", path_, what, sqlite3_errmsg(handle_)));
  }
  sqlite3* handle() const { return handle_; }

 private:
  static std::string escaped(const std::string& path) {
    std::string out;
    for (const char c : path) {
      if (c == '%' || c == '?' || c == '#')
        out += fmt::format("%{:02X}", static_cast<int>(c));
      else
        out += c;
    }
    return out;
  }
  void open(const std::string& uri) {
    if (sqlite3_open_v2(uri.c_str(), &handle_, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr) !=
        SQLITE_OK) {
      const Error failure = error("cannot be opened");
      sqlite3_close(handle_);
      throw failure;
    }
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  }
  // SQLite itself takes the missing part of the last page for zeros
  void requireWhole(std::string_view bytes) const {
    ByteReader reader(bytes, path_, 0, true);
    if (!bytes.starts_with("SQLite format 3"))
      throw reader.error("this is not an SQLite database, as ROS 2 bags are");
    reader.take(16, "the header");
    const auto page = reader.read<uint16_t>("the page size");
    reader.take(6, "the header");
    const auto changes = reader.read<uint32_t>("the change counter");
    const auto pages = reader.read<uint32_t>("the number of pages");
    reader.seek(92, "the header");
    // the number of pages counts only if the last writer knew of it
    const bool valid = reader.read<uint32_t>("the version") == changes;
    const uint64_t size = uint64_t{page == 1 ? 65536u : page} * pages;
    if (valid && size > bytes.size())
      throw Error(fmt::format("{}: has {} bytes but its header says {}; the file is cut off", path_,
                              bytes.size(), size));
  }
  void openMemory() {
    open("file::memory:");
    const auto size = static_cast<sqlite3_int64>(memory_.size());
    if (sqlite3_deserialize(handle_, "main", reinterpret_cast<unsigned char*>(memory_.data()), size,
                            size, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) {
      const Error failure = error("cannot be opened");
      sqlite3_close(handle_);
      throw failure;
    }
  }

  std::string path_;
  std::string memory_;  ///< outlives the handle
  sqlite3* handle_ = nullptr;
};

class Query {
 public:
  Query(const Database& database, const std::string& sql) : database_(database) {
    if (sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK)
      throw database.error("is not a ROS 2 bag");
  }
  ~Query() { sqlite3_finalize(statement_); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  bool next() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) throw database_.error("is damaged");
    return code == SQLITE_ROW;
  }
  int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  std::string_view bytes(int column) const {
    const void* data = sqlite3_column_blob(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return data == nullptr
               ? std::string_view()
               : std::string_view(static_cast<const char*>(data), static_cast<size_t>(size));
  }
  std::string text(int column) const { return std::string(bytes(column)); }

 private:
  const Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

// a view in place of a table could compute for ever
void requireTables(const Database& database, const std::string& path) {
  Query query(database,
              "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('topics', "
              "'messages')");
  if (!query.next() || query.integer(0) != 2)
    throw Error(path +
                ": is an SQLite database but not a ROS 2 bag: expected the tables 'topics' "
                "and 'messages'");
}

void readDatabase(const std::string& path, MessageLog& log, Notes* notes) {
  const Database database(path);
  requireTables(database, path);
  std::error_code ignored;
  if (fs::file_size(path + "-wal", ignored) > 0 && !ignored) {
    note(notes, fmt::format("{}: the recorder was not closed, its newest messages in {}-wal were "
                            "not read",
                            path, path));
  }
  Query topics(database, "SELECT id, name, type, serialization_format FROM topics ORDER BY id");
  std::string buffer;
  while (topics.next()) {
    const int64_t id = topics.integer(0);
    const std::string topic = topics.text(1), type = topics.text(2), encoding = topics.text(3);
    if (!log.knows(topic, type, encoding)) continue;
    Query messages(database,
                   fmt::format("SELECT timestamp, data FROM messages WHERE topic_id = {} ORDER BY "
                               "timestamp, id",
                               id));
    while (messages.next()) {
      std::string_view bytes = messages.bytes(1);
      if (bytes.starts_with(kZstdMagic)) {
        buffer = decompressedUnsized(Compression::kZstd, bytes, kLargestMessage,
                                     fmt::format("{}: topic {}", path, inQuotes(topic)));
        bytes = buffer;
      }
      log.add(path, topic, type, encoding, messages.integer(0), bytes);
    }
  }
}

bool isDatabase(const std::string& path) {
  return path.ends_with(".db3") || path.ends_with(".db3.zstd");
}

void readOne(const std::string& path, bool skip_bad, MessageLog& log, Notes* notes) {
  if (path.ends_with(".mcap")) {
    const MappedFile file(path);
    readMcapMessages(file.bytes(), path, {skip_bad}, log, notes);
  } else {
    readDatabase(path, log, notes);
  }
}

// The files that metadata.yaml names and that exist.
std::vector<std::string> filesInMetadata(const fs::path& folder, Notes* notes) {
  std::vector<std::string> files;
  const std::string metadata = (folder / "metadata.yaml").string();
  try {
    const YAML::Node root = YAML::Load(readFile(metadata));
    for (const YAML::Node& name : root["rosbag2_bagfile_information"]["relative_file_paths"]) {
      const fs::path file = folder / name.as<std::string>();
      // older bags give the path from the folder around the bag
      const fs::path beside = folder / file.filename();
      std::error_code ignored;
      if (fs::is_regular_file(file, ignored)) {
        files.push_back(file.string());
      } else if (fs::is_regular_file(beside, ignored)) {
        files.push_back(beside.string());
      } else {
        note(notes, fmt::format("{}: names {}, which is not there", metadata,
                                inQuotes(name.as<std::string>())));
      }
    }
  } catch (const YAML::Exception& error) {
    note(notes, fmt::format("{}: cannot be understood: {}", metadata, error.what()));
  } catch (const Error& error) {
    note(notes, error.what());
  }
  return files;
}

std::vector<std::string> bagFiles(const std::string& folder, Notes* notes) {
  std::vector<std::string> files = filesInMetadata(folder, notes);
  if (!files.empty()) return files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (isDatabase(path) || path.ends_with(".mcap")) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  if (files.empty())
    throw Error(folder +
                ": is a folder without a ROS 2 bag; expected metadata.yaml and a .db3 or .mcap "
                "file");
  return files;
}

}  // namespace

std::vector<Recording> readRosbag(const std::string& path, Notes* notes, bool skip_bad) {
  if (!fs::is_directory(path)) {
    MessageLog log(path, notes, skip_bad);
    readOne(path, skip_bad, log, notes);
    return log.finish();
  }
  // the files that metadata names are parts of one bag; others are bags of their own
  const std::vector<std::string> named = filesInMetadata(path, nullptr);
  const std::vector<std::string> files = bagFiles(path, notes);
  if (!named.empty()) {
    MessageLog log(path, notes, skip_bad);
    for (const std::string& file : files) readOne(file, skip_bad, log, notes);
    return log.finish();
  }
  std::vector<Recording> recordings;
  for (const std::string& file : files) {
    for (Recording& recording : readRosbag(file, notes, skip_bad))
      recordings.push_back(std::move(recording));
  }
  return recordings;
}

}  // namespace proprio
