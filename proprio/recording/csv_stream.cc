#include "proprio/recording/csv_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>

#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/recording/compression_internal.h"
#include "proprio/recording/csv_dialect_internal.h"
#include "proprio/recording/csv_number_internal.h"

namespace proprio {
namespace csv {

bool roundSlowly(std::string_view number, char decimal, double& value) {
  const std::optional<double> result = parsedNumber(number, decimal);
  if (result) value = number.front() == '-' && *result == 0.0 ? -0.0 : *result;
  return result.has_value();
}

namespace {

constexpr size_t kCsvBlock = size_t{1} << 20;
constexpr size_t kLongestLine = size_t{64} << 20;
constexpr size_t kChunkNumbers = size_t{1} << 15;  // fits into the second-level cache

// Bytes of a file or of a text, block by block.
class Source {
 public:
  explicit Source(std::string_view text) : text_(text) {}
  explicit Source(const std::string& path) : path_(path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
      throw Error(path + ": is a folder, expected a file");
    if (isGzip(path)) packed_.emplace(path);
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) throw systemError("cannot be opened for reading");
#ifdef POSIX_FADV_SEQUENTIAL
    ::posix_fadvise(file_, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() {
    if (file_ >= 0) ::close(file_);
  }

  // how much to ask for at a time
  size_t block() const { return file_ < 0 ? std::min(kCsvBlock, text_.size() + 1) : kCsvBlock; }
  // 0 at the end; CR that ends lines becomes LF
  size_t read(char* to, size_t most) {
    const size_t count = readBytes(to, most);
    if (first_ && count > 0) {
      // a file that has CR and no LF in its first block has no other line ends; a CR at its end may
      // be half of CRLF
      returns_ =
          std::memchr(to, '\n', count) == nullptr &&
          (std::memchr(to, '\r', count - 1) != nullptr || (count < most && to[count - 1] == '\r'));
      first_ = false;
    }
    if (returns_) std::replace(to, to + count, '\r', '\n');
    return count;
  }

 private:
  size_t readBytes(char* to, size_t most) {
    if (file_ < 0) {
      const size_t count = std::min(most, text_.size());
      std::memcpy(to, text_.data(), count);
      text_.remove_prefix(count);
      return count;
    }
    size_t done = 0;  // a pipe gives little at a time
    while (done < most) {
      const ssize_t count = packed_ ? static_cast<ssize_t>(packed_->read(to + done, most - done))
                                    : ::read(file_, to + done, most - done);
      if (count == 0) break;
      if (count > 0) done += static_cast<size_t>(count);
      if (count < 0 && errno != EINTR) throw systemError("cannot be read");
    }
    return done;
  }

  Error systemError(const char* what) const {
    return Error(path_ + ": " + what + ": " + std::strerror(errno));
  }
  std::string_view text_;
  std::string path_;
  int file_ = -1;
  std::optional<GzipFile> packed_;
  bool first_ = true, returns_ = false;
};

// Whole lines of a source: each call to next() moves on; begin() to end() is text that ends with a
// line end and has padding behind it.
class Lines {
 public:
  Lines(Source& source, std::string file) : source_(source), file_(std::move(file)) {}

  // false when there is nothing more
  bool next() {
    const size_t rest = used_ - end_;
    std::memmove(buffer_.data(), buffer_.data() + end_, rest);
    used_ = rest;
    end_ = 0;
    while (end_ == 0) {
      if (ended_) {
        if (used_ == 0) return false;
        reserve(1);
        buffer_[used_++] = '\n';
        unterminated_ = true;
        end_ = used_;
        break;
      }
      if (used_ > kLongestLine)
        throw Error(fmt::format("{}: has a line of more than {} MB, expected a table", file_,
                                kLongestLine >> 20));
      const size_t block = source_.block();
      reserve(block);
      const size_t count = source_.read(buffer_.data() + used_, block);
      ended_ = count == 0;
      const void* line_end = ::memrchr(buffer_.data() + used_, '\n', count);
      used_ += count;
      if (line_end != nullptr)
        end_ = static_cast<size_t>(static_cast<const char*>(line_end) - buffer_.data()) + 1;
    }
    std::memset(buffer_.data() + used_, 0, kPadding);
    return true;
  }

