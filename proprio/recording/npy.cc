#include "proprio/recording/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>

#include "proprio/core/atomic_file.h"
#include "proprio/core/text.h"
#include "proprio/recording/byte_reader_internal.h"
#include "proprio/recording/growing_recording_internal.h"
#include "proprio/recording/named_arrays_internal.h"
#include "proprio/recording/zip_archive_internal.h"

namespace proprio {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// A field of a structured array: ('q', '<f8') or ('q', '<f8', (7,)).
struct NpyField {
  std::string name, type;
  uint64_t count = 1;  ///< numbers per element
};

struct NpyHeader {
  std::string type;  ///< "<f8"; empty for a structured array
  std::vector<NpyField> fields;
  bool fortran_order = false;
  std::vector<uint64_t> shape;
};

// The Python literal {'descr': '<f8', 'fortran_order': False, 'shape': (5027, 7), }.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  std::optional<NpyHeader> parse() {
    NpyHeader header;
    int found = 0;
    if (!eat('{')) return std::nullopt;
    while (!eat('}')) {
      const auto key = quoted();
      if (!key || !eat(':')) return std::nullopt;
      bool good = false;
      if (*key == "descr") good = parseType(header);
      if (*key == "fortran_order") good = parseBool(header.fortran_order);
      if (*key == "shape") good = parseShape(header.shape);
      if (!good) return std::nullopt;
      ++found;
      eat(',');
    }
    skipSpace();
    if (found != 3 || !rest_.empty()) return std::nullopt;
    return header;
  }

 private:
  void skipSpace() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }
  bool eat(char c) {
    skipSpace();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<std::string> quoted() {
    skipSpace();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }
  // a list of fields (structured array) leaves the type empty
  bool parseType(NpyHeader& header) {
    if (const auto text = quoted()) {
      header.type = *text;
      return true;
    }
    if (!eat('[')) return false;
    while (!eat(']')) {
      NpyField field;
      if (!eat('(') || !parseField(field)) return false;
      header.fields.push_back(std::move(field));
      eat(',');
    }
    return true;
  }
  bool parseField(NpyField& field) {
    const bool titled = eat('(');  // ('title', 'name')
    auto name = quoted();
    if (titled) {
      if (!name || !eat(',')) return false;
      name = quoted();
      if (!eat(')')) return false;
    }
    if (!name || !eat(',')) return false;
    field.name = *name;
    if (const auto type = quoted()) {
      field.type = *type;
    } else {
      NpyHeader inner;  // fields within a field are not read
      if (++depth_ > 8 || !parseType(inner)) return false;
    }
    if (!eat(',')) return eat(')');
    std::vector<uint64_t> shape;
    if (!parseShape(shape)) return false;
    for (const uint64_t size : shape) {
      if (__builtin_mul_overflow(field.count, size, &field.count)) return false;
    }
    eat(',');
    return eat(')');
  }
  bool parseBool(bool& value) {
    skipSpace();
    for (const auto& [word, meaning] :
         {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      value = meaning;
      return true;
    }
    return false;
  }
  bool parseShape(std::vector<uint64_t>& shape) {
    if (!eat('(')) return false;
    while (!eat(')')) {
      uint64_t size = 0;
      int digits = 0;
      for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; rest_.remove_prefix(1)) {
        size = 10 * size + static_cast<uint64_t>(rest_[0] - '0');
        if (++digits > 18) return false;
      }
      if (digits == 0 || shape.size() == 64) return false;
      shape.push_back(size);
      eat(',');
      skipSpace();
    }
    return true;
  }

  std::string_view rest_;
  int depth_ = 0;
};

struct NpyArray {
  std::optional<Eigen::MatrixXd> values;
  std::string reason;              ///< why there are none
  std::vector<NamedArray> fields;  ///< of a structured array
  std::vector<std::string> texts;  ///< of an array of text with one dimension
};

std::string whyNotReadable(const std::string& type) {
  if (type.empty()) return "is a structured array with fields within fields; save them apart";
  const char kind = type.size() > 1 ? type[1] : '?';
  if (kind == 'O')
    return "holds Python objects (pickle), which could run any code and are never read; save "
           "plain numbers";
  if (kind == 'U' || kind == 'S') return "holds text";
  if (kind == 'c') return "holds complex numbers; save real and imaginary part apart";
  if (kind == 'M' || kind == 'm') return "holds dates; save seconds as f8";
  return fmt::format("has type {}, expected f2, f4, f8, i1 to i8, u1 to u8 or bool",
                     inQuotes(type));
}

template <typename T>
double plainValue(T number) {
  return static_cast<double>(number);
}

