#include "proprio/recording/hdf5.h"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "proprio/core/atomic_file.h"
#include "proprio/core/text.h"
#include "proprio/recording/byte_reader_internal.h"
#include "proprio/recording/child_process_internal.h"
#include "proprio/recording/growing_recording_internal.h"
#include "proprio/recording/hdf5_lzf_internal.h"
#include "proprio/recording/named_arrays_internal.h"

namespace proprio {
namespace {

constexpr char kArray = 'A', kData = 'D', kNote = 'N', kAttributes = 'J', kTexts = 'T';
constexpr uint64_t kMostNumbers = uint64_t{1} << 30;  // 8 GiB of doubles
constexpr size_t kHdf5Block = size_t{1} << 20;        // numbers read at once
constexpr size_t kLongestText = size_t{1} << 26;

// An identifier of the library, closed at the end of its scope.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }  // NOLINT: takes the place of the identifier
  bool good() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void quietLibrary() {
  // reading needs no lock, and a recorder's or a network drive's lock must not stop it
  ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

// The innermost reason on the library's error stack.
std::string libraryReason() {
  std::string reason;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* entry, void* data) -> herr_t {
        auto& text = *static_cast<std::string*>(data);
        if (text.empty() && entry->desc != nullptr) text = entry->desc;
        return 0;
      },
      &reason);
  return reason.empty() ? "no reason given" : reason;
}

Error libraryError(const std::string& file, const std::string& what) {
  return Error(fmt::format("{}: {}: the HDF5 library says: {}", file, what, libraryReason()));
}

// Text of a fixed or variable length from a dataset or an attribute; empty if it is not one text.
template <typename Read>
std::string readTexts(hid_t type, hid_t space, const Read& read) {
  if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) return "";
  const Handle memory(H5Tcopy(type), H5Tclose);
  if (H5Tis_variable_str(type) > 0) {
    char* text = nullptr;
    if (read(memory, static_cast<void*>(&text)) < 0 || text == nullptr) return "";
    std::string copy(text);
    H5free_memory(text);
    return copy;
  }
  const size_t size = H5Tget_size(type);
  if (size == 0 || size > kLongestText) return "";
  std::string text(size, '\0');
  if (read(memory, static_cast<void*>(text.data())) < 0) return "";
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

std::string attributeText(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return "";
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  if (!attribute.good()) return "";
  const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  return readTexts(type, space,
                   [&](hid_t memory, void* data) { return H5Aread(attribute, memory, data); });
}

// "q2" before "q10": runs of digits count by their value
bool comesBefore(const std::string& a, const std::string& b) {
  size_t i = 0, k = 0;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < a.size() && k < b.size()) {
    if (digit(a[i]) && digit(b[k])) {
      while (i < a.size() && a[i] == '0') ++i;
      while (k < b.size() && b[k] == '0') ++k;
      size_t m = i, n = k;
      while (m < a.size() && digit(a[m])) ++m;
      while (n < b.size() && digit(b[n])) ++n;
      if (m - i != n - k) return m - i < n - k;
      const int order = a.compare(i, m - i, b, k, n - k);
      if (order != 0) return order < 0;
      i = m;
      k = n;
    } else if (a[i] != b[k]) {
      return a[i] < b[k];
    } else {
      ++i;
      ++k;
    }
  }
  if (a.size() - i != b.size() - k) return a.size() - i < b.size() - k;
  return a < b;
}

// Runs in the child: walks the file and sends what it finds.
class Hdf5Walk {
 public:
  Hdf5Walk(const std::string& file, const FrameSender& sender) : file_(file), sender_(sender) {}

