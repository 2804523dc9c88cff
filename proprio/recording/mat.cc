#include "proprio/recording/mat.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "proprio/core/text.h"
#include "proprio/recording/byte_reader_internal.h"
#include "proprio/recording/compression_internal.h"
#include "proprio/recording/hdf5.h"
#include "proprio/recording/named_arrays_internal.h"

namespace proprio {
namespace {

constexpr size_t kHeaderSize = 128;
constexpr int kDeepestStruct = 32;  // structs and cells within each other
constexpr std::string_view kLabel = ".label";

enum class Type : uint32_t {
  kInt8 = 1,
  kUint8 = 2,
  kInt16 = 3,
  kUint16 = 4,
  kInt32 = 5,
  kUint32 = 6,
  kSingle = 7,
  kDouble = 9,
  kInt64 = 12,
  kUint64 = 13,
  kMatrix = 14,
  kCompressed = 15
};

enum class Class : uint8_t {
  kCell = 1,
  kStruct = 2,
  kObject = 3,
  kChar = 4,
  kSparse = 5,
  kDouble = 6,
  kUint64 = 15,
  kFunction = 16,
  kOpaque = 17
};

struct Element {
  Type type;
  ByteReader data;
};

// An element is a tag of type and size, then data up to a multiple of 8 bytes; up to four bytes fit
// into the tag itself. Compressed elements are not padded.
Element readElement(ByteReader& reader) {
  const auto first = reader.read<uint32_t>("an element");
  if (first >> 16 != 0) {
    ByteReader inside = reader.part(4, "a small element");
    const uint32_t size = first >> 16;
    if (size > 4)
      throw reader.error(fmt::format("a small element announces {} bytes, at most 4 fit", size));
    return {static_cast<Type>(first & 0xffff), inside.part(size, "a small element")};
  }
  const auto size = reader.read<uint32_t>("the size of an element");
  const auto type = static_cast<Type>(first);
  ByteReader data = reader.part(size, "an element");
  if (type != Type::kCompressed)
    reader.take(std::min<size_t>((8 - size % 8) % 8, reader.left()), "padding");
  return {type, data};
}

size_t sizeOf(Type type) {
  switch (type) {
    case Type::kInt8:
    case Type::kUint8:
      return 1;
    case Type::kInt16:
    case Type::kUint16:
      return 2;
    case Type::kInt32:
    case Type::kUint32:
    case Type::kSingle:
      return 4;
    case Type::kDouble:
    case Type::kInt64:
    case Type::kUint64:
      return 8;
    default:
      return 0;
  }
}

double readNumber(Type type, ByteReader& data) {
  switch (type) {
    case Type::kInt8:
      return data.read<int8_t>("a number");
    case Type::kUint8:
      return data.read<uint8_t>("a number");
    case Type::kInt16:
      return data.read<int16_t>("a number");
    case Type::kUint16:
      return data.read<uint16_t>("a number");
    case Type::kInt32:
      return data.read<int32_t>("a number");
    case Type::kUint32:
      return data.read<uint32_t>("a number");
    case Type::kSingle:
      return static_cast<double>(data.read<float>("a number"));
    case Type::kInt64:
      return static_cast<double>(data.read<int64_t>("a number"));
    case Type::kUint64:
      return static_cast<double>(data.read<uint64_t>("a number"));
    default:
      return data.read<double>("a number");
  }
}

// What is at the start of every array.
struct ArrayHeader {
  Class kind = Class::kDouble;
  bool complex = false;
  std::vector<int32_t> dimensions;
  uint64_t count = 1;
  std::string name;
};

class MatReader {
 public:
  MatReader(const std::string& file, Notes* notes) : file_(file), notes_(notes) {}

  void readFile(std::string_view bytes) {
    ByteReader reader(bytes, file_);
    if (bytes.size() < kHeaderSize)
      throw reader.error(fmt::format("this is not a MATLAB file: {} bytes, the header alone has {}",
                                     bytes.size(), kHeaderSize));
    const std::string_view mark = bytes.substr(126, 2);
    if (mark != "IM" && mark != "MI") {
      throw Error(file_ +
                  ": at byte 126: this is not a MATLAB file of level 5: the mark of the byte "
                  "order is missing (level 4 is not read; save with -v7)");
    }
    ByteReader ordered(bytes, file_, 0, mark == "MI");
    ordered.seek(124, "the header");
    const auto version = ordered.read<uint16_t>("the version");
    if (version != 0x0100)
      throw ordered.error(fmt::format("version {:04x}, expected 0100 (level 5)", version));
    ordered.seek(kHeaderSize, "the header");
    while (!ordered.atEnd()) readTopLevel(ordered);
  }

  std::vector<NamedArray> arrays;
  std::map<std::string, std::string> labels;  ///< of the structs that have a field `label`

