#include "proprio/geometry/collada.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "proprio/core/text.h"
#include "proprio/core/xml_document.h"

namespace proprio {
namespace {

/// Nodes may instantiate each other: no small file unfolds into more vertices or triangles, nodes
/// or levels.
constexpr size_t kMostVertices = 10'000'000;
constexpr int kMostNodes = 100'000, kDeepestNode = 100;

class ColladaReader {
 public:
  ColladaReader(const std::string& text, const std::string& file_name)
      : document_(parseXml(text, file_name)) {}

  TriangleMesh read() {
    const XmlElement& root = document_.root();
    if (root.name != "COLLADA")
      fail(root, fmt::format("the root element is <{}>; expected <COLLADA>", root.name));
    for (const XmlElement& element : document_.elements) {
      if (const XmlAttribute* id = findAttribute(element, "id")) by_id_[id->value] = &element;
    }
    Eigen::Matrix4d X = Eigen::Matrix4d::Identity();
    if (const XmlElement* asset = document_.child(root, "asset")) {
      const XmlElement* unit = document_.child(*asset, "unit");
      const XmlAttribute* metres = unit == nullptr ? nullptr : findAttribute(*unit, "meter");
      if (metres != nullptr) X.topLeftCorner<3, 3>() *= number(*unit, metres->value);
    }
    const XmlElement* scene = document_.child(root, "scene");
    const XmlElement* shown =
        scene == nullptr ? nullptr : document_.child(*scene, "instance_visual_scene");
    if (shown != nullptr) {
      visit(target(*shown, "url", "visual_scene"), X, 0);
      return std::move(mesh_);
    }
    for (const XmlElement& element : document_.elements) {
      if (element.name == "geometry") addGeometry(element, X);
    }
    return std::move(mesh_);
  }

 private:
  [[noreturn]] void fail(const XmlElement& at, const std::string& sentence) const {
    throw errorAt(document_.location(at), sentence);
  }

  double number(const XmlElement& at, std::string_view word) const {
    const auto value = parseNumber(word);
    if (!value || !std::isfinite(*value))
      fail(at, fmt::format("<{}>: {} is not a finite number", at.name, inQuotes(word)));
    return *value;
  }
  std::vector<double> numbers(const XmlElement& at) const {
    std::vector<double> values;
    for (const std::string_view word : splitWords(at.text)) values.push_back(number(at, word));
    return values;
  }
  std::vector<double> numbers(const XmlElement& at, size_t expected) const {
    std::vector<double> values = numbers(at);
    if (values.size() != expected)
      fail(at, fmt::format("<{}> has {} numbers, expected {}", at.name, values.size(), expected));
    return values;
  }
  size_t index(const XmlElement& at, double value, size_t limit) const {
    if (!(value >= 0.0 && value < static_cast<double>(limit)) || value != std::floor(value))
      fail(at, fmt::format("<{}>: {} is not an index below {}", at.name, value, limit));
    return static_cast<size_t>(value);
  }
  size_t count(const XmlElement& at, const char* name, size_t otherwise) const {
    const XmlAttribute* attribute = findAttribute(at, name);
    return attribute == nullptr ? otherwise : index(at, number(at, attribute->value), 1'000'000);
  }

  /// The element of this kind behind a reference such as url="#shape".
  const XmlElement& target(const XmlElement& from, const char* attribute, const char* kind) const {
    const XmlAttribute* url = findAttribute(from, attribute);
    const auto found = url == nullptr || url->value.rfind('#', 0) != 0
                           ? by_id_.end()
                           : by_id_.find(url->value.substr(1));
    if (found == by_id_.end() || found->second->name != kind) {
      fail(from, fmt::format("<{}> refers to {}; expected the id of a <{}> in this file", from.name,
                             url == nullptr ? "nothing" : inQuotes(url->value), kind));
    }
    return *found->second;
  }

  Eigen::Matrix4d transform(const XmlElement& at) const {
    Eigen::Matrix4d X = Eigen::Matrix4d::Identity();
    if (at.name == "matrix") {
      X = Eigen::Matrix<double, 4, 4, Eigen::RowMajor>::Map(numbers(at, 16).data());
    } else if (at.name == "translate") {
      X.topRightCorner<3, 1>() = Vector3d::Map(numbers(at, 3).data());
    } else if (at.name == "scale") {
      X.diagonal().head<3>() = Vector3d::Map(numbers(at, 3).data());
    } else if (at.name == "rotate") {
      const std::vector<double> v = numbers(at, 4);
      const Vector3d axis = Vector3d::Map(v.data()).normalized();
      X.topLeftCorner<3, 3>() =
          Eigen::AngleAxisd(v[3] * std::numbers::pi / 180.0, axis).toRotationMatrix();
    }
    return X;
  }

  /// A node or visual scene: its transforms in order, then what it shows.
  void visit(const XmlElement& node, Eigen::Matrix4d X, int depth) {
    if (++visited_ > kMostNodes || depth > kDeepestNode)
      fail(node, "the nodes of this file contain each other, or are too many");
    for (const int child : node.children) X *= transform(element(child));
    for (const int child : node.children) {
      const XmlElement& e = element(child);
      if (e.name == "node") visit(e, X, depth + 1);
      if (e.name == "instance_node") visit(target(e, "url", "node"), X, depth + 1);
      if (e.name == "instance_geometry") addGeometry(target(e, "url", "geometry"), X);
    }
  }

