#pragma once

#include <string>

#include "proprio/geometry/solid.h"

namespace proprio {

/// Reads the triangles of an STL (binary or text), Wavefront OBJ or COLLADA file (collada.h);
/// polygons become fans, normals, textures and materials are ignored. Coordinates of STL and OBJ as
/// written.
/// @throws Error that names the file, and the line or triangle, where it cannot be read; formats
/// other than these are refused by their extension.
TriangleMesh readMesh(const std::string& path);

TriangleMesh readStl(const std::string& bytes, const std::string& file_name);
TriangleMesh readObj(const std::string& text, const std::string& file_name);

}  // namespace proprio
