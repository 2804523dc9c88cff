#include "proprio/core/xml_document.h"

#include <expat.h>
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "proprio/core/text.h"

namespace proprio {
namespace {

constexpr size_t kLargestXml = size_t{64} << 20;
constexpr size_t kDeepest = 100;
constexpr int kLongestEntity = 1000;

// State of one parse. expat is C: nothing may throw through it, so the first error is kept and
// parsing stopped.
struct Builder {
  XML_Parser parser;
  XmlDocument* document;
  std::vector<int> open;
  std::optional<Error> error;

  void fail(const std::string& sentence) {
    if (error) return;
    const auto line = static_cast<int>(XML_GetCurrentLineNumber(parser));
    error = errorAt({document->file, line, 0}, sentence);
    XML_StopParser(parser, XML_FALSE);
  }
};

// byte ranges of the attribute values in the start tag text[begin, end), in order of appearance
std::vector<std::pair<size_t, size_t>> valueRanges(std::string_view text, size_t begin,
                                                   size_t end) {
  std::vector<std::pair<size_t, size_t>> ranges;
  for (size_t i = begin; i < end; ++i) {
    if (text[i] != '"' && text[i] != '\'') continue;
    const size_t close = text.find(text[i], i + 1);
    if (close == std::string_view::npos || close >= end) break;
    ranges.emplace_back(i + 1, close);
    i = close;
  }
  return ranges;
}

void startElement(void* user, const char* name, const char** attributes) {
  auto& builder = *static_cast<Builder*>(user);
  if (builder.error) return;
  XmlDocument& document = *builder.document;
  XmlElement element;
  element.name = name;
  element.line = static_cast<int>(XML_GetCurrentLineNumber(builder.parser));
  element.column = static_cast<int>(XML_GetCurrentColumnNumber(builder.parser)) + 1;
  element.begin = static_cast<size_t>(XML_GetCurrentByteIndex(builder.parser));
  const int byte_count = XML_GetCurrentByteCount(builder.parser);
  // expat gives no bytes of its own to an element that comes out of an entity
  if (byte_count <= 0)
    return builder.fail(fmt::format("<{}> comes out of an entity; write it out", name));
  if (builder.open.size() >= kDeepest) {
    return builder.fail(fmt::format("<{}> is nested deeper than {} elements", name, kDeepest));
  }
  element.start_end = element.begin + static_cast<size_t>(byte_count);

  const auto ranges = valueRanges(document.text, element.begin, element.start_end);
  const auto stated = static_cast<size_t>(XML_GetSpecifiedAttributeCount(builder.parser)) / 2;
  for (size_t i = 0; i < std::min(stated, ranges.size()); ++i) {
    element.attributes.push_back(
        {attributes[2 * i], attributes[2 * i + 1], ranges[i].first, ranges[i].second});
  }
  const int index = static_cast<int>(document.elements.size());
  if (!builder.open.empty()) {
    element.parent = builder.open.back();
    document.elements[static_cast<size_t>(element.parent)].children.push_back(index);
  }
  document.elements.push_back(std::move(element));
  builder.open.push_back(index);
}

void endElement(void* user, const char*) {
  auto& builder = *static_cast<Builder*>(user);
  if (builder.error) return;
  XmlDocument& document = *builder.document;
  XmlElement& element = document.elements[static_cast<size_t>(builder.open.back())];
  builder.open.pop_back();
  if (document.text[element.start_end - 2] == '/') {
    element.close = element.end = element.start_end;
    return;
  }
  element.close = static_cast<size_t>(XML_GetCurrentByteIndex(builder.parser));
  element.end = element.close + static_cast<size_t>(XML_GetCurrentByteCount(builder.parser));
}

void characters(void* user, const char* text, int length) {
  auto& builder = *static_cast<Builder*>(user);
  if (builder.error || builder.open.empty()) return;
  builder.document->elements[static_cast<size_t>(builder.open.back())].text.append(
      text, static_cast<size_t>(length));
}

void entityDeclared(void* user, const char* name, int is_parameter, const char* value, int length,
                    const char*, const char*, const char*, const char*) {
  auto& builder = *static_cast<Builder*>(user);
  const auto refuse = [&](const char* why) {
    builder.fail(
        fmt::format("the entity {} {}; write the text itself instead", inQuotes(name), why));
  };
  if (value == nullptr) return refuse("refers to another file, which is not allowed");
  if (is_parameter != 0) return refuse("is a parameter entity, which is not allowed");
  if (length > kLongestEntity) return refuse("is longer than 1000 bytes");
  if (std::string_view(value, static_cast<size_t>(length)).find_first_of("&<%") !=
      std::string_view::npos) {
    return refuse("contains markup or other entities, which is not allowed");
  }
}

void doctypeStarted(void* user, const char*, const char* system_id, const char*, int) {
  if (system_id == nullptr) return;
  static_cast<Builder*>(user)->fail(fmt::format(
      "the DOCTYPE refers to the file {}, which is not allowed; remove it", inQuotes(system_id)));
}

std::string brokenXml(const Builder& builder) {
  std::string sentence =
      fmt::format("the XML is broken here: {}", XML_ErrorString(XML_GetErrorCode(builder.parser)));
  if (!builder.open.empty()) {
    const XmlElement& open = builder.document->elements[static_cast<size_t>(builder.open.back())];
    sentence +=
        fmt::format("; the innermost open element is <{}> from line {}", open.name, open.line);
  }
  return sentence;
}

}  // namespace

std::vector<const XmlElement*> XmlDocument::children(const XmlElement& parent,
                                                     std::string_view name) const {
  std::vector<const XmlElement*> result;
  for (int index : parent.children) {
    const XmlElement& element = elements[static_cast<size_t>(index)];
    if (element.name == name) result.push_back(&element);
  }
  return result;
}

const XmlElement* XmlDocument::child(const XmlElement& parent, std::string_view name) const {
  const std::vector<const XmlElement*> found = children(parent, name);
  return found.empty() ? nullptr : found[0];
}

const XmlAttribute* findAttribute(const XmlElement& element, std::string_view name) {
  for (const XmlAttribute& attribute : element.attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

XmlDocument parseXml(std::string text, const std::string& file_name) {
  XmlDocument document{file_name, std::move(text), {}};
  const std::string_view start = std::string_view(document.text).substr(0, 4);
  if (document.text.size() > kLargestXml) throw errorAt({file_name, 0, 0}, "is larger than 64 MiB");
  if (document.text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw errorAt({file_name, 0, 0}, "is empty, expected XML");
  if (start.find('\0') != std::string_view::npos || start.substr(0, 2) == "\xff\xfe" ||
      start.substr(0, 2) == "\xfe\xff") {
    throw errorAt({file_name, 1, 0}, "is not UTF-8 text (UTF-16 or binary); save it as UTF-8");
  }

  const std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser(XML_ParserCreate(nullptr),
                                                                       XML_ParserFree);
  if (!parser) throw Error(file_name + ": no memory for the XML parser");
  Builder builder{parser.get(), &document, {}, {}};
  XML_SetUserData(parser.get(), &builder);
  XML_SetElementHandler(parser.get(), startElement, endElement);
  XML_SetCharacterDataHandler(parser.get(), characters);
  XML_SetEntityDeclHandler(parser.get(), entityDeclared);
  XML_SetStartDoctypeDeclHandler(parser.get(), doctypeStarted);
  const XML_Status status = XML_Parse(parser.get(), document.text.data(),
                                      static_cast<int>(document.text.size()), XML_TRUE);
  if (builder.error) throw Error(*builder.error);
  if (status != XML_STATUS_OK) {
    const auto line = static_cast<int>(XML_GetCurrentLineNumber(parser.get()));
    const auto column = static_cast<int>(XML_GetCurrentColumnNumber(parser.get())) + 1;
    throw errorAt({file_name, line, column}, brokenXml(builder));
  }
  return document;
}

}  // namespace proprio