  void run() {
    quietLibrary();
    registerLzf();
    const Handle file(H5Fopen(file_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file.good()) throw libraryError(file_, "cannot be opened");
    const Handle root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
    if (!root.good()) throw libraryError(file_, "cannot be read");
    readGroup(root, "");
  }

 private:
  // hard links, as they were made where the group keeps that, else by name with numbers by value
  std::vector<std::string> linksOf(hid_t group) const {
    const Handle creation(H5Gget_create_plist(group), H5Pclose);
    unsigned order = 0;
    H5Pget_link_creation_order(creation, &order);
    const bool kept = (order & H5P_CRT_ORDER_TRACKED) != 0;
    std::vector<std::string> names;
    const auto add = [](hid_t, const char* name, const H5L_info_t* info, void* data) -> herr_t {
      if (info->type == H5L_TYPE_HARD)
        static_cast<std::vector<std::string>*>(data)->push_back(name);
      return 0;
    };
    if (H5Literate(group, kept ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC, nullptr, add,
                   &names) < 0)
      throw libraryError(file_, "cannot be read");
    if (!kept) std::sort(names.begin(), names.end(), comesBefore);
    return names;
  }

  // every object once, whatever links lead to it
  void readGroup(hid_t group, const std::string& path) {
    sendPeriods(group, path);
    for (const std::string& name : linksOf(group)) {
      // MATLAB keeps what cells and objects point to in groups of such names
      if (path.empty() && name.starts_with("#")) continue;
      H5O_info_t info;
      if (H5Oget_info_by_name2(group, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        throw libraryError(file_, "cannot be read");
      if (!seen_.insert(info.addr).second) continue;
      if (info.type == H5O_TYPE_DATASET) {
        const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
        H5Pset_chunk_cache(access, 12421, size_t{64} << 20, 1.0);
        const Handle dataset(H5Dopen2(group, name.c_str(), access), H5Dclose);
        if (!dataset.good()) throw failed(path + name);
        readDataset(dataset, path + name);
      }
      if (info.type != H5O_TYPE_GROUP) continue;
      const Handle inner(H5Gopen2(group, name.c_str(), H5P_DEFAULT), H5Gclose);
      if (!inner.good()) throw libraryError(file_, "cannot be read");
      readGroup(inner, path + name + "/");
    }
  }

  // attributes that state the sampling period or rate, as if they were single numbers beside
  void sendPeriods(hid_t object, const std::string& path) const {
    std::vector<std::string> names;
    const auto add = [](hid_t, const char* name, const H5A_info_t*, void* data) -> herr_t {
      if (periodNamed(name, 1.0) > 0.0)
        static_cast<std::vector<std::string>*>(data)->push_back(name);
      return 0;
    };
    if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names) < 0) return;
    for (const std::string& name : names) {
      const Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
      const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
      const H5T_class_t kind = H5Tget_class(type);
      double value = 0.0;
      if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || H5Sget_simple_extent_npoints(space) != 1 ||
          H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) < 0)
        continue;
      const nlohmann::json head = {{"name", path + name}, {"rows", 1}, {"columns", 1}};
      sender_.send(kArray, head.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
      sender_.send(kData, {reinterpret_cast<const char*>(&value), sizeof value});
    }
  }

