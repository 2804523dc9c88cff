#pragma once

/// Pieces of a self-contained HTML page: style in light and dark, tables, boxes.

#include <string>
#include <vector>

namespace proprio {

/// Style rules of the page, charts and scenes aside.
const char* pageStyle();

/// A number for people with a true minus sign; "–" if it is not finite.
std::string htmlNumber(double value, int digits = 3);

struct HtmlTable {
  std::vector<std::string> header;
  std::string align;                           ///< a letter per column: l or r; missing: r
  std::vector<std::vector<std::string>> rows;  ///< cells as HTML
  std::vector<std::string> row_attributes;  ///< per row, such as " class=\"total\""; may be short
  std::string style = {};                   ///< class of the table

  std::string html() const;
};

/// A bar behind a number: `share` in [0, 1] of the cell's width, in the colour of a class.
std::string barCell(const std::string& text, double share, const char* colour);
/// A coloured word.
std::string badge(const std::string& text, const char* colour);
/// <section> with a heading that can be linked to.
std::string section(const char* id, const std::string& title, const std::string& content);
/// Paragraph of explanation.
std::string remark(const std::string& text);
std::string bulletList(const std::vector<std::string>& sentences);

}  // namespace proprio
