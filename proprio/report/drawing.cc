#include <array>
#include <cstdint>

#include "proprio/report/drawing_internal.h"

namespace proprio {
namespace {

// advance of the letters from ' ' to '~' in DejaVu Sans, the widest of the usual fonts, in 1/100 em
constexpr std::array<uint8_t, 95> kAdvance = {
    32, 40, 46, 84, 64, 95, 78, 28, 39,  39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 78, 75, 30, 30, 66, 56, 86, 75, 79,
    60, 79, 70, 64, 61, 73, 68, 99, 69,  61, 69, 39, 34, 39, 84, 50, 50, 61, 64, 55, 64, 62, 35, 64,
    63, 28, 28, 58, 28, 97, 63, 61, 64,  64, 41, 52, 39, 63, 59, 82, 59, 59, 53, 64, 34, 64, 84};
constexpr double kOtherAdvance = 0.64;  // letters outside ASCII
constexpr double kBold = 1.12;
constexpr const char* kReplacement = "\xEF\xBF\xBD";
constexpr const char* kEllipsis = "…";

// length of the UTF-8 sequence that starts at i, 0 if there is none
size_t sequenceLength(const std::string& text, size_t i) {
  const auto byte = [&](size_t k) {
    return k < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[k])) : 0u;
  };
  const auto tail = [&](size_t k) { return (byte(k) & 0xC0u) == 0x80u; };
  const unsigned first = byte(i), second = byte(i + 1);
  if (first < 0x80u) return 1;
  if (first >= 0xC2u && first < 0xE0u) return tail(i + 1) ? 2 : 0;
  if (first >= 0xE0u && first < 0xF0u) {
    const bool overlong = first == 0xE0u && second < 0xA0u;
    const bool surrogate = first == 0xEDu && second >= 0xA0u;
    const bool nothing = first == 0xEFu && second == 0xBFu && byte(i + 2) >= 0xBEu;
    return tail(i + 1) && tail(i + 2) && !overlong && !surrogate && !nothing ? 3 : 0;
  }
  if (first >= 0xF0u && first < 0xF5u) {
    const bool outside = (first == 0xF0u && second < 0x90u) || (first == 0xF4u && second >= 0x90u);
    return tail(i + 1) && tail(i + 2) && tail(i + 3) && !outside ? 4 : 0;
  }
  return 0;
}

}  // namespace

const char* toneColour(int tone, bool dark) {
  // Okabe and Ito without yellow, which is too pale on paper; on dark, lighter where needed
  static constexpr const char* kLightTones[kTones] = {
      "#ffffff", "#1c2024", "#60666d", "#e8eaed", "#9aa0a6", "#80868b", "#0072b2",
      "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#60666d"};
  static constexpr const char* kDarkTones[kTones] = {
      "#1b1d1f", "#e6e8ea", "#a2a8ae", "#303437", "#6b7176", "#a2a8ae", "#4ea3d8",
      "#f0813a", "#2fc296", "#e39bc3", "#f0b53c", "#8accf2", "#b28ccb", "#a2a8ae"};
  return dark ? kDarkTones[tone] : kLightTones[tone];
}

double textWidth(const std::string& text, double size, bool bold) {
  double width = 0.0;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte >= 32 && byte < 127)
      width += 0.01 * kAdvance[byte - 32u];
    else if (byte >= 0xC0)  // one per sequence
      width += kOtherAdvance;
  }
  return width * size * (bold ? kBold : 1.0);
}

std::string cleanText(const std::string& text) {
  std::string clean;
  for (size_t i = 0; i < text.size();) {
    const size_t length = sequenceLength(text, i);
    const auto byte = static_cast<unsigned char>(text[i]);
    if (length == 0)
      clean += kReplacement;
    else if (byte < 0x20 || byte == 0x7F)
      clean += ' ';
    else
      clean.append(text, i, length);
    i += length == 0 ? 1 : length;
  }
  return clean;
}

std::string fitted(const std::string& text, double size, double width, bool bold) {
  std::string shown = cleanText(text);
  if (textWidth(shown, size, bold) <= width) return shown;
  while (!shown.empty() && textWidth(shown, size, bold) + size > width) {
    while ((static_cast<unsigned char>(shown.back()) & 0xC0u) == 0x80u) shown.pop_back();
    shown.pop_back();
  }
  while (!shown.empty() && shown.back() == ' ') shown.pop_back();
  return shown + kEllipsis;
}

}  // namespace proprio
