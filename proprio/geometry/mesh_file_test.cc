#include "proprio/geometry/mesh_file.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "proprio/core/testing/message_of.h"

namespace proprio {
namespace {

// a tetrahedron with three unit edges, outward
const Vector3d kCorners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
constexpr int kFaces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

std::string binaryStl(uint32_t promised = 4) {
  std::string bytes(80, ' ');
  std::memcpy(bytes.data(), "solid", 5);  // as some programs write
  bytes.append(reinterpret_cast<const char*>(&promised), 4);
  for (const auto& face : kFaces) {
    float numbers[12] = {};
    for (int k = 0; k < 3; ++k) {
      for (int i = 0; i < 3; ++i) numbers[3 + 3 * k + i] = static_cast<float>(kCorners[face[k]][i]);
    }
    bytes.append(reinterpret_cast<const char*>(numbers), 48);
    bytes.append(2, '\0');
  }
  return bytes;
}

std::string textStl() {
  std::string text = "solid tetra\r\n";
  for (const auto& face : kFaces) {
    text += " facet normal 0 0 0\r\n  outer loop\r\n";
    for (int k : face) {
      text += "   vertex " + std::to_string(kCorners[k].x()) + " " +
              std::to_string(kCorners[k].y()) + " " + std::to_string(kCorners[k].z()) + "\r\n";
    }
    text += "  endloop\r\n endfacet\r\n";
  }
  return text + "endsolid\r\n";
}

// All three notations give the same tetrahedron of volume 1/6.
TEST(MeshFile, ReadsTheSameSolidFromEveryFormat) {
  const std::string obj =
      "# comment\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\n"
      "f 1 3 2\nf 1//1 2//1 4//1\nf -4 -1 -2\nf 2/1/1 3/1/1 4/1/1\n";
  for (const TriangleMesh& mesh :
       {readStl(binaryStl(), "a.stl"), readStl(textStl(), "b.stl"), readObj(obj, "c.obj")}) {
    EXPECT_EQ(mesh.triangles.size(), 4u);
    const Solid solid = meshSolid(mesh);
    EXPECT_TRUE(solid.closed);
    EXPECT_NEAR(solid.volume(), 1.0 / 6.0, 1e-12);
    EXPECT_NEAR((solid.unit_density.com() - Vector3d::Constant(0.25)).norm(), 0.0, 1e-12);
  }
}

// Polygons of an OBJ file become fans.
TEST(MeshFile, ObjPolygons) {
  const TriangleMesh mesh = readObj("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n", "p.obj");
  EXPECT_EQ(mesh.triangles.size(), 2u);
}

// Damaged files are refused with their name and the line.
TEST(MeshFile, Damaged) {
  EXPECT_EQ(messageOf([] { readStl(binaryStl(5), "cut.stl"); }).rfind("cut.stl: ", 0), 0u);
  EXPECT_NE(messageOf([] { readStl("x", "x.stl"); }), "");
  EXPECT_NE(messageOf([] { readStl("solid a\nvertex 0 0 0\n", "x.stl"); }), "");
  EXPECT_EQ(messageOf([] { readStl("solid a\nvertex 0 zero 0\n", "x.stl"); }).rfind("x.stl:2", 0),
            0u);
  EXPECT_EQ(messageOf([] { readObj("v 0 0\n", "x.obj"); }).rfind("x.obj:1", 0), 0u);
  EXPECT_EQ(messageOf([] { readObj("v 0 0 0\nf 1 2 3\n", "x.obj"); }).rfind("x.obj:2", 0), 0u);
  EXPECT_EQ(messageOf([] { readObj("v 0 0 0\nf 1 1.5 1\n", "x.obj"); }).rfind("x.obj:2", 0), 0u);
  EXPECT_NE(messageOf([] { readMesh("a.ply"); }).find("STL, OBJ and COLLADA"), std::string::npos);
  EXPECT_NE(messageOf([] { readMesh("no_such_file.stl"); }), "");
}

}  // namespace
}  // namespace proprio
