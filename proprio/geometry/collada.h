#pragma once

#include <string>

#include "proprio/geometry/solid.h"

namespace proprio {

/// The triangles of a COLLADA 1.4 or 1.5 file (.dae), in metres: the geometries that the visual
/// scene instantiates, under the matrix, translate, rotate and scale elements of its nodes, times
/// `<unit meter>`; all geometries where there is no scene. Triangles, polylists, polygons (without
/// their holes), fans and strips; polygons become fans. Left out: lines, skins, materials. The up
/// axis is ignored, as RViz and MoveIt do, so that a link looks the same here and there.
/// Source: Khronos, COLLADA 1.4.1 specification, ch. 5.
/// @throws Error with file and line where a reference, number or index is wrong.
TriangleMesh readCollada(const std::string& text, const std::string& file_name);

}  // namespace proprio
