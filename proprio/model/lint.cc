#include "proprio/model/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "proprio/core/text.h"
#include "proprio/core/text_table.h"
#include "proprio/core/xml_document.h"
#include "proprio/model/lint_internal.h"
#include "proprio/model/tree.h"

namespace proprio {
namespace internal {

RigidGroups rigidGroups(const Model& model) {
  const Traversal walk = traverse(model, model.base);
  RigidGroups groups;
  groups.of_link.assign(model.links.size(), -1);
  std::vector<Pose> X_GL(model.links.size());  // in the frame of the group's first link
  for (const int link : walk.order) {
    const auto l = static_cast<size_t>(link);
    const int above = walk.parent[l];
    const Joint* joint =
        above < 0 ? nullptr : &model.joints[static_cast<size_t>(walk.parent_joint[l])];
    if (joint != nullptr && joint->type == JointType::kFixed) {
      const Pose X_FS = joint->X_FJ * joint->X_JS;
      groups.of_link[l] = groups.of_link[static_cast<size_t>(above)];
      X_GL[l] = X_GL[static_cast<size_t>(above)] * (joint->second == link ? X_FS : X_FS.inverse());
    } else {
      groups.of_link[l] = static_cast<int>(groups.inertia.size());
      groups.inertia.emplace_back();
      groups.moves.push_back(joint != nullptr || model.floating);
    }
    InertialParameters& sum = groups.inertia[static_cast<size_t>(groups.of_link[l])];
    sum = sum + transformed(X_GL[l], model.links[l].inertia);
  }
  return groups;
}

std::vector<InertialParameters> inertiaBeyondJoints(const Model& model) {
  const Traversal walk = traverse(model, model.base);
  std::vector<InertialParameters> beyond(model.joints.size());
  std::vector<InertialParameters> below(model.links.size());  // per link, in the link frame
  for (auto it = walk.order.rbegin(); it != walk.order.rend(); ++it) {
    const auto l = static_cast<size_t>(*it);
    below[l] = below[l] + model.links[l].inertia;
    if (walk.parent[l] < 0) continue;
    const auto j = static_cast<size_t>(walk.parent_joint[l]);
    const Joint& joint = model.joints[j];
    const bool forward = joint.second == *it;
    beyond[j] = transformed(forward ? joint.X_JS : joint.X_FJ.inverse(), below[l]);
    InertialParameters& above = below[static_cast<size_t>(walk.parent[l])];
    above = above + transformed(forward ? joint.X_FJ : joint.X_JS.inverse(), beyond[j]);
  }
  return beyond;
}

Finding linkFinding(Severity severity, const char* rule, const Model& model, int link) {
  const Link& about = model.links[static_cast<size_t>(link)];
  Finding out;
  out.severity = severity;
  out.rule = rule;
  out.subject = "link " + about.name;
  out.location = about.location;
  out.link = link;
  return out;
}

Finding jointFinding(Severity severity, const char* rule, const Model& model, int joint,
                     std::initializer_list<std::string> keys) {
  const Joint& about = model.joints[static_cast<size_t>(joint)];
  Finding out;
  out.severity = severity;
  out.rule = rule;
  out.subject = "joint " + about.name;
  out.location = whereStated(about, keys);
  out.joint = joint;
  return out;
}

bool inUrdf(const Model& model, const Finding& finding) {
  return finding.location.file == model.urdf;
}

}  // namespace internal

namespace {

void sortBySeverity(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return static_cast<int>(a.severity) > static_cast<int>(b.severity);
  });
}

// ---- structure of a URDF that is not a robot ----

struct Named {
  const XmlElement* element;
  std::string name;
};

std::string attributeOf(const XmlElement* element, const char* name) {
  const XmlAttribute* attribute = element == nullptr ? nullptr : findAttribute(*element, name);
  return attribute == nullptr ? "" : attribute->value;
}

std::vector<Named> namedChildren(const XmlDocument& document, const char* kind) {
  std::vector<Named> out;
  for (const XmlElement* element : document.children(document.root(), kind))
    out.push_back({element, attributeOf(element, "name")});
  return out;
}

Finding structureFinding(const XmlDocument& document, const char* rule, const char* kind,
                         const Named& about) {
  Finding out;
  out.severity = Severity::kError;
  out.rule = rule;
  out.subject = fmt::format("{} {}", kind, about.name);
  out.location = document.location(*about.element);
  return out;
}

using Dropped = std::set<const XmlElement*>;

void findDuplicates(const XmlDocument& document, const char* kind, const std::vector<Named>& items,
                    std::vector<Finding>& findings, Dropped& dropped) {
  std::map<std::string, int> line_of;
  for (const Named& item : items) {
    const auto [first, fresh] = line_of.emplace(item.name, item.element->line);
    if (fresh || item.name.empty()) continue;
    Finding out = structureFinding(document, "duplicate-name", kind, item);
    out.message = fmt::format("this name is also used in line {}", first->second);
    out.advice = "rename one of the two";
    findings.push_back(out);
    dropped.insert(item.element);
  }
}