// IEEE 754 binary16: sign, 5 bits of exponent, 10 of fraction
double halfValue(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  double size = std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 0) size = std::ldexp(fraction, -24);
  if (exponent == 0x1f) size = fraction == 0 ? HUGE_VAL : std::nan("");
  return (bits & 0x8000) != 0 ? -size : size;
}

template <typename T, double (*Value)(T) = plainValue<T>>
void convert(std::string_view bytes, bool big_endian, bool column_major, Eigen::MatrixXd& out) {
  ByteReader reader(bytes, "", 0, big_endian);
  if (column_major) {
    for (Eigen::Index c = 0; c < out.cols(); ++c)
      for (Eigen::Index r = 0; r < out.rows(); ++r) out(r, c) = Value(reader.read<T>("a number"));
  } else {
    for (Eigen::Index r = 0; r < out.rows(); ++r)
      for (Eigen::Index c = 0; c < out.cols(); ++c) out(r, c) = Value(reader.read<T>("a number"));
  }
}

using Converter = void (*)(std::string_view, bool, bool, Eigen::MatrixXd&);

Converter converterFor(const std::string& type) {
  const std::string kind = type.size() == 3 ? type.substr(1) : "";
  if (kind == "f8") return convert<double>;
  if (kind == "f4") return convert<float>;
  if (kind == "f2") return convert<uint16_t, halfValue>;
  if (kind == "i1") return convert<int8_t>;
  if (kind == "i2") return convert<int16_t>;
  if (kind == "i4") return convert<int32_t>;
  if (kind == "i8") return convert<int64_t>;
  if (kind == "u1" || kind == "b1") return convert<uint8_t>;
  if (kind == "u2") return convert<uint16_t>;
  if (kind == "u4") return convert<uint32_t>;
  if (kind == "u8") return convert<uint64_t>;
  return nullptr;
}

NpyHeader readHeader(ByteReader& reader, const std::string& array) {
  const std::string of = array.empty() ? "" : " of array " + inQuotes(array);
  if (reader.left() < kMagic.size() || reader.take(kMagic.size(), "the magic") != kMagic)
    throw reader.error("expected the magic \\x93NUMPY at the start" + of);
  const auto major = reader.read<uint8_t>("the version");
  reader.read<uint8_t>("the version");
  if (major < 1 || major > 3) {
    throw reader.error(fmt::format("format version {}{}, expected 1 to 3", major, of));
  }
  const uint32_t size = major == 1 ? reader.read<uint16_t>("the size of the header")
                                   : reader.read<uint32_t>("the size of the header");
  const std::string_view text = reader.take(size, "the header");
  const auto header = HeaderParser(text).parse();
  if (!header) {
    throw reader.error(
        fmt::format("the header{} is {}, expected {{'descr': '<f8', "
                    "'fortran_order': False, 'shape': (rows, columns), }}",
                    of, inQuotes(text)));
  }
  return *header;
}

// A list of texts, S (bytes) or U (four bytes per character); empty if it is none, or damaged.
std::vector<std::string> readNpyTexts(ByteReader& reader, const NpyHeader& header) {
  const bool wide = header.type.size() > 2 && header.type[1] == 'U';
  const double length =
      header.type.size() > 2 ? parseNumber(header.type.substr(2)).value_or(0.0) : 0.0;
  constexpr double kLongest = 1000.0;
  if ((!wide && header.type[1] != 'S') || header.shape.size() != 1 ||
      !(length >= 1.0 && length <= kLongest))
    return {};
  const auto characters = static_cast<uint64_t>(length);
  const uint64_t size = characters * (wide ? 4 : 1);
  if (header.shape[0] > reader.left() / size) return {};
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < header.shape[0]; ++i) {
    ByteReader text(reader.take(size, "a text"), "", 0, header.type[0] == '>');
    texts.emplace_back();
    for (uint64_t k = 0; k < characters; ++k) {
      const uint32_t c =
          wide ? text.read<uint32_t>("a character") : text.read<uint8_t>("a character");
      if (c != 0) texts.back() += c < 0x80 ? static_cast<char>(c) : '?';
    }
  }
  return texts;
}

/// Bytes of one number or text of a type such as <f8 or <U12; 0 if it cannot be told.
uint64_t typeSize(const std::string& type) {
  const double count = type.size() > 2 ? parseNumber(type.substr(2)).value_or(0.0) : 0.0;
  constexpr double kMost = 1e6;
  if (!(count >= 1.0 && count <= kMost) || count != std::floor(count)) return 0;
  return static_cast<uint64_t>(count) * (type[1] == 'U' ? 4 : 1);
}

