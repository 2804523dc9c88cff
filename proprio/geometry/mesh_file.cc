#include "proprio/geometry/mesh_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "proprio/core/atomic_file.h"
#include "proprio/core/error.h"
#include "proprio/core/text.h"
#include "proprio/geometry/collada.h"

namespace proprio {
namespace {

constexpr size_t kStlHeader = 84, kStlTriangle = 50;

// calls visit(line number, words) for every line that has words
template <class Visit>
void forEachLine(const std::string& text, Visit visit) {
  int number = 1;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const auto words = splitWords(std::string_view(text).substr(begin, end - begin));
    if (!words.empty()) visit(number, words);
    begin = end + 1;
  }
}

Vector3d readVertex(const FileLocation& at, const std::vector<std::string_view>& words) {
  if (words.size() < 4)
    throw errorAt(at, "a vertex has fewer than three coordinates; expected x y z");
  Vector3d vertex;
  for (int k = 0; k < 3; ++k) {
    const auto number = parseNumber(words[static_cast<size_t>(k) + 1]);
    if (!number || !std::isfinite(*number)) {
      throw errorAt(at, fmt::format("{} is not a coordinate; expected a finite number",
                                    inQuotes(words[static_cast<size_t>(k) + 1])));
    }
    vertex[k] = *number;
  }
  return vertex;
}

// every three vertices in order are a triangle
void trianglesInOrder(TriangleMesh& mesh) {
  for (int i = 0; i + 2 < static_cast<int>(mesh.vertices.size()); i += 3)
    mesh.triangles.emplace_back(i, i + 1, i + 2);
}

TriangleMesh readBinaryStl(const std::string& bytes, size_t count, const std::string& file_name) {
  TriangleMesh mesh;
  mesh.vertices.reserve(3 * count);
  for (size_t i = 0; i < count; ++i) {
    float corners[9];
    std::memcpy(corners, bytes.data() + kStlHeader + i * kStlTriangle + 12, sizeof(corners));
    for (int k = 0; k < 3; ++k) {
      const Vector3d vertex(corners[3 * k], corners[3 * k + 1], corners[3 * k + 2]);
      if (!vertex.allFinite()) {
        throw Error(fmt::format("{}: triangle {} of {} has a coordinate that is not finite",
                                file_name, i + 1, count));
      }
      mesh.vertices.push_back(vertex);
    }
  }
  trianglesInOrder(mesh);
  return mesh;
}

TriangleMesh readTextStl(const std::string& text, const std::string& file_name) {
  TriangleMesh mesh;
  forEachLine(text, [&](int line, const std::vector<std::string_view>& words) {
    if (words[0] == "vertex") mesh.vertices.push_back(readVertex({file_name, line, 0}, words));
  });
  if (mesh.vertices.size() % 3 != 0) {
    throw Error(fmt::format("{}: {} vertices are not a whole number of triangles", file_name,
                            mesh.vertices.size()));
  }
  trianglesInOrder(mesh);
  return mesh;
}

}  // namespace

TriangleMesh readStl(const std::string& bytes, const std::string& file_name) {
  // some binary files also start with "solid": the length decides
  uint32_t count = 0;
  if (bytes.size() >= kStlHeader) std::memcpy(&count, bytes.data() + 80, sizeof(count));
  if (bytes.size() >= kStlHeader && bytes.size() == kStlHeader + kStlTriangle * size_t{count})
    return readBinaryStl(bytes, count, file_name);
  const bool text = bytes.rfind("solid", 0) == 0 && bytes.find('\0') == std::string::npos;
  if (text) return readTextStl(bytes, file_name);
  throw Error(fmt::format(
      "{}: this is not an STL file: it has {} bytes, its header promises {} triangles ({} bytes)",
      file_name, bytes.size(), count, kStlHeader + kStlTriangle * size_t{count}));
}

TriangleMesh readObj(const std::string& text, const std::string& file_name) {
  TriangleMesh mesh;
  forEachLine(text, [&](int line, const std::vector<std::string_view>& words) {
    const FileLocation at{file_name, line, 0};
    if (words[0] == "v") mesh.vertices.push_back(readVertex(at, words));
    if (words[0] != "f") return;
    std::vector<int> corners;
    const int count = static_cast<int>(mesh.vertices.size());
    for (size_t k = 1; k < words.size(); ++k) {
      const auto number = parseNumber(words[k].substr(0, words[k].find('/')));
      // negative indices count from the last vertex
      const double index = number ? (*number < 0 ? count + *number : *number - 1) : -1;
      if (!(index >= 0 && index < count) || index != std::floor(index)) {
        throw errorAt(
            at, fmt::format("{} is not one of the {} vertices above", inQuotes(words[k]), count));
      }
      corners.push_back(static_cast<int>(index));
    }
    for (size_t k = 2; k < corners.size(); ++k)
      mesh.triangles.emplace_back(corners[0], corners[k - 1], corners[k]);
  });
  return mesh;
}

TriangleMesh readMesh(const std::string& path) {
  std::string extension = path.substr(std::min(path.rfind('.'), path.size()));
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (extension == ".stl") return readStl(readFile(path), path);
  if (extension == ".obj") return readObj(readFile(path), path);
  if (extension == ".dae") return readCollada(readFile(path), path);
  throw Error(fmt::format("{}: only STL, OBJ and COLLADA (.dae) meshes are read here", path));
}

}  // namespace proprio