// links that are not in the part of the graph that holds the most links; joints that do not say
// what they connect are left to the reader
void findUnreachable(const XmlDocument& document, const std::vector<Named>& links,
                     const std::vector<Named>& joints, std::vector<Finding>& findings,
                     Dropped& dropped) {
  std::map<std::string, std::string> root;
  for (const Named& link : links) root[link.name] = link.name;
  const auto find = [&](std::string name) {
    while (root[name] != name) name = root[name];
    return name;
  };
  std::vector<std::pair<const XmlElement*, std::string>> within;
  for (const Named& joint : joints) {
    const std::string a = attributeOf(document.child(*joint.element, "parent"), "link");
    const std::string b = attributeOf(document.child(*joint.element, "child"), "link");
    // what a joint with an unknown end should connect is not known: no finding about its links
    if (root.count(a) == 0 || root.count(b) == 0) return;
    root[find(b)] = find(a);
    within.emplace_back(joint.element, a);
  }
  std::map<std::string, int> size;
  for (const auto& [name, unused] : root) ++size[find(name)];
  std::string largest;
  for (const Named& link : links) {
    const std::string own = find(link.name);
    if (largest.empty() || size[own] > size[largest]) largest = own;
  }
  for (const Named& link : links) {
    if (find(link.name) == largest) continue;
    Finding out = structureFinding(document, "unreachable-link", "link", link);
    out.message = fmt::format("no chain of joints connects it with '{}'", largest);
    out.advice = "add a joint (a fixed one will do) or remove the link";
    findings.push_back(out);
    dropped.insert(link.element);
  }
  for (const auto& [joint, link] : within) {
    if (find(link) != largest) dropped.insert(joint);
  }
}

void findUnknownLeaders(const XmlDocument& document, const std::vector<Named>& joints,
                        std::vector<Finding>& findings, Dropped& dropped) {
  std::vector<std::string> names;
  for (const Named& joint : joints) names.push_back(joint.name);
  for (const Named& joint : joints) {
    const XmlElement* mimic = document.child(*joint.element, "mimic");
    const std::string leader = attributeOf(mimic, "joint");
    // one that names no joint at all is left to the reader
    if (leader.empty() || std::find(names.begin(), names.end(), leader) != names.end()) continue;
    if (attributeOf(joint.element, "type") == "fixed") continue;  // ignored
    Finding out = structureFinding(document, "mimic-unknown", "joint", joint);
    out.location = document.location(*mimic);
    out.message = fmt::format("it mimics the joint '{}', which does not exist{}", leader,
                              didYouMean(leader, names));
    out.advice = "name the joint to follow, or remove <mimic>";
    findings.push_back(out);
    dropped.insert(mimic);
  }
}

void findMimicLoops(const XmlDocument& document, const std::vector<Named>& joints,
                    std::vector<Finding>& findings, Dropped& dropped) {
  std::map<std::string, std::string> leader;
  for (const Named& joint : joints) {
    const XmlElement* mimic = document.child(*joint.element, "mimic");
    if (mimic != nullptr) leader[joint.name] = attributeOf(mimic, "joint");
  }
  std::set<std::string> reported;
  for (const Named& joint : joints) {
    std::vector<std::string> chain = {joint.name};
    while (leader.count(chain.back()) > 0 && chain.size() <= leader.size()) {
      chain.push_back(leader[chain.back()]);
      if (chain.back() == joint.name) break;
    }
    if (chain.size() < 2 || chain.back() != joint.name || reported.count(joint.name) > 0) continue;
    reported.insert(chain.begin(), chain.end());
    Finding out = structureFinding(document, "mimic-loop", "joint", joint);
    out.message = fmt::format("joints mimic each other in a loop: {}", fmt::join(chain, " -> "));
    out.advice = "let one of them be free";
    findings.push_back(out);
    dropped.insert(document.child(*joint.element, "mimic"));
  }
}

// the document without what is dropped, and with names of their own for the second of equal joints:
// without those their links would hang on nothing
XmlDocument restOf(const XmlDocument& document, const Dropped& dropped, const Dropped& renamed) {
  XmlDocument out = document;
  for (size_t i = 0; i < out.elements.size(); ++i) {
    XmlElement& element = out.elements[i];
    std::erase_if(element.children, [&](int child) {
      return dropped.count(&document.elements[static_cast<size_t>(child)]) > 0;
    });
    if (renamed.count(&document.elements[i]) == 0) continue;
    for (XmlAttribute& attribute : element.attributes) {
      if (attribute.name == "name") attribute.value += fmt::format(" (line {})", element.line);
    }
  }
  return out;
}

