#include "proprio/model/urdf_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "proprio/core/atomic_file.h"
#include "proprio/core/text.h"
#include "proprio/core/xml_document.h"
#include "proprio/model/urdf_reader.h"

namespace proprio {
namespace {

// Relative size of what lumping, subtracting the parts again and moving the inertia to the centre
// of mass may leave behind in a value that nobody changed.
constexpr double kSameNumber = 1e-13;

struct Attribute {
  std::string name;
  std::string value;
};

// A replacement of text[begin, end).
struct Edit {
  size_t begin, end;
  std::string text;
};

// Collects edits of one document; positions refer to the original text.
class Splicer {
 public:
  explicit Splicer(const XmlDocument& document) : document_(document), text_(document.text) {}

  /// Replaces the numbers of an attribute that differ by more than `rounding`, or adds the
  /// attribute, unless it would say only zeros that need not be said.
  void setNumbers(const XmlElement& element, const char* name, const std::vector<double>& values,
                  double rounding = 0.0, bool say_zeros = false);
  /// Adds a child element: before the first child, or after the last.
  enum class Place { kFirst, kLast };
  void insert(const XmlElement& parent, Place place, const std::string& name,
              const std::vector<Attribute>& attributes);
  /// Adds <inertial> with origin, mass and inertia.
  void insertInertial(const XmlElement& link, const std::vector<std::vector<Attribute>>& children);
  std::string result() const;

 private:
  std::string lead(size_t position) const;
  std::string newline(const XmlElement& element) const;
  std::string unit(const XmlElement& element) const;
  char quote(const XmlElement& element) const;
  std::string tag(const std::string& name, const std::vector<Attribute>& attributes,
                  char quote) const;
  void insertText(const XmlElement& parent, Place place, const std::string& element_text);

