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

/// Which fields belong to an object in which `key` has one of `values`: those that the table
/// requires, those required here, and the optional ones. With other values all of them do.
struct FieldCase {
  const char* key;
  std::vector<const char*> values;
  std::vector<const char*> required, optional;
  size_t bias = 0;  ///< numbers in the list `bias`, if that is optional
};

struct FieldTable {
  const char* name;
  const char* help;
  std::vector<Field> fields;
  std::vector<FieldRule> rules = {};
  std::vector<FieldCase> cases = {};
};

/// All tables; the first is the file itself.
const std::vector<FieldTable>& robotFields();
const FieldTable& robotFieldTable(const std::string& name);

/// The case for this value of the key, nullptr if there is none.
const FieldCase* caseOf(const FieldTable& table, const std::string& value);
/// Has the field a meaning in this case?
bool belongs(const FieldTable& table, const FieldCase& one, const std::string& field);

/// "a number above 0", "a list of 3 numbers": for messages and documentation.
std::string expectation(const Field& field);

}  // namespace proprio