// ---- text ----

Ink inkOf(Severity severity) {
  constexpr Ink kInks[] = {Ink::kBlue, Ink::kYellow, Ink::kRed};
  return kInks[static_cast<int>(severity)];
}

std::string withUnit(double value, const std::string& unit) {
  return unit.empty() ? readable(value) : readable(value) + " " + unit;
}

}  // namespace

const char* toString(Severity severity) {
  constexpr const char* kNames[] = {"note", "warning", "error"};
  return kNames[static_cast<int>(severity)];
}

std::vector<Finding> lint(const Model& model) {
  std::vector<Finding> findings;
  internal::lintLinks(model, findings);
  internal::lintJoints(model, findings);
  sortBySeverity(findings);
  return findings;
}

UrdfStructure lintUrdfStructure(const std::string& text, const std::string& file_name) {
  UrdfStructure out;
  std::vector<ReadNote> notes;
  Dropped dropped, renamed;
  try {
    const XmlDocument document = parseXml(text, file_name);
    if (document.root().name != "robot") return {};
    const std::vector<Named> links = namedChildren(document, "link");
    const std::vector<Named> joints = namedChildren(document, "joint");
    findDuplicates(document, "link", links, out.findings, dropped);
    findDuplicates(document, "joint", joints, out.findings, renamed);
    findUnreachable(document, links, joints, out.findings, dropped);
    findUnknownLeaders(document, joints, out.findings, dropped);
    findMimicLoops(document, joints, out.findings, dropped);
    if (out.findings.empty()) return {};
    out.rest = readUrdfDocument(restOf(document, dropped, renamed), &notes);
  } catch (const Error& error) {
    out.unreadable = error.what();
    return out;
  }
  for (Finding& finding : lint(out.rest)) out.findings.push_back(std::move(finding));
  for (const ReadNote& note : notes) out.findings.push_back(asFinding(note));
  sortBySeverity(out.findings);
  return out;
}

Finding asFinding(const ReadNote& note) {
  Finding out;
  out.rule = "reading";
  out.subject = "file";
  out.message = note.sentence;
  out.advice = "correct the description if this is not meant";
  out.location = note.location;
  return out;
}

int countOf(const std::vector<Finding>& findings, Severity severity) {
  return static_cast<int>(
      std::count_if(findings.begin(), findings.end(),
                    [&](const Finding& finding) { return finding.severity == severity; }));
}

std::string findingsText(const std::vector<Finding>& findings, bool colour, int width) {
  constexpr int kIndent = 4;
  TextTable table;
  table.header = {"", "severity", "rule", "where", "value", "margin", "line"};
  table.right = {false, false, false, false, true, true, true};
  for (const Finding& finding : findings) {
    const Ink ink = inkOf(finding.severity);
    constexpr const char* kMarks[] = {"•", "▲", "✗"};
    const bool stated = !std::isnan(finding.value);
    table.rows.push_back({inked(kMarks[static_cast<int>(finding.severity)], ink, colour),
                          inked(toString(finding.severity), ink, colour), finding.rule,
                          finding.subject, stated ? withUnit(finding.value, finding.unit) : "",
                          std::isnan(finding.margin) ? "" : withUnit(finding.margin, finding.unit),
                          finding.location.line > 0 ? fmt::to_string(finding.location.line) : ""});
  }
  // the table's lines, each followed by what was found and what to do
  const std::string text = table.text(colour);
  std::string out;
  size_t begin = 0;
  for (size_t row = 0; begin < text.size(); ++row) {
    const size_t end = text.find('\n', begin) + 1;
    out += text.substr(begin, end - begin);
    begin = end;
    if (row < 2) continue;
    const Finding& finding = findings[row - 2];
    out += std::string(kIndent, ' ') + wrapped(finding.message, width - kIndent, kIndent) + '\n';
    out += std::string(kIndent, ' ') +
           inked(wrapped("→ " + finding.advice, width - kIndent, kIndent + 2), Ink::kDim, colour) +
           '\n';
  }
  const int errors = countOf(findings, Severity::kError);
  const int warnings = countOf(findings, Severity::kWarning);
  const int notes = countOf(findings, Severity::kNote);
  const auto plural = [](int n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  if (!out.empty()) out += '\n';
  out += inked(errors > 0     ? "  ✗ impossible"
               : warnings > 0 ? "  ▲ possible"
                              : "  ✓ possible",
               errors > 0     ? Ink::kRed
               : warnings > 0 ? Ink::kYellow
                              : Ink::kGreen,
               colour);
  out += fmt::format(": {}, {}, {}\n", plural(errors, "error"), plural(warnings, "warning"),
                     plural(notes, "note"));
  return out;
}

}  // namespace proprio