/// The fields of a structured array with one dimension, each an array of its own; those that are no
/// numbers are named in `reason`.
NpyArray parseFields(ByteReader& reader, const NpyHeader& header, const std::string& array) {
  NpyArray out;
  uint64_t element = 0;
  bool sized = header.shape.size() == 1 && !header.fields.empty();
  for (const NpyField& field : header.fields) {
    const uint64_t size = typeSize(field.type);
    uint64_t bytes = 0;
    sized = sized && size > 0 && !__builtin_mul_overflow(size, field.count, &bytes) &&
            !__builtin_add_overflow(element, bytes, &element);
  }
  if (!sized) {
    out.reason = header.shape.size() == 1
                     ? whyNotReadable("")
                     : fmt::format("is a structured array of {} dimensions, expected one",
                                   header.shape.size());
    return out;
  }
  const uint64_t rows = header.shape[0];
  if (element == 0 || rows > reader.left() / element) {
    throw reader.error(
        fmt::format("array {} of {} elements of {} bytes needs more than the {} bytes that are "
                    "left; the file is cut off or its header is wrong",
                    inQuotes(array), rows, element, reader.left()));
  }
  const std::string_view bytes = reader.take(rows * element, "the elements");
  uint64_t offset = 0;
  for (const NpyField& field : header.fields) {
    const uint64_t size = typeSize(field.type) * field.count;
    const Converter converter = converterFor(field.type);
    if (converter == nullptr || field.name.empty()) {
      out.reason += fmt::format("{}{}", out.reason.empty() ? "" : ", ", inQuotes(field.name));
    } else {
      Eigen::MatrixXd values(static_cast<Eigen::Index>(rows),
                             static_cast<Eigen::Index>(field.count));
      std::string packed;
      packed.reserve(rows * size);
      for (uint64_t r = 0; r < rows; ++r) packed += bytes.substr(r * element + offset, size);
      converter(packed, field.type[0] == '>', false, values);
      out.fields.push_back({array + "/" + field.name, std::move(values), "", {}});
    }
    offset += size;
  }
  if (!out.reason.empty()) out.reason = "has fields that are no numbers: " + out.reason;
  return out;
}

NpyArray parseArray(ByteReader& reader, const std::string& array) {
  const NpyHeader header = readHeader(reader, array);
  if (header.type.empty()) return parseFields(reader, header, array);
  const Converter converter = converterFor(header.type);
  if (converter == nullptr && header.type.size() > 1)
    return {std::nullopt, whyNotReadable(header.type), {}, readNpyTexts(reader, header)};
  if (converter == nullptr) return {std::nullopt, whyNotReadable(header.type), {}, {}};
  uint64_t bytes = static_cast<uint64_t>(header.type[2] - '0');
  for (const uint64_t size : header.shape) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) bytes = ~uint64_t{0};
  }
  if (bytes > reader.left()) {
    throw reader.error(
        fmt::format("array {} of type {} and shape ({}) needs {} bytes but only {} "
                    "are left; the file is cut off or its header is wrong",
                    inQuotes(array), inQuotes(header.type), fmt::join(header.shape, ", "), bytes,
                    reader.left()));
  }
  const auto sizes = tableSizes(header.shape);
  if (sizes.size() > 2) {
    return {std::nullopt,
            fmt::format("has {} dimensions, shape ({}); only one and two are "
                        "signals: save each sequence apart",
                        header.shape.size(), fmt::join(header.shape, ", ")),
            {},
            {}};
  }
  const auto dimension = [&](size_t i) {
    return i < sizes.size() ? static_cast<Eigen::Index>(sizes[i]) : 1;
  };
  Eigen::MatrixXd values;
  // an array without elements may state any other size
  if (bytes > 0) values.resize(dimension(0), dimension(1));
  converter(reader.take(bytes, "the numbers"), header.type[0] == '>', header.fortran_order, values);
  return {values, "", {}, {}};
}

std::string npyHeader(Eigen::Index rows, Eigen::Index columns) {
  const std::string shape =
      columns == 1 ? fmt::format("({},)", rows) : fmt::format("({}, {})", rows, columns);
  std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': {}, }}", shape);
  header.append(63 - (kMagic.size() + 4 + header.size()) % 64, ' ');
  header += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out + header;
}

std::string npyBytes(const Eigen::MatrixXd& values) {
  return npyHeader(values.rows(), values.cols()) + rowBytes(values);
}

class GrowingNpz : public GrowingArrays {
 public:
  using GrowingArrays::GrowingArrays;

