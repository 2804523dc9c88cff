#include <algorithm>
#include <cmath>

#include "proprio/core/text.h"
#include "proprio/motion/json_fields_internal.h"

namespace proprio {
namespace {

std::string found(const Json& node) {
  if (node.is_array()) return fmt::format("a list of {}", node.size());
  if (node.is_object()) return "an object";
  if (node.is_null()) return "null";
  return inQuotes(node.is_string() ? node.get<std::string>() : node.dump());
}

}  // namespace

JsonObject::JsonObject(const Json& node, std::string path, std::string file)
    : node_(node), path_(std::move(path)), file_(std::move(file)) {
  if (!node_.is_object())
    throw error("", fmt::format("found {}, expected an object", found(node_)));
}

std::string JsonObject::place(const std::string& key) const {
  if (key.empty()) return path_;
  return path_.empty() ? key : path_ + "." + key;
}

FieldError JsonObject::error(const std::string& key, const std::string& sentence) const {
  const std::string where = place(key);
  return FieldError(where.empty() ? fmt::format("{}: {}", file_, sentence)
                                  : fmt::format("{}: {}: {}", file_, where, sentence));
}

void JsonObject::allow(const std::vector<std::string>& keys) const {
  for (const auto& [key, value] : node_.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      throw error("",
                  fmt::format("there is no field {} here{}", inQuotes(key), didYouMean(key, keys)));
  }
}

const Json& JsonObject::at(const std::string& key) const {
  const auto entry = node_.find(key);
  if (entry == node_.end()) throw error("", fmt::format("the field {} is missing", inQuotes(key)));
  return *entry;
}

double JsonObject::number(const std::string& key) const {
  const Json& node = at(key);
  if (!node.is_number()) throw error(key, fmt::format("found {}, expected a number", found(node)));
  const double value = node.get<double>();
  if (!std::isfinite(value)) throw error(key, "the number is too large");
  return value;
}

double JsonObject::positive(const std::string& key) const {
  const double value = number(key);
  if (!(value > 0)) throw error(key, fmt::format("found {}, expected a positive number", value));
  return value;
}

int JsonObject::integer(const std::string& key, int least) const {
  const double value = number(key);
  if (value != std::floor(value) || value < least || value > 1e9)
    throw error(key, fmt::format("found {}, expected a whole number of at least {}", value, least));
  return static_cast<int>(value);
}

std::string JsonObject::text(const std::string& key) const {
  const Json& node = at(key);
  if (!node.is_string()) throw error(key, fmt::format("found {}, expected a text", found(node)));
  return node.get<std::string>();
}

std::vector<std::string> JsonObject::texts(const std::string& key) const {
  const Json& node = at(key);
  if (!node.is_array()) throw error(key, fmt::format("found {}, expected a list", found(node)));
  std::vector<std::string> texts;
  for (const Json& entry : node) {
    if (!entry.is_string())
      throw error(fmt::format("{}[{}]", key, texts.size()),
                  fmt::format("found {}, expected a text", found(entry)));
    texts.push_back(entry.get<std::string>());
  }
  return texts;
}

Eigen::VectorXd JsonObject::vector(const std::string& key, Eigen::Index size) const {
  const Json& node = at(key);
  const auto entries = static_cast<Eigen::Index>(node.size());
  if (!node.is_array() || (size >= 0 && entries != size))
    throw error(key, fmt::format("found {}, expected a list of {}", found(node),
                                 size >= 0 ? fmt::format("{} numbers", size) : "numbers"));
  Eigen::VectorXd vector(entries);
  for (Eigen::Index i = 0; i < entries; ++i) {
    const Json& entry = node[static_cast<size_t>(i)];
    if (!entry.is_number() || !std::isfinite(entry.get<double>()))
      throw error(fmt::format("{}[{}]", key, i),
                  fmt::format("found {}, expected a finite number", found(entry)));
    vector[i] = entry.get<double>();
  }
  return vector;
}

Eigen::MatrixXd JsonObject::matrix(const std::string& key, Eigen::Index rows,
                                   Eigen::Index cols) const {
  const Json& node = at(key);
  if (!node.is_array() || static_cast<Eigen::Index>(node.size()) != rows)
    throw error(key,
                fmt::format("found {}, expected a list of {} lists of numbers", found(node), rows));
  Eigen::MatrixXd matrix(rows, std::max<Eigen::Index>(cols, 0));
  for (Eigen::Index i = 0; i < rows; ++i) {
    // a row is read as the only field of an object of its own, to share its messages
    const std::string name = fmt::format("{}[{}]", key, i);
    const Json row = {{name, node[static_cast<size_t>(i)]}};
    const Eigen::VectorXd values = JsonObject(row, path_, file_).vector(name, cols);
    if (i == 0 && cols < 0) {
      cols = values.size();
      matrix.resize(rows, cols);
    }
    matrix.row(i) = values.transpose();
  }
  return matrix;
}

JsonObject JsonObject::object(const std::string& key) const {
  return JsonObject(at(key), place(key), file_);
}

std::vector<JsonObject> JsonObject::objects(const std::string& key) const {
  const Json& node = at(key);
  if (!node.is_array())
    throw error(key, fmt::format("found {}, expected a list of objects", found(node)));
  std::vector<JsonObject> list;
  for (const Json& entry : node)
    list.emplace_back(entry, fmt::format("{}[{}]", place(key), list.size()), file_);
  return list;
}

Json parseJson(const std::string& text, const std::string& file_name) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    const auto line = 1 + std::count(text.begin(), end, '\n');
    // "[json.exception...] parse error at line 1, column 2: syntax error while ...; last read: ..."
    const std::string reason = error.what();
    const size_t colon = reason.find(": ");
    throw errorAt(
        {file_name, static_cast<int>(line), 0},
        "this is not JSON: " + (colon == std::string::npos ? reason : reason.substr(colon + 2)));
  }
}

std::string readableJson(const Json& node, int indent) {
  const auto plain = [](const Json& entry) { return !entry.is_structured(); };
  if (node.empty() || plain(node)) return node.dump();
  const bool list = node.is_array();
  if (list && std::all_of(node.begin(), node.end(), plain)) {
    std::string line = "[";
    for (size_t i = 0; i < node.size(); ++i) line += (i > 0 ? ", " : "") + node[i].dump();
    return line + "]";
  }
  const std::string inner(static_cast<size_t>(indent) + 1, ' '),
      outer(static_cast<size_t>(indent), ' ');
  std::string text = list ? "[" : "{";
  const char* separator = "\n";
  for (auto entry = node.begin(); entry != node.end(); ++entry) {
    text += separator + inner;
    if (!list) text += Json(entry.key()).dump() + ": ";
    text += readableJson(*entry, indent + 1);
    separator = ",\n";
  }
  return text + "\n" + outer + (list ? "]" : "}");
}

Json toJson(const Eigen::VectorXd& vector) {
  Json list = Json::array();
  for (const double value : vector) list.push_back(value);
  return list;
}

Json toJson(const Eigen::MatrixXd& matrix) {
  Json list = Json::array();
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    list.push_back(toJson(Eigen::VectorXd(matrix.row(i).transpose())));
  return list;
}

}  // namespace proprio