 private:
  void readTopLevel(ByteReader& reader) {
    const size_t start = reader.fileOffset();
    Element element = readElement(reader);
    if (element.type == Type::kCompressed) {
      const std::string where = fmt::format("{}: at byte {}: compressed array", file_, start);
      const std::string_view packed = element.data.take(element.data.left(), "");
      // deflate packs at most 1032 bytes into one
      const std::string bytes =
          decompressedUnsized(Compression::kZlib, packed, 1032 * packed.size() + 1024, where);
      ByteReader inner(bytes, fmt::format("{}: in the compressed array at byte {}", file_, start),
                       0, reader.bigEndian());
      Element array = readElement(inner);
      if (array.type == Type::kMatrix) readArray(array.data, "", 0);
    } else if (element.type == Type::kMatrix) {
      readArray(element.data, "", 0);
    } else {
      throw Error(fmt::format("{}: at byte {}: an element of type {}, expected an array (14 or 15)",
                              file_, start, static_cast<uint32_t>(element.type)));
    }
  }

  ArrayHeader readHeader(ByteReader& data, const std::string& name) {
    ArrayHeader header;
    Element flags = readElement(data);
    const auto word = flags.data.read<uint32_t>("the flags of an array");
    header.kind = static_cast<Class>(word & 0xff);
    header.complex = (word & 0x0800) != 0;
    header.name = name;
    if (header.kind == Class::kOpaque) return header;  // has no dimensions
    Element dimensions = readElement(data);
    if (dimensions.type != Type::kInt32) throw data.error("the dimensions of an array are missing");
    while (dimensions.data.left() >= 4) {
      const auto size = dimensions.data.read<int32_t>("a dimension");
      if (size < 0) throw data.error(fmt::format("an array has dimension {}", size));
      header.dimensions.push_back(size);
      if (__builtin_mul_overflow(header.count, static_cast<uint64_t>(size), &header.count))
        throw data.error("an array has dimensions that overflow");
    }
    Element own = readElement(data);
    const std::string_view own_name = own.data.take(own.data.left(), "the name of an array");
    if (header.name.empty()) header.name = own_name;
    return header;
  }

  // `name` is empty for arrays that carry their own
  void readArray(ByteReader data, const std::string& name, int depth) {
    if (data.atEnd()) return;  // an empty cell or field
    const ArrayHeader header = readHeader(data, name);
    switch (header.kind) {
      case Class::kStruct:
        return readStruct(data, header, depth);
      case Class::kCell:
        return readCell(data, header, depth);
      case Class::kObject:
      case Class::kOpaque:
        return skip(header, "is an object; save its numbers as plain arrays");
      case Class::kChar:
        return addTexts(header, readTexts(data, header), "is text");
      case Class::kSparse:
        return skip(header, "is sparse; save full(...) of it");
      case Class::kFunction:
        return skip(header, "is a function handle");
      default:
        if (header.kind < Class::kDouble || header.kind > Class::kUint64)
          return skip(header, fmt::format("is of class {}", static_cast<int>(header.kind)));
        return readNumbers(data, header);
    }
  }

  void readNumbers(ByteReader& data, const ArrayHeader& header) {
    if (header.complex) return skip(header, "is complex; save real(...) and imag(...) of it");
    Element numbers = readElement(data);
    const size_t size = sizeOf(numbers.type);
    if (size == 0 || numbers.data.left() / size != header.count ||
        numbers.data.left() % size != 0) {
      throw numbers.data.error(
          fmt::format("array {} of {} needs {} numbers, found {} bytes of type {}",
                      inQuotes(header.name), fmt::join(header.dimensions, " x "), header.count,
                      numbers.data.left(), static_cast<uint32_t>(numbers.type)));
    }
    const std::vector<int32_t> sizes = tableSizes(header.dimensions);
    if (sizes.size() != 2) {
      return skip(header,
                  fmt::format("has {} dimensions ({}); only two are signals",
                              header.dimensions.size(), fmt::join(header.dimensions, " x ")));
    }
    NamedArray array;
    array.name = header.name;
    if (header.count > 0) array.values.resize(sizes[0], sizes[1]);
    for (Eigen::Index i = 0; i < array.values.size(); ++i)  // columns first, as Eigen
      array.values.data()[i] = readNumber(numbers.type, numbers.data);
    arrays.push_back(std::move(array));
  }

  // the rows of an array of characters, without blanks at their ends
  static std::vector<std::string> readTexts(ByteReader& data, const ArrayHeader& header) {
    Element characters = readElement(data);
    constexpr auto kUtf8 = static_cast<Type>(16), kUtf16 = static_cast<Type>(17);
    const bool wide = characters.type == Type::kUint16 || characters.type == kUtf16;
    const bool narrow = characters.type == Type::kUint8 || characters.type == Type::kInt8 ||
                        characters.type == kUtf8;
    if (header.dimensions.size() != 2 || (!wide && !narrow) ||
        characters.data.left() != header.count * (wide ? 2 : 1) || header.count == 0)
      return {};
    std::vector<std::string> texts(static_cast<size_t>(header.dimensions[0]));
    for (uint64_t i = 0; i < header.count; ++i) {  // columns first
      const uint32_t c = wide ? characters.data.read<uint16_t>("a character")
                              : characters.data.read<uint8_t>("a character");
      texts[i % texts.size()] += c < 0x80 ? static_cast<char>(c) : '?';
    }
    for (std::string& text : texts) text.resize(text.find_last_not_of(std::string(" \0", 2)) + 1);
    return texts;
  }