  void addGeometry(const XmlElement& geometry, const Eigen::Matrix4d& X) {
    const XmlElement* mesh = document_.child(geometry, "mesh");
    if (mesh == nullptr) return;
    for (const int child : mesh->children) {
      const XmlElement& e = element(child);
      if (e.name == "triangles" || e.name == "polylist" || e.name == "polygons" ||
          e.name == "trifans" || e.name == "tristrips") {
        addPrimitive(e, X);
      }
    }
  }

  void addPrimitive(const XmlElement& primitive, const Eigen::Matrix4d& X) {
    size_t stride = 0, offset = 0;
    const XmlElement* vertices = nullptr;
    for (const XmlElement* input : document_.children(primitive, "input")) {
      const size_t at = count(*input, "offset", 0);
      stride = std::max(stride, at + 1);
      const XmlAttribute* semantic = findAttribute(*input, "semantic");
      if (semantic == nullptr || semantic->value != "VERTEX") continue;
      offset = at;
      vertices = &target(*input, "source", "vertices");
    }
    if (vertices == nullptr) fail(primitive, "there is no <input semantic=\"VERTEX\">");
    const size_t first = mesh_.vertices.size();
    addVertices(positions(*vertices), X);
    const bool mirrored = X.topLeftCorner<3, 3>().determinant() < 0.0;
    for (const std::vector<int>& polygon : polygons(primitive, stride, offset, first)) {
      for (size_t k = 2; k < polygon.size(); ++k) {
        const bool strip = primitive.name == "tristrips";
        const int a = polygon[strip ? k - 2 : 0], b = polygon[k - 1], c = polygon[k];
        const bool turned = mirrored != (strip && k % 2 == 1);
        mesh_.triangles.emplace_back(a, turned ? c : b, turned ? b : c);
      }
    }
  }

  void addVertices(const std::vector<Vector3d>& points, const Eigen::Matrix4d& X) {
    if (std::max(mesh_.vertices.size() + points.size(), mesh_.triangles.size()) > kMostVertices)
      fail(document_.root(),
           fmt::format("the scene has more than {} vertices or triangles", kMostVertices));
    for (const Vector3d& p : points) {
      mesh_.vertices.emplace_back(X.topLeftCorner<3, 3>() * p + X.topRightCorner<3, 1>());
    }
  }

  /// Corners of the polygons, fans or strips of a primitive as vertices of the mesh.
  std::vector<std::vector<int>> polygons(const XmlElement& primitive, size_t stride, size_t offset,
                                         size_t first) const {
    const XmlElement* sizes =
        primitive.name == "polylist" ? document_.child(primitive, "vcount") : nullptr;
    std::vector<const XmlElement*> lists = document_.children(primitive, "p");
    for (const XmlElement* outline : document_.children(primitive, "ph")) {
      if (const XmlElement* p = document_.child(*outline, "p")) lists.push_back(p);
    }
    std::vector<std::vector<int>> out;
    for (const XmlElement* list : lists) {
      const std::vector<double> all = numbers(*list);
      std::vector<int> corners;
      for (size_t i = offset; i < all.size(); i += stride)
        corners.push_back(
            static_cast<int>(first + index(*list, all[i], mesh_.vertices.size() - first)));
      auto next = corners.begin();
      const auto take = [&](size_t n) {
        if (n > static_cast<size_t>(corners.end() - next))
          fail(*list, "<p> has fewer corners than its polygons");
        out.emplace_back(next, next + static_cast<std::ptrdiff_t>(n));
        next += static_cast<std::ptrdiff_t>(n);
      };
      if (sizes != nullptr) {
        for (const double n : numbers(*sizes)) take(index(*sizes, n, corners.size() + 1));
      } else if (primitive.name == "triangles") {
        while (next != corners.end()) take(3);
      } else {
        take(corners.size());
      }
    }
    return out;
  }

  /// The points behind <vertices>, read once.
  const std::vector<Vector3d>& positions(const XmlElement& vertices) {
    for (const XmlElement* input : document_.children(vertices, "input")) {
      const XmlAttribute* semantic = findAttribute(*input, "semantic");
      if (semantic == nullptr || semantic->value != "POSITION") continue;
      const XmlElement& source = target(*input, "source", "source");
      auto [known, is_new] = positions_.try_emplace(&source);
      if (is_new) known->second = points(source);
      return known->second;
    }
    fail(vertices, "<vertices> has no <input semantic=\"POSITION\">");
  }

  std::vector<Vector3d> points(const XmlElement& source) const {
    const XmlElement* array = document_.child(source, "float_array");
    if (array == nullptr) fail(source, "<source> has no <float_array>");
    const XmlElement* common = document_.child(source, "technique_common");
    const XmlElement* accessor = common == nullptr ? nullptr : document_.child(*common, "accessor");
    const size_t stride = accessor == nullptr ? 3 : count(*accessor, "stride", 3);
    const size_t start = accessor == nullptr ? 0 : count(*accessor, "offset", 0);
    if (stride < 3) fail(*accessor, fmt::format("the stride is {}, expected x y z", stride));
    const std::vector<double> all = numbers(*array);
    std::vector<Vector3d> out;
    for (size_t i = start; i + 3 <= all.size(); i += stride)
      out.emplace_back(all[i], all[i + 1], all[i + 2]);
    return out;
  }

  const XmlElement& element(int index) const {
    return document_.elements[static_cast<size_t>(index)];
  }

  XmlDocument document_;
  std::map<std::string, const XmlElement*> by_id_;
  std::map<const XmlElement*, std::vector<Vector3d>> positions_;
  TriangleMesh mesh_;
  int visited_ = 0;
};

}  // namespace

TriangleMesh readCollada(const std::string& text, const std::string& file_name) {
  return ColladaReader(text, file_name).read();
}

}  // namespace proprio