 private:
  void begin(const std::vector<NamedArray>& arrays, const std::string& json) override {
    for (const NamedArray& array : arrays) {
      const std::string header = npyHeader(rows_, array.values.cols());
      const auto numbers =
          static_cast<uint64_t>(rows_) * static_cast<uint64_t>(array.values.cols());
      const uint64_t at =
          places_.add(array.name + ".npy", header.size() + numbers * sizeof(double));
      file_.writeAt(at, header);
      places_.written(offsets_.size(), header);
      offsets_.push_back(at + header.size());
    }
    file_.writeAt(places_.add(kChannelsJsonName, json.size()), json);
    places_.written(offsets_.size(), json);
  }
  void written(size_t k, std::string_view bytes) override { places_.written(k, bytes); }
  void end() override {
    for (const auto& [offset, bytes] : places_.headers()) file_.writeAt(offset, bytes);
  }
  ZipPlaces places_;
};

std::string fileStem(const std::string& file) {
  const size_t slash = file.rfind('/');
  const std::string name = slash == std::string::npos ? file : file.substr(slash + 1);
  return name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name;
}

}  // namespace

std::vector<Recording> readNpyBytes(std::string_view bytes, const std::string& file, Notes* notes) {
  ByteReader reader(bytes, file);
  const std::string name = fileStem(file);
  NpyArray array = parseArray(reader, name);
  if (!array.values && array.fields.empty())
    throw Error(fmt::format("{}: the array {}", file, array.reason));
  if (!array.values && !array.reason.empty())
    note(notes, fmt::format("{}: the array {}", file, array.reason));
  if (!reader.atEnd())
    note(notes, fmt::format("{}: {} bytes behind the array were not read", file, reader.left()));
  if (!array.values) return recordingsFromArrays(file, std::move(array.fields), '/', "", notes);
  return recordingsFromArrays(file, {{name, std::move(*array.values), "", {}}}, '/', "", notes);
}

std::vector<Recording> readNpzBytes(std::string_view bytes, const std::string& file, Notes* notes) {
  std::vector<NamedArray> arrays;
  std::string channels_json, buffer, refused;
  const std::vector<ZipMember> members = readZipDirectory(bytes, file);
  if (!members.empty() && std::none_of(members.begin(), members.end(), [](const ZipMember& member) {
        return member.name.ends_with(".npy");
      })) {
    if (std::any_of(members.begin(), members.end(),
                    [](const ZipMember& member) { return member.name.ends_with("data.pkl"); }))
      throw Error(file +
                  ": is a file of PyTorch, which holds a pickle that could run any code; save "
                  "tensors by numpy.savez(FILE, q=q.numpy(), ...)");
    throw Error(fmt::format("{}: is a zip archive with {} and no array of NumPy; unpack it first",
                            file, inQuotes(members.front().name)));
  }
  for (const ZipMember& member : members) {
    const std::string_view content = readZipMember(member, file, buffer);
    if (member.name == kChannelsJsonName) {
      channels_json = content;
    } else if (!member.name.ends_with(".npy")) {
      note(notes, fmt::format("{}: {} is not an array", file, inQuotes(member.name)));
    } else {
      const std::string name = member.name.substr(0, member.name.size() - 4);
      ByteReader reader(content, fmt::format("{}: {}", file, member.name));
      NpyArray array = parseArray(reader, name);
      if (array.values) {
        arrays.push_back({name, std::move(*array.values), "", {}});
      } else if (const NamedArray list{name, {}, "", array.texts}; isJointList(list, '/')) {
        arrays.push_back(list);
      } else {
        for (NamedArray& field : array.fields) arrays.push_back(std::move(field));
        if (array.reason.empty()) continue;
        refused = fmt::format("{}: array {} {}", file, inQuotes(name), array.reason);
        note(notes, refused);
      }
    }
  }
  if (arrays.empty() && !refused.empty()) throw Error(refused);
  return recordingsFromArrays(file, std::move(arrays), '/', channels_json, notes);
}

std::vector<Recording> readNpy(const std::string& path, Notes* notes) {
  return readNpyBytes(MappedFile(path).bytes(), path, notes);
}

std::vector<Recording> readNpz(const std::string& path, Notes* notes) {
  return readNpzBytes(MappedFile(path).bytes(), path, notes);
}

std::string npzBytes(const std::vector<Recording>& recordings, bool compress) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const NamedArray& array : arraysFromRecordings(recordings))
    members.emplace_back(array.name + ".npy", npyBytes(array.values));
  members.emplace_back(kChannelsJsonName, channelsJson(recordings));
  return zipArchive(members, compress, recordings.empty() ? "npz" : recordings.front().source);
}

std::unique_ptr<GrowingRecording> growingNpz(const std::string& path, Eigen::Index rows) {
  return std::make_unique<GrowingNpz>(path, rows);
}

void writeNpz(const std::string& path, const std::vector<Recording>& recordings, bool compress) {
  writeFileAtomically(path, npzBytes(recordings, compress));
}

}  // namespace proprio
