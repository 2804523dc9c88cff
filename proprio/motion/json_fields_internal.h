#pragma once

/// A JSON object read field by field, with messages that name file and field. Includes
/// nlohmann-json; not a public header.

#include <fmt/format.h>

#include <Eigen/Core>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "proprio/core/error.h"

namespace proprio {

using Json = nlohmann::ordered_json;

/// An Error that already names file and field.
class FieldError : public Error {
 public:
  using Error::Error;
};

class JsonObject {
 public:
  /// @throws Error if the node is not an object. `path` is the node's place, empty for the top.
  JsonObject(const Json& node, std::string path, std::string file);

  bool has(const std::string& key) const { return node_.contains(key); }
  /// @throws Error for a key that is not in the list, with the nearest that is.
  void allow(const std::vector<std::string>& keys) const;

  double number(const std::string& key) const;
  double positive(const std::string& key) const;
  int integer(const std::string& key, int least) const;
  std::string text(const std::string& key) const;
  std::vector<std::string> texts(const std::string& key) const;
  /// Of any length when size is -1.
  Eigen::VectorXd vector(const std::string& key, Eigen::Index size = -1) const;
  /// A list of `rows` lists of the same length (which must be `cols` unless that is -1).
  Eigen::MatrixXd matrix(const std::string& key, Eigen::Index rows, Eigen::Index cols = -1) const;
  JsonObject object(const std::string& key) const;
  std::vector<JsonObject> objects(const std::string& key) const;

  /// An Error about a field (or about the object, for an empty key).
  FieldError error(const std::string& key, const std::string& sentence) const;

 private:
  const Json& at(const std::string& key) const;
  std::string place(const std::string& key) const;

  const Json& node_;
  std::string path_, file_;
};

/// @throws Error with file and line for text that is not JSON.
Json parseJson(const std::string& text, const std::string& file_name);

/// Text for people: a line per field and per row of numbers.
std::string readableJson(const Json& node, int indent = 0);

Json toJson(const Eigen::VectorXd& vector);
/// A list of rows.
Json toJson(const Eigen::MatrixXd& matrix);

}  // namespace proprio
