#pragma once

/// The fields of robot.yaml, in one table. It drives the checks and messages of the reader, the
/// published JSON Schema and the reference page.

#include <limits>
#include <string>
#include <vector>

namespace proprio {

enum class FieldType {
  kNumber,  ///< finite number
  kAngle,   ///< number, or text such as "pi/2", "-3*pi/4"
  kInteger,
  kBoolean,  ///< true or false
  kString,
  kChoice,        ///< one of Field::choices
  kNumbers,       ///< list of Field::count numbers
  kAngles,        ///< list of Field::count angles
  kRows,          ///< list of lists of Field::count numbers; count 0: any equal length
  kStrings,       ///< list of texts
  kTexts,         ///< a text or number, or a list of them
  kNumberOrList,  ///< angle, or a list of any number of them
  kChoices,       ///< list of Field::choices
  kStringMap,     ///< name: text
  kInfo,          ///< name: text or number or truth value
  kWeights,       ///< a name, or name: number for several
  kObject,        ///< fields of the table Field::table
  kObjects,       ///< list of such objects
  kObjectOrList,  ///< one object or a list of them
  kObjectMap,     ///< name: such an object
};

struct Field {
  const char* name;
  FieldType type;
  const char* help;  ///< meaning and unit
  bool required = false;
  const char* table = nullptr;
  std::vector<const char*> choices = {};
  size_t count = 0;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;  ///< min itself is excluded
};

/// How many of some fields an object may have.
struct FieldRule {
  enum class Kind { kExactlyOne, kAtMostOne } kind;
  std::vector<const char*> names;
};

struct FieldTable {
  const char* name;
  const char* help;
  std::vector<Field> fields;
  std::vector<FieldRule> rules = {};
};

/// All tables; the first is the file itself.
const std::vector<FieldTable>& robotFields();
const FieldTable& robotFieldTable(const std::string& name);

/// "a number above 0", "a list of 3 numbers": for messages and documentation.
std::string expectation(const Field& field);

}  // namespace proprio