  // What references point to: the elements of a cell, or of a field of a struct array.
  void readReferences(hid_t dataset, hid_t space, const std::string& name, bool cell) {
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    constexpr hssize_t kMost = 100'000;
    if (count < 1 || count > kMost) return skip(name, "is a cell array without elements");
    std::vector<hobj_ref_t> references(static_cast<size_t>(count));
    if (H5Dread(dataset, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, references.data()) < 0)
      throw failed(name);
    const size_t leaf = name.rfind('/') + 1;  // 0 where there is no group
    for (size_t i = 0; i < references.size(); ++i) {
      const Handle object(H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, &references[i]),
                          H5Oclose);
      H5O_info_t info;
      if (!object.good() || H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0) throw failed(name);
      if (!seen_.insert(info.addr).second) continue;
      const std::string index = count == 1 ? "" : fmt::format("[{}]", i);
      // element i of cell c is c[i]; field f of element i of struct s is s[i].f
      const std::string element = cell || leaf == 0
                                      ? name + index
                                      : name.substr(0, leaf - 1) + index + "/" + name.substr(leaf);
      if (info.type == H5O_TYPE_DATASET) readDataset(object, element);
      if (info.type == H5O_TYPE_GROUP) readGroup(object, element + "/");
    }
  }

  void skip(const std::string& name, const std::string& why) const {
    sender_.send(kNote, fmt::format("{}: dataset {} {}", file_, inQuotes(name), why));
  }

  Error failed(const std::string& name) const {
    return libraryError(file_, fmt::format("dataset {} cannot be read", inQuotes(name)));
  }

  void readDataset(hid_t dataset, const std::string& name) {
    const Handle type(H5Dget_type(dataset), H5Tclose), space(H5Dget_space(dataset), H5Sclose);
    if (!type.good() || !space.good()) throw failed(name);
    const H5T_class_t kind = H5Tget_class(type);
    if (name == kChannelsJsonName && kind == H5T_STRING) {
      sender_.send(kAttributes, readTexts(type, space, [&](hid_t memory, void* data) {
                     return H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
                   }));
      return;
    }
    const std::string matlab = attributeText(dataset, "MATLAB_class");
    if (H5Aexists(dataset, "MATLAB_empty") > 0) return skip(name, "is empty");
    if (kind == H5T_STRING && sendTexts(dataset, type, space, name)) return;
    if (matlab == "char" || kind == H5T_STRING) return skip(name, "is text");
    if (H5Tequal(type, H5T_STD_REF_OBJ) > 0) {
      if (!sendCell(dataset, space, name)) readReferences(dataset, space, name, matlab == "cell");
      return;
    }
    sendPeriods(dataset, name + "/");
    const int dimensions = H5Sget_simple_extent_ndims(space);
    std::vector<hsize_t> sizes(static_cast<size_t>(std::max(dimensions, 0)));
    if (dimensions < 0 || H5Sget_simple_extent_dims(space, sizes.data(), nullptr) < 0)
      throw failed(name);
    sizes = tableSizes(sizes);
    if (sizes.size() > 2)
      return skip(name, fmt::format("has {} dimensions; only one and two are signals", dimensions));
    sizes.resize(2, 1);
    const hsize_t size[2] = {sizes[0], sizes[1]};
    uint64_t count = 0;
    if (__builtin_mul_overflow(size[0], size[1], &count) || count > kMostNumbers) {
      throw Error(fmt::format("{}: dataset {} of {} x {} numbers is too large", file_,
                              inQuotes(name), size[0], size[1]));
    }
    if (count > 0 && H5Dget_storage_size(dataset) == 0) return skip(name, "was never written");
    requireFilters(dataset, name);
    if (kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM) {
      sendNumbers(dataset, space, H5T_NATIVE_DOUBLE, name, size, !matlab.empty());
    } else if (kind == H5T_COMPOUND && dimensions == 1) {
      readTable(dataset, space, type, name, size);
    } else {
      skip(name, "holds neither numbers nor a table of numbers");
    }
  }

  // a list of texts with one dimension, if it names the joints
  bool sendTexts(hid_t dataset, hid_t type, hid_t space, const std::string& name) const {
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    constexpr hssize_t kMost = 1000;
    if (H5Sget_simple_extent_ndims(space) != 1 || count < 1 || count > kMost) return false;
    const NamedArray list_of_names{name, {}, "", {"any"}};
    if (!isJointList(list_of_names, '/') && blockOfItems(list_of_names, '/').empty()) return false;
    const auto texts_count = static_cast<size_t>(count);
    const Handle memory(H5Tcopy(type), H5Tclose);
    nlohmann::json texts = nlohmann::json::array();
    if (H5Tis_variable_str(type) > 0) {
      std::vector<char*> pointers(texts_count, nullptr);
      if (H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()) < 0)
        return false;
      for (char* text : pointers) {
        texts.push_back(text == nullptr ? "" : text);
        H5free_memory(text);
      }
    } else {
      const size_t size = H5Tget_size(type);
      if (size == 0 || size > kLongestText / texts_count) return false;
      std::string bytes(size * texts_count, '\0');
      if (H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) return false;
      for (size_t i = 0; i < texts_count; ++i) {
        const std::string text = bytes.substr(i * size, size);
        texts.push_back(text.substr(0, text.find('\0')));
      }
    }
    const nlohmann::json list = {{"name", name}, {"texts", texts}};
    sender_.send(kTexts, list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return true;
  }

  // a cell array of MATLAB with texts, if it names the joints: references to arrays of characters
  bool sendCell(hid_t dataset, hid_t space, const std::string& name) const {
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    constexpr hssize_t kMost = 1000, kLongest = 200;
    if (count < 1 || count > kMost) return false;
    if (!isJointList({name, {}, "", {"any"}}, '/')) return false;
    std::vector<hobj_ref_t> references(static_cast<size_t>(count));
    if (H5Dread(dataset, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, references.data()) < 0)
      return false;
    nlohmann::json texts = nlohmann::json::array();
    for (const hobj_ref_t& reference : references) {
      const Handle text(H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, &reference), H5Dclose);
      if (!text.good() || H5Iget_type(text) != H5I_DATASET ||
          attributeText(text, "MATLAB_class") != "char")
        return false;
      const Handle extent(H5Dget_space(text), H5Sclose);
      const hssize_t length = H5Sget_simple_extent_npoints(extent);
      if (length < 1 || length > kLongest) return false;
      std::vector<uint16_t> characters(static_cast<size_t>(length));
      if (H5Dread(text, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, characters.data()) < 0)
        return false;
      std::string plain;
      for (const uint16_t c : characters) plain += c < 0x80 ? static_cast<char>(c) : '?';
      texts.push_back(plain);
    }
    const nlohmann::json list = {{"name", name}, {"texts", texts}};
    sender_.send(kTexts, list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return true;
  }

  // the library's own reason for a missing filter would be the folder in which it looked
  void requireFilters(hid_t dataset, const std::string& name) const {
    const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
    for (int i = 0; i < H5Pget_nfilters(creation); ++i) {
      unsigned flags = 0;
      char filter[64] = "";
      const H5Z_filter_t id = H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, nullptr,
                                             nullptr, sizeof filter, filter, nullptr);
      if (id >= 0 && H5Zfilter_avail(id) > 0) continue;
      throw Error(fmt::format(
          "{}: dataset {} is compressed with filter {} {}, which the HDF5 "
          "library here does not have; save it with gzip (where it can be read: h5repack "
          "-f GZIP=4 OLD NEW)",
          file_, inQuotes(name), id, inQuotes(filter)));
    }
  }

  // a channel per number of each field
  void readTable(hid_t dataset, hid_t space, hid_t type, const std::string& name,
                 const hsize_t* size) {
    for (int i = 0; i < H5Tget_nmembers(type); ++i) {
      const auto index = static_cast<unsigned>(i);
      char* field = H5Tget_member_name(type, index);
      const std::string field_name = field == nullptr ? "" : field;
      H5free_memory(field);
      const Handle field_type(H5Tget_member_type(type, index), H5Tclose);
      // a field may be a list of numbers
      const bool list = H5Tget_class(field_type) == H5T_ARRAY;
      const Handle element(list ? H5Tget_super(field_type) : H5Tcopy(field_type), H5Tclose);
      hsize_t width = 1;
      if (list && H5Tget_array_ndims(field_type) == 1) H5Tget_array_dims2(field_type, &width);
      const H5T_class_t kind = H5Tget_class(element);
      if ((kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_ENUM) ||
          (list && H5Tget_array_ndims(field_type) != 1) || size[0] * width > kMostNumbers) {
        skip(name + "/" + field_name, "does not hold numbers");
        continue;
      }
      const Handle number(
          list ? H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &width) : H5Tcopy(H5T_NATIVE_DOUBLE),
          H5Tclose);
      const Handle memory(H5Tcreate(H5T_COMPOUND, width * sizeof(double)), H5Tclose);
      H5Tinsert(memory, field_name.c_str(), 0, number);
      const hsize_t field_size[2] = {size[0], width};
      sendNumbers(dataset, space, memory, name + "/" + field_name, field_size, false, width);
    }
  }

  void sendNumbers(hid_t dataset, hid_t space, hid_t memory_type, const std::string& name,
                   const hsize_t* size, bool matlab, hsize_t per_element = 1) {
    const std::string unit = attributeText(dataset, "unit");
    const nlohmann::json head = {{"name", name},
                                 {"rows", size[0]},
                                 {"columns", size[1]},
                                 {"matlab", matlab},
                                 {"unit", unit.empty() ? attributeText(dataset, "units") : unit}};
    sender_.send(kArray, head.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    if (size[0] == 0 || size[1] == 0) return;
    const hsize_t rows_at_once = std::max<hsize_t>(1, kHdf5Block / size[1]);
    std::vector<double> block;
    const int dimensions = H5Sget_simple_extent_ndims(space);
    // rows lie along the first dimension that has more than one element, if one has
    std::vector<hsize_t> count(static_cast<size_t>(dimensions)), start(count.size(), 0);
    if (dimensions > 0) H5Sget_simple_extent_dims(space, count.data(), nullptr);
    size_t along = 0;
    while (count.size() > 2 && along + 1 < count.size() && count[along] != size[0]) ++along;
    for (hsize_t row = 0; row < size[0]; row += rows_at_once) {
      const hsize_t rows = std::min(rows_at_once, size[0] - row), numbers = rows * size[1];
      if (dimensions > 0) {
        start[along] = row;
        count[along] = rows;
      }
      block.resize(numbers);
      const hsize_t elements = numbers / per_element;
      const Handle memory_space(H5Screate_simple(1, &elements, nullptr), H5Sclose);
      if (dimensions > 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr,
                                                count.data(), nullptr) < 0) {
        throw failed(name);
      }
      if (H5Dread(dataset, memory_type, memory_space, space, H5P_DEFAULT, block.data()) < 0)
        throw failed(name);
      sender_.send(kData, {reinterpret_cast<const char*>(block.data()), numbers * sizeof(double)});
    }
  }

  const std::string& file_;
  const FrameSender& sender_;
  std::set<haddr_t> seen_;
};