  const XmlDocument& document_;
  const std::string& text_;
  std::vector<Edit> edits_;
};

// The blanks between the line start and the position; "x" where something else stands there.
std::string Splicer::lead(size_t position) const {
  const size_t line = text_.find_last_of('\n', position == 0 ? 0 : position - 1);
  const size_t begin = line == std::string::npos ? 0 : line + 1;
  const std::string before = text_.substr(begin, position - begin);
  const bool blank =
      line != std::string::npos && before.find_first_not_of(" \t") == std::string::npos;
  return blank ? before : "x";
}

// The line end before the element, empty if it shares its line with others.
std::string Splicer::newline(const XmlElement& element) const {
  if (lead(element.begin) == "x") return "";
  const size_t line = text_.find_last_of('\n', element.begin);
  return line > 0 && text_[line - 1] == '\r' ? "\r\n" : "\n";
}

// One step of indentation: what the element has more than its parent.
std::string Splicer::unit(const XmlElement& element) const {
  const std::string own = lead(element.begin);
  if (element.parent >= 0) {
    const std::string outer = lead(document_.elements[static_cast<size_t>(element.parent)].begin);
    if (own.size() > outer.size() && own.rfind(outer, 0) == 0) return own.substr(outer.size());
  }
  return own.find('\t') != std::string::npos ? "\t" : "  ";
}

char Splicer::quote(const XmlElement& element) const {
  return element.attributes.empty() ? '"' : text_[element.attributes.back().end];
}

std::string Splicer::tag(const std::string& name, const std::vector<Attribute>& attributes,
                         char quote) const {
  std::string result = "<" + name;
  for (const Attribute& attribute : attributes) {
    result += fmt::format(" {}={}{}{}", attribute.name, quote, attribute.value, quote);
  }
  return result + "/>";
}

void Splicer::setNumbers(const XmlElement& element, const char* name,
                         const std::vector<double>& values, double rounding, bool say_zeros) {
  const XmlAttribute* attribute = findAttribute(element, name);
  std::string joined;
  for (double value : values) joined += (joined.empty() ? "" : " ") + formatNumber(value);
  if (attribute == nullptr) {
    const bool zero = std::all_of(values.begin(), values.end(),
                                  [&](double v) { return std::abs(v) <= rounding; });
    if (zero && !say_zeros) return;
    if (zero) joined = values.size() == 1 ? "0" : "0 0 0";
    const size_t end = element.attributes.empty() ? element.begin + 1 + element.name.size()
                                                  : element.attributes.back().end + 1;
    edits_.push_back(
        {end, end, fmt::format(" {}={}{}{}", name, quote(element), joined, quote(element))});
    return;
  }
  const std::vector<std::string_view> words = splitWords(attribute->value);
  const auto differs = [&](size_t i) {
    const std::optional<double> old = i < words.size() ? parseNumber(words[i]) : std::nullopt;
    return !old || std::abs(*old - values[i]) > rounding;
  };
  const std::string_view raw =
      std::string_view(text_).substr(attribute->begin, attribute->end - attribute->begin);
  const std::vector<std::string_view> raw_words = splitWords(raw);
  if (raw.find('&') != std::string_view::npos || raw_words.size() != values.size()) {
    // entities hide where the words are: all or nothing
    for (size_t i = 0; i < values.size(); ++i) {
      if (!differs(i)) continue;
      edits_.push_back({attribute->begin, attribute->end, joined});
      return;
    }
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!differs(i)) continue;
    const size_t begin = static_cast<size_t>(raw_words[i].data() - text_.data());
    edits_.push_back({begin, begin + raw_words[i].size(), formatNumber(values[i])});
  }
}

void Splicer::insertText(const XmlElement& parent, Place place, const std::string& element_text) {
  const std::string line_end = newline(parent);
  const std::string outer = line_end.empty() ? "" : line_end + lead(parent.begin);
  const std::string inner = line_end.empty() ? "" : outer + unit(parent);
  if (parent.selfClosing()) {
    const size_t slash = parent.start_end - 2;
    edits_.push_back(
        {slash, parent.start_end, ">" + inner + element_text + outer + "</" + parent.name + ">"});
    return;
  }
  if (parent.children.empty()) {
    const std::string content = text_.substr(parent.start_end, parent.close - parent.start_end);
    const bool closes_on_own_line = content.find('\n') != std::string::npos;
    edits_.push_back({parent.start_end, parent.start_end,
                      inner + element_text + (closes_on_own_line ? "" : outer)});
    return;
  }
  const int index = place == Place::kFirst ? parent.children.front() : parent.children.back();
  const XmlElement& neighbour = document_.elements[static_cast<size_t>(index)];
  const std::string between =
      newline(neighbour).empty() ? "" : newline(neighbour) + lead(neighbour.begin);
  if (place == Place::kFirst) {
    edits_.push_back({neighbour.begin, neighbour.begin, element_text + between});
  } else {
    edits_.push_back({neighbour.end, neighbour.end, between + element_text});
  }
}

void Splicer::insert(const XmlElement& parent, Place place, const std::string& name,
                     const std::vector<Attribute>& attributes) {
  insertText(parent, place, tag(name, attributes, quote(parent)));
}

void Splicer::insertInertial(const XmlElement& link,
                             const std::vector<std::vector<Attribute>>& children) {
  constexpr const char* kNames[] = {"origin", "mass", "inertia"};
  // the new element stands where children of the link stand, its own children one step further
  const XmlElement& model =
      link.children.empty() ? link : document_.elements[static_cast<size_t>(link.children[0])];
  std::string line_end = newline(model), outer, inner;
  if (!line_end.empty()) {
    outer = line_end + lead(model.begin) + (link.children.empty() ? unit(link) : "");
    inner = outer + unit(link);
  }
  std::string element = "<inertial>";
  for (size_t i = 0; i < children.size(); ++i)
    element += inner + tag(kNames[i], children[i], quote(link));
  insertText(link, Place::kFirst, element + outer + "</inertial>");
}

std::string Splicer::result() const {
  std::vector<Edit> edits = edits_;
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  std::string result;
  size_t done = 0;
  for (const Edit& edit : edits) {
    if (edit.begin < done)
      throw Error(document_.file + ": a value is to be changed twice; name each link once");
    result.append(text_, done, edit.begin - done);
    result += edit.text;
    done = edit.end;
  }
  return result.append(text_, done, std::string::npos);
}

// The link's or joint's element; `kind` is the tag. @throws Error if there is none.
const XmlElement& elementNamed(const XmlDocument& document, const char* kind,
                               const std::string& name) {
  std::vector<std::string> names;
  for (const XmlElement* element : document.children(document.root(), kind)) {
    const XmlAttribute* attribute = findAttribute(*element, "name");
    if (attribute == nullptr) continue;
    if (attribute->value == name) return *element;
    names.push_back(attribute->value);
  }
  throw Error(fmt::format("{}: there is no {} {} to write to{}", document.file, kind,
                          inQuotes(name), didYouMean(name, names)));
}

void spliceInertia(const XmlDocument& document, const Model& written, const UrdfInertia& change,
                   bool complete, Splicer& splicer) {
  const InertialParameters& body = change.inertia;
  if (!body.vector().allFinite()) {
    throw Error(fmt::format("link {}: its new inertia has a number that is not finite",
                            inQuotes(change.link)));
  }
  const XmlElement& link = elementNamed(document, "link", change.link);
  const XmlElement* inertial = document.child(link, "inertial");
  const Pose& X_LI = written.links[static_cast<size_t>(requireLink(written, change.link))].X_LI;
  Vector3d com = X_LI.p;  // of a massless body: stays
  if (body.mass != 0.0) {
    com = body.com();
  } else if (!body.first_moment.isZero(0.0)) {
    throw Error(
        fmt::format("link {}: a body without mass has a first moment, which URDF cannot say",
                    inQuotes(change.link)));
  }
  const Matrix3d I = X_LI.R.transpose() * body.inertiaAtCom() * X_LI.R;
  const std::pair<const char*, double> entries[] = {{"ixx", I(0, 0)}, {"ixy", I(0, 1)},
                                                    {"ixz", I(0, 2)}, {"iyy", I(1, 1)},
                                                    {"iyz", I(1, 2)}, {"izz", I(2, 2)}};
  const std::string xyz =
      fmt::format("{} {} {}", formatNumber(com.x()), formatNumber(com.y()), formatNumber(com.z()));
  if (inertial == nullptr) {
    std::vector<Attribute> inertia;
    for (const auto& [name, value] : entries) inertia.push_back({name, formatNumber(value)});
    splicer.insertInertial(
        link, {{{"xyz", xyz}, {"rpy", "0 0 0"}}, {{"value", formatNumber(body.mass)}}, inertia});
    return;
  }
  splicer.setNumbers(*document.child(*inertial, "mass"), "value", {body.mass},
                     change.mass_rounding);
  if (const XmlElement* origin = document.child(*inertial, "origin")) {
    splicer.setNumbers(*origin, "xyz", {com.x(), com.y(), com.z()}, change.com_rounding);
  } else if (com.cwiseAbs().maxCoeff() > change.com_rounding) {
    splicer.insert(*inertial, Splicer::Place::kFirst, "origin", {{"xyz", xyz}, {"rpy", "0 0 0"}});
  }
  const XmlElement& inertia = *document.child(*inertial, "inertia");
  for (const auto& [name, value] : entries)
    splicer.setNumbers(inertia, name, {value}, change.inertia_rounding, complete);
}

// Sets those of the values that are stated, in the child element of that name.
void spliceChild(const XmlDocument& document, const XmlElement& joint, const char* child_name,
                 const std::vector<std::pair<const char*, double>>& values, Splicer& splicer) {
  std::vector<Attribute> stated;
  const XmlElement* child = document.child(joint, child_name);
  for (const auto& [name, value] : values) {
    if (std::isnan(value)) continue;
    if (std::isinf(value))
      throw Error(fmt::format("{}: a new {} of a joint is infinite", document.file, name));
    if (child != nullptr) splicer.setNumbers(*child, name, {value});
    stated.push_back({name, formatNumber(value)});
  }
  if (child == nullptr && !stated.empty())
    splicer.insert(joint, Splicer::Place::kLast, child_name, stated);
}

void spliceJoint(const XmlDocument& document, const UrdfJointValues& change, Splicer& splicer) {
  const XmlElement& joint = elementNamed(document, "joint", change.joint);
  spliceChild(document, joint, "dynamics",
              {{"damping", change.damping}, {"friction", change.friction}}, splicer);
  const bool positions = !std::isnan(change.lower) || !std::isnan(change.upper);
  const bool rates = !std::isnan(change.velocity) && !std::isnan(change.effort);
  if (document.child(joint, "limit") == nullptr && positions && !rates) {
    throw Error(fmt::format(
        "{}: joint {} has no <limit>; a new one needs velocity and effort too, URDF requires them",
        document.file, inQuotes(change.joint)));
  }
  spliceChild(document, joint, "limit",
              {{"lower", change.lower},
               {"upper", change.upper},
               {"effort", change.effort},
               {"velocity", change.velocity}},
              splicer);
}

// `now` if it is stated and another number than `before`.
double changed(double before, double now) { return now == before ? kNotStated : now; }

double coefficient(const Joint& joint, FrictionTermKind kind, double otherwise) {
  for (const FrictionTerm& term : joint.friction.terms) {
    if (term.kind == kind) return term.coefficient;
  }
  return otherwise;
}

}  // namespace

