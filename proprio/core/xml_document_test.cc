#include "proprio/core/xml_document.h"

#include <gtest/gtest.h>

#include "proprio/core/text.h"

namespace proprio {
namespace {

std::string xmlMessage(const std::string& text) {
  try {
    parseXml(text, "f.xml");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

void expectMessage(const std::string& text, const std::string& part) {
  const std::string message = xmlMessage(text);
  EXPECT_NE(message.find(part), std::string::npos)
      << "message: " << message << "\nexpected: " << part;
}

// The recorded byte positions cut exactly the tags and the raw attribute values out of the text,
// with a byte order mark, both kinds of quotes, quotes in quotes, entities, comments, CDATA and
// CRLF.
TEST(XmlDocument, PositionsAreExact) {
  const std::string text =
      "\xef\xbb\xbf<?xml version='1.0'?>\r\n<!-- <a x='0'/> -->\r\n"
      "<!DOCTYPE a [<!ENTITY half \"0.5\">]>\r\n"
      "<a x = '1 \"2\"'\r\n   y=\"&lt;'&half;&#x41;\" >t<![CDATA[<b/>]]><b\tz='3'/>\xc3\xa4<c></c "
      "></a>\r\n";
  const XmlDocument d = parseXml(text, "f.xml");
  ASSERT_EQ(d.elements.size(), 3u);
  const XmlElement &a = d.elements[0], &b = d.elements[1], &c = d.elements[2];
  const auto cut = [&](size_t begin, size_t end) { return text.substr(begin, end - begin); };
  ASSERT_EQ(a.attributes.size(), 2u);
  EXPECT_EQ(cut(a.attributes[0].begin, a.attributes[0].end), "1 \"2\"");
  EXPECT_EQ(a.attributes[1].value, "<'0.5A");
  EXPECT_EQ(cut(a.attributes[1].begin, a.attributes[1].end), "&lt;'&half;&#x41;");
  EXPECT_EQ(a.text, "t<b/>\xc3\xa4");
  EXPECT_EQ(a.line, 4);
  EXPECT_EQ(cut(a.close, a.end), "</a>");
  EXPECT_EQ(cut(b.begin, b.start_end), "<b\tz='3'/>");
  EXPECT_TRUE(b.selfClosing());
  EXPECT_FALSE(c.selfClosing());
  EXPECT_EQ(cut(c.begin, c.start_end), "<c>");
  EXPECT_EQ(cut(c.close, c.end), "</c >");
  EXPECT_EQ(b.parent, 0);
  EXPECT_EQ(d.children(a, "c").size(), 1u);
  EXPECT_EQ(findAttribute(b, "z")->value, "3");
  EXPECT_EQ(findAttribute(b, "none"), nullptr);
}

// Broken XML is answered with line, reason and the element that was open.
TEST(XmlDocument, BrokenTextSpeaks) {
  expectMessage("<a>\n<b>\n</a>",
                "f.xml:3:3: the XML is broken here: mismatched tag; the innermost open "
                "element is <b> from line 2");
  expectMessage("<a", "f.xml:1");
  expectMessage("", "is empty");
  expectMessage(" \n\t", "is empty");
  expectMessage("hello", "f.xml:1");
  expectMessage("<a/><b/>", "junk after document element");
  expectMessage("<a x='1' x='2'/>", "duplicate attribute");
  expectMessage("<a>&nix;</a>", "undefined entity");
  expectMessage("<a>\xff</a>", "not well-formed");
  expectMessage(std::string("\xff\xfe<\0a\0/\0>\0", 10), "save it as UTF-8");
  expectMessage(std::string("<\0a\0/\0>\0", 8), "save it as UTF-8");
}

// A small file cannot unfold into a large one, reach other files, or exhaust the stack.
TEST(XmlDocument, RefusesBombs) {
  expectMessage("<!DOCTYPE a [<!ENTITY x 'lol'><!ENTITY y '&x;&x;&x;'>]><a>&y;</a>",
                "contains markup or other");
  expectMessage("<!DOCTYPE a [<!ENTITY x '&#38;x;'>]><a>&x;</a>", "contains markup or other");
  expectMessage("<!DOCTYPE a [<!ENTITY x '" + std::string(5000, 'x') + "'>]><a/>",
                "longer than 1000");
  expectMessage("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>",
                "refers to another file");
  expectMessage("<!DOCTYPE a [<!ENTITY % x 'y'>]><a/>", "parameter entity");
  expectMessage("<!DOCTYPE a SYSTEM 'http://example.com/a.dtd'><a/>", "the DOCTYPE refers to");
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "<a>";
  expectMessage(deep, "nested deeper than 100");
}

}  // namespace
}  // namespace proprio