// Runs in the parent: puts the frames together again.
class Hdf5Assembly {
 public:
  Hdf5Assembly(const std::string& file, bool dotted, Notes* notes)
      : file_(file), dotted_(dotted), notes_(notes) {}

  void receive(char kind, std::string_view content) {
    if (kind == kNote) note(notes_, std::string(content));
    if (kind == kAttributes) json_ += content;
    if (kind == kData) data_ += content;
    if (kind == kTexts) {
      const nlohmann::json list = nlohmann::json::parse(content);
      finishArray();
      NamedArray array;
      array.name = list.value("name", "");
      if (dotted_) std::replace(array.name.begin(), array.name.end(), '/', '.');
      array.texts = list.value("texts", std::vector<std::string>());
      arrays_.push_back(std::move(array));
    }
    if (kind == kArray) {
      finishArray();
      head_ = nlohmann::json::parse(content);
    }
  }

  std::vector<Recording> finish() {
    finishArray();
    return recordingsFromArrays(file_, std::move(arrays_), dotted_ ? '.' : '/', json_, notes_);
  }

 private:
  void finishArray() {
    if (head_.is_null()) return;
    NamedArray array;
    array.name = head_.value("name", "");
    if (dotted_) std::replace(array.name.begin(), array.name.end(), '/', '.');
    array.unit = head_.value("unit", "");
    const auto rows = head_.value("rows", Eigen::Index{0});
    const auto columns = head_.value("columns", Eigen::Index{0});
    if (data_.size() != sizeof(double) * static_cast<size_t>(rows) * static_cast<size_t>(columns))
      throw Error(fmt::format("{}: dataset {} is incomplete", file_, inQuotes(array.name)));
    // rows first; seen columns first, that is the transpose
    if (!data_.empty()) {
      array.values.resize(columns, rows);
      std::memcpy(array.values.data(), data_.data(), data_.size());
      if (!head_.value("matlab", false)) array.values.transposeInPlace();
    }
    arrays_.push_back(std::move(array));
    data_.clear();
    head_ = nullptr;
  }