UrdfChanges urdfChanges(const Model& written, const Model& model) {
  UrdfChanges changes;
  for (const Link& link : model.links) {
    for (const LinkPart& part : link.parts) {
      const int index = written.linkIndex(part.name);
      if (index < 0) continue;
      const Vector10d old = written.links[static_cast<size_t>(index)].inertia.vector();
      if ((part.inertia.vector() - old).norm() > kSameNumber * old.norm())
        changes.links.push_back({part.name, part.inertia});
    }
  }
  for (const Link& link : model.links) {
    const int index = written.linkIndex(link.name);
    if (index < 0) continue;
    // sizes of the lumped body, in which the rounding errors arose
    const double mass = std::abs(link.inertia.mass);
    const double inertia = link.inertia.inertia.cwiseAbs().maxCoeff() +
                           (mass > 0.0 ? link.inertia.first_moment.squaredNorm() / mass : 0.0);
    InertialParameters own = ownInertia(link);
    const InertialParameters& old = written.links[static_cast<size_t>(index)].inertia;
    const InertialParameters difference = own - old;
    const double moment = link.inertia.first_moment.norm() + std::sqrt(mass * inertia);
    const bool same = std::abs(difference.mass) <= kSameNumber * mass &&
                      difference.first_moment.norm() <= kSameNumber * moment &&
                      difference.inertia.norm() <= kSameNumber * inertia;
    if (same) continue;
    if (std::abs(own.mass) <= kSameNumber * mass &&
        own.first_moment.norm() <= kSameNumber * moment) {
      own.mass = 0.0;
      own.first_moment.setZero();
    }
    UrdfInertia change{link.name, own};
    change.mass_rounding = kSameNumber * mass;
    change.com_rounding = own.mass == 0.0 ? 0.0 : kSameNumber * moment / std::abs(own.mass);
    change.inertia_rounding = kSameNumber * inertia;
    changes.links.push_back(std::move(change));
  }
  for (const Joint& joint : model.joints) {
    const int index = written.jointIndex(joint.name);
    if (index < 0 || velocityCount(joint.type) != 1) continue;
    const Joint& old = written.joints[static_cast<size_t>(index)];
    UrdfJointValues change;
    change.joint = joint.name;
    const auto term = [&](FrictionTermKind kind) {
      return changed(coefficient(old, kind, 0.0), coefficient(joint, kind, kNotStated));
    };
    change.damping = term(FrictionTermKind::kViscous);
    change.friction = term(FrictionTermKind::kCoulomb);
    if (old.type != JointType::kContinuous) {
      change.lower = changed(old.limits.lower, joint.limits.lower);
      change.upper = changed(old.limits.upper, joint.limits.upper);
    }
    change.velocity = changed(old.limits.velocity, joint.limits.velocity);
    change.effort = changed(old.limits.effort, joint.limits.effort);
    for (double value : {change.damping, change.friction, change.lower, change.upper,
                         change.velocity, change.effort}) {
      if (std::isnan(value)) continue;
      changes.joints.push_back(change);
      break;
    }
  }
  return changes;
}

std::string spliceUrdf(const std::string& text, const UrdfChanges& changes,
                       const std::string& file_name) {
  const Model written =
      readUrdfText(text, file_name);  // so that everything below stands on a valid URDF
  const XmlDocument document = parseXml(text, file_name);
  Splicer splicer(document);
  for (const UrdfInertia& change : changes.links)
    spliceInertia(document, written, change, changes.complete_inertias, splicer);
  for (const UrdfJointValues& change : changes.joints) spliceJoint(document, change, splicer);
  return splicer.result();
}

std::string updatedUrdf(const std::string& text, const Model& model, const std::string& file_name) {
  return spliceUrdf(text, urdfChanges(readUrdfText(text, file_name), model), file_name);
}

void writeUrdf(const Model& model, const std::string& path) {
  if (model.urdf.empty()) {
    throw Error(fmt::format(
        "{}: the robot {} does not come from a URDF, so there is none to write its values into",
        path, inQuotes(model.name)));
  }
  writeFileAtomically(path, updatedUrdf(readFile(model.urdf), model, model.urdf));
}

}  // namespace proprio