  const char* begin() const { return buffer_.data(); }
  const char* end() const { return buffer_.data() + end_; }
  // the last line of this block had no line end of its own
  bool unterminated() const { return unterminated_; }

 private:
  void reserve(size_t more) {
    if (buffer_.size() < used_ + more + kPadding) buffer_.resize(used_ + more + kPadding);
  }
  Source& source_;
  std::string file_;
  std::vector<char> buffer_ = std::vector<char>(kPadding);
  size_t used_ = 0, end_ = 0;
  bool ended_ = false, unterminated_ = false;
};

size_t digitsAtEnd(std::string_view line) {
  size_t digits = 0;
  for (size_t k = line.size(); k > 0; --k) {
    const char c = line[k - 1];
    if (c >= '0' && c <= '9')
      ++digits;
    else if (c != '.' && c != '\r' && c != '\n')
      break;
  }
  return digits;
}

// of the numbers at the ends of the last rows; 0 if they are too few to tell
size_t fewestDigits(std::string_view rows) {
  constexpr int kRows = 200;
  size_t fewest = std::string_view::npos;
  int count = 0;
  for (; count < kRows && rows.size() > 1; ++count) {
    const size_t before = rows.rfind('\n', rows.size() - 2);
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    fewest = std::min(fewest, digitsAtEnd(rows.substr(begin)));
    rows = rows.substr(0, begin);
  }
  return count == kRows ? fewest : 0;
}

class Reader {
 public:
  Reader(const std::string& file, const CsvOptions& options, const CsvSink& sink)
      : options_(options), sink_(sink) {
    summary_.layout.file = file;
  }

  CsvSummary read(Source& source) {
    Lines lines(source, summary_.layout.file);
    while (lines.next()) {
      const char* p = lines.begin();
      if (width_ == 0) p = start(p, lines.end());  // again, if the first block is all comments
      block(p, lines.end(), lines.unterminated());
      const std::string_view rows(p, static_cast<size_t>(lines.end() - p));
      if (lines.unterminated())
        noteLineEnd(rows);
      else
        fewest_digits_ = fewestDigits(rows);
    }
    if (width_ == 0) {
      throw Error(summary_.layout.file +
                  ": the file is empty; expected a line of column names or numbers");
    }
    flush();
    if (decimal_in_quotes_ == ',')
      summary_.notes.push_back("commas in quotes were read as decimal commas");
    if (repeated_ > 0) {
      summary_.notes.push_back(fmt::format(
          "{} line{} that repeat{} the names of the columns {} skipped", repeated_,
          repeated_ == 1 ? "" : "s", repeated_ == 1 ? "s" : "", repeated_ == 1 ? "was" : "were"));
    }
    if (trailer_ > 0) {
      summary_.notes.push_back(fmt::format("{} line{} of text below the table {} skipped", trailer_,
                                           trailer_ == 1 ? "" : "s",
                                           trailer_ == 1 ? "was" : "were"));
    }
    if (remarks_ > 0) {
      summary_.notes.push_back(
          fmt::format("{} cell{} with text in columns that are empty at first {} read as missing",
                      remarks_, remarks_ == 1 ? "" : "s", remarks_ == 1 ? "was" : "were"));
    }
    return std::move(summary_);
  }

 private:
  // decides on the dialect from the first block and skips what precedes the first row
  const char* start(const char* p, const char* end);
  void block(const char* p, const char* end, bool unterminated);
  template <bool Mixed>
  bool fastRow(const char*& p);
  void fixJoints(const Dialect& dialect);
  bool mixedCell(size_t cell, const char*& q, double& value);
  void slowRow(std::string_view line, bool cut_off);
  bool slowCell(std::string_view cell, double& value);
  void bad(int column, const std::string& sentence, bool cut_off);
  void noteLineEnd(std::string_view line);
  bool isTrailer() const;
  void refuseTrailer(const char* p, const char* end);