  // texts are of use if they name the joints
  void addTexts(const ArrayHeader& header, std::vector<std::string> texts,
                const std::string& what) {
    if (texts.size() == 1 && header.name.ends_with(kLabel))
      labels[header.name.substr(0, header.name.size() - kLabel.size())] = texts[0];
    NamedArray list{header.name, {}, "", std::move(texts)};
    if (!isJointList(list, '.')) return skip(header, what);
    arrays.push_back(std::move(list));
  }

  // a list of texts, or arrays of any kind called name[0], name[1], ...
  void readCell(ByteReader& data, const ArrayHeader& header, int depth) {
    if (depth >= kDeepestStruct) throw data.error("cells are nested too deep");
    ByteReader again = data;
    std::vector<std::string> texts;
    while (!data.atEnd()) {
      Element element = readElement(data);
      if (element.type != Type::kMatrix || element.data.atEnd()) break;
      const ArrayHeader inner = readHeader(element.data, "cell");
      if (inner.kind != Class::kChar) break;
      for (std::string& text : readTexts(element.data, inner)) texts.push_back(std::move(text));
    }
    if (!texts.empty() && texts.size() == header.count)
      return addTexts(header, std::move(texts), "is a cell array of texts");
    for (uint64_t i = 0; i < header.count && !again.atEnd(); ++i) {
      Element element = readElement(again);
      if (element.type != Type::kMatrix) throw again.error("an element of a cell is not an array");
      const std::string index = header.count == 1 ? "" : fmt::format("[{}]", i);
      readArray(element.data, header.name + index, depth + 1);
    }
  }

  void readStruct(ByteReader& data, const ArrayHeader& header, int depth) {
    if (depth >= kDeepestStruct) throw data.error("structs are nested too deep");
    Element length = readElement(data);
    const auto name_size = length.data.read<int32_t>("the size of field names");
    Element names = readElement(data);
    if (name_size <= 0) throw data.error("the names of fields are missing");
    std::vector<std::string> fields;
    while (!names.data.atEnd()) {
      const std::string_view name =
          names.data.take(static_cast<uint64_t>(name_size), "the name of a field");
      fields.emplace_back(name.substr(0, name.find('\0')));
    }
    // every field of every element takes at least the 8 bytes of its tag
    if (!fields.empty() && header.count > data.left() / 8 / fields.size())
      throw data.error(
          fmt::format("struct {} announces {} elements of {} fields, more than the {} "
                      "bytes left hold",
                      inQuotes(header.name), header.count, fields.size(), data.left()));
    if (fields.empty()) return;
    for (uint64_t i = 0; i < header.count; ++i) {
      const std::string base =
          header.count == 1 ? header.name : fmt::format("{}[{}]", header.name, i);
      for (const std::string& field : fields) {
        Element element = readElement(data);
        if (element.type != Type::kMatrix) throw data.error("a field of a struct is not an array");
        readArray(element.data, base + "." + field, depth + 1);
      }
    }
  }

  void skip(const ArrayHeader& header, const std::string& why) {
    note(notes_,
         fmt::format("{}: array {} {}; it was not read", file_, inQuotes(header.name), why));
  }

  const std::string& file_;
  Notes* notes_;
};

// Simulink's structures: out.signals[0].values with the label q is out.q
void nameByLabels(const std::map<std::string, std::string>& labels,
                  std::vector<NamedArray>& arrays) {
  for (NamedArray& array : arrays) {
    const size_t values = array.name.rfind(".values");
    const auto label = labels.find(array.name.substr(0, values));
    if (values == std::string::npos || label == labels.end() || label->second.empty()) continue;
    const size_t group = label->first.rfind('.');
    const std::string name =
        (group == std::string::npos ? "" : label->first.substr(0, group + 1)) + label->second;
    if (std::none_of(arrays.begin(), arrays.end(),
                     [&](const NamedArray& other) { return other.name == name; }))
      array.name = name;
  }
}

}  // namespace

std::vector<Recording> readMatBytes(std::string_view bytes, const std::string& file, Notes* notes) {
  MatReader reader(file, notes);
  reader.readFile(bytes);
  nameByLabels(reader.labels, reader.arrays);
  return recordingsFromArrays(file, std::move(reader.arrays), '.', "", notes);
}

std::vector<Recording> readMat(const std::string& path, Notes* notes) {
  const MappedFile file(path);
  if (file.bytes().starts_with("MATLAB 7.3")) return readHdf5(path, {}, notes);
  return readMatBytes(file.bytes(), path, notes);
}

}  // namespace proprio
