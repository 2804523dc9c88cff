#pragma once

/// An XML file as elements with their byte positions, so that messages can name the line and a
/// writer can replace single attribute values and leave every other byte alone.
///
/// Not supported, with a message: UTF-16, external entities and DTDs, entities that contain markup
/// or other entities (so that no small file can unfold into a huge one), more than 100 nested
/// elements.

#include <string>
#include <string_view>
#include <vector>

#include "proprio/core/error.h"

namespace proprio {

struct XmlAttribute {
  std::string name;
  std::string value;  ///< with entities resolved
  size_t begin = 0;   ///< first byte of the value, after the quote
  size_t end = 0;     ///< the closing quote
};

struct XmlElement {
  std::string name;
  int parent = -1;  ///< index into XmlDocument::elements
  std::vector<int> children;
  std::vector<XmlAttribute> attributes;
  std::string text;  ///< characters directly inside, comments left out
  int line = 0;
  int column = 0;
  size_t begin = 0;      ///< the '<' of the start tag
  size_t start_end = 0;  ///< one past the '>' of the start tag
  size_t close = 0;      ///< the '<' of the end tag; start_end if the element is <name .../>
  size_t end = 0;        ///< one past the element
  bool selfClosing() const { return close == end; }
};

struct XmlDocument {
  std::string file;                  ///< for messages
  std::string text;                  ///< all bytes as given
  std::vector<XmlElement> elements;  ///< in document order; the root element is the first

  FileLocation location(const XmlElement& element) const {
    return {file, element.line, element.column};
  }
  const XmlElement& root() const { return elements.front(); }
  /// Direct children of that name, in order.
  std::vector<const XmlElement*> children(const XmlElement& parent, std::string_view name) const;
  /// The first direct child of that name, nullptr if there is none.
  const XmlElement* child(const XmlElement& parent, std::string_view name) const;
};

/// nullptr if the element has no such attribute.
const XmlAttribute* findAttribute(const XmlElement& element, std::string_view name);

/// @throws Error with line and reason if the text is not well-formed.
XmlDocument parseXml(std::string text, const std::string& file_name);

}  // namespace proprio