  const std::string& file_;
  bool dotted_;
  Notes* notes_;
  nlohmann::json head_;
  std::string data_, json_;
  std::vector<NamedArray> arrays_;
};

// Runs in the child: the file as HDF5 would write it, in memory; or an empty one on the disk.
class Hdf5Image {
 public:
  explicit Hdf5Image(const std::string& file) : name_(file), access_(coreAccess(), H5Pclose) {}

  void write(const std::vector<NamedArray>& arrays, const std::string& json,
             const FrameSender& sender) {
    const Handle file(create(name_, access_), H5Fclose);
    if (!file.good()) throw libraryError(name_, "cannot be written");
    for (const NamedArray& array : arrays) writeArray(file, array);
    writeText(file, kChannelsJsonName, json);
    if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) throw libraryError(name_, "cannot be written");
    const ssize_t size = H5Fget_file_image(file, nullptr, 0);
    std::string image(static_cast<size_t>(std::max<ssize_t>(size, 0)), '\0');
    if (size <= 0 || H5Fget_file_image(file, image.data(), image.size()) != size)
      throw libraryError(name_, "cannot be written");
    sender.send(kData, image);
  }

  /// A file with room for `rows` rows of the arrays; sends where the numbers of each begin.
  void reserve(const std::string& path, const std::vector<NamedArray>& arrays, Eigen::Index rows,
               const std::string& json, const FrameSender& sender) {
    const Handle file(create(path, H5P_DEFAULT), H5Fclose);
    if (!file.good()) throw libraryError(name_, "cannot be written");
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    std::vector<uint64_t> offsets;
    for (const NamedArray& array : arrays) {
      const Handle dataset(create(file, array, rows, creation), H5Dclose);
      offsets.push_back(H5Dget_offset(dataset));
      if (offsets.back() == HADDR_UNDEF) throw refused(array.name);
    }
    writeText(file, kChannelsJsonName, json);
    if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) throw libraryError(name_, "cannot be written");
    sender.send(kData,
                {reinterpret_cast<const char*>(offsets.data()), offsets.size() * sizeof(uint64_t)});
  }

 private:
  static hid_t coreAccess() {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, size_t{1} << 20, 0);
    return access;
  }

  void writeArray(hid_t file, const NamedArray& array) {
    const Handle dataset(create(file, array, array.values.rows(), H5P_DEFAULT), H5Dclose);
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const RowMajor values = array.values;
    if (H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
      throw refused(array.name);
  }

  Error refused(const std::string& name) const {
    return libraryError(name_, fmt::format("dataset {} cannot be written", inQuotes(name)));
  }

  // groups remember in which order things came
  static void requireGroup(hid_t file, const std::string& name) {
    if (H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0) return;
    const Handle ordered(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_link_creation_order(ordered, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    const Handle group(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, ordered, H5P_DEFAULT), H5Gclose);
  }

  static hid_t create(const std::string& path, hid_t access) {
    const Handle ordered(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_link_creation_order(ordered, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    return H5Fcreate(path.c_str(), H5F_ACC_TRUNC, ordered, access);
  }

  // a dataset with the columns and the unit of the array
  hid_t create(hid_t file, const NamedArray& array, Eigen::Index rows, hid_t creation) const {
    const hsize_t size[2] = {static_cast<hsize_t>(rows), static_cast<hsize_t>(array.values.cols())};
    const Handle space(H5Screate_simple(size[1] == 1 ? 1 : 2, size, nullptr), H5Sclose);
    for (size_t slash = array.name.find('/', 1); slash != std::string::npos;
         slash = array.name.find('/', slash + 1))
      requireGroup(file, array.name.substr(0, slash));
    const hid_t dataset = H5Dcreate2(file, array.name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT,
                                     creation, H5P_DEFAULT);
    if (dataset < 0) throw refused(array.name);
    if (array.unit.empty()) return dataset;
    const Handle type(textType(), H5Tclose), scalar(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle attribute(H5Acreate2(dataset, "unit", type, scalar, H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose);
    const char* unit = array.unit.c_str();
    H5Awrite(attribute, type, &unit);
    return dataset;
  }

  void writeText(hid_t file, const char* name, const std::string& text) {
    const Handle type(textType(), H5Tclose), scalar(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle dataset(
        H5Dcreate2(file, name, type, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    const char* bytes = text.c_str();
    if (!dataset.good() || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &bytes) < 0) {
      throw libraryError(name_, fmt::format("{} cannot be written", name));
    }
  }

  static hid_t textType() {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
  }

  const std::string& name_;
  Handle access_;
};

// The library lays out the file; rows are then written to their places without it.
class GrowingHdf5 : public GrowingArrays {
 public:
  using GrowingArrays::GrowingArrays;

 private:
  void begin(const std::vector<NamedArray>& arrays, const std::string& json) override {
    std::string bytes;
    runInChild(
        path_ + ": the HDF5 library", Hdf5Options().time_limit_s,
        [&](const FrameSender& sender) {
          quietLibrary();
          Hdf5Image(path_).reserve(file_.temporaryPath(), arrays, rows_, json, sender);
        },
        [&](char, std::string_view content) { bytes += content; });
    offsets_.resize(arrays.size());
    if (bytes.size() != offsets_.size() * sizeof(uint64_t))
      throw Error(path_ + ": the HDF5 library did not say where its datasets are");
    std::memcpy(offsets_.data(), bytes.data(), bytes.size());
  }
};

}  // namespace

std::unique_ptr<GrowingRecording> growingHdf5(const std::string& path, Eigen::Index rows) {
  return std::make_unique<GrowingHdf5>(path, rows);
}

std::vector<Recording> readHdf5(const std::string& path, const Hdf5Options& options, Notes* notes) {
  bool matlab = false;
  {
    const MappedFile file(path);  // says why a file cannot be opened
    matlab = file.bytes().starts_with("MATLAB 7.3");
  }
  Hdf5Assembly assembly(path, matlab, notes);
  runInChild(
      path + ": the HDF5 library", options.time_limit_s,
      [&](const FrameSender& sender) { Hdf5Walk(path, sender).run(); },
      [&](char kind, std::string_view content) { assembly.receive(kind, content); });
  return assembly.finish();
}

void writeHdf5(const std::string& path, const std::vector<Recording>& recordings,
               const Hdf5Options& options) {
  const std::vector<NamedArray> arrays = arraysFromRecordings(recordings);
  const std::string json = channelsJson(recordings);
  std::string image;
  runInChild(
      path + ": the HDF5 library", options.time_limit_s,
      [&](const FrameSender& sender) {
        quietLibrary();
        Hdf5Image(path).write(arrays, json, sender);
      },
      [&](char, std::string_view content) { image += content; });
  writeFileAtomically(path, image);
}

}  // namespace proprio
