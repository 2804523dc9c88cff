#pragma once

/// The words that names of channels are made of, in lower case.

#include <string>

#include "proprio/recording/name_words_internal.h"

namespace proprio {

/// The quantity of a joint that a word stands for, "position" of q, or nothing.
std::string quantityOf(const std::string& word);
/// The quantity of a joint with this SI unit, or nothing.
std::string quantityOfUnit(const std::string& si);

/// des, cmd, target, ...
bool isCommandedWord(const std::string& word);
/// A word that changes nothing: joint, actual, state, ...
bool isPlainWord(const std::string& word);
/// A word that makes something else of a quantity, whatever its unit: error, external, tcp, ...
bool isOtherThing(const std::string& word);

/// Takes a unit from the end of `words`, "deg" of q 1 deg; empty if there is none.
std::string takeUnit(Words* words);
/// Joins words that belong together: "q dot" is qdot; "d q" may be dq or a desired q.
void joinWords(Words* words);

}  // namespace proprio