  void push() {
    ++summary_.rows;
    if (++filled_ * width_ + width_ > chunk_.size()) flush();
  }
  void flush() {
    if (filled_ == 0) return;
    sink_(summary_.layout, CsvRows(chunk_.data(), static_cast<Eigen::Index>(filled_),
                                   static_cast<Eigen::Index>(width_)));
    filled_ = 0;
  }
  double* row() { return chunk_.data() + filled_ * width_; }

  CsvOptions options_;
  const CsvSink& sink_;
  CsvSummary summary_;
  bool blanks_ = false;           // any run of blanks separates
  char decimal_ = '.';            // becomes ',' with the first number that has one
  bool saw_decimal_ = false;      // from then on it is fixed
  char decimal_in_quotes_ = '.';  // of cells between commas
  int64_t line_ = 0;              // of the row being read, from 1
  size_t width_ = 0, filled_ = 0;
  std::vector<CellKind> kinds_;      // of the cells of a row
  std::vector<std::string> joints_;  // of those that name one
  bool mixed_ = false;               // not all of them are numbers
  int64_t remarks_ = 0;              // cells with text in columns that were empty before
  int64_t trailer_ = 0;              // lines without a number since the last row
  std::string trailer_problem_;      // what to say of the first of them if rows follow
  int64_t trailer_line_ = 0;
  std::vector<std::string> header_;  // lines of names and units
  int64_t repeated_ = 0;             // of them between rows
  size_t fewest_digits_ = 0;         // at the ends of the rows before this block
  std::vector<double> chunk_;
  std::vector<std::string_view> cells_;
};

const char* Reader::start(const char* p, const char* end) {
  const Dialect dialect =
      findDialect({p, static_cast<size_t>(end - p)}, options_, summary_.layout.file);
  summary_.layout.columns = dialect.columns;
  summary_.layout.separator = dialect.separator;
  if (dialect.names_line > 0)
    summary_.layout.names_line = static_cast<int>(line_) + dialect.names_line;
  blanks_ = dialect.separator == ' ';
  line_ += dialect.lines_before_rows;
  width_ = dialect.columns.size();
  summary_.layout.texts = dialect.texts;
  summary_.notes = dialect.notes;
  kinds_ = dialect.cells;
  header_ = dialect.header;
  fixJoints(dialect);
  mixed_ = std::any_of(kinds_.begin(), kinds_.end(),
                       [](CellKind kind) { return kind != CellKind::kNumber; });
  if (width_ == 0 && !kinds_.empty())
    throw Error(summary_.layout.file + ": has no column of numbers, expected a table of numbers");
  if (width_ > 0) chunk_.resize(width_ * std::max<size_t>(1, kChunkNumbers / width_));
  return p + dialect.bytes_before_rows;
}

void Reader::block(const char* p, const char* end, bool unterminated) {
  while (p < end) {
    ++line_;
    const char* begin = p;
    if (trailer_ > 0) refuseTrailer(begin, end);
    if (mixed_ ? fastRow<true>(p) : fastRow<false>(p)) {
      push();
      continue;
    }
    const char* line_end =
        static_cast<const char*>(std::memchr(begin, '\n', static_cast<size_t>(end - begin)));
    p = line_end + 1;
    slowRow({begin, static_cast<size_t>(line_end - begin)}, unterminated && p == end);
  }
}

// Columns that say whose the numbers of a row are must say the same in every row.
void Reader::fixJoints(const Dialect& dialect) {
  joints_.resize(kinds_.size());
  const bool states = areJointStates(dialect.columns, dialect.texts.size());
  for (const CsvText& text : dialect.texts) {
    if (!listsJoints(text) && !(states && !text.value.empty())) continue;
    const auto cell = static_cast<size_t>(text.number - 1);
    kinds_[cell] = CellKind::kJoint;
    joints_[cell] = text.value;
  }
}

// a cell that need not be a number, up to the separator behind it
bool Reader::mixedCell(size_t place, const char*& q, double& value) {
  const CellKind kind = kinds_[place];
  const char separator = summary_.layout.separator;
  const auto ends = [&](char c) {
    return c == '\n' || c == '\r' || c == separator || (blanks_ && (c == ' ' || c == '\t'));
  };
  const char* end = q;
  if (*q == '"') {
    for (++end; *end != '"' && *end != '\n';) ++end;
    if (*end == '"') ++end;
  }
  while (!ends(*end)) ++end;
  const std::string_view cell(q, static_cast<size_t>(end - q));
  q = end;
  if (kind == CellKind::kText) return true;
  if (kind == CellKind::kJoint) return trimmed(cell) == joints_[place];
  value = std::numeric_limits<double>::quiet_NaN();
  if (cell.empty()) return true;
  if (kind == CellKind::kEmpty) return false;
  const auto stamp = parseStamp(trimmed(cell));
  if (stamp) value = *stamp;
  return stamp.has_value();
}

// a row of plain numbers, or of cells as they were at first; false (and p unchanged) for everything
// that needs a closer look
template <bool Mixed>
bool Reader::fastRow(const char*& p) {
  const char* q = p;
  double* out = row();
  const char separator = summary_.layout.separator;
  const auto skip = [this, &q] {
    while (*q == ' ' || (blanks_ && *q == '\t')) ++q;
  };
  const size_t cells = Mixed ? kinds_.size() : width_;
  for (size_t c = 0; c < cells; ++c) {
    if (c > 0 && !blanks_) {
      if (*q != separator) return false;
      ++q;
    }
    skip();
    if constexpr (Mixed) {
      if (kinds_[c] != CellKind::kNumber) {
        double value = 0.0;
        if (!mixedCell(c, q, value)) return false;
        if (kinds_[c] != CellKind::kText && kinds_[c] != CellKind::kJoint) *out++ = value;
        continue;
      }
    }
    const char* behind = scanNumber(q, decimal_, *out++, saw_decimal_);
    if (behind == nullptr) return false;
    // "1-2" are not two numbers
    if (blanks_ && *behind != ' ' && *behind != '\t' && *behind != '\r' && *behind != '\n')
      return false;
    q = behind;
    skip();
  }
  if (*q == separator && !blanks_) {
    ++q;
    skip();
  }
  if (*q == '\r') ++q;
  if (*q != '\n') return false;
  p = q + 1;
  return true;
}

bool Reader::slowCell(std::string_view cell, double& value) {
  if (const auto word = valueOfWord(cell)) {
    value = *word;
    return !options_.finite || std::isfinite(value);
  }
  // a decimal comma, unless the numbers so far have points; between commas it stands in quotes,
  // which rows of plain numbers do not have
  char& decimal = summary_.layout.separator == ',' ? decimal_in_quotes_ : decimal_;
  if (cell.find(',') != std::string_view::npos && !saw_decimal_) decimal = ',';
  std::string text(cell);  // rare, so that its copy does not matter
  text.append(1 + kPadding, '\0');
  const char* behind = scanNumber(text.data(), decimal, value, saw_decimal_);
  return behind == text.data() + cell.size();
}

void Reader::slowRow(std::string_view line, bool cut_off) {
  if (!isRow(line)) return;
  if (std::find(header_.begin(), header_.end(), trimmed(line)) != header_.end()) {
    ++repeated_;  // recordings that were put together with their headers
    return;
  }
  splitCells(line, summary_.layout.separator, cells_);
  const size_t expected = kinds_.size();
  if (cells_.size() == expected + 1 && cells_.back().empty()) cells_.pop_back();
  if (cells_.size() != expected) {
    const std::string found = fmt::format("has {} cell{}, expected {}", cells_.size(),
                                          cells_.size() == 1 ? "" : "s", expected);
    if (options_.names == CsvNames::kDetect && !options_.drop_bad_rows && isTrailer()) {
      if (trailer_++ == 0) {
        trailer_problem_ = fmt::format("this row {}, one per column{}", found,
                                       summary_.layout.names_line > 0 ? " name" : "");
        trailer_line_ = line_;
      }
      return;
    }
    if (cut_off && cells_.size() < expected)
      return bad(0, fmt::format("the last row is cut off: it {}", found), true);
    return bad(0,
               fmt::format("this row {}, one per column{}", found,
                           summary_.layout.names_line > 0 ? " name" : ""),
               false);
  }
  double* out = row();
  size_t kept = 0;
  for (size_t c = 0; c < expected; ++c) {
    if (kinds_[c] == CellKind::kText) continue;
    if (kinds_[c] == CellKind::kJoint) {
      if (utf8(cells_[c]) == joints_[c]) continue;
      return bad(static_cast<int>(c) + 1,
                 fmt::format("names the joint {} where the first row has {}: messages of several "
                             "publishers, or in another order; keep the rows of one "
                             "(proprio log --drop-bad-rows keeps those like the first)",
                             inQuotes(cells_[c]), inQuotes(joints_[c])),
                 false);
    }
    double& value = out[kept++];
    if (slowCell(cells_[c], value)) continue;
    if (kinds_[c] == CellKind::kStamp) {
      const auto stamp = parseStamp(cells_[c]);
      if (stamp) value = *stamp;
      if (stamp) continue;
    }
    if (kinds_[c] == CellKind::kEmpty) {
      value = std::numeric_limits<double>::quiet_NaN();
      ++remarks_;
      continue;
    }
    return bad(static_cast<int>(c) + 1,
               fmt::format("column {} has {}, expected a {}",
                           inQuotes(summary_.layout.columns[kept - 1].name), inQuotes(cells_[c]),
                           kinds_[c] == CellKind::kStamp ? "date and time like those before"
                           : summary_.layout.separator == ',' &&
                                   cells_[c].find(',') != std::string_view::npos
                               ? "number; write a decimal point, or separate cells by semicolons"
                           : options_.finite ? "finite number"
                                             : "number"),
               cut_off && c + 1 == expected);
  }
  push();
}

// A file may end so, or be cut off inside of its last number, which then reads as another one.
void Reader::noteLineEnd(std::string_view line) {
  if (summary_.rows < 2 || summary_.cut_off || options_.names != CsvNames::kDetect) return;
  const bool shorter = digitsAtEnd(line) < fewest_digits_;
  summary_.notes.push_back(
      shorter ? "the last row has no line end and ends with a shorter number than the rows before: "
                "the file is cut off there, and this number is not whole"
              : "the last row has no line end: if the file was cut off, its last number is not "
                "whole");
}

// a line of words, as some programs write it below the table
bool Reader::isTrailer() const {
  return summary_.rows > 0 &&
         std::none_of(cells_.begin(), cells_.end(),
                      [&](std::string_view cell) { return !cell.empty() && isNumber(cell); });
}

// rows below such lines: they were damaged rows
void Reader::refuseTrailer(const char* p, const char* end) {
  const char* line_end =
      static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(end - p)));
  const std::string_view line(p, static_cast<size_t>(line_end - p));
  splitCells(line, summary_.layout.separator, cells_);
  if (!isRow(line) || isTrailer()) return;
  line_ = trailer_line_;
  bad(0, trailer_problem_, false);
}

void Reader::bad(int column, const std::string& sentence, bool cut_off) {
  const auto line = static_cast<int>(std::min<int64_t>(line_, std::numeric_limits<int>::max()));
  const Error error = errorAt({summary_.layout.file, line, column}, sentence);
  if (!options_.drop_bad_rows) throw error;
  if (summary_.dropped++ == 0) summary_.first_problem = error.what();
  summary_.cut_off = cut_off;
}

}  // namespace
}  // namespace csv

CsvSummary streamCsv(const std::string& path, const CsvOptions& options, const CsvSink& sink) {
  csv::Source source(path);
  return csv::Reader(path, options, sink).read(source);
}

CsvSummary streamCsvText(const std::string& text, const std::string& file_name,
                         const CsvOptions& options, const CsvSink& sink) {
  csv::Source source(std::string_view{text});
  return csv::Reader(file_name, options, sink).read(source);
}

}  // namespace proprio
