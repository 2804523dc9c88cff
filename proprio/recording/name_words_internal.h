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

/// Tells the channels BASE0 BASE1 ... (or BASE[0] ...) whose joints these are, where their numbers
/// are as many as names, and notes it. Channels that belong to a joint already are left alone.
void attributeJoints(Recording& recording, const std::vector<std::string>& joints,
                     const std::string& origin);

}  // namespace proprio
