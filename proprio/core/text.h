#pragma once

/// Numbers and names in text files, independent of the machine's locale.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proprio {

/// The number that the whole text is, surrounding spaces, tabs and line ends aside. Decimal
/// notation with a point and optional sign and exponent; "inf" and "nan" are numbers here (callers
/// decide). A number too small for a double is 0. Empty if the text is anything else or too large
/// for a double.
std::optional<double> parseNumber(std::string_view text);

/// Shortest decimal text that reads back as exactly this number; "0" for a negative zero.
std::string formatNumber(double value);

/// The words between spaces, tabs and line ends.
std::vector<std::string_view> splitWords(std::string_view text);

/// The parts between the separators, empty ones included: one more than there are separators.
std::vector<std::string> splitAt(std::string_view text, char separator);

/// A text in single quotes for a message: control characters replaced, long ones shortened.
std::string inQuotes(std::string_view text);

/// The names that look most like `name` (few letters differ or are exchanged with their neighbour),
/// best first, at most `count`.
std::vector<std::string> nearestNames(const std::string& name,
                                      const std::vector<std::string>& names, size_t count = 3);

/// A half sentence for a message about an unknown name: "; did you mean 'elbow'?" or, when nothing
/// is near,
/// "; there are 'shoulder', 'elbow', ..." (or "; there are none").
std::string didYouMean(const std::string& name, const std::vector<std::string>& names);

}  // namespace proprio
