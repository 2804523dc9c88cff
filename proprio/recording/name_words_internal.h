#pragma once

/// Names of channels taken apart.

#include <optional>
#include <string>
#include <vector>

#include "proprio/recording/recording.h"

namespace proprio {

using Words = std::vector<std::string>;

/// Words in lower case and numbers: at signs, and where letters meet digits or a capital begins.
/// "actualQ_3" is actual q 3.
Words wordsOf(const std::string& name);

/// A number of at most three digits, as joints have them.
bool isNumberWord(const std::string& word);

/// "y" and "train" of "y_train", "train_y" or "y_training"; parts are train, val and test. Without
/// such a word `part` is empty and `rest` the name. "train" alone has an empty rest.
struct PartName {
  std::string rest, part;
};
PartName withoutPart(const std::string& name);

/// Tells the channels BASE0 BASE1 ... (or BASE[0] ...) whose joints these are, where their numbers
/// are as many as names, and notes it. Channels that belong to a joint already are left alone, and
/// so are those whose names do not start with `within`.
void attributeJoints(Recording& recording, const std::vector<std::string>& joints,
                     const std::string& origin, const std::string& within = "");

}  // namespace proprio
