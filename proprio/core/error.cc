#include "proprio/core/error.h"

namespace proprio {

std::string toString(const FileLocation& location) {
  std::string text = location.file;
  if (location.line > 0) text += ":" + std::to_string(location.line);
  if (location.line > 0 && location.column > 0) text += ":" + std::to_string(location.column);
  return text;
}

Error errorAt(const FileLocation& location, const std::string& sentence) {
  return Error(toString(location) + ": " + sentence);
}

}  // namespace proprio
